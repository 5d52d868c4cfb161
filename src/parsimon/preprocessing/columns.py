"""A column of a table as it was read: its kind, its values, and what is rejected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DAY",
    "KINDS",
    "LARGEST",
    "Column",
    "TableError",
    "codes",
    "feature_count",
    "joined",
    "nearest",
    "require_kind",
    "require_usable",
]

Array = NDArray[np.float64]


#: Beyond this a square overflows.
LARGEST = 1e150


DAY = 86400.0


class TableError(ValueError):
    """A table that cannot be used.

    `column` and `row` (in the block, from 0) say where, as far as that is known; `what` is the
    message without the place.
    """

    def __init__(self, what: str, column: str | None = None, row: int | None = None) -> None:
        self.what, self.column, self.row = what, column, row
        place = [] if column is None else [f"column {column!r}"]
        place += [] if row is None else [f"row {row}"]
        super().__init__(f"{', '.join(place)}: {what}" if place else what)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the hint that an error about an unknown name ends with: the nearest known one, or all
    of them.

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
    return f"there are {shown}" if known else "there are no columns"


class Column(NamedTuple):
    """A column as it was read.

    `kind` is one of `KINDS`, or "empty" where no value is there. `values` (n,) are numbers (times
    in seconds), NaN where missing; for text they are the positions of the values in `categories`,
    which has them in order of appearance, and -1 where missing.
    """

    kind: str
    values: Array
    categories: list[str]

    def rows(self, rows: slice) -> Column:
        """Return some of the rows."""
        return Column(self.kind, self.values[rows], self.categories)


#: Kinds of columns, with the features that each has besides its standardised value, and the period
#: of each pair of them.
KINDS: dict[str, dict[str, float]] = {
    "number": {},
    "boolean": {},
    "duration": {},
    "time": {"time of day": DAY},
    "date": {"weekday": 7 * DAY},
    "timestamp": {"time of day": DAY, "weekday": 7 * DAY},
    "text": {},
}


def feature_count(kind: str, max_categories: int) -> int:
    """Return how many features a column of a kind has, but for the indicator of missing numbers.

    >>> feature_count("text", 32), feature_count("timestamp", 32)
    (34, 5)
    """
    return max_categories + 2 if kind == "text" else 1 + 2 * len(KINDS[kind])


def joined(first: Column, then: Column) -> Column:
    """Return the rows of one column and then those of another, of the same kind or with nothing in
    them.
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
    """Refuse a column that is not of the kind that it was."""
    if kind is not None and column.kind not in (kind, "empty"):
        raise TableError(f"it holds {column.kind} values, where those before are {kind}", name)


def require_usable(name: str, column: Column, missing: str) -> None:
    """Refuse infinite values, and missing ones if that is the policy."""
    if column.kind != "text":
        too_large = np.abs(column.values) > LARGEST
        if too_large.any():
            row = int(too_large.argmax())
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
