"""Base class of the regressors that learn from a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from parsimon import _core, _schema
from parsimon._formula_values import applied
from parsimon._parts import numbers, real, whole
from parsimon.estimators.base import Array, StreamEstimator
from parsimon.estimators.inputs import one_row
from parsimon.estimators.learning import FITTED, LearningEstimator, Model
from parsimon.formulas import Expression

#: Types of numbers that need no conversion.
PLAIN = frozenset({float, int, np.float64})


class LearningRegressor(RegressorMixin, LearningEstimator[Model]):  # type: ignore[misc]
    """A regressor over one learner or filter, with one output or several."""

    _flat: bool
    _attributes = FITTED.extended({"_flat": _schema.one_of(bool)})

    # Learning

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, d) and y (n,) or (n, C), row by row, `n_passes` times.

        Anything learned before is discarded. `sample_weight` has shape (n,); None means 1 for each
        row.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Continue learning with a block X (n, d), y (n,) or (n, C), in order.

        A block equals a loop over its rows (or over its batches, if `batch_size` is above 1), bit
        for bit. The exceptions are a `gamma` of "scale" or "median" and a `ridge` of "auto", which
        are computed from the first block.

        A block with invalid values raises an error and changes nothing. After an interrupt
        (Ctrl-C), or an exception in a kernel that is a Python function, the rows learned so far
        stay learned. Parameters that were changed after learning began raise an error: call `fit`
        to start again with them.
        """
        return self._partial_fit(X, y, sample_weight)

    def predict_then_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Learn a block, and return the prediction for each row before it was learned.

        This is test-then-learn (prequential) evaluation: every row is a test row once. The block is
        learned as by `partial_fit`. The shape is (n,) or (n, C), as for `predict`.
        """
        return self._predictions(self._before_and_learn(X, y, sample_weight))

    def learn_one(self, x: ArrayLike, y: ArrayLike, sample_weight: float = 1.0) -> Self:
        """Learn one sample: x (d,), y a number or (C,), and its weight.

        This equals `partial_fit` with one row, without its overhead. Features are taken by
        position: if x has names, they are ignored.
        """
        if not hasattr(self, "_learner"):
            targets = numbers(y, "y", np.asarray)[np.newaxis]
            return self.partial_fit(one_row(x, "x", "(d,)")[np.newaxis], targets, [sample_weight])
        if sample_weight != 1.0:
            sample_weight = real("sample_weight", sample_weight)
        plain = type(x) is ndarray and (type(y) in PLAIN or (type(y) is ndarray and y.ndim == 1))
        if not plain or not self._learner.learn_one(
            x, y, sample_weight
        ):  # not an array of float64, or not a plain number
            self._learner.learn_one(
                one_row(x, "x", "(d,)"), one_row(y, "y", "() or (C,)"), sample_weight
            )
        return self

    # Predicting

    def predict(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Predict for X (n, d): (n,), or (n, C) if y had columns.

        `n_jobs` threads share the rows (-1: one per core).
        """
        return self._predictions(self._evaluate(X, n_jobs))

    def predict_one(self, x: ArrayLike) -> float | Array:
        """Predict for one point x (d,): a number, or (C,) if y had columns."""
        if not hasattr(self, "_learner"):
            check_is_fitted(self)
        link = self._inverse_link
        value = (
            self._learner.predict_one(x)
            if link is None and self._flat and type(x) is ndarray
            else None
        )
        if value is not None:
            return value
        row = self._predictions(self._learner.predict(one_row(x, "x", "(d,)")[np.newaxis]))[0]
        return float(row) if self._flat else row

    @property
    def weights_(self) -> Array:
        """Weights of the centres or features, (m,) or (m, C)."""
        return self._outputs(self._fitted().weights())

    @property
    def n_outputs_(self) -> int:
        """Number of outputs C."""
        return self._fitted().n_outputs

    # Implementation

    def _require_sound(self) -> None:
        super()._require_sound()
        if hasattr(self, "_learner") and self._flat and self._learner.n_outputs != 1:
            raise ValueError(f"it has {self._learner.n_outputs} outputs, expected one")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _first_targets(self, y: ArrayLike, n: int, *, all_at_once: bool) -> tuple[Array, int]:
        Y = regression_targets(y, n)
        self._flat = Y.ndim == 1
        Y = Y.reshape(n, -1)
        return Y, Y.shape[1]

    def _more_targets(self, y: ArrayLike, n: int) -> tuple[Array, int]:
        # The first block determines the number of outputs. The core rejects other numbers.
        return regression_targets(y, n).reshape(n, -1), self._learner.n_outputs

    @property
    def _inverse_link(self) -> Expression | None:
        """Inverse link of the loss, which maps f to predictions; None if they are f itself."""
        return None

    def _predictions(self, F: Array) -> Array:
        link = self._inverse_link
        return self._outputs(F if link is None else applied(link, F))

    def _as_decided(self, values: Array) -> Array:
        return self._outputs(values)

    def _in_order(self, values: Array) -> Array:
        return self._outputs(values)

    def _outputs(self, values: Array) -> Array:
        return values[:, 0] if self._flat else values


class StreamRegressor(LearningRegressor[_core.Learner], StreamEstimator):
    """A regressor over one learner with a dictionary."""

    def learn_checked(self, X: Array, Y: Array) -> Array:
        """Equal `predict_then_learn` for arrays X (n, d) and Y (n, C) of float64, without overhead.

        This is for callers that have checked the shapes. The model must have learned before.
        Predictions are (n, C).
        """
        return self._learner.predict_then_learn(X, Y, None, Y.shape[1])

    def learn_checked_with_gradients(
        self, X: Array, Y: Array, parts: Sequence[tuple[int, int, int]], scale: Array
    ) -> tuple[Array, Array]:
        """Return the predictions of `learn_checked`, and sums of squared derivatives, (parts, d).

        A part (first, last, every) is over each `every`-th row from first to last - 1, when the
        model has learned row last - 1. Derivatives are multiplied by `scale` (d,). This may be the
        first block of the model. `batch_size` must be 1, because parts end anywhere.
        """
        if not hasattr(self, "_learner"):
            self._begin(X, Y, None, all_at_once=False, predicted=True)
        return self._learner.predict_then_learn_with_gradients(
            X, Y, Y.shape[1], np.array(parts, dtype=np.int64).reshape(-1, 3), scale
        )

    def predict_checked(self, X: Array) -> Array:
        """Equal `predict` for an array X (n, d) of float64, without overhead.

        As `learn_checked`, this is for callers that have checked the shapes. Predictions have the
        shape of `predict`.
        """
        return self._predictions(self._learner.predict(np.ascontiguousarray(X), 1))

    def predict_link(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Return f(x) for X (n, d), in the shape of `predict`.

        f is the function that is learned. `predict` also returns f, unless the loss has an inverse
        link. With ``loss="poisson"``, `predict` returns exp(f). `n_jobs` threads share the rows
        (-1: one per core).
        """
        return self._outputs(self._evaluate(X, n_jobs))

    def add_outputs(self, n: int) -> Self:
        """Add n outputs that are 0, as if their targets had been 0 in all samples so far.

        Later blocks of y have n more columns. This is for targets that become known later, such as
        the indicators of classes.

        >>> from parsimon import KRLSRegressor
        >>> model = KRLSRegressor(gamma=1.0).partial_fit([[0.0], [1.0]], [[1.0], [2.0]])
        >>> model.add_outputs(1).predict([[0.0]]).round(3)
        array([[1.044, 0.   ]])
        """
        learner, n = self._fitted(), whole("n", n, at_least=1)
        n_outputs = learner.n_outputs + n
        learner.learn(np.empty((0, self.n_features_in_)), np.empty((0, n_outputs)), None, n_outputs)
        self._flat = False
        return self


def regression_targets(y: ArrayLike, n: int) -> Array:
    """Return targets as an array (n,) or (n, C). The core looks for NaN and infinity."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if (  # what scikit-learn would return as it is
        type(y) is np.ndarray
        and y.dtype == np.float64
        and y.ndim in (1, 2)
        and y.flags.c_contiguous
        and len(y) == n
        and y.size
    ):
        return y
    result: Array = numbers(
        y,
        "y",
        lambda y: check_array(
            y, dtype=np.float64, order="C", ensure_2d=False, ensure_all_finite=False, input_name="y"
        ),
    )
    if result.ndim not in (1, 2) or result.size == 0:
        raise ValueError(
            f"y must have shape (n,) or (n, C) with at least one value, got {result.shape}"
        )
    check_consistent_length(np.empty(n), result)
    return result
