"""Running means and standard deviations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _core, _schema

__all__ = ["MOMENTS", "Moments", "with_moments", "with_plain_moments"]

Array = NDArray[np.float64]
LARGEST_STORED = 1e152


class Moments:
    """Running means and standard deviations of k columns.

    CONVENTION: over the `count` values present so far, `shift` is the first of them, `total` the
    sum of x - shift, `squares` the sum of (x - mean)^2. The squares grow as in Welford's recursion,

        squares_i = squares_(i-1) + (x_i - mean_(i-1))^2 (i - 1) / i,

    by terms that are never negative, so nothing cancels; sums run in the order of the rows, so a
    block equals its rows, bit for bit.

    Reference: Welford, *Note on a method for calculating corrected sums of squares and products*,
    Technometrics 1962.

    >>> moments = Moments(1)
    >>> means, deviations = moments.learn(np.array([[1.0, 3.0, np.nan]]))
    >>> means, deviations
    (array([[0., 1., 2., 2.]]), array([[0., 0., 1., 1.]]))
    """

    FIELDS = ("count", "shift", "total", "squares")

    def __init__(self, k: int) -> None:
        self.count, self.shift, self.total, self.squares = np.zeros((4, k))

    def learn(self, V: Array) -> tuple[Array, Array]:
        """Take values V (k, n), NaN where missing, and return means and standard deviations before
        the first row and after each, (k, n + 1).
        """
        means, deviations, after = _core.learn_moments(np.ascontiguousarray(V), self._stacked())
        self.count, self.shift, self.total, self.squares = after
        return means, deviations

    def now(self) -> tuple[Array, Array]:
        """Return the means and standard deviations so far, (k, 1); 0 where nothing was there."""
        means, deviations, _ = _core.learn_moments(np.empty((len(self.count), 0)), self._stacked())
        return means, deviations

    def _stacked(self) -> Array:
        return np.stack([getattr(self, name) for name in self.FIELDS])

    def state(self) -> dict[str, Array]:
        """Return what it holds."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def require_sound(self, largest: float) -> None:
        """Raise a ValueError unless these can be the statistics of values up to `largest`."""
        with np.errstate(over="ignore"):
            within = np.abs(self.total) <= 2.0 * largest * np.maximum(self.count, 1.0)
        if not (
            (self.count % 1 == 0)
            & (self.count <= 2.0**53)
            & (np.abs(self.shift) <= largest)
            & within
        ).all():
            raise ValueError("its running statistics are not those of numbers")

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Moments:
        """Return one that holds a state."""
        arrays = [np.asarray(state[name], dtype=np.float64) for name in cls.FIELDS]
        sound = all(
            a.ndim == 1 and len(a) == len(arrays[0]) and np.isfinite(a).all() for a in arrays
        )
        if not sound or (arrays[0] < 0).any() or (arrays[3] < 0).any():
            raise ValueError("its running statistics are not sound")
        moments = cls(len(arrays[0]))
        moments.count, moments.shift, moments.total, moments.squares = arrays
        return moments


#: The running statistics in a state.
MOMENTS = _schema.mapped(lambda name: name in Moments.FIELDS, _schema.finite_array(None))


def with_plain_moments(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with its running statistics as arrays."""
    return {k: v.state() if isinstance(v, Moments) else v for k, v in state.items()}


def with_moments(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with its running statistics as objects again."""
    return {k: Moments.restored(v) if k == "_moments" else v for k, v in state.items()}
