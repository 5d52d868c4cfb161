"""Read JSON lines: one object per line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.json

from parsimon.cli.errors import Failure
from parsimon.cli.reading import guesses, limits
from parsimon.cli.reading.blocks import Part
from parsimon.cli.reading.column_types import joint_type
from parsimon.cli.reading.json_text import is_deeper, json_values, split_by_cells
from parsimon.cli.reading.row_errors import CONVERT, json_failure
from parsimon.cli.reading.text_reader import TextReader, require_few_columns
from parsimon.cli.reading.text_rows import read_good_rows, split_rows

__all__ = ["JsonReader"]


class JsonReader(TextReader):
    """Reads JSON lines."""

    decimal: str | None = None

    def parts(self) -> Iterator[Part]:
        """Yield the rows."""
        first, columns = 0, self.columns
        for piece in self.stream.pieces(quoted=False):
            piece = piece if columns.types else piece.removeprefix(b"\xef\xbb\xbf")
            if not piece.strip():
                continue
            width = len(self.names)
            if not columns.types or self.copies:
                width = max(width, self._count_names(piece, first))
            if not columns.types:
                self._settle(piece, width, first)
            read = partial(self._read, schema=pa.schema(list(columns.types.items())))
            for some in split_by_cells(piece, width, limits.JSON_CELLS):
                part = self.read_part(some, read, first)
                if self.copies:
                    part = part._replace(written=self._read(some, first, schema=None))
                yield part
                first += part.rows

    def _count_names(self, piece: bytes, first: int) -> int:
        """Return how many different names the objects have, or fail if they are above a bound."""
        names: dict[str, None] = {}
        for found, line in json_values(piece.decode(errors="replace")):
            if not isinstance(found, dict):
                continue
            if is_deeper(found, limits.JSON_DEPTH):
                raise Failure(
                    f"row {first + line + 1:,}: its values are nested more than "
                    f"{limits.JSON_DEPTH} deep, which is the most"
                )
            names.update(dict.fromkeys(found))
            require_few_columns(len(names), self.path)
        return len(names)

    def _settle(self, piece: bytes, width: int, first: int) -> None:
        """Find the types of the columns from the first block."""
        types: dict[str, Any] = {}
        texts: dict[str, list[Any]] = {}
        for table in self._read_with_own_types(piece, width, first):
            for field, column in zip(table.schema, table.columns, strict=True):
                types[field.name] = joint_type(types.get(field.name), field.type)
                if pa.types.is_string(field.type):
                    texts.setdefault(field.name, []).extend(guesses.present(column).chunks)
        if not types:
            raise Failure(f"{self.path}: the first rows have no values")
        self.names = list(types)
        self.columns.settle(
            types,
            lambda name: pa.chunked_array(texts.get(name, []), pa.string()),
            "json",
            self.decimal,
        )

    def _read_with_own_types(self, piece: bytes, width: int, first: int) -> Iterator[Any]:
        """Yield the first block in parts, each with the types that Arrow finds.

        Bad rows that are skipped are left out.
        """
        read = partial(self._read, schema=None)
        for some in split_by_cells(piece, width, limits.JSON_CELLS):
            if not self.bad_rows.may_skip(first):
                yield read(some, first)
                continue
            for _, table in read_good_rows(split_rows(some, quoted=False), read, first):
                if not isinstance(table, Failure):
                    yield table

    def _read(self, piece: bytes, first: int, *, schema: Any) -> Any:
        """Read rows with the types of a schema; None finds them."""
        behavior = "infer" if schema is None else "ignore"
        try:
            piece.decode()
        except UnicodeDecodeError as error:
            row = first + len(split_rows(piece[: error.start] + b"x", quoted=False))
            raise Failure(f"row {row:,}: it is not UTF-8 text: {CONVERT}") from None
        if piece.lstrip().startswith(b"null"):  # Arrow crashes
            raise Failure(f"row {first:,}: expected an object, got null")
        try:
            table = pa.json.read_json(
                pa.BufferReader(piece),
                pa.json.ReadOptions(use_threads=False, block_size=len(piece) + 1),
                pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior),
            )
        except pa.ArrowInvalid as error:
            raise json_failure(str(error), piece, first) from None
        return table if schema is None else self.columns.read_dates(table, first)
