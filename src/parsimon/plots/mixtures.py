"""Plots of mixtures: the relevance of columns, and the shares of experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

__all__ = ["MOST_COLUMNS", "draw_shares", "mixture"]

#: The most columns whose relevance is drawn.
MOST_COLUMNS = 10
#: Experts whose share never exceeds this in absolute value are not drawn over time.
LEAST_SHARE = 0.1


def mixture(
    path: str | Path,
    shares: Mapping[str, float],
    relevance: Mapping[str, float] | None = None,
    *,
    title: str = "",
) -> Path:
    """Draw the relevance of columns (left) and the shares of experts (right) as bars.

    Parameters
    ----------
    path : the file to write; the suffix chooses the format.
    shares : the share of each expert by name.
    relevance : the relevance of each column by name. The ten largest are drawn. None if it is not
        known.
    title : the title.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "mixture.png")
    >>> mixture(path, {"linear": 0.7, "wide": 0.3}, {"size": 1.0, "shop": 0.2}).exists()
    True
    """
    figure, (left, right) = new_figure(1, 2, shared=False)
    known = relevance or {}
    ranked = sorted(known, key=lambda name: -known[name])[:MOST_COLUMNS]
    _draw_bars(left, {name: known[name] for name in ranked}, COLOURS[0])
    say_missing(left, "not known yet", list(known.values()))
    more = len(known) - len(ranked)
    some = f"\n({more:,} more columns are less relevant)" if more else ""
    say_above(left, "How much predictions depend on each column")
    left.set(
        xlabel=f"relevance, relative to the largest{some}",
        xlim=(0.0, 1.12),
    )
    _draw_bars(right, dict(sorted(shares.items(), key=lambda item: -item[1])), COLOURS[1])
    right.axvline(0.0, color="0.3", linewidth=0.8)
    say_above(right, "How much each expert counts")
    right.set_xlabel("share: the weight of its prediction")
    right.margins(x=0.16)
    rows = max(len(ranked), len(shares), 4)
    figure.set_size_inches(11.0, 1.6 + 0.32 * rows)
    figure.get_layout_engine().set(wspace=0.06)
    figure.suptitle(title)
    return save(figure, path)


def _draw_bars(axis: Any, values: Mapping[str, float], colour: str) -> None:
    """Draw horizontal bars, the first on top, with their values."""
    places = np.arange(len(values))
    bars = axis.barh(places, list(values.values()), color=colour, height=0.7)
    texts = [f"{round(value, 2) + 0.0:.2f}" for value in values.values()]  # not -0.00
    axis.bar_label(bars, texts, padding=3, fontsize="small")
    axis.set_yticks(places, [plain(name) for name in values])
    axis.set_ylim(max(len(values), 1) - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
    axis.set_axisbelow(True)
    axis.tick_params(axis="y", length=0)


def draw_shares(axis: Any, rows: ArrayLike, names: Sequence[str], shares: ArrayLike) -> None:
    """Draw the shares (n, E) of experts against the rows (n,), one line per expert that matters.

    Lines are in the order of the legend: the largest share at the end comes first.
    """
    S = np.asarray(shares, dtype=np.float64)
    largest = np.nanmax(np.abs(S), axis=0)
    drawn = np.flatnonzero(largest > LEAST_SHARE)
    if not len(drawn):
        drawn = np.argsort(-largest)[:3]
    # Colours follow the order of the experts, so that they are the same in every picture.
    looks = {
        e: {
            "color": COLOURS[e % len(COLOURS)],
            "linestyle": STYLES[e // len(COLOURS) % len(STYLES)],
        }
        for e in range(len(names))
    }
    for e in sorted(drawn.tolist(), key=lambda e: -S[-1, e]):
        draw_line(axis, rows, S[:, e], linewidth=1.4, label=plain(names[e]), **looks[e])
    axis.axhline(0.0, color="0.3", linewidth=0.8)
    say_above(axis, "How much each expert counts")
    axis.set(xlabel="rows", ylabel="share")
    count_axis(axis.xaxis)
    legend_outside(axis)
