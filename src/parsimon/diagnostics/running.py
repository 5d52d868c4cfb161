"""Measures of a dictionary that changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import whole
from parsimon.diagnostics._dense import norms_of
from parsimon.diagnostics.bounds import condition_bound
from parsimon.kernels import Kernel, as_points

Array = NDArray[np.float64]


class RunningCoherence:
    """Coherence and Babel measure of a dictionary that changes.

    An append evaluates O(m) kernel values. A removal evaluates none. The class stores the m centres
    and their normalised Gram matrix, which takes 8 m^2 bytes for the largest m so far. It also
    stores the sum and the largest entry of each row. An append writes one row and one column. A
    removal clears one row and one column, and searches the few rows whose largest entry was
    removed. The sums are computed again after every m removals, so that rounding errors do not
    accumulate. The amortised cost is O(m) per change.

    >>> from parsimon.kernels import Linear
    >>> running = RunningCoherence(Linear())
    >>> for x in ([1.0, 0.0], [0.0, 2.0], [3.0, 4.0]):
    ...     running.append(x)
    >>> running.coherence, round(running.babel, 6)
    (0.8, 1.4)
    >>> running.remove(1)
    >>> running.coherence, round(running.condition_bound, 6)
    (0.6, 4.0)
    """

    # CONVENTION: a centre keeps its slot, so nothing moves. `_slots` has the slots in use, oldest
    # centre first. Rows, columns, sums and largest entries of free slots are zero.

    def __init__(self, kernel: Kernel) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be an object of parsimon.kernels, got {kernel!r}")
        self._kernel = kernel
        self._slots: list[int] = []
        self._free: list[int] = []
        self._removals = 0
        self._points = np.zeros((0, 0))
        self._rho = np.zeros((0, 0))
        self._norms, self._sums, self._largest = np.zeros(0), np.zeros(0), np.zeros(0)
        self._neighbour = np.zeros(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def centers(self) -> Array:
        """The centres, oldest first, (m, d)."""
        return self._points[self._slots]

    @property
    def coherence(self) -> float:
        """mu = max_{i != j} |k(d_i, d_j)| for normalised k; 0 for fewer than two centres."""
        return float(self._largest.max(initial=0.0))

    @property
    def babel(self) -> float:
        """Babel measure of order m - 1, with m centres.

        It is the largest row sum of absolute values of the normalised Gram matrix, without the
        diagonal. It is 0 for fewer than two centres.
        """
        return float(self._sums.max(initial=0.0))

    @property
    def condition_bound(self) -> float:
        """An upper bound on the condition number of the Gram matrix."""
        return condition_bound(self.babel)

    def append(self, x: ArrayLike) -> None:
        """Add a centre x (d,)."""
        point = np.asarray(x, dtype=float)
        if point.ndim != 1 or (self._points.size and len(point) != self._points.shape[1]):
            known = self._points.shape[1] if self._points.size else "d"
            raise ValueError(f"x must be one point of shape ({known},), got shape {point.shape}")
        norm = norms_of(self._kernel, as_points(point[np.newaxis], "x"), "x")[0]
        slots = np.array(self._slots, dtype=np.intp)
        row = self._row(point, norm, slots)
        new = self._take_slot(point)
        self._norms[new] = norm
        self._rho[new, slots] = self._rho[slots, new] = row
        self._sums[slots] += row
        self._sums[new] = row.sum()
        closer = slots[row > self._largest[slots]]
        self._largest[closer], self._neighbour[closer] = self._rho[new, closer], new
        self._search(np.array([new]))
        self._slots.append(new)

    def remove(self, j: int) -> None:
        """Drop centre j, counted from the oldest, 0."""
        if not self._slots:
            raise IndexError("there is no centre to remove")
        old = self._slots.pop(whole("j", j, at_least=0, at_most=len(self) - 1))
        self._sums -= self._rho[old]
        self._rho[old] = self._rho[:, old] = 0.0
        self._sums[old] = self._largest[old] = 0.0
        slots = np.array(self._slots, dtype=np.intp)
        self._search(slots[self._neighbour[slots] == old])
        self._free.append(old)
        self._removals += 1
        if self._removals >= len(self):
            self._sums, self._removals = self._rho.sum(axis=1), 0

    def _row(self, point: Array, norm: float, slots: NDArray[np.intp]) -> Array:
        if not len(slots):
            return np.zeros(0)
        values = self._kernel(point[np.newaxis], self._points[slots])[0]
        return np.asarray(np.minimum(np.abs(values) / norm / self._norms[slots], 1.0))

    def _search(self, slots: NDArray[np.intp]) -> None:
        self._neighbour[slots] = self._rho[slots].argmax(axis=1)
        self._largest[slots] = self._rho[slots, self._neighbour[slots]]

    def _take_slot(self, point: Array) -> int:
        if not self._free:
            held = len(self._norms)
            more = max(8, held)
            if not held:
                self._points = np.zeros((0, len(point)))
            self._points = np.pad(self._points, ((0, more), (0, 0)))
            self._rho = np.pad(self._rho, (0, more))
            self._norms, self._sums = np.pad(self._norms, (0, more)), np.pad(self._sums, (0, more))
            self._largest, self._neighbour = (
                np.pad(self._largest, (0, more)),
                np.pad(self._neighbour, (0, more)),
            )
            self._free = list(range(held + more - 1, held - 1, -1))
        slot = self._free.pop()
        self._points[slot] = point
        return slot
