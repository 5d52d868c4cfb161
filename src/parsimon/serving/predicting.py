"""Predictions with ids. Ids of requests that arrive together are stored together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from parsimon.serving import pending
from parsimon.serving.models import Answer, Models, Served
from parsimon.serving.rows import Row, encoded

__all__ = ["Predicting", "Wish"]

#: Up to this number of rows, predicting is quicker than handing the work to a thread.
FEW = 32


class Wish(NamedTuple):
    """What a request asks for besides predictions."""

    intervals: bool = False
    probabilities: bool = False
    remember: bool = False


class _Batch:
    """Rows of one model that are stored in the same transaction."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.rows: list[bytes] = []
        self.futures: list[asyncio.Future[None]] = []


class Predicting(Models):
    """Models that predict rows, and keep them for their labels."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._batches: dict[int, _Batch] = {}
        # Requests in this round of the event loop, and whether there was only one in the last
        self._round, self._alone = 0, True
        super().__init__(*args, **options)

    async def predicted(
        self, served: Served, rows: Sequence[Row], wish: Wish
    ) -> tuple[list[Answer], int]:
        """Return an answer for each row, and the place of the model that made them."""
        published = served.learner.published
        work = partial(
            published.predict, rows, intervals=wish.intervals, probabilities=wish.probabilities
        )
        answers = work() if len(rows) <= FEW else await asyncio.to_thread(work)
        if wish.remember:
            target = published.target
            kept = [
                encoded({k: v for k, v in row.items() if k != target} if target in row else row)
                for row in rows
            ]
            numbers = await served.numbers.take(len(rows))
            await self._remember(served, numbers, kept)
            for answer, number in zip(answers, numbers, strict=True):
                answer["id"] = f"{served.number}-{number}"
            served.count("dropped_ids", self.dropped_for(numbers))
        served.count("predicted_rows", len(rows))
        return answers, published.place

    def dropped_for(self, numbers: range) -> int:
        """Return how many ids are dropped early because these numbers were given."""
        before, most = numbers[0] - 1, self.limits.pending
        return max(0, numbers[-1] - most) - max(0, before - most)

    # Implementation

    async def _remember(self, served: Served, numbers: range, rows: Sequence[bytes]) -> None:
        """Store rows: at once, or if requests come together, with those of the others."""
        loop = asyncio.get_running_loop()
        self._round += 1
        if self._round == 1:
            loop.call_soon(self._end_round)
            if self._alone and self.store.done_at_once(
                partial(pending.remember, model=served.number, numbers=numbers, rows=rows)
            ):
                return
        batch = self._batches.get(served.number)
        if batch is None:
            batch = self._batches[served.number] = _Batch()
            loop.call_soon(self._store, served.number)
        batch.numbers += numbers
        batch.rows += rows
        future: asyncio.Future[None] = loop.create_future()
        batch.futures.append(future)
        await future

    def _end_round(self) -> None:
        self._alone, self._round = self._round == 1, 0

    def _store(self, model: int) -> None:
        loop, batch = asyncio.get_running_loop(), self._batches.pop(model)
        action = partial(pending.remember, model=model, numbers=batch.numbers, rows=batch.rows)
        try:
            if self.store.done_at_once(action):
                _tell(batch, None)
                return
        except Exception as error:
            _tell(batch, error)
            return
        stored = self.store.submit(action, quick=True)
        stored.add_done_callback(lambda f: loop.call_soon_threadsafe(_tell, batch, f.exception()))


def _tell(batch: _Batch, error: BaseException | None) -> None:
    """Tell the requests of a batch that it was stored, or why not."""
    for future in batch.futures:
        if future.done():  # the client has gone
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
