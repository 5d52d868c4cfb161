"""Models of a stream that learn a data set by shuffling its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import shuffle

from parsimon.estimators.inputs import points
from parsimon.estimators.state import unchanged_on_error

__all__ = ["Shuffled", "without_weights"]

Array = NDArray[np.float64]
Method = TypeVar("Method", bound=Callable[..., Any])


def without_weights(method: Method) -> Method:
    """Let a method say that its model takes no sample weights.

    Its signature stays, so scikit-learn knows that there are none.
    """

    @wraps(method)
    def call(self: Any, *args: Any, sample_weight: Any = None, **options: Any) -> Any:
        if sample_weight is not None:
            raise TypeError(
                f"{type(self).__name__} takes no sample weights: leave sample_weight out"
            )
        return method(self, *args, **options)

    return cast(Method, call)


class Shuffled:
    """A model whose `fit` is one call of `partial_fit` with shuffled rows."""

    shuffle: bool
    random_state: Any
    partial_fit: Callable[..., Any]

    @without_weights
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from X (n, d) and y as a stream, shuffled unless `shuffle` is False.

        Earlier learning is discarded. y has the shape that `partial_fit` takes.
        """
        with unchanged_on_error(self):
            self._forget()
            if not self.shuffle or y is None:
                self.partial_fit(X, y)
                return self
            # Checked before they are shuffled, so that errors name rows of X
            rows = self._validated(X, reset=True)
            names = getattr(self, "feature_names_in_", None)
            self.partial_fit(
                *shuffle(rows, self._checked(y, len(rows)), random_state=self.random_state)
            )
            if names is not None:
                self.feature_names_in_ = names
        return self

    def _forget(self) -> None:
        """Discard everything learned."""
        raise NotImplementedError

    def _validated(self, X: ArrayLike, *, reset: bool) -> Array:
        """Return X as an array (n, d), or raise an error."""
        return points(cast(BaseEstimator, self), X, reset=reset)

    def _checked(self, y: ArrayLike, n: int) -> NDArray[Any]:
        """Return the targets of n rows as an array, or raise an error."""
        raise NotImplementedError
