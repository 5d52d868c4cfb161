"""Totals over a stream and over its last rows: the part that all metrics share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from parsimon import _core
from parsimon._parts import whole
from parsimon.persistence import Storable
from parsimon.preprocessing.moments import with_moments, with_plain_moments

__all__ = ["StreamMetrics", "is_recent"]

Array = NDArray[np.float64]
Labels = NDArray[Any]


class StreamMetrics(Storable, BaseEstimator):  # type: ignore[misc]
    """Totals over a stream and over its last `window` rows.

    The very first row is not scored, because no model can know anything about it.
    """

    n_rows_: int
    _recent: Array  # (k, up to window): the contributions of the last rows

    def __init__(self, window: int = 1000) -> None:
        self.window = window

    def _begin(self) -> bool:
        """Check the parameters, and return whether this is the first block."""
        whole("window", self.window, at_least=1)
        return not hasattr(self, "n_rows_")

    def _remember(self, rows: Array) -> None:
        if rows.shape[1] < self.window:
            rows = np.concatenate([self._recent, rows], axis=1)
        # A copy, so that a large block is not held for its last rows.
        self._recent = rows[:, -self.window :].copy()

    @staticmethod
    def _sum(start: float, values: Array) -> float:
        """Return a sum in the order of the rows, so that it does not depend on the blocks."""
        return _core.sum_in_order(start, np.ascontiguousarray(values))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that a file keeps."""
        return with_plain_moments(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        super().__setstate__(with_moments(state))

    def _require_sound(self) -> None:
        if hasattr(self, "n_rows_"):
            whole("window", self.window, at_least=1)
            if self._recent.shape[1] >= self.n_rows_:
                raise ValueError(f"it holds {self._recent.shape[1]} of {self.n_rows_ - 1} rows")


def is_recent(value: Any, k: int) -> bool:
    """Return whether a value can be the contributions (k, rows) of the last rows to k sums."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim == 2
        and len(value) == k
    )
