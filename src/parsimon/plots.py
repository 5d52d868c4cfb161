"""Pictures. Each function draws into a file and needs matplotlib (``pip install parsimon[plot]``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import diagnostics

__all__ = [
    "approximation_regions",
    "coherence_bounds",
    "curves",
    "decision_surface",
    "error_and_sparsity",
    "learning_curve",
    "learning_curves",
    "moving_average",
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


def curves(
    path: str | Path,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    log: bool = False,
) -> Path:
    """Draw several lines, each with a label and its x and y, in one panel; `log` makes the vertical axis logarithmic.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "lines.png")
    >>> curves(path, {"a line": ([0, 1], [1, 2])}, xlabel="x", ylabel="y").exists()
    True
    """
    figure, axis = _figure(1)
    for label, (x, y) in lines.items():
        axis.plot(x, y, linewidth=1.2, label=label)
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    if log:
        axis.set_yscale("log")
    axis.legend(frameon=False, fontsize="small")
    figure.set_size_inches(7.0, 4.2)
    figure.suptitle(title)
    return _save(figure, path)


def moving_average(values: ArrayLike, window: int) -> NDArray[np.float64]:
    """Return the mean over each `window` consecutive values: (n,) gives (n - window + 1,).

    >>> moving_average([1.0, 3.0, 5.0], 2)
    array([2., 4.])
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64))])
    return np.asarray((sums[window:] - sums[:-window]) / window)


def _figure(rows: int, columns: int = 1) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'parsimon[plot]'") from error
    figure = Figure(figsize=(7.0, 2.4 * rows), layout="constrained")  # no pyplot: no global state, no screen
    axes = figure.subplots(rows, columns, sharex="col" if columns == 1 else "row")
    for axis in np.ravel(axes):
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: str | Path) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path


def coherence_bounds(path: str | Path, *, coherences: Sequence[float] = (0.1, 0.03, 0.01)) -> Path:
    """Draw the lower bounds of Proposition 3 against the size of the dictionary: Fig. 1 of Honeine, Richard & Bermudez 2007.

    The squared error of approximating one element by the others, as bounded by earlier work (dashed), by the paper (solid), and by what its proof
    gives without the square root (dotted; the highest, and attained), for each coherence up to the size where (m - 1) mu reaches 1.

    Remark: the paper's values of mu are not printed; they may be given here.

    >>> import tempfile, os
    >>> coherence_bounds(os.path.join(tempfile.mkdtemp(), "bounds.png")).exists()
    True
    """
    figure, axis = _figure(1)
    figure.set_size_inches(7.0, 4.2)
    styles = {"earlier": ("C0", "--"), "printed": ("C3", "-"), "corrected": ("0.3", ":")}
    names = {
        "earlier": "earlier work",
        "printed": "proposed, as printed",
        "corrected": "proposed, without the square root",
    }
    for mu in coherences:
        sizes = _whole_steps(mu)
        for form, (color, line) in styles.items():
            bound = [diagnostics.residual_bound(m, mu, form=form) for m in sizes]
            axis.plot(sizes, bound, color=color, linestyle=line, linewidth=1.2, label=names.pop(form, None))
        axis.annotate(rf"$\mu$ = {mu:g}", (sizes[-1], 0.0), xytext=(3, 4), textcoords="offset points", fontsize="small")
    axis.set_xscale("log")
    axis.set_ylim(0, 1)
    axis.set_xlabel("size of the dictionary, m")
    axis.set_ylabel("lower bound on the squared error")
    axis.legend(frameon=False, fontsize="small", loc="lower left")
    return _save(figure, path)


def _whole_steps(mu: float) -> list[int]:
    """Return about 200 sizes m >= 2 with (m - 1) mu < 1, the largest among them."""
    last = int(np.ceil(1.0 / mu))
    if last < 2:
        raise ValueError(f"coherence must be below 1 for two functions to have a bound, got {mu!r}")
    steps = np.unique(np.geomspace(2, last, 200).round().astype(int))
    return [int(m) for m in steps if diagnostics.independence_guaranteed(int(m), mu)]


def approximation_regions(path: str | Path, *, sizes: Sequence[int] = (2, 5, 20)) -> Path:
    """Draw where the squared error of a kernel function by m centres lies, against mu0: Fig. 2 of Honeine, Richard & Bermudez 2007.

    Functions that satisfy rule (6) have at least the lower bound of Proposition 3 with m + 1 (blue, up to 1); functions that violate it at most the
    upper bound of Proposition 4 (red, down to 0). Where both lie the error does not tell.

    Remark: filled are the regions that hold; dashed are the bounds as printed, of which the upper one, 1 - mu0, does not. The paper's sizes are not
    printed.

    >>> import tempfile, os
    >>> approximation_regions(os.path.join(tempfile.mkdtemp(), "regions.png")).exists()
    True
    """
    figure, axes = _figure(len(sizes))
    thresholds = np.linspace(0.0, 1.0, 501)
    for axis, m in zip(np.atleast_1d(axes), sizes, strict=True):
        for form in ("corrected", "printed"):
            above = [diagnostics.rejection_bound(mu0, form=form) for mu0 in thresholds]
            below = [_admitted_bound(m, mu0, form) for mu0 in thresholds]
            if form == "corrected":
                axis.fill_between(thresholds, below, 1.0, color="C0", alpha=0.3, linewidth=0, label="satisfies (6)")
                axis.fill_between(thresholds, 0.0, above, color="C3", alpha=0.3, linewidth=0, label="violates (6)")
            else:
                axis.plot(thresholds, below, color="C0", linestyle="--", linewidth=1.2, label="lower bound as printed")
                label = r"$1 - \mu_0$ as printed: does not hold"
                axis.plot(thresholds, above, color="C3", linestyle="--", linewidth=1.2, label=label)
        axis.set(xlim=(0, 1), ylim=(0, 1), title=f"m = {m}")
    axis.set_xlabel(r"coherence threshold, $\mu_0$")
    figure.supylabel("squared error", fontsize="medium")
    np.atleast_1d(axes)[0].legend(frameon=False, fontsize="x-small", loc="upper right")
    return _save(figure, path)


def _admitted_bound(m: int, mu0: float, form: str) -> float:
    """Return the least squared error of a function admitted beside m others; 0 where Proposition 3 is silent."""
    return diagnostics.residual_bound(m + 1, mu0, form=form) if diagnostics.independence_guaranteed(m + 1, mu0) else 0.0


def learning_curves(path: str | Path, histories: Mapping[str, Mapping[str, Sequence[float]]]) -> Path:
    """Draw objective, test error and order against samples seen, a line for each label: Fig. 2 of Koppel et al. 2019.

    A history has "samples", "objective", "error" and "order".

    >>> import tempfile, os
    >>> line = {"samples": [10, 20], "objective": [1.0, 0.5], "error": [0.5, 0.2], "order": [3, 5]}
    >>> learning_curves(os.path.join(tempfile.mkdtemp(), "curves.png"), {"a model": line}).exists()
    True
    """
    figure, axes = _figure(3)
    for label, line in histories.items():
        for axis, key in zip(axes, ("objective", "error", "order"), strict=True):
            axis.plot(line["samples"], line[key], linewidth=1.2, label=label)
    for axis, name in zip(axes, ("objective", "test error", "centres"), strict=True):
        axis.set_ylabel(name)
        axis.set_yscale("log")
    axes[-1].set_xlabel("samples seen")
    axes[-1].set_xscale("log")
    axes[0].legend(frameon=False, fontsize="small")
    return _save(figure, path)


def error_and_sparsity(
    path: str | Path, tests: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]]]
) -> Path:
    """Draw mean squared error (left) and centres as a percentage of the samples (right), in a row for each test: Fig. 1 of Engel, Mannor & Meir 2002.

    A test is called by what varies in it; each of its lines has a label and its x, error and percentage.

    >>> import tempfile, os
    >>> lines = {"a model": ([10, 100], [0.1, 0.01], [80, 10])}
    >>> error_and_sparsity(os.path.join(tempfile.mkdtemp(), "panels.png"), {"samples": lines}).exists()
    True
    """
    figure, axes = _figure(len(tests), 2)
    for (varied, lines), (left, right) in zip(tests.items(), np.atleast_2d(axes), strict=True):
        for label, (x, error, percentage) in lines.items():
            left.plot(x, error, marker=".", linewidth=1.2, label=label)
            right.plot(x, percentage, marker=".", linewidth=1.2, label=label)
        left.set(xlabel=varied, xscale="log", yscale="log", ylabel="mean squared error")
        right.set(xlabel=varied, ylim=(0, 105), ylabel="centres, % of samples")
    np.ravel(axes)[0].legend(frameon=False, fontsize="small")
    figure.set_size_inches(9.0, 3.2 * len(tests))
    return _save(figure, path)


def decision_surface(path: str | Path, model: Any, X: ArrayLike, y: ArrayLike, *, title: str = "") -> Path:
    """Draw the regions of a classifier of points in the plane, the data, and the dictionary on top: Fig. 3 of Koppel et al. 2019.

    >>> import tempfile, os
    >>> from parsimon import POLKClassifier
    >>> from parsimon.datasets import make_multidist
    >>> X, y = make_multidist(200, random_state=0)
    >>> model = POLKClassifier(gamma=1.0).fit(X, y)
    >>> decision_surface(os.path.join(tempfile.mkdtemp(), "surface.png"), model, X, y).exists()
    True
    """
    points, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn, got shape {points.shape}")
    low, high = points.min(axis=0) - 0.3, points.max(axis=0) + 0.3
    grid = np.meshgrid(*(np.linspace(a, b, 300) for a, b in zip(low, high, strict=True)))
    index = {label: i for i, label in enumerate(model.classes_.tolist())}
    found = np.array([index[v] for v in model.predict(np.column_stack([g.ravel() for g in grid])).tolist()])
    figure, axis = _figure(1)
    levels = np.arange(len(index) + 1) - 0.5
    colours = [f"C{i % 10}" for i in range(len(index))]
    axis.contourf(*grid, found.reshape(grid[0].shape), levels=levels, colors=colours, alpha=0.25)
    for label, i in index.items():
        axis.scatter(*points[labels == label].T, s=3, color=colours[i], linewidths=0, alpha=0.6)
    axis.scatter(*model.centers_.T, s=60, facecolors="none", edgecolors="black", linewidths=1.5, label="dictionary")
    axis.set_aspect("equal")
    axis.legend(frameon=False, fontsize="small")
    figure.set_size_inches(6.0, 5.6)
    figure.suptitle(title)
    return _save(figure, path)
