"""Running means and standard deviations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _core, _schema

__all__ = ["MOMENTS", "Moments", "with_moments", "with_plain_moments"]

Array = NDArray[np.float64]
#: The largest values in the statistics of a file.
LARGEST_STORED = 1e152


class Moments:
    """Running means and standard deviations of k columns.

    CONVENTION: `count` is the number of values that were not missing, and `shift` is the first of
    these values. `total` is the sum of x - shift, and `squares` the sum of (x - mean)^2. Welford's
    recursion

        squares_i = squares_(i-1) + (x_i - mean_(i-1))^2 (i - 1) / i

    adds terms that are never negative, so nothing cancels. Sums are in the order of the rows, so
    learning a block equals learning its rows one by one, bit for bit.

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
        """Add values V (k, n), with NaN for missing values.

        Return the means and standard deviations before the first row and after each row, (k, n +
        1).
        """
        means, deviations, after = _core.learn_moments(np.ascontiguousarray(V), self._stacked())
        self.count, self.shift, self.total, self.squares = after
        return means, deviations

    def add(self, values: Array) -> None:
        """Add values (n,) of a single column, as `learn` does."""
        self.count, self.shift, self.total, self.squares = _core.add_moments(
            np.ascontiguousarray(values), self._stacked()
        )

    def learn_into(
        self, columns: Sequence[Array], clip: float, out: Array, places: list[int]
    ) -> None:
        """Add k columns (n,), and write them standardised to the columns `places` of `out` (n, w).

        Each value is standardised by the moments after it, and clipped to [-clip, clip].
        """
        self.count, self.shift, self.total, self.squares = _core.learn_standardised_into(
            [np.ascontiguousarray(column) for column in columns],
            self._stacked(),
            clip,
            out,
            places,
        )

    def now(self) -> tuple[Array, Array]:
        """Return the means and standard deviations so far, (k, 1). Without values they are 0."""
        means, deviations, _ = _core.learn_moments(np.empty((len(self.count), 0)), self._stacked())
        return means, deviations

    def _stacked(self) -> Array:
        return np.array([self.count, self.shift, self.total, self.squares])

    def state(self) -> dict[str, Array]:
        """Return the arrays of the state."""
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
        """Return moments with this state."""
        arrays = [np.asarray(state[name], dtype=np.float64) for name in cls.FIELDS]
        sound = all(
            a.ndim == 1 and len(a) == len(arrays[0]) and np.isfinite(a).all() for a in arrays
        )
        if not sound or (arrays[0] < 0).any() or (arrays[3] < 0).any():
            raise ValueError("its running statistics are not sound")
        moments = cls(len(arrays[0]))
        moments.count, moments.shift, moments.total, moments.squares = arrays
        return moments


#: The check for running statistics in a file.
MOMENTS = _schema.mapped(lambda name: name in Moments.FIELDS, _schema.finite_array(None))


def with_plain_moments(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with its running statistics as arrays."""
    return {k: v.state() if isinstance(v, Moments) else v for k, v in state.items()}


def with_moments(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with its running statistics as objects again."""
    return {k: Moments.restored(v) if k == "_moments" else v for k, v in state.items()}
