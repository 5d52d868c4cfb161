"""A source of rows: a file or standard input, of any format that can be read."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from parsimon.cli.errors import Failure
from parsimon.cli.reading import guesses
from parsimon.cli.reading.bad_rows import BadRows
from parsimon.cli.reading.binary_rows import ArrowReader, ParquetReader
from parsimon.cli.reading.blocks import Block, Dialect, Part
from parsimon.cli.reading.byte_stream import PAUSE, ByteStream, errors_name, named
from parsimon.cli.reading.column_types import ColumnTypes
from parsimon.cli.reading.csv_rows import CsvReader
from parsimon.cli.reading.file_kinds import why_unreadable
from parsimon.cli.reading.json_rows import JsonReader
from parsimon.cli.words import plural

__all__ = ["Source"]


class Source:
    """The rows of a file, or of standard input (``-``).

    Parameters
    ----------
    path : the file.
    kinds : kinds of the columns that a model knows. Other columns are not used.
    unused : further columns that are not used.
    delimiter : the separator of a CSV. Default: found in the header.
    follow : give rows as they come, and wait for more at the end of a file.
    written : also give the rows as they are written, to copy them.
    stopped : returns whether to stop waiting for rows.
    decimal : the decimal mark of a CSV. Default: found in the first block.
    date_formats : formats of dates besides ISO 8601, as for `strptime`.
    bad_rows : "error" raises an error for a row that cannot be read, "skip" leaves it out.
    bad_before : rows before this one are skipped if they are bad, whatever `bad_rows` is.

    Attributes
    ----------
    format : "csv", "json", "parquet" or "arrow".
    rows : how many rows were read, bad ones included.
    columns : the names of all columns, after the first block.
    decimal : the decimal mark, after the first block.
    notes : what the user should know, until it is printed.
    doubts : what to say about columns of text that look like numbers.
    """

    def __init__(
        self,
        path: str,
        *,
        kinds: Mapping[str, str] | None = None,
        unused: Collection[str] = (),
        delimiter: str | None = None,
        follow: bool = False,
        written: bool = False,
        stopped: Callable[[], bool] = lambda: False,
        decimal: str | None = None,
        date_formats: Sequence[str] = (),
        bad_rows: str = "error",
        bad_before: int = 0,
    ) -> None:
        if delimiter is not None and len(delimiter) != 1:
            raise Failure(f"--delimiter must be one character, got {delimiter!r}")
        if decimal not in (None, ".", ","):
            raise Failure(f"--decimal must be '.' or ',', got {decimal!r}")
        for form in date_formats:
            guesses.require_date_format(form)
        self.path, self.follow, self._asked_to_stop = named(path), follow, stopped
        self.notes: list[str] = []
        self.rows = 0
        self._bad_rows = BadRows(bad_rows, bad_before, self.notes)
        self._columns = ColumnTypes(kinds, unused, date_formats, self._bad_rows.skips, self.notes)
        self._closed = threading.Event()
        self._stream = ByteStream(path, follow=follow, stopped=self.stopped)
        try:
            self.format = self._find_format()
        except BaseException:
            self.close()
            raise
        self._reader = self._make_reader(written, delimiter, decimal)

    def _find_format(self) -> str:
        start = self._stream.start
        if what := why_unreadable(start):
            raise Failure(f"{self.path} {what}")
        found = _format_name(start)
        if found in ("parquet", "arrow") and self.follow:
            raise Failure(f"{self.path} is not text: --follow is for CSV and JSON lines")
        return found

    def _make_reader(self, copies: bool, delimiter: str | None, decimal: str | None) -> Any:
        stream, columns, bad_rows = self._stream, self._columns, self._bad_rows
        if self.format == "csv":
            return CsvReader(
                stream,
                columns,
                bad_rows,
                copies=copies,
                delimiter=delimiter,
                decimal=decimal,
                notes=self.notes,
            )
        if self.format == "json":
            reader = JsonReader(stream, columns, bad_rows, copies=copies)
            reader.decimal = decimal
            return reader
        make = ParquetReader if self.format == "parquet" else ArrowReader
        binary = make(stream, columns, copies=copies)
        binary.decimal = decimal
        return binary

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._stream.close()

    @property
    def columns(self) -> list[str]:
        """The names of all columns, after the first block."""
        names: list[str] = self._reader.names
        return names

    @property
    def decimal(self) -> str | None:
        """The decimal mark: as asked for, or as found in the first block of a CSV."""
        mark: str | None = self._reader.decimal
        return mark

    @property
    def date_formats(self) -> list[str]:
        """The formats of dates that were asked for."""
        return self._columns.date_formats

    @property
    def doubts(self) -> dict[str, str]:
        """What to say about columns of text that look like numbers."""
        return self._columns.doubts

    @property
    def dialect(self) -> Dialect:
        """How a copy of the data is written as CSV, after the first block."""
        found: Dialect = self._reader.dialect
        return found

    @property
    def rows_remain(self) -> bool:
        """Whether rows can be read again later: those of a file can, those of a pipe cannot."""
        return self._stream.is_file

    def stopped(self) -> bool:
        """Return whether no more rows are wanted."""
        return self._closed.is_set() or self._asked_to_stop()

    def blocks(self, skip: int = 0) -> Iterator[Block]:
        """Yield the rows after the first `skip`, in blocks. Bad rows count."""
        self._bad_rows.resumed_at = skip
        end = 0.0
        for part in self._parts():
            first = self.rows
            begin, now = end, self._reader.fraction()
            end = now or 0.0
            self.rows += part.rows
            block = _block_after(part, first, skip)
            if block is not None:
                span = None if now is None else (begin, now)
                start = block.table.num_rows - _rows_after(block, skip)
                yield block._replace(span=span).slice(start)
        if self.rows < skip and not self.stopped():
            raise Failure(
                f"{self.path} has {plural(self.rows, 'row')}, but the model has learned {skip:,}: "
                "is it the same data? (--new-rows if it has further rows only)"
            )

    def _parts(self) -> Iterator[Part]:
        parts = self._reader.parts()
        while True:
            with errors_name(self.path):
                part = next(parts, None)
            if part is None:
                return
            yield part

    def ahead(
        self,
        skip: int = 0,
        waiting: Callable[[], Any] = lambda: None,
        prepared: Callable[[Block], Block] = lambda block: block,
    ) -> Iterator[Block]:
        """Yield the same blocks as `blocks`, read by a thread while earlier ones are used.

        `waiting` is called now and then while no block is ready. `prepared` is called in the thread
        for each block, and what it returns is given in its place.
        """
        ready: queue.Queue[Any] = queue.Queue(maxsize=2)

        def read() -> None:
            try:
                for block in self.blocks(skip):
                    ready.put(prepared(block))
                    if self._closed.is_set():
                        return
                ready.put(None)
            except BaseException as error:  # raised again in the thread that waits
                ready.put(error)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        try:
            while True:
                try:
                    found = ready.get(timeout=PAUSE)
                except queue.Empty:
                    waiting()
                    continue
                if found is None:
                    return
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            self._closed.set()
            while thread.is_alive():
                with contextlib.suppress(queue.Empty):  # the thread may wait for space
                    ready.get_nowait()
                thread.join(PAUSE)

    def print_notes(self) -> None:
        """Print the notes since the last time on standard error."""
        while self.notes:
            print(f"parsimon: note: {self.notes.pop(0)}", file=sys.stderr)

    def refuse(self, row: int, error: Failure) -> None:
        """Skip a bad row, or raise its error."""
        self._bad_rows.refuse(row, error)

    def require_clear_target(self, name: str) -> None:
        """Fail if the target is text that looks like numbers."""
        if name in self.doubts:
            raise Failure(f"{self.doubts[name]}; --task classification takes them for labels")


def _format_name(start: bytes) -> str:
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if start.startswith(b"["):
        raise Failure("a JSON array cannot be read in blocks: write one object per line")
    return "json" if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else "csv"


def _block_after(part: Part, first: int, skip: int) -> Block | None:
    """Return a part as a block, or None if it has no good row after the first `skip` rows."""
    if first + part.rows <= skip or not part.table.num_rows:
        return None
    numbers = None if part.numbers is None else part.numbers + first
    start = first if numbers is None else int(numbers[0])
    block = Block(part.table, start, part.written, None, numbers)
    return block if _rows_after(block, skip) else None


def _rows_after(block: Block, skip: int) -> int:
    """Return how many rows of a block are not among the first `skip` rows of the data."""
    if block.numbers is None:
        return int(block.table.num_rows - max(skip - block.first, 0))
    return len(block.numbers) - int(np.searchsorted(block.numbers, skip))
