"""Plots in decibels: learning curves with bands, and error against size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.plots.drawing import (
    COLOURS,
    STYLES,
    count_axis,
    draw_line,
    legend_outside,
    load_matplotlib,
    new_figure,
    plain,
    save,
    say_above,
)

__all__ = ["decibel_curves", "error_against_size"]

#: What both pictures show.
_ERROR = "mean squared error before learning, dB"


def decibel_curves(
    path: str | Path,
    curves: Mapping[str, Any],
    *,
    title: str = "",
    ylabel: str = _ERROR,
    marks: Mapping[str, float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    """Draw learning curves with their bands, one line per label.

    Parameters
    ----------
    path : the file to write; the suffix chooses the format.
    curves : by label, an object with `samples` (n,), `mean` (n,) and `band` (n, 2) in dB, such as
        `parsimon.evaluation.LearningCurve`.
    title : the title.
    ylabel : what the errors are.
    marks : vertical lines, by label, for example where a channel switches.
    groups : by title, the labels of the curves in each panel. None draws one panel.

    Examples
    --------
    >>> import tempfile, os
    >>> from types import SimpleNamespace
    >>> level = np.array([0.0, -5.0, -9.0])
    >>> band = np.column_stack([level - 1, level + 1])
    >>> curve = SimpleNamespace(samples=[20, 21, 22], mean=level, band=band)
    >>> path = os.path.join(tempfile.mkdtemp(), "curves.png")
    >>> decibel_curves(path, {"a filter": curve}, marks={"switch": 21}).exists()
    True
    """
    if not curves:
        raise ValueError("there is nothing to draw: curves is empty")
    panels = groups or {"": list(curves)}
    figure, axes = new_figure(len(panels))
    for axis, (name, labels) in zip(np.ravel(axes), panels.items(), strict=True):
        for i, label in enumerate(labels):
            _draw_curve(axis, plain(label), curves[label], _style(i))
        for label, value in (marks or {}).items():
            axis.axvline(value, color="0.4", linestyle="--", linewidth=1)
            place = {"xytext": (4, -2), "textcoords": "offset points", "va": "top"}
            axis.annotate(
                plain(label), (value, 1.0), xycoords=("data", "axes fraction"), color="0.3", **place
            )
        say_above(axis, name)
        axis.margins(x=0.01)
        legend_outside(axis)
    ends = [axis.get_ylim() for axis in np.ravel(axes)]
    for axis in np.ravel(axes):
        axis.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    last = np.ravel(axes)[-1]
    last.set_xlabel("samples")
    count_axis(last.xaxis)
    figure.supylabel(ylabel, fontsize="medium")
    figure.set_size_inches(9.5, 1.0 + 3.6 * len(panels))
    figure.suptitle(title)
    return save(figure, path)


def error_against_size(path: str | Path, sweeps: Mapping[str, Any], *, title: str = "") -> Path:
    """Draw the error in the steady state against the number of centres, one line per label.

    Parameters
    ----------
    path : the file to write; the suffix chooses the format.
    sweeps : by label, an object with `sizes` (k,), `mean` (k,) and `band` (k, 2) in dB, such as
        `parsimon.evaluation.SizeSweep`.
    title : the title.

    Examples
    --------
    >>> import tempfile, os
    >>> from types import SimpleNamespace
    >>> level = np.array([-5.0, -9.0])
    >>> band = np.column_stack([level - 1, level + 1])
    >>> sweep = SimpleNamespace(sizes=[10, 20], mean=level, band=band)
    >>> path = os.path.join(tempfile.mkdtemp(), "sizes.png")
    >>> error_against_size(path, {"a filter": sweep}).exists()
    True
    """
    if not sweeps:
        raise ValueError("there is nothing to draw: sweeps is empty")
    figure, axis = new_figure(1)
    for i, (label, sweep) in enumerate(sweeps.items()):
        order = np.argsort(sweep.sizes, kind="stable")
        sizes, level = np.asarray(sweep.sizes)[order], _finite(sweep.mean)[order]
        style = _style(i)
        axis.plot(sizes, level, marker="o", markersize=4, label=plain(label), **style)
        axis.fill_between(
            sizes, *_finite(sweep.band)[order].T, color=style["color"], alpha=0.2, linewidth=0
        )
    ticker = load_matplotlib("ticker")
    axis.set(xlabel="centres", xscale="log", ylabel=_ERROR)
    axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    legend_outside(axis)
    figure.set_size_inches(8.5, 4.4)
    figure.suptitle(title)
    return save(figure, path)


def _draw_curve(axis: Any, label: str, curve: Any, style: dict[str, Any]) -> None:
    draw_line(axis, curve.samples, _finite(curve.mean), label=label, **style)
    ends = _finite(curve.band).T
    axis.fill_between(curve.samples, *ends, color=style["color"], alpha=0.2, linewidth=0)


def _style(i: int) -> dict[str, Any]:
    k = len(COLOURS)
    return {"color": COLOURS[i % k], "linestyle": STYLES[i // k % len(STYLES)], "linewidth": 1.4}


def _finite(values: Any) -> Any:
    """Return values with NaN in place of infinities, which would stretch the axis."""
    found = np.array(values, dtype=np.float64)
    found[~np.isfinite(found)] = np.nan
    return found
