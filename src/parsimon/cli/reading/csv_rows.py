"""Read CSV: the separator, the header, the decimal mark, and the rows."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.csv

from parsimon.cli.errors import Failure
from parsimon.cli.reading import guesses
from parsimon.cli.reading.bad_rows import BadRows
from parsimon.cli.reading.blocks import Dialect, Part
from parsimon.cli.reading.byte_stream import ByteStream
from parsimon.cli.reading.column_types import ColumnTypes
from parsimon.cli.reading.row_errors import CONVERT, csv_failure
from parsimon.cli.reading.text_reader import TextReader, require_few_columns
from parsimon.cli.reading.text_rows import first_row_end, read_good_rows, split_rows

__all__ = ["CsvReader"]


class CsvReader(TextReader):
    """Reads CSV.

    Parameters
    ----------
    delimiter : the separator; None finds it in the header.
    decimal : the decimal mark; None finds it in the first block.
    notes : the list that gets notes for the user.
    """

    quoted = True

    def __init__(
        self,
        stream: ByteStream,
        columns: ColumnTypes,
        bad_rows: BadRows,
        *,
        copies: bool,
        delimiter: str | None,
        decimal: str | None,
        notes: list[str],
    ) -> None:
        super().__init__(stream, columns, bad_rows, copies=copies)
        self.delimiter, self.decimal, self._notes = delimiter, decimal, notes

    @property
    def dialect(self) -> Dialect:
        """How the data is written."""
        return Dialect(self.delimiter or ",", self.decimal or ".")

    def parts(self) -> Iterator[Part]:
        """Yield the rows."""
        first = 0
        for piece in self.stream.pieces(quoted=True):
            if not self.names:
                piece = piece.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
                end = first_row_end(piece)
                self._read_header(piece[:end])
                piece = piece[end:]
            if piece[:1] in (b"", b"\r", b"\n") and not piece.strip(b"\r\n"):
                continue
            table = None if self.columns.types else self._settle(piece, first)
            if table is None:
                part = self.read_part(piece, partial(self._read, types=self.columns.types), first)
            else:
                part = Part(table, None, table.num_rows)
            if self.copies:
                part = part._replace(written=self._read_verbatim(piece, first))
            yield part
            first += part.rows

    def _read_header(self, line: bytes) -> None:
        try:
            text = line.decode().strip("\r\n")
        except UnicodeDecodeError:
            raise Failure(f"{self.path}: the header is not UTF-8 text: {CONVERT}") from None
        if "\r" in text:
            raise Failure(
                f"{self.path}: its lines end in CR alone, as in old Macintosh files: "
                "convert them to LF, for example with tr '\\r' '\\n'"
            )
        if self.delimiter is None:
            self.delimiter = max(",;\t|", key=text.count)  # the comma, if there is none of them
        require_few_columns(text.count(self.delimiter) + 1, self.path)
        self.names = next(csv.reader([text], delimiter=self.delimiter), [])
        if not any(self.names):
            raise Failure(f"{self.path}: there is no header with the names of the columns")
        twice = next((name for name, n in Counter(self.names).items() if n > 1), None)
        if twice is not None:
            raise Failure(f"{self.path}: the header has column {twice!r} more than once")

    def _read(
        self,
        piece: bytes,
        first: int,
        *,
        types: Mapping[str, Any],
        verbatim: bool = False,
        decimal: str | None = None,
    ) -> Any:
        """Read rows with the given types. `verbatim` keeps texts such as NA."""
        decimal = decimal or self.decimal or "."
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(piece),
                pa.csv.ReadOptions(
                    column_names=self.names, use_threads=False, block_size=len(piece) + 1
                ),
                pa.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=b'"' in piece),
                pa.csv.ConvertOptions(
                    column_types=types, strings_can_be_null=not verbatim, decimal_point=decimal
                ),
            )
        except pa.ArrowInvalid as error:
            raise csv_failure(str(error), self.names, first, decimal, self.path) from None
        return table if verbatim or not types else self.columns.read_dates(table, first)

    def _read_verbatim(self, piece: bytes, first: int) -> Any:
        texts = dict.fromkeys(self.names, pa.string())
        return self._read(piece, first, types=texts, verbatim=True)

    def _settle(self, piece: bytes, first: int) -> Any:
        """Find the decimal mark and the types of the columns from the first block.

        Return the rows, if all columns are numbers with these types. Else return None.
        """
        readable = self._readable_rows(piece, first)
        table = self._read(readable, first, types={})
        if self.decimal is None:
            self.decimal = "."
            if self._has_decimal_commas(readable, table, first):
                self.decimal = ","
                table = self._read(readable, first, types={})
        types = dict(zip(self.names, table.schema.types, strict=True))
        self.columns.settle(types, table.column, "csv", self.decimal)
        numbers = all(pa.types.is_float64(kind) for kind in types.values())
        return table if readable is piece and numbers and self.columns.types == types else None

    def _readable_rows(self, piece: bytes, first: int) -> bytes:
        """Return the rows that can be read as text; all rows if bad ones are errors."""
        if not self.bad_rows.may_skip(first):
            return piece
        try:
            self._read_verbatim(piece, first)
            return piece
        except Failure:
            rows = split_rows(piece, quoted=True)
        kept: list[bytes] = []
        for some, found in read_good_rows(rows, self._read_verbatim, first):
            kept += some if not isinstance(found, Failure) else []
        if not kept:
            raise Failure(f"{self.path}: none of the first {len(rows):,} rows can be read")
        return b"".join(kept)

    def _has_decimal_commas(self, piece: bytes, table: Any, first: int) -> bool:
        """Return whether the file has decimal commas and no decimal points, and add a note."""
        if self.delimiter == ",":
            return False
        texts = [f.name for f in table.schema if pa.types.is_string(f.type)]
        found = [
            name
            for name in texts
            if not self.columns.is_unused(name)
            and self.columns.kinds.get(name, "number") == "number"
            and guesses.comma_numbers(table.column(name)) == "decimal"
        ]
        if not found:
            return False
        other = self._read(piece, first, types={}, decimal=",")
        for with_point, with_comma in zip(table.schema, other.schema, strict=True):
            point, comma = (pa.types.is_floating(f.type) for f in (with_point, with_comma))
            if point and not comma:
                return False
        value, more = guesses.first_with_comma(table.column(found[0])), len(found) - 1
        shown = f"column {found[0]!r} has"
        if more:
            shown = f"columns {found[0]!r} and {more:,} more have"
        self._notes.append(
            f"{shown} decimal commas, as in {value!r}: read as numbers; --decimal . reads text"
        )
        return True
