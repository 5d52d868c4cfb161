"""What got slower since a revision: a small fixed set of workloads on that revision and on this
tree, built alike, side by side.

    python benchmarks/compare.py REV            # make bench-compare REV=...
    python benchmarks/compare.py REV --only polk krls-all-new

REV is checked out into a temporary worktree; both trees are built into wheels, each with an
environment of its own that shares the packages of this one; all of it is removed at the end. The
core is compared by counts of instructions (valgrind's callgrind, exact and deaf to other work on
the machine, but no clock: vector code may need fewer and take longer) and by times with their
spread; Python by times. Without valgrind there are only times. Ends with 1 if something got slower.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import HERE, Times, compiler, markdown

ROOT = HERE.parent
#: Beyond these a change is called one: of counts (a large one, by itself, is slower), and of times,
#: which must exceed their spread besides.
COUNT, MUCH, TIME = 0.01, 0.05, 0.1
#: A time so much longer, beyond its spread, is slower whatever was counted.
FAR = 0.25


def quietly(*command, **options):
    """Run a command; if it fails, say what it said."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


@contextlib.contextmanager
def worktree(revision, folder):
    quietly("git", "-C", ROOT, "worktree", "add", "--detach", folder, revision)
    try:
        yield folder
    finally:
        quietly("git", "-C", ROOT, "worktree", "remove", "--force", folder)


@dataclass
class Side:
    """A tree, built: an interpreter that has it installed, and the driver linked with its core, or
    why there is none.
    """

    name: str
    python: Path
    driver: Path | None
    reason: str = ""


def build(name, tree, folder):
    print(f"building {name} ...", flush=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    native = folder / "build"
    options = ["--no-build-isolation", "--no-deps", "--no-index", "-C", f"build-dir={native}"]
    quietly(*pip, "wheel", *options, "-w", folder, tree)
    quietly(sys.executable, "-m", "venv", folder / "env")
    python = folder / "env" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    quietly(
        python,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "-q",
        "install",
        "--no-deps",
        "--no-index",
        wheel,
    )
    # What it depends on comes from the environment that runs this; parsimon itself does not, for
    # only the path is shared.
    places = quietly(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"
    ).stdout.strip()
    (Path(places) / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    driver = folder / "driver"
    archives = [native / "libparsimon.a", native / "libcore.a"]  # the latter in old revisions
    command = [
        compiler(),
        "-O2",
        "-std=c++20",
        f"-I{tree / 'core'}",
        HERE / "compare_driver.cpp",
        next(archive for archive in archives if archive.exists()),
    ]
    done = subprocess.run(
        [*map(str, command), "-o", str(driver)], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Side(name, python, driver)
    first = next((line for line in done.stderr.splitlines() if "error" in line), "it does not link")
    return Side(name, python, None, first)


def counted(side, workload):
    """Instructions of the measured part."""
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=measured",
    ]
    said = quietly(*command, side.driver, workload).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def timed(sides, run, rounds):
    """Times of both, {workload: (before, after)}, from runs in turn of a function that gives
    {workload: seconds}.
    """
    found = [{}, {}]
    for _ in range(rounds):
        for side, taken in zip(sides, found, strict=True):
            for name, value in run(side).items():
                taken.setdefault(name, []).append(value)
    return {
        name: tuple(Times(np.array(taken[name])) for taken in found)
        for name in found[0]
        if name in found[1]
    }


def apart(before, after):
    """The change of the best time, if it is a large one beside the spread; else 0."""
    change = after.best / before.best - 1
    return change if abs(change) > max(TIME, before.spread, after.spread) else 0.0


def verdict(count_change, time_change):
    """What is to be said of it.

    A count that has hardly changed clears a time that has, unless that is far longer; one that has
    changed a little is only told.
    """
    if count_change is None:
        return "**slower**" if time_change > 0 else "faster" if time_change < 0 else ""
    if time_change > FAR:  # whatever the instructions: memory that is not there, or not near
        return "the same work, **slower**" if abs(count_change) <= COUNT else "**slower**"
    if abs(count_change) <= COUNT:
        return f"the same work, {'longer' if time_change > 0 else 'shorter'}" if time_change else ""
    if count_change < 0:
        return "fewer instructions, **slower**" if time_change > 0 else "faster"
    if time_change < 0:
        return "more instructions, faster"
    return "**slower**" if time_change > 0 or count_change > MUCH else "more instructions"


def percent(change):
    return f"{100 * change:+.1f} %"


def cells(before, after, scale):
    spread = max(before.spread, after.spread)
    return [
        f"{scale * before.best:.3g}",
        f"{scale * after.best:.3g}",
        percent(after.best / before.best - 1),
        f"{100 * spread:.0f} %",
    ]


def compare_core(sides, only, rounds):
    """Rows of the table, and the workloads that got slower."""
    names = [n for n in quietly(sides[1].driver).stdout.split() if not only or n in only]
    results = {side.name: {} for side in sides}

    def run(side):
        taken = {}
        for name in names:
            nanoseconds, *rest = quietly(side.driver, name, "3").stdout.split()
            taken[name], results[side.name][name] = (
                1e-9 * float(nanoseconds),
                [float(r) for r in rest],
            )
        return taken

    times = timed(sides, run, rounds)
    counts = {}
    if shutil.which("valgrind"):
        for name in names:
            print(f"counting {name} ...", flush=True)
            counts[name] = [counted(side, name) for side in sides]
    rows, slower = [], []
    for name in names:
        before, after = times[name]
        change, counting = None, ["", "", ""]
        if name in counts:
            change = counts[name][1] / counts[name][0] - 1
            counting = [f"{c:,}" for c in counts[name]] + [percent(change)]
        said = verdict(change, apart(before, after))
        slower += [name] if "slower" in said else []
        old, new = (results[side.name][name] for side in sides)
        same = (
            "same"
            if old == new
            else f"off by {abs(new[1] / old[1] - 1):.0e}"
            if old[0] == new[0]
            else "other centres"
        )
        rows.append([name, *counting, *cells(before, after, 1e6), same, said])
    return rows, slower


def compare_python(sides, rounds):
    def run(side):
        return json.loads(
            quietly(side.python, HERE / "compare_python.py", cwd=tempfile.gettempdir()).stdout
        )

    rows, slower = [], []
    for name, (before, after) in timed(sides, run, rounds).items():
        said = verdict(None, apart(before, after))
        slower += [name] if "slower" in said else []
        rows.append([name, *cells(before, after, 1e6), said])
    return rows, slower


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision")
    parser.add_argument(
        "--only", nargs="+", help="workloads of the core; without it all, and Python's"
    )
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[variable] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an end that removes what is temporary
    slower = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with worktree(options.revision, folder / "tree") as tree:
            for side in ("before", "after"):
                (folder / side).mkdir()
            sides = [
                build(options.revision, tree, folder / "before"),
                build("this tree", ROOT, folder / "after"),
            ]
            names = [side.name for side in sides]
            print(f"\n# {names[1]} against {names[0]}\n")
            missing = [side for side in sides if side.driver is None]
            for side in missing:
                print(
                    "The core is not compared: the driver does not compile against that of "
                    f"{side.name}: {side.reason}\n"
                )
            if not missing:
                rows, slower = compare_core(sides, options.only, options.rounds)
                header = [
                    "core",
                    *(f"instructions, {n}" for n in names),
                    "change",
                    *(f"us, {n}" for n in names),
                    "change",
                ]
                print("\n" + markdown([*header, "spread", "results", ""], rows) + "\n")
                if not shutil.which("valgrind"):
                    print(
                        "valgrind is not installed: only times are compared, "
                        "which do not show small changes.\n"
                    )
            if not options.only:
                rows, more = compare_python(sides, options.rounds)
                print(
                    markdown(["Python", *(f"us, {n}" for n in names), "change", "spread", ""], rows)
                    + "\n"
                )
                slower += more
    print(f"Slower: {', '.join(slower) or 'nothing'}.")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(main())
