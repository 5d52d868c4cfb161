"""What all pictures share: figures without a screen, and files that are written whole."""

from __future__ import annotations

import importlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from parsimon._extras import install_command
from parsimon._files import write_whole

__all__ = ["load_matplotlib", "new_figure", "render", "require_drawable", "save"]


def require_drawable(path: str | Path) -> None:
    """Refuse a file that nothing can be drawn into: of an unknown suffix, or without matplotlib.

    >>> require_drawable("picture.png")
    """
    kinds = load_matplotlib("backend_bases").FigureCanvasBase.get_supported_filetypes()
    if suffix(path) not in kinds:
        raise ValueError(f"{path}: pictures are {', '.join(sorted(kinds))}, by the suffix")


def load_matplotlib(module: str) -> Any:
    """Return a module of matplotlib, or say how to install it."""
    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise ImportError(f"drawing needs matplotlib: {install_command('plot')}") from error


def new_figure(rows: int, columns: int = 1, *, shared: bool = True) -> tuple[Any, Any]:
    """Return a figure and its axes, which share their x axis if `shared`."""
    Figure = load_matplotlib("figure").Figure
    # No pyplot: no global state, no screen
    figure = Figure(figsize=(7.0, 2.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=shared and ("col" if columns == 1 else "row"))
    for axis in np.ravel(axes):
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure to a file, whole or not at all, and return the path."""
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
    return Path(path).suffix[1:].lower() or "png"
