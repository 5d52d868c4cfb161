"""SVRseq, the sequential algorithm that SOG-SVR is based on (Table 1; Vijayakumar & Wu 1999).

It maximises the dual (2.3) of support vector regression with a homogenised kernel (2.7),

    L = -(alpha* - alpha)'K (alpha* - alpha)/2 - epsilon sum_i (alpha*_i + alpha_i)
        + (alpha* - alpha)'y,     0 <= alpha*, alpha <= C,

whose only constraint is the box. K is the kernel matrix of the samples, y are the targets, and
alpha and alpha* are the multipliers. Each step changes the two multipliers of one sample. Every
sample has its own multipliers, so the model is not sparse while it learns, and it needs many
passes.
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
    """Return the kernel exp(-gamma ||x - z||^2) + bias^2 as a function of X and Z.

    Its result has shape (len(X), len(Z)).
    """
    return lambda X, Z: np.exp(-gamma * cdist(X, Z, "sqeuclidean")) + bias**2


class SVRseq:
    """Support vector regression by steps on the multipliers of one sample after the other.

    Parameters
    ----------
    kernel : callable
        Returns the kernel matrix (len(X), len(Z)) of the rows of X and Z, like `homogenised`.
    C : float > 0
        Size of the box. Larger values regularise less.
    epsilon : float >= 0
        Half width of the insensitive zone.
    step_size : float > 0 or None, default=None
        Learning rate eta. The two multipliers of a sample change together and have the curvature 2
        k(x, x). So for eta below 1 / k(x, x), the dual L never decreases. None means 0.9 / max_i
        k(x_i, x_i).
    tolerance : float >= 0, default=0.01
        Stop when no prediction differs from that of the solution by more than this. A duality gap g
        gives ||f - f_solution||^2 <= 2 g. This bounds the difference at each x with k(x, x) <=
        max_i k(x_i, x_i).
    max_passes : int, default=10_000
        Maximum number of passes over the data.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        Differences alpha* - alpha of the two multipliers of each sample.
    dual_value_ : float
        Value of the dual L at the end.
    gap_ : float
        Duality gap: an upper bound on the distance of the dual from its maximum.
    support_ : ndarray of shape (n_support,)
        Indices of the samples whose coefficient is not 0.
    n_passes_ : int
        Number of passes made.

    Examples
    --------
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

        The kernel matrix (n, n) is kept in memory.
        """
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if X.ndim != 2 or y.shape != (len(X),):
            raise ValueError(f"X must be (n, d) and y (n,), got {X.shape} and {y.shape}")
        K = self.kernel(X, X)
        largest = float(K.diagonal().max())
        eta = 0.9 / largest if self.step_size is None else self.step_size
        star, plain, f = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
        for passes in range(1, self.max_passes + 1):
            for i in range(len(y)):  # f is updated at all samples after each step
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
                f"SVRseq stopped at max_passes={self.max_passes}: "
                "allow more passes, or use a larger tolerance or a smaller C",
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
