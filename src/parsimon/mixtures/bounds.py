"""The range that predictions stay in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bounds", "running_range"]

Array = NDArray[np.float64]

#: Predictions may leave the range of the targets so far by this part of it.
MARGIN = 0.1


def running_range(Y: Array, low: Array, high: Array, first: int) -> tuple[Array, Array]:
    """Return the least and largest targets before each row and after the last, (n + 1, C).

    Y (n, C) are the targets, `low` and `high` (C,) the range of the `first` targets before. Before
    the very first row, the range is that of its own target.
    """
    lows = np.minimum.accumulate(Y if first == 0 else np.vstack([low, Y]))
    highs = np.maximum.accumulate(Y if first == 0 else np.vstack([high, Y]))
    if first == 0:
        return np.vstack([lows[:1], lows]), np.vstack([highs[:1], highs])
    return lows, highs


def bounds(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the bounds of predictions for targets within low..high, which may be arrays.

    >>> bounds(np.array([1.0, -1.0]), np.array([11.0, 9.0]))
    (array([ 0., -2.]), array([12., 10.]))
    """
    margin = MARGIN * (high - low)
    return np.where(low >= 0.0, np.maximum(low - margin, 0.0), low - margin), high + margin
