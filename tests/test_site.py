"""The site: every public name has a page, links lead somewhere, and what pages show runs."""

import ast
import doctest
import importlib.util
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import parsimon

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GALLERY = ROOT / "examples" / "gallery"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="no docs beside the tests")
sys.path.insert(0, str(DOCS / "_ext"))

#: Modules without names for programs: the command line and the experiments.
NO_NAMES = {"parsimon.cli", "parsimon.experiments"}
#: Pages that `make docs` makes.
GENERATED = ("generated", "gallery", "api")


#: Modules that need an extra which the tests may not have, and what they import.
NEED = {"parsimon.river": "river", "parsimon.mlflow": "mlflow", "parsimon.serving": "starlette"}


def reference():
    return importlib.import_module("reference_lists")


def reference_pages():
    """Return the pages of all modules that can be imported here."""
    modules = importlib.import_module("public_names").MODULES
    here = [name for name in modules if importlib.util.find_spec(NEED.get(name, "parsimon"))]
    return reference().pages(here)


def test_every_public_module_is_in_the_reference():
    from public_names import MODULES

    found = {
        f"parsimon.{module.name}"
        for module in pkgutil.iter_modules(parsimon.__path__)
        if not module.name.startswith("_")
    }
    assert found - NO_NAMES <= set(MODULES)


def test_every_public_name_is_on_one_page():
    pages = reference_pages()
    for page in pages:
        names = {*(name.rpartition(".")[2] for name in page.names), *page.elsewhere}
        modules = {m.rpartition(".")[2] for m in (p.module for p in pages)}
        assert names | modules >= set(importlib.import_module(page.module).__all__)
    everything = [name for page in pages for name in page.names]
    assert len(everything) == len(set(everything))
    assert {full for page in pages for full in page.elsewhere.values()} <= set(everything)


def test_the_groups_of_the_reference_name_what_exists():
    listed = [name for names in reference().GROUPS.values() for name in names]
    assert set(listed) <= set(parsimon.__all__)
    assert len(listed) == len(set(listed))


def test_every_command_is_described():
    pytest.importorskip("typer")
    page = importlib.import_module("command_pages").command_page()
    for name in ("learn", "predict", "serve", "forecast", "datasets generate"):
        assert f"## parsimon {name}\n" in page
    assert "`--target " in page


def pages_of_markdown():
    return [
        path
        for path in sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md")])
        if path.relative_to(ROOT).parts[:2] not in [("docs", name) for name in GENERATED]
    ]


def exists(path):
    """Return whether a file exists, or will be made from one that does."""
    inner = path.relative_to(DOCS).parts if path.is_relative_to(DOCS) else ()
    if inner[:1] == ("gallery",):
        source = GALLERY.joinpath(*inner[1:])
        return inner == ("gallery", "index") or source.with_suffix(".py").exists()
    if inner[:1] == ("generated",):
        pages = importlib.import_module("generated_pages")
        made = {f"{name}.md" for name, _ in pages.COPIED.values()} | {"commands.md"}
        modules = importlib.import_module("public_names").MODULES
        made |= {f"reference/{module}.rst" for module in modules}
        return "/".join(inner[1:]) in made
    return path.exists()


@pytest.mark.parametrize("page", pages_of_markdown(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.partition("#")[0]
        if path and not re.match(r"\w+:", path):
            found = (page.parent / path).resolve()
            assert exists(found), f"{page.name}: {target}"


@pytest.mark.parametrize("page", pages_of_markdown(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_formula_is_split_by_a_table(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for row in re.findall(r"^\|.*\|$", text, flags=re.MULTILINE):
        for cell in re.split(r"(?<!\\)\|", row):  # a bar in a formula ends the cell
            assert cell.count("$") % 2 == 0, f"{page.name}: {row}"


def test_an_initial_does_not_begin_a_list():
    core = pytest.importorskip("docutils.core")
    escaped = importlib.import_module("plain_docstrings").escaped
    kinds = [
        core.publish_doctree(text).children[0].tagname
        for line in ("W. Liu, *A book*, 2010.", "1. The first step.")
        for text in (line, escaped(line))
    ]
    assert kinds == ["enumerated_list", "paragraph", "enumerated_list", "enumerated_list"]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [
        "start.md",
        "guides/data_science.md",
        "guides/signal_processing.md",
        "guides/operations.md",
        "guides/edge.md",
        "guides/clusters.md",
        "guides/research.md",
        "reference/file_format.md",
    ],
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if "onnx" in "".join(blocks(page)):
        pytest.importorskip("onnx")
    assert blocks(page)
    names: dict = {}
    for block in blocks(page):
        exec(compile(block, page, "exec"), names)


def test_error_messages_are_as_shown():
    test = doctest.DocTestParser().get_doctest(
        "\n".join(blocks("reference/errors.md")), {}, "errors.md", None, 0
    )
    flags = doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0
    assert len(test.examples) > 10


def shown_commands():
    """Return the words of each command that a page shows."""
    pages = [DOCS / "start.md", *sorted((DOCS / "guides").glob("*.md"))]
    lines = [line for page in pages for line in page.read_text().splitlines()]
    commands = [re.search(r"(?:^\$ |\| )parsimon (.*)", line) for line in lines]
    return [re.split(r"[<>|#]", found[1])[0].split() for found in commands if found]


@pytest.mark.parametrize("words", shown_commands(), ids=" ".join)
def test_a_command_has_the_options_shown(words):
    typer = pytest.importorskip("typer")
    from parsimon.cli.app import app

    command = typer.main.get_command(app)
    while hasattr(command, "commands") and words:
        command, words = command.commands[words[0]], words[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_experiments_have_the_names_shown():
    from parsimon.experiments import EXPERIMENTS

    shown = [
        name
        for page in [*(DOCS / "theory").glob("*.md"), *(DOCS / "guides").glob("*.md")]
        for command in re.findall(r"parsimon reproduce ([\w/\s-]+)", page.read_text())
        for name in command.split()
        if "/" in name
    ]
    assert len(shown) > 10
    assert set(shown) <= set(EXPERIMENTS)


EXAMPLES = sorted(GALLERY.rglob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 15
    assert len({path.name for path in EXAMPLES}) == len(EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_text_and_a_picture(path):
    tree = ast.parse(path.read_text())
    title, line, empty, *text = ast.get_docstring(tree).splitlines()
    assert line == "=" * len(title)
    assert not empty
    assert text
    assert "plt.subplots(" in path.read_text()
    assert (path.parent / "GALLERY_HEADER.rst").exists()
    for node in ast.walk(tree):  # what it imports from parsimon exists
        if isinstance(node, ast.ImportFrom) and node.module.startswith("parsimon"):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names)
