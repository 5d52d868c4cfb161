"""What a model sees of a series at an origin: lags, seasons and further columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsimon.forecasting.history import Array, History, Rows
from parsimon.forecasting.structure import Structure

__all__ = ["DirectView", "RecursiveView", "median_distance"]

#: Inputs are clipped to this many units.
CLIP = 10.0
#: The number of lags of models that see few.
NARROW = 4
#: Distances are measured between at most this many rows.
MEASURED = 300


@dataclass(frozen=True)
class View:
    """Lags of a series, in its units, as inputs of a model.

    Origin o has seen rows before o, so lag 1 is row o - 1.
    """

    structure: Structure
    lags: tuple[int, ...]

    @property
    def reach(self) -> int:
        """The number of rows that an origin needs before it."""
        return max(self.lags)

    def unscaled(self, values: Array, last: Array) -> Array:
        """Return values of a model, (n, ...), in the units of the series."""
        s = self.structure
        reference = last.reshape(-1, *[1] * (values.ndim - 1)) if s.relative else s.center
        return reference + s.scale * values

    def scaled(self, values: Array, last: Array) -> Array:
        """Return values of the series, (n, ...), in the units of the model.

        Values are relative to `last` (n,), the last value before each origin, if the level moves.
        """
        s = self.structure
        reference = last.reshape(-1, *[1] * (values.ndim - 1)) if s.relative else s.center
        return (values - reference) / s.scale

    def of_lags(self, past: Array) -> Array:
        """Return the lags as inputs. `past` (n, m) ends with the last value before the origin."""
        found = self.scaled(past[:, [-lag for lag in self.lags]], past[:, -1])
        return np.clip(found, -CLIP, CLIP)


class DirectView(View):
    """The inputs of a model that forecasts all steps at once.

    They are lags, what is known about the first and the last row of the horizon, and the further
    columns of the last row. `n_times` of the known features come from the clock. They are taken
    for the first row only, because they determine those of the other rows.
    """

    @classmethod
    def of(cls, structure: Structure, horizon: int) -> DirectView:
        """Return the view with lags, and the values one season before all targets."""
        lags = set(structure.direct_lags)
        for season in structure.seasons:
            lags |= set(range(max(season - horizon, 0) + 1, season + 1))
        return cls(structure, tuple(sorted(lags)))

    @classmethod
    def narrow(cls, structure: Structure) -> DirectView:
        """Return the view with few lags, and the values one season before the first target."""
        return cls(structure, tuple(sorted({*structure.direct_lags[:NARROW], *structure.seasons})))

    def inputs(self, history: History, origins: Rows, future: Array, n_times: int) -> Array:
        """Return the inputs at origins, (n, d). `future` (n, H, k) is known about the targets."""
        past = history.values(origins[:, np.newaxis] + np.arange(-self.reach, 0))
        last = [future[:, -1, n_times:]] if future.shape[1] > 1 else []
        other = history.other[origins - 1 - history.first]
        return np.concatenate([self.of_lags(past), future[:, 0], *last, other], axis=1)


class RecursiveView(View):
    """The inputs of a model that forecasts one step, and is then fed with its own forecasts."""

    @classmethod
    def of(cls, structure: Structure, lags: tuple[int, ...]) -> RecursiveView:
        """Return the view with these lags, and with the values about one season before."""
        near = {max(season + i, 1) for season in structure.seasons for i in (-1, 0, 1)}
        return cls(structure, tuple(sorted({*lags, *near})))

    def inputs(self, past: Array, known: Array, other: Array) -> Array:
        """Return the inputs for the next row, (n, d).

        `past` (n, m) ends with the last value, `known` (n, k) is known about the next row, and
        `other` (n, j) are the further columns of the last row that was seen.
        """
        return np.concatenate([self.of_lags(past), known, other], axis=1)

    def at(self, history: History, origins: Rows) -> Array:
        """Return the inputs at origins whose next row is held, (n, d)."""
        past = history.values(origins[:, np.newaxis] + np.arange(-self.reach, 0))
        places = origins - history.first
        return self.inputs(past, history.known[places], history.other[places - 1])


def median_distance(X: Array, *, absolute: bool = False) -> float:
    """Return the median distance of rows of X (n, d), or 1 if all rows are equal.

    With `absolute`, distances are sums of absolute differences.
    """
    rows = X[np.linspace(0, len(X) - 1, min(len(X), MEASURED)).astype(np.int64)]
    apart = rows[: len(rows) // 2, np.newaxis] - rows[np.newaxis, len(rows) // 2 :]
    if absolute:
        distances: NDArray[np.float64] = np.abs(apart).sum(axis=2)
    else:
        distances = np.sqrt(np.square(apart).sum(axis=2))
    found = float(np.median(distances)) if distances.size else 0.0
    return found if found > 0.0 else 1.0
