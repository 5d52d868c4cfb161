"""A stream from the command line: ``make demo``.

Bicycles lent in each hour of 2011 come with parsimon. All but the last day are learned hour by
hour, each predicted before it is learned; beside that, what a linear model and others make of it;
and then the last day is predicted. It is all done by commands, which are printed as they could be
typed.
"""

from __future__ import annotations

import argparse
import gzip
import shlex
from pathlib import Path

from parsimon import datasets
from parsimon._files import write_whole
from parsimon.cli.app import run

LAST_DAY = 24


def split(folder: Path) -> tuple[Path, Path]:
    """Write the stream, and the last day of it, into a folder."""
    lines = gzip.decompress(datasets.bikes_path().read_bytes()).decode().splitlines(keepends=True)
    stream, day = folder / "bikes.csv", folder / "last_day.csv"
    write_whole(stream, "".join(lines[:-LAST_DAY]).encode())
    write_whole(day, "".join([lines[0], *lines[-LAST_DAY:]]).encode())
    return stream, day


def main() -> int:
    """Run the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    stream, day = split(folder)
    model, picture = folder / "bikes.parsimon", folder / "bikes.png"
    for command in (
        [
            "learn",
            stream,
            "--target",
            "bikers",
            "--model",
            model,
            "--overwrite",
            "--plot",
            picture,
            "--every",
            "100",
        ],
        ["compare", stream, "--target", "bikers", "--algorithm", "default"],
        ["inspect", model, "--plot", folder / "model.png"],
        ["evaluate", model, day],
        ["predict", model, day],
    ):
        words = [str(word) for word in command]
        print(f"\n$ parsimon {shlex.join(words)}", flush=True)
        code = run(words)
        if code:
            return code
    print(f"\nThe model is {model}; the pictures are {picture} and {folder / 'model.png'}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
