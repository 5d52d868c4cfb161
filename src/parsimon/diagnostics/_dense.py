"""Dense linear algebra on normalised Gram matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from parsimon.kernels import Kernel, as_points

Array = NDArray[np.float64]


def as_dictionary(kernel: Any, centers: ArrayLike | None) -> tuple[Kernel, Array]:
    if isinstance(kernel, Kernel):
        if centers is None:
            raise TypeError("centers is missing: give a kernel and centers, or a fitted model")
        return kernel, as_points(centers, "centers")
    if centers is not None:
        raise TypeError(
            f"with centers, kernel must be an object of parsimon.kernels, got {kernel!r}"
        )
    return kernel_and_centers(kernel)


def kernel_and_centers(model: Any) -> tuple[Kernel, Array]:
    if isinstance(model, type) or not (
        hasattr(type(model), "centers_") or hasattr(model, "centers_")
    ):
        raise TypeError(
            f"expected a fitted model with centres, got {model!r}; for a bare learner, give "
            "measures such as coherence its kernel and centers()"
        )
    check_is_fitted(model)
    return model.kernel_, model.centers_


def largest_babel(kernel: Kernel, centers: Array) -> float:
    return float(off_diagonal(normalised_gram(kernel, centers)).sum(axis=1).max(initial=0.0))


def norms_of(kernel: Kernel, points: Array, what: str) -> Array:
    squares = kernel.diagonal(points)
    # The core treats smaller values as zero
    bad = np.flatnonzero(~(np.isfinite(squares) & (squares >= 1e-100)))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} of {what} has k(x, x) = {squares[bad[0]]:g}, "
            "which cannot be scaled to 1: remove the row"
        )
    return np.asarray(np.sqrt(squares))


def cosines(kernel: Kernel, X: Array, centers: Array) -> Array:
    """Return k(x, d) / sqrt(k(x, x) k(d, d)), (n, m)."""
    if X.shape[1] != centers.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, but the centres have {centers.shape[1]}")
    left, right = norms_of(kernel, X, "X"), norms_of(kernel, centers, "centers")
    return np.asarray(np.clip(kernel(X, centers) / left[:, np.newaxis] / right, -1.0, 1.0))


def normalised_gram(kernel: Kernel, points: Array, what: str = "centers") -> Array:
    norms = norms_of(kernel, points, what)
    gram = np.clip(kernel(points) / norms[:, np.newaxis] / norms, -1.0, 1.0)
    np.fill_diagonal(gram, 1.0)
    return np.asarray(gram)


def off_diagonal(gram: Array) -> Array:
    """Return the absolute values of a Gram matrix, with 0 on the diagonal."""
    sizes = np.abs(gram)
    np.fill_diagonal(sizes, 0.0)
    return sizes


def eigenvalues_of(kernel: Any, centers: ArrayLike | None) -> Array:
    return np.asarray(np.linalg.eigvalsh(normalised_gram(*as_dictionary(kernel, centers))))


def rounding_level(values: Array) -> float:
    """Return the limit below which an eigenvalue of `values` (m,) is rounding error."""
    return float(len(values) * np.finfo(float).eps * values[-1])


def squared_errors(gram: Array, products: Array) -> Array:
    """Return the squared errors 1 - h'K^-1 h of functions of norm 1 approximated by the centres.

    K is the normalised Gram matrix `gram` of the centres. The rows h of `products` (n, m) are the
    inner products of the functions with the centres.
    """
    if not len(gram):
        return np.ones(len(products))
    values, vectors = np.linalg.eigh(gram)
    parts = (products @ vectors) ** 2 / np.maximum(values, rounding_level(values))
    return np.asarray(np.clip(1.0 - parts.sum(axis=1), 0.0, 1.0))
