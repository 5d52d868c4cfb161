"""How the rows of a series become learned rows: first rows, the grid of times, gaps, progress."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.forecasting.clock import Clock
from parsimon.forecasting.engine import BLOCK, Engine
from parsimon.forecasting.history import Array, History
from parsimon.forecasting.levels import Levels
from parsimon.forecasting.rows import Columns, Rows, as_table
from parsimon.forecasting.stored import StoredForecaster
from parsimon.forecasting.structure import STARTS, chosen
from parsimon.forecasting.times import future_rows

__all__ = ["GrowingForecaster"]

#: The most missing rows that are filled in at once.
LONGEST_GAP = 1000
#: The most missing rows that are filled in for each row that was given, besides LONGEST_GAP.
FILLED_PER_ROW = 4
#: Gaps between this many rows are measured at once.
MEASURED = 256


class GrowingForecaster(StoredForecaster):
    """A forecaster that takes rows which have been checked."""

    def _start(self, columns: Columns, kind: str | None) -> None:
        self._learns_with = dict(self.get_params(deep=False))
        self._columns, self._time_kind = columns, kind
        self._clock: Clock | None = None
        self._history: History | None = None
        self._engine: Engine | None = None
        self._levels = Levels()
        self._n_filled = 0
        self._first: Any = None
        self._last_time = -np.inf

    def _take(self, rows: Rows) -> None:
        """Add rows: hold the first ones, later put them on the grid of times."""
        self.__dict__.pop("_ahead", None)
        if self._history is None:
            held = rows if self._first is None else self._first.joined(rows)
            if len(held.y) < STARTS[0]:
                self._first = held
                return
            rows = held.part(slice(STARTS[0], None))
            self._settle(held.part(slice(0, STARTS[0])))
        self._extend(rows)

    def _settle(self, first: Rows) -> None:
        """Begin with the first rows."""
        self._first = None
        if self._time_kind is not None:
            self._clock = Clock(self._time_kind, first.times)
            self._clock.last = float(first.times[0])
        n_known = self._n_times + first.known.shape[1]
        capacity = STARTS[-1] + 2 * self.horizon + 64
        self._history = History(capacity, n_known, first.other.shape[1])
        begin = first.part(slice(0, 1))
        known = (
            [begin.known]
            if self._clock is None
            else [self._clock.features(begin.times), begin.known]
        )
        self._history.append(begin.y, np.ones(1), np.concatenate(known, axis=1), begin.other)
        self._extend(first.part(slice(1, None)))

    def _extend(self, rows: Rows) -> None:
        """Add rows. A gap without room for its rows is shortened, by the seasons at that row."""
        if self._clock is None:
            self._append(rows)
            return
        assert self._history is not None
        while len(rows.y):
            times = np.concatenate([[self._clock.last], rows.times[:MEASURED]])
            gaps = self._clock.missing(times)
            room = _room(gaps, self._history.n_rows - self._n_filled, self._n_filled)
            long = np.flatnonzero(gaps > room)
            n = int(long[0]) if len(long) else len(gaps)
            if n == 0:
                n, gaps = 1, np.array([self._shortened(int(gaps[0]), int(room[0]))])
            self._n_filled += int(gaps[:n].sum())
            self._append(self._on_grid(rows.part(slice(0, n)), gaps[:n]))
            rows = rows.part(slice(n, None))

    def _shortened(self, gap: int, room: int) -> int:
        """Return the length of a gap that is too long: the largest that keeps the season's phase.

        It is 0 if there is none. Then the season begins anew after the gap.
        """
        seasons = self._engine.structure.seasons if self._engine is not None else ()
        return max(room - (room - gap) % max(seasons, default=1), 0)

    @property
    def _n_times(self) -> int:
        return 0 if self._clock is None else self._clock.n_features

    def _on_grid(self, rows: Rows, gaps: NDArray[np.int64]) -> Rows:
        """Return rows with `gaps` (n,) missing rows before them.

        Known features include those of the times.
        """
        clock = self._clock
        assert clock is not None and self._history is not None
        times = np.concatenate([[clock.last], rows.times])
        clock.last = float(times[-1])
        places = np.cumsum(gaps + 1) - 1
        n = int(places[-1]) + 1
        # A missing row has the columns of the row before it, and its own time.
        source = np.searchsorted(places, np.arange(n), side="right") - 1
        y = np.full(n, np.nan)
        y[places] = rows.y
        filled = np.interp(np.arange(n), np.concatenate([[-1], places]), times)
        before_known = self._history.known[-1:, clock.n_features :]
        known = np.concatenate([before_known, rows.known])[source + 1]
        other = np.concatenate([self._history.other[-1:], rows.other])[source + 1]
        return Rows(y, filled, np.concatenate([clock.features(filled), known], axis=1), other)

    def _append(self, rows: Rows) -> None:
        """Add rows of the grid one stretch after another, and learn when it is time."""
        history = self._history
        assert history is not None
        n, at = len(rows.y), 0
        seen = ~np.isnan(rows.y)
        while at < n:
            count = history.n_rows
            due = min([start for start in self._starts if start > count], default=2**62)
            if self._engine is not None:
                due = min(due, max(self._engine.due, count + 1))
            stop = min(n, at + due - count)
            piece = rows.part(slice(at, stop))
            history.append(piece.y, seen[at:stop].astype(np.float64), piece.known, piece.other)
            for row in range(count, history.n_rows):
                self._set_level(history, row)
            self._progress(history)
            at = stop

    def _set_level(self, history: History, row: int) -> None:
        """Remove shifts of the level from a row, and fill it in if its value is missing.

        The replacement is the value one season before, or the last value.
        """
        at = row - history.first
        history.offsets[at] = self._levels.offset
        if history.seen[at] > 0.0:
            history.y[at] -= self._levels.offset
            if self._engine is not None:
                self._levels.follow(history, row)
        else:
            seasons = self._engine.structure.seasons if self._engine is not None else ()
            history.y[at] = history.y[at - (seasons[0] if seasons else 1)]

    def _progress(self, history: History) -> None:
        """Choose the structure at fixed numbers of rows, and let the experts learn."""
        n = history.n_rows
        if n in self._starts and n >= 2 * self.horizon:
            self._begin(history)
        if self._engine is not None:
            self._engine.advance(history)

    def _begin(self, history: History) -> None:
        """Begin with new experts, if there are enough rows for their lags and seasons."""
        n = history.n_rows
        lags, seasons = self._given_lags()
        if any(season <= n < self._usable(season) for season in seasons or []):
            return  # the season is usable soon; until then it is a good forecast by itself
        if seasons is not None:
            seasons = [season for season in seasons if season <= n]
        engine = self._make_engine(chosen(history.y, lags, seasons))
        if n >= engine.reach + self.horizon + BLOCK:
            engine.begin(history)
            self._engine = engine
            self._levels = Levels.of(history, max(engine.structure.seasons, default=0))

    def _usable(self, season: int) -> int:
        """Return the number of rows that models with this season need."""
        return season + 1 + self.horizon + BLOCK

    @property
    def _starts(self) -> tuple[int, ...]:
        """The numbers of rows at which models begin anew: also when a given season is usable."""
        usable = [self._usable(season) for season in self._given_seasons()]
        return (*STARTS, *(start for start in usable if start > STARTS[0]))

    def _caught_up(self) -> tuple[Engine | None, History | None]:
        """Return a copy of the experts that has learned all rows."""
        if self._engine is None:
            return None, None
        assert self._history is not None
        if "_ahead" not in self.__dict__:
            self._ahead = self._engine.caught_up(self._history)
        return self._ahead, self._history

    def _held_values(self) -> Array:
        """Return the values of the rows that are held. A missing value is NaN."""
        if not self._is_begun:
            return np.empty(0)
        history = self._history
        if history is None:
            return self._early_values()
        return np.where(history.seen > 0.0, history.y + history.offsets, np.nan)

    def _early_values(self) -> Array:
        """Return the values on the grid of times, before the experts have begun."""
        if self._history is not None:
            return self._history.y
        clock = self._present_clock()
        if clock is None or len(self._first.y) < 2:
            found: Array = self._first.y
            return found
        gaps = clock.missing(self._first.times)
        gaps = np.clip(gaps, 0, np.maximum(_room(gaps, 1, 0), 0))
        places = np.concatenate([[0], np.cumsum(gaps + 1)])
        y = np.full(int(places[-1]) + 1, np.nan)
        y[places] = self._first.y
        return y

    def _present_clock(self) -> Clock | None:
        if self._clock is not None or self._time_kind is None:
            return self._clock
        return Clock(self._time_kind, self._first.times)

    def _future(self, X_future: Any, times: Any = None) -> Array:
        """Return what is known about the next H rows, (H, k)."""
        H, clock = self.horizon, self._present_clock()
        names = self._columns.groups[0]
        if times is not None and X_future is None:
            raise ValueError("times_future is given without X_future, whose rows have these times")
        if names and X_future is None:
            raise ValueError(
                f"X_future is missing: the next {H} rows of the known columns {', '.join(names)}"
            )
        parts = [] if self._clock is None else [self._clock.features(self._clock.ahead(H))]
        if names:
            table = as_table(X_future)
            if times is not None:
                if clock is None:
                    raise ValueError("times_future is given, but rows were learned without times")
                table = future_rows(table, names, times, clock, H)
            columns = self._columns.read(table, 0)
            n = len(next(iter(columns.values())).values)
            if n != H:
                raise ValueError(f"X_future must have {H} rows, one per step, got {n}")
            if self._columns.is_settled(0):
                parts.append(self._columns.encoders[0].transform(table))
        return np.concatenate(parts, axis=1) if parts else np.empty((H, 0))


def _room(gaps: NDArray[np.int64], given: int, filled: int) -> NDArray[np.int64]:
    """Return how many missing rows can be filled in before each of n rows, (n,).

    `gaps` (n,) are missing before them, `given` rows were given before, and `filled` rows were
    filled in. The number for a row holds if all gaps before it are filled in.
    """
    before = filled + np.cumsum(np.minimum(gaps, LONGEST_GAP)) - np.minimum(gaps, LONGEST_GAP)
    left = LONGEST_GAP + FILLED_PER_ROW * (given + np.arange(len(gaps))) - before
    found: NDArray[np.int64] = np.minimum(left, LONGEST_GAP)
    return found
