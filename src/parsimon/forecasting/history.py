"""The last rows of a series, on a regular grid of times and in fixed memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema
from parsimon.preprocessing import LARGEST

__all__ = ["LARGEST_VALUE", "History", "are_features", "repeated"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Encoded features are at most this large.
LARGEST_FEATURE = 10.0
#: Values without shifts of the level, and the shifts, are at most this large.
LARGEST_VALUE = 10.0 * LARGEST


def are_features(n: int) -> _schema.Check:
    """Return a check for stored features of n rows."""
    return _schema.finite_array(n, None, least=-LARGEST_FEATURE, most=LARGEST_FEATURE)


def repeated(y: Array, n: int, period: int = 1) -> Array:
    """Return the next n values of y, if it repeats its last period. NaN is a missing value.

    A missing value is replaced by the one a period before, or else by the last value.

    >>> repeated(np.array([1.0, 2.0, 3.0]), 2), repeated(np.array([1.0, 2.0, 3.0]), 4, 3)
    (array([3., 3.]), array([1., 2., 3., 1.]))
    """
    whole = np.concatenate([y, np.full(n, np.nan)])
    for i in range(1, len(whole)):
        if np.isnan(whole[i]):
            whole[i] = whole[i - period if i >= period else i - 1]
    return whole[len(y) :]


class History:
    """The last rows of a series, which are addressed by their number in the series.

    CONVENTION: row i has the value `y[i - first] + offsets[i - first]`. Models see y, without the
    sudden shifts of the level that `offsets` sum up. A missing value is filled in, and `seen` says
    whether it was there. `known` are the features of a row that are known in advance, and `other`
    are its further features. Rows from `first` on are held, at least `capacity` of them if there
    are so many, and at most twice as many.
    """

    def __init__(self, capacity: int, n_known: int, n_other: int) -> None:
        self.capacity, self.first = capacity, 0
        self.y, self.offsets, self.seen = np.empty(0), np.empty(0), np.empty(0)
        self.known, self.other = np.empty((0, n_known)), np.empty((0, n_other))

    @property
    def n_rows(self) -> int:
        """The number of rows so far."""
        return self.first + len(self.y)

    @property
    def nbytes(self) -> int:
        """The most memory that the rows take, in bytes."""
        return 16 * self.capacity * (3 + self.known.shape[1] + self.other.shape[1])

    def append(self, y: Array, seen: Array, known: Array, other: Array) -> None:
        """Add rows. Old rows are dropped when twice the capacity is held."""
        held = (self.y, self.offsets, self.seen, self.known, self.other)
        new = (y, np.zeros(len(y)), seen, known, other)
        whole = [np.concatenate(pair) for pair in zip(held, new, strict=True)]
        if len(whole[0]) >= 2 * self.capacity:
            dropped = len(whole[0]) - self.capacity
            self.first += dropped
            whole = [array[dropped:].copy() for array in whole]
        self.y, self.offsets, self.seen, self.known, self.other = whole

    def lower(self, first: int, last: int, size: float) -> None:
        """Remove a shift of the level from the values of rows first..last."""
        rows = slice(max(first - self.first, 0), last + 1 - self.first)
        self.y[rows] -= size
        self.offsets[rows] += size

    def values(self, rows: Rows) -> Array:
        """Return the values of rows, in the shape of `rows`."""
        found: Array = self.y[rows - self.first]
        return found

    def raw(self, rows: Rows) -> Array:
        """Return the values of rows with the shifts of the level, in the shape of `rows`."""
        found: Array = self.y[rows - self.first] + self.offsets[rows - self.first]
        return found

    def targets(self, origins: Rows, horizon: int) -> tuple[Array, Array]:
        """Return the values after each origin and whether they were seen, both (n, H).

        The first target of origin o is row o.
        """
        rows = origins[:, np.newaxis] + np.arange(horizon) - self.first
        return self.y[rows], self.seen[rows]

    def shifts(self, origins: Rows, horizon: int) -> Array:
        """Return the shifts of the level from the last row of each origin to its targets, (n, H).

        A target less its shift is at the level of the origin.
        """
        rows = origins[:, np.newaxis] + np.arange(horizon) - self.first
        found: Array = self.offsets[rows] - self.offsets[rows[:, :1] - 1]
        return found

    def future(self, origins: Rows, horizon: int) -> Array:
        """Return what is known in advance about the rows after each origin, (n, H, k)."""
        found: Array = self.known[origins[:, np.newaxis] + np.arange(horizon) - self.first]
        return found

    def state(self) -> dict[str, Any]:
        """Return the rows that are held."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> History:
        """Return the history with this state, or raise a ValueError."""
        capacity, first = state["capacity"], state["first"]
        n = len(state["y"])
        arrays = (
            _schema.finite_array(n, least=-LARGEST_VALUE, most=LARGEST_VALUE)(state["y"]),
            _schema.finite_array(n, least=-LARGEST_VALUE, most=LARGEST_VALUE)(state["offsets"]),
            _schema.finite_array(n, least=0, most=1)(state["seen"]),
            are_features(n)(state["known"]),
            are_features(n)(state["other"]),
            _schema.whole(1, 2**24)(capacity),
            _schema.whole(0, 2**53)(first),
        )
        if state.keys() != vars(cls(1, 0, 0)).keys() or not all(arrays) or n >= 2 * capacity:
            raise ValueError("its last rows are not sound")
        history = cls(capacity, 0, 0)
        vars(history).update(state)
        return history
