"""What every regressor that learns from a stream shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from parsimon import _core, kernels
from parsimon._parts import whole

if TYPE_CHECKING:
    from parsimon.algorithms import Recipe

Array = NDArray[np.float64]


class StreamRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor over one learner.

    A subclass names its algorithm and its parameters: `kernel`, `gamma`, `n_passes` and those of the algorithm, under the same names.
    """

    kernel: Any
    gamma: float | str
    n_passes: int
    _algorithm: Callable[..., Recipe]
    _learner: _core.Learner

    # Learning

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn afresh from X (n, d) and y (n,) or (n, C), row by row, `n_passes` times."""
        return self._fit(X, y, None)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Go on learning with a block X (n, d), y (n,) or (n, C), row by row. A block equals its rows, bit for bit.

        (A `gamma` of "scale" or "median" is measured on the first block, so it depends on what that was.) A block that is refused changes nothing. An interrupt (Ctrl-C),
        or an exception in a kernel that is a Python function, leaves the rows before it learned. Parameters changed since learning began are refused:
        `fit` starts afresh with them.
        """
        return self._partial_fit(X, y, None)

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Learn a block as `partial_fit` does, and return what was predicted for each row just before it was learned.

        That is test-then-learn (prequential) evaluation: every row is a test row once. Shape (n,) or (n, C), as `predict`.
        """
        return self._predict_then_learn(X, y, None)

    def learn_one(self, x: ArrayLike, y: ArrayLike) -> Self:
        """Learn one sample: x (d,), y a number or (C,). The same as `partial_fit` with one row, without its overhead.

        Features are taken by position: names, if x has them, are not looked at.
        """
        if not hasattr(self, "_learner"):
            return self.partial_fit(_row(x, "x", "(d,)")[np.newaxis], np.asarray(y)[np.newaxis])
        if not self._learner.learn_one(x, y):  # not an array of doubles, or not a plain number
            self._learner.learn_one(_row(x, "x", "(d,)"), _row(y, "y", "() or (C,)"))
        return self

    # Predicting

    def predict(self, X: ArrayLike) -> Array:
        """Predict for X (n, d): (n,), or (n, C) if several outputs were learned."""
        check_is_fitted(self)
        return self._outputs(self._learner.predict(self._validated(X, reset=False)))

    def predict_one(self, x: ArrayLike) -> float | Array:
        """Predict for one point x (d,): a number, or (C,) if several outputs were learned."""
        if not hasattr(self, "_learner"):
            check_is_fitted(self)
        value = self._learner.predict_one(x) if self._flat else None
        if value is not None:
            return value
        row: Array = self._learner.predict(_row(x, "x", "(d,)")[np.newaxis])[0]
        return float(row[0]) if self._flat else row

    # What has been learned

    @property
    def centers_(self) -> Array:
        """The centres, oldest first, (m, d)."""
        return self._fitted().centers()

    @property
    def weights_(self) -> Array:
        """The weights of the centres, (m,) or (m, C)."""
        return self._outputs(self._fitted().weights())

    @property
    def n_centers_(self) -> int:
        """How many centres there are, m."""
        return self._fitted().n_centers

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were learned, every pass counted."""
        return self._fitted().n_samples_seen

    @property
    def nbytes_(self) -> int:
        """Bytes that the model holds, working memory included."""
        return self._fitted().nbytes

    # How it is done

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        with self._unchanged_on_error():
            X, Y = self._begin(X, y)
            weights = _weights(sample_weight, len(X))
            if weights is not None and not weights.any():
                raise ValueError("every sample_weight is zero: there is nothing to learn")
            for _ in range(n_passes):
                self._learner.learn(X, Y, weights)
        return self

    def _partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        with self._unchanged_on_error():
            X, Y = self._block(X, y)
            self._learner.learn(X, Y, _weights(sample_weight, len(X)))
        return self

    def _predict_then_learn(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Array:
        with self._unchanged_on_error():
            X, Y = self._block(X, y)
            return self._outputs(self._learner.predict_then_learn(X, Y, _weights(sample_weight, len(X))))

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a model."""
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _fitted(self) -> _core.Learner:
        check_is_fitted(self)
        return self._learner

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Put every attribute back if the block fails. (The learner itself checks a block before it learns from it.)"""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.update(before)
            for name in self.__dict__.keys() - before.keys():
                del self.__dict__[name]
            raise

    def _begin(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        X = self._validated(X, reset=True)
        _core.require_finite(X, "X")  # before the kernel's width is measured on it
        y = _targets(y, len(X))
        self.kernel_ = kernels.resolve(self.kernel, self.gamma, X)
        self._flat = y.ndim == 1
        Y = y.reshape(len(y), -1)
        self._learns_with = self.get_params(deep=False)
        options = {k: v for k, v in self._learns_with.items() if k not in ("kernel", "gamma", "n_passes")}
        self._learner = self._algorithm(self.kernel_, **options).build(X.shape[1], Y.shape[1])
        return X, Y

    def _block(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        if not hasattr(self, "_learner"):
            return self._begin(X, y)
        for name, value in self.get_params(deep=False).items():
            used = self._learns_with[name]
            if value is not used and value != used:
                raise ValueError(
                    f"{name} was {used!r} when learning began and is {value!r} now: call fit to start afresh with it"
                )
        X = self._validated(X, reset=False)
        return X, _targets(y, len(X)).reshape(len(X), -1)

    def _validated(self, X: ArrayLike, *, reset: bool) -> Array:
        # NaN and infinity are the core's to find: it names row and column.
        result: Array = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
        return result

    def _outputs(self, values: Array) -> Array:
        return values[:, 0] if self._flat else values


def _targets(y: ArrayLike, n: int) -> Array:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    result: Array = check_array(
        y, dtype=np.float64, order="C", ensure_2d=False, ensure_all_finite=False, input_name="y"
    )
    if result.ndim not in (1, 2) or result.size == 0:
        raise ValueError(f"y must have shape (n,) or (n, C) with at least one value, got {result.shape}")
    check_consistent_length(np.empty(n), result)
    return result


def _weights(sample_weight: ArrayLike | None, n: int) -> Array | None:
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}")
    return weights


def _row(x: ArrayLike, what: str, shape: str) -> Array:
    given = np.asarray(x)
    if given.dtype.kind not in "fiub" and not all(isinstance(value, Real) for value in given.ravel().tolist()):
        raise TypeError(f"{what} must hold numbers, got {x!r}")
    if given.ndim > 1 or (what == "x" and given.ndim == 0):
        raise ValueError(f"{what} must be one sample of shape {shape}, got shape {given.shape}")
    return np.atleast_1d(np.ascontiguousarray(given, dtype=np.float64))
