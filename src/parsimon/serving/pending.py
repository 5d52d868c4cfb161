"""Rows that were predicted and wait for their labels.

Each prediction has an id: the number of the model in the store, and a number that counts the
predictions of the model. A row is kept until its label comes, its time to live ends, or
`Limits.pending` later ids were given.

Rows are stored by quick actions, which a power cut can undo. Ids must not be given twice then, so
their numbers are reserved before by an action that waits for the disk. After a crash, the numbers
that were reserved and perhaps not given are left out.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.rows import Row, decoded, encoded
from parsimon.serving.store import Store

__all__ = ["Numbers", "count", "labelled", "remember"]

#: The form of an id.
ID = re.compile(r"([1-9]\d{0,17})-([1-9]\d{0,17})", re.ASCII)
#: The most numbers that are reserved at a time.
MOST_RESERVED = 2000


class Numbers:
    """The numbers of the ids of a model, given in order. For the thread of the event loop.

    CONVENTION: numbers up to `last` were given, and numbers up to `reserved` are reserved.
    """

    def __init__(self, store: Store, model: int, limits: Limits, reserved: int) -> None:
        self.last = self.reserved = reserved
        self._store, self._model, self._limits = store, model, limits
        self._step = min(MOST_RESERVED, max(1, limits.pending // 50))
        self._reserving: asyncio.Future[int] | None = None

    async def take(self, n: int) -> range:
        """Return n numbers that were never given."""
        while self.last + n > self.reserved:
            await self._reserve(n)
        first = self.last + 1
        self.last += n
        if self.reserved - self.last < self._step // 4:
            self._reserve(n)  # before they are needed
        return range(first, self.last + 1)

    def close(self) -> None:
        """Give back what was reserved and not given. Nothing must be taken later."""
        self._store.run(partial(_set_reserved, model=self._model, reserved=self.last))

    def _reserve(self, n: int) -> asyncio.Future[int]:
        if self._reserving is None or self._reserving.done():
            wanted = self.last + max(n, self._step)
            action = partial(
                reserve, model=self._model, last=self.last, wanted=wanted, limits=self._limits
            )
            self._reserving = asyncio.wrap_future(self._store.submit(action))
            self._reserving.add_done_callback(self._reserved)
        return self._reserving

    def _reserved(self, done: asyncio.Future[int]) -> None:
        if not done.cancelled() and done.exception() is None:
            self.reserved = max(self.reserved, done.result())


def reserve(c: sqlite3.Connection, model: int, last: int, wanted: int, limits: Limits) -> int:
    """Reserve numbers up to one, and return it. Remove the rows that are not kept any longer."""
    if not _set_reserved(c, model, wanted):
        raise Refused(404, "the model was deleted")
    expired = time.time() - limits.pending_seconds
    # Numbers are in the order of their age.
    kept = c.execute(
        "SELECT number FROM pending WHERE model = ? AND at >= ? ORDER BY number LIMIT 1",
        (model, expired),
    ).fetchone()
    first = max(last - limits.pending + 1, last + 1 if kept is None else kept[0])
    c.execute("DELETE FROM pending WHERE model = ? AND number < ?", (model, first))
    return wanted


def _set_reserved(c: sqlite3.Connection, model: int, reserved: int) -> bool:
    done = c.execute("UPDATE models SET issued = ? WHERE id = ?", (reserved, model))
    return done.rowcount == 1


def remember(
    c: sqlite3.Connection, model: int, numbers: Sequence[int], rows: Sequence[bytes]
) -> None:
    """Keep rows under numbers that were taken."""
    now = time.time()
    done = c.executemany(
        "INSERT INTO pending SELECT id, ?, ?, ?, NULL FROM models WHERE id = ?",
        [(number, now, row, model) for number, row in zip(numbers, rows, strict=True)],
    )
    if done.rowcount != len(rows):
        raise Refused(404, "the model was deleted")


def labelled(
    c: sqlite3.Connection,
    model: int,
    target: str,
    labels: Sequence[tuple[str, Any]],
    last: int,
    limits: Limits,
) -> tuple[list[Row], int]:
    """Return the rows of ids with their labels, and the number of those labelled before.

    `last` is the last number that was given. Rows are in the order of the labels. If an id is
    refused, nothing is learned. A label that was given before is not learned again; another label
    for the same id is refused.
    """
    oldest = time.time() - limits.pending_seconds
    rows: list[Row] = []
    gone: list[str] = []
    before = 0
    for text, label in labels:
        number = _number(text, model, last)
        kept = c.execute(
            "SELECT at, row, label FROM pending WHERE model = ? AND number = ?", (model, number)
        ).fetchone()
        if kept is None or kept[0] < oldest or number <= last - limits.pending:
            gone.append(text)
            continue
        given = encoded(label)
        if kept[2] is not None:
            if bytes(kept[2]) != given:
                raise Refused(409, f"id {text!r} has another label already", ids=[text])
            before += 1
            continue
        c.execute(
            "UPDATE pending SET row = NULL, label = ? WHERE model = ? AND number = ?",
            (given, model, number),
        )
        rows.append({**decoded(bytes(kept[1])), target: label})
    if gone:
        raise Refused(
            410,
            f"{len(gone)} of the ids expired: labels must come within "
            f"{limits.pending_seconds:g} s, and before {limits.pending} later ids; "
            "nothing was learned, so leave these ids out",
            ids=gone,
        )
    return rows, before


def count(c: sqlite3.Connection, model: int, last: int, limits: Limits) -> int:
    """Return the number of rows that wait for their labels. `last` is the last number given."""
    found = c.execute(
        "SELECT count(*) FROM pending WHERE model = ? AND number > ? AND at >= ? AND label IS NULL",
        (model, last - limits.pending, time.time() - limits.pending_seconds),
    ).fetchone()
    return int(found[0])


def _number(text: str, model: int, last: int) -> int:
    match = ID.fullmatch(text)
    if match is None or int(match[1]) != model or int(match[2]) > last:
        raise Refused(404, f"there is no id {text!r} of this model", ids=[text])
    return int(match[2])
