"""The models of a server by name: their files, snapshots and pauses.

Methods that change something wait for the store, so what they return is durable.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from parsimon.persistence.files import ModelFileError, dumps, loads
from parsimon.serving import log, pending
from parsimon.serving.errors import Refused
from parsimon.serving.learner import Learner, Outcome
from parsimon.serving.limits import Limits
from parsimon.serving.store import Store
from parsimon.tables import TableModel

__all__ = ["Answer", "Models", "Served", "Watched", "loaded"]

#: The names of models and snapshots.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)

#: The tables that have rows of single models.
OF_MODELS = (
    "log", "refused", "checkpoints", "histories", "snapshots", "pending", "keys",
    "message_keys", "positions", "bad_messages",
)  # fmt: skip

Answer = dict[str, Any]


@dataclass
class Served:
    """A model of the server."""

    number: int
    name: str
    shadow_of: int | None
    learner: Learner
    numbers: pending.Numbers
    counts: dict[str, int] = field(default_factory=dict)
    logged_rows: int = 0

    def count(self, what: str, n: int = 1) -> None:
        """Add to a number of the metrics."""
        self.counts[what] = self.counts.get(what, 0) + n

    @property
    def backlog(self) -> int:
        """The number of rows in the log that are not learned yet."""
        learner = self.learner
        return max(0, self.logged_rows - learner.learned_rows - learner.refused_rows)

    @property
    def facts(self) -> Answer:
        """What is known about the published model, and whether its learner has failed."""
        learner = self.learner
        return {
            "failure": learner.failure or learner.checkpoint_failure,
            "refused_rows": learner.refused_rows,
            **learner.published.facts,
        }


class Watched(Protocol):
    """A stream of messages, as far as the metrics show it."""

    model: str
    counts: dict[str, int]

    def state(self) -> Answer:
        """Return whether the stream is connected, and what it waits for."""


class Models:
    """Models in a store, each with its learner.

    Parameters
    ----------
    folder : Path
        The folder of the store. It is created if it does not exist.
    limits : Limits, default=Limits()
        What is accepted and kept.
    note : function, default=nothing
        Called with a message and named values, for the log of the process.
    """

    def __init__(
        self,
        folder: Path,
        limits: Limits | None = None,
        note: Callable[..., None] = lambda *_, **__: None,
    ) -> None:
        self.limits, self.note = limits or Limits(), note
        self.store = Store(folder)
        self.began = time.time()
        self.models: dict[str, Served] = {}
        self.streams: list[Watched] = []
        self._reading = threading.Lock()
        self._reader = self.store.reader()
        try:
            for number, name, shadow_of in self._reader.execute(
                "SELECT id, name, shadow_of FROM models ORDER BY id"
            ).fetchall():
                self._serve(number, name, shadow_of)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop learning, with a checkpoint of every model, and close the store."""
        for served in self.all():
            served.learner.stop()
            with suppress(Refused):  # numbers that were reserved are left out then
                served.numbers.close()
        with self._reading:
            self._reader.close()
        self.store.close()

    def all(self) -> list[Served]:
        """Return all models. Others may be added or deleted meanwhile."""
        return list(self.models.values())

    def model(self, name: str) -> Served:
        """Return a model by name, or raise `Refused`."""
        served = self.models.get(name)
        if served is None:
            raise Refused(404, f"there is no model {name[:64]!r}")
        return served

    def read(self, query: Callable[[sqlite3.Connection], Any]) -> Any:
        """Return what a function reads from the store."""
        with self._reading:
            return query(self._reader)

    # Models

    def create(self, name: str, model: TableModel, shadow_of: str | None = None) -> Served:
        """Add a model under a new name. A shadow learns the rows of another model too."""
        if NAME.fullmatch(name) is None:
            raise Refused(422, f"{name[:64]!r} is no name: use letters, digits, - and _")
        live = None if shadow_of is None else self.model(shadow_of)
        if live is not None:
            if live.shadow_of is not None:
                raise Refused(422, f"{shadow_of!r} is itself a shadow")
            if live.learner.model.target != model.target:
                raise Refused(422, f"a shadow of {shadow_of!r} must have the same target")
        number = None if live is None else live.number
        data = dumps(model)

        def action(c: sqlite3.Connection) -> int:
            if c.execute("SELECT 1 FROM models WHERE name = ?", (name,)).fetchone():
                raise Refused(409, f"there is a model {name!r} already")
            if c.execute("SELECT count(*) FROM models").fetchone()[0] >= self.limits.models:
                raise Refused(409, f"there are {self.limits.models} models, the most of a store")
            cursor = c.execute(
                "INSERT INTO models (name, shadow_of, at) VALUES (?, ?, ?)",
                (name, number, time.time()),
            )
            assert cursor.lastrowid is not None
            place = c.execute("SELECT coalesce(max(place), 0) FROM log").fetchone()[0]
            log.checkpoint(c, cursor.lastrowid, log.Checkpoint(place, data), self.limits)
            return cursor.lastrowid

        return self._serve(self.store.run(action), name, number)

    def delete(self, name: str) -> None:
        """Remove a model with everything that the store holds about it."""
        served = self.model(name)
        if any(other.shadow_of == served.number for other in self.all()):
            raise Refused(409, f"{name!r} has shadows: delete them first")

        def action(c: sqlite3.Connection) -> None:
            c.execute("DELETE FROM models WHERE id = ?", (served.number,))
            for table in OF_MODELS:
                c.execute(f"DELETE FROM {table} WHERE model = ?", (served.number,))

        self.models.pop(name, None)
        served.learner.stop()
        try:
            self.store.run(action)
        except BaseException:  # it is still there, and goes on
            self._serve(served.number, name, served.shadow_of)
            raise

    # The model as a whole

    async def control(self, name: str, kind: str, body: bytes = b"") -> Answer:
        """Log an entry about the model itself, and wait until it is done."""
        served = self.model(name)
        place = await self.stored(lambda c: log.append(c, served.number, kind, body))
        outcome = await self.outcome(served, place)
        if outcome.refused is not None:
            raise Refused(404 if kind == "back" else 422, outcome.refused, place=place)
        return {"place": place}

    async def upload(self, name: str, data: bytes) -> Answer:
        """Replace a model by that of a file."""
        served = self.model(name)
        model = await asyncio.to_thread(loaded, data)
        if model.target != served.learner.model.target:
            raise Refused(
                422, f"the file predicts {model.target!r}, not {served.learner.model.target!r}"
            )
        return await self.control(name, "upload", data)

    async def snapshot(self, name: str, snapshot: str, kind: str = "snapshot") -> Answer:
        """Keep the model under a name, or go back to it, or drop it."""
        served = self.model(name)
        if NAME.fullmatch(snapshot) is None:
            raise Refused(422, f"{snapshot[:64]!r} is no name: use letters, digits, - and _")
        known = {each["name"] for each in self.snapshots(served)}
        if kind == "snapshot" and snapshot not in known and len(known) >= self.limits.snapshots:
            raise Refused(409, f"there are {len(known)} snapshots: drop one first")
        if kind != "snapshot" and snapshot not in known:
            raise Refused(404, f"there is no snapshot {snapshot!r}")
        return await self.control(name, kind, snapshot.encode())

    def snapshots(self, served: Served) -> list[Answer]:
        """Return the snapshots of a model, the oldest first."""
        found = self.read(
            lambda c: c.execute(
                "SELECT name, place, at, length(data) FROM snapshots WHERE model = ? ORDER BY at",
                (served.number,),
            ).fetchall()
        )
        return [dict(zip(("name", "place", "at", "bytes"), row, strict=True)) for row in found]

    def state(self, served: Served) -> Answer:
        """Return what is known about a model."""
        learner, published = served.learner, served.learner.published
        number, newest = served.number, "SELECT max(place) FROM log WHERE model = ?"
        paused, waiting, last = self.read(
            lambda c: (
                c.execute("SELECT paused FROM models WHERE id = ?", (number,)).fetchone(),
                pending.count(c, number, served.numbers.last, self.limits),
                c.execute(newest, (number,)).fetchone()[0],
            )
        )
        shadows = [each for each in self.all() if each.shadow_of == number]
        return {
            "name": served.name,
            "paused": bool(paused and paused[0]),
            "logged": last or 0,
            "learned": learner.place,
            "published": published.place,
            "backlog_rows": served.backlog,
            "pending": waiting,
            "pending_most": self.limits.pending,
            "pending_seconds": self.limits.pending_seconds,
            "drift": learner.history.drift,
            "shadows": {each.name: each.facts for each in shadows},
            "streams": [each.state() for each in self.streams if each.model == served.name],
            **served.facts,
        }

    # For requests

    async def stored(self, action: Callable[[sqlite3.Connection], Any]) -> Any:
        """Return the result of an action of the store, after its commit."""
        return await asyncio.wrap_future(self.store.submit(action))

    async def outcome(self, served: Served, place: int) -> Outcome:
        """Return what became of an entry, when the learner has come to it."""
        served.learner.wake()
        return await asyncio.wrap_future(served.learner.outcome(place))

    # Implementation

    def _serve(self, number: int, name: str, shadow_of: int | None) -> Served:
        live = next((each.learner for each in self.all() if each.number == shadow_of), None)
        learner = Learner(self.store, number, name, self.limits, live=live, note=self.note)
        reserved, logged = self.read(
            lambda c: (
                c.execute("SELECT issued FROM models WHERE id = ?", (number,)).fetchone()[0],
                log.backlog(c, number, learner.place, shadow_of),
            )
        )
        numbers = pending.Numbers(self.store, number, self.limits, reserved)
        served = Served(number, name, shadow_of, learner, numbers, logged_rows=logged)
        self.models[name] = served
        learner.start()
        return served


def loaded(data: bytes) -> TableModel:
    """Return the model of a file, or raise `Refused`."""
    try:
        model = loads(data, "the file")
    except ModelFileError as error:
        raise Refused(422, str(error)) from None
    if not isinstance(model, TableModel):
        raise Refused(422, f"the file holds a {type(model).__name__}, which knows no columns")
    return model
