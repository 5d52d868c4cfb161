"""Rows from files and pipes, in blocks: CSV, JSON lines, Parquet and Arrow IPC, plain or compressed
with gzip or zstd. What a file is, its first bytes tell.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import queue
import re
import select
import stat
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet
from numpy.typing import NDArray

from parsimon.cli import bounds, guesses
from parsimon.cli.bounds import TooLarge
from parsimon.cli.errors import Failure
from parsimon.cli.kinds import foreign
from parsimon.cli.pieces import deeper, in_cells, last_end, objects, row_end, sifted, split_rows
from parsimon.cli.words import choose, plural
from parsimon.preprocessing import TableError, feature_count, nearest

__all__ = [
    "BAD_ROWS",
    "Block",
    "Failure",
    "Source",
    "failure",
    "in_good_parts",
    "require_features",
    "require_known",
]

#: What can be done about rows that cannot be used.
BAD_ROWS = {"error": "stop at the first", "skip": "leave them out, and count them"}
#: Bytes of text that are read at a time.
BLOCK = 1 << 21
#: The most columns that a table can have.
MOST_COLUMNS = 100_000
#: The most features that the columns can become.
MOST_FEATURES = 1 << 17
#: The most bytes of a compressed Parquet or Arrow file, unpacked into a temporary file.
UNPACKED = 1 << 30
#: Values of JSON lines that are read at a time, those that are not there included.
CELLS = 1 << 22
#: How deep values of JSON may be nested.
DEEPEST = 64
#: How many bad rows are shown; the others are only counted.
SHOWN = 5
#: Rows that settle the types of a stream that is followed.
FIRST = 200
#: Seconds between looks at a stream that is waited for.
PAUSE = 0.1

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
#: The types that columns of text formats are read with, by the kinds of `TableEncoder`.
TYPES = {
    "number": pa.float64(),
    "empty": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
}


def failure(error: TableError, first: int) -> Failure:
    """Return what to say about a block whose first row is row `first` of the data, from 0."""
    place = [] if error.row is None else [f"row {first + error.row + 1:,}"]
    place += (
        []
        if error.column is None or error.what.startswith("there is no column")
        else [f"column {error.column!r}"]
    )
    return Failure(f"{', '.join(place)}: {error.what}" if place else error.what)


def require_known(names: Collection[str], known: Collection[str]) -> None:
    """Refuse names that are no columns."""
    for name in names:
        if name not in known:
            raise Failure(f"there is no column {name!r}: {nearest(name, known)}")


def require_features(table: Any, ignored: Collection[str], max_categories: int) -> None:
    """Refuse a table whose columns become more features than a model can have."""
    unused = set(ignored)
    wanted = (
        t
        for name, t in zip(table.column_names, table.schema.types, strict=True)
        if name not in unused
    )
    kinds = (
        "text"
        if _is_text(t) or "string" in str(t)
        else "timestamp"
        if pa.types.is_temporal(t)
        else "number"
        for t in wanted
    )
    n = sum(feature_count(kind, max_categories) for kind in kinds)
    if n > MOST_FEATURES:
        raise Failure(
            f"the columns become {n:,} features, and {MOST_FEATURES:,} is the most: leave some out with --ignore"
        )


def in_good_parts(
    take: Callable[[int, int], None], at: int, n: int, refuse: Callable[[int, TableError], None]
) -> None:
    """Let `take` have rows `at` to `at + n`, but for those that it refuses: `refuse` has these.

    What is taken is in order, and every row that can be taken is. `take` must change nothing when
    it refuses rows by a `TableError`. One that names no row is raised.
    """
    parts = [(at, n)]
    while parts:
        at, n = parts.pop()
        if not n:
            continue
        try:
            take(at, n)
        except TableError as error:
            if error.row is None:
                raise
            if n == 1:
                refuse(at, error)
                continue
            parts += [(at + n // 2, n - n // 2), (at, n // 2)]


class Dialect(NamedTuple):
    """How a CSV is written: what separates its values, and its decimal mark."""

    delimiter: str = ","
    decimal: str = "."


class Block(NamedTuple):
    """Rows of the data.

    `table` holds them and `first` is the number of the first, from 0. `written` has the same rows
    as they were written, where that was asked for. `span` says where they begin and end in the
    data, as shares of it, if that can be known. `numbers` are those of all rows, from 0; None where
    no row was left out.
    """

    table: Any
    first: int
    written: Any
    span: tuple[float, float] | None = None
    numbers: NDArray[np.int64] | None = None

    def number(self, row: int) -> int:
        """Return the number in the data of a row of the table."""
        return self.first + row if self.numbers is None else int(self.numbers[row])

    def all_numbers(self) -> NDArray[np.int64]:
        """Return the numbers of all rows, (n,)."""
        return (
            np.arange(self.first, self.first + self.table.num_rows)
            if self.numbers is None
            else self.numbers
        )

    def slice(self, at: int, n: int | None = None) -> Block:
        """Return some of the rows."""
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


class _Part(NamedTuple):
    """Rows as they were read: the table, the same as it was written, and how many rows of the data
    these were.

    `numbers` says which of these the rows of the table are; None is all.
    """

    table: Any
    written: Any
    rows: int
    numbers: NDArray[np.int64] | None = None


class Source:
    """The rows of a file, or of standard input (``-``).

    CONVENTION: the first block settles the columns and their types, except where `kinds` (those of
    a model) say more. Integers are read as float64, for a later value may not be whole; columns in
    `unused`, and those that a model does not know, as text. With `follow` rows are given as they
    come, and a file is never at its end; `stopped` ends that.

    `decimal` is the decimal mark of a CSV; None finds it out, and after the first block it is
    known. `date_formats` are tried on columns of text: one that reads all values of the first block
    is used. With `bad_rows` "skip" rows that cannot be read are left out, and so they are among the
    first `bad_before` rows in any case. `columns` has the names of all columns after the first
    block.
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
        choose(BAD_ROWS, bad_rows, "value of --bad-rows")
        self.decimal, self.date_formats = decimal, list(date_formats)
        self._skips, self._bad_before, self._resumed_at, self._shown = (
            bad_rows == "skip",
            bad_before,
            0,
            0,
        )
        self._formats: dict[str, tuple[str, Any]] | None = None  # by the names of columns of dates
        self.doubts: dict[str, str] = {}  # columns of text that look like numbers
        self.columns: list[str] = []
        self.rows = 0  # that were read, bad ones included
        self.path, self.follow, self._asked = path, follow, stopped
        self._closed = threading.Event()
        self._kinds, self._unused, self._written, self._delimiter = (
            dict(kinds or {}),
            set(unused),
            written,
            delimiter,
        )
        self._types: dict[str, Any] = {}
        self._names: list[str] = []
        self.notes: list[str] = []
        self._held = contextlib.ExitStack()
        self._raw = self._held.enter_context(_open(path))
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        """Find out what there is to read."""
        mode = os.fstat(self._raw.fileno()).st_mode if _has_fileno(self._raw) else 0
        self._file = stat.S_ISREG(mode)
        self._pipe = bool(mode) and not self._file
        self._size = os.fstat(self._raw.fileno()).st_size if self._file else None
        self._part: tuple[int, int] | None = None  # rows or batches that were given, of how many
        self._total: int | None = None  # rows there are, if that is known
        # Bytes of text that were read, and that were made rows of
        self._gathered = self._consumed = 0
        self._stream: Any = self._raw
        start = self._peek(self._raw)
        packed = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
        if packed:
            if self.follow and self._file:
                raise Failure(
                    f"{self.path} is compressed: --follow is for plain CSV and JSON lines"
                )
            unpacked = _Unpacked(pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed))
            self._stream = self._held.enter_context(io.BufferedReader(unpacked))
            start = self._guard(lambda: self._stream.peek(8))
        if what := foreign(start):
            raise Failure(f"{self.path} {what}")
        self.format = _format(start)
        if self.format in ("parquet", "arrow") and self.follow:
            raise Failure(f"{self.path} is not text: --follow is for CSV and JSON lines")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._held.close()

    def _fraction(self) -> float | None:
        """Return the share of the data that the rows given so far are, or None if it cannot be
        known.
        """
        if self._part is not None:
            return self._part[0] / max(self._part[1], 1)
        if not self._size or self.follow or self._raw.closed:
            return None
        read = min(self._raw.tell() / self._size, 1.0)
        return read * self._consumed / self._gathered if self._gathered else read

    def blocks(self, skip: int = 0) -> Iterator[Block]:
        """Yield the rows after the first `skip`, in blocks. Bad rows count, too."""
        self._resumed_at = skip
        end = 0.0
        for part in self._guard_each(self._parts()):
            first, n = self.rows, part.rows
            begin, now = end, self._fraction()
            end = now or 0.0
            self.rows += n
            if first + n <= skip or not part.table.num_rows:
                continue
            numbers = None if part.numbers is None else part.numbers + first
            start = max(skip - first, 0) if numbers is None else int(np.searchsorted(numbers, skip))
            if start < part.table.num_rows:
                span = None if now is None else (begin, now)
                yield Block(
                    part.table,
                    first if numbers is None else int(numbers[0]),
                    part.written,
                    span,
                    numbers,
                ).slice(start)
        if self.rows < skip and not self.stopped():
            raise Failure(
                f"{self.path} has {plural(self.rows, 'row')}, but the model has learned {skip:,}: "
                "is it the same data? (--new-rows if it has further rows only)"
            )

    def ahead(self, skip: int = 0, waiting: Callable[[], Any] = lambda: None) -> Iterator[Block]:
        """Yield the same blocks, read by a thread while those before are worked on.

        `waiting` is called now and then while there is none.
        """
        ready: queue.Queue[Any] = queue.Queue(maxsize=2)

        def read() -> None:
            try:
                for block in self.blocks(skip):
                    ready.put(block)
                    if self._closed.is_set():
                        return
                ready.put(None)
            except BaseException as error:  # raised again where it is waited for
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
                with contextlib.suppress(queue.Empty):  # it may wait for room
                    ready.get_nowait()
                thread.join(PAUSE)

    def tell(self) -> None:
        """Print what was noticed since the last time, on standard error."""
        while self.notes:
            print(f"parsimon: note: {self.notes.pop(0)}", file=sys.stderr)

    def refuse(self, row: int, error: Failure) -> None:
        """Leave a row out, or raise the error, whichever was asked for; the first few are shown."""
        if not self._skips and row >= self._bad_before:
            raise error
        if row >= self._resumed_at:  # those before were shown by the run that met them
            self._shown += 1
            if self._shown <= SHOWN:
                self.notes.append(f"a bad row is skipped: {error}")
            if self._shown == SHOWN + 1:
                self.notes.append("further bad rows are counted, but not shown")

    def require_plain(self, name: str) -> None:
        """Refuse a target of text that looks like numbers."""
        if name in self.doubts:
            raise Failure(f"{self.doubts[name]}; --task classification takes them for labels")

    @property
    def dialect(self) -> Dialect:
        """How the data is written, after the first block; the default for other formats than CSV."""
        if self.format != "csv":
            return Dialect()
        return Dialect(self._delimiter or ",", self.decimal or ".")

    def stopped(self) -> bool:
        """Whether no more is wanted."""
        return self._closed.is_set() or self._asked()

    # Formats

    def _parts(self) -> Iterator[_Part]:
        if self.format == "csv":
            return self._csv()
        if self.format == "json":
            return self._json()
        return self._decoded(self._parquet() if self.format == "parquet" else self._arrow())

    def _csv(self) -> Iterator[_Part]:
        first = 0
        for piece in self._pieces():
            if not self._names:
                piece = piece.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
                end = row_end(piece)
                self._header(piece[:end])
                piece = piece[end:]
            if piece[:1] in (b"", b"\r", b"\n") and not piece.strip(b"\r\n"):
                continue
            if not self._types:
                self._settle_csv(piece, first)
            part = self._read(piece, partial(self._read_csv, types=self._types), first)
            if self._written:
                texts = dict.fromkeys(self._names, pa.string())
                part = part._replace(
                    written=self._read_csv(piece, first, types=texts, verbatim=True)
                )
            yield part
            first += part.rows

    def _header(self, line: bytes) -> None:
        try:
            text = line.decode().strip("\r\n")
        except UnicodeDecodeError:
            raise Failure(f"{self.path}: the header is not UTF-8 text: {CONVERT}") from None
        if self._delimiter is None:
            self._delimiter = max(",;\t|", key=text.count)  # the comma, if there is none of them
        self._require_columns(text.count(self._delimiter) + 1)
        self._names = next(csv.reader([text], delimiter=self._delimiter), [])
        self.columns = self._names
        if not any(self._names):
            raise Failure(f"{self.path}: there is no header with the names of the columns")
        twice = next((name for name, n in Counter(self._names).items() if n > 1), None)
        if twice is not None:
            raise Failure(f"{self.path}: the header has column {twice!r} more than once")

    def _require_columns(self, n: int) -> None:
        if n > MOST_COLUMNS:
            raise Failure(f"{self.path} has more than {MOST_COLUMNS:,} columns, which is the most")

    def _read_csv(
        self,
        piece: bytes,
        first: int,
        *,
        types: Mapping[str, Any],
        verbatim: bool = False,
        decimal: str | None = None,
    ) -> Any:
        decimal = decimal or self.decimal or "."
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(piece),
                pa.csv.ReadOptions(
                    column_names=self._names, use_threads=False, block_size=len(piece) + 1
                ),
                pa.csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=b'"' in piece),
                pa.csv.ConvertOptions(
                    column_types=types, strings_can_be_null=not verbatim, decimal_point=decimal
                ),
            )
        except pa.ArrowInvalid as error:
            hint = _remedy_of_name(self.path) if first == 0 else ""
            raise _csv_failure(str(error), self._names, first, decimal, hint) from None
        return table if verbatim or not types else self._dated(table, first)

    def _settle_csv(self, piece: bytes, first: int) -> None:
        """Find the decimal mark and the types of the columns from the first block."""
        piece = self._sound(piece, first)
        table = self._read_csv(piece, first, types={})
        if self.decimal is None:
            self.decimal = "."
            if self._has_decimal_commas(piece, table, first):
                self.decimal = ","
                table = self._read_csv(piece, first, types={})
        self._settle(dict(zip(self._names, table.schema.types, strict=True)), table.column)

    def _sound(self, piece: bytes, first: int) -> bytes:
        """Return the rows of the first block that can be read as text; all of them, if bad rows are
        errors.
        """
        if not self._lenient(first):
            return piece
        read = partial(self._read_csv, types=dict.fromkeys(self._names, pa.string()), verbatim=True)
        try:
            read(piece, first)
            return piece
        except Failure:
            rows = split_rows(piece, quoted=True)
        kept: list[bytes] = []
        for some, found in sifted(rows, read, first):
            kept += some if not isinstance(found, Failure) else []
        if not kept:
            raise Failure(f"{self.path}: none of the first {len(rows):,} rows can be read")
        return b"".join(kept)

    def _lenient(self, first: int) -> bool:
        """Return whether a bad row from row `first` on may be left out."""
        return self._skips or first < self._bad_before

    def _read(self, piece: bytes, read: Callable[[bytes, int], Any], first: int) -> _Part:
        """Read rows of text, but for bad ones where these are left out."""
        try:
            table = read(piece, first)
            return _Part(table, None, table.num_rows)
        except Failure:
            if not self._lenient(first):
                raise
        tables, numbers, n = (
            [pa.schema(self._found_types()).empty_table()],
            [np.empty(0, np.int64)],
            0,
        )
        for _, found in sifted(split_rows(piece, quoted=self.format == "csv"), read, first):
            if isinstance(found, Failure):
                self.refuse(first + n, found)
                n += 1
            else:
                tables.append(found)
                numbers.append(np.arange(n, n + found.num_rows))
                n += found.num_rows
        return _Part(pa.concat_tables(tables), None, n, np.concatenate(numbers))

    def _found_types(self) -> list[tuple[str, Any]]:
        formats = self._formats or {}
        return [
            (name, formats[name][1] if name in formats else kind)
            for name, kind in self._types.items()
        ]

    def _json(self) -> Iterator[_Part]:
        first = 0
        for piece in self._pieces():
            piece = piece if self._types else piece.removeprefix(b"\xef\xbb\xbf")
            if not piece.strip():
                continue
            width = len(self._names)
            if not self._types or self._written:
                width = max(width, self._width(piece, first))
            if not self._types:
                self._settle_json(piece, width, first)
            read = partial(self._read_json, schema=pa.schema(list(self._types.items())))
            for some in in_cells(piece, width, CELLS):
                part = self._read(some, read, first)
                yield (
                    part._replace(written=self._read_json(some, first, schema=None))
                    if self._written
                    else part
                )
                first += part.rows

    def _width(self, piece: bytes, first: int) -> int:
        """Return how many different names the objects of a piece have, or refuse them."""
        names: dict[str, None] = {}
        for found, line in objects(piece.decode(errors="replace")):
            if not isinstance(found, dict):
                continue
            if deeper(found, DEEPEST):
                raise Failure(
                    f"row {first + line + 1:,}: its values are nested more than {DEEPEST} deep, which is the most"
                )
            names.update(dict.fromkeys(found))
            self._require_columns(len(names))
        return len(names)

    def _settle_json(self, piece: bytes, width: int, first: int) -> None:
        """Find the types of the columns from the first block."""
        types: dict[str, Any] = {}
        texts: dict[str, list[Any]] = {}
        for table in self._inferred(piece, width, first):
            for field, column in zip(table.schema, table.columns, strict=True):
                types[field.name] = _joined_type(types.get(field.name), field.type)
                if pa.types.is_string(field.type):
                    texts.setdefault(field.name, []).extend(guesses.present(column).chunks)
        if not types:
            raise Failure(f"{self.path}: the first rows have no values")
        self._names = self.columns = list(types)
        self._settle(types, lambda name: pa.chunked_array(texts.get(name, []), pa.string()))

    def _inferred(self, piece: bytes, width: int, first: int) -> Iterator[Any]:
        """Yield the first block in parts, with the types that each has; bad rows that are left out
        are not in them.
        """
        read = partial(self._read_json, schema=None)
        for some in in_cells(piece, width, CELLS):
            if self._lenient(first):
                found = (table for _, table in sifted(split_rows(some, quoted=False), read, first))
                yield from (table for table in found if not isinstance(table, Failure))
            else:
                yield read(some, first)

    def _read_json(self, piece: bytes, first: int, *, schema: Any) -> Any:
        behavior = "infer" if schema is None else "ignore"
        try:
            piece.decode()
        except UnicodeDecodeError as error:
            row = first + len(split_rows(piece[: error.start] + b"x", quoted=False))
            raise Failure(f"row {row:,}: it is not UTF-8 text: {CONVERT}") from None
        try:
            table = pa.json.read_json(
                pa.BufferReader(piece),
                pa.json.ReadOptions(use_threads=False, block_size=len(piece) + 1),
                pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior),
            )
        except pa.ArrowInvalid as error:
            raise _json_failure(str(error), piece, first) from None
        return table if schema is None else self._dated(table, first)

    def _decoded(self, batches: Iterator[tuple[Any, Any]]) -> Iterator[_Part]:
        """Give batches of Parquet or Arrow, with the schema that they have in the file, in blocks."""
        first = 0
        for batch, schema in batches:
            try:
                for table, written in bounds.cut(batch, schema):
                    if self._formats is None:
                        self._settle_formats(
                            dict(zip(table.column_names, table.schema.types, strict=True)),
                            table.column,
                        )
                    first += table.num_rows
                    if self._total is not None:
                        self._part = first, self._total
                    yield _Part(self._dated(table, first - table.num_rows), written, table.num_rows)
            except TooLarge as error:
                if error.row is None:
                    raise
                raise Failure(f"{self.path}: row {first + 1:,}: {error}") from None

    def _parquet(self) -> Iterator[tuple[Any, Any]]:
        place = self._seekable()
        plain = pa.parquet.ParquetFile(place)
        metadata, schema = plain.metadata, plain.schema_arrow
        chosen = self._chosen(schema)
        at = 0
        leaves: list[int] = []
        for i, field in enumerate(schema):
            n = _leaves(field.type)
            leaves += range(at, at + n) if i in chosen else []
            at += n
        if at != metadata.num_columns:
            leaves = list(range(metadata.num_columns))  # types that we do not know
        names = [schema.names[i] for i in chosen]
        self._total = metadata.num_rows
        file, before = None, []
        with contextlib.ExitStack() as held:
            raw = held.enter_context(open(place, "rb")) if isinstance(place, str) else place
            for group in range(metadata.num_row_groups):
                rows = bounds.batch_rows(raw, metadata, group, leaves)
                texts = [
                    metadata.schema.column(i).path
                    for i in bounds.dictionaries(metadata, group, leaves)
                ]
                if file is None or texts != before:
                    file = pa.parquet.ParquetFile(
                        place, read_dictionary=texts, buffer_size=BLOCK, metadata=metadata
                    )
                    before = texts
                for batch in file.iter_batches(rows, row_groups=[group], columns=names):
                    yield batch.select(names), pa.schema([schema.field(i) for i in chosen])

    def _arrow(self) -> Iterator[tuple[Any, Any]]:
        if self._peek(self._stream).startswith(b"ARROW1"):
            place = self._seekable()
            with contextlib.ExitStack() as held:
                bounds.check_arrow_file(
                    held.enter_context(open(place, "rb")) if isinstance(place, str) else place
                )
            reader = pa.ipc.open_file(place)
            batches = self._record_batches(reader)
        else:
            reader = pa.ipc.open_stream(
                pa.PythonFile(io.BufferedReader(bounds.Checked(self._stream)), "r")
            )
            batches = reader
        chosen = self._chosen(reader.schema)
        for batch in batches:
            yield batch.select(chosen), pa.schema([reader.schema.field(i) for i in chosen])

    def _chosen(self, schema: Any) -> list[int]:
        """Return the indices of the columns that are wanted; nested ones are for copying only."""
        self.columns = schema.names
        self._require_columns(len(schema.names))
        chosen = []
        for i, (name, kind) in enumerate(zip(schema.names, schema.types, strict=True)):
            if not self._written and (
                name in self._unused or (self._kinds and name not in self._kinds)
            ):
                continue
            if not self._written and bounds.is_nested(kind):
                raise Failure(
                    f"column {name!r}: values of type {_line(str(kind))} cannot be used: "
                    f"leave the column out with --ignore, or make numbers or text of it"
                )
            chosen.append(i)
        if not chosen:  # so that it can be said which columns there are
            chosen = [i for i, kind in enumerate(schema.types) if not bounds.is_nested(kind)]
        return chosen

    def _record_batches(self, reader: Any) -> Iterator[Any]:
        for i in range(reader.num_record_batches):
            self._part = i + 1, reader.num_record_batches
            yield reader.get_batch(i)

    # Types

    def _settle(self, types: Mapping[str, Any], values: Callable[[str], Any]) -> None:
        """Find the types of the columns from those in the first block, and its values."""
        self._settle_formats(types, values)
        assert self._formats is not None
        for name, found in types.items():
            kind = self._kinds.get(name)
            if name in self._formats:
                self._types[name] = pa.string()
            elif self._is_unused(name):
                self._types[name] = pa.string() if self.format == "csv" else found
            elif kind in TYPES and _kind(found) != kind:
                self._types[name] = TYPES[kind]
            else:
                self._types[name] = _widened(found)
                if pa.types.is_string(found) and not self._kinds:
                    self._note(name, values(name))

    def _is_unused(self, name: str) -> bool:
        return name in self._unused or (bool(self._kinds) and name not in self._kinds)

    def _settle_formats(self, types: Mapping[str, Any], values: Callable[[str], Any]) -> None:
        """Find the columns of text that are dates in one of the formats."""
        self._formats = {}
        for name in types if self.date_formats else ():
            kind = self._kinds.get(name)
            if (
                self._is_unused(name)
                or kind not in (None, "date", "timestamp")
                or not _is_text(types[name])
            ):
                continue
            present = guesses.present(values(name))
            unread = {form: guesses.dates(present, form).null_count for form in self.date_formats}
            form = min(unread, key=lambda form: unread[form])
            allowed = (1.0 - guesses.MOST) * len(present) if self._skips else 0.0
            if kind is not None:  # it is dates, and what is none of them is an error
                allowed = len(present) - 1.0
            if len(present) and unread[form] <= allowed:
                found = guesses.format_type(form)
                self._formats[name] = form, TYPES["timestamp"] if kind == "timestamp" else found
        used = {form for form, _ in self._formats.values()}
        if not self._kinds:
            self.notes += [
                f"no column has dates of --date-format {f!r}"
                for f in self.date_formats
                if f not in used
            ]

    def _dated(self, table: Any, first: int) -> Any:
        """Return a table with its texts that are dates read as such."""
        for name, (form, kind) in (self._formats or {}).items():
            if name not in table.column_names:
                continue
            texts = table.column(name)
            read = guesses.dates(texts, form)
            if read.null_count > texts.null_count:
                bad = pa.compute.and_(pa.compute.is_null(read), pa.compute.is_valid(texts))
                row = pa.compute.index(bad, True).as_py()
                what = f"{texts[row].as_py()!r} is no date of the format {form!r}"
                raise Failure(f"row {first + row + 1:,}, column {name!r}: {what}")
            table = table.set_column(table.column_names.index(name), name, read.cast(kind))
        return table

    def _has_decimal_commas(self, piece: bytes, table: Any, first: int) -> bool:
        """Return whether a file has decimal commas, and nothing that speaks against it; say so."""
        if self._delimiter == ",":
            return False
        names = [
            f.name
            for f in table.schema
            if pa.types.is_string(f.type) and not self._is_unused(f.name)
        ]
        names = [name for name in names if self._kinds.get(name, "number") == "number"]
        found = [name for name in names if guesses.comma_numbers(table.column(name)) == "decimal"]
        if not found:
            return False
        other = self._read_csv(piece, first, types={}, decimal=",")
        for before, then in zip(table.schema, other.schema, strict=True):
            if pa.types.is_floating(before.type) and not pa.types.is_floating(then.type):
                return False  # it has decimal points, too
        more, value = len(found) - 1, _with_comma(table.column(found[0]))
        shown = (
            f"columns {found[0]!r} and {more:,} more have" if more else f"column {found[0]!r} has"
        )
        self.notes.append(
            f"{shown} decimal commas, as in {value!r}: read as numbers; --decimal . reads text"
        )
        return True

    def _note(self, name: str, values: Any) -> None:
        """Tell of a column of text that looks like something else."""
        if self.format == "csv" and (odd := guesses.mostly(values, guesses.NUMBER)) is not None:
            value = values[odd].as_py()
            if self._skips:
                self._types[name] = pa.float64()
                self.notes.append(
                    f"column {name!r} is read as numbers: a row with another value, as {value!r}, is bad"
                )
            else:
                what = f"column {name!r} is taken for text: row {odd + 1:,} has {value!r}, but most are numbers"
                self.notes.append(what)
            return
        if guesses.mostly(values, guesses.DAY) is not None or guesses.all_match(
            values, guesses.DAY
        ):
            self.notes.append(
                f"column {name!r} is taken for text, but most are dates: not all of them can be read"
            )
        elif self.decimal != "," and (comma := guesses.comma_numbers(values)):
            read = (
                "reads it"
                if comma == "decimal"
                else "if it is a decimal comma, else take the commas out"
            )
            self._doubt(name, f"{_with_comma(values)!r} looks like a number: --decimal , {read}")
        elif forms := guesses.date_formats(values):
            shown = guesses.present(values)[0].as_py()
            options = " or ".join(f"--date-format {form!r}" for form in forms)
            self.notes.append(
                f"column {name!r} is read as text, but {shown!r} looks like a date: {options}"
            )
        elif guesses.all_match(guesses.present(values), guesses.NUMBER):  # strings of JSON
            shown = guesses.present(values)[0].as_py()
            self._doubt(name, f'"{shown}" looks like a number: write it without quotes')
        elif guesses.other_numbers(values):
            shown = guesses.present(values)[0].as_py()
            self._doubt(
                name, f"{shown!r} looks like a number: write it with digits and a decimal mark only"
            )

    def _doubt(self, name: str, what: str) -> None:
        self.doubts[name] = f"column {name!r} is read as text, but {what}"
        self.notes.append(self.doubts[name])

    # Bytes

    def _pieces(self) -> Iterator[bytes]:
        """Yield pieces of text that end where a row ends."""
        rest, began = b"", False
        while True:
            data, ended = self._gather()
            end = data.rfind(b"\n") + 1
            # The usual case, with one copy
            if end and began and not ended and b'"' not in data and b'"' not in rest:
                piece, rest = b"".join((rest, memoryview(data)[:end])), data[end:]
                self._consumed += len(piece)
                yield piece
                continue
            rest = rest + data if rest else data
            if (
                not ended
                and self.follow
                and not began
                and len(rest) < BLOCK
                and rest.count(b"\n") <= FIRST
            ):
                continue  # not enough to tell the types from
            end = last_end(rest, self.format == "csv")
            if ended and not self.stopped():
                end = len(rest)  # a last row without a line end
            if end:
                began = True
                piece, rest = rest[:end], rest[end:]
                self._consumed += len(piece)
                yield piece
            if ended:
                return
            if len(rest) > bounds.LONGEST:
                raise Failure(
                    f"{self.path}: a row has more than {bounds.LONGEST:,} bytes, or a quote is not closed"
                )

    def _gather(self) -> tuple[bytes, bool]:
        """Return up to a block of bytes, and whether they are the last; those that are there, if
        the stream is followed.
        """
        data = b""
        while len(data) < BLOCK:
            if self._pipe and not self._ready(wait=not (self.follow and data)):
                return data, self.stopped()
            more = self._guard(partial(self._stream.read1, BLOCK - len(data)))
            data = data + more if data else more
            self._gathered += len(more)
            if more:
                continue
            if not (self.follow and self._file):
                return data, True
            if data or self.stopped():
                return data, self.stopped()
            if os.fstat(self._raw.fileno()).st_size < self._raw.tell():
                raise Failure(f"{self.path} has become shorter while it was followed")
            time.sleep(PAUSE)
        return data, False

    def _ready(self, *, wait: bool) -> bool:
        """Return whether a pipe has something to read, or its end; wait for that until stopped."""
        while not select.select([self._raw.fileno()], [], [], PAUSE)[0]:
            if not wait or self.stopped():
                return False
        return True

    def _peek(self, stream: Any) -> bytes:
        if self._pipe and not self._ready(wait=True):
            return b""
        start: bytes = stream.peek(8)
        return start

    def _seekable(self) -> Any:
        if self._stream is self._raw and self._file:
            return self.path if self.path != "-" else self._raw
        spool = self._held.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        # What is not compressed cannot grow
        most = UNPACKED if self._stream is not self._raw else None
        size = 0
        while data := self._stream.read(BLOCK):
            size += len(data)
            if most is not None and size > most:
                what = f"it unpacks to more than {most:,} bytes, the most of compressed {self.format.capitalize()}"
                raise Failure(f"{self.path}: {what}: unpack it first")
            spool.write(data)
        spool.seek(0)
        return spool

    # Errors

    def _guard(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except TooLarge as error:
            raise Failure(f"{self.path}: {error}") from None
        except (pa.ArrowException, OSError) as error:
            raise Failure(f"{self.path} cannot be read: {_line(str(error))}") from None

    def _guard_each(self, tables: Iterator[Any]) -> Iterator[Any]:
        while True:
            try:
                yield self._guard(lambda: next(tables))
            except StopIteration:
                return


class _Unpacked(io.RawIOBase):
    """A decompressed stream as Python's buffers take it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _open(path: str) -> BinaryIO | io.BufferedReader:
    if path != "-":
        if os.path.isdir(path):
            raise Failure(f"{path} is a folder")
        if not os.path.exists(path):
            folder = os.path.dirname(path) or "."
            names = os.listdir(folder) if os.path.isdir(folder) else []
            hint = nearest(os.path.basename(path), names)
            raise Failure(
                f"there is no file {path}" + (f": {hint}" if hint.startswith("did") else "")
            )
        return open(path, "rb")
    raw = sys.stdin.buffer
    return io.BufferedReader(io.FileIO(raw.fileno(), closefd=False) if _has_fileno(raw) else raw)  # type: ignore[type-var]


def _has_fileno(stream: Any) -> bool:
    try:
        return bool(stream.fileno() >= 0)
    except (OSError, AttributeError):
        return False


def _format(start: bytes) -> str:
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if start.startswith(b"["):
        raise Failure("a JSON array cannot be read in blocks: write one object a line")
    return "json" if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else "csv"


def _joined_type(before: Any, then: Any) -> Any:
    """Return the type of a column that has values of two types; that of the first, if nothing has
    both.
    """
    if before is None or pa.types.is_null(before):
        return then
    if _kind(before) == _kind(then) == "number":
        return before if before == then else pa.float64()
    return then if pa.types.is_timestamp(before) and pa.types.is_string(then) else before


def _leaves(kind: Any) -> int:
    """Return how many columns of Parquet a type has."""
    if not bounds.is_nested(kind):
        return 1
    return sum(_leaves(kind.field(i).type) for i in range(kind.num_fields))


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _with_comma(values: Any) -> str:
    found: str = values.filter(pa.compute.match_substring(values, ","))[0].as_py()
    return found


def _kind(found: Any) -> str:
    at = pa.types
    tests = {
        "empty": at.is_null,
        "boolean": at.is_boolean,
        "text": at.is_string,
        "date": at.is_date,
        "time": at.is_time,
        "timestamp": at.is_timestamp,
    }
    if at.is_integer(found) or at.is_floating(found):
        return "number"
    return next((kind for kind, test in tests.items() if test(found)), str(found))


def _widened(found: Any) -> Any:
    """Return a type that holds what later values may be."""
    if pa.types.is_timestamp(found):
        return pa.timestamp("ns" if found.unit == "ns" else "us", found.tz)
    if pa.types.is_binary(found):
        return pa.string()  # which says that it is no UTF-8
    return TYPES.get(_kind(found), found)


NOUNS = {
    "double": "number",
    "bool": "boolean",
    "date32": "date",
    "time64": "time",
    "timestamp": "date with time",
}


#: What to do about text in another encoding.
CONVERT = "convert it, for example with iconv -f latin1 -t utf-8"


def _csv_failure(text: str, names: list[str], first: int, decimal: str, hint: str = "") -> Failure:
    row = re.search(r"Row #(\d+)", text)
    place = f"row {first + int(row[1]):,}" if row else "a row"
    if ragged := re.search(r"Expected (\d+) columns, got (\d+)", text):
        return Failure(
            f"{place}: it has {plural(int(ragged[2]), 'value')} where the header has "
            f"{plural(int(ragged[1]), 'column')}{hint}"
        )
    column = re.search(r"In CSV column #(\d+)", text)
    where = f"{place}, column {names[int(column[1])]!r}" if column else place
    if "invalid UTF8" in text:
        return Failure(f"{where}: it is not UTF-8 text: {CONVERT}")
    if bad := re.search(r"conversion error to (\w+).*?: invalid value '(.*)'", text, re.DOTALL):
        noun, value = NOUNS.get(bad[1], bad[1]), bad[2]
        shown = value if len(value) <= 100 else value[:100] + "..."
        remedy = _remedy(noun, value, decimal)
        return Failure(f"{where}: {shown!r} is no {noun}, and the column needs one{remedy}")
    return Failure(f"{where}: {_line(text)}")


def _remedy(noun: str, value: str, decimal: str) -> str:
    """Return the option that would read a value."""
    if noun == "number" and decimal == "." and "," in value and re.match(guesses.COMMA, value):
        return "; --decimal , reads decimal commas"
    if noun == "number" and decimal == "," and "." in value and re.match(guesses.NUMBER, value):
        return "; --decimal . reads decimal points"
    return "; --date-format reads other formats" if noun in ("date", "date with time") else ""


def _remedy_of_name(path: str) -> str:
    """Return why a file with a name of JSON lines was read as CSV."""
    named = path.lower().endswith((".json", ".jsonl", ".ndjson"))
    return "; the first line is no JSON object, so the file is read as CSV" if named else ""


def _json_failure(text: str, piece: bytes, first: int) -> Failure:
    """Return what is wrong with a row of JSON lines, given the error of Arrow and the rows."""
    found = re.search(r"in row (\d+)", text)
    row = int(found[1]) if found else -1
    place = f"row {first + row + 1:,}" if found else "a row"
    if broken := _broken_json(piece, row):
        return Failure(f"{place} {broken}")
    if changed := re.search(r"Column\(/(.*?)\) changed from (\w+) to (\w+)", text):
        got, expected = (_with_article(noun) for noun in (changed[3], changed[2]))
        return Failure(f"{place}, column {changed[1]!r}: expected {expected}, got {got}")
    if twice := re.search(r"Column\(/(.*?)\) was specified twice", text):
        return Failure(f"{place} has {twice[1]!r} more than once")
    if "too big" in text:
        return Failure(f"{place} has a number that is too large: the largest is 1.8e308")
    what = re.sub(r"JSON parse error: |\.? in row \d+", "", _line(text))
    return Failure(f"{place} is not a JSON object on one line: {what}")


def _broken_json(piece: bytes, row: int) -> str | None:
    """Return what is wrong with the JSON of a row, if its text is not that of one object."""
    rows = split_rows(piece, quoted=False)
    if not 0 <= row < len(rows):
        return None
    try:
        found = json.loads(rows[row])
    except json.JSONDecodeError as error:
        what = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
        return f"is not a JSON object on one line: {what} at character {error.pos + 1}"
    except ValueError:  # a number of very many digits
        return None
    if isinstance(found, dict):
        return None
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return f"is {names.get(type(found), 'a number')}, not a JSON object"


def _with_article(noun: str) -> str:
    """Return a type of JSON with its article.

    >>> _with_article("object"), _with_article("number")
    ('an object', 'a number')
    """
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _line(text: str) -> str:
    return text.strip().splitlines()[0][:200] if text.strip() else "it is damaged"
