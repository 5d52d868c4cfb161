"""Bytes from a file or a pipe, decompressed, and pieces of text that end where a row ends."""

from __future__ import annotations

import contextlib
import io
import os
import select
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from parsimon.cli.errors import Failure
from parsimon.cli.reading import limits
from parsimon.cli.reading.limits import TooLarge
from parsimon.cli.reading.row_errors import first_line
from parsimon.cli.reading.text_rows import last_row_end
from parsimon.preprocessing import nearest

__all__ = ["PAUSE", "ByteStream", "errors_name", "named"]

#: Compressed formats by their first bytes.
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
#: Seconds between looks at a stream that has nothing to read.
PAUSE = 0.1


@contextlib.contextmanager
def errors_name(path: str) -> Iterator[None]:
    """Turn errors of reading into a `Failure` that names the file."""
    try:
        yield
    except TooLarge as error:
        raise Failure(f"{path}: {error}") from None
    except (pa.ArrowException, OSError) as error:
        raise Failure(f"{path} cannot be read: {first_line(str(error))}") from None


class ByteStream:
    """The bytes of a file, or of standard input (``-``).

    Parameters
    ----------
    path : the file.
    follow : give bytes as they come, and wait for more at the end of a file.
    stopped : returns whether to stop waiting.

    Attributes
    ----------
    start : the first bytes, decompressed.
    """

    def __init__(self, path: str, *, follow: bool, stopped: Callable[[], bool]) -> None:
        self.path, self.follow, self._stopped = named(path), follow, stopped
        self._given_path = path
        self._resources = contextlib.ExitStack()
        self._raw = self._resources.enter_context(_open(path))
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        mode = os.fstat(self._raw.fileno()).st_mode if _has_fileno(self._raw) else 0
        self.is_file = stat.S_ISREG(mode)
        self._is_pipe = bool(mode) and not self.is_file
        self._size = os.fstat(self._raw.fileno()).st_size if self.is_file else None
        self._read_bytes = self._given_bytes = 0  # of text: read, and given in pieces
        self._has_peeked = False  # whether bytes were taken from a pipe and not read
        self.stream: Any = self._raw
        self.start = self.peek()
        packed = next((n for magic, n in COMPRESSED.items() if self.start.startswith(magic)), None)
        if packed is None:
            return
        if self.follow and self.is_file:
            raise Failure(f"{self.path} is compressed: --follow is for plain CSV and JSON lines")
        unpacked = _Unpacked(pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed))
        self.stream = self._resources.enter_context(io.BufferedReader(unpacked))
        with errors_name(self.path):
            self.start = self.stream.peek(8)

    def close(self) -> None:
        """Close the files."""
        self._resources.close()

    def fraction(self) -> float | None:
        """Return the fraction of the file that was given so far, or None if unknown."""
        if not self._size or self.follow or self._raw.closed:
            return None
        read = min(self._raw.tell() / self._size, 1.0)
        return read * self._given_bytes / self._read_bytes if self._read_bytes else read

    def peek(self) -> bytes:
        """Return the next bytes without reading them; none if stopped."""
        if self._is_pipe and not self._can_read(wait=True):
            return b""
        start: bytes = self.stream.peek(8)
        self._has_peeked = bool(start)
        return start

    def pieces(self, *, quoted: bool) -> Iterator[bytes]:
        """Yield pieces of text that end where a row ends.

        With `quoted`, a line end within quotes ends no row.
        """
        rest, began = b"", False
        while True:
            data, ended = self._gather(limits.TEXT_BLOCK * (limits.LATER_BLOCKS if began else 1))
            end = data.rfind(b"\n") + 1
            # The usual case needs one copy only.
            if end and began and not ended and b'"' not in data and b'"' not in rest:
                piece, rest = b"".join((rest, memoryview(data)[:end])), data[end:]
                self._given_bytes += len(piece)
                yield piece
                continue
            rest = rest + data if rest else data
            if not (ended or began) and self._waits_for_more(rest):
                continue
            end = last_row_end(rest, quoted)
            if ended and not self._stopped():
                end = len(rest)  # the last row may have no line end
            if end:
                began = True
                piece, rest = rest[:end], rest[end:]
                self._given_bytes += len(piece)
                yield piece
            if ended:
                return
            if len(rest) > limits.ROW_BYTES:
                raise Failure(
                    f"{self.path}: a row has more than {limits.ROW_BYTES:,} bytes, "
                    "or a quote is not closed"
                )

    def _waits_for_more(self, data: bytes) -> bool:
        """Return whether the first rows of a followed stream are too few to find the types."""
        few = len(data) < limits.TEXT_BLOCK and data.count(b"\n") <= limits.FIRST_ROWS
        return self.follow and few

    def _gather(self, size: int) -> tuple[bytes, bool]:
        """Return up to `size` bytes, and whether they are the last.

        A followed stream gives the bytes that it has.
        """
        data = b""
        while len(data) < size:
            if self._is_pipe and not self._can_read(wait=not (self.follow and data)):
                return data, self._stopped()
            with errors_name(self.path):
                more = self.stream.read1(size - len(data))
            self._has_peeked = False
            data = data + more if data else more
            self._read_bytes += len(more)
            if more:
                continue
            if not (self.follow and self.is_file):
                return data, True
            if data or self._stopped():
                return data, self._stopped()
            if os.fstat(self._raw.fileno()).st_size < self._raw.tell():
                raise Failure(f"{self.path} has become shorter while it was followed")
            time.sleep(PAUSE)
        return data, self.follow and self._stopped()

    def _can_read(self, *, wait: bool) -> bool:
        """Return whether a pipe has bytes or is at its end; with `wait`, wait until stopped."""
        while not (self._has_peeked or select.select([self._raw.fileno()], [], [], PAUSE)[0]):
            if not wait or self._stopped():
                return False
        return True

    def seekable(self, format_name: str) -> Any:
        """Return a path or file that can be read at any place.

        Pipes and compressed files are unpacked into a temporary file.
        """
        if self.stream is self._raw and self.is_file:
            return self._raw if self._given_path == "-" else self._given_path
        copy = self._resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        compressed = self.stream is not self._raw  # only then can it become larger than it is
        size = 0
        while data := self.stream.read(limits.TEXT_BLOCK):
            size += len(data)
            if compressed and size > limits.UNPACKED_BYTES:
                raise Failure(
                    f"{self.path}: it unpacks to more than {limits.UNPACKED_BYTES:,} bytes, the "
                    f"most of compressed {format_name.capitalize()}: unpack it first"
                )
            copy.write(data)
        copy.seek(0)
        return copy


class _Unpacked(io.RawIOBase):
    """A decompressed stream in the form that Python's buffers take."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def named(path: str) -> str:
    """Return what messages call a source.

    >>> named("-"), named("stream.csv")
    ('standard input', 'stream.csv')
    """
    return "standard input" if path == "-" else path


def _open(path: str) -> BinaryIO | io.BufferedReader:
    if path == "-":
        raw = sys.stdin.buffer
        file = io.FileIO(raw.fileno(), closefd=False) if _has_fileno(raw) else raw
        return io.BufferedReader(file)  # type: ignore[type-var]
    if os.path.isdir(path):
        raise Failure(f"{path} is a folder")
    if not os.path.exists(path):
        folder = os.path.dirname(path) or "."
        names = os.listdir(folder) if os.path.isdir(folder) else []
        hint = nearest(os.path.basename(path), names)
        raise Failure(f"there is no file {path}" + (f": {hint}" if hint.startswith("did") else ""))
    return open(path, "rb")


def _has_fileno(stream: Any) -> bool:
    try:
        return bool(stream.fileno() >= 0)
    except (OSError, AttributeError):
        return False
