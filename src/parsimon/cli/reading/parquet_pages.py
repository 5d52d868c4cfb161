"""Check the pages of a Parquet file before they are unpacked.

Each page has a header (Thrift, compact protocol) that says how large the page will be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from parsimon.cli.reading import limits
from parsimon.cli.reading.limits import TooLarge

__all__ = ["dictionary_columns", "rows_at_once"]

#: Fields of a page header: sizes, and the headers of data, dictionary and version 2 data pages.
UNPACKED_SIZE, PACKED_SIZE, DATA, DICTIONARY, DATA_V2 = 2, 3, 5, 7, 8
#: The encoding whose values share their beginnings.
DELTA_BYTE_ARRAY = 7
#: Bytes of a header that are read, tried in this order.
HEADER_BYTES = (1 << 10, 1 << 16, 1 << 25)


class Page(NamedTuple):
    """A page: its bytes when unpacked, its values, and "dictionary", "data" or "delta".

    Values of a "delta" page share their beginnings, so they can be longer than the page suggests.
    """

    size: int
    values: int
    kind: str


def dictionary_columns(metadata: Any, group: int, columns: Sequence[int]) -> list[int]:
    """Return the text columns of a row group that can be read as dictionaries, to save memory."""
    chunks, schema = metadata.row_group(group), metadata.schema
    texts = [i for i in columns if schema.column(i).physical_type == "BYTE_ARRAY"]
    return [
        i for i in texts if not any("DELTA" in encoding for encoding in chunks.column(i).encodings)
    ]


def rows_at_once(file: Any, metadata: Any, group: int, columns: Sequence[int]) -> int:
    """Return how many rows of a row group can be decoded at a time.

    Parameters
    ----------
    file : open for reading bytes.
    metadata : of the Parquet file.
    group : index of the row group. It is rejected if a page is above its bound.
    columns : indices of the columns that will be read.
    """
    chunks = metadata.row_group(group)
    as_dictionaries = set(dictionary_columns(metadata, group, columns))
    held, row_width = 0, 0.0
    for index in columns:
        chunk, leaf = chunks.column(index), metadata.schema.column(index)
        where = f"column {chunk.path_in_schema!r}, row group {group + 1:,}"
        nested = leaf.max_repetition_level > 0
        if nested and chunk.num_values > limits.NESTED_VALUES:
            raise TooLarge(
                f"{where}: it has more than {limits.NESTED_VALUES:,} values, "
                "the most of a nested column"
            )
        decoded = leaf.physical_type == "BYTE_ARRAY" and index not in as_dictionaries
        largest, width = _largest_page(_pages(file, chunk, where), decoded)
        width = max(width, float(leaf.length or 0))
        per_row = chunk.num_values / max(chunks.num_rows, 1)
        row_width += width * (max(per_row, 1.0) if nested else 1.0)
        held += largest
    if held > limits.HELD_PAGE_BYTES:
        raise TooLarge(
            f"row group {group + 1:,}: its pages have more than {limits.HELD_PAGE_BYTES:,} bytes, "
            "the most at once"
        )
    return int(min(max(limits.BLOCK_BYTES / max(row_width, 1.0), 1), limits.BLOCK_ROWS))


def _largest_page(pages: Iterator[Page], decoded: bool) -> tuple[int, float]:
    """Return the bytes of the largest page, and a bound on the mean bytes of its values."""
    largest, width = 0, 16.0
    for page in pages:
        largest = max(largest, page.size)
        if page.kind == "delta" or (page.kind == "dictionary" and decoded):
            width = max(width, float(page.size))  # every value can be that long
        elif page.kind == "data":
            width = max(width, page.size / max(page.values, 1))
    return largest, width


def _pages(file: Any, chunk: Any, where: str) -> Iterator[Page]:
    """Yield the pages of a column chunk."""
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    at = min(starts)
    end = at + chunk.total_compressed_size
    while at < end:
        header, length = _page_header(file, at, end)
        data = header.get(DATA) or header.get(DATA_V2) or {}
        inner = data or header.get(DICTIONARY) or {}
        size, packed = header.get(UNPACKED_SIZE, -1), header.get(PACKED_SIZE, -1)
        values = inner.get(1, 0) if isinstance(inner, dict) else -1
        if not all(type(n) is int and n >= 0 for n in (size, packed, values)):
            raise TooLarge(f"{where}: a page is damaged")
        if size > limits.PAGE_BYTES:
            raise TooLarge(
                f"{where}: a page has {size:,} bytes, and {limits.PAGE_BYTES:,} is the most"
            )
        if header.get(DICTIONARY) and values > size:
            raise TooLarge(f"{where}: its dictionary is damaged")
        encoding = data.get(2 if header.get(DATA) else 4)
        kind = "delta" if encoding == DELTA_BYTE_ARRAY else "data"
        yield Page(size, values, kind if data else "dictionary")
        at += length + packed


def _page_header(file: Any, at: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a page header and its length."""
    for room in HEADER_BYTES:
        file.seek(at)
        data = file.read(min(room, end - at))
        try:
            return _thrift_struct(data, 0, 0)
        except IndexError:
            if len(data) < room:
                break
    raise TooLarge("a page header is damaged")


def _thrift_struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by their numbers, and where it ends."""
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
            field, at = _zigzag(data, at)
        fields[field], at = _thrift_value(data, at, head & 15, depth)


def _thrift_value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Return a value and where it ends; None for values that are not needed."""
    if kind in (1, 2):  # the type itself says true or false
        return kind == 1, at
    if kind in (4, 5, 6):
        return _zigzag(data, at)
    if kind == 8:
        length, at = _varint(data, at)
        if at + length > len(data):
            raise IndexError
        return None, at + length
    if kind in (3, 7):
        return None, at + (1 if kind == 3 else 8)
    if kind == 12 and depth < 8:
        return _thrift_struct(data, at, depth + 1)
    raise TooLarge("a page header is damaged")  # page headers have no lists or maps


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    """Return a signed whole number and where it ends."""
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an unsigned whole number and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise TooLarge("a page header is damaged")
