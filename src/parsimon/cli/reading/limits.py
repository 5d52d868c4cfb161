"""Bounds on sizes, which are checked before data is unpacked.

A small file can hold a very large table. All code reads the bounds from this module.
"""

from __future__ import annotations

__all__ = ["TooLarge"]

#: Bytes of text in the first block, which decides the types of the columns.
TEXT_BLOCK = 1 << 21
#: Later blocks of text are this many times as large: each has a cost that does not depend on its
#: size.
LATER_BLOCKS = 2
#: Rows that decide the types of a stream that is followed.
FIRST_ROWS = 200
#: Values of JSON lines that are read at a time, missing ones included.
JSON_CELLS = 1 << 22
#: The deepest nesting of a JSON value.
JSON_DEPTH = 64
#: The most columns of a table.
COLUMNS = 100_000
#: The most features that the columns can become.
FEATURES = 1 << 17
#: The most bytes of one row or value, as text or decoded.
ROW_BYTES = 1 << 26
#: Decoded bytes of Parquet and Arrow in one block, unless a single row has more.
BLOCK_BYTES = 1 << 24
#: Rows of Parquet and Arrow in one block.
BLOCK_ROWS = 8192
#: The most bytes of one page of Parquet, unpacked.
PAGE_BYTES = 1 << 27
#: The most bytes of the Parquet pages that are held at once, one for each column.
HELD_PAGE_BYTES = 1 << 30
#: The most values of a nested column in one row group of Parquet.
NESTED_VALUES = 1 << 26
#: The most bytes of one batch of Arrow, unpacked.
BATCH_BYTES = 1 << 30
#: The most bytes of a compressed Parquet or Arrow file, unpacked into a temporary file.
UNPACKED_BYTES = 1 << 30


class TooLarge(Exception):
    """Raised for data above a bound.

    The message names the bound. `row` is the row in the block, from 0, or None if unknown.
    """

    def __init__(self, what: str, row: int | None = None) -> None:
        super().__init__(what)
        self.row = row
