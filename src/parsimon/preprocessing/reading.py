"""Columns from blocks: pyarrow, pandas, polars, or dicts of arrays or lists."""

from __future__ import annotations

import datetime
import importlib
import importlib.util
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.preprocessing.columns import DAY, Array, Column, TableError, nearest

__all__ = ["number_of", "raw_columns", "read_table"]


def read_table(block: Any, names: Iterable[str] | None = None) -> dict[str, Column]:
    """Return the columns of a block.

    A block is a pyarrow table or record batch, a pandas or polars frame, or a dict of columns.
    Booleans become 0 and 1. Times become seconds since 1970, in UTC if they have a time zone. None,
    NaN, NaT and nulls are missing values. With `names`, only these columns are read, and all of
    them must exist.

    >>> columns = read_table({"size": [1.5, None], "shop": ["town", "village"]})
    >>> columns["size"].kind, columns["shop"].kind
    ('number', 'text')
    """
    raw = raw_columns(block)
    wanted = list(raw) if names is None else list(names)
    for name in wanted:
        if name not in raw:
            raise TableError(f"the rows have no such column: {nearest(name, raw)}", name)
    columns = {name: _column(name, raw[name]) for name in wanted}
    sizes = {name: len(column.values) for name, column in columns.items()}
    for name, size in sizes.items():
        if size != (first := next(iter(sizes.values()))):
            raise TableError(f"it has {size} values, but the first column has {first}", name)
    return columns


def raw_columns(block: Any) -> dict[str, Any]:
    """Return the columns of a block by name, in the type of the block's library."""
    if isinstance(block, Mapping):
        names, columns = list(block), list(block.values())
    elif hasattr(block, "column_names") and hasattr(block, "column"):  # a Table
        names, columns = block.column_names, block.columns
    elif hasattr(block, "schema") and hasattr(block, "column"):  # a RecordBatch
        names, columns = block.schema.names, block.columns
    elif hasattr(block, "columns") and hasattr(block, "shape") and len(block.shape) == 2:
        names = list(block.columns)
        columns = [
            block.iloc[:, i] if hasattr(block, "iloc") else block[name]
            for i, name in enumerate(names)
        ]
    else:
        raise TypeError(
            "a block must be a pyarrow table or record batch, a pandas or polars frame, "
            f"or a dict of columns, got {type(block).__name__}"
        )
    found = {str(name): column for name, column in zip(names, columns, strict=True)}
    if len(found) != len(names):
        twice = next(name for name, n in Counter(map(str, names)).items() if n > 1)
        raise TableError("there is more than one column of this name", twice)
    return found


def _column(name: str, raw: Any) -> Column:
    if hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "__arrow_c_array__"):
        if _pyarrow() is not None:
            return _arrow_column(name, raw)
        raw = raw.to_numpy()
    if isinstance(raw, list | tuple):
        values = np.empty(len(raw), dtype=object)
        values[:] = raw
    else:
        values = np.asarray(raw)
    if values.ndim != 1:
        raise TableError(f"it must have one dimension, got shape {values.shape}", name)
    if values.dtype.kind in "biuf":
        return Column(
            "boolean" if values.dtype.kind == "b" else "number", values.astype(np.float64), []
        )
    if values.dtype.kind == "M":
        kind = "date" if np.datetime_data(values.dtype)[0] in ("Y", "M", "W", "D") else "timestamp"
        return Column(kind, _seconds(values - np.datetime64(0, "s")), [])
    if values.dtype.kind == "m":
        return Column("duration", _seconds(values), [])
    if values.dtype.kind not in "OUT":
        raise TableError(f"values of type {values.dtype} cannot be used", name)
    return _object_column(name, values.tolist())


@cache
def _pyarrow() -> Any:
    """Return the module, or None if it is not installed."""
    found = importlib.util.find_spec("pyarrow") is not None
    return importlib.import_module("pyarrow") if found else None


def _seconds(spans: NDArray[Any]) -> Array:
    result: Array = spans / np.timedelta64(1, "s")  # NaT becomes NaN
    return result


def _arrow_column(name: str, raw: Any) -> Column:
    pa = _pyarrow()
    at = pa.types
    try:
        array = raw if isinstance(raw, pa.Array | pa.ChunkedArray) else pa.chunked_array(raw)
        if at.is_dictionary(array.type):
            chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
            array = pa.chunked_array(
                [_plain(c.dictionary).take(c.indices) for c in chunks],
                type=None if chunks else pa.null(),
            )
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TableError(f"it cannot be read: {error}", name) from None
    kind, n = array.type, len(array)

    def numbers(integers: Any = None) -> Array:
        cast = array if integers is None else array.cast(integers)
        cast = cast if cast.type == pa.float64() else cast.cast(pa.float64(), safe=False)
        chunks = cast.chunks if isinstance(cast, pa.ChunkedArray) else [cast]
        found: Array = (
            chunks[0].to_numpy(zero_copy_only=False) if len(chunks) == 1 else cast.to_numpy()
        )
        return found  # nulls are NaN

    if at.is_null(kind):
        return Column("empty", np.full(n, np.nan), [])
    if at.is_integer(kind) or at.is_floating(kind) or at.is_decimal(kind):
        return Column("number", numbers(), [])
    if at.is_boolean(kind):
        return Column("boolean", numbers(pa.uint8()), [])
    units = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
    if at.is_timestamp(kind) or at.is_duration(kind):
        return Column(
            "timestamp" if at.is_timestamp(kind) else "duration",
            numbers(pa.int64()) / units[kind.unit],
            [],
        )
    if at.is_time(kind):
        return Column(
            "time", numbers(pa.int32() if at.is_time32(kind) else pa.int64()) / units[kind.unit], []
        )
    if at.is_date(kind):
        return Column(
            "date",
            numbers(pa.int32()) * DAY if at.is_date32(kind) else numbers(pa.int64()) / units["ms"],
            [],
        )
    if at.is_string(kind) or at.is_large_string(kind) or at.is_string_view(kind):
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        texts = [_plain(chunk) for chunk in chunks] or [pa.array([], pa.large_string())]
        encoded = pa.concat_arrays(texts).dictionary_encode()
        codes = np.array(encoded.indices.fill_null(-1), dtype=np.float64)
        return Column(
            "text" if array.null_count < n else "empty", codes, encoded.dictionary.to_pylist()
        )
    raise TableError(
        f"values of type {kind} cannot be used: "
        "leave the column out, or make numbers or text of it",
        name,
    )


def _plain(values: Any) -> Any:
    """Return text of any layout in the layout that every function of pyarrow accepts."""
    pa = _pyarrow()
    return values.cast(pa.large_string()) if "string" in str(values.type) else values


def _object_column(name: str, values: list[Any]) -> Column:
    """Return a column of Python objects."""
    kinds = [_kind(value) for value in values]
    kind = next((k for k in kinds if k != "empty"), "empty")
    for row, other in enumerate(kinds):
        if not other:
            raise TableError(f"{values[row]!r} cannot be used", name, row)
        if other not in (kind, "empty"):
            raise TableError(
                f"{values[row]!r} is {other}, where the values before are {kind}", name, row
            )
    if kind == "text":
        index: dict[str, int] = {}
        codes = [
            -1 if k == "empty" else index.setdefault(str(v), len(index))
            for v, k in zip(values, kinds, strict=True)
        ]
        return Column(kind, np.array(codes, dtype=np.float64), list(index))
    try:
        numbers = [
            np.nan if k == "empty" else number_of(v) for v, k in zip(values, kinds, strict=True)
        ]
    except OverflowError:
        raise TableError("a number is too large", name) from None
    return Column(kind, np.array(numbers, dtype=np.float64), [])


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "empty"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Real | Decimal):
        return "number" if value == value else "empty"  # NaN is missing
    if isinstance(value, datetime.datetime):
        return "timestamp"
    kinds = {datetime.date: "date", datetime.time: "time", datetime.timedelta: "duration"}
    return next((kind for cls, kind in kinds.items() if isinstance(value, cls)), "")


def number_of(value: Any) -> float:
    """Return a value that is not text as a number. Times are in seconds since 1970."""
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
    if isinstance(value, datetime.date):
        return DAY * (value.toordinal() - datetime.date(1970, 1, 1).toordinal())
    if isinstance(value, datetime.time):
        return value.hour * 3600.0 + value.minute * 60.0 + value.second + value.microsecond / 1e6
    return value.total_seconds() if isinstance(value, datetime.timedelta) else float(value)
