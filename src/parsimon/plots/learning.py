"""The picture of one model that learned a stream: scores, last rows, and experts or centres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsimon.plots.drawing import (
    COLOURS,
    count_axis,
    draw_line,
    legend_outside,
    new_figure,
    plain,
    say_above,
    say_missing,
)
from parsimon.plots.mixtures import draw_shares
from parsimon.plots.streams import (
    draw_centres,
    draw_scores,
    moving_average,
    score_name,
    scored_reports,
)

__all__ = ["LastRows", "ShareCurve", "learning_figure"]

Array = NDArray[np.float64]

#: The most classes that are drawn one by one, and the rows of a moving accuracy for more classes.
MOST_CLASSES, WINDOW = 12, 20
#: How far a band is drawn above and below the lines, in units of their range.
MOST_BAND = 0.75
#: How far below its class a wrong prediction is drawn. Classes are 1 apart.
BELOW = 0.22


class ShareCurve(NamedTuple):
    """The shares of experts at some rows: rows (n,), names (E,), shares (n, E)."""

    rows: Sequence[int]
    names: Sequence[str]
    shares: Sequence[Array]


class LastRows(NamedTuple):
    """The last rows of a stream: what came, and what was predicted before.

    `last` is the number of the last row. `came` and `predicted` are numbers (n,), or places (n,)
    in `labels`. `intervals` (n, 2) are the prediction intervals of numbers; those that are not
    finite are not drawn. `interval` says what they are for, such as "for 90 %".
    """

    last: int
    came: NDArray[Any]
    predicted: NDArray[Any]
    labels: Sequence[str] | None = None
    intervals: Array | None = None
    interval: str = ""


def learning_figure(
    reports: Sequence[Any],
    last_rows: LastRows,
    shares: ShareCurve | None = None,
    *,
    target: str = "target",
    title: str = "",
    missing: str = "no scores",
) -> Any:
    """Return a figure of the scores, of the last rows, and of the experts or centres.

    Parameters
    ----------
    reports : as in `parsimon.evaluation.Trace`. Reports without scores are left out.
    last_rows : what was predicted and what came.
    shares : the shares of experts. None means that the model is not a mixture: its centres are
        drawn instead.
    target : the name of the target.
    title : the title.
    missing : a sentence for the panel of the scores, if all of them are NaN.
    """
    scored = scored_reports(reports)
    figure, (above, middle, below) = new_figure(3, shared=False)
    draw_scores(above, scored, missing)
    above.set_xlabel("rows")
    count_axis(above.xaxis)
    if score_name(scored) == "accuracy":
        say_above(above, "How many predictions were right (1: all of them)")
    else:
        say_above(above, "How wrong the predictions were (1: as wrong as the mean of the target)")
    if above.get_legend_handles_labels()[0]:
        legend_outside(above)
    _draw_last_rows(middle, last_rows, target)
    if shares is not None:
        draw_shares(below, *shares)
    else:
        draw_centres(below, scored)
        say_above(below, "How large the model is")
    figure.set_size_inches(9.5, 8.4)
    figure.get_layout_engine().set(hspace=0.06)
    figure.suptitle(title)
    return figure


def _draw_last_rows(axis: Any, last_rows: LastRows, target: str) -> None:
    last, came, predicted, labels = last_rows[:4]
    if not len(came):
        say_missing(axis, "no row was predicted in this run")
        axis.set_xticks([])
        return
    rows = np.arange(last - len(came) + 1, last + 1)
    if labels is None:
        draw_line(axis, rows, came, color="0.25", linewidth=1.6, label="what came")
        style = {"color": COLOURS[1], "linewidth": 1.2, "linestyle": "--"}
        draw_line(axis, rows, predicted, label="what was predicted", **style)
        if last_rows.intervals is not None:
            _draw_intervals(axis, rows, last_rows)
        axis.set_ylabel(plain(target))
    elif len(labels) <= MOST_CLASSES:
        _draw_classes(axis, rows, came, predicted, labels)
        axis.set_ylabel(plain(target))
    else:
        window = min(WINDOW, len(rows))
        right = moving_average(came == predicted, window)
        style = {"color": COLOURS[0], "linewidth": 1.4}
        draw_line(axis, rows[window - 1 :], right, label=f"of {window} rows", **style)
        axis.set(ylabel="accuracy", ylim=(-0.05, 1.05))
    say_above(axis, f"The last {len(rows):,} rows, each predicted before it was learned")
    axis.set_xlabel("row")
    count_axis(axis.xaxis)
    legend_outside(axis)


def _draw_intervals(axis: Any, rows: NDArray[Any], last_rows: LastRows) -> None:
    """Draw intervals (n, 2) as a light band behind the lines, if there are finite ones."""
    came, predicted, intervals = last_rows.came, last_rows.predicted, last_rows.intervals
    assert intervals is not None
    finite = np.isfinite(intervals[:, 0]) & np.isfinite(intervals[:, 1])
    if not finite.any():
        return
    low, high = np.where(finite[:, np.newaxis], intervals, np.nan).T
    inside = int(((low <= came) & (came <= high)).sum())
    name = f"interval {last_rows.interval}\n({inside:,} of {finite.sum():,} within)"
    style = {"color": COLOURS[1], "alpha": 0.2, "zorder": 0.5}
    axis.fill_between(rows, low, high, linewidth=0, label=name, **style)
    alone = finite & ~np.append(False, finite[:-1]) & ~np.append(finite[1:], False)
    if alone.any():  # a row without neighbours has no width
        axis.vlines(rows[alone], low[alone], high[alone], linewidth=6, **style)
    # The first intervals can be very wide. They are cut off, so that the lines can be seen.
    bottom, top = np.nanmin([came, predicted]), np.nanmax([came, predicted])
    if top > bottom:
        lowest, highest = axis.get_ylim()
        reach = MOST_BAND * (top - bottom)
        axis.set_ylim(max(lowest, bottom - reach), min(highest, top + reach))


def _draw_classes(
    axis: Any,
    rows: NDArray[Any],
    came: NDArray[Any],
    predicted: NDArray[Any],
    labels: Sequence[str],
) -> None:
    """Draw a mark for each row at the height of its class. Wrong predictions are just below."""
    wrong = came != predicted
    marks = {"linestyle": "none", "markersize": 5}
    axis.plot(
        rows[~wrong],
        came[~wrong],
        marker="o",
        color=COLOURS[0],
        label=f"came as predicted: {(~wrong).sum():,}",
        **marks,
    )
    axis.plot(
        rows[wrong],
        came[wrong],
        marker="o",
        color="0.1",
        markerfacecolor="white",
        label=f"came otherwise: {wrong.sum():,}",
        **marks,
    )
    axis.plot(
        rows[wrong],
        predicted[wrong] - BELOW,
        marker="x",
        markeredgewidth=1.6,
        color=COLOURS[1],
        label="what was predicted\ninstead",
        **marks,
    )
    axis.set_yticks(range(len(labels)), [plain(label, 16) for label in labels])
    axis.set_ylim(-0.6, len(labels) - 0.4)
