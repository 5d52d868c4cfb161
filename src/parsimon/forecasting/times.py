"""Read the times of rows, and check them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from parsimon.forecasting.clock import KINDS, Clock
from parsimon.forecasting.history import Array
from parsimon.preprocessing import LARGEST, Column, TableError, read_table
from parsimon.preprocessing.reading import raw_columns

__all__ = ["TimeError", "checked_times", "future_rows", "taken"]

#: What is said about a row without a time.
MISSING = "the time is missing: give its time, or leave the row out"


class TimeError(TableError):
    """Times that cannot be used. `column` is "times"."""


def checked_times(times: Any, n: int, kind: str | None, last: float) -> tuple[str, Array]:
    """Return the kind of times, and the times in seconds or as they are, (n,).

    They must increase, also after `last`.
    """
    column = _read_times(times, n, kind)
    before = np.concatenate([[last], column.values[:-1]])
    wrong = ~(column.values > before) | (np.abs(column.values) > LARGEST)
    if wrong.any():
        row = int(wrong.argmax())
        what = _objection(column.kind, float(column.values[row]), float(before[row]))
        raise TimeError(what, "times", row)
    return column.kind, column.values


def _read_times(times: Any, n: int, kind: str | None) -> Column:
    """Return n times of a kind, or of any kind."""
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
        return Column(kind or "number", column.values, [])
    if column.kind == "empty":
        raise TimeError(MISSING, "times", 0)
    if column.kind not in KINDS:
        raise TimeError(f"times must be timestamps, dates or numbers, got {column.kind}", "times")
    if kind is not None and column.kind != kind:
        raise TimeError(f"times are {column.kind}, but were {kind} before", "times")
    return column


def future_rows(table: Any, names: Sequence[str], times: Any, clock: Clock, n: int) -> Any:
    """Return the rows of the next n steps, in order, from a table whose rows have these times.

    Times are rounded to steps. Each of the next n steps needs one row. Later rows are left out.
    """
    columns = {name: c for name, c in raw_columns(table).items() if name in names}
    n_rows = max((len(column) for column in columns.values()), default=0)
    seconds = _read_times(times, n_rows, clock.kind).values
    if np.isnan(seconds).any():
        raise TimeError(MISSING, "times", int(np.isnan(seconds).argmax()))
    steps = clock.steps(seconds)
    if (steps < 1).any():
        row = int((steps < 1).argmax())
        raise TimeError("the time is not after that of the last row learned", "times", row)
    place = np.full(n, -1)
    for row, step in enumerate(steps.tolist()):
        if step > n:
            continue
        if place[step - 1] >= 0:
            what = f"the time is doubled: another row is for step {step} too"
            raise TimeError(f"{what}, give one row per step", "times", row)
        place[step - 1] = row
    if (place < 0).any():
        step = int((place < 0).argmax())
        raise ValueError(
            f"the known columns have no row for step {step + 1}, at {clock.future(n)[step]}: "
            f"give one row for each of the next {n} steps"
        )
    return {name: taken(column, place) for name, column in columns.items()}


def taken(column: Any, rows: Any) -> Any:
    """Return rows of a column of any library by their positions, an array or a slice."""
    if hasattr(column, "iloc"):
        return column.iloc[rows]
    if isinstance(rows, slice):
        return column[rows]
    if isinstance(column, list | tuple):
        return [column[row] for row in rows]
    return column.take(rows) if hasattr(column, "take") else column[rows]


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
