"""Rows from files and pipes, in blocks: CSV, JSON lines, Parquet and Arrow IPC, plain or compressed with gzip or zstd. What a file is, its first bytes tell."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import queue
import re
import select
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet

from parsimon.cli.errors import Failure
from parsimon.preprocessing import TableError, nearest

__all__ = ["Block", "Failure", "Source", "failure"]

#: Bytes of text that are read at a time, and the most that one row can have.
BLOCK, LONGEST = 1 << 21, 1 << 26
#: Rows of Parquet and Arrow that are read at a time.
ROWS = 8192
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
    place += [] if error.column is None or error.what.startswith("there is no column") else [f"column {error.column!r}"]
    return Failure(f"{', '.join(place)}: {error.what}" if place else error.what)


def require_known(names: Collection[str], table: Any) -> None:
    """Refuse names that are no columns of a table."""
    for name in names:
        if name not in table.column_names:
            raise Failure(f"there is no column {name!r}: {nearest(name, table.column_names)}")


class Block(NamedTuple):
    """Rows of the data.

    `table` holds them and `first` is the number of the first, from 0. `written` has the same rows as they were written,
    where that was asked for. `span` says where they begin and end in the data, as shares of it, if that can be known.
    """

    table: Any
    first: int
    written: Any
    span: tuple[float, float] | None = None


class Source:
    """The rows of a file, or of standard input (``-``).

    CONVENTION: the first block settles the columns and their types, except where `kinds` (those of a model) say more. Integers are read as float64, for a later value may not be whole; columns in `unused`, and
    those that a model does not know, as text. With `follow` rows are given as they come, and a file is never at its end; `stopped` ends that.
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
    ) -> None:
        if delimiter is not None and len(delimiter) != 1:
            raise Failure(f"--delimiter must be one character, got {delimiter!r}")
        self.path, self.follow, self._asked = path, follow, stopped
        self._closed = threading.Event()
        self._kinds, self._unused, self._written, self._delimiter = dict(kinds or {}), set(unused), written, delimiter
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
        self._gathered = self._consumed = 0  # bytes of text that were read, and that were made rows of
        self._stream: Any = self._raw
        start = self._peek(self._raw)
        packed = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
        if packed:
            if self.follow and self._file:
                raise Failure(f"{self.path} is compressed: --follow is for plain CSV and JSON lines")
            unpacked = _Unpacked(pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed))
            self._stream = self._held.enter_context(io.BufferedReader(unpacked))
            start = self._guard(lambda: self._stream.peek(8))
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
        """Return the share of the data that the rows given so far are, or None if it cannot be known."""
        if self._part is not None:
            return self._part[0] / max(self._part[1], 1)
        if not self._size or self.follow or self._raw.closed:
            return None
        read = min(self._raw.tell() / self._size, 1.0)
        return read * self._consumed / self._gathered if self._gathered else read

    def blocks(self, skip: int = 0) -> Iterator[Block]:
        """Yield the rows after the first `skip`, in blocks."""
        first, begin = 0, 0.0
        for table, written in self._guard_each(self._tables()):
            n, end = table.num_rows, self._fraction()
            if first + n > skip:
                start = max(skip - first, 0)
                span = None if end is None else (begin + (end - begin) * start / n, end)
                yield Block(table.slice(start), first + start, None if written is None else written.slice(start), span)
            first, begin = first + n, end or 0.0
        if first < skip and not self.stopped():
            raise Failure(
                f"{self.path} has {first:,} rows, but the model has learned {skip:,}: is it the same data? "
                "(--new-rows if it has further rows only)"
            )

    def ahead(self, skip: int = 0, waiting: Callable[[], Any] = lambda: None) -> Iterator[Block]:
        """Yield the same blocks, read by a thread while those before are worked on. `waiting` is called now and then while there is none."""
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

    def stopped(self) -> bool:
        """Whether no more is wanted."""
        return self._closed.is_set() or self._asked()

    # Formats

    def _tables(self) -> Iterator[tuple[Any, Any]]:
        if self.format == "csv":
            return self._csv()
        if self.format == "json":
            return self._json()
        return ((table, table) for table in (self._parquet() if self.format == "parquet" else self._arrow()))

    def _csv(self) -> Iterator[tuple[Any, Any]]:
        first = 0
        for piece in self._pieces():
            if not self._names:
                piece = piece.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
                end = _row_end(piece)
                self._header(piece[:end])
                piece = piece[end:]
            if piece[:1] in (b"", b"\r", b"\n") and not piece.strip(b"\r\n"):
                continue
            if not self._types:
                self._settle(self._read_csv(piece, {}, first))
            table = self._read_csv(piece, self._types, first)
            texts = dict.fromkeys(self._names, pa.string())
            yield table, self._read_csv(piece, texts, first, verbatim=True) if self._written else None
            first += table.num_rows

    def _header(self, line: bytes) -> None:
        try:
            text = line.decode().strip("\r\n")
        except UnicodeDecodeError:
            raise Failure(f"{self.path}: the header is not UTF-8 text") from None
        if self._delimiter is None:
            self._delimiter = max(",;\t|", key=text.count)  # the comma, if there is none of them
        self._names = next(csv.reader([text], delimiter=self._delimiter), [])
        twice = next((name for name in self._names if self._names.count(name) > 1), None)
        if not any(self._names):
            raise Failure(f"{self.path}: there is no header with the names of the columns")
        if twice is not None:
            raise Failure(f"{self.path}: the header has column {twice!r} more than once")

    def _read_csv(self, piece: bytes, types: Mapping[str, Any], first: int, *, verbatim: bool = False) -> Any:
        try:
            return pa.csv.read_csv(
                pa.py_buffer(piece),
                pa.csv.ReadOptions(column_names=self._names, use_threads=False, block_size=len(piece) + 1),
                pa.csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=b'"' in piece),
                pa.csv.ConvertOptions(column_types=types, strings_can_be_null=not verbatim),
            )
        except pa.ArrowInvalid as error:
            raise _csv_failure(str(error), self._names, first) from None

    def _json(self) -> Iterator[tuple[Any, Any]]:
        first = 0
        for piece in self._pieces():
            if not piece.strip():
                continue
            if not self._names:
                table = self._read_json(piece, None, first)
                self._names = table.column_names
                self._settle(table)
            table = self._read_json(piece, pa.schema(list(self._types.items())), first)
            yield table, self._read_json(piece, None, first) if self._written else None
            first += table.num_rows

    def _read_json(self, piece: bytes, schema: Any, first: int) -> Any:
        behavior = "infer" if schema is None else "ignore"
        try:
            return pa.json.read_json(
                pa.BufferReader(piece),
                pa.json.ReadOptions(use_threads=False, block_size=len(piece) + 1),
                pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior),
            )
        except pa.ArrowInvalid as error:
            raise _json_failure(str(error), first) from None

    def _parquet(self) -> Iterator[Any]:
        file = pa.parquet.ParquetFile(self._seekable())
        given = 0
        for batch in file.iter_batches(ROWS):
            given += batch.num_rows
            self._part = given, file.metadata.num_rows
            yield pa.Table.from_batches([batch])

    def _arrow(self) -> Iterator[Any]:
        if self._peek(self._stream).startswith(b"ARROW1"):
            reader = pa.ipc.open_file(self._seekable())
            batches = self._record_batches(reader)
        else:
            batches = pa.ipc.open_stream(pa.PythonFile(self._stream, "r"))
        for batch in batches:
            table = pa.Table.from_batches([batch])
            for start in range(0, batch.num_rows, ROWS):
                yield table.slice(start, ROWS)

    def _record_batches(self, reader: Any) -> Iterator[Any]:
        for i in range(reader.num_record_batches):
            self._part = i + 1, reader.num_record_batches
            yield reader.get_batch(i)

    # Types

    def _settle(self, table: Any) -> None:
        """Find the types of the columns from the first block."""
        for name in self._names:
            found = table.schema.field(name).type
            kind = self._kinds.get(name)
            if name in self._unused or (self._kinds and kind is None):
                self._types[name] = pa.string() if self.format == "csv" else found
            elif kind in TYPES and _kind(found) != kind:
                self._types[name] = TYPES[kind]
            else:
                self._types[name] = _widened(found)
                self._note(name, table)

    def _note(self, name: str, table: Any) -> None:
        """Tell of a column that is text because of few values."""
        if self._types[name] != pa.string() or self.format != "csv":
            return
        values = table.column(name)
        pattern = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
        numbers = pa.compute.fill_null(pa.compute.match_substring_regex(values, pattern), True)
        days = pa.compute.fill_null(pa.compute.match_substring_regex(values, r"^\d{4}-\d{2}-\d{2}"), True)
        if pa.compute.mean(days).as_py() > 0.9:
            self.notes.append(f"column {name!r} is taken for text, but most are dates: not all of them can be read")
            return
        other = pa.compute.index(numbers, False).as_py()
        if other >= 0 and pa.compute.mean(numbers).as_py() > 0.9:
            self.notes.append(
                f"column {name!r} is taken for text: row {other + 1:,} has {values[other].as_py()!r}, but most are numbers"
            )

    # Bytes

    def _pieces(self) -> Iterator[bytes]:
        """Yield pieces of text that end where a row ends."""
        rest, began = b"", False
        while True:
            data, ended = self._gather()
            end = data.rfind(b"\n") + 1
            if end and began and not ended and b'"' not in data and b'"' not in rest:  # the usual case, with one copy
                piece, rest = b"".join((rest, memoryview(data)[:end])), data[end:]
                self._consumed += len(piece)
                yield piece
                continue
            rest = rest + data if rest else data
            if not ended and self.follow and not began and len(rest) < BLOCK and rest.count(b"\n") <= FIRST:
                continue  # not enough to tell the types from
            end = _last_end(rest, self.format == "csv")
            if ended and not self.stopped():
                end = len(rest)  # a last row without a line end
            if end:
                began = True
                piece, rest = rest[:end], rest[end:]
                self._consumed += len(piece)
                yield piece
            if ended:
                return
            if len(rest) > LONGEST:
                raise Failure(f"{self.path}: a row has more than {LONGEST:,} bytes, or a quote is not closed")

    def _gather(self) -> tuple[bytes, bool]:
        """Return up to a block of bytes, and whether they are the last; those that are there, if the stream is followed."""
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
        shutil.copyfileobj(self._stream, spool, BLOCK)
        spool.seek(0)
        return spool

    # Errors

    def _guard(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
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
            raise Failure(f"there is no file {path}" + (f": {hint}" if hint.startswith("did") else ""))
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


def _row_end(data: bytes) -> int:
    """Return where the first row ends."""
    end, quotes = 0, 0
    while True:
        start, end = end, data.find(b"\n", end) + 1
        if not end:
            return len(data)
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0:
            return end


def _last_end(data: bytes, quoted: bool) -> int:
    """Return where the last whole row ends: at a line end that is not within quotes."""
    end = data.rfind(b"\n") + 1
    odd = (
        data.count(b'"', 0, end) % 2 if quoted and b'"' in data else 0
    )  # to look for one is much quicker than to count
    while end and odd:
        before = data.rfind(b"\n", 0, end - 1) + 1
        odd ^= data.count(b'"', before, end) % 2
        end = before
    return end


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


NOUNS = {"double": "number", "bool": "boolean", "date32": "date", "time64": "time", "timestamp": "date with time"}


def _csv_failure(text: str, names: list[str], first: int) -> Failure:
    row = re.search(r"Row #(\d+)", text)
    place = f"row {first + int(row[1]):,}" if row else "a row"
    if ragged := re.search(r"Expected (\d+) columns, got (\d+)", text):
        return Failure(f"{place}: it has {ragged[2]} values where the header has {ragged[1]} columns")
    column = re.search(r"In CSV column #(\d+)", text)
    where = f"{place}, column {names[int(column[1])]!r}" if column else place
    if "invalid UTF8" in text:
        return Failure(f"{where}: it is not UTF-8 text")
    if bad := re.search(r"conversion error to (\w+).*?: invalid value '(.*)'", text, re.DOTALL):
        noun = NOUNS.get(bad[1], bad[1])
        return Failure(f"{where}: {bad[2]!r} is no {noun}, which the values before are")
    return Failure(f"{where}: {_line(text)}")


def _json_failure(text: str, first: int) -> Failure:
    row = re.search(r"in row (\d+)", text)
    place = f"row {first + int(row[1]) + 1:,}" if row else "a row"
    if changed := re.search(r"Column\(/(.*?)\) changed from (\w+) to (\w+)", text):
        return Failure(f"{place}, column {changed[1]!r}: a {changed[3]}, where the values before are {changed[2]}")
    what = re.sub(r"JSON parse error: |\.? in row \d+", "", _line(text))
    return Failure(f"{place} is not a JSON object on one line: {what}")


def _line(text: str) -> str:
    return text.strip().splitlines()[0][:200] if text.strip() else "it is damaged"
