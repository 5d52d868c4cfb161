"""Check what is given about the rows of a series, and turn it into numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from parsimon._parts import numbers, whole
from parsimon.forecasting.clock import KINDS
from parsimon.forecasting.history import Array
from parsimon.preprocessing import LARGEST, Column, TableEncoder, TableError, read_table

__all__ = ["Columns", "Rows", "TimeError", "checked_times", "checked_values", "lag_list"]


#: What is said about a row without a time.
MISSING = "the time is missing: give its time, or leave the row out"


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
        """Return these rows and more."""
        return Rows(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))


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


class TimeError(TableError):
    """Times that cannot be used. `column` is "times"."""


def checked_times(times: Any, n: int, kind: str | None, last: float) -> tuple[str, Array]:
    """Return the kind of times, and the times in seconds or as they are, (n,).

    They must increase, also after `last`.
    """
    listed = isinstance(times, list | tuple) and len(times) > 0
    if listed and all(isinstance(time, np.datetime64) for time in times):
        times = np.array(times)
    try:
        column = read_table({"times": times})["times"]
    except TableError as error:
        raise TimeError(error.what, error.column, error.row) from None
    if len(column.values) != n:
        raise ValueError(f"times must have {n} values, one per row, got {len(column.values)}")
    if n == 0:
        return kind or "number", column.values
    if column.kind == "empty":
        raise TimeError(MISSING, "times", 0)
    if column.kind not in KINDS:
        raise TimeError(f"times must be timestamps, dates or numbers, got {column.kind}", "times")
    if kind is not None and column.kind != kind:
        raise TimeError(f"times are {column.kind}, but were {kind} before", "times")
    before = np.concatenate([[last], column.values[:-1]])
    wrong = ~(column.values > before) | (np.abs(column.values) > LARGEST)
    if wrong.any():
        row = int(wrong.argmax())
        what = _objection(column.kind, float(column.values[row]), float(before[row]))
        raise TimeError(what, "times", row)
    return column.kind, column.values


def _objection(kind: str, time: float, before: float) -> str:
    """Return what is wrong with a time, given the one before it."""
    if np.isnan(time):
        return MISSING
    if abs(time) > LARGEST:
        return f"the time {time:g} is too large"
    if kind == "timestamp" and time == before:
        return (
            "the time is not later than the one before, or by less than a microsecond: sort the "
            "rows, one row per time, or give such times as numbers"
        )
    return "the time is not later than the one before: sort the rows, one row per time"


class Columns:
    """The columns beside the series: encoders of those known in advance, and of the others."""

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

    def read(self, X: Any, group: int) -> dict[str, Column]:
        """Return the columns of a group, checked."""
        if not self.groups[group]:
            return {}
        columns = read_table(X, self.groups[group])
        self.encoders[group].check(columns)
        return columns

    def learn(self, group: int, columns: dict[str, Column], n: int) -> Array:
        """Return the features of columns that were read, (n, d), and learn their statistics.

        The first row determines the features, so that blocks equal rows.
        """
        encoder = self.encoders[group]
        if not columns or n == 0:
            return np.empty((n, self.n_features(group)))
        if not hasattr(encoder, "columns_"):
            encoder.settle({name: column.rows(slice(0, 1)) for name, column in columns.items()})
        return encoder.learn_columns(columns)

    def n_features(self, group: int) -> int:
        """Return the number of features of a group."""
        encoder = self.encoders[group]
        return encoder.n_features_ if hasattr(encoder, "columns_") else 0


def as_table(X: Any) -> Any:
    """Return X as a table: an array (n, d) has columns x0, x1, ..."""
    if isinstance(X, np.ndarray | list | tuple):
        found = np.asarray(X)
        if found.ndim != 2:
            raise ValueError(f"X must be a table or have shape (n, d), got {found.shape}")
        return {f"x{i}": found[:, i] for i in range(found.shape[1])}
    return X
