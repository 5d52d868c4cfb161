"""Times of rows: the regular step between them, gaps, and features of the calendar."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon import _schema
from parsimon.forecasting.history import Array, Rows
from parsimon.preprocessing.columns import DAY

__all__ = ["KINDS", "Clock"]

#: Kinds of times. Numbers have no calendar.
KINDS = ("timestamp", "date", "number")
WEEK, YEAR = 7 * DAY, 365.25 * DAY
#: The number of waves per period.
WAVES = (1, 2)


class Clock:
    """The times of the rows of a series.

    The step is the median difference of the first times. A row whose distance from the row before
    it is about n steps has n - 1 missing rows before it.

    >>> clock = Clock("number", np.array([0.0, 1.0, 2.0, 4.0, 5.0]))
    >>> clock.step, clock.missing(np.array([0.0, 1.0, 2.0, 4.0, 5.0]))
    (1.0, array([0, 0, 1, 0]))
    """

    def __init__(self, kind: str, times: Array) -> None:
        self.kind = kind
        self.step = float(np.median(np.diff(times)))
        self.last = float(times[-1])

    def missing(self, times: Array) -> Rows:
        """Return the number of missing rows between n times, (n - 1,)."""
        steps = np.rint(np.diff(times) / self.step)
        return np.maximum(steps, 1.0).astype(np.int64) - 1

    def ahead(self, n: int) -> Array:
        """Return the times of the next n rows."""
        return np.asarray(self.last + self.step * np.arange(1, n + 1), dtype=np.float64)

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
            state.keys() != {"kind", "step", "last"}
            or state["kind"] not in KINDS
            or not numbers(state["last"])
            or not numbers(state["step"])
            or not state["step"] > 0
        ):
            raise ValueError("its times are not sound")
        clock = cls.__new__(cls)
        vars(clock).update(state)
        return clock
