"""The last rows of a stream, in fixed memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema

__all__ = ["KEEP", "PIECE", "Recent", "places"]

Array = NDArray[np.float64]

#: The number of rows that a new generation of an expert begins with.
KEEP = 1000
#: The most rows that are learned at once. Longer blocks are cut.
PIECE = 512


def places(first: int, last: int, capacity: int) -> Any:
    """Return where a ring has rows first..last-1: a slice, unless they are in two parts."""
    start = first % capacity
    if start + last - first <= capacity:
        return slice(start, start + last - first)
    return np.arange(first, last) % capacity


class Recent:
    """A ring of the last rows, which are addressed by their number in the stream.

    >>> recent = Recent(4, 1, 1)
    >>> for x in range(6):
    ...     recent.append(np.array([[x]]), np.array([[-x]]))
    >>> recent.rows(3, 6)[0].ravel(), recent.lags(5, 6, 2).ravel()
    (array([3., 4., 5.]), array([-4., -3.]))
    """

    def __init__(self, capacity: int, n_features: int, n_targets: int) -> None:
        self.X = np.zeros((capacity, n_features))
        self.T = np.zeros((capacity, n_targets))
        self.n_rows = 0

    @property
    def capacity(self) -> int:
        """The number of rows that are held."""
        return len(self.X)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.X.nbytes + self.T.nbytes

    def append(self, X: Array, T: Array) -> None:
        """Add rows X (n, d) with targets T (n, k), n at most the capacity."""
        new = places(self.n_rows, self.n_rows + len(X), self.capacity)
        self.X[new], self.T[new] = X, T
        self.n_rows += len(X)

    def rows(self, first: int, last: int) -> tuple[Array, Array]:
        """Return rows first..last-1 and their targets."""
        return self.features(first, last), self.targets(first, last)

    def targets(self, first: int, last: int) -> Array:
        """Return the targets of rows first..last-1."""
        found: Array = self.T[places(first, last, self.capacity)].copy()
        return found

    def features(self, first: int, last: int) -> Array:
        """Return rows first..last-1 without their targets."""
        found: Array = self.X[places(first, last, self.capacity)].copy()
        return found

    def lags(self, first: int, last: int, n_lags: int) -> Array:
        """Return the targets before each of these rows, the latest first, (n, n_lags, k).

        Targets before the first row of the stream are 0.
        """
        if n_lags <= first == last - 1:  # one row
            start = (first - n_lags) % self.capacity
            if start + n_lags <= self.capacity:
                return self.T[np.newaxis, start : start + n_lags][:, ::-1].copy()
        rows = np.arange(first, last)[:, np.newaxis] - np.arange(1, n_lags + 1)
        found: Array = np.where((rows >= 0)[..., np.newaxis], self.T[rows % self.capacity], 0.0)
        return found

    def state(self) -> dict[str, Any]:
        """Return the rows that are held, oldest first."""
        first = max(0, self.n_rows - self.capacity)
        X, T = self.rows(first, self.n_rows)
        return {"X": X, "T": T, "n_rows": self.n_rows, "capacity": self.capacity}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Recent:
        """Return the ring with this state."""
        X, T, n_rows, capacity = (state[key] for key in ("X", "T", "n_rows", "capacity"))
        sized = _schema.whole(1, 2**20)(capacity) and _schema.whole(0, 2**53)(n_rows)
        if (
            not sized
            or not _schema.finite_array(None, None)(X)
            or not _schema.finite_array(None, None)(T)
            or len(X) != len(T)
            or len(X) != min(n_rows, capacity)
        ):
            raise ValueError("its recent rows are not sound")
        recent = cls(capacity, X.shape[1], T.shape[1])
        recent.n_rows = n_rows - len(X)
        recent.append(X, T)
        return recent
