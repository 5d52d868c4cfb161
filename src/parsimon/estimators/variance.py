"""Regressors that know the variance of an observation."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from parsimon import _threads
from parsimon.estimators.base import Array
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["VarianceRegressor"]


class VarianceRegressor(StreamRegressor):
    """A regressor that returns standard deviations beside its predictions."""

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[False] = ..., *, n_jobs: int | None = ...
    ) -> Array: ...
    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[True], *, n_jobs: int | None = ...
    ) -> tuple[Array, Array]: ...
    def predict(
        self, X: ArrayLike, return_std: bool = False, *, n_jobs: int | None = None
    ) -> Array | tuple[Array, Array]:
        """Predict for X (n, d): (n,), or (n, C) if y had columns.

        With `return_std`, also return the standard deviation of a new observation at each row, in
        the same shape. It includes the noise, `noise_`. `n_jobs` threads share the rows (-1: one
        per core).
        """
        if not return_std:
            return self._predictions(self._evaluate(X, n_jobs))
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        F, variances = self._learner.predict_with_variances(rows, _threads.count(n_jobs))
        return self._predictions(F), self._outputs(np.sqrt(variances))

    @overload
    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = ...,
        *,
        return_std: Literal[False] = ...,
    ) -> Array: ...
    @overload
    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = ...,
        *,
        return_std: Literal[True],
    ) -> tuple[Array, Array]: ...
    def predict_then_learn(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        return_std: bool = False,
    ) -> Array | tuple[Array, Array]:
        """Learn a block, and return the prediction for each row before it was learned.

        This is test-then-learn (prequential) evaluation: every row is a test row once. The block is
        learned as by `partial_fit`. The shape is (n,) or (n, C), as for `predict`. With
        `return_std`, also return the standard deviation of each observation, as `predict` would
        have done before the row.
        """
        if not return_std:
            return super().predict_then_learn(X, y, sample_weight)
        with self._unchanged_on_error():
            rows, Y, n_outputs = self._block(X, y, sample_weight, predicted=True)
            F, variances = self._learner.predict_then_learn_with_variances(
                rows, Y, self._weights(y, sample_weight, len(rows)), n_outputs
            )
        return self._predictions(F), self._outputs(np.sqrt(variances))

    def relative_variances(self, X: Array) -> Array:
        """Return the variance of an observation in units of the noise, (n,), 1 or more.

        It is 1 as long as the noise is not known. X (n, d) is an array of float64, checked.
        """
        noise = self._learner.noise()
        assert noise is not None
        known = np.flatnonzero((noise > 0.0) & (noise < np.inf))
        if not len(known):
            return np.ones(len(X))
        variances = self._learner.variances(np.ascontiguousarray(X), 1)
        found: Array = variances[:, known[0], 0] / noise[known[0]]
        return found

    @property
    def noise_(self) -> float | Array:
        """Variance of the noise, or (C,) if y had columns. It is infinite before it is known.

        It is a mean of e^2 / s over the samples learned. e is the error of the prediction before
        the sample was learned, and s the variance of e in units of the noise. Later samples count
        more, because the first errors are large.
        """
        check_is_fitted(self)
        noise = self._learner.noise()
        assert noise is not None
        return float(noise[0]) if self._flat else noise
