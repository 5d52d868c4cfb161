"""Check what is given about the rows of a series, and turn it into numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _schema
from parsimon._parts import numbers, whole
from parsimon.forecasting.history import Array, are_features
from parsimon.forecasting.structure import STARTS
from parsimon.preprocessing import KINDS as COLUMN_KINDS
from parsimon.preprocessing import (
    LARGEST,
    Column,
    TableEncoder,
    concatenated,
    read_table,
    require_kind,
)
from parsimon.preprocessing.columns import codes

__all__ = ["Columns", "Rows", "as_table", "checked_values", "is_reading", "lag_list"]


class Rows(NamedTuple):
    """Rows of a series: values (n,) with NaN for missing ones, times (n,), and features."""

    y: Array
    times: Array
    known: Array
    other: Array

    def part(self, which: Any) -> Rows:
        """Return some of the rows."""
        return Rows(*(array[which] for array in self))

    def joined(self, more: Rows) -> Rows:
        """Return these rows and more. Features of `more` can be those of all these rows."""
        n = len(self.y) + len(more.y)
        return Rows(
            *(
                new if len(new) == n else np.concatenate([old, new])
                for old, new in zip(self, more, strict=True)
            )
        )

    def state(self) -> list[Array]:
        """Return rows as a file holds them: a missing value has a flag. Files have no NaN."""
        missing = np.isnan(self.y)
        return [np.where(missing, 0.0, self.y), missing.astype(np.float64), *self[1:]]

    @classmethod
    def restored(cls, arrays: Sequence[Any]) -> Rows:
        """Return rows from a file, or raise a ValueError."""
        y, missing, times, known, other = arrays
        n = len(y)
        sound = (
            _schema.finite_array(n, least=-LARGEST, most=LARGEST)(y)
            and _schema.finite_array(n, least=0, most=1)(missing)
            and _schema.finite_array(n)(times)
            and are_features(n)(known)
            and are_features(n)(other)
        )
        if not sound:
            raise ValueError("its first rows are not sound")
        return cls(np.where(missing > 0.0, np.nan, y), times, known, other)


def lag_list(name: str, value: Any, at_most: int) -> list[int] | None:
    """Return lags as a sorted list: n means 1 to n for lags, and one season for seasons."""
    if value is None:
        return None
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        given = [whole(name, item, at_least=1, at_most=at_most) for item in value]
        if not given and name == "lags":
            raise ValueError("lags must not be empty")
        return sorted(set(given))
    last = whole(name, value, at_least=1, at_most=at_most)
    return list(range(1, last + 1)) if name == "lags" else [last]


def checked_values(y: ArrayLike) -> Array:
    """Return values y (n,). NaN is missing. Infinite and very large values are rejected."""
    found = numbers(y, "y", lambda y: np.array(y, dtype=np.float64))
    if found.ndim != 1:
        raise ValueError(f"y must have shape (n,), got {found.shape}: one series per model")
    wrong = np.abs(found) > LARGEST
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"y is {found[row]:g} at row {row}: too large")
    return found


class Columns:
    """The columns beside the series: encoders of those known in advance, and of the others.

    CONVENTION: the kind of a column is that of its first value. While a column of a group has no
    value, the group has no features, and `held` has its rows. This ends when STARTS[0] rows are
    there. A column without a value counts as a column of numbers then.
    """

    def __init__(self, names: Sequence[str], known: Sequence[str] | str) -> None:
        ahead = list(names) if known == "all" else list(known)
        for name in ahead:
            if name not in names:
                listed = ", ".join(map(repr, names)) or "none"
                raise ValueError(f"known has {name!r}, which is not among the columns: {listed}")
        self.groups = (
            [name for name in names if name in ahead],
            [name for name in names if name not in ahead],
        )
        self.encoders = tuple(TableEncoder() for _ in self.groups)
        self.held: list[dict[str, Column]] = [{} for _ in self.groups]

    def read(self, X: Any, group: int) -> dict[str, Column]:
        """Return the columns of a group, checked."""
        if not self.groups[group]:
            return {}
        columns = read_table(X, self.groups[group])
        columns = {n: _plain(c) if c.kind == "empty" else c for n, c in columns.items()}
        self.encoders[group].check(columns)
        return columns

    def require_kinds(self, group: int, columns: dict[str, Column]) -> None:
        """Raise an error if columns have other kinds than the rows that are held."""
        if not columns or self.is_settled(group):
            return
        new = {name: _plain(column) for name, column in columns.items()}
        for name, column in self.held[group].items():
            require_kind(name, new[name], None if column.kind == "empty" else column.kind)
        first = _until_settled(self._with_held(group, columns))
        for name, column in (first or {}).items():
            require_kind(name, new[name], "number" if column.kind == "empty" else column.kind)

    def learn(self, group: int, columns: dict[str, Column], n: int) -> Array:
        """Return the features of columns that were read, (n, d), and learn their statistics.

        They are (n, 0) while rows are held. When the features are determined, they are those of
        all rows that were held and the new ones.
        """
        encoder = self.encoders[group]
        if not columns or n == 0:
            return np.empty((n, self.n_features(group)))
        if not self.is_settled(group):
            columns = self._with_held(group, columns)
            first = _until_settled(columns)
            if first is None:
                self.held[group] = columns
                return np.empty((n, 0))
            encoder.settle(first)
            self.held[group] = {}
        return encoder.learn_columns(columns)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column, "empty" if it has had no value so far."""
        found: dict[str, str] = {}
        for encoder, held in zip(self.encoders, self.held, strict=True):
            found |= getattr(encoder, "columns_", {})
            found |= {name: column.kind for name, column in held.items()}
        return found

    def is_settled(self, group: int) -> bool:
        """Return whether a group has features, or no columns."""
        return not self.groups[group] or hasattr(self.encoders[group], "columns_")

    def n_features(self, group: int) -> int:
        """Return the number of features of a group."""
        encoder = self.encoders[group]
        return encoder.n_features_ if hasattr(encoder, "columns_") else 0

    def _with_held(self, group: int, columns: dict[str, Column]) -> dict[str, Column]:
        held = self.held[group]
        new = {name: _plain(column) for name, column in columns.items()}
        return {name: concatenated(held[name], new[name]) for name in new} if held else new

    # State

    def state(self) -> dict[str, Any]:
        """Return the state for files."""
        return {
            "groups": [list(group) for group in self.groups],
            "encoders": list(self.encoders),
            "held": [{n: _packed(c) for n, c in held.items()} for held in self.held],
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Columns:
        """Return the columns with this state, or raise a ValueError."""
        groups, encoders, held = state["groups"], state["encoders"], state["held"]
        texts = _schema.listed(_schema.listed(_schema.one_of(str)))
        if not texts(groups) or not len(groups) == len(encoders) == len(held) == 2:
            raise ValueError("its columns are not sound")
        names = [name for group in groups for name in group]
        if len(set(names)) != len(names) or not _schema.listed(_schema.one_of(dict))(held):
            raise ValueError("its columns are not sound")
        if not all(isinstance(encoder, TableEncoder) for encoder in encoders):
            raise ValueError("its encoders are not sound")
        columns = cls(names, groups[0])
        for encoder, group, rows in zip(encoders, groups, held, strict=True):
            settled = list(getattr(encoder, "columns_", {}))
            if [*settled, *rows] != group:
                raise ValueError("its encoders do not fit its columns")
        columns.encoders = tuple(encoders)
        columns.held = [{n: _unpacked(c) for n, c in rows.items()} for rows in held]
        if any(rows and _until_settled(rows) is not None for rows in columns.held):
            raise ValueError("its columns are not sound")
        return columns

    def are_held(self, n: int) -> bool:
        """Return whether the rows that are held are n rows."""
        return all(len(c.values) == n for held in self.held for c in held.values())


def _packed(column: Column) -> list[Any]:
    """Return a column as a file holds it: a missing value has a flag, because files have no NaN."""
    missing = np.isnan(column.values)
    values = np.where(missing, 0.0, column.values)
    return [column.kind, values, missing.astype(np.float64), list(column.categories)]


def _unpacked(state: Any) -> Column:
    """Return a column from a file, or raise a ValueError."""
    kind, values, missing, categories = state
    n = len(values)
    sound = (
        (kind == "empty" or kind in COLUMN_KINDS)
        and _schema.finite_array(n, least=-LARGEST, most=LARGEST)(values)
        and _schema.finite_array(n, least=0, most=1)(missing)
        and _schema.listed(_schema.one_of(str))(categories)
    )
    if sound and kind == "text":
        places = set(range(-1, len(categories)))
        sound = len(set(categories)) == len(categories) and set(values.tolist()) <= places
    if not sound:
        raise ValueError("its columns are not sound")
    return _plain(Column(kind, np.where(missing > 0.0, np.nan, values), list(categories)))


def _is_missing(column: Column) -> NDArray[np.bool_]:
    """Return which values are missing, (n,)."""
    if column.kind in ("text", "empty"):
        return codes(column) < 0
    return np.isnan(column.values)


def _plain(column: Column) -> Column:
    """Return a column that is empty if it has no value, of whatever type it is."""
    if _is_missing(column).all():
        return Column("empty", np.full(len(column.values), np.nan), [])
    return column


def _until_settled(columns: dict[str, Column]) -> dict[str, Column] | None:
    """Return the first rows that determine the kinds of columns. None if more rows are needed."""
    missing = {name: _is_missing(column) for name, column in columns.items()}
    n = len(next(iter(missing.values())))
    needed = 1 + max(n if every.all() else int(every.argmin()) for every in missing.values())
    if min(needed, STARTS[0]) > n:
        return None
    rows = slice(0, min(needed, STARTS[0]))
    return {name: _plain(column.rows(rows)) for name, column in columns.items()}


def as_table(X: Any) -> Any:
    """Return X as a table: an array (n, d) has columns x0, x1, ..."""
    if isinstance(X, np.ndarray | list | tuple):
        found = np.asarray(X)
        if found.ndim != 2:
            raise ValueError(f"X must be a table or have shape (n, d), got {found.shape}")
        return {f"x{i}": found[:, i] for i in range(found.shape[1])}
    return X


def is_reading(value: Any) -> bool:
    """Return whether this can be the attribute `reading_`, which says how data were read."""
    text, texts = _schema.one_of(str), _schema.listed(_schema.one_of(str))
    checks: dict[str, _schema.Check] = {
        "target": text,
        "time": lambda name: name is None or isinstance(name, str),
        "ignore": texts,
        "rows": _schema.whole(),
        "kinds": _schema.mapped(text, text),
        "zoned": _schema.one_of(bool),
        "decimal": lambda mark: mark in (".", ","),
        "date_formats": texts,
    }
    return (
        isinstance(value, dict)
        and value.keys() == checks.keys()
        and all(check(value[name]) for name, check in checks.items())
    )
