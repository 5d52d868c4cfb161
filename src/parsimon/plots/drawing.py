"""Helpers for all pictures: figures, lines, axes, and files."""

from __future__ import annotations

import importlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from parsimon._extras import install_command
from parsimon._files import write_whole

__all__ = [
    "count_axis",
    "draw_line",
    "load_matplotlib",
    "new_figure",
    "render",
    "require_drawable",
    "save",
    "say_missing",
    "scale_errors",
]


def require_drawable(path: str | Path) -> None:
    """Raise an error if a picture cannot be drawn into this file.

    The suffix must be a known format, and matplotlib must be installed.

    >>> require_drawable("picture.png")
    """
    kinds = load_matplotlib("backend_bases").FigureCanvasBase.get_supported_filetypes()
    if suffix(path) not in kinds:
        suffixes = ", ".join(f".{kind}" for kind in sorted(kinds))
        raise ValueError(f"{path}: the suffix of a picture must be one of {suffixes}")


def load_matplotlib(module: str) -> Any:
    """Return a module of matplotlib. If it is not installed, the error says how to install it."""
    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise ImportError(f"drawing needs matplotlib: {install_command('plot')}") from error


def new_figure(rows: int, columns: int = 1, *, shared: bool = True) -> tuple[Any, Any]:
    """Return a figure and its axes. If `shared`, the axes share their x axis."""
    Figure = load_matplotlib("figure").Figure
    # Not pyplot, which has global state and may open a window.
    figure = Figure(figsize=(7.0, 2.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=shared and ("col" if columns == 1 else "row"))
    for axis in np.ravel(axes):
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def draw_line(axis: Any, x: Any, y: Any, **style: Any) -> None:
    """Draw a line. A point without neighbours gets a marker, because a line cannot show it."""
    present = np.isfinite(np.asarray(y, dtype=np.float64))
    padded = np.concatenate([[False], present, [False]])
    alone = present & ~padded[:-2] & ~padded[2:]
    if alone.any():
        places = np.flatnonzero(alone).tolist()
        style = {"marker": "o", "markersize": 5, "markevery": places, **style}
    axis.plot(x, y, **style)


def scale_errors(axis: Any, *errors: Any) -> None:
    """Make an axis of errors logarithmic if they span more than a factor of ten."""
    found = np.concatenate([np.ravel(np.asarray(e, dtype=np.float64)) for e in errors])
    found = found[np.isfinite(found) & (found > 0)]
    if not len(found) or found.max() <= 10 * found.min():
        return
    ticker = load_matplotlib("ticker")
    axis.set_yscale("log")
    axis.yaxis.set_minor_locator(ticker.LogLocator(subs=(2.0, 5.0)))
    for set_formatter in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
        set_formatter(ticker.FormatStrFormatter("%g"))


def say_missing(axis: Any, sentence: str, *values: Any) -> None:
    """Write a sentence into a panel if there is no finite value to draw."""
    if not any(np.isfinite(np.asarray(v, dtype=np.float64)).any() for v in values):
        place = {"transform": axis.transAxes, "ha": "center", "va": "center", "wrap": True}
        axis.text(0.5, 0.5, sentence, color="0.3", **place)
        axis.set_yticks([])


def count_axis(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    axis.set_major_locator(
        load_matplotlib("ticker").MaxNLocator(
            "auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1
        )
    )


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure to a file, completely or not at all, and return the path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, render(figure, suffix(path)))
    return path


def render(figure: Any, kind: str) -> bytes:
    """Return the bytes of a figure in a format such as "png"."""
    picture = BytesIO()
    figure.savefig(picture, dpi=120, format=kind)
    return picture.getvalue()


def suffix(path: str | Path) -> str:
    """Return the format that a path chooses, such as "png"."""
    return Path(path).suffix[1:].lower() or "png"
