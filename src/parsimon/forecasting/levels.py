"""Sudden shifts of the level of a series."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from parsimon import _schema
from parsimon.forecasting.history import LARGEST_VALUE, History

__all__ = ["Levels"]

#: The number of values that tell a shift from a single outlier.
VALUES = 4
#: The number of values that tell what is usual.
LEAST = 32
#: A shift is larger than the usual changes by this factor, and a shift back by the second one.
FACTOR, RETURN = 2.0, 1.0
#: The part of a shift by which all values after it have left the old level.
PART = 0.25
#: The largest change is forgotten over this many values.
MEMORY = 2000.0
#: The part of a shift that is added to the usual changes.
HABIT = 0.125


class Levels:
    """Finds sudden shifts of the level, and removes them from the series that models see.

    The shifts are added to forecasts again. So models go on as before, with values before and after
    the shift at one level.

    x_t is the value, or its difference from the value one season before. The change at t is

        D_t = median(x_(t-3), ..., x_t) - median(x_(t-7), ..., x_(t-4)).

    It is a shift by D_t if |D_t| is more than twice the largest change so far, and if the last four
    values have all left the old level by a quarter of D_t. A shift back, which leaves less than
    half of the shifts before, need only exceed the largest change. If it leaves no more than that,
    the level is the first one again. Outliers and large changes that are usual in a series are no
    shifts. An eighth of each shift is added to the largest change, so a series that shifts often is
    left as it is.

    CONVENTION: `offset` is the sum of the shifts. `recent` has the last x, at most eight, and
    `rows` has their rows. `usual` is the largest change, which is slowly forgotten. It does not
    include the last changes, at most four, which can belong to a shift: they are in `pending`.
    `count` is the number of x, at most 32, which are needed to find a shift.

    Reference: R. S. Tsay, *Outliers, level shifts, and variance changes in time series*, Journal of
    Forecasting 1988. The paper takes errors of one-step forecasts for x.

    >>> levels = Levels()
    >>> values = [0.0, 1.0] * 16 + [50.0, 51.0] * 2
    >>> [levels.take(row, value) for row, value in enumerate(values)][-3:]
    [0.0, 0.0, 50.0]
    """

    def __init__(self, season: int = 0) -> None:
        self.season, self.offset, self.usual, self.count = season, 0.0, 0.0, 0
        self.recent: list[float] = []
        self.rows: list[int] = []
        self.pending: list[float] = []

    @classmethod
    def of(cls, history: History, season: int) -> Levels:
        """Return what is usual in the rows that are held, with the shifts that they have."""
        levels = cls(season)
        for row in range(history.first + season, history.n_rows):
            if history.seen[row - history.first] > 0.0:
                levels._add(row, levels._departure(history, row))
                levels._change()
        levels.offset = float(history.offsets[-1])
        return levels

    def follow(self, history: History, row: int) -> None:
        """Look for a shift at a row that was seen, and remove it from the rows since it began."""
        size = self.take(row, self._departure(history, row))
        if size != 0.0:
            history.lower(self.rows[-VALUES], row, size)

    def take(self, row: int, x: float) -> float:
        """Take the next x, and return the size of a shift, or 0."""
        self._add(row, x)
        change = self._change()
        before, new = self.recent[:-VALUES], self.recent[-VALUES:]
        old = _median(before) + PART * change if before else 0.0
        away = all((x - old) * change > 0.0 for x in new)
        returns = abs(self.offset + change) < abs(self.offset) / 2
        bound = (RETURN if returns else FACTOR) * self.usual
        if self.count < LEAST or abs(change) <= bound or not away:
            return 0.0
        if abs(self.offset + change) <= self.usual:
            change = -self.offset
        self.offset += change
        self.recent = [*before, *(x - change for x in new)]
        self.pending = []
        self.usual += HABIT * abs(change)
        return change

    def _departure(self, history: History, row: int) -> float:
        at = row - history.first
        return float(history.y[at] - history.y[at - self.season] if self.season else history.y[at])

    def _add(self, row: int, x: float) -> None:
        self.count = min(self.count + 1, LEAST)
        self.recent = [*self.recent, x][-2 * VALUES :]
        self.rows = [*self.rows, row][-2 * VALUES :]

    def _change(self) -> float:
        """Return the last change. A change that is too old to belong to a shift becomes usual."""
        if len(self.recent) < 2 * VALUES:
            return 0.0
        change = _median(self.recent[VALUES:]) - _median(self.recent[:VALUES])
        self.usual *= math.exp(-1.0 / MEMORY)
        self.pending.append(abs(change))
        if len(self.pending) > VALUES:
            self.usual = max(self.usual, self.pending.pop(0))
        return change

    # State

    def state(self) -> dict[str, Any]:
        """Return the state."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: dict[str, Any], history: History) -> Levels:
        """Return the levels with this state, or raise a ValueError."""
        levels, n = cls(), len(state["recent"])
        numbers = _schema.number(-LARGEST_VALUE, LARGEST_VALUE)
        sound = (
            state.keys() == vars(levels).keys()
            and _schema.whole(0, history.capacity)(state["season"])
            and _schema.whole(n, LEAST)(state["count"])
            and numbers(state["offset"])
            and _schema.number(0.0, LARGEST_VALUE)(state["usual"])
            and _schema.listed(numbers)(state["recent"])
            and _schema.listed(_schema.whole(0, history.n_rows - 1))(state["rows"])
            and _schema.listed(_schema.number(0.0, LARGEST_VALUE))(state["pending"])
            and n == len(state["rows"]) <= 2 * VALUES
            and len(state["pending"]) <= VALUES
            and state["offset"] == history.offsets[-1]
        )
        if not sound or np.any(np.diff(state["rows"]) <= 0):
            raise ValueError("its levels are not sound")
        vars(levels).update(state)
        return levels


def _median(values: list[float]) -> float:
    """Return the median of values, whose number is even."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return 0.5 * (ordered[half - 1] + ordered[half])
