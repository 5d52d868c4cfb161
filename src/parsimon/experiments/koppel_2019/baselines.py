"""Batch baselines: kernel classification by L-BFGS, and the import vector machine.

Both use the Gaussian kernel k(x, z) = exp(-gamma ||x - z||^2) and one function f_c = sum_j W_jc
k(x_j, .) per class. They minimise

    R(f) = (1/n) sum_i l(f(x_i), y_i) + (alpha/2) sum_c ||f_c||^2.

Both write f in an orthonormal basis of the functions that some samples S span. With K_SS = L L',
the n samples have the coordinates Phi = K_nS L^-T, (n, r), and V (C, r) holds the functions. Then
f(x_i) = V Phi_i and sum_c ||f_c||^2 = ||V||^2. So the penalty is well conditioned, even if the
kernel matrix is not. L is Phi at the rows S, and W = L^-T V'.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from parsimon._parts import lookup, real, whole

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

    S are chosen by Cholesky factorisation with pivoting. The minimum of R over their span is above
    the true one by at most `SPANNED` / alpha, because both losses have slopes of at most sqrt(2).
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

    It is t log sum_c exp((f_c + margin [c != y]) / t) - f_y. With margin 0 and t = 1 it is the
    multinomial logistic loss. With margin 1 it is above the multi-class hinge by at most t log C.
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
    """Return max(0, 1 + f_r - f_y) for predictions F (n, C), with r the strongest other class."""
    result: Array = rivals(F, y, 1.0).max(axis=1)
    return result


def risk(
    V: Array, Phi: Array, y: Index, alpha: float, margin: float = 0.0, temperature: float = 1.0
) -> tuple[float, Array]:
    """Return R with the smooth loss at V, (C, r) or flat, and its gradient, shaped as V."""
    W = V.reshape(-1, Phi.shape[1])
    values, G = smooth_loss(Phi @ W.T, y, margin, temperature)
    gradient = G.T @ Phi / len(y) + alpha * W
    return float(values.mean()) + alpha / 2 * float(np.vdot(W, W)), gradient.reshape(V.shape)


class _KernelClassifier:
    """Predictions of a fitted f = sum_j W_j k(x_j, .)."""

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
        """Store the centres X[S] and the coefficients W = L^-T V'."""
        self.centers_ = X[S]
        self.coef_ = solve_triangular(Phi[S], V.T, lower=True, trans=1)

    def decision_function(self, X: ArrayLike) -> Array:
        """Return f(x) for each row, (n, C), also with two classes."""
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


class KernelLBFGS(_KernelClassifier):
    """The minimum of R over all samples, by L-BFGS.

    The hinge has kinks, at which L-BFGS stalls. So its loss is smoothed with decreasing
    temperatures (`SMOOTH`), and each minimum is the start of the next. The result is above the true
    minimum by at most t log C at the last temperature t, and by much less in practice. `objective_`
    is R with the hinge itself.

    Parameters
    ----------
    gamma : float > 0
        Inverse width of the kernel.
    alpha : float > 0
        Weight of the penalty, lambda in the paper. Larger values shrink f more.
    loss : "logistic" or "hinge", default="logistic"
        Multinomial logistic or multi-class hinge loss.
    tolerance : float >= 0, default=1e-10
        Relative decrease of R at which L-BFGS stops.
    max_iter : int, default=20_000
        Maximum number of iterations per temperature.

    Attributes
    ----------
    objective_ : float
        R at the end.
    n_centers_ : int
        n: by the representer theorem the minimum has a coefficient for each sample.
    centers_ : ndarray of shape (r, d)
        The r samples that span the others up to rounding, over which the functions are stored.
    coef_ : ndarray of shape (r, C)
        Their coefficients.
    n_iter_ : int
        Number of iterations over all temperatures.

    Examples
    --------
    >>> from parsimon.datasets import make_multidist
    >>> X, y = make_multidist(300, random_state=0)
    >>> model = KernelLBFGS(gamma=1.0, alpha=1e-3).fit(X, y)
    >>> model.n_centers_, model.predict_proba(X[:2]).shape
    (300, (2, 5))
    """

    def __init__(
        self,
        gamma: float,
        alpha: float,
        loss: Literal["logistic", "hinge"] = "logistic",
        *,
        tolerance: float = 1e-10,
        max_iter: int = 20_000,
    ) -> None:
        self.gamma, self.alpha = real("gamma", gamma, above=0), real("alpha", alpha, above=0)
        self.margin, self.temperatures = lookup(SMOOTH, loss, "loss")
        self.loss = loss
        self.tolerance, self.max_iter = (
            real("tolerance", tolerance, at_least=0),
            whole("max_iter", max_iter, at_least=1),
        )

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Minimise R over the samples X (n, d) with classes y (n,).

        The kernel matrix (n, n) is kept in memory.
        """
        X, index = self._open(X, y)
        Phi, S = orthonormal(gaussian(self.gamma, X, X))
        v = np.zeros(len(self.classes_) * len(S))
        self.n_iter_ = 0
        for temperature in self.temperatures:
            found = minimize(
                risk,
                v,
                args=(Phi, index, self.alpha, self.margin, temperature),
                jac=True,
                method="L-BFGS-B",
                options={
                    "maxiter": self.max_iter,
                    "maxfun": 10 * self.max_iter,
                    "maxcor": 20,
                    "ftol": self.tolerance,
                    "gtol": 0.0,
                },
            )
            v = found.x
            self.n_iter_ += int(found.nit)
            if found.nit >= self.max_iter:
                warnings.warn(
                    f"L-BFGS stopped at max_iter={self.max_iter}: "
                    "allow more iterations, or use a larger tolerance or alpha",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        V = v.reshape(-1, len(S))
        value = float(found.fun)
        if self.loss == "hinge":
            value = float(hinge(Phi @ V.T, index).mean()) + self.alpha / 2 * float(v @ v)
        self.objective_, self.n_centers_ = value, len(X)
        self._close(X, Phi, S, V)
        return self

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return softmax(f(x)) for each row, (n, C). Only for the logistic loss."""
        if self.loss == "hinge":
            raise AttributeError("the hinge loss has no probabilities: use loss='logistic'")
        return super().predict_proba(X)


class _Candidate(NamedTuple):
    """A sample that could be added, its column of Phi (n,), and V (C, q + 1) after a step."""

    sample: int
    column: Array
    V: Array


@dataclass
class _Newton:
    """R with the logistic loss at V (C, q), with gradient and Hessian.

    Both order the entries of V class by class.
    """

    Phi: Array
    y: Index
    alpha: float
    V: Array

    def __post_init__(self) -> None:
        n, q, Cq = len(self.y), self.Phi.shape[1], self.V.size
        self.F = self.Phi @ self.V.T
        values, G = smooth_loss(self.F, self.y)
        self.value = float(values.mean()) + self.alpha / 2 * float(np.vdot(self.V, self.V))
        self.G = G / n
        self.gradient = (self.G.T @ self.Phi + self.alpha * self.V).ravel()
        self.P = G
        self.P[np.arange(n), self.y] += 1.0
        self.A = self.weighted(self.Phi)
        H = -(self.A.T @ self.A) / n
        for c, p in enumerate(self.P.T):
            block = slice(c * q, (c + 1) * q)
            H[block, block] += (self.Phi.T * p) @ self.Phi / n
        H[np.diag_indices(Cq)] += self.alpha
        self.H = H

    def weighted(self, Phi: Array) -> Array:
        """Return p_ic Phi_ij at [i, (c, j)].

        The Hessian of the loss is diag_c(Phi' diag(p_c) Phi) minus the product of this with itself.
        """
        product: Array = (self.P[:, :, np.newaxis] * Phi[:, np.newaxis]).reshape(len(Phi), -1)
        return product

    def refit(self) -> _Newton:
        """Return the minimum over V, by Newton steps that are halved until R decreases."""
        at = self
        while True:
            step = np.linalg.solve(at.H, at.gradient)
            slope = float(at.gradient @ step)
            if slope <= 1e-8 * at.value:
                return at
            size = 1.0
            while True:
                V = at.V - size * step.reshape(at.V.shape)
                if risk(V, at.Phi, at.y, at.alpha)[0] <= at.value - 1e-4 * size * slope:
                    break
                size /= 2
                if size < 1e-6:  # a further decrease is below rounding error
                    return at
            at = _Newton(at.Phi, at.y, at.alpha, V)

    def best(self, pool: Index, columns: Array) -> _Candidate:
        """Return the sample of `pool` (m,) for which one Newton step gives the smallest R.

        `columns` (n, m) are appended to Phi. The steps for all candidates are computed together, by
        elimination of the old coefficients.
        """
        n, (C, q), m = len(self.y), self.V.shape, len(pool)
        B = -(self.A.T @ self.weighted(columns)).reshape(C, q, C, m) / n
        for c, p in enumerate(self.P.T):
            B[c, :, c] += (self.Phi.T * p) @ columns / n
        D = np.einsum("nm,nc,cd->mcd", columns**2, self.P, np.eye(C), optimize=True) / n
        D += (
            self.alpha * np.eye(C)
            - np.einsum("nm,nc,nd->mcd", columns**2, self.P, self.P, optimize=True) / n
        )
        known = np.column_stack([B.reshape(C * q, C * m), self.gradient])
        solved = np.linalg.solve(self.H, known)
        HB, Hg = solved[:, :-1].reshape(C, q, C, m), solved[:, -1].reshape(C, q)
        schur = D - np.einsum("bqcm,bqdm->mcd", B, HB, optimize=True)
        slope = (self.G.T @ columns - np.einsum("bqcm,bq->cm", B, Hg, optimize=True)).T
        new = -np.linalg.solve(schur, slope[..., np.newaxis])[..., 0]
        V = self.V - Hg - np.einsum("bqcm,mc->mbq", HB, new, optimize=True)
        V = np.concatenate([V, new[..., np.newaxis]], axis=2)
        F = (
            np.einsum("nq,mcq->mnc", self.Phi, V[..., :-1], optimize=True)
            + columns.T[..., np.newaxis] * new[:, None]
        )
        reached = smooth_loss(F, self.y)[0].mean(axis=1) + self.alpha / 2 * (V**2).sum(axis=(1, 2))
        k = int(reached.argmin())
        return _Candidate(int(pool[k]), columns[:, k], V[k])


class ImportVectorMachine(_KernelClassifier):
    """Kernel logistic regression over few samples, which are added one by one.

    Each time, the sample with which a Newton step decreases R most is added. Then R is minimised
    over the samples added so far. The best of a few random candidates is used instead of the best
    of all. There is no intercept.

    Parameters
    ----------
    gamma : float > 0
        Inverse width of the kernel.
    alpha : float > 0
        Weight of the penalty. Larger values shrink f more. n alpha is lambda of Zhu & Hastie, whose
        losses are summed.
    max_vectors : int or None, default=None
        Maximum number of samples to add. None means no limit.
    tolerance : float >= 0, default=1e-3
        Stop if the last `window` samples decreased R by less than this, relative to R.
    window : int, default=1
        Number of samples for the stopping rule.
    candidates : int, default=59
        Number of random candidates. With 59, one is among the best twentieth with probability 95 %.
    random_state : int, Generator or None, default=0
        Seed for the candidates.

    Attributes
    ----------
    vectors_ : ndarray of shape (q,)
        Samples added, in order.
    centers_ : ndarray of shape (q, d)
        Their values.
    coef_ : ndarray of shape (q, C)
        Their coefficients.
    n_centers_ : int
        Their number q.
    objective_ : ndarray of shape (q + 1,)
        Minimum of R with the first 0, ..., q of them.

    References
    ----------
    Zhu & Hastie, *Kernel logistic regression and the import vector machine*, Journal of
    Computational and Graphical Statistics 2005.

    Examples
    --------
    >>> from parsimon.datasets import make_multidist
    >>> X, y = make_multidist(300, random_state=0)
    >>> model = ImportVectorMachine(gamma=1.0, alpha=1e-3, max_vectors=10).fit(X, y)
    >>> model.n_centers_, bool((np.diff(model.objective_) < 0).all())
    (10, True)
    """

    def __init__(
        self,
        gamma: float,
        alpha: float,
        max_vectors: int | None = None,
        tolerance: float = 1e-3,
        *,
        window: int = 1,
        candidates: int = 59,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        self.gamma, self.alpha = real("gamma", gamma, above=0), real("alpha", alpha, above=0)
        self.max_vectors = (
            None if max_vectors is None else whole("max_vectors", max_vectors, at_least=1)
        )
        self.tolerance, self.window = (
            real("tolerance", tolerance, at_least=0),
            whole("window", window, at_least=1),
        )
        self.candidates = whole("candidates", candidates, at_least=1)
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose among the samples X (n, d) with classes y (n,)."""
        X, index = self._open(X, y)
        rng = np.random.default_rng(self.random_state)
        n, C = len(X), len(self.classes_)
        at = _Newton(np.zeros((n, 0)), index, self.alpha, np.zeros((C, 0)))
        taken: list[int] = []
        history = [at.value]
        while len(taken) < (self.max_vectors or n) and not self._settled(history):
            rest = 1.0 - np.einsum("ij,ij->i", at.Phi, at.Phi)
            pool = np.flatnonzero(rest > SPANNED)
            if len(pool) == 0:
                break
            pool = rng.choice(pool, size=min(len(pool), self.candidates), replace=False)
            columns = (gaussian(self.gamma, X, X[pool]) - at.Phi @ at.Phi[pool].T) / np.sqrt(
                rest[pool]
            )
            sample, column, V = at.best(pool, columns)
            at = _Newton(np.column_stack([at.Phi, column]), index, self.alpha, V).refit()
            taken.append(sample)
            history.append(at.value)
        self.vectors_, self.objective_ = np.array(taken), np.array(history)
        self.n_centers_ = len(taken)
        self._close(X, at.Phi, self.vectors_, at.V)
        return self

    def _settled(self, history: list[float]) -> bool:
        if len(history) <= self.window:
            return False
        return history[-1 - self.window] - history[-1] < self.tolerance * history[-1]
