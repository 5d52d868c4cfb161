"""Errors of regression over a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parsimon import _schema
from parsimon.evaluation.window import StreamMetrics, is_recent
from parsimon.preprocessing.moments import MOMENTS, Moments

__all__ = ["RegressionMetrics"]


class RegressionMetrics(StreamMetrics):
    """Errors of regression, in total and over the last `window` rows.

    `mse` is the mean squared error, `mae` the mean absolute error, and `r2` is R^2. `relative_mse`
    is the mean squared error divided by the variance of the targets, which is 1 - R^2. The first
    row of the stream is not scored, because no model can know anything about it.

    Parameters
    ----------
    window : int, default=1000
        The number of rows of the rolling metrics.

    Examples
    --------

    >>> metrics = RegressionMetrics().update([1.0, 2.0, 4.0], [0.0, 2.0, 3.0])
    >>> metrics.total()
    {'rows': 2, 'mse': 0.5, 'mae': 0.5, 'r2': 0.5, 'relative_mse': 0.5}
    """

    _moments: Moments
    _squared: float
    _absolute: float
    _attributes = _schema.Schema(
        {
            "n_rows_": _schema.whole(1),
            "_squared": _schema.number(0, infinite=True),
            "_absolute": _schema.number(0, infinite=True),
            "_moments": MOMENTS,
            "_recent": lambda recent: is_recent(recent, 3) and bool((recent[:2] >= 0).all()),
        },
        {},
    )

    def _require_sound(self) -> None:
        super()._require_sound()
        if hasattr(self, "n_rows_") and len(self._moments.count) != 1:
            raise ValueError("its running statistics are not those of one column")

    def update(self, y: ArrayLike, predictions: ArrayLike, *_: Any) -> RegressionMetrics:
        """Add the targets (n,) of a block and the predictions for them."""
        y, f = np.asarray(y, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
        if not len(y):
            return self
        if self._begin():
            self.n_rows_, self._squared, self._absolute = 0, 0.0, 0.0
            self._moments, self._recent = Moments(1), np.empty((3, 0))
            y, f, self.n_rows_ = y[1:], f[1:], 1
        error = y - f
        rows = np.array([error**2, np.abs(error), y])
        self._squared, self._absolute = (
            self._sum(self._squared, rows[0]),
            self._sum(self._absolute, rows[1]),
        )
        self._moments.add(y)
        self.n_rows_ += len(y)
        self._remember(rows)
        return self

    def total(self) -> dict[str, float]:
        """Return the metrics over all rows."""
        n = self.n_rows_ - 1 if hasattr(self, "n_rows_") else 0
        if n == 0:
            return _regression(0, 0.0, 0.0, 0.0)
        return _regression(
            n, self._squared / n, self._absolute / n, float(self._moments.now()[1][0, 0]) ** 2
        )

    def rolling(self) -> dict[str, float]:
        """Return the metrics over the last rows."""
        recent = getattr(self, "_recent", np.empty((3, 0)))
        if recent.shape[1] == 0:
            return _regression(0, 0.0, 0.0, 0.0)
        squared, absolute, y = recent
        return _regression(len(y), float(squared.mean()), float(absolute.mean()), float(y.var()))


def _regression(n: int, mse: float, mae: float, variance: float) -> dict[str, float]:
    relative = mse / variance if variance > 0 else np.nan
    mse, mae = (mse, mae) if n else (np.nan, np.nan)
    return {"rows": n, "mse": mse, "mae": mae, "r2": 1.0 - relative, "relative_mse": relative}
