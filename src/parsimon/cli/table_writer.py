"""Write tables as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from parsimon._files import Output, is_stream, writing
from parsimon.cli.errors import Failure
from parsimon.cli.paths import require_writable
from parsimon.cli.reading import Dialect

__all__ = ["FORMATS", "output_format", "table_writer"]

#: Formats by suffix.
FORMATS = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}
#: How a CSV is written, if no other CSV is copied.
PLAIN = Dialect()


def output_format(out: Path | None) -> str | None:
    """Return the format that the suffix chooses, or fail if the path cannot be written.

    None is returned for standard output, and for a FIFO or a device without such a suffix.
    """
    if out is None:
        return None
    require_writable(out)
    found = FORMATS.get(out.suffix.lower())
    if found is None and not is_stream(out):
        raise Failure(
            f"{out}: the suffix must be one of {', '.join(FORMATS)}: CSV, JSON lines or Parquet"
        )
    return found


@contextmanager
def table_writer(out: Path | None, format_name: str) -> Iterator[Any]:
    """Give a function that writes tables. A file appears when all of it is written."""
    if out is None:
        yield _TextWriter(sys.stdout.write, format_name)
        sys.stdout.flush()
        return
    with writing(out) as file:
        if format_name == "parquet":
            writer = _ParquetWriter(file)
            yield writer
            writer.close()
        else:
            yield _TextWriter(lambda text: file.write(text.encode()), format_name)


class _TextWriter:
    """Writes tables as CSV or JSON lines."""

    def __init__(self, write: Callable[[str], object], format_name: str) -> None:
        self._write, self._json, self._began = write, format_name == "json", False

    def __call__(self, rows: Any, dialect: Dialect = PLAIN) -> None:
        buffer = io.StringIO()  # a block is written at once
        if self._json:
            for row in rows.to_pylist():
                buffer.write(json.dumps(row, default=str) + "\n")
        else:
            writer = csv.writer(buffer, delimiter=dialect.delimiter, lineterminator="\n")
            if not self._began:
                writer.writerow(rows.column_names)
            columns = (_with_decimal(c.to_pylist(), dialect.decimal) for c in rows.columns)
            writer.writerows(zip(*columns, strict=True))
        self._began = True
        self._write(buffer.getvalue())


def _with_decimal(values: list[Any], decimal: str) -> list[Any]:
    """Return values with their decimal mark replaced in floats.

    >>> _with_decimal([1.5, "a.b", 2], ",")
    ['1,5', 'a.b', 2]
    """
    if decimal == ".":
        return values
    return [str(v).replace(".", decimal) if isinstance(v, float) else v for v in values]


class _ParquetWriter:
    """Writes tables as Parquet."""

    def __init__(self, file: Output) -> None:
        self._file = file
        self._writer: Any = None

    def __call__(self, rows: Any, dialect: Dialect = PLAIN) -> None:
        if self._writer is None:
            self._writer = pa.parquet.ParquetWriter(self._file, rows.schema)
        self._writer.write_table(rows)

    def close(self) -> None:
        if self._writer is None:
            raise Failure("there are no rows to write")
        self._writer.close()
