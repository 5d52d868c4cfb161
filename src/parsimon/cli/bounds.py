"""Bounds on what a data file unpacks to, kept before it is unpacked: a small file can hold very
much.

Parquet and Arrow say in their headers how large each part will be. These headers are read here,
and a part above its bound is refused. What is left is cut into blocks by their decoded size.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

__all__ = [
    "Checked",
    "TooLarge",
    "batch_rows",
    "check_arrow_file",
    "cut",
    "dictionaries",
    "is_nested",
]

#: The most bytes of one row or value, as text or decoded.
LONGEST = 1 << 26
#: Bytes of decoded Parquet and Arrow that are given at a time, if one row is not more.
BYTES = 1 << 24
#: Rows of Parquet and Arrow that are given at a time.
ROWS = 8192
#: The most bytes of one page of Parquet, unpacked, and of the pages held at once, one for each
#: column.
PAGE, PAGES = 1 << 27, 1 << 30
#: The most values of a nested column in one row group of Parquet.
NESTED = 1 << 26
#: The most bytes of one batch of Arrow, unpacked.
BATCH = 1 << 30

Counts = NDArray[np.int64]


class TooLarge(Exception):
    """Something above its bound; the message names the bound, `row` is where, as far as that is
    known.
    """

    def __init__(self, what: str, row: int | None = None) -> None:
        super().__init__(what)
        self.row = row


# Parquet


def dictionaries(metadata: Any, group: int, columns: Sequence[int]) -> list[int]:
    """Return the columns of text of a row group that can be read as dictionaries, and so in little
    memory.
    """
    chunks, schema = metadata.row_group(group), metadata.schema
    texts = [i for i in columns if schema.column(i).physical_type == "BYTE_ARRAY"]
    return [
        i for i in texts if not any("DELTA" in encoding for encoding in chunks.column(i).encodings)
    ]


def batch_rows(file: Any, metadata: Any, group: int, columns: Sequence[int]) -> int:
    """Return how many rows of a row group can be decoded at a time, or refuse the group.

    `file` is open for reading bytes, `columns` are the indices of the columns that will be read.
    """
    chunks, kept = metadata.row_group(group), set(dictionaries(metadata, group, columns))
    held, row = 0, 0.0
    for index in columns:
        chunk, leaf = chunks.column(index), metadata.schema.column(index)
        where = f"column {chunk.path_in_schema!r}, row group {group + 1:,}"
        nested = leaf.max_repetition_level > 0
        if nested and chunk.num_values > NESTED:
            raise TooLarge(
                f"{where}: it has more than {NESTED:,} values, the most of a nested column"
            )
        largest, dense = 0, 16.0
        decoded = leaf.physical_type == "BYTE_ARRAY" and index not in kept
        for size, values, kind in _pages(file, chunk, where):
            largest = max(largest, size)
            # Any value can be that long
            whole = kind == "delta" or (kind == "dictionary" and decoded)
            dense = max(
                dense,
                float(size if whole else 0 if kind == "dictionary" else size / max(values, 1)),
            )
        width = max(dense, float(leaf.length or 0))
        row += width * (max(chunk.num_values / max(chunks.num_rows, 1), 1.0) if nested else 1.0)
        held += largest
    if held > PAGES:
        raise TooLarge(
            f"row group {group + 1:,}: its pages have more than {PAGES:,} bytes, the most at once"
        )
    return int(min(max(BYTES / max(row, 1.0), 1), ROWS))


def _pages(file: Any, chunk: Any, where: str) -> Iterator[tuple[int, int, str]]:
    """Yield for each page its bytes, unpacked, its values, and "dictionary", "data" or "delta".

    The values of the last share their beginnings, so that they are longer than they seem.
    """
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    at = min(starts)
    end = at + chunk.total_compressed_size
    while at < end:
        header, length = _page_header(file, at, end)
        data = header.get(5) or header.get(8) or {}
        inner = data or header.get(7) or {}
        size, packed = header.get(2, -1), header.get(3, -1)
        values = inner.get(1, 0) if isinstance(inner, dict) else -1
        if not all(type(n) is int and n >= 0 for n in (size, packed, values)):
            raise TooLarge(f"{where}: a page of it is damaged")
        if size > PAGE:
            raise TooLarge(f"{where}: a page has {size:,} bytes, and {PAGE:,} is the most")
        if header.get(7) and values > size:
            raise TooLarge(f"{where}: its dictionary is damaged")
        encoding = data.get(2 if header.get(5) else 4)
        yield size, values, "dictionary" if not data else "delta" if encoding == 7 else "data"
        at += length + packed


def _page_header(file: Any, at: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a page header (Thrift, compact protocol) and its length."""
    for room in (1 << 10, 1 << 16, 1 << 25):
        file.seek(at)
        data = file.read(min(room, end - at))
        try:
            return _thrift_struct(data, 0, 0)
        except IndexError:
            if len(data) < room:
                break
    raise TooLarge("a page header is damaged")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise TooLarge("a page header is damaged")


def _thrift_struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    fields: dict[int, Any] = {}
    field = 0
    while True:
        head = data[at]
        at += 1
        if head == 0:
            return fields, at
        if head >> 4:
            field += head >> 4
        else:
            number, at = _varint(data, at)
            field = (number >> 1) ^ -(number & 1)
        fields[field], at = _thrift_value(data, at, head & 15, depth)


def _thrift_value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):  # true and false are in the type
        return kind == 1, at
    if kind in (4, 5, 6):
        number, at = _varint(data, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == 8:
        length, at = _varint(data, at)
        if at + length > len(data):
            raise IndexError
        return None, at + length
    if kind in (3, 7):
        return None, at + (1 if kind == 3 else 8)
    if kind == 12 and depth < 8:
        return _thrift_struct(data, at, depth + 1)
    raise TooLarge("a page header is damaged")  # no header of a page has lists or maps


# Arrow


def check_arrow_file(file: Any) -> None:
    """Refuse an Arrow file that has a batch above the bound."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 10, 0))
    tail = file.read(10)
    if len(tail) < 10 or tail[4:] != b"ARROW1":
        raise TooLarge("the end of the file is missing")
    length = struct.unpack_from("<i", tail)[0]
    if not 0 < length <= min(size, LONGEST):
        raise TooLarge("its footer is damaged")
    file.seek(size - 10 - length)
    footer = file.read(length)
    with _Damage():
        for index in (2, 3):
            for at in _vector(footer, _root(footer), index, 24):
                offset, _, body = struct.unpack_from("<qi4xq", footer, at)
                _check_block(file, offset, body, size)
    file.seek(0)


def _check_block(file: Any, offset: int, body: int, size: int) -> None:
    if not 0 <= offset <= size:
        raise TooLarge("its footer is damaged")
    file.seek(offset)
    head = file.read(8)
    if head[:4] == b"\xff\xff\xff\xff":
        length, start = struct.unpack_from("<i", head, 4)[0], offset + 8
    else:
        length, start = struct.unpack_from("<i", head)[0], offset + 4
    if not 0 <= length <= LONGEST:
        raise TooLarge(f"the header of a batch has {length:,} bytes, and {LONGEST:,} is the most")
    file.seek(start)
    header = file.read(length)

    def first_bytes(at: int) -> bytes:
        file.seek(start + length + at)
        found: bytes = file.read(8)
        return found

    _check_message(header, body, first_bytes)


class Checked(io.RawIOBase):
    """An Arrow stream that is passed on a message at a time, each within the bound."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, as far as the message at hand goes."""
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
        head = self._read(4)
        if head == b"\xff\xff\xff\xff":
            head += self._read(4)
        if len(head) < 4:
            return head
        length = struct.unpack_from("<i", head, len(head) - 4)[0]
        if not 0 <= length <= LONGEST:
            raise TooLarge(
                f"the header of a batch has {length:,} bytes, and {LONGEST:,} is the most"
            )
        if length == 0:
            return head
        header = self._read(length)
        with _Damage():
            place = _field(header, _root(header), 3)
            size = 0 if place is None else struct.unpack_from("<q", header, place)[0]
            if not 0 <= size <= BATCH:
                raise TooLarge(f"a batch has {size:,} bytes, and {BATCH:,} is the most")
            body = self._read(size)
            _check_message(header, size, lambda at: body[at : at + 8])
        return b"".join([head, header, body])


class _Damage:
    """Turns what a damaged header leads to into an error of ours."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        if isinstance(error, struct.error | IndexError):
            raise TooLarge("the header of a batch is damaged") from None


def _check_message(header: bytes, body: int, first_bytes: Callable[[int], bytes]) -> None:
    """Refuse a batch whose buffers unpack to more than the bound."""
    root = _root(header)
    place = _field(header, root, 1)
    kind = 0 if place is None else header[place]
    if kind not in (2, 3):  # a dictionary or a record batch
        return
    batch = _table(header, root, 2)
    if kind == 2:
        batch = _table(header, batch, 1)
    packed = _field(header, batch, 3) is not None
    total = 0
    for at in _vector(header, batch, 2, 16):
        offset, length = struct.unpack_from("<qq", header, at)
        if offset < 0 or length < 0 or offset + length > body:
            raise TooLarge("the header of a batch is damaged")
        if packed and length >= 8:
            size = struct.unpack("<q", first_bytes(offset))[0]
            length = length - 8 if size == -1 else size
            if length < 0:
                raise TooLarge("the header of a batch is damaged")
        total += length
    if total > BATCH:
        raise TooLarge(f"a batch unpacks to {total:,} bytes, and {BATCH:,} is the most")


def _root(data: bytes) -> int:
    root: int = struct.unpack_from("<I", data)[0]
    return root


def _field(data: bytes, table: int, index: int) -> int | None:
    """Return where a field of a table (FlatBuffers) is, or None."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    if fields < 0:
        raise IndexError
    slot = 4 + 2 * index
    if slot >= struct.unpack_from("<H", data, fields)[0]:
        return None
    offset = struct.unpack_from("<H", data, fields + slot)[0]
    return table + offset if offset else None


def _table(data: bytes, table: int, index: int) -> int:
    place = _field(data, table, index)
    if place is None:
        raise IndexError
    found: int = place + struct.unpack_from("<I", data, place)[0]
    return found


def _vector(data: bytes, table: int, index: int, width: int) -> range:
    """Return where the elements of a vector are."""
    if _field(data, table, index) is None:
        return range(0)
    start = _table(data, table, index)
    n = struct.unpack_from("<I", data, start)[0]
    if start + 4 + n * width > len(data):
        raise IndexError
    return range(start + 4, start + 4 + n * width, width)


# Blocks


def is_nested(kind: Any) -> bool:
    """Return whether values of a type hold other values."""
    return bool(pa.types.is_nested(kind))


def cut(batch: Any, schema: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a batch in blocks of bounded bytes: with its dictionaries decoded, and as `schema` has
    it.

    A row above the bound is refused.
    """
    batch.validate(full=True)
    memo: dict[Any, Counts] = {}
    for first in range(0, batch.num_rows, ROWS):
        rows = batch.slice(first, ROWS)
        sizes = sum(
            (_sizes(column, memo) for column in rows.columns), np.zeros(rows.num_rows, np.int64)
        )
        long = np.flatnonzero(sizes > LONGEST)
        ends = np.cumsum(sizes)
        at, good = 0, int(long[0]) if len(long) else rows.num_rows
        while at < good:
            before = int(ends[at - 1]) if at else 0
            n = min(
                max(int(np.searchsorted(ends, before + BYTES, side="right")) - at, 1), good - at
            )
            part = rows.slice(at, n)
            plain = [_decoded(column) for column in part.columns]
            written = [
                c if c.type == f.type else p
                for c, p, f in zip(part.columns, plain, schema, strict=True)
            ]
            yield pa.table(plain, part.schema.names), pa.table(written, part.schema.names)
            at += n
        if good < rows.num_rows:
            size = int(sizes[good])
            raise TooLarge(
                f"it has {size:,} bytes, and {LONGEST:,} is the most of a row", first + good
            )


def _sizes(array: Any, memo: dict[Any, Counts]) -> Counts:
    """Return the bytes of each value, (n,), as they are when dictionaries are decoded."""
    at, kind, n = pa.types, array.type, len(array)
    if isinstance(kind, pa.BaseExtensionType):
        return _sizes(array.storage, memo)
    if at.is_dictionary(kind):
        key = (
            *(b.address for b in array.dictionary.buffers() if b is not None),
            len(array.dictionary),
        )
        if key not in memo:
            memo[key] = np.append(_sizes(array.dictionary, memo), 0)
        codes = (
            array.indices.fill_null(len(array.dictionary)) if array.null_count else array.indices
        )
        return memo[key][np.asarray(codes).astype(np.int64)]
    if str(kind) in ("string_view", "binary_view"):
        views = np.frombuffer(array.buffers()[1], dtype=np.int32)[::4][
            array.offset : array.offset + n
        ]
        return 16 + np.where(np.asarray(array.is_valid()), views, 0).astype(np.int64)
    if any(
        test(kind) for test in (at.is_string, at.is_large_string, at.is_binary, at.is_large_binary)
    ):
        return 8 + np.asarray(pa.compute.binary_length(array).fill_null(0)).astype(np.int64)
    if at.is_list(kind) or at.is_large_list(kind) or at.is_map(kind):
        offsets = np.asarray(array.offsets).astype(np.int64)
        child = (
            pa.StructArray.from_arrays([array.keys, array.items], ["k", "v"])
            if at.is_map(kind)
            else array.values
        )
        inner = child.slice(offsets[0], offsets[-1] - offsets[0])
        ends = np.concatenate([[0], np.cumsum(_sizes(inner, memo))])
        sizes: Counts = 8 + np.diff(ends[offsets - offsets[0]])
        return sizes
    if at.is_fixed_size_list(kind):
        inner = array.values.slice(array.offset * kind.list_size, n * kind.list_size)
        each: Counts = _sizes(inner, memo).reshape(n, kind.list_size).sum(axis=1)
        return each
    if at.is_struct(kind):
        fields = [_sizes(array.field(i), memo) for i in range(kind.num_fields)]
        total: Counts = np.sum([np.ones(n, np.int64), *fields], axis=0)
        return total
    if at.is_null(kind):
        return np.zeros(n, np.int64)
    try:
        return np.full(n, max(kind.bit_width // 8, 1), np.int64)
    except ValueError:
        raise TooLarge(
            f"values of type {kind} cannot be used: leave the column out, or make numbers or text of it"
        ) from None


def _decoded(array: Any) -> Any:
    if pa.types.is_dictionary(array.type):
        return array.dictionary.take(array.indices)
    plain = _plain_type(array.type)
    return array if plain == array.type else array.cast(plain)


def _plain_type(kind: Any) -> Any:
    """Return a type without the dictionaries in it."""
    at = pa.types
    if at.is_dictionary(kind):
        return kind.value_type
    if at.is_struct(kind):
        return pa.struct([f.with_type(_plain_type(f.type)) for f in kind])
    if at.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type))
    for test, make in ((at.is_list, pa.list_), (at.is_large_list, pa.large_list)):
        if test(kind):
            return make(kind.value_field.with_type(_plain_type(kind.value_type)))
    return kind
