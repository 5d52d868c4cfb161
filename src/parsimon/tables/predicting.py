"""Predictions of a table model, for blocks and for single rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from parsimon.mixtures import Mixture
from parsimon.preprocessing import TableError

__all__ = ["Predicting"]

Array = NDArray[np.float64]
Labels = NDArray[Any]


class Predicting:
    """Methods that predict, and methods for rows that are dicts with values by column name."""

    learn: Callable[[Any], Any]
    _ready: Callable[[], Any]  # the model, with its warm-up ended

    def predict(self, block: Any, *, lagged: bool = True, return_intervals: bool = False) -> Any:
        """Return predictions (n,) for the rows of a block. The block need not have the target.

        With `return_intervals`, return the predictions and the intervals (n, 2).

        With a mixture, every row counts as the next one after the last row learned. For rows that
        do not follow it, such as those of another file, use ``lagged=False``. During the warm-up,
        predictions are as if `finish` had been called.
        """
        model = self._ready()
        if return_intervals and getattr(model, "_intervals", None) is None:
            raise TableError("the model has no intervals: it was learned without them")
        X = model.encoder_.transform(block)
        if not len(X):
            return (np.empty(0), np.empty((0, 2))) if return_intervals else np.empty(0)
        found: Labels = model.estimator_.predict(X, **_options(model.estimator_, lagged))
        if model.task_ == "regression":
            found = model.scaler_.inverse_transform(found)
        if not return_intervals:
            return found
        if not isinstance(model.estimator_, Mixture):
            return found, model._intervals.now(X, found[:, np.newaxis])[:, 0]
        # Rows with and without the last targets have intervals of their own.
        other = model.estimator_.predict(X, lagged=not lagged)
        both = np.column_stack([found, other] if lagged else [other, found])
        return found, model._intervals.now(X, both)[:, 0 if lagged else 1]

    def predict_proba(self, block: Any, *, lagged: bool = True) -> Array:
        """Return the probabilities of `classes_`, (n, C), if the estimator has probabilities.

        `lagged` is as in `predict`.
        """
        model = self._ready()
        if not hasattr(model.estimator_, "predict_proba"):
            raise AttributeError(f"{type(model.estimator_).__name__} gives no probabilities")
        X = model.encoder_.transform(block)
        if not len(X):
            return np.empty((0, len(model.classes_)))
        return np.asarray(model.estimator_.predict_proba(X, **_options(model.estimator_, lagged)))

    def frozen_copy(self) -> Any:
        """Return a model that predicts as this one does now, while this one goes on learning.

        It is for readers in other threads. It has ended its warm-up, so it must not learn.

        >>> from parsimon import TableModel
        >>> model = TableModel("y").learn_one({"x": 1.0, "y": 2.0})
        >>> before = model.frozen_copy()
        >>> after = model.learn_one({"x": 1.0, "y": 8.0}).predict_one({"x": 1.0})
        >>> before.predict_one({"x": 1.0}), after > 2.0
        (2.0, True)
        """
        ready = self._ready()
        return copy.deepcopy(ready) if ready is self else ready

    def learn_one(self, row: Mapping[str, Any]) -> Self:
        """Learn one row: a dict with the features and the target. None is a missing value."""
        self.learn(_block(row))
        return self

    def predict_one(self, row: Mapping[str, Any]) -> Any:
        """Predict the target of one row, a dict with the features."""
        found = self.predict(_block(row))[0]
        return found.item() if hasattr(found, "item") else found

    def predict_proba_one(self, row: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class for one row, a dict with the features."""
        P = self.predict_proba(_block(row))[0]
        return dict(zip(self._ready().classes_.tolist(), P.tolist(), strict=True))


def _options(estimator: Any, lagged: bool) -> dict[str, bool]:
    return {"lagged": lagged} if isinstance(estimator, Mixture) else {}


def _block(row: Mapping[str, Any]) -> dict[str, list[Any]]:
    if not isinstance(row, Mapping):
        raise TableError(f"a row must be a dict of values by column, got {type(row).__name__}")
    return {name: [value] for name, value in row.items()}
