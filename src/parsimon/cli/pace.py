"""How many rows to learn at a time."""

from __future__ import annotations

__all__ = ["Pace"]


class Pace:
    """How many rows to learn at a time: as many as take about a given time, within bounds.

    Parameters
    ----------
    start, least, most : rows at first, at least and at most.
    seconds : the time that the rows should take.

    Attributes
    ----------
    rows : how many rows to learn next.
    """

    def __init__(self, start: int, least: int, most: int, seconds: float) -> None:
        self.rows, self._least, self._most, self._seconds = start, least, most, seconds

    def update(self, rows: int, seconds: float) -> None:
        """Take the time of some rows into account. Fewer rows than asked for are not counted."""
        if rows != self.rows:
            return
        if seconds < self._seconds / 2:
            self.rows = min(2 * rows, self._most)
        elif seconds > 2 * self._seconds:
            self.rows = max(rows // 2, self._least)
