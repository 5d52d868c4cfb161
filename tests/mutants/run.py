"""Builds the core with one semantic change at a time and tells which changes no test notices.

    python tests/mutants/run.py [--only NAME_OR_FILE ...] [--jobs N]

Each change is an entry of mutants.toml. The checkout is never edited: every worker has a copy of it
under build/mutants, with a build folder of its own, so that only what a change touches is compiled
again. The C++ tests run first, then the Python tests that the entry names, then all Python tests
that cover the core. A crash or a hang counts as noticed.
"""

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("mutants.toml")
COPIED = ("CMakeLists.txt", "pyproject.toml", "conftest.py", "core", "bindings", "src", "tests")
#: Python tests that cover the core, the quick ones first: for what the C++ tests and an entry's own
#: tests let pass.
GENERAL = (
    "tests/test_losses.py",
    "tests/test_preprocessing.py",
    "tests/test_weights.py",
    "tests/test_pursuit.py",
    "tests/test_single.py",
    "tests/test_dictionary_learning.py",
    "tests/test_sog.py",
    "tests/test_merging.py",
    "tests/test_dictionary.py",
    "tests/test_knlms.py",
    "tests/test_filters.py",
    "tests/test_polk.py",
    "tests/test_kernels.py",
    "tests/test_state.py",
    "tests/test_threads.py",
)
#: Of them, what takes long and says little that the others do not say.
LEFT_OUT = (
    "tests/test_dictionary.py::test_a_hundred_thousand_changes",
    "tests/test_filters.py::test_centres_that_keep_coming_do_not_wind_the_covariance_up",
    "tests/test_kernels.py::test_exact_copies_have_coherence_one",
    "tests/test_kernels.py::test_rows_equal_blocks_bit_for_bit",
    "tests/test_knlms.py::test_a_budget_beyond_the_memory_says_so",
    "tests/test_polk.py::test_trajectory_is_the_oracles[1-logistic]",
    "tests/test_state.py::test_forged_files_are_refused_or_harmless",
)
REQUIRED = 0.95  # of the list must be noticed
LEAST = 80  # changes in the list
MEMORY = 12 << 30  # bytes of address space for a test process
HANG = 600.0  # seconds after which Python tests count as hanging
BUILD_SECONDS = 1800.0
WRONG_EXTENSION = 70  # exit code: Python found another extension than the one built here
NOT_A_FAILURE = (4, 5, WRONG_EXTENSION)  # and pytest's codes for a wrong command and for no tests


class ListError(Exception):
    """The list of changes does not fit the sources."""


@dataclass(frozen=True)
class Mutant:
    """One semantic change: `old`, which occurs exactly once in `file`, becomes `new`."""

    name: str
    file: str
    old: str
    new: str
    reason: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""  # why no test can notice it

    def apply(self, text: str) -> str:
        """The text of the file with the change."""
        count = text.count(self.old)
        if count != 1:
            raise ListError(
                f"{self.name}: `old` occurs {count} times in {self.file}, not once:\n{self.old}"
            )
        changed = text.replace(self.old, self.new)
        if changed == text:
            raise ListError(f"{self.name}: `new` is the same as `old`")
        return changed


def load(path: Path = LIST) -> list[Mutant]:
    """The entries of the list, in the order of their files."""
    entries = tomllib.loads(path.read_text())["mutant"]
    mutants = [Mutant(**{**entry, "tests": tuple(entry.get("tests", ()))}) for entry in entries]
    names = [mutant.name for mutant in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ListError(f"names that occur more than once: {', '.join(twice)}")
    return sorted(mutants, key=lambda mutant: mutant.file)


def tool(name: str) -> str:
    """The path of a build tool, that of this environment first."""
    own = Path(sys.executable).with_name(name)
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is needed; `make .venv/tools` installs it")
    return found


@dataclass(frozen=True)
class Ended:
    """How a process ended: its output, and what is to be said if it failed."""

    output: str
    failure: str  # empty: it succeeded


def run(command: Sequence[str], folder: Path, seconds: float, limited: bool = False) -> Ended:
    """Runs a command with a time limit; its children end with it."""

    def limit() -> None:
        # Some tests need it; a shell's background jobs ignore it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limited:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(folder / "src")}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=limit,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return Ended(output, f"hangs: more than {seconds:.0f} s")
    code = process.returncode
    if code < 0:
        return Ended(output, f"crashes: {signal.Signals(-code).name}")
    return Ended(output, f"exit code {code}" if code else "")


class Tree:
    """A copy of the checkout with a build folder of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.build_folder = folder / "build"
        self.cpp_seconds = 60.0

    def synchronise(self) -> None:
        """Makes the copy equal to the checkout; files that are equal keep their time, and what was
        built from them.
        """
        wanted = set()
        for name in COPIED:
            path = ROOT / name
            files = [path] if path.is_file() else path.rglob("*")
            for file in files:
                if file.is_file() and file.suffix not in (".so", ".pyc"):
                    wanted.add(file.relative_to(ROOT))
        for relative in wanted:
            source, copy = ROOT / relative, self.folder / relative
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
        for name in COPIED:
            for copy in [] if (self.folder / name).is_file() else (self.folder / name).rglob("*"):
                if copy.is_file() and copy.relative_to(self.folder) not in wanted:
                    copy.unlink()

    def configure(self) -> None:
        nanobind = subprocess.run(
            [sys.executable, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True
        )
        command = [
            tool("cmake"),
            "-S",
            ".",
            "-B",
            "build",
            "-G",
            "Ninja",
            f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
        ]
        command += ["-DPARSIMON_TESTS=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        command += [f"-Dnanobind_DIR={nanobind.stdout.strip()}", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"]
        ended = run(command, self.folder, BUILD_SECONDS)
        if ended.failure:
            raise SystemExit(f"cmake failed in {self.folder}:\n{ended.output}")

    def build(self, target: str) -> None:
        """Builds a target. What cannot be compiled is an error in the list."""
        ended = run(
            [tool("cmake"), "--build", "build", "-j", "1", "--target", target],
            self.folder,
            BUILD_SECONDS,
        )
        if ended.failure:
            raise ListError(f"{target} does not build:\n{ended.output[-4000:]}")

    def fails_in_cpp(self) -> str:
        """Builds and runs the C++ tests; says which of them fails, if any does."""
        self.build("core_tests")
        start = time.monotonic()
        ended = run(
            [str(self.build_folder / "core_tests")], self.folder, self.cpp_seconds, limited=True
        )
        self.last_seconds = time.monotonic() - start
        failed = re.search(r"^FAIL (\w+)", ended.output, re.MULTILINE)
        return f"C++ {failed.group(1)}" if failed else ended.failure and f"C++ {ended.failure}"

    def fails_in_python(self, tests: Sequence[str]) -> str:
        """Build the extension, run Python tests, and return the first that fails, if any."""
        self.build("_core")
        package = self.folder / "src" / "parsimon"
        for extension in self.build_folder.glob("_core*.so"):
            shutil.copyfile(extension, package / extension.name)
        # It remembers what failed before
        shutil.rmtree(self.folder / ".hypothesis", ignore_errors=True)
        # Without `site`: an editable installation would bring the checkout's own extension.
        paths = [
            str(self.folder / "src"),
            *(path for path in sys.path if path and path != str(LIST.parent)),
        ]
        start = (
            f"import sys; sys.path[:] = {paths!r}; import parsimon._core as core; import pytest; "
            f"right = core.__file__.startswith({str(self.folder)!r}); "
            f"sys.exit(pytest.main(sys.argv[1:]) if right else {WRONG_EXTENSION})"
        )
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=no", "-rfE"]
        options += [f"--deselect={test}" for test in LEFT_OUT]
        ended = run(
            [sys.executable, "-S", "-c", start, *options, *tests], self.folder, HANG, limited=True
        )
        if ended.failure in (f"exit code {code}" for code in NOT_A_FAILURE):
            raise ListError(f"the tests {', '.join(tests)} cannot be run:\n{ended.output[-4000:]}")
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ended.output, re.MULTILINE)
        return failed.group(1).removeprefix("tests/") if failed else ended.failure

    def check_unchanged(self, tests: Sequence[str]) -> None:
        """All tests must pass as the sources are, or a failure would say nothing."""
        failure = self.fails_in_cpp() or (tests and self.fails_in_python(tests))
        if failure:
            raise SystemExit(f"fails without any change: {failure}")
        self.cpp_seconds = max(60.0, 20.0 * self.last_seconds)

    def noticed_by(self, mutant: Mutant, cpp_only: bool) -> str:
        """The first test that notices the change; empty if none does."""
        place = self.folder / mutant.file
        text = place.read_text()
        place.write_text(mutant.apply(text))
        try:
            failure = self.fails_in_cpp()
            if failure or cpp_only:
                return failure
            return (mutant.tests and self.fails_in_python(mutant.tests)) or self.fails_in_python(
                GENERAL
            )
        except ListError as error:
            raise ListError(f"{mutant.name}: {error}") from None
        finally:
            place.write_text(text)


class Report:
    """What was found so far, printed as it comes."""

    def __init__(self, total: int):
        self.total = total
        self.verdicts: list[tuple[Mutant, str]] = []  # with what noticed it
        self.errors: list[str] = []
        self.lock = threading.Lock()

    def add(self, mutant: Mutant, noticed_by: str, seconds: float) -> None:
        with self.lock:
            self.verdicts.append((mutant, noticed_by))
            verdict = (
                f"killed by {noticed_by}"
                if noticed_by
                else "equivalent"
                if mutant.equivalent
                else "SURVIVES"
            )
            place = f"[{len(self.verdicts):3d}/{self.total}] {seconds:6.1f} s"
            print(f"{place}  {mutant.file} {mutant.name}: {verdict}", flush=True)

    def add_error(self, error: str) -> None:
        with self.lock:
            self.errors.append(error)
            print(f"ERROR {error}", flush=True)

    def finish(self) -> bool:
        """Prints the table; says whether all is well."""
        killed = [mutant for mutant, by in self.verdicts if by]
        alive = [mutant for mutant, by in self.verdicts if not by]
        share = len(killed) / self.total
        print(f"\nkilled {len(killed)} of {self.total} ({share:.1%})")
        for mutant in alive:
            kind = "equivalent" if mutant.equivalent else "SURVIVES  "
            print(f"  {kind}  {mutant.file} {mutant.name}: {mutant.equivalent or mutant.reason}")
        refuted = [(mutant, by) for mutant, by in self.verdicts if by and mutant.equivalent]
        for mutant, by in refuted:
            print(f"  NOT EQUIVALENT  {mutant.file} {mutant.name}: killed by {by}")
        for error in self.errors:
            print(f"  ERROR  {error}")
        sound = (
            len(self.verdicts) == self.total
            and all(mutant.equivalent for mutant in alive)
            and not refuted
        )
        # a part of the list may be any part
        return sound and (share >= REQUIRED or self.total < LEAST)


def work(
    tree: Tree, files: Iterator[list[Mutant]], lock: threading.Lock, report: Report, cpp_only: bool
) -> None:
    """Takes files, and tries all changes of each one."""
    while True:
        with lock:
            mutants = next(files, [])
        if not mutants:
            return
        for mutant in mutants:
            start = time.monotonic()
            try:
                noticed_by = tree.noticed_by(mutant, cpp_only)
            except ListError as error:
                report.add_error(str(error))
            else:
                report.add(mutant, noticed_by, time.monotonic() - start)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Which semantic changes of the C++ core does no test notice?"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME_OR_FILE", help="these entries, or all of these files"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="workers, each with a copy of the tree"
    )
    parser.add_argument("--cpp", action="store_true", help="run the C++ tests only")
    options = parser.parse_args(arguments)
    mutants = load()
    for mutant in mutants:
        mutant.apply((ROOT / mutant.file).read_text())
    if options.only:
        mutants = [mutant for mutant in mutants if {mutant.name, mutant.file} & set(options.only)]
        if not mutants:
            raise SystemExit(
                f"no entry of the list has this name or file: {', '.join(options.only)}"
            )
    tests = {test for mutant in mutants for test in mutant.tests}
    if not options.only:
        tests = {test for test in tests if test.split("::")[0] not in GENERAL} | set(GENERAL)
    trees = [Tree(ROOT / "build" / "mutants" / str(i)) for i in range(max(1, options.jobs))]
    print(f"building the core as it is, {len(trees)} times; its tests must pass ...", flush=True)

    def prepare(tree: Tree) -> None:
        tree.synchronise()
        tree.configure()
        tree.check_unchanged(sorted(tests) if tree is trees[0] and not options.cpp else ())

    report, lock = Report(len(mutants)), threading.Lock()
    files = iter([list(group) for _, group in groupby(mutants, key=lambda mutant: mutant.file)])
    with ThreadPoolExecutor(len(trees)) as pool:
        list(pool.map(prepare, trees))
        list(pool.map(lambda tree: work(tree, files, lock, report, options.cpp), trees))
    return 0 if report.finish() else 1


if __name__ == "__main__":
    sys.exit(main())
