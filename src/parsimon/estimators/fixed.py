"""Kernel expansions learned elsewhere, which can predict and can be compressed and stored."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from parsimon import _core, _schema, _threads, kernels, merging
from parsimon._docs import documented
from parsimon.estimators.gradients import Differentiable
from parsimon.estimators.inputs import points
from parsimon.persistence import Storable

__all__ = ["KernelExpansionClassifier", "KernelExpansionRegressor"]

Array = NDArray[np.float64]


class _KernelExpansion(Differentiable, Storable, BaseEstimator):  # type: ignore[misc]
    """f(x) = sum_j w_j k(d_j, x) + b, with centres d_j, weights w_j and intercepts b."""

    kernel: kernels.Kernel
    centers: Array
    weights: Array
    intercept: Any

    @property
    def kernel_(self) -> kernels.Kernel:
        """The kernel."""
        return self.kernel

    @property
    def centers_(self) -> Array:
        """The centres, (m, d)."""
        return kernels.seen(
            self.kernel, np.ascontiguousarray(self.centers, dtype=np.float64), "centers"
        )

    @property
    def weights_(self) -> Array:
        """The weights of the centres, (m, C)."""
        W = np.ascontiguousarray(self.weights, dtype=np.float64)
        return W if W.ndim == 2 else W[:, np.newaxis]

    @property
    def n_centers_(self) -> int:
        """Number of centres m."""
        return len(self.centers)

    @property
    def n_features_in_(self) -> int:
        """Number of features d."""
        return int(np.shape(self.centers)[1])

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, np.ndarray)

    def _require_sound(self) -> None:
        centres, W, offset = (
            self.centers_,
            self.weights_,
            np.asarray(self.intercept, dtype=np.float64),
        )
        if not _schema.is_kernel(self.kernel):
            raise ValueError("its kernel is not a kernel of parsimon.kernels")
        if centres.ndim != 2 or not centres.shape[1] or W.ndim != 2 or len(W) != len(centres):
            raise ValueError(
                f"its centres have shape {np.shape(self.centers)}, "
                f"its weights {np.shape(self.weights)}"
            )
        if offset.shape not in ((), (1,), W.shape[1:]):
            raise ValueError(f"its intercept has shape {offset.shape}")
        values = self.kernel.diagonal(centres)
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = np.abs(W).T @ np.sqrt(values)
        if (
            not (values <= 1e80).all()
            or not (sizes <= 1e170).all()
            or not (np.abs(offset) <= 1e170).all()
        ):
            raise ValueError("its numbers are too large to predict with")

    def norm(self) -> float:
        """Return the RKHS norm of f without its intercept; squares are summed over outputs."""
        return merging.norm(self)

    def distance(self, other: Any) -> float:
        """Return the RKHS distance of two functions without their intercepts.

        The squares are summed over the outputs.
        """
        return merging.distance(self, other)

    def compress(
        self,
        budget: int | None = None,
        *,
        tolerance: float | None = None,
        n_jobs: int | None = None,
    ) -> merging.Merged:
        """Project out centres, and return the resulting distance and sizes.

        The centre whose removal changes f least is projected out first. This is repeated while
        there are more than `budget` centres, or while the RKHS distance from the original f is at
        most `tolerance`. `n_jobs` threads are used (-1: one per core).
        """
        centres, weights, distance, before = merging.compressed(
            self.kernel, self.centers_, self.weights_, budget, tolerance, n_jobs
        )
        self.centers, self.weights = (
            centres,
            weights if np.ndim(self.weights) == 2 else weights[:, 0],
        )
        return merging.Merged(self, distance, before, self.n_centers_)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn that there is a model."""
        return True

    def _rows(self, X: ArrayLike) -> Array:
        """Return X (n, d) as an array of finite numbers."""
        rows = points(self, X, reset=False)
        _core.require_finite(rows, "X", self.kernel.single)
        return rows

    def _derivatives(self, X: ArrayLike, n_jobs: int | None) -> Array:
        self._require_kernel()
        kernels.require_differentiable(self.kernel)
        rows, by_output = self._rows(X), np.ascontiguousarray(self.weights_.T)
        return self.kernel.core().gradient(rows, self.centers_, by_output, _threads.count(n_jobs))

    def _require_kernel(self) -> None:
        if not isinstance(self.kernel, kernels.Kernel):
            raise TypeError(f"kernel must be an object of parsimon.kernels, got {self.kernel!r}")

    def _evaluate(self, X: ArrayLike, n_jobs: int | None = None) -> Array:
        """Return f (n, C)."""
        self._require_kernel()
        rows, centres, W = self._rows(X), self.centers_, self.weights_
        if np.shape(self.intercept) not in ((), (1,), W.shape[1:]):
            raise ValueError(
                f"intercept must be a number or have shape {W.shape[1:]}, "
                f"got {np.shape(self.intercept)}"
            )
        F = np.empty((len(rows), W.shape[1]))

        def evaluate(first: int, last: int) -> None:
            np.matmul(self.kernel(rows[first:last], centres), W, out=F[first:last])

        _threads.each(evaluate, len(rows), 512, _threads.count(n_jobs))
        F += np.asarray(self.intercept)
        return F


@documented
class KernelExpansionRegressor(RegressorMixin, _KernelExpansion):  # type: ignore[misc]
    """A kernel expansion f(x) = sum_j w_j k(d_j, x) + b that was learned elsewhere.

    It predicts but does not learn. `from_sklearn` makes such a model from a fitted SVR or kernel
    ridge regression.

    Parameters
    ----------
    kernel : Kernel
        Kernel function k, an object of `parsimon.kernels`.
    centers : array of shape (m, d)
        Centres d_j.
    weights : array of shape (m,) or (m, C)
        Weights w_j, one column per output.
    intercept : float or array of shape (C,), default=0.0
        Intercept b.

    Attributes
    ----------
    {centers_}
    weights_ : ndarray of shape (m, C)
        Weights of the centres, one column per output.
    n_centers_ : int
        Number of centres m.
    kernel_ : Kernel
        Kernel in use.
    n_features_in_ : int
        Number of features d.

    References
    ----------
    B. Schölkopf, A. Smola, *Learning with kernels*, MIT Press 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KernelExpansionRegressor, kernels
    >>> centers, weights = np.zeros((1, 1)), np.array([2.0])
    >>> model = KernelExpansionRegressor(kernels.Gaussian(1.0), centers, weights, intercept=1.0)
    >>> model.predict([[0.0]])
    array([3.])
    """

    def __init__(self, kernel: Any, centers: Any, weights: Any, intercept: Any = 0.0) -> None:
        self.kernel = kernel
        self.centers = centers
        self.weights = weights
        self.intercept = intercept

    def predict(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Predict for X (n, d): (n,), or (n, C) if the weights have columns.

        `n_jobs` threads share the rows (-1: one per core).
        """
        return self._as_decided(self._evaluate(X, n_jobs))

    def _as_decided(self, values: Array) -> Array:
        return values if np.ndim(self.weights) == 2 else values[:, 0]


@documented
class KernelExpansionClassifier(ClassifierMixin, _KernelExpansion):  # type: ignore[misc]
    """A support vector classifier that was learned elsewhere.

    It predicts but does not learn. There is one function f(x) = sum_j w_j k(d_j, x) + b for each
    pair of classes. f > 0 is a vote for the first class of the pair. The class with the most votes
    is predicted. In a tie, it is the first of these classes. `from_sklearn` makes such a model from
    a fitted SVC.

    Parameters
    ----------
    kernel : Kernel
        Kernel function k, an object of `parsimon.kernels`.
    centers : array of shape (m, d)
        Centres d_j.
    weights : array of shape (m, C (C - 1) / 2)
        Weights w_j, one column for each of the pairs (0, 1), (0, 2), ..., (1, 2), ... of classes.
    intercept : array of shape (C (C - 1) / 2,)
        Intercept b of each pair.
    classes : array of shape (C,)
        Labels.

    Attributes
    ----------
    {centers_}
    weights_ : ndarray of shape (m, C (C - 1) / 2)
        Weights of the centres, one column per pair of classes.
    n_centers_ : int
        Number of centres m.
    kernel_ : Kernel
        Kernel in use.
    n_features_in_ : int
        Number of features d.
    classes_ : ndarray of shape (C,)
        Labels.

    References
    ----------
    B. Schölkopf, A. Smola, *Learning with kernels*, MIT Press 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KernelExpansionClassifier, kernels
    >>> one, labels = np.ones((1, 1)), np.array(["up", "down"])
    >>> model = KernelExpansionClassifier(kernels.Linear(), one, one, np.zeros(1), labels)
    >>> model.predict([[1.0], [-1.0]]).tolist()
    ['up', 'down']
    """

    def __init__(
        self, kernel: Any, centers: Any, weights: Any, intercept: Any, classes: Any
    ) -> None:
        self.kernel = kernel
        self.centers = centers
        self.weights = weights
        self.intercept = intercept
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, (C,)."""
        return np.asarray(self.classes)

    def _require_sound(self) -> None:
        super()._require_sound()
        labels, n = self.classes_, len(self.classes_)
        if not _schema.is_labels(labels) or n < 2 or self.weights_.shape[1] != n * (n - 1) // 2:
            raise ValueError(f"its {n} classes do not fit {self.weights_.shape[1]} functions")

    @property
    def _output_labels(self) -> list[Any]:
        return list(combinations(self.classes_.tolist(), 2))

    def decision_function(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Return f for each pair of classes, (n, C (C - 1) / 2).

        With two classes return one column, (n,). As in scikit-learn, positive values then mean the
        second class. `n_jobs` threads share the rows (-1: one per core).
        """
        return self._as_decided(self._evaluate(X, n_jobs))

    def _as_decided(self, values: Array) -> Array:
        return values if len(self.classes_) > 2 else -values[:, 0]

    def predict(self, X: ArrayLike, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Predict labels for X (n, d): the class with most votes, (n,).

        `n_jobs` threads share the rows (-1: one per core).
        """
        F = self._evaluate(X, n_jobs)
        votes = np.zeros((len(F), len(self.classes_)), dtype=np.int64)
        for p, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            votes[:, i] += F[:, p] > 0
            votes[:, j] += F[:, p] <= 0
        result: NDArray[Any] = self.classes_[votes.argmax(axis=1)]
        return result
