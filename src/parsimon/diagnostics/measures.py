"""Measures of a dictionary."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import whole
from parsimon.diagnostics._dense import (
    as_dictionary,
    cosines,
    eigenvalues_of,
    normalised_gram,
    off_diagonal,
    rounding_level,
    squared_errors,
)
from parsimon.kernels import as_points

Array = NDArray[np.float64]
T = TypeVar("T")


def coherence(kernel: Any, centers: ArrayLike | None = None) -> float:
    """Return the coherence mu = max_{i != j} |k(d_i, d_j)| of centres (m, d) or of a fitted model.

    d_i are the centres. k is normalised: k(x, y) means k(x, y) / sqrt(k(x, x) k(y, y)). mu is 0 for
    fewer than two centres. The cost is O(m^2).

    >>> from parsimon.kernels import Linear
    >>> coherence(Linear(), [[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
    0.8
    """
    return float(off_diagonal(normalised_gram(*as_dictionary(kernel, centers))).max(initial=0.0))


@overload
def babel(kernel: Any, centers: ArrayLike | None = None, order: None = None) -> Array: ...
@overload
def babel(kernel: Any, centers: ArrayLike | None = None, *, order: int) -> float: ...
@overload
def babel(kernel: Any, centers: ArrayLike | None, order: int) -> float: ...
def babel(kernel: Any, centers: ArrayLike | None = None, order: int | None = None) -> Array | float:
    """Return the Babel measure mu_1(p) for p = 1, ..., m - 1, or for p = `order` only.

    Without `order` the result has shape (m - 1,).

    mu_1(p) = max_j max_{|S| = p, j not in S} sum_{i in S} |k(d_i, d_j)|, for m centres d_i and sets
    S of p centres. k is normalised: k(x, y) means k(x, y) / sqrt(k(x, x) k(y, y)). mu_1(1) is the
    coherence mu, and mu_1(p) <= p mu. The cost is O(m^2 log m).

    Reference: J. A. Tropp, *Greed is good: algorithmic results for sparse approximation*, IEEE
    Transactions on Information Theory 2004.

    >>> from parsimon.kernels import Linear
    >>> babel(Linear(), [[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]).round(6)
    array([0.8, 1.4])
    """
    sizes = off_diagonal(normalised_gram(*as_dictionary(kernel, centers)))
    rows = np.sort(sizes, axis=1)[:, :0:-1]  # largest first; the zero left out is the diagonal
    measure: Array = np.cumsum(rows, axis=1).max(axis=0) if len(rows) else np.zeros(0)
    if order is None:
        return measure
    if not len(measure):
        raise ValueError(f"order={order!r} needs at least two centres")
    return float(measure[whole("order", order, at_least=1, at_most=len(measure)) - 1])


def condition_number(kernel: Any, centers: ArrayLike | None = None) -> float:
    """Return the condition number of the normalised Gram matrix of m centres.

    The matrix has the entries k(d_i, d_j) / sqrt(k(d_i, d_i) k(d_j, d_j)). The condition number is
    infinite if the matrix is singular to working precision. The cost is O(m^3).

    >>> from parsimon.kernels import Linear
    >>> round(condition_number(Linear(), [[1.0, 0.0], [3.0, 4.0]]), 6)
    4.0
    """
    values = eigenvalues_of(kernel, centers)
    if not len(values):
        return 1.0
    return float(values[-1] / values[0]) if values[0] > rounding_level(values) else np.inf


def smallest_eigenvalue(kernel: Any, centers: ArrayLike | None = None) -> float:
    """Return the smallest eigenvalue of the normalised Gram matrix of m centres.

    The matrix has the entries k(d_i, d_j) / sqrt(k(d_i, d_i) k(d_j, d_j)). There must be at least
    one centre. The cost is O(m^3).

    >>> from parsimon.kernels import Linear
    >>> round(smallest_eigenvalue(Linear(), [[1.0, 0.0], [3.0, 4.0]]), 6)
    0.4
    """
    values = eigenvalues_of(kernel, centers)
    if not len(values):
        raise ValueError("there are no centres, so there are no eigenvalues")
    return float(values[0])


def residuals(kernel: Any, centers: ArrayLike | None = None) -> Array:
    """Return the squared error of each centre approximated by the other centres, (m,).

    It is 1 / (K^-1)_jj for centre j, where K is the Gram matrix of the m centres, normalised to
    K_jj = 1. The cost is O(m^3).

    >>> from parsimon.kernels import Linear
    >>> residuals(Linear(), [[1.0, 0.0], [3.0, 4.0]]).round(6)
    array([0.64, 0.64])
    """
    gram = normalised_gram(*as_dictionary(kernel, centers))
    if not len(gram):
        return np.zeros(0)
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(
        np.minimum(1.0 / (vectors**2 / np.maximum(values, rounding_level(values))).sum(axis=1), 1.0)
    )


def projection_errors(kernel: Any, centers: ArrayLike | None = None, *, X: ArrayLike) -> Array:
    """Return the squared error of each row of X (n, d) approximated by the centres, (n,).

    It is min_a ||k(x, .) - sum_j a_j k(d_j, .)||^2 / k(x, x) for row x and the centres d_j.

    >>> from parsimon.kernels import Linear
    >>> projection_errors(Linear(), [[1.0, 0.0]], X=[[2.0, 0.0], [3.0, 4.0], [0.0, 1.0]]).round(6)
    array([0.  , 0.64, 1.  ])
    """
    kernel, centers = as_dictionary(kernel, centers)
    return squared_errors(
        normalised_gram(kernel, centers), cosines(kernel, as_points(X, "X"), centers)
    )


def axis_errors(
    kernel: Any, centers: ArrayLike | None = None, *, X: ArrayLike, n_axes: int | None = None
) -> tuple[Array, Array]:
    """Return the eigenvalues of the first principal axes of X (n, d), and the error of each axis.

    The k-th axis in feature space is psi_k = sum_j beta_jk k(x_j, .), scaled to ||psi_k|| = 1.
    beta_k is an eigenvector of the normalised Gram matrix of all n inputs x_j, nu_k is its
    eigenvalue, and lambda_k = nu_k / n is returned. The error is the squared error of psi_k
    approximated by the centres.

    Both results have shape (r,), largest eigenvalue first. r is at most `n_axes` and at most the
    rank. The data are not centred, as in Honeine, Richard & Bermudez 2007. The cost is O(n^3) in
    time and 8 n^2 bytes.

    >>> from parsimon.kernels import Linear
    >>> values, errors = axis_errors(Linear(), [[1.0, 0.0]], X=[[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    >>> values.round(6), errors.round(6)
    (array([0.666667, 0.333333]), array([1., 0.]))
    """
    kernel, centers = as_dictionary(kernel, centers)
    points = as_points(X, "X")
    n = len(points)
    if n == 0:
        raise ValueError("X has no rows, so it has no principal axes")
    wanted = n if n_axes is None else whole("n_axes", n_axes, at_least=1)
    values, vectors = np.linalg.eigh(normalised_gram(kernel, points, "X"))
    rank = int((values > rounding_level(values)).sum())  # the others are rounding errors
    largest_first = slice(None, -1 - min(wanted, rank), -1)
    values, vectors = values[largest_first], vectors[:, largest_first]
    products = (vectors / np.sqrt(values)).T @ cosines(kernel, points, centers)
    return values / n, squared_errors(normalised_gram(kernel, centers), products)
