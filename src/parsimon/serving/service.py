"""Requests about rows: they become entries of the log, and answers from the published model.

Neither learning nor the disk keeps other requests waiting: rows are predicted by the published
model, and everything that waits is a coroutine.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from parsimon.serving import keys, log, pending
from parsimon.serving.errors import Refused
from parsimon.serving.models import Answer, Served
from parsimon.serving.predicting import Predicting, Wish
from parsimon.serving.published import plain
from parsimon.serving.rows import Row, checked_label, checked_rows, encoded

__all__ = ["Action", "Service"]

Action = Callable[[sqlite3.Connection], Answer]

#: Up to this number of rows, checking is quicker than handing the work to a thread.
FEW = 8


class Service(Predicting):
    """Models in a store that predict and learn rows."""

    async def predict(self, name: str, request: Answer) -> Answer:
        """Return predictions, with ids unless "remember" is False."""
        served = self.model(name)
        rows = checked_rows(request.get("rows"), self.limits)
        wish = _wish(request, remember=request.get("remember") is not False)
        found, place = await self.predicted(served, rows, wish)
        return {"predictions": found, "predicted_at": place}

    async def learn(
        self, name: str, request: Answer, key: str | None, *, predict: bool = False
    ) -> Answer:
        """Log rows with targets, and return their place. With `predict`, predict them first."""
        served = self.model(name)
        self.require_room(served)
        rows = checked_rows(request.get("rows"), self.limits, target=served.learner.model.target)
        await self.require_learnable(served, rows)
        found: Answer = {}
        if predict:
            predictions, place = await self.predicted(served, rows, _wish(request))
            found = {"predictions": predictions, "predicted_at": place}
        body = encoded(rows)
        learning = self.learning(served, body, len(rows))
        # The predictions are stored with the key: made again, they could know the targets.
        answer = await self._log_rows(served, key, body, lambda c: {**found, **learning(c)})
        return await self._answered(served, answer, request)

    async def label(self, name: str, request: Answer, key: str | None) -> Answer:
        """Log the rows of ids with their labels, in the order of the labels."""
        served = self.model(name)
        self.require_room(served)
        given = request.get("labels")
        labelling = self.labelling(served, given)
        answer = await self._log_rows(served, key, encoded(given), labelling)
        return await self._answered(served, answer, request)

    # Parts of requests, for messages too

    def learning(self, served: Served, body: bytes, n: int) -> Action:
        """Return the action of the store that logs n rows, which were checked."""
        return lambda c: {"place": log.append(c, served.number, "learn", body, n), "rows": n}

    def labelling(self, served: Served, given: Any) -> Action:
        """Return the action of the store that logs the rows of ids with their labels."""
        if not isinstance(given, list) or not given or len(given) > self.limits.rows:
            raise Refused(422, f"labels must be a list of 1 to {self.limits.rows} objects")
        labels: list[tuple[str, Any]] = []
        for at, each in enumerate(given):
            if not isinstance(each, dict) or not isinstance(each.get("id"), str):
                raise Refused(422, f"label {at}: it must be an object with id and label")
            labels.append((each["id"], checked_label(each.get("label"), self.limits)))
        if len({each for each, _ in labels}) != len(labels):
            raise Refused(422, "an id occurs twice")
        published = served.learner.published

        def action(c: sqlite3.Connection) -> Answer:
            rows, before = pending.labelled(
                c, served.number, published.target, labels, served.numbers.last, self.limits
            )
            answer: Answer = {"place": None, "rows": len(rows), "before": before}
            # Rows of several calls of predict can have different columns. An entry has one set.
            for entry in _alike(rows):
                published.check(entry)
                answer["place"] = log.append(c, served.number, "learn", encoded(entry), len(entry))
            return answer

        return action

    def require_room(self, served: Served) -> None:
        """Raise `Refused` if the model cannot learn, or has too many rows to learn."""
        learner = served.learner
        if learner.failure is not None:
            raise Refused(500, f"the learner failed: {learner.failure}")
        if served.backlog > self.limits.backlog_rows:
            raise Refused(
                503, f"{served.backlog} rows wait to be learned: send rows more slowly", retry=1
            )

    async def require_learnable(self, served: Served, rows: Sequence[Row]) -> None:
        """Raise `Refused` if the model would refuse to learn rows, as far as this is known."""
        check = served.learner.published.check
        if len(rows) <= FEW:
            check(rows)
        else:
            await asyncio.to_thread(check, rows)

    def logged(self, served: Served, rows: int) -> None:
        """Tell the learners of a model that rows were logged."""
        for each in self.all():
            if each is served or each.shadow_of == served.number:
                each.logged_rows += rows
                each.learner.wake()

    # Implementation

    async def _log_rows(
        self,
        served: Served,
        key: str | None,
        request: bytes,
        action: Action,
    ) -> Answer:
        answer, again = await self.stored(
            lambda c: keys.once(c, served.number, key, request, self.limits, action)
        )
        if again:
            return {**answer, "again": True}
        self.logged(served, answer["rows"])
        found: Answer = answer
        return found

    async def _answered(self, served: Served, answer: Answer, request: Answer) -> Answer:
        """Wait for the learner if this was asked for, or if only the learner can check the rows."""
        must = not served.learner.published.warm
        if answer["place"] is None or not (request.get("wait") is True or must):
            return answer
        outcome = await self.outcome(served, answer["place"])
        if outcome.refused is not None:
            raise Refused(422, outcome.refused, place=outcome.place)
        if request.get("wait") is True and outcome.predictions is not None:
            answer["before_learning"] = plain(outcome.predictions)
        return {**answer, "learned": True}


def _wish(request: Answer, *, remember: bool = False) -> Wish:
    return Wish(request.get("intervals") is True, request.get("probabilities") is True, remember)


def _alike(rows: Sequence[Row]) -> list[list[Row]]:
    """Return rows in order, in groups that have the same columns."""
    groups: list[list[Row]] = []
    for row in rows:
        if not groups or groups[-1][0].keys() != row.keys():
            groups.append([])
        groups[-1].append(row)
    return groups
