"""Times of rows: the regular step between them, gaps, and features of the calendar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema
from parsimon.forecasting.history import Array, Rows
from parsimon.preprocessing.columns import DAY

__all__ = ["KINDS", "Clock"]

#: Kinds of times. Numbers have no calendar.
KINDS = ("timestamp", "date", "number")
WEEK, YEAR = 7 * DAY, 365.25 * DAY
#: The number of waves per period.
WAVES = (1, 2)
#: The step of a single row: a day for dates, a second, or 1.
ALONE = {"timestamp": 1.0, "date": DAY, "number": 1.0}
#: Longer distances of times count as this many steps.
MOST_STEPS = 2.0**53
#: Times from the year 1 to 9999 can have steps in months, in seconds since 1970.
CALENDAR = (-62135596800.0, 253402300800.0)


class Clock:
    """The times of the rows of a series.

    The step is the median difference of the first times. A row whose distance from the row before
    it is about n steps has n - 1 missing rows before it.

    If the first times all have the same day of the month, or all are last days of a month, the
    step is `months` months, and `day` is that day. It is 31 for last days.

    >>> clock = Clock("number", np.array([0.0, 1.0, 2.0, 4.0, 5.0]))
    >>> clock.step, clock.missing(np.array([0.0, 1.0, 2.0, 4.0, 5.0]))
    (1.0, array([0, 0, 1, 0]))
    >>> ends = np.array(["2019-12-31", "2020-01-31"], dtype="datetime64[s]")
    >>> clock = Clock("date", ends.astype(float))
    >>> clock.future(2)
    array(['2020-02-29', '2020-03-31'], dtype='datetime64[D]')
    """

    def __init__(self, kind: str, times: Array) -> None:
        self.kind = kind
        self.step = float(np.median(np.diff(times))) if len(times) > 1 else ALONE[kind]
        self.last = float(times[-1])
        self.months, self.day = (0, 0) if kind == "number" else _month_step(times)

    def missing(self, times: Array) -> Rows:
        """Return the number of missing rows between n times, (n - 1,)."""
        return np.maximum(self._steps(times[:-1], times[1:]), 1) - 1

    def steps(self, times: Array) -> Rows:
        """Return how many steps times (n,) are after the last row, (n,)."""
        return self._steps(np.full(len(times), self.last), times)

    def _steps(self, before: Array, after: Array) -> Rows:
        """Return the number of steps from times to other times, rounded, (n,)."""
        if self.months:
            apart = (_months(after) - _months(before)) / self.months
        else:
            with np.errstate(over="ignore"):
                apart = (after - before) / self.step
        return np.rint(np.clip(apart, -MOST_STEPS, MOST_STEPS)).astype(np.int64)

    def ahead(self, n: int) -> Array:
        """Return the times of the next n rows."""
        return self.at(np.arange(1, n + 1))

    def at(self, steps: Rows) -> Array:
        """Return the times so many steps after the last row, or before it, (n,)."""
        if not self.months:
            return np.asarray(self.last + self.step * steps, dtype=np.float64)
        months = _months(np.array([self.last])) + self.months * steps
        days = _first_days(months) + np.minimum(self.day, _lengths(months)) - 1
        return np.asarray(DAY * days + self.last % DAY, dtype=np.float64)

    def future(self, n: int) -> NDArray[Any]:
        """Return the times of the next n rows, as `shown`."""
        return self.shown(np.arange(1, n + 1))

    def shown(self, steps: Rows) -> NDArray[Any]:
        """Return the times at steps from the last row as numbers, dates, or times of a unit.

        The unit is a second, a millisecond or a microsecond. Times have no finer resolution.
        """
        ahead = self.at(steps)
        if self.kind == "number":
            return ahead
        if self.kind == "date" or np.abs(ahead).max() > 9e12:
            unit = "D" if self.kind == "date" else "s"
            return np.rint(ahead).astype("datetime64[s]").astype(f"datetime64[{unit}]")
        exact = np.rint(1e6 * ahead)
        if not self.months:  # in whole steps, so that rounding errors of the step do not add up
            step = max(np.rint(1e6 * self.step), 1.0)
            exact = np.rint(1e6 * self.last) + step * steps
        ticks = exact.astype(np.int64)
        each = {"s": 10**6, "ms": 10**3, "us": 1}
        unit = next(name for name, size in each.items() if not (ticks % size).any())
        return (ticks // each[unit]).astype(f"datetime64[{unit}]")

    @property
    def periods(self) -> tuple[float, ...]:
        """The periods of the calendar that matter for rows at this step, in seconds."""
        if self.kind == "number":
            return ()
        periods = (DAY, WEEK) if self.step < 0.4 * DAY else (WEEK, YEAR)
        return tuple(period for period in periods if period > 2.5 * self.step)

    @property
    def n_features(self) -> int:
        """The number of features of a time."""
        return 2 * len(WAVES) * len(self.periods)

    def features(self, times: Array) -> Array:
        """Return sqrt(2) sin(2 pi k t / period) and its cosine, k = 1, 2, for n times, (n, c)."""
        waves = [
            np.sqrt(2.0) * wave(2.0 * np.pi * k * (times % period) / period)
            for period in self.periods
            for k in WAVES
            for wave in (np.sin, np.cos)
        ]
        return np.column_stack(waves) if waves else np.empty((len(times), 0))

    def state(self) -> dict[str, Any]:
        """Return the state."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Clock:
        """Return the clock with this state, or raise a ValueError."""
        numbers = _schema.number(-1e150, 1e150)
        if (
            state.keys() != {"kind", "step", "last", "months", "day"}
            or state["kind"] not in KINDS
            or not numbers(state["last"])
            or not numbers(state["step"])
            or not state["step"] > 0
            or not _schema.whole(0, 2**20)(state["months"])
            or not _schema.whole(0, 31)(state["day"])
            or (state["months"] > 0) != (state["day"] > 0)
            or (state["months"] > 0 and state["kind"] == "number")
        ):
            raise ValueError("its times are not sound")
        clock = cls.__new__(cls)
        vars(clock).update(state)
        return clock


def _months(times: Array) -> Rows:
    """Return the number of months since 1970 of each time."""
    found: Rows = np.floor(times / DAY).astype("datetime64[D]").astype("datetime64[M]").astype(int)
    return found


def _first_days(months: Rows) -> Rows:
    """Return the first day of each month, in days since 1970."""
    found: Rows = months.astype("datetime64[M]").astype("datetime64[D]").astype(int)
    return found


def _lengths(months: Rows) -> Rows:
    """Return the number of days of each month."""
    return _first_days(months + 1) - _first_days(months)


def _month_step(times: Array) -> tuple[int, int]:
    """Return the step of times in months and the day of the month, or (0, 0)."""
    if len(times) < 2 or times[0] < CALENDAR[0] or times[-1] >= CALENDAR[1]:
        return 0, 0
    months = _months(times)
    lengths = _lengths(months)
    days = np.floor(times / DAY).astype(np.int64) - _first_days(months) + 1
    day = 31 if (days == lengths).all() else int(days.max())
    steps = np.diff(months)
    if (steps < 1).any() or (days != np.minimum(day, lengths)).any():
        return 0, 0
    return int(np.median(steps)), day
