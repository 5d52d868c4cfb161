"""Check the messages of Arrow files and streams before they are unpacked.

The header of each message (FlatBuffers) says how large its buffers will be.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Any

from parsimon.cli.reading import limits
from parsimon.cli.reading.limits import TooLarge

__all__ = ["CheckedStream", "check_arrow_file"]

DAMAGED = "the header of a batch is damaged"
CONTINUES = b"\xff\xff\xff\xff"
#: The types of message that hold data.
DICTIONARY_BATCH, RECORD_BATCH = 2, 3


def check_arrow_file(file: Any) -> None:
    """Raise `TooLarge` if a batch of an Arrow file is above the bound."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 10, 0))
    tail = file.read(10)
    if len(tail) < 10 or tail[4:] != b"ARROW1":
        raise TooLarge("the end of the file is missing")
    length = struct.unpack_from("<i", tail)[0]
    if not 0 < length <= min(size, limits.ROW_BYTES):
        raise TooLarge("its footer is damaged")
    file.seek(size - 10 - length)
    footer = file.read(length)
    with _DamageCheck():
        for index in (2, 3):
            for at in _vector(footer, _root(footer), index, 24):
                offset, _, body = struct.unpack_from("<qi4xq", footer, at)
                _check_file_block(file, offset, body, size)
    file.seek(0)


def _check_file_block(file: Any, offset: int, body: int, size: int) -> None:
    """Check one batch of a file, whose body has `body` bytes."""
    if not 0 <= offset <= size:
        raise TooLarge("its footer is damaged")
    file.seek(offset)
    head = file.read(8)
    if head[:4] == CONTINUES:
        length, start = struct.unpack_from("<i", head, 4)[0], offset + 8
    else:
        length, start = struct.unpack_from("<i", head)[0], offset + 4
    _check_header_length(length)
    file.seek(start)
    header = file.read(length)

    def first_bytes(at: int) -> bytes:
        file.seek(start + length + at)
        found: bytes = file.read(8)
        return found

    _check_message(header, body, first_bytes)


class CheckedStream(io.RawIOBase):
    """An Arrow stream that passes on one message at a time, after checking it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the current message, as far as that goes."""
        if not self._ready:
            self._ready = memoryview(self._message())
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n

    def _read(self, n: int) -> bytes:
        found = bytearray()
        while len(found) < n:
            more = self._stream.read(min(n - len(found), 1 << 20))
            if not more:
                break
            found += more
        return bytes(found)

    def _message(self) -> bytes:
        """Return the next message, checked; fewer than four bytes at the end of the stream."""
        head = self._read(4)
        if head == CONTINUES:
            head += self._read(4)
        if len(head) < 4:
            return head
        length = struct.unpack_from("<i", head, len(head) - 4)[0]
        _check_header_length(length)
        if length == 0:
            return head
        header = self._read(length)
        with _DamageCheck():
            place = _field(header, _root(header), 3)
            size = 0 if place is None else struct.unpack_from("<q", header, place)[0]
            if not 0 <= size <= limits.BATCH_BYTES:
                raise TooLarge(
                    f"a batch has {size:,} bytes, and {limits.BATCH_BYTES:,} is the most"
                )
            body = self._read(size)
            _check_message(header, size, lambda at: body[at : at + 8])
        return b"".join([head, header, body])


class _DamageCheck:
    """A block in which errors of a damaged header become `TooLarge`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        if isinstance(error, struct.error | IndexError):
            raise TooLarge(DAMAGED) from None


def _check_header_length(length: int) -> None:
    if not 0 <= length <= limits.ROW_BYTES:
        raise TooLarge(
            f"the header of a batch has {length:,} bytes, and {limits.ROW_BYTES:,} is the most"
        )


def _check_message(header: bytes, body: int, first_bytes: Callable[[int], bytes]) -> None:
    """Raise `TooLarge` if the buffers of a batch unpack to more than the bound.

    `first_bytes` returns the 8 bytes at a place in the body.
    """
    root = _root(header)
    place = _field(header, root, 1)
    kind = 0 if place is None else header[place]
    if kind not in (DICTIONARY_BATCH, RECORD_BATCH):
        return
    batch = _table(header, root, 2)
    if kind == DICTIONARY_BATCH:
        batch = _table(header, batch, 1)
    packed = _field(header, batch, 3) is not None
    total = 0
    for at in _vector(header, batch, 2, 16):
        offset, length = struct.unpack_from("<qq", header, at)
        if offset < 0 or length < 0 or offset + length > body:
            raise TooLarge(DAMAGED)
        if packed and length >= 8:
            size = struct.unpack("<q", first_bytes(offset))[0]
            length = length - 8 if size == -1 else size  # -1: this buffer is not compressed
            if length < 0:
                raise TooLarge(DAMAGED)
        total += length
    if total > limits.BATCH_BYTES:
        raise TooLarge(
            f"a batch unpacks to {total:,} bytes, and {limits.BATCH_BYTES:,} is the most"
        )


# FlatBuffers


def _root(data: bytes) -> int:
    """Return where the root table is."""
    root: int = struct.unpack_from("<I", data)[0]
    return root


def _field(data: bytes, table: int, index: int) -> int | None:
    """Return where a field of a table is, or None if it is not there."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    if fields < 0:
        raise IndexError
    slot = 4 + 2 * index
    if slot >= struct.unpack_from("<H", data, fields)[0]:
        return None
    offset = struct.unpack_from("<H", data, fields + slot)[0]
    return table + offset if offset else None


def _table(data: bytes, table: int, index: int) -> int:
    """Return where the table in a field is."""
    place = _field(data, table, index)
    if place is None:
        raise IndexError
    found: int = place + struct.unpack_from("<I", data, place)[0]
    return found


def _vector(data: bytes, table: int, index: int, width: int) -> range:
    """Return where the elements of a vector are, each `width` bytes long."""
    if _field(data, table, index) is None:
        return range(0)
    start = _table(data, table, index)
    n = struct.unpack_from("<I", data, start)[0]
    if start + 4 + n * width > len(data):
        raise IndexError
    return range(start + 4, start + 4 + n * width, width)
