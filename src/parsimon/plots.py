"""Pictures. Each function draws into a file and needs matplotlib (``pip install parsimon[plot]``)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import diagnostics, kernels
from parsimon._extras import install_command
from parsimon._files import write_whole

__all__ = [
    "Expansion",
    "approximation_regions",
    "coherence_bounds",
    "compared",
    "curves",
    "decision_surface",
    "error_and_sparsity",
    "expansions",
    "learning_curve",
    "learning_curves",
    "moving_average",
    "require_drawable",
]

#: Centres of which eigenvalues are found.
MOST_EIGENVALUES = 1000


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


def require_drawable(path: str | Path) -> None:
    """Refuse a file that nothing can be drawn into: of an unknown suffix, or without matplotlib.

    >>> require_drawable("picture.png")
    """
    kinds = _matplotlib("backend_bases").FigureCanvasBase.get_supported_filetypes()
    if _suffix(path) not in kinds:
        raise ValueError(f"{path}: pictures are {', '.join(sorted(kinds))}, by the suffix")


def _matplotlib(module: str) -> Any:
    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise ImportError(f"drawing needs matplotlib: {install_command('plot')}") from error


def _suffix(path: str | Path) -> str:
    return Path(path).suffix[1:].lower() or "png"


def _figure(rows: int, columns: int = 1, *, shared: bool = True) -> tuple[Any, Any]:
    Figure = _matplotlib("figure").Figure
    figure = Figure(figsize=(7.0, 2.4 * rows), layout="constrained")  # no pyplot: no global state, no screen
    axes = figure.subplots(rows, columns, sharex=shared and ("col" if columns == 1 else "row"))
    for axis in np.ravel(axes):
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: str | Path) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, _drawn(figure, _suffix(path)))
    return path


def _drawn(figure: Any, kind: str) -> bytes:
    picture = BytesIO()
    figure.savefig(picture, dpi=120, format=kind)
    return picture.getvalue()


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


def last_rows(window: int | None) -> str:
    """Return how a rolling figure is labelled.

    >>> last_rows(1000)
    'last 1,000 rows'
    """
    return "last rows" if window is None else f"last {window:,} rows"


def compared(
    path: str | Path,
    lines: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    ylabel: str,
    title: str = "",
    window: int | None = None,
) -> Path:
    """Draw the error of several models against the rows of one stream: over the last rows (above) and over all so far (below).

    Each line has a label, its rows, and both errors. `window` is the number of last rows. The axis of errors that differ
    tenfold is logarithmic.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "compared.png")
    >>> compared(path, {"a model": ([100, 200], [0.5, 0.2], [0.5, 0.3])}, ylabel="error").exists()
    True
    """
    figure, axes = _figure(2)
    styles = ("-", "--", ":", "-.")  # ten colours each
    for i, (label, (rows, *errors)) in enumerate(lines.items()):
        for axis, error in zip(axes, errors, strict=True):
            axis.plot(rows, error, color=f"C{i % 10}", linestyle=styles[i // 10 % 4], linewidth=1.2, label=label)
    for axis, name, k in zip(axes, (last_rows(window), "all rows"), (1, 2), strict=True):
        drawn = np.concatenate([np.ravel(line[k]) for line in lines.values()])
        drawn = drawn[np.isfinite(drawn) & (drawn > 0)]
        if len(drawn) and drawn.max() > 10 * drawn.min():
            axis.set_yscale("log")
            ticker = _matplotlib("ticker")
            axis.yaxis.set_minor_locator(ticker.LogLocator(subs=(2.0, 5.0)))
            for set_formatter in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
                set_formatter(ticker.FormatStrFormatter("%g"))
        axis.set_ylabel(f"{ylabel},\n{name}")
    axes[-1].set_xlabel("rows")
    axes[0].legend(frameon=False, fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.set_size_inches(9.0, 6.0)
    figure.suptitle(title)
    return _save(figure, path)


class Expansion(NamedTuple):
    """Functions over a dictionary: the kernel, the centres (m, d), and their weights (m, C) in each of the functions."""

    kernel: kernels.Kernel
    centers: NDArray[np.float64]
    weights: NDArray[np.float64]


def expansions(path: str | Path, models: Mapping[str, Expansion], *, title: str = "") -> Path:
    """Draw what models are made of, in a row of panels for each label.

    Left: the norm of each centre's weights, largest first; a steep fall says that few centres do the work. Middle: the eigenvalues of the Gram matrix of the centres, largest first, over their sum; those near
    0 say that centres stand for each other. Right: the centres in the plane of their first two principal components, coloured by their largest weight.

    >>> import tempfile, os
    >>> from parsimon import KNLMSRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = KNLMSRegressor(gamma=1.0).fit(X, X[:, 0])
    >>> made_of = Expansion(model.kernel_, model.centers_, model.weights_)
    >>> expansions(os.path.join(tempfile.mkdtemp(), "model.png"), {"a model": made_of}).exists()
    True
    """
    empty = [label for label, model in models.items() if not len(model.centers)]
    if empty or not models:
        raise ValueError(f"there is nothing to draw: {empty[0] if empty else 'it'} has no centres")
    figure, axes = _figure(len(models), 3, shared=False)
    for (label, model), (left, middle, right) in zip(models.items(), np.atleast_2d(axes), strict=True):
        m = len(model.centers)
        W = np.reshape(model.weights, (m, -1))
        places = np.arange(1, m + 1)
        left.plot(places, np.sort(np.linalg.norm(W, axis=1))[::-1], color="C0", marker=".", markersize=3, linewidth=1)
        left.set(xlabel="centre", ylabel="norm of its weights", title=label, ylim=(0, None))
        _draw_spectrum(middle, model)
        leading = W[np.arange(m), np.abs(W).argmax(axis=1)]
        bound = float(np.abs(leading).max()) or 1.0
        plane, share = _principal(model.centers)
        shown = right.scatter(*plane.T, c=leading, cmap="coolwarm", vmin=-bound, vmax=bound, s=12, linewidths=0)
        figure.colorbar(shown, ax=right, label="largest weight")
        right.set(xlabel="first principal component", ylabel="second", title=f"{share:.0%} of the variance")
    figure.set_size_inches(11.0, 3.4 * len(models))
    figure.suptitle(title)
    return _save(figure, path)


def _draw_spectrum(axis: Any, model: Expansion) -> None:
    m = len(model.centers)
    chosen = np.unique(np.linspace(0, m - 1, min(m, MOST_EIGENVALUES)).round().astype(int))
    values = np.linalg.eigvalsh(model.kernel(model.centers[chosen]))[::-1]
    values = np.maximum(values / max(values.sum(), np.finfo(np.float64).tiny), 1e-17)  # below, it is rounding
    axis.plot(np.arange(1, len(values) + 1), values, color="C3", marker=".", markersize=3, linewidth=1)
    some = "" if len(chosen) == m else f" of {len(chosen)} centres"
    axis.set(xlabel="place", ylabel=f"eigenvalues of the\nGram matrix{some}", yscale="log")


def _principal(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return points (m, d) in the plane of their first two principal components, (m, 2), and the share of the variance that it has."""
    apart = points - points.mean(axis=0)
    U, s, _ = np.linalg.svd(apart, full_matrices=False)
    plane = np.zeros((len(points), 2))
    k = min(2, len(s))
    plane[:, :k] = U[:, :k] * s[:k]
    total = float((s**2).sum())
    return plane, float((s[:k] ** 2).sum()) / total if total else 1.0
