"""Shared by both baselines: the kernel, the losses and the methods of a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.spatial.distance import cdist

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: A sample lies in the span of others if its squared distance to it is smaller; k(x, x) = 1.
SPANNED = 1e-12
#: Margin and temperatures of the smooth version of each loss. The last temperature is final.
SMOOTH: dict[str, tuple[float, tuple[float, ...]]] = {
    "logistic": (0.0, (1.0,)),
    "hinge": (1.0, (1.0, 0.1, 0.01, 1e-3)),
}


def gaussian(gamma: float, X: Array, Z: Array) -> Array:
    """Return exp(-gamma ||x - z||^2) for the rows of X and Z, (len(X), len(Z))."""
    D: Array = cdist(X, Z, "sqeuclidean")
    D *= -gamma
    return np.exp(D, out=D)


def orthonormal(K: Array) -> tuple[Array, Index]:
    """Return Phi (n, r) with K = Phi Phi' up to `SPANNED` on the diagonal, and the r samples S.

    K is a kernel matrix of n samples. S are chosen by Cholesky factorisation with pivoting. The
    minimum of the regularised risk R over their span is above the true minimum by at most `SPANNED`
    / alpha, because both losses have slopes of at most sqrt(2).
    """
    L, order, rank, _ = dpstrf(K, lower=1, tol=SPANNED)
    order = np.asarray(order, dtype=np.int64) - 1
    Phi = np.empty((len(K), rank))
    Phi[order] = np.tril(L[:, :rank])
    return Phi, order[:rank]


def rivals(F: Array, y: Index, margin: float) -> Array:
    """Return f_c - f_y + margin for the classes c other than y and 0 for y, (..., n, C)."""
    own = ..., np.arange(len(y)), y
    Z: Array = F - F[own][..., np.newaxis] + margin
    Z[own] = 0.0
    return Z


def smooth_loss(
    F: Array, y: Index, margin: float = 0.0, temperature: float = 1.0
) -> tuple[Array, Array]:
    """Return the smooth loss (..., n) of predictions F (..., n, C), and its gradient in F.

    It is t log sum_c exp((f_c + margin [c != y]) / t) - f_y, where t is the temperature and f_c the
    prediction for class c. With margin 0 and t = 1 it is the multinomial logistic loss. With margin
    1 it is above the multi-class hinge by at most t log C.
    """
    Z = rivals(F, y, margin)
    top = Z.max(axis=-1, keepdims=True)
    E = np.exp((Z - top) / temperature)
    total = E.sum(axis=-1, keepdims=True)
    values = (top + temperature * np.log(total))[..., 0]
    E /= total
    E[..., np.arange(len(y)), y] -= 1.0
    return values, E


def hinge(F: Array, y: Index) -> Array:
    """Return max(0, 1 + f_r - f_y) for predictions F (n, C), with r the best class except y."""
    result: Array = rivals(F, y, 1.0).max(axis=1)
    return result


def risk(
    V: Array, Phi: Array, y: Index, alpha: float, margin: float = 0.0, temperature: float = 1.0
) -> tuple[float, Array]:
    """Return the regularised risk with the smooth loss, and its gradient, shaped as V.

    The predictions are Phi V', with Phi (n, r) and V (C, r) or flat.
    """
    W = V.reshape(-1, Phi.shape[1])
    values, G = smooth_loss(Phi @ W.T, y, margin, temperature)
    gradient = G.T @ Phi / len(y) + alpha * W
    return float(values.mean()) + alpha / 2 * float(np.vdot(W, W)), gradient.reshape(V.shape)


class KernelClassifier:
    """Base class of the baselines: it predicts with a fitted f(x) = sum_j W_j k(x_j, x)."""

    gamma: float
    classes_: NDArray[Any]
    centers_: Array
    coef_: Array

    def _open(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Index]:
        """Return the samples, and their classes as numbers."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        self.classes_, index = np.unique(np.asarray(y), return_inverse=True)
        if X.ndim != 2 or index.shape != (len(X),):
            raise ValueError(f"X must be (n, d) and y (n,), got {X.shape} and {np.shape(y)}")
        if len(self.classes_) < 2:
            raise ValueError(f"y must have two classes or more, got only {self.classes_}")
        return X, index.astype(np.int64)

    def _close(self, X: Array, Phi: Array, S: Index, V: Array) -> None:
        """Store the centres X[S] and the coefficients W = L^-T V', where L is Phi at the rows S."""
        self.centers_ = X[S]
        self.coef_ = solve_triangular(Phi[S], V.T, lower=True, trans=1)

    def decision_function(self, X: ArrayLike) -> Array:
        """Return f(x) for each row, (n, C), even with two classes."""
        F: Array = gaussian(self.gamma, np.asarray(X, dtype=np.float64), self.centers_) @ self.coef_
        return F

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest f_c for each row."""
        result: NDArray[Any] = self.classes_[self.decision_function(X).argmax(axis=1)]
        return result

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return softmax(f(x)) for each row, (n, C)."""
        F = self.decision_function(X)
        E = np.exp(F - F.max(axis=1, keepdims=True))
        result: Array = E / E.sum(axis=1, keepdims=True)
        return result
