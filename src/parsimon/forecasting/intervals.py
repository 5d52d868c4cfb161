"""Intervals of forecasts, one width per step of the horizon."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon import _schema
from parsimon.conformal.calibrator import Calibrator, calibrators
from parsimon.forecasting.history import Array

__all__ = ["StepIntervals"]

#: The number of scores that each step keeps, and the step of the level.
WINDOW, RATE = 500, 0.005


class StepIntervals:
    """Widths of intervals for H steps, each by adaptive conformal inference.

    The score of a forecast f of y is |y - f| / s, where s is its scale. Each step has a
    `parsimon.conformal.Calibrator` of its own. If s = 0, there is no score, and the width is 0.

    >>> intervals = StepIntervals(2, 0.9)
    >>> errors = np.random.default_rng(0).normal(size=(2000, 2)) * [1.0, 3.0]
    >>> intervals.learn(errors, np.ones((2000, 2)))
    >>> intervals.widths(np.ones(2)).round()
    array([2., 5.])
    """

    def __init__(self, horizon: int, coverage: float) -> None:
        self.coverage = coverage
        self.each = [Calibrator(coverage, WINDOW, RATE) for _ in range(horizon)]

    def learn(self, errors: Array, scales: Array) -> None:
        """Learn errors (n, H) of forecasts with scales (n, H), in order. NaN is left out."""
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = np.where(scales > 0.0, np.abs(errors) / scales, np.nan)
        for step, calibrator in enumerate(self.each):
            calibrator.run(scores[:, step])

    def widths(self, scales: Array) -> Array:
        """Return half the width of each interval for scales (H,), NaN if it is not known yet."""
        found = np.array([calibrator.width for calibrator in self.each])
        widths = np.where(np.isfinite(found), found, np.nan) * scales
        return np.where(scales == 0.0, 0.0, widths)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(calibrator.state.nbytes for calibrator in self.each)

    def state(self) -> Array:
        """Return the states of the calibrators, one row per step."""
        return np.stack([calibrator.state for calibrator in self.each])

    @classmethod
    def restored(cls, state: Any, horizon: int, coverage: float) -> StepIntervals:
        """Return the intervals with this state, or raise a ValueError."""
        if not _schema.finite_array(horizon, None)(state):
            raise ValueError("its scores are not sound")
        intervals = cls(horizon, coverage)
        rows = [np.ascontiguousarray(row, dtype=np.float64) for row in state]
        intervals.each = calibrators(rows, coverage, WINDOW, RATE)
        return intervals
