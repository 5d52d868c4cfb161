"""Plots of forecasts: the last values, what comes next, and how far off such forecasts were."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parsimon.plots.drawing import (
    COLOURS,
    STYLES,
    count_axis,
    draw_line,
    legend_outside,
    new_figure,
    plain,
    save,
    say_above,
    say_missing,
)

__all__ = ["forecast"]


def forecast(
    path: str | Path,
    past: tuple[Any, ArrayLike],
    future: tuple[Any, ArrayLike],
    *,
    bounds: ArrayLike | None = None,
    errors: Mapping[str, ArrayLike] | None = None,
    name: str = "value",
    title: str = "",
) -> Path:
    """Draw the last values and the forecasts, and below them the mean absolute error per step.

    Parameters
    ----------
    path : the file to write; the suffix chooses the format.
    past : the times and values of the last rows, (n,) each.
    future : the times and values of the forecasts, (H,) each.
    bounds : the interval of each forecast, (H, 2), or None.
    errors : errors of earlier forecasts at each step by the name of the model, (H,) each.
    name : the name of the series.
    title : the title.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "forecast.png")
    >>> forecast(path, ([0, 1], [1.0, 2.0]), ([2, 3], [3.0, 4.0]), bounds=[[2, 4], [2, 6]]).exists()
    True
    """
    figure, (above, below) = new_figure(2, shared=False)
    times, values = past[0], np.asarray(past[1], dtype=np.float64)
    ahead, found = future[0], np.asarray(future[1], dtype=np.float64)
    draw_line(above, times, values, color="0.3", linewidth=1.2, label="as it came")
    draw_line(above, ahead, found, color=COLOURS[1], linewidth=1.6, label="forecast")
    if bounds is not None and np.isfinite(band := np.asarray(bounds, dtype=np.float64)).any():
        style = {"color": COLOURS[1], "alpha": 0.2, "linewidth": 0.0, "label": "interval"}
        above.fill_between(ahead, band[:, 0], band[:, 1], **style)
    above.set_ylabel(plain(name))
    above.tick_params(axis="x", labelrotation=20)
    say_above(above, "The last values, and what comes next")
    legend_outside(above)
    steps = np.arange(1, len(found) + 1)
    for i, (label, error) in enumerate((errors or {}).items()):
        style = {"color": COLOURS[(i + 1) % len(COLOURS)], "linestyle": STYLES[i % len(STYLES)]}
        draw_line(below, steps, error, linewidth=1.4, label=plain(label), **style)
    say_missing(below, "no forecast has been scored yet", *(errors or {}).values())
    say_above(below, "How far off forecasts were, for each step")
    below.set(xlabel="steps ahead", ylabel="mean absolute error", ylim=(0.0, None))
    count_axis(below.xaxis)
    if errors:
        legend_outside(below)
    figure.set_size_inches(9.0, 6.0)
    figure.suptitle(title)
    return save(figure, path)
