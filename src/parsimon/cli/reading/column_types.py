"""The types of the columns: found in the first block, or those of a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute

from parsimon.cli.errors import Failure
from parsimon.cli.reading import guesses

__all__ = ["TYPES", "ColumnTypes", "is_text", "joint_type"]

#: The types that text formats are read with, by the kinds of `TableEncoder`.
TYPES = {
    "number": pa.float64(),
    "empty": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
}


class ColumnTypes:
    """The types of the columns, and the columns of dates in other formats.

    CONVENTION: the first block decides the types, unless `kinds` has the column. Integers are read
    as float64, because a later value may have a fraction. Unused columns of a CSV are read as text.

    Parameters
    ----------
    kinds : kinds of the columns that a model knows; empty without a model.
    unused : columns that are not needed.
    date_formats : formats to try on columns of text.
    lenient : a column may have a few values of another type, because bad rows are skipped.
    notes : the list that gets notes for the user.

    Attributes
    ----------
    types : the types by column, after `settle`.
    formats : the format and the type of each column of dates; None before the first block.
    doubts : what to say about columns of text that look like numbers.
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | None,
        unused: Collection[str],
        date_formats: Sequence[str],
        lenient: bool,
        notes: list[str],
    ) -> None:
        self.kinds, self.unused = dict(kinds or {}), set(unused)
        self.date_formats, self._lenient, self._notes = list(date_formats), lenient, notes
        self.types: dict[str, Any] = {}
        self.formats: dict[str, tuple[str, Any]] | None = None
        self.doubts: dict[str, str] = {}

    def is_unused(self, name: str) -> bool:
        """Return whether a column is not needed: it is ignored, or the model does not know it."""
        return name in self.unused or (bool(self.kinds) and name not in self.kinds)

    def settle(
        self,
        types: Mapping[str, Any],
        values: Callable[[str], Any],
        format_name: str,
        decimal: str | None,
    ) -> None:
        """Decide the types, given those in the first block and a function that returns a column."""
        self.settle_formats(types, values)
        assert self.formats is not None
        for name, found in types.items():
            kind = self.kinds.get(name)
            if name in self.formats:
                self.types[name] = pa.string()
            elif self.is_unused(name):
                self.types[name] = pa.string() if format_name == "csv" else found
            elif kind in TYPES and _kind(found) != kind:
                self.types[name] = TYPES[kind]
            else:
                self.types[name] = _widened(found)
                if pa.types.is_string(found) and not self.kinds:
                    self._note_text(name, values(name), format_name, decimal)

    def settle_formats(self, types: Mapping[str, Any], values: Callable[[str], Any]) -> None:
        """Find the columns of text that are dates in one of the formats."""
        self.formats = {}
        for name in types if self.date_formats else ():
            kind = self.kinds.get(name)
            can_be_dates = kind in (None, "date", "timestamp") and is_text(types[name])
            if self.is_unused(name) or not can_be_dates:
                continue
            present = guesses.present(values(name))
            unread = {form: guesses.dates(present, form).null_count for form in self.date_formats}
            form = min(unread, key=lambda form: unread[form])
            allowed = (1.0 - guesses.MOST) * len(present) if self._lenient else 0.0
            if kind is not None:  # the model knows that these are dates: others are errors
                allowed = len(present) - 1.0
            if len(present) and unread[form] <= allowed:
                found = guesses.format_type(form)
                self.formats[name] = form, TYPES["timestamp"] if kind == "timestamp" else found
        used = {form for form, _ in self.formats.values()}
        if not self.kinds:
            self._notes += [
                f"no column has dates of --date-format {form!r}"
                for form in self.date_formats
                if form not in used
            ]

    def read_dates(self, table: Any, first: int) -> Any:
        """Return a table with its columns of dates converted; its first row is row `first`."""
        for name, (form, kind) in (self.formats or {}).items():
            if name not in table.column_names:
                continue
            texts = table.column(name)
            read = guesses.dates(texts, form)
            if read.null_count > texts.null_count:
                bad = pa.compute.and_(pa.compute.is_null(read), pa.compute.is_valid(texts))
                row = pa.compute.index(bad, True).as_py()
                what = f"{texts[row].as_py()!r} is not a date of the format {form!r}"
                raise Failure(f"row {first + row + 1:,}, column {name!r}: {what}")
            table = table.set_column(table.column_names.index(name), name, read.cast(kind))
        return table

    def empty_table(self) -> Any:
        """Return a table without rows, of the types that `read_dates` gives."""
        formats = self.formats or {}
        return pa.schema(
            [
                (name, formats[name][1] if name in formats else kind)
                for name, kind in self.types.items()
            ]
        ).empty_table()

    # Columns of text that look like something else

    def _note_text(self, name: str, values: Any, format_name: str, decimal: str | None) -> None:
        odd = guesses.first_exception(values, guesses.NUMBER) if format_name == "csv" else None
        if odd is not None:
            self._note_odd_number(name, values, odd)
        elif guesses.all_match(values, guesses.DAY) or (
            guesses.first_exception(values, guesses.DAY) is not None
        ):
            self._notes.append(
                f"column {name!r} is read as text: most values are dates, but not all can be read"
            )
        elif decimal != "," and (comma := guesses.comma_numbers(values)):
            remedy = {
                "decimal": "reads it",
                "grouped": "if it is a decimal comma, else take the commas out",
            }[comma]
            shown = guesses.first_with_comma(values)
            self._doubt(name, f"{shown!r} looks like a number: --decimal , {remedy}")
        elif forms := guesses.date_formats(values):
            shown = guesses.present(values)[0].as_py()
            options = " or ".join(f"--date-format {form!r}" for form in forms)
            self._notes.append(
                f"column {name!r} is read as text, but {shown!r} looks like a date: {options}"
            )
        elif guesses.all_match(guesses.present(values), guesses.NUMBER):  # strings of JSON
            shown = guesses.present(values)[0].as_py()
            remedy = "--decimal . reads it" if decimal == "," else "write it without quotes"
            self._doubt(name, f'"{shown}" looks like a number: {remedy}')
        elif guesses.other_numbers(values):
            shown = guesses.present(values)[0].as_py()
            self._doubt(
                name, f"{shown!r} looks like a number: write it with digits and a decimal mark only"
            )

    def _note_odd_number(self, name: str, values: Any, row: int) -> None:
        """Say that one value makes a column of numbers text, or that its row will be bad."""
        value = values[row].as_py()
        if self._lenient:
            self.types[name] = pa.float64()
            self._notes.append(
                f"column {name!r} is read as numbers: rows with other values, "
                f"such as {value!r}, are bad"
            )
        else:
            self._notes.append(
                f"column {name!r} is read as text: row {row + 1:,} has {value!r}, "
                "but most values are numbers"
            )

    def _doubt(self, name: str, what: str) -> None:
        self.doubts[name] = f"column {name!r} is read as text, but {what}"
        self._notes.append(self.doubts[name])


def is_text(kind: Any) -> bool:
    """Return whether a type is that of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def joint_type(first: Any, second: Any) -> Any:
    """Return a type for values of two types; the first one if no type holds both."""
    if first is None or pa.types.is_null(first):
        return second
    if _kind(first) == _kind(second) == "number":
        return first if first == second else pa.float64()
    return second if pa.types.is_timestamp(first) and pa.types.is_string(second) else first


def _kind(found: Any) -> str:
    """Return the kind of `TableEncoder` for a type, or the name of the type."""
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
    """Return a type that also holds what later values may be."""
    if pa.types.is_timestamp(found):
        return pa.timestamp("ns" if found.unit == "ns" else "us", found.tz)
    if pa.types.is_binary(found):
        return pa.string()  # reading it will say that it is not UTF-8
    return TYPES.get(_kind(found), found)
