"""Shared by the experiments: the paper's settings, and how it prepares and splits data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVR

from parsimon import SOGSVR, published

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def sog_svr(sigma: float, epsilon: float, nu: float, step: str = "error") -> SOGSVR:
    """Return SOG-SVR with a Gaussian kernel of standard deviation sigma.

    nu is the tolerance. The paper's lambda is the bias, 0.1, and its gamma is the ridge, 0. There
    is no box. The paper does not print its step length.
    """
    return published(
        SOGSVR, gamma=1 / (2 * sigma**2), bias=0.1, epsilon=epsilon, tolerance=nu, step=step
    )


def svr(sigma: float, epsilon: float, C: float) -> SVR:
    """Return LIBSVM's regression in place of SVMTorch: problem (2.1) of the paper, free bias."""
    return SVR(gamma=1 / (2 * sigma**2), C=C, epsilon=epsilon, cache_size=1000)


def error(model: Any, X: Array, y: Array) -> float:
    """Return the mean squared error."""
    return float(np.mean((model.predict(X) - y) ** 2))


def unit_cube(X: Array) -> Array:
    """Return the inputs scaled by their minima and maxima."""
    low, high = X.min(axis=0), X.max(axis=0)
    scaled: Array = (X - low) / (high - low)
    return scaled


def split(n: int, n_train: int, seed: int) -> tuple[Index, Index]:
    """Split n samples into training samples, in learning order, and test samples."""
    order = np.random.default_rng(seed).permutation(n)
    return order[:n_train], order[n_train:]
