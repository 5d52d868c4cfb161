"""The fraction of a stream that is learned, and an estimate of the time left."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from parsimon.cli.reading import Block

__all__ = ["Progress"]


#: About how many points in time are kept.
MARKS = 100


class Progress:
    """The fraction of the data that is learned, and an estimate of the time left.

    Blocks are read ahead, so the fraction is counted in rows that are learned. Each block says
    which part of the data it is, and all rows of a block count the same.

    The time left is estimated from the speed in the second half of the time so far. A model is
    faster while it has few centres, so the mean speed would be too optimistic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # Pairs of time and fraction. The first is about half of the time ago.
        self._marks: deque[tuple[float, float]] = deque()
        self._block: Block | None = None
        self._began: float | None = None  # when the first block began

    @property
    def fraction(self) -> float | None:
        """The fraction of the data that is learned, or None if unknown."""
        return self._marks[-1][1] if self._marks else None

    def begin(self, block: Block) -> None:
        """Begin a block."""
        self._block = block
        self.learned(0)

    def learned(self, rows: int) -> None:
        """Take note that `rows` rows of the block are learned."""
        block = self._block
        if block is None or block.span is None:
            return
        first, last = block.span
        now = self._clock()
        if self._began is None:
            self._began = now
        elapsed = now - self._began
        if len(self._marks) > 1 and now - self._marks[-2][0] < elapsed / MARKS:
            self._marks.pop()  # the newest point replaces it, so that few are kept
        self._marks.append((now, first + (last - first) * rows / max(block.table.num_rows, 1)))
        while len(self._marks) > 2 and self._marks[1][0] <= self._began + elapsed / 2:
            self._marks.popleft()

    @property
    def left(self) -> float | None:
        """Seconds until all rows are learned, or None if unknown."""
        if len(self._marks) < 2:
            return None
        (before, had), (_, has) = self._marks[0], self._marks[-1]
        return (self._clock() - before) * (1 - has) / (has - had) if has > had else None
