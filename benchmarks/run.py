"""All benchmarks, in one process tree on one core, everything with one thread; writes RESULTS.md
and plots/.

`--install` asks pip for the peers that are missing, one by one. `--quick` is a smoke test that
writes nothing; `--only SECTION ...` runs a part and writes only where `--output` says. `--data-dir`
names a folder with mnist.npz; without it scikit-learn's digits take its place, and the bar on MNIST
is not measured.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

# Before NumPy is loaded: one thread for all, and for every child
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
import peers
from common import HERE, Context, Section, compiler, markdown, processor

import parsimon
from parsimon import _core
from parsimon._files import write_whole

SECTIONS = (
    "knlms",
    "krls_dlib",
    "stream_peers",
    "polk",
    "prediction",
    "single",
    "batches",
    "roofline",
    "scaling",
    "default_model",
    "long_run",
    "import_time",
    "cli",
)

HEAD = """# Benchmarks

Written by `make bench`, all in one run, on one core with one thread. Run it again for your machine.
[README.md](README.md) says how to read it.
"""


def run(names, context):
    """Every section, {name: section}; one that fails says so and the rest goes on."""
    done = {}
    for name in names:
        start = time.perf_counter()
        print(f"{name}", flush=True)
        try:
            done[name] = import_module(name).section(context)
        except Exception as error:
            traceback.print_exc()
            done[name] = Section(name, f"**Failed**: {type(error).__name__}: {error}\n")
        print(f"  {time.perf_counter() - start:.0f} s", flush=True)
    return done


def tree():
    """The commit that is measured, and whether the files are those of it."""
    git = ["git", "-C", str(HERE.parent)]
    commit = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    if commit.returncode:
        return "no commit"
    ours = ["core", "bindings", "src", "CMakeLists.txt"]
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--", *ours], capture_output=True, text=True, check=False
    )
    return f"commit {commit.stdout.strip()}{' with changes' if changed.stdout else ''}"


def blas():
    found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{found['name']} {found['version']}"


def compiled_by():
    path = compiler()
    if path is None:
        return "no C++ compiler"
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return said.splitlines()[0] if said else path


def load():
    """How many processes wanted a processor in the last quarter of an hour, on average."""
    return (
        f"{os.getloadavg()[2]:.1f} of {os.cpu_count()} processors"
        if hasattr(os, "getloadavg")
        else "not known"
    )


def report(sections, peer_rows, seconds, quick):
    bars = [bar for section in sections for bar in section.bars]
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    machine = (
        f"{processor()}, {platform.system()} {platform.machine()}, "
        f"core loops `{_core.instruction_set()}`"
    )
    versions = (
        f"parsimon {parsimon.__version__} ({tree()}), Python {platform.python_version()}, "
        f"{packages}, {blas()}, {compiled_by()}"
    )
    busy = f"{time.strftime('%Y-%m-%d')}, a load of {load()} at the end, of which this run is 1."
    parts = [HEAD, f"{machine}. {versions}. {busy}\n"]
    if bars:
        parts += [
            "## Bars\n",
            markdown(["bar", "bound", "seen", ""], [bar.row(judged=not quick) for bar in bars]),
            "",
        ]
    if quick:
        parts += ["One round of small sizes: a smoke test, which says nothing about speed.\n"]
    parts += [f"## {section.title}\n\n{section.text}" for section in sections]
    parts += [
        "## Peers\n",
        markdown(["peer", "version"], peer_rows),
        f"\nThe run took {seconds / 60:.0f} minutes.\n",
    ]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a smoke test: few rounds, small sizes, writes nothing"
    )
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS)
    )
    parser.add_argument("--install", action="store_true", help="ask pip for peers that are missing")
    parser.add_argument("--data-dir", help="a folder that holds mnist.npz")
    parser.add_argument(
        "--output", type=Path, help="a folder for RESULTS.md and plots/; this one, unless in part"
    )
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    names = options.only or SECTIONS
    output = options.output or (None if options.quick or options.only else HERE)
    if options.data_dir and not (Path(options.data_dir) / "mnist.npz").is_file():
        parser.error(f"there is no mnist.npz in {options.data_dir}")
    if output:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"--output: {error}")
    if options.install:
        for peer in peers.ON_PYPI:
            peer.install()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        context = Context(
            Path(folder), options.quick, options.data_dir, output and output / "plots"
        )
        if "krls_dlib" in names:
            context.dlib = peers.dlib(folder, options.install)
        sections = run(names, context)
    text = report(
        list(sections.values()),
        peers.rows(context.dlib),
        time.perf_counter() - start,
        options.quick,
    )
    print(text)
    failed = [name for name, section in sections.items() if section.text.startswith("**Failed**")]
    if failed:
        print(f"Failed: {', '.join(failed)}. Nothing is written.")
    elif output:
        write_whole(output / "RESULTS.md", text.encode())
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
