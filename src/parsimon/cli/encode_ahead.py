"""Encode blocks in the thread that reads them, while the model learns earlier ones."""

from __future__ import annotations

import copy
from typing import Any

from parsimon.cli.reading import Block
from parsimon.preprocessing import TableEncoder, TableError
from parsimon.tables import EncodedBlock, TableModel, can_encode_ahead

__all__ = ["EncodeAhead"]

#: Blocks that are kept until the thread has an encoder. At most four are between the two threads.
BETWEEN = 5


class EncodeAhead:
    """What the reading thread does with each block. Rows are counted as the encoder counts them.

    The thread gets a copy of the model's encoder once there is one. The copy first learns the rows
    that the thread has read after those of the copy. A block that cannot be encoded ends the
    encoding, and so does a row that the model leaves out: from then on the model encodes all rows.
    Until the end is noticed, `EncodedBlock.rows` refuses what the copy has encoded, because it has
    seen another number of rows.
    """

    def __init__(self, model: TableModel) -> None:
        self._model, self._rows = model, model.n_rows_
        self._given: TableEncoder | None = None  # by the main thread
        self._encoder: TableEncoder | None = None  # of the reading thread
        self._between: list[tuple[int, Any]] = []  # the last blocks, until there is an encoder
        self._ended = False

    def begin(self) -> None:
        """Give the thread an encoder, if there is one. The main thread calls this."""
        if self._given is None and not self._ended and hasattr(self._model, "encoder_"):
            self._ended = not can_encode_ahead(self._model.encoder_)
            self._given = None if self._ended else copy.deepcopy(self._model.encoder_)

    def end_if_refused(self, block: Block, at: int) -> None:
        """End the encoding if the model cannot use a block from row `at` on. See `begin`."""
        encoder = getattr(self._model, "encoder_", None)
        if block.encoded is None or encoder is None:
            return
        if block.encoded.rows(encoder, at, 0) is None:
            self._ended = True

    def __call__(self, block: Block) -> Block:
        """Return a block with its rows encoded, if that is possible. The thread calls this."""
        first, table = self._rows, block.table
        self._rows += table.num_rows
        if self._ended:
            self._between = []
            return block
        try:
            if self._encoder is None and not self._catch_up():
                self._between = [*self._between, (first, table)][-BETWEEN:]
                return block
            assert self._encoder is not None
            if self._encoder.n_rows_seen_ == first:
                return block._replace(encoded=EncodedBlock(self._encoder, table))
        except (TableError, ValueError):
            pass
        self._ended = True
        return block

    def _catch_up(self) -> bool:
        """Let the copy learn the blocks that were kept, and return whether there is a copy."""
        encoder = self._given
        if encoder is None:
            return False
        for first, table in self._between:
            known = encoder.n_rows_seen_ - first
            if 0 <= known < table.num_rows:
                encoder.learn_transform(table.slice(known))
        self._encoder, self._between = encoder, []
        return True
