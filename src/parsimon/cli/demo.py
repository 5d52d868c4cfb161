"""A demonstration of the command line: ``make demo``.

The stream of bicycles rented in each hour of 2011 comes with parsimon. All but the last day are
learned, each hour predicted before it is learned. A linear model and others are compared. Then
the last day is predicted. The demo runs commands, and prints them as one would type them. It ends
with pictures.
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

#: What the pictures show.
CAPTIONS = {
    "bikes.png": (
        "top: how wrong the predictions were; lower is better, and 1 is no better than the mean",
        "middle: bicycles per hour as predicted and as they came, over the last 200 hours;",
        "        the band is made to hold nine of ten hours, and is wider when it is less sure",
        "bottom: how much each expert counted; the mixture finds out by itself which are good",
    ),
    "model.png": (
        "left: which columns matter; time includes the hour of the day and the day of the week",
        "right: how much each expert counts at the end",
    ),
}


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
    files = ["--model", model, "--overwrite", "--plot", picture]
    for command in (
        ["learn", stream, "--target", "bikers", "--intervals", "0.9", *files, "--every", "100"],
        ["compare", stream, "--target", "bikers", "--algorithm", "default"],
        ["inspect", model, "--plot", folder / "model.png"],
        ["evaluate", model, day],
        ["predict", model, day, "--intervals"],
    ):
        if command[0] == "evaluate":
            print("\nThe last day is predicted at once, without the targets of its earlier hours.")
        words = [str(word) for word in command]
        print(f"\n$ parsimon {shlex.join(words)}", flush=True)
        code = run(words)
        if code:
            return code
    print(f"\nThe model is {model}. The pictures:")
    for name, captions in CAPTIONS.items():
        print("\n  ".join([f"\n{folder / name}", *captions]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
