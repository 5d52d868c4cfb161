"""What the readers of CSV and JSON lines share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from parsimon.cli.errors import Failure
from parsimon.cli.reading import limits
from parsimon.cli.reading.bad_rows import BadRows
from parsimon.cli.reading.blocks import Dialect, Part
from parsimon.cli.reading.byte_stream import ByteStream
from parsimon.cli.reading.column_types import ColumnTypes
from parsimon.cli.reading.text_rows import read_good_rows, split_rows

__all__ = ["ReadPiece", "TextReader", "require_few_columns"]

#: Reads rows of text, given the number of the first row.
ReadPiece = Callable[[bytes, int], pa.Table]


def require_few_columns(n: int, path: str) -> None:
    """Fail if a table has too many columns."""
    if n > limits.COLUMNS:
        raise Failure(f"{path} has more than {limits.COLUMNS:,} columns, which is the most")


class TextReader:
    """A reader of text.

    Parameters
    ----------
    stream : the bytes.
    columns : the types of the columns.
    bad_rows : what to do with rows that cannot be read.
    copies : also give the rows as they are written, to copy them.

    Attributes
    ----------
    names : the names of the columns, after the first block.
    """

    quoted = False

    def __init__(
        self, stream: ByteStream, columns: ColumnTypes, bad_rows: BadRows, *, copies: bool
    ) -> None:
        self.stream, self.columns, self.bad_rows = stream, columns, bad_rows
        self.path, self.copies = stream.path, copies
        self.names: list[str] = []

    @property
    def dialect(self) -> Dialect:
        """How a copy of the data is written as CSV."""
        return Dialect()

    def fraction(self) -> float | None:
        """Return the fraction of the data that was given so far, or None if unknown."""
        return self.stream.fraction()

    def read_part(self, piece: bytes, read: ReadPiece, first: int) -> Part:
        """Read rows of text, without bad ones if these are skipped."""
        try:
            table = read(piece, first)
            return Part(table, None, table.num_rows)
        except Failure:
            if not self.bad_rows.may_skip(first):
                raise
        tables, numbers, n = [self.columns.empty_table()], [np.empty(0, np.int64)], 0
        for _, found in read_good_rows(split_rows(piece, quoted=self.quoted), read, first):
            if isinstance(found, Failure):
                self.bad_rows.refuse(first + n, found)
                n += 1
            else:
                tables.append(found)
                numbers.append(np.arange(n, n + found.num_rows))
                n += found.num_rows
        return Part(pa.concat_tables(tables), None, n, np.concatenate(numbers))
