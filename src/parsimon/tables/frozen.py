"""A table model that does not learn, for many predictions of a few rows."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.conformal import Intervals
from parsimon.estimators.regressor import StreamRegressor
from parsimon.mixtures.frozen import FrozenRegressor, frozen
from parsimon.preprocessing.few_rows import FewRows
from parsimon.tables.model import TableModel

__all__ = ["FrozenTable"]

Array = NDArray[np.float64]

#: Up to this number of rows, predicting row by row is faster than predicting a block.
FEW = 32
#: With a larger clip, features could be too large for the model.
LARGEST_CLIP = 1e6


class FrozenTable:
    """A `TableModel` for predictions only. A single row takes a tenth of the time.

    Predictions have the same bits as those of the model. Blocks that are not small, values of
    other types than those of JSON, and invalid values are left to the model.

    Parameters
    ----------
    model : TableModel
        A model that has learned. It is not copied, and must not learn from then on.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=300)
    >>> model = TableModel("y").learn_one({"x": 0.5, "y": 1.0})
    >>> before = model.learn({"x": x, "y": x * x})
    >>> row = {"x": [0.3]}
    >>> bool(FrozenTable(model).predict(row)[0] == model.predict(row)[0])
    True
    """

    def __init__(self, model: TableModel) -> None:
        self.model = model
        ready = model.frozen_copy() if not hasattr(model, "encoder_") else model
        # The mean and the deviation of the targets, by which predictions are scaled back
        self._unit = None
        if ready.task_ == "regression":
            self._unit = ready.scaler_.mean_, ready.scaler_.scale_
        self._rows = FewRows(ready.encoder_) if ready.encoder_.clip <= LARGEST_CLIP else None
        self._predictor = frozen(ready.estimator_)
        if self._predictor is None and isinstance(ready.estimator_, StreamRegressor):
            self._predictor = _Single(ready.estimator_)
        intervals: Intervals | None = getattr(ready, "_intervals", None)
        self._intervals = None if intervals is None else _frozen_intervals(intervals)

    def predict(self, block: dict[str, Any], *, return_intervals: bool = False) -> Any:
        """Return predictions (n,) for a block of lists, and intervals (n, 2) if asked for."""
        X = self._features(block)
        if X is None or (return_intervals and self._intervals is None):
            return self.model.predict(block, return_intervals=return_intervals)
        if return_intervals and isinstance(self._predictor, FrozenRegressor):
            assert self._intervals is not None
            found, other = self._predictor.predict_both(X)
            found = self._scaled_back(found)
            both = np.column_stack([found, other])
            return found, self._intervals.now(X, both)[:, 0]
        found = self._scaled_back(self._predictor.predict(X))
        if not return_intervals:
            return found
        assert self._intervals is not None
        return found, self._intervals.now(X, found[:, np.newaxis])[:, 0]

    def predict_proba(self, block: dict[str, Any]) -> Array:
        """Return the probabilities of the classes (n, C) for a block of lists."""
        X = self._features(block)
        if X is None or not hasattr(self._predictor, "predict_proba"):
            return self.model.predict_proba(block)
        found: Array = self._predictor.predict_proba(X)
        return found

    def _features(self, block: dict[str, Any]) -> Array | None:
        """Return the features of a block, or None if the model must predict it."""
        if self._rows is None or self._predictor is None:
            return None
        n = len(next(iter(block.values()), ()))
        return self._rows.transform(block) if 0 < n <= FEW else None

    def _scaled_back(self, found: Any) -> Any:
        return found if self._unit is None else self._unit[0] + self._unit[1] * found


class _Single:
    """An estimator over one learner, without the checks of scikit-learn."""

    def __init__(self, estimator: StreamRegressor) -> None:
        self.predict = estimator.predict_checked


def _frozen_intervals(intervals: Intervals) -> Intervals:
    """Return intervals for predictions only."""
    spread = intervals.spread
    model = None if spread is None or spread.mean is None else frozen(spread.model)
    if spread is None or model is None:
        return intervals
    found = copy.copy(intervals)
    found.spread = copy.copy(spread)
    found.spread.model = model
    return found
