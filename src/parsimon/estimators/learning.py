"""Base class of the estimators over one learner or filter of the core."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from parsimon import _core, _schema, _threads, kernels
from parsimon._parts import numbers, whole
from parsimon._schema import Schema
from parsimon.estimators.gradients import Differentiable
from parsimon.estimators.inputs import (
    plausible_weights,
    points,
    require_names,
    require_unchanged,
    require_wideable,
)
from parsimon.estimators.state import OneLearner, unchanged_on_error
from parsimon.persistence import Storable

__all__ = ["FITTED", "LearningEstimator", "Model"]

Array = NDArray[np.float64]
Model = TypeVar("Model", _core.Learner, _core.Filter)

#: Limits on the number of features of a stored model, and on its outputs if its arrays are small.
MOST_FEATURES, MOST_OUTPUTS = 2**40, 10**6
#: Attributes of every fitted model over one learner.
FITTED = Schema(
    needed={
        "n_features_in_": _schema.whole(1, MOST_FEATURES),
        "kernel_": _schema.is_kernel,
        "_learns_with": _schema.one_of(dict),
        "_learned": _schema.one_of(tuple, dict),
    },
    allowed={
        "feature_names_in_": _schema.is_labels,
        "_sklearn_output_config": _schema.mapped(_schema.one_of(str), _schema.one_of(str)),
    },
)


class LearningEstimator(
    OneLearner[Model],
    Differentiable,
    Storable,
    BaseEstimator,  # type: ignore[misc]
):
    """An estimator over one learner or filter, which learns in blocks.

    A subclass sets its parameters, among them `kernel`, `gamma` and `n_passes`, and says how its
    targets are read and how its learner is built.
    """

    kernel: Any
    gamma: float | str
    n_passes: int
    kernel_: kernels.Kernel
    n_features_in_: int
    _learns_with: dict[str, Any]
    _attributes: ClassVar[Schema] = FITTED

    # What a subclass says

    @abstractmethod
    def _build(
        self, params: dict[str, Any], n_features: int, n_outputs: int, *, at_once: bool = True
    ) -> Model:
        """Return a learner that has learned nothing, for the parameters of the estimator.

        `at_once`: memory for the budget is reserved now, if the learner can do so.
        """

    @abstractmethod
    def _first_targets(self, y: ArrayLike, n: int, *, all_at_once: bool) -> tuple[Array, int]:
        """Return the targets of a first block for the core, (n, T), and the number of outputs.

        `all_at_once`: the block has all targets, as in `fit`.
        """

    @abstractmethod
    def _more_targets(self, y: ArrayLike, n: int) -> tuple[Array, int]:
        """Return the targets of a later block, and the number of outputs including it."""

    def _in_order(self, values: Array) -> Array:
        """Return values of all outputs (n, C) in the order and shape that users see."""
        raise NotImplementedError

    def _resolve_kernel(self, X: Array) -> kernels.Kernel:
        """Return the kernel for these parameters and the first block."""
        return kernels.resolve(self.kernel, self.gamma, X)

    def _estimate(self, X: Array, Y: Array, weights: Array | None) -> None:
        """Estimate parameters from the first block, whose rows have weights above 0, or all 1."""

    def _prepare(self, n_features: int) -> None:
        """Draw random numbers, before the first learner is built."""

    def _settled_on(self, X: Array, y: ArrayLike) -> dict[str, Any]:
        """Return the parameters that depend on the first block, as they are for this one."""
        return {"kernel": kernels.resolve(self.kernel, self.gamma, X), "gamma": "scale"}

    def _unsettle(self, given: Self) -> None:
        """Take the parameters of another estimator. What this one has estimated stays."""
        for own in (self.__dict__, self._learns_with):
            own.update(kernel=copy.deepcopy(given.kernel), gamma=given.gamma)

    # The learned model

    @property
    def intercept_(self) -> Any:
        """What predictions add to f, (C,), or a number if y had no columns. It is 0 without one."""
        return self._in_order(self._fitted().intercept()[np.newaxis])[0]

    # Implementation

    @staticmethod
    def _has_intercept(params: dict[str, Any]) -> bool:
        """Return the parameter `fit_intercept`, checked. Estimators without it have none."""
        intercept = params.get("fit_intercept", False)
        if not isinstance(intercept, bool | np.bool_):
            raise TypeError(f"fit_intercept must be True or False, got {intercept!r}")
        return bool(intercept)

    def _packed(self, learner: Model) -> tuple[Any, ...]:
        """Return the sizes of a learner and its state.

        Sizes and state agree even if another thread adds outputs.
        """
        while True:
            n_outputs = learner.n_outputs
            arrays, counts = learner.state()
            if learner.n_outputs == n_outputs:
                return learner.n_features, n_outputs, arrays, counts

    def _unpacked(self, learned: Any) -> Model:
        n_features, n_outputs, arrays, counts = learned
        held = sum(np.size(values) for values in arrays.values())
        whole("n_features", n_features, at_least=1, at_most=MOST_FEATURES)
        whole("n_outputs", n_outputs, at_least=1, at_most=max(MOST_OUTPUTS, held))
        learner = self._build(self._learns_with, n_features, n_outputs, at_once=False)
        learner.restore(arrays, counts)
        return learner

    def _require_sound(self) -> None:
        if not hasattr(self, "_learner"):
            return
        require_names(self)
        if self._learner.n_features != self.n_features_in_:
            raise ValueError(
                f"it has {self.n_features_in_} features, but its learner has "
                f"{self._learner.n_features}"
            )
        began = type(self)(**self._learns_with)
        if not kernels.agrees(self.kernel_, began.kernel, began.gamma, began._settled):
            raise ValueError(f"its kernel {self.kernel_!r} does not agree with its parameters")
        self._learner.require_sound()

    def _settled(self, kernel: Any, gamma: float | str) -> kernels.Kernel:
        """Return the kernel for these parameters, if it does not depend on a first block."""
        self.kernel, self.gamma = kernel, gamma
        return self._resolve_kernel(np.zeros((1, 1)))

    def _widen(self, n_features: int) -> None:
        """Add features that were 0 in all samples so far, which does not change f."""
        require_wideable(self.kernel_)
        learner = self._fitted()
        arrays, counts = learner.state()
        wider = self._build(self._learns_with, n_features, learner.n_outputs)
        wider.restore(arrays, counts, learner.n_features)
        self._learner, self.n_features_in_ = wider, n_features

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        with self._unchanged_on_error():
            X, Y, n_outputs = self._begin(X, y, sample_weight, all_at_once=True)
            weights = self._weights(y, sample_weight, len(X))
            if weights is not None and not weights.any():
                raise ValueError("every sample_weight is zero: there is nothing to learn")
            # Before shuffling, so that errors name rows of X
            self._learner.check(X, Y, weights, n_outputs)
            self._learner.hold_targets(Y, weights)
            for order in self._orders(len(X), n_passes):
                rows = slice(None) if order is None else order
                self._learner.learn(
                    X[rows], Y[rows], None if weights is None else weights[rows], n_outputs
                )
            self._learner.release_targets()
        return self

    def _orders(self, n: int, n_passes: int) -> Iterator[NDArray[np.int64] | None]:
        """Yield the order of the rows in each pass of `fit`; None keeps their order."""
        rng = check_random_state(getattr(self, "random_state", None))
        for _ in range(n_passes):
            yield rng.permutation(n) if getattr(self, "shuffle", False) else None

    def _partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        with self._unchanged_on_error():
            X, Y, n_outputs = self._block(X, y, sample_weight)
            self._learner.learn(X, Y, self._weights(y, sample_weight, len(X)), n_outputs)
        return self

    def _before_and_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Array:
        """Learn a block and return f (n, C) as it was before each row."""
        with self._unchanged_on_error():
            X, Y, n_outputs = self._block(X, y, sample_weight, predicted=True)
            return self._learner.predict_then_learn(
                X, Y, self._weights(y, sample_weight, len(X)), n_outputs
            )

    def _evaluate(self, X: ArrayLike, n_jobs: int | None = None) -> Array:
        """Return f (n, C)."""
        check_is_fitted(self)
        return self._learner.predict(self._validated(X, reset=False), _threads.count(n_jobs))

    def _derivatives(self, X: ArrayLike, n_jobs: int | None) -> Array:
        check_is_fitted(self)
        kernels.require_differentiable(self.kernel_)
        return self._learner.gradient(self._validated(X, reset=False), _threads.count(n_jobs))

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Restore every attribute if the block fails.

        The learner itself checks a block before it learns from it. After an interrupt, the rows
        learned before it stay learned, and the outputs that the block added stay.
        """
        learner = getattr(self, "_learner", None)
        n_outputs = None if learner is None else learner.n_outputs
        with unchanged_on_error(
            self,
            lambda: (
                learner is not None and self._learner is learner and learner.n_outputs != n_outputs
            ),
        ):
            yield

    def _begin(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        all_at_once: bool,
        predicted: bool = False,
    ) -> tuple[Array, Array, int]:
        X = self._validated(X, reset=True)
        # Before gamma is computed from it
        _core.require_finite(X, "X", isinstance(self.kernel, kernels.SinglePrecision))
        Y, n_outputs = self._first_targets(y, len(X), all_at_once=all_at_once)
        weights = plausible_weights(sample_weight, len(X))
        used = slice(None) if weights is None else weights > 0.0
        rows = X if weights is None else X[used]
        self.kernel_ = self._resolve_kernel(rows if len(rows) else X)
        self._learns_with = {
            k: dict(v) if isinstance(v, dict) else v for k, v in self.get_params(deep=False).items()
        }
        # Not from targets that come after the predictions of rows
        seen = slice(0) if predicted else used
        self._estimate(X[seen], Y[seen], None if weights is None else weights[seen])
        self._prepare(X.shape[1])
        self._learner = self._build(self._learns_with, X.shape[1], n_outputs)
        return X, Y, n_outputs

    def _block(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, predicted: bool = False
    ) -> tuple[Array, Array, int]:
        """Check a block, and begin with the first. `predicted`: each row is predicted first."""
        if not hasattr(self, "_learner"):
            return self._begin(X, y, sample_weight, all_at_once=False, predicted=predicted)
        self._require_unchanged()
        X = self._validated(X, reset=False)
        Y, n_outputs = self._more_targets(y, len(X))
        return X, Y, n_outputs

    def _weights(self, y: ArrayLike, sample_weight: ArrayLike | None, n: int) -> Array | None:
        """Return the weights of a block, (n,), or None if all are 1.

        The core checks their values.
        """
        if sample_weight is None:
            return None
        weights = numbers(
            sample_weight, "sample_weight", lambda w: np.ascontiguousarray(w, dtype=np.float64)
        )
        if weights.shape != (n,):
            raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}")
        return weights

    def _require_unchanged(self, but: str | None = None) -> None:
        """Raise an error if a parameter was changed after learning began."""
        require_unchanged(self, self._learns_with, but)

    def _validated(self, X: ArrayLike, *, reset: bool) -> Array:
        return points(self, X, reset=reset)
