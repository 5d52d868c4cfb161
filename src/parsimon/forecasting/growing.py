"""How the rows of a series become learned rows: first rows, the grid of times, gaps, progress."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from parsimon.forecasting.clock import Clock
from parsimon.forecasting.engine import BLOCK, Engine
from parsimon.forecasting.history import Array, History
from parsimon.forecasting.rows import Columns, Rows, as_table
from parsimon.forecasting.stored import StoredForecaster
from parsimon.forecasting.structure import STARTS, chosen

__all__ = ["GrowingForecaster"]

#: The most missing rows that are filled in at once. Longer gaps keep the phase of the season.
LONGEST_GAP = 1000


class GrowingForecaster(StoredForecaster):
    """A forecaster that takes rows which have been checked."""

    def _start(self, columns: Columns, kind: str | None) -> None:
        self._learns_with = dict(self.get_params(deep=False))
        self._columns, self._time_kind = columns, kind
        self._clock: Clock | None = None
        self._history: History | None = None
        self._engine: Engine | None = None
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
        """Add rows. A long gap begins a stretch: it is shortened by the seasons at its row."""
        long: list[int] = []
        if self._clock is not None:
            gaps = self._clock.missing(np.concatenate([[self._clock.last], rows.times]))
            long = np.flatnonzero(gaps > LONGEST_GAP).tolist()
        for first, last in itertools.pairwise([0, *long, len(rows.y)]):
            if first < last:
                self._append(self._on_grid(rows.part(slice(first, last))))

    @property
    def _n_times(self) -> int:
        return 0 if self._clock is None else self._clock.n_features

    def _on_grid(self, rows: Rows) -> Rows:
        """Return rows with rows for missing times. Known features include those of the times.

        Only the first row may have a long gap before it.
        """
        if self._clock is None:
            return rows
        clock = self._clock
        assert self._history is not None
        times = np.concatenate([[clock.last], rows.times])
        gaps = clock.missing(times)
        seasons = self._engine.structure.seasons if self._engine is not None else ()
        turn = max(seasons, default=1)
        gaps = np.where(gaps > LONGEST_GAP, LONGEST_GAP + (gaps - LONGEST_GAP) % turn, gaps)
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
        missing = np.isnan(rows.y)
        while at < n:
            count = history.n_rows
            due = min([start for start in self._starts if start > count], default=2**62)
            if self._engine is not None:
                due = min(due, max(self._engine.due, count + 1))
            stop = min(n, at + due - count)
            y = rows.y[at:stop].copy()
            for i in np.flatnonzero(missing[at:stop]):
                y[i] = self._filled(y[:i])
            piece = rows.part(slice(at, stop))
            history.append(y, (~missing[at:stop]).astype(np.float64), piece.known, piece.other)
            self._progress(history)
            at = stop

    def _filled(self, before: Array) -> float:
        """Return a value for a missing one: one season before, or the last one."""
        history = self._history
        assert history is not None
        seasons = self._engine.structure.seasons if self._engine is not None else ()
        back = seasons[0] if seasons else 1
        past = np.concatenate([history.y[-back:], before])
        return float(past[-back])

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

    def _early_values(self) -> Array:
        """Return the values on the grid of times, before the experts have begun."""
        if self._history is not None:
            return self._history.y
        clock = self._present_clock()
        if clock is None or len(self._first.y) < 2:
            found: Array = self._first.y
            return found
        gaps = np.minimum(clock.missing(self._first.times), LONGEST_GAP)
        places = np.concatenate([[0], np.cumsum(gaps + 1)])
        y = np.full(int(places[-1]) + 1, np.nan)
        y[places] = self._first.y
        return y

    def _present_clock(self) -> Clock | None:
        if self._clock is not None or self._time_kind is None:
            return self._clock
        return Clock(self._time_kind, self._first.times)

    def _future(self, X_future: Any) -> Array:
        """Return what is known about the next H rows, (H, k)."""
        H = self.horizon
        names = self._columns.groups[0]
        if names and X_future is None:
            raise ValueError(
                f"X_future is missing: the next {H} rows of the known columns {', '.join(names)}"
            )
        clock = self._clock
        parts = [] if clock is None else [clock.features(clock.ahead(H))]
        if names:
            columns = self._columns.read(as_table(X_future), 0)
            n = len(next(iter(columns.values())).values)
            if n != H:
                raise ValueError(f"X_future must have {H} rows, one per step, got {n}")
            if self._columns.is_settled(0):
                parts.append(self._columns.encoders[0].transform(as_table(X_future)))
        return np.concatenate(parts, axis=1) if parts else np.empty((H, 0))
