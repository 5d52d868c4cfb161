"""Pictures. Each function draws into a file and needs matplotlib (``pip install parsimon[plot]``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["learning_curve"]


def learning_curve(
    path: str | Path,
    samples: ArrayLike,
    error: ArrayLike,
    centers: ArrayLike,
    *,
    title: str = "",
    levels: Sequence[tuple[str, float]] = (),
) -> Path:
    """Draw error and model order against samples seen.

    Parameters
    ----------
    path : where to write the picture; the suffix chooses the format.
    samples, error, centers : (n,)
        Samples seen, mean squared error before learning around there, centres held then.
    title : above the picture.
    levels : (label, value) pairs
        Horizontal lines of comparison in the panel of the error.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "curve.png")
    >>> learning_curve(path, [10, 20, 30], [1.0, 0.5, 0.4], [3, 5, 5]).exists()
    True
    """
    figure, (above, below) = _figure(2)
    above.plot(samples, error, color="C0", linewidth=1.2)
    for i, (label, value) in enumerate(levels):
        above.axhline(value, color=f"C{i + 1}", linestyle="--", linewidth=1, label=label)
    above.set_ylabel("mean squared error\nbefore learning")
    above.set_yscale("log")
    if levels:
        above.legend(frameon=False, fontsize="small")
    below.step(samples, centers, where="post", color="C3", linewidth=1.2)
    below.set_ylabel("centres")
    below.set_ylim(0, 1.1 * float(np.max(np.asarray(centers))))
    below.set_xlabel("samples seen")
    below.set_xscale("log")
    below.set_xlim(left=float(np.min(np.asarray(samples))))
    figure.suptitle(title)
    return _save(figure, path)


def _figure(rows: int) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'parsimon[plot]'") from error
    figure = Figure(figsize=(7.0, 2.4 * rows), layout="constrained")  # no pyplot: no global state, no screen
    axes = figure.subplots(rows, 1, sharex=True)
    for axis in np.atleast_1d(axes):
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: str | Path) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path
