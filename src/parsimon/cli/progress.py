"""How much of a stream is learned, and how long the rest will take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from parsimon.cli.reading import Block

__all__ = ["Progress"]


#: About how many points of the past are kept.
MARKS = 100


class Progress:
    """The share of the data that is learned, and an estimate of the time left.

    Blocks are read ahead, so the share is counted in rows learned: each block says which part of
    the data it is, and rows within a block count alike. The time left assumes that learning goes on
    as fast as it did in the later half of the time so far. A model is quicker while it has few
    centres, and the mean speed would promise too much.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # (time, share), the first about half way back
        self._marks: deque[tuple[float, float]] = deque()
        self._block: Block | None = None
        self._began: float | None = None  # when the first row was about to be learned

    @property
    def fraction(self) -> float | None:
        """The share of the data that is learned, or None if it cannot be known."""
        return self._marks[-1][1] if self._marks else None

    def begin(self, block: Block) -> None:
        """Say which block is learned next."""
        self._block = block
        self.learned(0)

    def learned(self, rows: int) -> None:
        """Say that so many rows of the block are learned."""
        block = self._block
        if block is None or block.span is None:
            return
        first, last = block.span
        now = self._clock()
        if self._began is None:
            self._began = now
        elapsed = now - self._began
        if len(self._marks) > 1 and now - self._marks[-2][0] < elapsed / MARKS:
            self._marks.pop()  # the newest always says what is true now, and few are kept
        self._marks.append((now, first + (last - first) * rows / max(block.table.num_rows, 1)))
        while len(self._marks) > 2 and self._marks[1][0] <= self._began + elapsed / 2:
            self._marks.popleft()

    @property
    def left(self) -> float | None:
        """Seconds until the whole is learned, or None if that cannot be told."""
        if len(self._marks) < 2:
            return None
        (before, had), (_, has) = self._marks[0], self._marks[-1]
        return (self._clock() - before) * (1 - has) / (has - had) if has > had else None
