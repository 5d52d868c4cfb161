"""Cut batches of Parquet and Arrow into blocks of bounded size, with dictionaries decoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from parsimon.cli.reading import limits
from parsimon.cli.reading.limits import TooLarge

__all__ = ["cut_into_blocks", "is_nested"]

Counts = NDArray[np.int64]


def is_nested(kind: Any) -> bool:
    """Return whether values of a type hold other values."""
    return bool(pa.types.is_nested(kind))


def cut_into_blocks(batch: Any, schema: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a batch in blocks of bounded bytes.

    Each block is given twice: with its dictionaries decoded, and as `schema` has it. A row above
    the bound raises `TooLarge`, after the rows before it.
    """
    batch.validate(full=True)
    memo: dict[Any, Counts] = {}
    for first in range(0, batch.num_rows, limits.BLOCK_ROWS):
        rows = batch.slice(first, limits.BLOCK_ROWS)
        sizes = sum(
            (_value_sizes(column, memo) for column in rows.columns),
            np.zeros(rows.num_rows, np.int64),
        )
        long = np.flatnonzero(sizes > limits.ROW_BYTES)
        ends = np.cumsum(sizes)
        at, good = 0, int(long[0]) if len(long) else rows.num_rows
        while at < good:
            before = int(ends[at - 1]) if at else 0
            n = int(np.searchsorted(ends, before + limits.BLOCK_BYTES, side="right")) - at
            n = min(max(n, 1), good - at)
            yield _as_tables(rows.slice(at, n), schema)
            at += n
        if good < rows.num_rows:
            raise TooLarge(
                f"it has {int(sizes[good]):,} bytes, and {limits.ROW_BYTES:,} is the most of a row",
                first + good,
            )


def _as_tables(batch: Any, schema: Any) -> tuple[Any, Any]:
    """Return rows as a table without dictionaries, and as a table of the schema's types."""
    plain = [_decoded(column) for column in batch.columns]
    written = [
        column if column.type == field.type else decoded
        for column, decoded, field in zip(batch.columns, plain, schema, strict=True)
    ]
    names = batch.schema.names
    return pa.table(plain, names), pa.table(written, names)


def _value_sizes(array: Any, memo: dict[Any, Counts]) -> Counts:
    """Return the bytes of each value, (n,), when dictionaries are decoded.

    `memo` keeps the sizes of dictionaries, which several arrays can share.
    """
    at, kind, n = pa.types, array.type, len(array)
    if isinstance(kind, pa.BaseExtensionType):
        return _value_sizes(array.storage, memo)
    if at.is_dictionary(kind):
        return _dictionary_sizes(array, memo)
    if str(kind) in ("string_view", "binary_view"):
        lengths = np.frombuffer(array.buffers()[1], dtype=np.int32)[::4]
        lengths = lengths[array.offset : array.offset + n]
        return 16 + np.where(np.asarray(array.is_valid()), lengths, 0).astype(np.int64)
    texts = (at.is_string, at.is_large_string, at.is_binary, at.is_large_binary)
    if any(test(kind) for test in texts):
        return 8 + np.asarray(pa.compute.binary_length(array).fill_null(0)).astype(np.int64)
    if at.is_list(kind) or at.is_large_list(kind) or at.is_map(kind):
        return _list_sizes(array, memo)
    if at.is_fixed_size_list(kind):
        inner = array.values.slice(array.offset * kind.list_size, n * kind.list_size)
        each: Counts = _value_sizes(inner, memo).reshape(n, kind.list_size).sum(axis=1)
        return each
    if at.is_struct(kind):
        fields = [_value_sizes(array.field(i), memo) for i in range(kind.num_fields)]
        total: Counts = np.sum([np.ones(n, np.int64), *fields], axis=0)
        return total
    if at.is_null(kind):
        return np.zeros(n, np.int64)
    try:
        return np.full(n, max(kind.bit_width // 8, 1), np.int64)
    except ValueError:
        raise TooLarge(
            f"values of type {kind} cannot be used: "
            "leave the column out, or convert it to numbers or text"
        ) from None


def _dictionary_sizes(array: Any, memo: dict[Any, Counts]) -> Counts:
    buffers = (b.address for b in array.dictionary.buffers() if b is not None)
    key = (*buffers, len(array.dictionary))
    if key not in memo:
        memo[key] = np.append(_value_sizes(array.dictionary, memo), 0)
    codes = array.indices
    if array.null_count:
        codes = codes.fill_null(len(array.dictionary))
    return memo[key][np.asarray(codes).astype(np.int64)]


def _list_sizes(array: Any, memo: dict[Any, Counts]) -> Counts:
    offsets = np.asarray(array.offsets).astype(np.int64)
    if pa.types.is_map(array.type):
        child = pa.StructArray.from_arrays([array.keys, array.items], ["k", "v"])
    else:
        child = array.values
    inner = child.slice(offsets[0], offsets[-1] - offsets[0])
    ends = np.concatenate([[0], np.cumsum(_value_sizes(inner, memo))])
    sizes: Counts = 8 + np.diff(ends[offsets - offsets[0]])
    return sizes


def _decoded(array: Any) -> Any:
    """Return an array without dictionaries."""
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
