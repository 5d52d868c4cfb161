"""A stream of messages that becomes entries of the log, and whose answers are published.

Messages are taken in order, some at a time. Those taken together are logged in one transaction, all
or none. Then their predictions are published, and then they are acknowledged. So after a crash the
broker delivers again what is not in the log. What is in the log and was not acknowledged is
delivered again too; its key says that it is there, and the answer of the first time is published.

A message that cannot be used is kept in the store with the reason, and acknowledged. If the store
cannot be written, or the model is paused or has too much to learn, the stream waits.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from parsimon.serving import inbox, pending
from parsimon.serving.errors import Refused
from parsimon.serving.intake import Intake, Result, Work, concerns_message
from parsimon.serving.messages import meaning
from parsimon.serving.models import Answer, Served
from parsimon.serving.predicting import Wish
from parsimon.serving.published import plain
from parsimon.serving.rows import Row, encoded
from parsimon.serving.service import Action, Service
from parsimon.serving.sources.base import Message, Outgoing, Source

__all__ = ["Stream"]

T = TypeVar("T")

#: The least and the longest pause before messages are tried again, in seconds.
PAUSES = (0.1, 5.0)
#: Seconds to finish what was taken when the server stops.
GRACE = 5.0


class _Stopping(Exception):
    """The server stops. What was not acknowledged comes again."""


class Stream:
    """Messages of a source for a model.

    Parameters
    ----------
    service : Service
        The models.
    model : str
        The name of the model.
    source : Source
        Where the messages come from.
    name : str
        The name of the source in the store.
    key_column : str or None, default=None
        The column that holds the key, in messages that are one row.
    """

    def __init__(
        self, service: Service, model: str, source: Source, name: str, key_column: str | None = None
    ) -> None:
        self.service, self.model, self.source, self.name = service, model, source, name
        self.key_column = key_column
        self.counts = dict.fromkeys(
            ("learned", "labelled", "predicted", "known", "bad", "published", "not_published"), 0
        )
        self.waits_for: str | None = None
        self._stopping = asyncio.Event()
        self._taken = 0

    def state(self) -> Answer:
        """Return whether the stream is connected, and what it waits for."""
        return {
            "stream": self.name,
            "model": self.model,
            "connected": self.source.connected,
            "problem": self.source.problem,
            "waits_for": self.waits_for,
            "unacknowledged": self._taken + self.source.waiting,
            "dropped": self.source.dropped,
        }

    @asynccontextmanager
    async def running(self, _: Any = None) -> AsyncIterator[None]:
        """Run the stream while the block runs. At its end, finish what was taken."""
        await self.source.start()
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._stopping.set()
            await asyncio.wait([task], timeout=GRACE)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self.source.close()

    # Implementation

    async def _run(self) -> None:
        with suppress(_Stopping):
            while not self._stopping.is_set():
                messages = await self._until_possible(self._next)
                self._taken = len(messages)
                if messages:
                    await self._handle(messages)
                self._taken = 0

    async def _next(self) -> list[Message]:
        """Return the next messages, or none if the server stops."""
        taking = asyncio.ensure_future(self.source.take())
        stopping = asyncio.ensure_future(self._stopping.wait())
        done, _ = await asyncio.wait([taking, stopping], return_when=asyncio.FIRST_COMPLETED)
        for each in (taking, stopping):
            each.cancel()
        return taking.result() if taking in done and not taking.cancelled() else []

    async def _handle(self, messages: Sequence[Message]) -> None:
        numbers: dict[Any, range] = {}  # of ids: taken once, however often logging is tried
        works, results = await self._until_possible(self._logged, messages, numbers)
        results = await self._learned(works, results)
        self._count(works, results)
        answers = [
            Outgoing(encoded({**result.answer, **_origin(work)}), work.message)
            for work, result in zip(works, results, strict=True)
            if result.answer is not None and "predictions" in result.answer
        ]
        if answers and self.source.options.publish is not None:
            refused = await self._until_possible(self.source.publish, answers)
            self.counts["published"] += len(answers) - refused
            self.counts["not_published"] += refused
        await self._until_possible(self.source.acknowledge, messages)

    async def _until_possible(self, function: Callable[..., Awaitable[T]], *values: Any) -> T:
        """Call a function until it succeeds, with growing pauses."""
        pause = PAUSES[0]
        while True:
            try:
                found = await function(*values)
                self.waits_for = None
                return found
            except Exception as error:
                reason = error.message if isinstance(error, Refused) else repr(error)
                if self.waits_for != reason:
                    self.service.note("stream waits", stream=self.name, reason=reason)
                self.waits_for = reason
            try:
                await asyncio.wait_for(self._stopping.wait(), pause)
            except TimeoutError:
                pause = min(2.0 * pause, PAUSES[1])
            else:
                raise _Stopping

    async def _logged(
        self, messages: Sequence[Message], numbers: dict[Any, range]
    ) -> tuple[list[Work], list[Result]]:
        """Log messages, or raise `Refused` if this is not possible now."""
        served = self.service.model(self.model)
        self.service.require_room(served)
        found = await asyncio.gather(
            *(self._work(served, message, numbers) for message in messages), return_exceptions=True
        )
        for each in found:
            if isinstance(each, BaseException):
                raise each
        works = [each for each in found if isinstance(each, Work)]
        intake = self._intake(served)
        results: list[Result] = await self.service.stored(
            lambda c: [intake.written(c, work) for work in works]
        )
        new = [result.answer for result in results if result.answer and not result.known]
        self.service.logged(served, sum(answer.get("rows", 0) for answer in new))
        return works, results

    async def _work(self, served: Served, message: Message, numbers: dict[Any, range]) -> Work:
        """Return what is to be done with a message. Rows are predicted."""
        work = Work(message, warm=served.learner.published.warm)
        if message.part is not None and message.offset is not None:
            work.key = inbox.natural_key(self.name, message.part, message.offset)
        try:
            await self._understand(served, work, numbers)
        except Refused as error:
            if not concerns_message(error):
                raise
            work.reason, work.action = error.message, None
        except Exception as error:
            work.action = None
            work.reason = f"internal error, which is a bug: {error!r}"
        return work

    async def _understand(self, served: Served, work: Work, numbers: dict[Any, range]) -> None:
        service, limits, message = self.service, self.service.limits, work.message
        if message.body is None:
            raise Refused(
                413, f"the message has {message.size} bytes; the most are {limits.message_bytes}"
            )
        published = served.learner.published
        found = meaning(message.body, published.target, limits, self.key_column)
        if found.key is not None:
            work.key = f"key {found.key}"
        if found.labels is not None:
            work.kind, work.action = "labelled", service.labelling(served, found.labels)
            return
        if found.learns:
            await service.require_learnable(served, found.rows)
        answers: list[Answer] = [{"prediction": None} for _ in found.rows]
        place = published.place
        if published.model is not None:
            given = published.model.intervals is not None
            wish = Wish(given if found.intervals is None else found.intervals, found.probabilities)
            answers, place = await service.predicted(served, found.rows, wish)
        answer = {"predictions": plain(answers), "predicted_at": place}
        if found.learns:
            work.kind = "learned"
            learning = service.learning(served, encoded(found.rows), len(found.rows))
            work.action = lambda c: {**answer, **learning(c)}
        elif found.remember:
            which = (served.number, id(message))
            if which not in numbers:
                numbers[which] = await self._taken_numbers(served, len(found.rows))
            work.action = _remembering(served.number, numbers[which], found.rows, answer)
        else:
            work.action = lambda c: answer

    async def _taken_numbers(self, served: Served, n: int) -> range:
        taken = await served.numbers.take(n)
        served.count("dropped_ids", self.service.dropped_for(taken))
        return taken

    async def _learned(self, works: Sequence[Work], results: Sequence[Result]) -> list[Result]:
        """Wait for the learner during the warm-up, when only the learner can check rows."""
        served, found = self.service.models.get(self.model), list(results)
        if served is None:
            return found
        intake = self._intake(served)
        for at, (work, result) in enumerate(zip(works, results, strict=True)):
            place = None if result.answer is None else result.answer.get("place")
            if work.warm or place is None:
                continue
            try:
                refused = (await self.service.outcome(served, place)).refused
            except Refused:  # the learner failed or stops, and the rows are in the log
                return found
            if refused is not None:
                reject = partial(intake.reject, message=work.message, reason=refused)
                await self._until_possible(self.service.stored, reject)
                found[at] = Result(None, refused)
        return found

    def _intake(self, served: Served) -> Intake:
        return Intake(served.number, self.name, self.service.limits)

    def _count(self, works: Sequence[Work], results: Sequence[Result]) -> None:
        for work, result in zip(works, results, strict=True):
            if result.reason is None:
                self.counts["known" if result.known else work.kind] += 1
                continue
            self.counts["bad"] += 1
            origin = work.message.origin
            self.service.note("bad message", stream=self.name, reason=result.reason, **origin)


def _origin(work: Work) -> Answer:
    """Return what says which message an answer is about."""
    key = work.key.removeprefix("key ") if work.key and work.key.startswith("key ") else None
    return {**({} if key is None else {"key": key}), **work.message.origin}


def _remembering(model: int, numbers: range, rows: Sequence[Row], answer: Answer) -> Action:
    """Return the action of the store that keeps rows under ids, and the answer with the ids."""
    kept = [encoded(row) for row in rows]
    both = zip(answer["predictions"], numbers, strict=True)
    with_ids = [{**each, "id": f"{model}-{number}"} for each, number in both]

    def action(c: sqlite3.Connection) -> Answer:
        pending.remember(c, model, numbers, kept)
        return {**answer, "predictions": with_ids}

    return action
