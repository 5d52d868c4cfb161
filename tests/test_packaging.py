"""What is published: one version, complete metadata, a release that changes the right files."""

import importlib.util
import re
import shutil
import tomllib
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

import parsimon

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tool(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_has_one_place():
    assert "version" in PROJECT["dynamic"]
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == parsimon.__version__


def test_the_installed_metadata_is_complete():
    found = metadata("parsimon")
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= PROJECT["urls"].keys()
    assert found["Name"] == "parsimon" and found["License-Expression"] == "BSD-3-Clause"
    classifiers = PROJECT["classifiers"]
    lowest = int(PROJECT["requires-python"].removeprefix(">=3."))
    for minor in range(lowest, 15):
        assert f"Programming Language :: Python :: 3.{minor}" in classifiers


def test_the_lowest_versions_are_those_of_the_bounds(monkeypatch):
    requirements = tool("requirements", monkeypatch)
    found = requirements.lowest(["numpy>=1.26", "dask[array]>=2025.7", "ruff==1.0"])
    assert found == ["numpy==1.26", "dask[array]==2025.7", "ruff==1.0"]


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "src/parsimon").mkdir(parents=True)
    for name in ("src/parsimon/__init__.py", "CITATION.cff", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_release_changes_version_citation_and_changelog(tree, monkeypatch):
    release = tool("release", monkeypatch)
    release.write_version(tree, "0.1.0", "2030-01-02")
    assert '__version__ = "0.1.0"\n' in (tree / "src/parsimon/__init__.py").read_text()
    citation = (tree / "CITATION.cff").read_text()
    assert "version: 0.1.0\ndate-released: 2030-01-02\n" in citation
    log = (tree / "CHANGELOG.md").read_text()
    assert "## 0.1.0 (2030-01-02)" in log and "## Unreleased" not in log
    release.write_version(tree, "0.2.0.dev0", "2030-01-03")
    assert "date-released" not in (tree / "CITATION.cff").read_text()
    log = (tree / "CHANGELOG.md").read_text()
    assert log.index("## Unreleased") < log.index("## 0.1.0 (2030-01-02)")


def test_a_release_stops_where_a_line_is_missing(tree, monkeypatch):
    (tree / "CITATION.cff").write_text("title: parsimon\n")
    with pytest.raises(SystemExit, match=r"CITATION.cff has 0 lines"):
        tool("release", monkeypatch).write_version(tree, "0.1.0", "2030-01-02")


def wheel(folder, tags, *names):
    path = folder / f"parsimon-0.1.0-{tags}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


@pytest.mark.parametrize(
    ("tags", "names", "said"),
    [
        ("cp311-cp311-win_amd64", ["parsimon/_core.cp311-win_amd64.pyd"], None),
        ("cp312-cp312-win_amd64", ["parsimon/_core.cp312-win_amd64.pyd"], "should be abi3"),
        ("cp311-cp311-win_amd64", [], "not one parsimon/_core"),
    ],
)
def test_an_audit_says_what_is_wrong_with_a_wheel(tmp_path, monkeypatch, tags, names, said):
    problems = list(tool("audit", monkeypatch).audit_wheel(wheel(tmp_path, tags, *names)))
    assert problems == [] if said is None else said in problems[0]


def test_an_audit_finds_a_wheel_that_only_claims_the_stable_abi(tmp_path, monkeypatch):
    audit = tool("audit", monkeypatch)
    path = wheel(tmp_path, "cp312-abi3-win_amd64", "parsimon/_core.cp312-win_amd64.pyd")
    assert "tagged abi3" in next(audit.audit_wheel(path))
