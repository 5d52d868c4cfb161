"""The last rows that a model has learned, with what it predicted for them."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from parsimon.cli.intervals import percent
from parsimon.plots.learning import LastRows
from parsimon.preprocessing import read_table
from parsimon.tables import TableModel

__all__ = ["Kept"]

#: The most rows that are kept.
MOST_ROWS = 200


class Kept:
    """What came and what was predicted, for the last rows of a stream."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Any, Any]] = deque(maxlen=MOST_ROWS)
        self._intervals: deque[list[float]] = deque(maxlen=MOST_ROWS)

    def add(self, model: TableModel, rows: Any, predictions: Any, intervals: Any = None) -> None:
        """Keep the last of some rows that the model has just learned.

        The very first row of a stream is not kept, because nothing can be predicted for it.
        """
        n = min(len(predictions), MOST_ROWS, model.n_rows_ - 1)
        if n <= 0:
            return
        target = read_table(rows.slice(len(predictions) - n, n), [model.target])[model.target]
        came = target.values.tolist()
        if target.kind == "text":
            came = [target.categories[int(code)] for code in came]
        self._pairs.extend(zip(came, predictions[-n:].tolist(), strict=True))
        if intervals is not None:
            self._intervals.extend(intervals[-n:].tolist())

    def last_rows(self, model: TableModel) -> LastRows:
        """Return the rows as they are drawn."""
        last, pairs = model.n_rows_, list(self._pairs)
        if model.task_ == "regression":
            numbers = np.array(pairs, dtype=np.float64).reshape(-1, 2)
            drawn = LastRows(last, numbers[:, 0], numbers[:, 1])
            if model.intervals is None:
                return drawn
            ends = np.array(self._intervals, dtype=np.float64).reshape(-1, 2)
            return drawn._replace(intervals=ends, interval=f"for {percent(model.intervals)}")
        # A label is text, a whole number or a boolean. The target 1.0 is equal to the label 1.
        met = {label for pair in pairs for label in pair}
        labels = [label for label in model.classes_.tolist() if label in met]
        places = {label: i for i, label in enumerate(labels)}
        found = np.array([[places[label] for label in pair] for pair in pairs]).reshape(-1, 2)
        return LastRows(last, found[:, 0], found[:, 1], [str(label) for label in labels])
