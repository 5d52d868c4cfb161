"""What is chosen from the first rows of a series: seasons, lags and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema

__all__ = ["STARTS", "Structure", "autocorrelation", "chosen", "find_seasons"]

Array = NDArray[np.float64]

#: Numbers of rows at which the structure is chosen from all rows so far. Models begin anew then.
STARTS = (64, 128, 256, 512, 1024, 2048)
#: Numbers of lags of the recursive models. Direct models have the second number.
LAGS = (4, 16, 48)
#: The least autocorrelation of a season.
SEASONAL = 0.5
#: The least height of its peak above the lowest autocorrelation before it.
PROMINENT = 0.3
#: The peak of the first season is at least this part of the highest.
NEARLY = 0.6
#: A second season must be longer, with an autocorrelation that is larger by this.
MORE_SEASONAL = 0.03
#: If the means of the quarters vary more than this, in deviations, changes are predicted.
MOVING = 0.5


@dataclass(frozen=True)
class Structure:
    """Seasons, lags and units of a series.

    Parameters
    ----------
    seasons : the lengths of the seasons, at most two.
    lags : the lags of the recursive models, each list longer than the one before.
    relative : whether values count relative to the last value, because the level moves.
    center : the mean of the values.
    scale : the unit of values.
    """

    seasons: tuple[int, ...]
    lags: tuple[tuple[int, ...], ...]
    relative: bool
    center: float
    scale: float

    @property
    def direct_lags(self) -> tuple[int, ...]:
        """The lags of direct models."""
        return self.lags[min(1, len(self.lags) - 1)]

    def state(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Structure:
        """Return the structure with these fields, or raise a ValueError."""
        counts = _schema.listed(_schema.whole(1, 2**20))
        sound = all(_schema.number(-1e150, 1e150)(state[name]) for name in ("center", "scale"))
        sound = sound and counts(state["seasons"]) and _schema.listed(counts)(state["lags"])
        sound = sound and all(state["lags"]) and 0 < len(state["lags"]) <= len(LAGS)
        if not sound or state["scale"] <= 0 or not isinstance(state["relative"], bool):
            raise ValueError("its structure is not sound")
        lists = {"seasons": tuple(state["seasons"]), "lags": tuple(map(tuple, state["lags"]))}
        return cls(**{**state, **lists})


def autocorrelation(y: Array) -> Array:
    """Return the autocorrelation of y (n,) at lags 0 to n / 3.

        r(s) = sum_t z_t z_(t-s) / (n - s) / mean z^2,   z = y - mean

    >>> autocorrelation(np.tile([1.0, -1.0], 6)).round(3)
    array([ 1., -1.,  1., -1.,  1.])
    """
    z = y - y.mean()
    n = len(z)
    power = np.square(np.abs(np.fft.rfft(z, 2 * n)))
    sums = np.fft.irfft(power)[: n // 3 + 1]
    if sums[0] <= 0.0:
        return np.zeros(len(sums))
    found: Array = sums / (n - np.arange(len(sums))) * (n / sums[0])
    return found


def find_seasons(y: Array) -> tuple[int, ...]:
    """Return the lengths of at most two seasons of y (n,), the shorter one first.

    A season is a lag where the autocorrelation has a peak of at least 0.5, which is 0.3 above the
    least value before it. The first season is the shortest such lag whose peak is at least 0.6 of
    the highest. The second one is longer and has a higher peak.

    >>> t = np.arange(400)
    >>> find_seasons(np.sin(2 * np.pi * t / 12) + np.random.default_rng(0).normal(size=400) / 5)
    (12,)
    """
    r = autocorrelation(y)
    inner = np.arange(2, len(r) - 1)
    deep = r[inner] - np.minimum.accumulate(r)[inner] >= PROMINENT
    inner = inner[
        (r[inner] > r[inner - 1]) & (r[inner] >= r[inner + 1]) & (r[inner] >= SEASONAL) & deep
    ]
    if not len(inner):
        return ()
    first = int(inner[r[inner] >= NEARLY * r[inner].max()][0])
    longer = inner[inner > 1.5 * first]
    if len(longer):
        second = int(longer[r[longer] >= r[longer].max() - MORE_SEASONAL][0])
        if r[second] > r[first] + MORE_SEASONAL:
            return first, second
    return (first,)


def chosen(y: Array, lags: Sequence[int] | None, seasons: Sequence[int] | None) -> Structure:
    """Return the structure for values y (n,). Given lags and seasons are kept."""
    n = len(y)
    scale = float(y.std())
    quarters = [part.mean() for part in np.array_split(y, 4)]
    relative = bool(np.std(quarters) > MOVING * scale)
    if seasons is None:
        t = np.arange(n) - (n - 1) / 2
        trend = t * (t @ y / (t @ t)) if relative else 0.0
        seasons = find_seasons(y - trend)
    if relative:
        # Changes over a few rows have a unit that does not grow with the number of rows.
        scale = float(np.std(y[8:] - y[:-8]))
    each = [tuple(range(1, min(count, n // 8) + 1)) for count in LAGS]
    if lags is not None:
        each = [tuple(lags)]
    return Structure(
        tuple(seasons),
        tuple(dict.fromkeys(each)),
        relative,
        float(y.mean()),
        scale if scale > 0.0 else 1.0,
    )
