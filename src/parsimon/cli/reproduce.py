"""``parsimon reproduce``: run experiments of the papers and on signals."""

from __future__ import annotations

import importlib
import time
from pathlib import Path

from parsimon.cli.text import table
from parsimon.cli.words import choose
from parsimon.experiments import EXPERIMENTS, WITH_DATA

__all__ = ["reproduce"]


def reproduce(names: list[str], output: Path, data_dir: Path | None, quick: bool) -> int:
    """Run the named experiments, or list all of them if none is named."""
    if not names:
        rows = [[name, "real" if name in WITH_DATA else "generated"] for name in EXPERIMENTS]
        print(table(["experiment", "data"], rows))
        return 0
    modules = {name: choose(EXPERIMENTS, name, "experiment") for name in names}
    for name, module in modules.items():
        start = time.perf_counter()
        given = {"data_dir": data_dir} if name in WITH_DATA else {}
        folder = output / name
        report = importlib.import_module(module).run(folder, quick=quick, **given)
        report.write(folder)
        seconds = time.perf_counter() - start
        print(f"{report}\n\n{name}: {seconds:.0f} s, written to {folder}\n", flush=True)
    return 0
