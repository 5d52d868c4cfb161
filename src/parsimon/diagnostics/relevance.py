"""Relevance of the features to a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["relevance"]

Array = NDArray[np.float64]


def relevance(model: Any, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
    """Return the relevance of each feature to a fitted model, over the rows of X (n, d): (d,).

    s_i = sqrt(mean_x sum_c (df_c(x)/dx_i)^2)

    The mean is over the rows x, and the sum is over the C outputs f_c of the model. The derivatives
    are those of ``model.gradient``. The values are not normalised: they have the units of f per
    unit of the feature. A feature that f does not depend on has relevance 0. All n C d derivatives
    are in memory at once. `n_jobs` threads share the rows (-1: one per core).

    >>> import numpy as np
    >>> from parsimon import KRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = KRLSRegressor(gamma=0.5, budget=50).fit(X, 2 * X[:, 0] - X[:, 2])
    >>> relevance(model, X).round(1)
    array([1.9, 0.1, 1. ])
    """
    if not hasattr(model, "gradient"):
        hint = ": it has relevance_" if hasattr(model, "relevance_") else ""
        raise TypeError(f"{type(model).__name__} has no gradient{hint}")
    G = model.gradient(X, n_jobs=n_jobs)
    result: Array = np.sqrt((G * G).sum(axis=tuple(range(G.ndim - 1))) / len(G))
    return result
