"""Kernel classification by L-BFGS."""

from __future__ import annotations

import warnings
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from parsimon._parts import lookup, real, whole
from parsimon.experiments.koppel_2019.baselines.common import (
    SMOOTH,
    Array,
    KernelClassifier,
    gaussian,
    hinge,
    orthonormal,
    risk,
)


class KernelLBFGS(KernelClassifier):
    """Kernel classifier with the smallest regularised risk R, found by L-BFGS.

    R is the mean loss plus (alpha / 2) times the squared RKHS norm of f. The hinge has kinks, at
    which L-BFGS stalls. So the hinge is smoothed with decreasing temperatures (`SMOOTH`), and each
    minimum is the start for the next temperature. The result is above the true minimum by at most t
    log C at the last temperature t, with C classes, and by much less in practice. `objective_` is R
    with the hinge itself.

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
