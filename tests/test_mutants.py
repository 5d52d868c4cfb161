"""The list of semantic changes fits the sources; `make mutants` tries them."""

import pytest
from mutants import run

MUTANTS = run.load()
CORE = run.ROOT / "core"


def test_there_are_enough():
    assert len(MUTANTS) >= run.LEAST
    assert sum(not mutant.equivalent for mutant in MUTANTS) >= run.REQUIRED * len(MUTANTS)


@pytest.mark.parametrize("file", sorted({mutant.file for mutant in MUTANTS}))
def test_every_change_still_applies(file):
    text = (run.ROOT / file).read_text()
    for mutant in MUTANTS:
        if mutant.file == file:
            assert mutant.apply(text) != text
            assert mutant.reason


def test_every_file_of_the_core_has_one():
    files = {
        path.relative_to(run.ROOT).as_posix()
        for path in CORE.rglob("*.?pp")
        if CORE / "tests" not in path.parents
    }
    declarations = {"core/simd/loops.hpp"}  # nothing in there can be wrong and compile
    assert files - declarations == {mutant.file for mutant in MUTANTS}


def test_the_tests_named_are_there():
    for test in {test for mutant in MUTANTS for test in mutant.tests} | {
        *run.GENERAL,
        *run.LEFT_OUT,
    }:
        path, *names = test.split("[")[0].split("::")
        text = (run.ROOT / path).read_text()
        assert all(f"def {name}(" in text for name in names), test


def test_what_does_not_apply_is_told():
    mutant = run.Mutant("name", "core/x.cpp", "a < b", "a <= b", "the bound")
    assert mutant.apply("if (a < b)") == "if (a <= b)"
    for text, times in (("", 0), ("a < b, a < b", 2)):
        with pytest.raises(run.ListError, match=f"name: `old` occurs {times} times in core/x.cpp"):
            mutant.apply(text)
    with pytest.raises(run.ListError, match="the same"):
        run.Mutant("name", "core/x.cpp", "a < b", "a < b", "the bound").apply("a < b")
