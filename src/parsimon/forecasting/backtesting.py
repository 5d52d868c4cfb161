"""Forecasts from many origins of one series, and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from parsimon._parts import whole
from parsimon.forecasting.clock import Clock
from parsimon.forecasting.history import Array, Rows
from parsimon.forecasting.rows import as_table, checked_values
from parsimon.forecasting.structure import STARTS
from parsimon.forecasting.times import checked_times, taken
from parsimon.preprocessing.reading import raw_columns

if TYPE_CHECKING:
    from parsimon.forecasting.forecaster import Forecaster

__all__ = ["Backtest", "backtest"]

#: The number of origins, if the caller does not say how far they are apart.
ORIGINS = 100
#: The most steps in a printed table.
SHOWN = 12


@dataclass(frozen=True)
class Backtest:
    """Forecasts from N origins, and what happened.

    Attributes
    ----------
    origins : array (N,)
        The number of rows before each forecast.
    forecasts : array (N, H)
        The forecasts.
    targets : array (N, H)
        The values, NaN where the value is missing.
    last_values : array (N,)
        The last value before each forecast.
    seasonal : array (N, H) or None
        The values one season before, if there is a season.
    bounds : array (N, H, 2)
        The intervals, NaN where there was none yet.
    coverage : float
        The nominal coverage of the intervals.
    """

    origins: Rows
    forecasts: Array
    targets: Array
    last_values: Array
    seasonal: Array | None
    bounds: Array
    coverage: float

    @property
    def horizon(self) -> int:
        """The number of steps H."""
        return int(self.targets.shape[1])

    @property
    def nmse(self) -> Array:
        """Mean squared error over the variance of the targets, for each step, (H,)."""
        return self._nmse(self.forecasts)

    @property
    def mae(self) -> Array:
        """Mean absolute error for each step, (H,)."""
        return self._mae(self.forecasts)

    @property
    def naive_nmse(self) -> Array:
        """The same as `nmse`, if the last value is the forecast."""
        return self._nmse(self.last_values[:, np.newaxis])

    @property
    def naive_mae(self) -> Array:
        """The same as `mae`, if the last value is the forecast."""
        return self._mae(self.last_values[:, np.newaxis])

    @property
    def seasonal_nmse(self) -> Array | None:
        """The same as `nmse`, if the value one season before is the forecast."""
        return None if self.seasonal is None else self._nmse(self.seasonal)

    @property
    def seasonal_mae(self) -> Array | None:
        """The same as `mae`, if the value one season before is the forecast."""
        return None if self.seasonal is None else self._mae(self.seasonal)

    @property
    def covered(self) -> Array:
        """The share of targets in their intervals, for each step, (H,)."""
        there = np.isfinite(self.targets) & np.isfinite(self.bounds[:, :, 0])
        inside = (self.targets >= self.bounds[:, :, 0]) & (self.targets <= self.bounds[:, :, 1])
        return _means(np.where(there, inside.astype(np.float64), np.nan))

    def _nmse(self, forecasts: Array) -> Array:
        there = np.where(np.isfinite(self.targets), 1.0, np.nan)
        spread = _means(np.square(self.targets - _means(self.targets)))
        with np.errstate(divide="ignore", invalid="ignore"):
            return _means(np.square(forecasts - self.targets) * there) / spread

    def _mae(self, forecasts: Array) -> Array:
        return _means(np.abs(forecasts - self.targets))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of a table of errors, at most 12 of the steps."""
        header = ["step", "NMSE", "naive", "seasonal", "MAE", "naive", "seasonal", "covered"]
        columns: list[Any] = [
            self.nmse,
            self.naive_nmse,
            self.seasonal_nmse,
            self.mae,
            self.naive_mae,
            self.seasonal_mae,
            self.covered,
        ]
        shown = [i for i, values in enumerate(columns) if values is not None]
        steps = np.unique(np.linspace(1, self.horizon, min(SHOWN, self.horizon)).astype(int))
        rows = [
            [str(step), *(f"{columns[i][step - 1]:.3g}" for i in shown)] for step in steps.tolist()
        ]
        return ["step", *(header[1 + i] for i in shown)], rows

    def __str__(self) -> str:
        header, rows = self.table()
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        lines = [
            "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True))
            for row in [header, *rows]
        ]
        return "\n".join([f"{len(self.origins)} origins", *lines])


def _means(values: Array) -> Array:
    """Return the means of the columns over values that are not NaN."""
    there = np.isfinite(values)
    sums = np.where(there, values, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = sums / there.sum(axis=0)
    return found


def backtest(
    model: Forecaster, y: Any, X: Any, times: Any, start: int | None, every: int | None
) -> Backtest:
    """Run a new model over a series, as `Forecaster.backtest` says."""
    model._checked_parameters()
    values, H = checked_values(y), model.horizon
    n = len(values)
    first = whole("start", n // 2 if start is None else start, at_least=1)
    if first >= n:
        raise ValueError(f"start={first} leaves no row to forecast: there are {n} rows")
    step = whole("every", max(1, (n - first) // ORIGINS) if every is None else every, at_least=1)
    table = None if X is None else as_table(X)
    columns = {} if table is None else raw_columns(table)
    for name, column in columns.items():
        if len(column) != n:
            raise ValueError(f"X must have {n} rows as y, got {len(column)} in {name!r}")
    after = _positions(values, times)
    run = clone(model)
    origins = np.arange(first, n, step)
    forecasts, targets = np.empty((2, len(origins), H))
    bounds, last_values = np.empty((len(origins), H, 2)), np.empty(len(origins))
    seasonal, known, done = np.full((len(origins), H), np.nan), _known(model, columns), 0
    for i, origin in enumerate(origins.tolist()):
        rows = slice(done, origin)
        run.learn(
            values[rows],
            None if table is None else {name: taken(c, rows) for name, c in columns.items()},
            None if times is None else taken(times, rows),
        )
        done = origin
        # Row of each step: the target, or the row before it if it is missing
        ahead = after[origin - 1] + np.arange(1, H + 1)
        place = np.searchsorted(after, ahead, side="right") - 1
        there = after[place] == ahead
        future = {name: taken(columns[name], place) for name in known} if known else None
        forecasts[i], bounds[i] = run.forecast(X_future=future, intervals=True)
        targets[i] = np.where(there, values[place], np.nan)
        present = values[:origin][~np.isnan(values[:origin])]
        last_values[i] = present[-1] if len(present) else np.nan
        if run.seasons_:
            season = run.seasons_[-1]
            back = ahead - season * (np.arange(H) // season + 1)
            place = np.maximum(np.searchsorted(after[:origin], back, side="right") - 1, 0)
            seasonal[i] = values[place]
    has_season = bool(np.isfinite(seasonal).any())
    return Backtest(
        origins,
        forecasts,
        targets,
        last_values,
        seasonal if has_season else None,
        bounds,
        float(model.coverage),
    )


def _known(model: Forecaster, columns: dict[str, Any]) -> list[str]:
    return list(columns) if model.known == "all" else list(model.known)


def _positions(values: Array, times: Any) -> Any:
    """Return the number of each row on the grid of times, (n,)."""
    n = len(values)
    if times is None:
        return np.arange(n)
    kind, seconds = checked_times(times, n, None, -np.inf)
    present = np.flatnonzero(~np.isnan(values))
    first = int(present[0]) if len(present) else 0
    clock = Clock(kind, seconds[first : first + STARTS[0]])
    return np.concatenate([[0], np.cumsum(clock.missing(seconds) + 1)])
