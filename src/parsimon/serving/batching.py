"""Predictions of requests that arrive at the same time, made as one block.

A block equals its rows bit for bit, and takes little more time than one row. So requests that wait
at the same moment are predicted together, and their ids are stored together. If the block is
refused, each request is predicted alone, so a bad row is no concern of the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from parsimon.serving import pending
from parsimon.serving.errors import Refused
from parsimon.serving.models import Answer, Models, Served
from parsimon.serving.rows import Row, encoded

__all__ = ["Batching", "Wish"]

#: Up to this number of rows, predicting is quicker than handing the work to a thread.
FEW = 64


class Wish(NamedTuple):
    """What a request asks for besides predictions."""

    intervals: bool = False
    probabilities: bool = False
    remember: bool = False


class _Waiting(NamedTuple):
    rows: Sequence[Row]
    future: asyncio.Future[tuple[list[Answer], int]]


class Batching(Models):
    """Models that predict the rows of several requests together."""

    _batches: dict[Any, list[_Waiting]]

    def __init__(self, *args: Any, **options: Any) -> None:
        self._batches = {}
        self._tasks: set[asyncio.Task[None]] = set()
        super().__init__(*args, **options)

    async def predicted(
        self, served: Served, rows: Sequence[Row], wish: Wish
    ) -> tuple[list[Answer], int]:
        """Return an answer for each row, and the place of the model that made them."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(rows, loop.create_future())
        which = (served.number, wish, frozenset(rows[0]))
        batch = self._batches.get(which)
        if batch is None:
            self._batches[which] = [waiting]
            loop.call_soon(self._begin, served, wish, which)
        else:
            batch.append(waiting)
        return await waiting.future

    # Implementation

    def _begin(self, served: Served, wish: Wish, which: Any) -> None:
        """Predict what waits. Everything that arrived before this is called is in the batch."""
        batch = self._batches.pop(which)
        task = asyncio.get_running_loop().create_task(self._answer(served, wish, batch))
        self._tasks.add(task)  # a task that nobody holds could be removed
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, served: Served, wish: Wish, batch: Sequence[_Waiting]) -> None:
        try:
            found = await self._together(served, wish, batch)
        except Exception as error:
            if len(batch) > 1 and isinstance(error, Refused) and error.status != 503:
                for each in batch:
                    await self._answer(served, wish, [each])
                return
            for each in batch:
                if not each.future.done():
                    each.future.set_exception(error)
            return
        at = 0
        for each in batch:
            if not each.future.done():  # the client may have gone
                each.future.set_result((found[0][at : at + len(each.rows)], found[1]))
            at += len(each.rows)

    async def _together(
        self, served: Served, wish: Wish, batch: Sequence[_Waiting]
    ) -> tuple[list[Answer], int]:
        rows = batch[0].rows if len(batch) == 1 else [row for each in batch for row in each.rows]
        published = served.learner.published

        def work() -> list[Answer]:
            return published.predict(
                rows, intervals=wish.intervals, probabilities=wish.probabilities
            )

        answers = work() if len(rows) <= FEW else await asyncio.to_thread(work)
        if wish.remember:
            target = published.target
            kept = [encoded({k: v for k, v in row.items() if k != target}) for row in rows]
            ids, dropped = await self.stored(
                lambda c: pending.remember(c, served.number, kept, self.limits)
            )
            for answer, each in zip(answers, ids, strict=True):
                answer["id"] = each
            served.count("dropped_ids", dropped)
        served.count("predicted_rows", len(rows))
        return answers, published.place
