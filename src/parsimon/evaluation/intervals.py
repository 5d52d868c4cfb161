"""How many targets intervals cover, and how wide they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parsimon import _schema
from parsimon.evaluation.window import StreamMetrics, is_recent

__all__ = ["IntervalMetrics"]


def _is_recent(value: Any) -> bool:
    return is_recent(value, 2) and bool(np.isin(value[0], (0, 1)).all() and (value[1] >= 0).all())


class IntervalMetrics(StreamMetrics):
    """Coverage and mean width of intervals, in total and over the last `window` rows.

    `coverage` is the share of targets within their intervals. Intervals that are not finite are not
    scored: nothing was known about their rows.

    Parameters
    ----------
    window : int, default=1000
        The number of rows of the rolling metrics.

    Examples
    --------
    >>> metrics = IntervalMetrics().update([1.0, 2.0], [[0.0, 3.0], [2.5, 3.5]])
    >>> metrics.total()
    {'coverage': 0.5, 'width': 2.0}
    """

    _covered: float
    _width: float
    _attributes = _schema.Schema(
        {
            "n_rows_": _schema.whole(1),
            "_covered": _schema.number(0),
            "_width": _schema.number(0, infinite=True),
            "_recent": _is_recent,
        },
        {},
    )

    def update(self, y: ArrayLike, intervals: ArrayLike) -> IntervalMetrics:
        """Add the targets (n,) of a block and the intervals (n, 2) for them."""
        targets = np.asarray(y, dtype=np.float64)
        low, high = np.asarray(intervals, dtype=np.float64).reshape(-1, 2).T
        finite = np.isfinite(low) & np.isfinite(high)
        if self._begin():
            if not finite.any():
                return self
            self.n_rows_, self._covered, self._width = 0, 0.0, 0.0
            self._recent = np.empty((2, 0))
        rows = np.array([(low <= targets) & (targets <= high), high - low], dtype=np.float64)
        rows = rows[:, finite]
        self._covered = self._sum(self._covered, rows[0])
        self._width = self._sum(self._width, rows[1])
        self.n_rows_ += rows.shape[1]
        self._remember(rows)
        return self

    def total(self) -> dict[str, float]:
        """Return the metrics over all rows."""
        n = getattr(self, "n_rows_", 0)
        if n == 0:
            return {"coverage": np.nan, "width": np.nan}
        return {"coverage": self._covered / n, "width": self._width / n}

    def rolling(self) -> dict[str, float]:
        """Return the metrics over the last rows."""
        if not hasattr(self, "n_rows_"):
            return self.total()
        covered, width = self._recent.mean(axis=1).tolist()
        return {"coverage": covered, "width": width}

    def _require_sound(self) -> None:
        if hasattr(self, "n_rows_"):
            if self._recent.shape[1] != min(self.n_rows_, self.window):
                raise ValueError(f"it does not hold the last of {self.n_rows_} rows")
            if self._covered > self.n_rows_:
                raise ValueError("it covers more rows than it has")
