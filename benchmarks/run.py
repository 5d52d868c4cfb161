"""All benchmarks, in one process on one core; writes RESULTS.md. `--quick` is a smoke test and writes nothing."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one thread for all

import knlms
import krls
import numpy as np
from common import HERE, processor

import parsimon
from parsimon import _core


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        sections = [module.section(folder, 1 if quick else 7) for module in (knlms, krls)]
    versions = f"parsimon {parsimon.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    text = "\n".join(
        [
            "# Benchmarks\n\nWritten by `make bench`, all in one run; run it again for your machine.\n",
            *sections,
            f"{processor()}, core loops `{_core.instruction_set()}`, {versions}.\n",
        ]
    )
    print(text)
    if not quick:
        (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
