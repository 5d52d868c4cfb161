"""llms.txt: what each page is about, with links to the pages as plain text."""

from pathlib import Path

from docutils import nodes

INTRODUCTION = """# parsimon

> parsimon learns nonlinear functions from data streams with kernels, in a fixed amount of memory.
> It is a Python package with scikit-learn's interface over a C++ core.

The default models are `parsimon.MixtureRegressor`, `parsimon.MixtureClassifier` and, for tables
with text, dates and missing values, `parsimon.TableModel("target")`. They need no parameters and no
scaled data. `model.predict_then_learn(X, y)` predicts each row before it is learned. The command
`parsimon learn data.csv --target y` does the same for a file.
"""


def _collect(app, doctree):
    """Keep the first paragraph of each page."""
    paragraph = next(doctree.findall(nodes.paragraph), None)
    text = " ".join(paragraph.astext().split()) if paragraph is not None else ""
    app.env.metadata[app.env.docname]["about"] = text


def _write(app, error):
    if error is not None or app.builder.name != "html":
        return
    env = app.env
    lines = [INTRODUCTION]
    for section in env.toctree_includes[env.config.root_doc]:
        lines += [f"## {env.titles[section].astext()}", ""]
        for name in _below(env, section):
            about = env.metadata[name].get("about", "")
            suffix = Path(env.doc2path(name)).suffix
            link = f"_sources/{name}{suffix}.txt"
            lines.append(f"- [{env.titles[name].astext()}]({link}): {about}")
        lines.append("")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines))


def _below(env, name):
    yield name
    for inner in env.toctree_includes.get(name, []):
        if not inner.startswith("api/"):
            yield from _below(env, inner)


def setup(app):
    """Write the file after the pages."""
    app.connect("doctree-read", _collect)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
