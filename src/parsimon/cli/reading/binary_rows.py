"""Read Parquet and Arrow IPC, in blocks of bounded size."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from parsimon.cli.errors import Failure
from parsimon.cli.reading import limits
from parsimon.cli.reading.arrow_messages import CheckedStream, check_arrow_file
from parsimon.cli.reading.blocks import Dialect, Part
from parsimon.cli.reading.byte_stream import ByteStream
from parsimon.cli.reading.column_types import ColumnTypes
from parsimon.cli.reading.limits import TooLarge
from parsimon.cli.reading.parquet_pages import dictionary_columns, rows_at_once
from parsimon.cli.reading.row_errors import first_line
from parsimon.cli.reading.row_sizes import cut_into_blocks, is_nested
from parsimon.cli.reading.text_reader import require_few_columns

__all__ = ["ArrowReader", "ParquetReader"]


class BinaryReader:
    """What the readers of Parquet and Arrow share.

    Parameters
    ----------
    stream : the bytes.
    columns : the types of the columns.
    copies : also give the rows as they are written, to copy them.

    Attributes
    ----------
    names : the names of all columns, after the first block.
    """

    decimal: str | None = None
    dialect = Dialect()

    def __init__(self, stream: ByteStream, columns: ColumnTypes, *, copies: bool) -> None:
        self.stream, self.columns, self.copies, self.path = stream, columns, copies, stream.path
        self.names: list[str] = []
        self._rows = 0  # rows given so far
        self._all_rows: int | None = None  # rows of the file, if known
        self._batches: tuple[int, int] | None = None  # batches given so far, of how many

    def fraction(self) -> float | None:
        """Return the fraction of the data that was given so far, or None if unknown."""
        if self._all_rows is not None:
            return self._rows / max(self._all_rows, 1)
        if self._batches is not None:
            return self._batches[0] / max(self._batches[1], 1)
        return self.stream.fraction()

    def parts(self) -> Iterator[Part]:
        """Yield the rows."""
        for batch, schema in self.batches():
            try:
                for table, written in cut_into_blocks(batch, schema):
                    if self.columns.formats is None:
                        types = dict(zip(table.column_names, table.schema.types, strict=True))
                        self.columns.settle_formats(types, table.column)
                    first = self._rows
                    self._rows += table.num_rows
                    yield Part(self.columns.read_dates(table, first), written, table.num_rows)
            except TooLarge as error:
                if error.row is None:
                    raise
                raise Failure(f"{self.path}: row {self._rows + 1:,}: {error}") from None

    def batches(self) -> Iterator[tuple[Any, Any]]:
        """Yield batches of the chosen columns, each with its schema in the file."""
        raise NotImplementedError

    def choose_columns(self, schema: Any) -> list[int]:
        """Return the indices of the columns that are needed. Nested ones can only be copied."""
        self.names = schema.names
        require_few_columns(len(schema.names), self.path)
        chosen = []
        for i, (name, kind) in enumerate(zip(schema.names, schema.types, strict=True)):
            if not self.copies and self.columns.is_unused(name):
                continue
            if not self.copies and is_nested(kind):
                raise Failure(
                    f"column {name!r}: values of type {first_line(str(kind))} cannot be used: "
                    "leave the column out with --ignore, or convert it to numbers or text"
                )
            chosen.append(i)
        if not chosen:  # the error that follows can then list the columns
            chosen = [i for i, kind in enumerate(schema.types) if not is_nested(kind)]
        return chosen


class ParquetReader(BinaryReader):
    """Reads Parquet."""

    def batches(self) -> Iterator[tuple[Any, Any]]:
        """Yield batches of the chosen columns, each with its schema in the file."""
        place = self.stream.seekable("parquet")
        plain = pa.parquet.ParquetFile(place)
        metadata, schema = plain.metadata, plain.schema_arrow
        chosen = self.choose_columns(schema)
        leaves = _leaf_columns(schema, chosen, metadata.num_columns)
        names = [schema.names[i] for i in chosen]
        self._all_rows = metadata.num_rows
        file, before = None, []
        with contextlib.ExitStack() as resources:
            raw = resources.enter_context(open(place, "rb")) if isinstance(place, str) else place
            for group in range(metadata.num_row_groups):
                rows = rows_at_once(raw, metadata, group, leaves)
                indices = dictionary_columns(metadata, group, leaves)
                texts = [metadata.schema.column(i).path for i in indices]
                if file is None or texts != before:
                    file = pa.parquet.ParquetFile(
                        place,
                        read_dictionary=texts,
                        buffer_size=limits.TEXT_BLOCK,
                        metadata=metadata,
                    )
                    before = texts
                for batch in file.iter_batches(rows, row_groups=[group], columns=names):
                    yield batch.select(names), pa.schema([schema.field(i) for i in chosen])


def _leaf_columns(schema: Any, chosen: list[int], total: int) -> list[int]:
    """Return the indices of the Parquet columns that the chosen columns of a schema have."""
    at = 0
    leaves: list[int] = []
    for i, field in enumerate(schema):
        n = _leaf_count(field.type)
        leaves += range(at, at + n) if i in chosen else []
        at += n
    return leaves if at == total else list(range(total))  # a type that we do not know: take all


def _leaf_count(kind: Any) -> int:
    """Return how many columns of Parquet a type has."""
    if not is_nested(kind):
        return 1
    return sum(_leaf_count(kind.field(i).type) for i in range(kind.num_fields))


class ArrowReader(BinaryReader):
    """Reads Arrow IPC, as a file or as a stream."""

    def batches(self) -> Iterator[tuple[Any, Any]]:
        """Yield batches of the chosen columns, each with its schema in the file."""
        if self.stream.peek().startswith(b"ARROW1"):
            place = self.stream.seekable("arrow")
            with contextlib.ExitStack() as resources:
                is_path = isinstance(place, str)
                check_arrow_file(resources.enter_context(open(place, "rb")) if is_path else place)
            reader = pa.ipc.open_file(place)
            batches = self._file_batches(reader)
        else:
            checked = io.BufferedReader(CheckedStream(self.stream.stream))
            reader = batches = pa.ipc.open_stream(pa.PythonFile(checked, "r"))
        chosen = self.choose_columns(reader.schema)
        for batch in batches:
            yield batch.select(chosen), pa.schema([reader.schema.field(i) for i in chosen])

    def _file_batches(self, reader: Any) -> Iterator[Any]:
        for i in range(reader.num_record_batches):
            self._batches = i + 1, reader.num_record_batches
            yield reader.get_batch(i)
