"""A curve along a stream of unknown length."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["MOST_POINTS", "Curve"]

T = TypeVar("T")

#: The most points that a curve has. It has at least half as many once there are enough rows.
MOST_POINTS = 400


class Curve(Generic[T]):
    """Values at multiples of `stride` rows. The stride is doubled when there are too many points.

    >>> curve = Curve()
    >>> for rows in range(1, 10_001):
    ...     if curve.rows_to_next(rows - 1) == 1:
    ...         curve.add(rows, rows**2)
    >>> curve.stride, len(curve.points), curve.points[0]
    (32, 312, (32, 1024))
    """

    def __init__(self) -> None:
        self.stride = 1
        self.points: list[tuple[int, T]] = []

    def rows_to_next(self, rows: int) -> int:
        """Return how many rows after row `rows` the next point is due."""
        return self.stride - rows % self.stride

    def add(self, rows: int, value: T, *, last: bool = False) -> None:
        """Add a point at row `rows`, if one is due or if it is the last of the stream."""
        if rows % self.stride and not last:
            return
        if self.points and self.points[-1][0] == rows:
            self.points.pop()  # the new value replaces it
        if len(self.points) == MOST_POINTS:
            self.stride *= 2
            self.points = [point for point in self.points if point[0] % self.stride == 0]
        if rows % self.stride == 0 or last:
            self.points.append((rows, value))
