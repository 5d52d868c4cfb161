"""How far a model is from its last snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np

from parsimon.estimators.base import StreamEstimator
from parsimon.persistence.files import loads
from parsimon.preprocessing import TableError
from parsimon.serving.published import Published, plain
from parsimon.serving.rows import Row, block_of
from parsimon.tables import TableModel

__all__ = ["Drift"]


class Drift:
    """The distance of a model from its last snapshot, if there is one.

    - "predictions" compares predictions for recent rows. For numbers it is the root mean squared
      difference, in units of the standard deviation of their targets. For classes it is the share
      of rows whose class differs. Earlier targets are not used, because they have changed.
    - "rkhs" is the RKHS distance of the two functions, for models of a single estimator.
    """

    def __init__(self) -> None:
        self._name, self._snapshot = "", None

    def load(self, c: sqlite3.Connection, model: int) -> None:
        """Take the last snapshot of a model."""
        found = c.execute(
            "SELECT name, data FROM snapshots WHERE model = ? ORDER BY place DESC LIMIT 1", (model,)
        ).fetchone()
        self._name, self._snapshot = "", None
        if found is not None:
            snapshot: TableModel = loads(bytes(found[1]), "the snapshot")
            if snapshot.n_rows_:
                self._name, self._snapshot = found[0], snapshot.frozen_copy()

    def measure(self, published: Published, rows: Sequence[Row]) -> dict[str, Any] | None:
        """Return the drift for JSON, or None if it is not known."""
        now, before = published.model, self._snapshot
        if now is None or before is None or not rows or now.task_ != before.task_:
            return None
        found: dict[str, Any] = {"snapshot": self._name}
        try:
            found["predictions"] = _difference(now, before, rows)
            if isinstance(now.estimator_, StreamEstimator):
                found["rkhs"] = now.estimator_.distance(before.estimator_)
        except (TableError, TypeError, ValueError):  # they have other columns, or other kernels
            return None if len(found) == 1 else plain(found)
        shown: dict[str, Any] = plain(found)
        return shown


def _difference(now: TableModel, before: TableModel, rows: Sequence[Row]) -> float:
    block = block_of(rows, now.column_kinds_, now.target)
    f, g = (model.predict(block, lagged=False) for model in (now, before))
    if now.task_ == "classification":
        return float(np.mean(f != g))
    deviation = np.std(np.asarray(block[now.target], dtype=np.float64))
    return float(np.sqrt(np.mean(np.square(f - g))) / deviation) if deviation > 0.0 else np.nan
