"""Base class of the filters that are linear in features and are no kernel expansions."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from parsimon import _core, _schema, _threads, kernels
from parsimon._parts import numbers, real, whole
from parsimon._schema import Schema
from parsimon.estimators.base import FITTED, MOST_FEATURES, MOST_OUTPUTS
from parsimon.estimators.gradients import Differentiable
from parsimon.estimators.inputs import one_row, points, require_names, require_unchanged
from parsimon.estimators.regressor import regression_targets
from parsimon.estimators.state import OneLearner, unchanged_on_error
from parsimon.persistence import Storable

__all__ = ["FilterRegressor"]

Array = NDArray[np.float64]


class FilterRegressor(
    RegressorMixin,  # type: ignore[misc]
    OneLearner[_core.Filter],
    Differentiable,
    Storable,
    BaseEstimator,  # type: ignore[misc]
):
    """A regressor over one filter of the core. A subclass sets its parameters and `_build`."""

    kernel: Any
    gamma: float | str
    fit_intercept: bool
    n_passes: int
    shuffle: bool
    random_state: int | None
    kernel_: kernels.Kernel
    n_features_in_: int
    _learns_with: dict[str, Any]
    _flat: bool
    _attributes: ClassVar[Schema] = FITTED.extended({"_flat": _schema.one_of(bool)})

    @abstractmethod
    def _build(self, params: dict[str, Any], n_features: int, n_outputs: int) -> _core.Filter:
        """Return a filter that has learned nothing."""

    def _prepare(self, n_features: int) -> None:
        """Draw random numbers, before the first filter is built."""

    # Learning

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, d) and y (n,) or (n, C), row by row, `n_passes` times.

        Anything learned before is discarded. `sample_weight` has shape (n,); None means 1 for each
        row.
        """
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        rng = check_random_state(self.random_state)
        with unchanged_on_error(self):
            rows, Y, weights = self._begin(X, y, sample_weight)
            if weights is not None and not weights.any():
                raise ValueError("every sample_weight is zero: there is nothing to learn")
            self._learner.check(rows, Y, weights, Y.shape[1])
            self._learner.hold_targets(Y, weights)
            for _ in range(n_passes):
                order = rng.permutation(len(rows)) if self.shuffle else slice(None)
                part = None if weights is None else weights[order]
                self._learner.learn(rows[order], Y[order], part)
            self._learner.release_targets()
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Continue learning with a block X (n, d), y (n,) or (n, C), in order.

        A block equals a loop over its rows, bit for bit. The exception is a `gamma` of "scale" or
        "median", which is computed from the first block. A block with invalid values raises an
        error and changes nothing.
        """
        with unchanged_on_error(self):
            block = self._block(X, y, sample_weight)
            self._learner.learn(*block)
        return self

    def predict_then_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Learn a block, and return the prediction for each row before it was learned.

        This is test-then-learn (prequential) evaluation: every row is a test row once. The shape is
        (n,) or (n, C), as for `predict`.
        """
        with unchanged_on_error(self):
            block = self._block(X, y, sample_weight)
            return self._outputs(self._learner.predict_then_learn(*block))

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
        if not (
            type(x) is np.ndarray
            and type(y) in (float, np.float64)
            and self._learner.learn_one(x, y, sample_weight)
        ):
            row, target = one_row(x, "x", "(d,)"), one_row(y, "y", "() or (C,)")
            self._learner.learn_one(row, target, sample_weight)
        return self

    # Predicting

    def predict(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Predict for X (n, d): (n,), or (n, C) if y had columns.

        `n_jobs` threads share the rows (-1: one per core).
        """
        check_is_fitted(self)
        rows = points(self, X, reset=False)
        return self._outputs(self._learner.predict(rows, _threads.count(n_jobs)))

    def predict_one(self, x: ArrayLike) -> float | Array:
        """Predict for one point x (d,): a number, or (C,) if y had columns."""
        row = self._fitted().predict(one_row(x, "x", "(d,)")[np.newaxis])[0]
        return float(row[0]) if self._flat else row

    @property
    def weights_(self) -> Array:
        """Weights of the features, one column per output if y had columns."""
        return self._outputs(self._fitted().weights())

    @property
    def intercept_(self) -> Any:
        """What predictions add to f, (C,), or a number if y had no columns. It is 0 without one."""
        return self._outputs(self._fitted().intercept()[np.newaxis])[0]

    @property
    def n_outputs_(self) -> int:
        """Number of outputs C."""
        return self._fitted().n_outputs

    # Implementation

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _outputs(self, values: Array) -> Array:
        return values[:, 0] if self._flat else values

    def _as_decided(self, values: Array) -> Array:
        return self._outputs(values)

    def _derivatives(self, X: ArrayLike, n_jobs: int | None) -> Array:
        check_is_fitted(self)
        kernels.require_differentiable(self.kernel_)
        return self._learner.gradient(points(self, X, reset=False), _threads.count(n_jobs))

    def _resolve_kernel(self, X: Array) -> kernels.Kernel:
        return kernels.resolve(self.kernel, self.gamma, X)

    def _settled(self, kernel: Any, gamma: float | str) -> kernels.Kernel:
        """Return the kernel for these parameters, if it does not depend on a first block."""
        return kernels.resolve(kernel, gamma, np.zeros((1, 1)))

    def _begin(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Array, Array, Array | None]:
        rows = points(self, X, reset=True)
        _core.require_finite(rows, "X")  # before gamma is computed from it
        Y = regression_targets(y, len(rows))
        weights = _weights(sample_weight, len(rows))
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise TypeError(f"fit_intercept must be True or False, got {self.fit_intercept!r}")
        used = rows if weights is None or not (weights != 0).any() else rows[weights != 0]
        self._flat = Y.ndim == 1
        self.kernel_ = self._resolve_kernel(used)
        self._learns_with = self.get_params(deep=False)
        self._prepare(rows.shape[1])
        Y = Y.reshape(len(rows), -1)
        self._learner = self._build(self._learns_with, rows.shape[1], Y.shape[1])
        return rows, Y, weights

    def _block(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Array, Array, Array | None]:
        if not hasattr(self, "_learner"):
            return self._begin(X, y, sample_weight)
        require_unchanged(self, self._learns_with)
        rows = points(self, X, reset=False)
        Y = regression_targets(y, len(rows)).reshape(len(rows), -1)
        return rows, Y, _weights(sample_weight, len(rows))

    def _packed(self, learner: _core.Filter) -> tuple[Any, ...]:
        return learner.n_features, learner.n_outputs, *learner.state()

    def _unpacked(self, learned: Any) -> _core.Filter:
        n_features, n_outputs, arrays, counts = learned
        held = sum(np.size(values) for values in arrays.values())
        whole("n_features", n_features, at_least=1, at_most=MOST_FEATURES)
        whole("n_outputs", n_outputs, at_least=1, at_most=max(MOST_OUTPUTS, held))
        learner = self._build(self._learns_with, n_features, n_outputs)
        learner.restore(arrays, counts)
        return learner

    def _widen(self, n_features: int) -> None:
        """Add features that were 0 in all samples so far, which does not change f."""
        learner = self._fitted()
        wider = self._build(self._learns_with, n_features, learner.n_outputs)
        wider.restore(*learner.state(), learner.n_features)
        self._learner, self.n_features_in_ = wider, n_features

    def _require_sound(self) -> None:
        if not hasattr(self, "_learner"):
            return
        require_names(self)
        if self._learner.n_features != self.n_features_in_:
            raise ValueError(
                f"it has {self.n_features_in_} features, but its filter has "
                f"{self._learner.n_features}"
            )
        if self._flat and self._learner.n_outputs != 1:
            raise ValueError(f"it has {self._learner.n_outputs} outputs, expected one")
        began = type(self)(**self._learns_with)
        if not kernels.agrees(self.kernel_, began.kernel, began.gamma, self._settled):
            raise ValueError(f"its kernel {self.kernel_!r} does not agree with its parameters")
        self._learner.require_sound()


def _weights(sample_weight: ArrayLike | None, n: int) -> Array | None:
    """Return the weights of a block, (n,), or None if all are 1. The core checks their values."""
    if sample_weight is None:
        return None
    weights = numbers(
        sample_weight, "sample_weight", lambda w: np.ascontiguousarray(w, dtype=np.float64)
    )
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}")
    return weights
