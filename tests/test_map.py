"""The map of the source, as CONTRIBUTING.md draws it: seams, private names and sizes of files."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import parsimon
from parsimon import _homes, persistence

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "parsimon"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()

# Seams


def test_the_map_that_is_drawn_is_the_one_that_is_checked():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    checked = [
        layer.replace("(", "").replace(")", "") for layer in settings["contracts"][0]["layers"]
    ]
    block = CONTRIBUTING.partition("Imports in `src/parsimon`")[2].split("\n\n")[1]
    drawn = [re.match(r"    (\w+( \| \w+)*)(   |$)", line)[1] for line in block.splitlines()]
    assert drawn == checked


def test_the_contracts_are_kept(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "line", "said"),
    [
        (
            "kernels/choice.py",
            "def later():\n    from parsimon.estimators import base\n",
            "parsimon.kernels.choice -> parsimon.estimators.base",
        ),
        ("algorithms/growing.py", "from parsimon import preprocessing\n", "parsimon.algorithms"),
        ("kernels/algebra.py", "from parsimon.kernels import choice\n", "cycle"),
        ("elsewhere.py", "", "elsewhere"),
    ],
    ids=["inside a function", "beside it", "within a package", "without a place"],
)
def test_a_seam_that_is_crossed_is_reported(tmp_path, module, line, said):
    shutil.copytree(
        PACKAGE, tmp_path / "parsimon", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "parsimon" / module).open("a") as file:
        file.write(line)
    # Without the finder of an editable installation, which would find the package as it is
    code = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'frozen' in f.__module__]; "
        "from importlinter.cli import lint_imports; "
    )
    done = subprocess.run(
        [sys.executable, "-c", code + "sys.exit(lint_imports(no_cache=True))"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and said in done.stdout, done.stdout + done.stderr


#: Modules that use the public names of the package. Others import from the module of a name, so
#: that the contracts see it.
USERS = ("parsimon.cli", "parsimon.experiments", "parsimon.river")
#: Modules that import others by name, and why.
BY_NAME = {
    "parsimon": "public names, by the table of parsimon._homes",
    "parsimon.persistence.models": "classes in files, by the same table",
    "parsimon.cli": "experiments, of which one is run",
    "parsimon.experiments": "experiments, of which one is run",
    "parsimon.distributed": "its own engines, which are optional packages",
    "parsimon.plots": "matplotlib",
    "parsimon.preprocessing.reading": "pyarrow",
}


def imports_by_name(node):
    called = getattr(node, "func", None)
    name = getattr(called, "attr", getattr(called, "id", ""))
    return name in ("import_module", "__import__")


@pytest.mark.parametrize("module", MODULES)
def test_imports_that_the_contracts_cannot_see(module):
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "parsimon":
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name == "parsimon"]
        else:
            if imports_by_name(node):
                assert module == "parsimon" or any(
                    module.startswith(known) for known in BY_NAME if known != "parsimon"
                ), f"line {node.lineno} imports by name"
            continue
        for name in names:
            seen = f"parsimon.{name}" in MODULES or name in ("_core", "__version__")
            assert seen or module == "parsimon" or module.startswith(USERS), (
                f"line {node.lineno}: import {name} from its module"
            )


def test_names_are_where_the_table_says():
    assert set(parsimon.__all__) <= {*_homes.MODULES, *_homes.names()}
    for name in _homes.names():
        assert hasattr(import_module(_homes.home_of(name)), name)


def test_every_class_that_can_be_stored_is_in_the_table():
    for name in _homes.names():
        import_module(_homes.home_of(name))

    def ours(cls):
        return [sub for sub in cls.__subclasses__() if sub.__module__.startswith("parsimon.")]

    def leaves(cls):
        return set().union(*map(leaves, ours(cls))) if ours(cls) else {cls}

    names = persistence.models.stored_names()
    assert leaves(persistence.Storable) == set(map(persistence.models.stored_class, names))


# Private names


def private(name):
    return name.startswith("_") and not name.startswith("__")


def uses_of_private_names(module, tree):
    """Yield the private names of other modules that a module imports or accesses."""
    aliases = {}  # names that stand for modules of parsimon
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("parsimon"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in MODULES:
                    aliases[alias.asname or alias.name] = full
                elif private(alias.name) and full != "parsimon._core":
                    yield f"{module}:{node.lineno} imports {full}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("parsimon") and alias.asname:
                    aliases[alias.asname] = alias.name
                elif alias.name.startswith("parsimon"):
                    aliases["parsimon"] = "parsimon"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr):
            named = ast.unparse(node.value)
            first, _, rest = named.partition(".")
            if first in aliases:
                full = ".".join(filter(None, [aliases[first], rest]))
                if full in MODULES and f"{full}.{node.attr}" not in MODULES:
                    yield f"{module}:{node.lineno} uses {named}.{node.attr}"


def test_private_names_stay_in_their_module():
    found = [
        use
        for module, path in MODULES.items()
        for use in uses_of_private_names(module, ast.parse(path.read_text()))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "from parsimon.kernels.algebra import _kernel",
        "from parsimon import kernels\nkernels.algebra._kernel",
        "import parsimon.kernels.algebra as a\nprint(a._kernel)",
        "import parsimon\nparsimon.kernels.algebra._kernel(1)",
    ],
)
def test_uses_of_private_names_are_found(line):
    assert list(uses_of_private_names("here", ast.parse(line)))
    allowed = "from parsimon import _core, _files\n_files.writing\nself._kernel\n"
    assert not list(uses_of_private_names("here", ast.parse(allowed)))


# Sizes

MOST_LINES, MANY_LINES = 400, 300


def test_files_are_small():
    listed = re.findall(r"^\| `(.+)` \| .+ \|$", CONTRIBUTING, flags=re.MULTILINE)
    assert all((ROOT / name).is_file() for name in listed)
    for folder in ("src", "core", "bindings"):
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in (".py", ".cpp", ".hpp"):
                continue
            lines = path.read_text().count("\n")
            assert lines <= MOST_LINES, f"{name} has {lines} lines: split it by job"
            assert lines <= MANY_LINES or name in listed, (
                f"{name} has {lines} lines: split it by job, or give a reason in CONTRIBUTING.md"
            )
