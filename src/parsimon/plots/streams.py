"""Plots of errors and model sizes along a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon.plots.drawing import (
    count_axis,
    draw_line,
    new_figure,
    save,
    say_missing,
    scale_errors,
)

__all__ = [
    "compared",
    "curves",
    "draw_centres",
    "draw_scores",
    "error_and_sparsity",
    "last_rows",
    "learning_curve",
    "learning_curves",
    "moving_average",
    "score_name",
    "scored_reports",
    "trace_figure",
]


def learning_curve(
    path: str | Path,
    samples: ArrayLike,
    error: ArrayLike,
    centers: ArrayLike,
    *,
    title: str = "",
    levels: Sequence[tuple[str, float]] = (),
) -> Path:
    """Draw the error and the number of centres against the samples seen.

    Parameters
    ----------
    path : the file to write; the suffix chooses the format.
    samples, error, centers : (n,)
        Samples seen, mean squared error before learning, and number of centres.
    title : the title.
    levels : (label, value) pairs
        Horizontal lines in the panel of the error, for comparison.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "curve.png")
    >>> learning_curve(path, [10, 20, 30], [1.0, 0.5, 0.4], [3, 5, 5]).exists()
    True
    """
    figure, (above, below) = new_figure(2)
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
    return save(figure, path)


def curves(
    path: str | Path,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    log: bool = False,
) -> Path:
    """Draw several lines in one panel, each with a label and its x and y.

    `log` makes the vertical axis logarithmic.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "lines.png")
    >>> curves(path, {"a line": ([0, 1], [1, 2])}, xlabel="x", ylabel="y").exists()
    True
    """
    figure, axis = new_figure(1)
    for label, (x, y) in lines.items():
        axis.plot(x, y, linewidth=1.2, label=label)
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    if log:
        axis.set_yscale("log")
    axis.legend(frameon=False, fontsize="small")
    figure.set_size_inches(7.0, 4.2)
    figure.suptitle(title)
    return save(figure, path)


def moving_average(values: ArrayLike, window: int) -> NDArray[np.float64]:
    """Return the mean over each `window` consecutive values: (n,) gives (n - window + 1,).

    >>> moving_average([1.0, 3.0, 5.0], 2)
    array([2., 4.])
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64))])
    return np.asarray((sums[window:] - sums[:-window]) / window)


def learning_curves(
    path: str | Path, histories: Mapping[str, Mapping[str, Sequence[float]]]
) -> Path:
    """Draw objective, test error and number of centres against samples seen, one line per label.

    This is Fig. 2 of Koppel et al. 2019. A history has "samples", "objective", "error" and "order"
    (the number of centres).

    >>> import tempfile, os
    >>> line = {"samples": [10, 20], "objective": [1.0, 0.5], "error": [0.5, 0.2], "order": [3, 5]}
    >>> learning_curves(os.path.join(tempfile.mkdtemp(), "curves.png"), {"a model": line}).exists()
    True
    """
    figure, axes = new_figure(3)
    for label, line in histories.items():
        for axis, key in zip(axes, ("objective", "error", "order"), strict=True):
            axis.plot(line["samples"], line[key], linewidth=1.2, label=label)
    for axis, name in zip(axes, ("objective", "test error", "centres"), strict=True):
        axis.set_ylabel(name)
        axis.set_yscale("log")
    axes[-1].set_xlabel("samples seen")
    axes[-1].set_xscale("log")
    axes[0].legend(frameon=False, fontsize="small")
    return save(figure, path)


def error_and_sparsity(
    path: str | Path, tests: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]]]
) -> Path:
    """Draw mean squared error (left) and centres as a percentage of the samples (right).

    This is Fig. 1 of Engel, Mannor & Meir 2002, with a row of panels for each test. The name of a
    test is the quantity that varies. Each line has a label and its x, error and percentage.

    >>> import tempfile, os
    >>> lines = {"a model": ([10, 100], [0.1, 0.01], [80, 10])}
    >>> path = os.path.join(tempfile.mkdtemp(), "panels.png")
    >>> error_and_sparsity(path, {"samples": lines}).exists()
    True
    """
    figure, axes = new_figure(len(tests), 2)
    for (varied, lines), (left, right) in zip(tests.items(), np.atleast_2d(axes), strict=True):
        for label, (x, error, percentage) in lines.items():
            left.plot(x, error, marker=".", linewidth=1.2, label=label)
            right.plot(x, percentage, marker=".", linewidth=1.2, label=label)
        left.set(xlabel=varied, xscale="log", yscale="log", ylabel="mean squared error")
        right.set(xlabel=varied, ylim=(0, 105), ylabel="centres, % of samples")
    np.ravel(axes)[0].legend(frameon=False, fontsize="small")
    figure.set_size_inches(9.0, 3.2 * len(tests))
    return save(figure, path)


def last_rows(window: int | None) -> str:
    """Return the label for a value that is computed over the last rows.

    >>> last_rows(1000)
    'last 1,000 rows'
    """
    return "last rows" if not window else f"last {window:,} rows"


def compared(
    path: str | Path,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    ylabel: str,
    title: str = "",
    window: int | None = None,
    missing: str = "no scores",
) -> Path:
    """Draw the errors of several models against the rows of one stream.

    The upper panel shows errors over the last rows, the lower panel over all rows so far. An axis
    is logarithmic if its errors span more than a factor of ten.

    Parameters
    ----------
    path : the file to write; the suffix chooses the format.
    lines : by label, the rows and both errors, each (n,).
    ylabel : what the errors are.
    title : the title.
    window : the number of last rows.
    missing : a sentence for a panel without errors.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "compared.png")
    >>> compared(path, {"a model": ([100, 200], [0.5, 0.2], [0.5, 0.3])}, ylabel="error").exists()
    True
    """
    figure, axes = new_figure(2)
    styles = ("-", "--", ":", "-.")  # ten colours each
    for i, (label, (rows, *errors)) in enumerate(lines.items()):
        style = {"color": f"C{i % 10}", "linestyle": styles[i // 10 % 4], "linewidth": 1.2}
        for axis, error in zip(axes, errors, strict=True):
            draw_line(axis, rows, error, label=label, **style)
    for axis, name, k in zip(axes, (last_rows(window), "all rows"), (1, 2), strict=True):
        drawn = [line[k] for line in lines.values()]
        scale_errors(axis, *drawn)
        say_missing(axis, missing, *drawn)
        axis.set_ylabel(f"{ylabel},\n{name}")
    axes[-1].set_xlabel("rows")
    count_axis(axes[-1].xaxis)
    axes[0].legend(frameon=False, fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.set_size_inches(9.0, 6.0)
    figure.suptitle(title)
    return save(figure, path)


def trace_figure(reports: Sequence[Any], title: str = "", *, missing: str = "no scores") -> Any:
    """Return a figure of the accuracy or error, and of the centres, against the rows.

    The axis of the error is logarithmic if the errors span more than a factor of ten.

    Parameters
    ----------
    reports : as in `parsimon.evaluation.Trace`. Reports without scores are left out.
    title : the title.
    missing : a sentence for the panel of the scores, if all of them are NaN.
    """
    scored = scored_reports(reports)
    figure, (above, below) = new_figure(2)
    draw_scores(above, scored, missing)
    draw_centres(below, scored)
    if above.get_legend_handles_labels()[0]:
        above.legend(frameon=False, fontsize="small")
    figure.suptitle(title)
    return figure


def scored_reports(reports: Sequence[Any]) -> list[Any]:
    """Return the reports that have scores. Raise an error if there are none."""
    scored = [r for r in reports if r.total]
    if not scored:
        raise ValueError("there is nothing to draw: no row was scored")
    return scored


def score_name(reports: Sequence[Any]) -> str:
    """Return the name of the score that is drawn."""
    return "accuracy" if "accuracy" in reports[0].total else "relative_mse"


def draw_scores(axis: Any, reports: Sequence[Any], missing: str) -> None:
    """Draw the accuracy or error over the last rows and over all rows, against the rows."""
    name = score_name(reports)
    rows = [r.rows for r in reports]
    recent, total = [r.rolling[name] for r in reports], [r.total[name] for r in reports]
    last = last_rows(int(max(r.rolling["rows"] for r in reports)))
    known = bool(np.isfinite(recent + total).any())
    style = {"color": "0.4", "linestyle": "--", "linewidth": 1.2}
    draw_line(axis, rows, recent, color="C0", linewidth=1.2, label=last if known else None)
    draw_line(axis, rows, total, label="all rows" if known else None, **style)
    if name == "accuracy":
        axis.set_ylabel("accuracy")
    else:
        axis.set_ylabel("squared error /\nvariance of the target")
        scale_errors(axis, recent, total)
    say_missing(axis, missing, recent, total)


def draw_centres(axis: Any, reports: Sequence[Any]) -> None:
    """Draw the number of centres against the rows."""
    rows = [r.rows for r in reports]
    held = [np.nan if r.centers is None else r.centers for r in reports]
    draw_line(axis, rows, held, drawstyle="steps-post", color="C3", linewidth=1.2)
    axis.set(ylabel="centres", xlabel="rows", ylim=(0, 1.1 * max(1.0, np.nanmax([0.0, *held]))))
    count_axis(axis.xaxis)
    count_axis(axis.yaxis)
