"""Pages that are made before the site is built, in docs/generated.

- the reference of each public module, from its ``__all__``;
- the commands, from their own help;
- the stored results of the benchmarks, the changelog and other files outside docs;
- a C header, as an export writes it.
"""

import importlib
import inspect
import re
from pathlib import Path

from command_pages import command_page
from reference_lists import pages

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
OUT = DOCS / "generated"

#: Files outside docs that are pages: the name and the title of the page.
COPIED = {
    "benchmarks/ARENA.md": ("arena", "Arena: the default model on 31 streams"),
    "benchmarks/RESULTS.md": ("speed", "Speed beside other libraries"),
    "benchmarks/README.md": ("benchmarks", "How to read the results"),
    "CHANGELOG.md": ("changelog", "Changelog"),
    "CONTRIBUTING.md": ("contributing", "Contributing"),
    "examples/cpp/README.md": ("cpp_example", "A program in C++"),
}
#: Where links to files outside docs lead on the site.
LINKS = {
    "../benchmarks/ARENA.md": "generated/arena.md",
    "../benchmarks/RESULTS.md": "generated/speed.md",
    "../benchmarks/README.md": "generated/benchmarks.md",
    "../examples/cpp": "generated/cpp_example.md",
    "../CHANGELOG.md": "generated/changelog.md",
    "../CONTRIBUTING.md": "generated/contributing.md",
}


def write(path, text):
    """Write a file if it differs, so that pages that did not change are not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def generate():
    """Write all pages."""
    for page in pages():
        write(OUT / "reference" / f"{page.module}.rst", reference_page(page))
    write(OUT / "commands.md", command_page())
    for source, (name, title) in COPIED.items():
        write(OUT / f"{name}.md", copied(source, title))
    write(OUT / "model.h", example_header())


def reference_page(page):
    """Return the list of the names of a module, with links to their pages."""
    title = page.module
    summary = inspect.getdoc(importlib.import_module(title)).split("\n\n")[0]
    lines = [title, "=" * len(title), "", summary, "", f".. currentmodule:: {title}", ""]
    for heading, names in page.groups.items():
        if len(page.groups) > 1:
            lines += [heading, "-" * len(heading), ""]
        lines += [".. autosummary::", "   :toctree: ../../api", ""]
        lines += [f"   {name}" for name in names] + [""]
    if page.elsewhere:
        lines += ["Also importable from here:", ""]
        lines += [f"- :py:obj:`{name} <{full}>`" for name, full in page.elsewhere.items()]
    return "\n".join(lines) + "\n"


def copied(source, title):
    """Return a file outside docs as a page: links lead to other pages, pictures are found.

    The page says which file it is. A title that is already the first line of the file is replaced.
    """
    folder = Path(source).parent
    text = (ROOT / source).read_text()

    def moved(match):
        target = match[1]
        if re.match(r"\w+:|#", target):
            return match[0]
        path, hash_mark, anchor = target.partition("#")
        inner = (folder / path).as_posix()
        if inner in COPIED:
            return f"]({COPIED[inner][0]}.md{hash_mark}{anchor})"
        if inner.startswith("docs/"):
            return f"](../{inner.removeprefix('docs/')}{hash_mark}{anchor})"
        return f"](../../{inner}{hash_mark}{anchor})"

    text = re.sub(r"\]\(([^)\s]+)\)", moved, text)
    text = text.partition("\n")[2] if text.startswith("# ") else text
    return f"# {title}\n\nThis page is the file `{source}` of the repository.\n{text}"


def example_header():
    """Return the header of a small model with two classes."""
    import numpy as np

    from parsimon import POLKClassifier
    from parsimon.export import to_c

    X = np.random.default_rng(0).normal(size=(500, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    model = POLKClassifier(gamma=1.0, budget=5, random_state=0).fit(X, y)
    return to_c(model, name="model")


def follow_links(app, name, source):
    """Let links of pages to files outside docs lead to their pages."""
    up = "../" * name.count("/")
    for old, new in LINKS.items():
        source[0] = source[0].replace(f"]({up}{old})", f"]({up}{new})")


def skip_foreign(app, what, name, value, skip, options):
    """Leave out members that parsimon does not define, such as those of scikit-learn."""
    function = value.fget if isinstance(value, property) else inspect.unwrap(value, stop=None)
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None) or ""
    if what in ("class", "exception") and not module.startswith("parsimon"):
        return True
    return None


def setup(app):
    """Generate before the pages are read."""
    app.connect("config-inited", lambda app, config: generate())
    app.connect("source-read", follow_links)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
