"""The import vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from parsimon._parts import real, whole
from parsimon.experiments.koppel_2019.baselines.common import (
    SPANNED,
    Array,
    Index,
    KernelClassifier,
    gaussian,
    risk,
    smooth_loss,
)


class _Candidate(NamedTuple):
    """A sample that could be added, its coordinate for all samples (n,), and V after a step.

    V (C, q + 1) are the coefficients of the functions after one Newton step.
    """

    sample: int
    column: Array
    V: Array


@dataclass
class _Newton:
    """The regularised risk R with the logistic loss at V (C, q), with gradient and Hessian.

    The predictions are Phi V', with coordinates Phi (n, q) of the samples. Gradient and Hessian
    order the entries of V class by class.
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
        """Return p_ic Phi_ij at [i, (c, j)], where p_ic is the probability of class c for sample i.

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


class ImportVectorMachine(KernelClassifier):
    """Kernel logistic regression over few samples, which are added one by one.

    R is the mean logistic loss plus (alpha / 2) times the squared RKHS norm of f. In each step, the
    sample is added for which one Newton step decreases R most. Then R is minimised over the samples
    added so far. Only a few random candidates are compared, not all samples. There is no intercept.

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
        Number of random candidates. With 59 candidates, at least one is among the best 5 % of all
        samples with probability 95 %.
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
