"""Plots of a model: its decisions, and its centres and weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import kernels
from parsimon.plots.drawing import count_axis, new_figure, save

__all__ = ["Expansion", "decision_surface", "expansions"]

#: The largest number of centres with large markers.
FEW = 20
#: The most centres whose Gram matrix is decomposed.
MOST_EIGENVALUES = 1000


def decision_surface(
    path: str | Path, model: Any, X: ArrayLike, y: ArrayLike, *, title: str = ""
) -> Path:
    """Draw the regions of a classifier in the plane, with the data and the dictionary.

    This is Fig. 3 of Koppel et al. 2019. X must have two columns.

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
    found = np.array(
        [index[v] for v in model.predict(np.column_stack([g.ravel() for g in grid])).tolist()]
    )
    figure, axis = new_figure(1)
    levels = np.arange(len(index) + 1) - 0.5
    colours = [f"C{i % 10}" for i in range(len(index))]
    axis.contourf(*grid, found.reshape(grid[0].shape), levels=levels, colors=colours, alpha=0.25)
    for label, i in index.items():
        axis.scatter(*points[labels == label].T, s=3, color=colours[i], linewidths=0, alpha=0.6)
    axis.scatter(
        *model.centers_.T,
        s=60,
        facecolors="none",
        edgecolors="black",
        linewidths=1.5,
        label="dictionary",
    )
    axis.set_aspect("equal")
    axis.legend(frameon=False, fontsize="small")
    figure.set_size_inches(6.0, 5.6)
    figure.suptitle(title)
    return save(figure, path)


class Expansion(NamedTuple):
    """Functions over a dictionary: kernel, centres (m, d), and weights (m, C) per function."""

    kernel: kernels.Kernel
    centers: NDArray[np.float64]
    weights: NDArray[np.float64]


def expansions(path: str | Path, models: Mapping[str, Expansion], *, title: str = "") -> Path:
    """Draw the centres and weights of models, with a row of panels for each label.

    - Left: the norm of each centre's weights, largest first. A steep fall means that few centres
      matter.
    - Middle: the eigenvalues of the Gram matrix of the centres, largest first, divided by their
      sum. Eigenvalues near 0 mean that some centres are redundant.
    - Right: the centres in the plane of their first two principal components, coloured by their
      largest weight.

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
    figure, axes = new_figure(len(models), 3, shared=False)
    for (label, model), (left, middle, right) in zip(
        models.items(), np.atleast_2d(axes), strict=True
    ):
        m = len(model.centers)
        W = np.reshape(model.weights, (m, -1))
        places = np.arange(1, m + 1)
        norms = np.sort(np.linalg.norm(W, axis=1))[::-1]
        size = 3 if m > FEW else 8
        left.plot(places, norms, color="C0", marker=".", markersize=size, linewidth=1)
        top = 1.1 * float(norms[0]) or 1.0
        left.set(
            xlabel="centre", ylabel="norm of its weights", title=label, ylim=(-0.02 * top, top)
        )
        count_axis(left.xaxis)
        _draw_spectrum(middle, model)
        leading = W[np.arange(m), np.abs(W).argmax(axis=1)]
        bound = float(np.abs(leading).max()) or 1.0
        plane, share = _principal(model.centers)
        style = {"cmap": "coolwarm", "vmin": -bound, "vmax": bound, "s": size**2}
        shown = right.scatter(*plane.T, c=leading, edgecolors="0.5", linewidths=0.3, **style)
        figure.colorbar(shown, ax=right, label="largest weight")
        right.set(
            xlabel="first principal component",
            ylabel="second",
            title=f"{share:.0%} of the variance",
        )
    figure.set_size_inches(11.0, 3.4 * len(models))
    figure.suptitle(title)
    return save(figure, path)


def _draw_spectrum(axis: Any, model: Expansion) -> None:
    m = len(model.centers)
    chosen = np.unique(np.linspace(0, m - 1, min(m, MOST_EIGENVALUES)).round().astype(int))
    values = np.linalg.eigvalsh(model.kernel(model.centers[chosen]))[::-1]
    # Smaller values are rounding errors.
    values = np.maximum(values / max(values.sum(), np.finfo(np.float64).tiny), 1e-17)
    size = 3 if m > FEW else 8
    places = np.arange(1, len(values) + 1)
    axis.plot(places, values, color="C3", marker=".", markersize=size, linewidth=1)
    count_axis(axis.xaxis)
    some = "" if len(chosen) == m else f" of {len(chosen)} centres"
    axis.set(xlabel="place", ylabel=f"eigenvalues of the\nGram matrix{some}", yscale="log")


def _principal(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return points (m, d) in the plane of their first two principal components, (m, 2).

    The second value is the fraction of the variance in this plane.
    """
    apart = points - points.mean(axis=0)
    U, s, _ = np.linalg.svd(apart, full_matrices=False)
    plane = np.zeros((len(points), 2))
    k = min(2, len(s))
    plane[:, :k] = U[:, :k] * s[:k]
    total = float((s**2).sum())
    return plane, float((s[:k] ** 2).sum()) / total if total else 1.0
