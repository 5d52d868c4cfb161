"""Helpers for all pictures: figures, lines, axes, and files."""

from __future__ import annotations

import importlib
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from parsimon._extras import install_command
from parsimon._files import write_whole

__all__ = [
    "COLOURS",
    "STYLES",
    "count_axis",
    "draw_line",
    "legend_outside",
    "load_matplotlib",
    "new_figure",
    "plain",
    "render",
    "require_drawable",
    "save",
    "say_above",
    "say_missing",
    "scale_errors",
]

#: Colours that colour-blind people can tell apart (Okabe and Ito), without black and yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
#: Line styles, for lines of the same colour.
STYLES = ("-", "--", ":", "-.")
#: The most characters of a name in a picture.
MOST_LETTERS = 32


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


def say_above(axis: Any, sentence: str) -> None:
    """Write what a panel shows above it, in plain words."""
    axis.set_title(sentence, loc="left", fontsize="medium")


def count_axis(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    axis.set_major_locator(
        load_matplotlib("ticker").MaxNLocator(
            "auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1
        )
    )


def legend_outside(axis: Any) -> None:
    """Put the legend to the right of the panel, where it hides nothing."""
    axis.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


def plain(name: str, most: int = MOST_LETTERS) -> str:
    """Return a name as matplotlib shows it: on one line, not too long, and not as a formula.

    >>> plain("price in $"), plain("a\\nb"), plain("x" * 100, 5)
    ('price in \\\\$', 'a b', 'xxx…x')
    """
    text = " ".join(name.split())
    if len(text) > most:
        end = most // 3
        text = f"{text[: most - 1 - end]}…{text[-end:]}"
    return text.replace("$", r"\$")


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure to a file, completely or not at all, and return the path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, render(figure, suffix(path)))
    return path


def render(figure: Any, kind: str) -> bytes:
    """Return the bytes of a figure in a format such as "png"."""
    picture = BytesIO()
    with warnings.catch_warnings():
        # Names of columns may have letters that the font lacks. They are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        figure.savefig(picture, dpi=120, format=kind)
    return picture.getvalue()


def suffix(path: str | Path) -> str:
    """Return the format that a path chooses, such as "png"."""
    return Path(path).suffix[1:].lower() or "png"
