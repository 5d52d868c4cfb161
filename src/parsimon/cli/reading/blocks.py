"""Blocks of rows, as readers give them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "Dialect", "Part"]


class Dialect(NamedTuple):
    """How a CSV file is written: its separator and its decimal mark."""

    delimiter: str = ","
    decimal: str = "."


class Part(NamedTuple):
    """Rows as a reader of one format gives them.

    Attributes
    ----------
    table : the rows that can be used.
    written : the same rows as they were written, or None.
    rows : how many rows of the data these were, bad ones included.
    numbers : which of them are in the table, (n,); None if all are.
    """

    table: Any
    written: Any
    rows: int
    numbers: NDArray[np.int64] | None = None


class Block(NamedTuple):
    """Rows of the data.

    Attributes
    ----------
    table : the rows.
    first : the number of the first row in the data, from 0.
    written : the same rows as they were written, or None.
    span : where the rows begin and end, as fractions of the data; None if unknown.
    numbers : the number of each row, (n,); None if no row was skipped.
    encoded : the rows as a model will learn them, if they are encoded already.
    """

    table: Any
    first: int
    written: Any
    span: tuple[float, float] | None = None
    numbers: NDArray[np.int64] | None = None
    encoded: Any = None

    def number(self, row: int) -> int:
        """Return the number in the data of a row of the table."""
        return self.first + row if self.numbers is None else int(self.numbers[row])

    def all_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of all rows, (n,)."""
        if self.numbers is not None:
            return self.numbers
        return np.arange(self.first, self.first + self.table.num_rows)

    def slice(self, at: int, n: int | None = None) -> Block:
        """Return `n` rows from row `at` on; None is all of them."""
        rows = self.table.num_rows
        end = rows if n is None else min(at + n, rows)
        written = None if self.written is None else self.written.slice(at, end - at)
        numbers = None if self.numbers is None else self.numbers[at:end]
        first = self.number(at) if at < rows else self.first + at
        span = self.span
        if span is not None and rows:
            begin, share = span[0], (span[1] - span[0]) / rows
            span = begin + share * at, span[1] if end == rows else begin + share * end
        return Block(self.table.slice(at, end - at), first, written, span, numbers)
