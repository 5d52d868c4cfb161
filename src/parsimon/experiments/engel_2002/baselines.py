"""SVRseq, the sequential algorithm that SOG-SVR was made from (Table 1 of the paper; Vijayakumar &
Wu 1999).

It maximises the dual (2.3) of support vector regression with a homogenised kernel (2.7), which has
no constraint but the box,

    L = -(alpha* - alpha)'K (alpha* - alpha)/2 - epsilon sum_i (alpha*_i + alpha_i) + (alpha* - alpha)'y,     0 <= alpha*, alpha <= C,

by one step on the two multipliers of one sample after the other. Every sample has its own, so
nothing is sparse while it learns, and the data are gone through again and again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from parsimon._parts import real, whole

Array = NDArray[np.float64]


def homogenised(gamma: float, bias: float) -> Callable[[Array, Array], Array]:
    """Return the kernel exp(-gamma ||x - z||^2) + bias^2, (len(X), len(Z)) for the rows of X and Z."""
    return lambda X, Z: np.exp(-gamma * cdist(X, Z, "sqeuclidean")) + bias**2


class SVRseq:
    """Support vector regression by steps on the multipliers of one sample after the other.

    Parameters
    ----------
    kernel : callable
        Gives the kernel matrix (len(X), len(Z)) of the rows of X and Z, as `homogenised` does.
    C, epsilon : float
        Of the box and the insensitive zone.
    step_size : float or None
        eta. Below 1 / k(x, x) no step lowers L, as the two multipliers of a sample, which move at
        once, bend it by 2 k(x, x). None: 0.9 / max_i k(x_i, x_i).
    tolerance : float
        Stops when no prediction is further than this from that of the solution. At a duality gap g,
        ||f - f_solution||^2 <= 2 g, so that is known of each x with k(x, x) <= max_i k(x_i, x_i).
    max_passes : int
        Passes over the data, at most.

    Attributes
    ----------
    dual_coef_ : ndarray (n,)
        alpha* - alpha.
    dual_value_, gap_ : float
        L at the end, and how far it may be below its maximum.
    support_ : ndarray (n_support,)
        Samples with a coefficient.
    n_passes_ : int
        Passes made.

    >>> X = np.linspace(0, 1, 20)[:, np.newaxis]
    >>> model = SVRseq(homogenised(5.0, 0.1), C=1.0, epsilon=0.1).fit(X, X[:, 0] ** 2)
    >>> bool(np.abs(model.predict(X) - X[:, 0] ** 2).max() < 0.12)
    True
    """

    def __init__(
        self,
        kernel: Callable[[Array, Array], Array],
        *,
        C: float,
        epsilon: float,
        step_size: float | None = None,
        tolerance: float = 0.01,
        max_passes: int = 10_000,
    ) -> None:
        self.kernel = kernel
        self.C, self.epsilon = real("C", C, above=0), real("epsilon", epsilon, at_least=0)
        self.step_size = None if step_size is None else real("step_size", step_size, above=0)
        self.tolerance = real("tolerance", tolerance, at_least=0)
        self.max_passes = whole("max_passes", max_passes, at_least=1)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the samples X (n, d) with targets y (n,).

        The kernel matrix is held in memory, (n, n).
        """
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if X.ndim != 2 or y.shape != (len(X),):
            raise ValueError(f"X must be (n, d) and y (n,), got {X.shape} and {y.shape}")
        K = self.kernel(X, X)
        largest = float(K.diagonal().max())
        eta = 0.9 / largest if self.step_size is None else self.step_size
        star, plain, f = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
        for passes in range(1, self.max_passes + 1):
            for i in range(len(y)):  # f is kept at all samples: a step is seen by the next one
                d, before = y[i] - f[i], star[i] - plain[i]
                star[i] = min(max(star[i] + eta * (d - self.epsilon), 0.0), self.C)
                plain[i] = min(max(plain[i] - eta * (d + self.epsilon), 0.0), self.C)
                change = star[i] - plain[i] - before
                if change != 0.0:
                    f += change * K[i]
            w, self.n_passes_ = star - plain, passes
            zone = self.epsilon * float((star + plain).sum())
            loss = float(np.maximum(np.abs(y - f) - self.epsilon, 0.0).sum())
            self.gap_ = max(0.0, float(w @ (f - y)) + zone + self.C * loss)
            if np.sqrt(2.0 * self.gap_ * largest) <= self.tolerance:
                break
        else:
            warnings.warn(
                f"SVRseq stopped at max_passes={self.max_passes}: allow more, or a larger tolerance or smaller C",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.X_, self.dual_coef_, self.support_ = X, w, np.flatnonzero(w)
        self.dual_value_ = float(w @ (y - 0.5 * f)) - zone
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return f(x) for each row, (n,)."""
        result: Array = self.kernel(np.asarray(X, dtype=np.float64), self.X_) @ self.dual_coef_
        return result
