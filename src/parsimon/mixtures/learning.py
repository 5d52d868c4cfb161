"""How the experts of a mixture learn the pieces of a block, in threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _threads
from parsimon._interrupts import HeldBack
from parsimon.mixtures.line import run_line
from parsimon.mixtures.recent import PIECE
from parsimon.mixtures.stored import StoredMixture

__all__ = ["WORTH_THREADS", "LearningMixture"]

Array = NDArray[np.float64]

#: The least number of rows for which threads are used.
WORTH_THREADS = 32


@dataclass
class _Piece:
    """Rows that are learned at once."""

    rows: slice
    first: int = 0  # their first number in the stream
    prepared: Any = None
    predictions: Array = field(default_factory=lambda: np.empty((0, 0, 0)))


class LearningMixture(StoredMixture):
    """A mixture whose experts learn rows, in `n_jobs` threads. The number changes no bit."""

    n_jobs: int | None
    _interrupted: bool

    def _learn_rows(
        self,
        n: int,
        prepare: Callable[[slice], tuple[int, Any]],
        combine: Callable[[slice, Any, Array], None],
    ) -> None:
        """Learn n rows in pieces.

        `prepare(rows)` adds a piece to the recent rows. It returns the number of outputs, and what
        `combine(rows, prepared, P)` needs once the experts have learned the piece. P (n, E, C) are
        their predictions. Both get the pieces in order.

        An interrupt (Ctrl-C) takes effect when all experts have learned the pieces already begun.
        After an error of an expert, the experts may have learned different rows. Then the model
        cannot go on.
        """
        large = n >= WORTH_THREADS
        threads = min(_threads.count(self.n_jobs), len(self._slots)) if large else 1
        depth = min(threads, 2)
        size = PIECE // depth  # the recent rows have room for PIECE rows that are not yet learned
        pieces = [_Piece(slice(at, min(at + size, n))) for at in range(0, n, size)]
        begun, ended = 0, 0

        def begin(k: int) -> None:
            nonlocal begun
            begun += 1
            piece = pieces[k]
            piece.first = self._recent.n_rows
            n_outputs, piece.prepared = prepare(piece.rows)
            shape = (self._recent.n_rows - piece.first, len(self._slots), n_outputs)
            piece.predictions = np.empty(shape)

        def learn(e: int, k: int) -> None:
            first, P = pieces[k].first, pieces[k].predictions
            self._tasks[e].expect(P.shape[2])
            last = first + len(P)
            P[:, e] = self._slots[e].run(self._tasks[e], self._recent, first, last, P.shape[2])

        def end(k: int) -> None:
            nonlocal ended
            piece, pieces[k] = pieces[k], _Piece(pieces[k].rows)
            combine(piece.rows, piece.prepared, piece.predictions)
            ended += 1

        each: list[Callable[[int], None]] = [partial(learn, e) for e in self._by_cost()]
        try:
            if large:
                run_line(len(pieces), begin, each, end, threads, depth)
            else:
                with HeldBack():
                    for work in (begin, *each, end):
                        work(0)
        finally:
            if begun != ended:
                self._interrupted = True

    def _require_whole(self) -> None:
        if getattr(self, "_interrupted", False):
            raise RuntimeError(
                "learning was interrupted within a block, so the experts differ in what they have "
                "learned: load the model from a file, or learn a new one"
            )

    def _by_cost(self) -> list[int]:
        """Return the numbers of the experts, those first that are likely to take the most time."""

        # An update takes the square of the number of centres. Gradients and challengers cost more.
        def cost(e: int) -> float:
            slot = self._slots[e]
            return slot.budget**2 * (3.0 if slot.expert.relevance else 1.0)

        return sorted(range(len(self._slots)), key=cost, reverse=True)
