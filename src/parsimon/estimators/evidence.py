"""The level of the noise that makes the first targets most likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsimon import kernels
from parsimon.estimators.inputs import calls_python
from parsimon.updates.rls import LEAST_RIDGE, MOST_RIDGE

__all__ = ["likely_ridge"]

Array = NDArray[np.float64]

#: The estimate uses at most 300 rows, evenly spaced. With fewer than 30 rows there is none.
MOST_ROWS, LEAST_ROWS = 300, 30
#: The values that are tried, in units of the mean of k(x, x).
RATIOS = 10.0 ** np.arange(-3.0, 1.01, 0.25)


def likely_ridge(
    kernel: kernels.Kernel,
    X: Array,
    Y: Array,
    weights: Array | None = None,
    *,
    fit_intercept: bool,
) -> float | None:
    """Return the ridge r under which targets Y (n, C) at rows X (n, d) are most likely.

    Each output is a Gaussian process with covariance s^2 (K + r W^-1), where K is the Gram matrix,
    W has the weights (n,) on its diagonal, and s^2 has its most likely value. With the eigenvalues
    l_i and eigenvectors u_i of W^1/2 K W^1/2 and z = W^1/2 y, the log likelihood of targets y is,
    up to a constant,

        -n/2 log(sum_i (u_i'z)^2 / (l_i + r)) - 1/2 sum_i log(l_i + r).

    It is summed over the outputs. The result is the best of 17 values from 0.001 to 10 times the
    mean of the diagonal of W^1/2 K W^1/2. It is None if there are fewer than 30 rows, if the
    targets do not vary, if the kernel is a Python function, or if no model can have this ridge.
    """
    if len(X) < LEAST_ROWS or calls_python(kernel):
        return None
    rows = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(int)
    X, Y = X[rows], Y[rows]
    W = np.ones(len(X)) if weights is None else weights[rows]
    with np.errstate(all="ignore"):  # the learner names values that are too large
        Y = Y / np.maximum(np.abs(Y).max(axis=0), 1e-300)
        if fit_intercept:
            Y = Y - W @ Y / W.sum()
        varies = np.abs(Y).max(axis=0) > 1e-12
        roots = np.sqrt(W)[:, np.newaxis]
        K, Y = roots * kernel(X, X) * roots.T, roots * Y[:, varies]
        size = float(np.diagonal(K).mean())
        if not (np.isfinite(K).all() and np.isfinite(Y).all() and Y.size and size > 0.0):
            return None
        values, vectors = np.linalg.eigh(K)
        squares = np.square(vectors.T @ Y)
        spectra = np.maximum(values, 0.0) + size * RATIOS[:, np.newaxis]  # (r, n)
        likelihoods = -0.5 * len(X) * np.log((1.0 / spectra) @ squares).sum(axis=1)
        likelihoods -= 0.5 * Y.shape[1] * np.log(spectra).sum(axis=1)
        ridge = float(size * RATIOS[int(likelihoods.argmax())])
    return ridge if LEAST_RIDGE <= ridge <= MOST_RIDGE else None
