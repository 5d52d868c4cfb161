"""A column of a table as it was read: its kind, its values, and what is rejected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsimon import _core

__all__ = [
    "DAY",
    "KINDS",
    "LARGEST",
    "Column",
    "EncodedColumn",
    "TableError",
    "codes",
    "concatenated",
    "feature_count",
    "nearest",
    "require_kind",
    "require_usable",
]

Array = NDArray[np.float64]


#: The square of a larger number could overflow.
LARGEST = 1e150


DAY = 86400.0


class TableError(ValueError):
    """A table that cannot be used.

    `column` and `row` (in the block, from 0) say where the problem is, if this is known. `what` is
    the message without the place.
    """

    def __init__(self, what: str, column: str | None = None, row: int | None = None) -> None:
        self.what, self.column, self.row = what, column, row
        place = [] if column is None else [f"column {column!r}"]
        place += [] if row is None else [f"row {row}"]
        super().__init__(f"{', '.join(place)}: {what}" if place else what)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint for an error about an unknown name: the nearest known name, or all of them.

    >>> nearest("prize", ["price", "shop"])
    "did you mean 'price'?"
    """
    known = list(names)
    close = difflib.get_close_matches(name, known, 1) or [
        k for k in known if k.lower() == name.lower()
    ]
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(repr(k) for k in known[:10]) + (", ..." if len(known) > 10 else "")
    return f"there are {shown or 'no columns'}"


class Column(NamedTuple):
    """A column as it was read.

    `kind` is one of `KINDS`, or "empty" if all values are missing. `values` (n,) are numbers, with
    times in seconds and NaN for missing values. For text, `values` are positions in `categories`,
    and -1 for missing values. `categories` are the different texts in the order of their first row.
    """

    kind: str
    values: Array
    categories: list[str]

    def rows(self, rows: slice) -> Column:
        """Return some of the rows."""
        return Column(self.kind, self.values[rows], self.categories)


class EncodedColumn(NamedTuple):
    """How an encoder turns one column into features, as plain data. Exports use it.

    A number x becomes (x - mean) / deviation, clipped to [-clip, clip]. It becomes 0 if it is
    missing or the deviation is 0. `indicator` says whether it also has an indicator of missing
    values. `categories` are the known texts of a text column, in the order of their features.
    """

    name: str
    kind: str
    mean: float = 0.0
    deviation: float = 0.0
    clip: float = np.inf
    indicator: bool = False
    categories: tuple[str, ...] = ()


#: Kinds of columns. Each has a standardised value. Each period, in seconds, adds a sine and a
#: cosine.
KINDS: dict[str, dict[str, float]] = {
    "number": {},
    "boolean": {},
    "duration": {},
    "time": {"time of day": DAY},
    "date": {"weekday": 7 * DAY},
    "timestamp": {"time of day": DAY, "weekday": 7 * DAY},
    "text": {},
}


#: What to do about a column of one kind where another is needed. pandas has no type for days.
CONVERSIONS = {
    ("text", "timestamp"): ": convert it, for example with pandas.to_datetime",
    ("text", "date"): ": convert it, for example with pandas.to_datetime(...).dt.date",
    ("timestamp", "date"): ": convert it, for example with .dt.date of pandas",
    ("date", "timestamp"): ": convert it, for example with pandas.to_datetime",
}


def feature_count(kind: str, max_categories: int) -> int:
    """Return the number of features of a column, without the indicator of missing numbers.

    >>> feature_count("text", 32), feature_count("timestamp", 32)
    (34, 5)
    """
    return max_categories + 2 if kind == "text" else 1 + 2 * len(KINDS[kind])


def concatenated(first: Column, then: Column) -> Column:
    """Return the rows of one column followed by those of another.

    Both columns have the same kind, or one of them is empty.
    """
    if "text" not in (first.kind, then.kind):
        kind = then.kind if first.kind == "empty" else first.kind
        return Column(kind, np.concatenate([first.values, then.values]), [])
    index = {category: i for i, category in enumerate(first.categories)}
    places = [index.setdefault(category, len(index)) for category in then.categories]
    return Column(
        "text",
        np.concatenate([codes(first), np.array([*places, -1.0])[codes(then).astype(int)]]),
        list(index),
    )


def codes(column: Column) -> Array:
    """Return the positions of text in `categories`. An empty column has -1 everywhere."""
    return column.values if column.kind == "text" else np.full(len(column.values), -1.0)


def require_kind(name: str, column: Column, kind: str | None) -> None:
    """Raise a `TableError` if a column has another kind than before."""
    if kind is not None and column.kind not in (kind, "empty"):
        what = f"it holds {column.kind} values, where those before are {kind}"
        raise TableError(f"{what}{CONVERSIONS.get((column.kind, kind), '')}", name)


def require_usable(name: str, column: Column, missing: str) -> None:
    """Raise a `TableError` for infinite values, and for missing values if missing="error"."""
    if column.kind != "text":
        row = _core.first_above(np.ascontiguousarray(column.values), LARGEST)
        if row >= 0:
            value = column.values[row]
            raise TableError(
                f"{value:g} is {'infinite' if np.isinf(value) else 'too large'}", name, row
            )
    if missing == "error":
        absent = codes(column) < 0 if column.kind == "text" else np.isnan(column.values)
        if absent.any():
            raise TableError(
                "the value is missing, and missing='error'", name, int(absent.argmax())
            )
