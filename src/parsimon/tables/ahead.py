"""Features of rows that are not learned yet, for a thread that reads ahead.

The thread has a copy of the encoder. It encodes each block, and keeps the statistics of the encoder
every `STEP` rows. When the model learns rows of the block, its own encoder takes these statistics.
The model takes the features. Both have the same bits as if the model had encoded the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.preprocessing import Moments, TableEncoder
from parsimon.tables.warmup import rows_of

__all__ = ["EncodedBlock", "EncodedRows", "can_encode_ahead"]

Array = NDArray[np.float64]

#: Rows between statistics. At most this many rows are learned again at the end of a slice.
STEP = 2048


def can_encode_ahead(encoder: TableEncoder) -> bool:
    """Return whether `EncodedBlock` is for this encoder: it has no column of text."""
    return "text" not in encoder.columns_.values()


class EncodedBlock:
    """A block of rows that another encoder has learned.

    Parameters
    ----------
    encoder : a copy of the model's encoder, which has learned all rows before. It learns the block.
    block : the rows.
    """

    def __init__(self, encoder: TableEncoder, block: Any) -> None:
        self.columns = encoder.read(block)
        encoder.check(self.columns)
        self._first = encoder.n_rows_seen_  # rows that were learned before
        self.X = np.empty((block.num_rows, encoder.n_features_))
        self._statistics = [encoder.statistics]  # before each step, and at the end
        for at in range(0, len(self.X), STEP):
            rows = slice(at, at + STEP)
            self.X[rows] = encoder.learn_columns(rows_of(self.columns, rows))
            self._statistics.append(encoder.statistics)

    def rows(self, encoder: TableEncoder, at: int, n: int) -> EncodedRows | None:
        """Return rows `at` to `at + n`, or None if the model's encoder has not learned all before.

        The model may have left out bad rows. Then its statistics are not those of the copy.
        """
        same = encoder.n_rows_seen_ == self._first + at
        return EncodedRows(self, at, at + n) if same else None

    def statistics_before(self, row: int) -> tuple[int, tuple[int, Moments]]:
        """Return the last statistics up to a row, after the number of rows that they include."""
        last = len(self._statistics) - 1 if row == len(self.X) else row // STEP
        found = self._statistics[last]
        return found[0] - self._first, found


class EncodedRows:
    """Rows `at` to `end` of a block, with their columns."""

    def __init__(self, block: EncodedBlock, at: int, end: int) -> None:
        self._block, self._at, self._end = block, at, end
        self.columns = rows_of(block.columns, slice(at, end))

    def learn(self, encoder: TableEncoder) -> Array:
        """Let the model's encoder learn the rows, and return their features (n, d)."""
        known, statistics = self._block.statistics_before(self._end)
        if known > self._at:
            encoder.statistics = statistics
        left = slice(max(known, self._at), self._end)
        if left.start < left.stop:
            encoder.learn_columns(rows_of(self._block.columns, left))
        return self._block.X[self._at : self._end]
