"""The log of a store: what is to be learned, checkpoints, and snapshots.

An entry is of one of the kinds in `KINDS`. Entries have places, which grow over all models and are
never used twice. A checkpoint is the file of a model with the place up to which it has learned. It
is written in one transaction with the snapshots and refusals of these entries. So after a crash,
the entries after the checkpoint give the same model, the same snapshots and the same refusals.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from typing import NamedTuple

from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits

__all__ = [
    "KINDS",
    "Checkpoint",
    "Entry",
    "append",
    "backlog",
    "checkpoint",
    "entries",
    "last_checkpoint",
    "last_history",
]

#: Kinds of entries, with what their body is.
KINDS = {
    "learn": "rows to learn, as JSON",
    "upload": "a model file, which replaces the model",
    "snapshot": "the name under which the model is kept",
    "drop": "the name of a snapshot that is removed",
    "back": "the name of the snapshot that replaces the model",
    "pause": "nothing; rows are refused from here on",
    "resume": "nothing; rows are accepted again",
}


class Entry(NamedTuple):
    """An entry of the log, of the model with a number."""

    place: int
    model: int
    kind: str
    rows: int
    body: bytes


class Checkpoint(NamedTuple):
    """A model file, and the place in the log up to which the model has learned."""

    place: int
    data: bytes


def append(c: sqlite3.Connection, model: int, kind: str, body: bytes = b"", rows: int = 0) -> int:
    """Add an entry, and return its place. While a model is paused, rows are refused."""
    found = c.execute("SELECT paused FROM models WHERE id = ?", (model,)).fetchone()
    if found is None:
        raise Refused(404, "the model was deleted")
    if kind == "learn" and found[0]:
        raise Refused(409, "learning is paused: resume it, and send the rows again")
    if kind in ("pause", "resume"):
        c.execute("UPDATE models SET paused = ? WHERE id = ?", (kind == "pause", model))
    cursor = c.execute(
        "INSERT INTO log (model, kind, rows, bytes, at, body) VALUES (?, ?, ?, ?, ?, ?)",
        (model, kind, rows, len(body), time.time(), body),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def entries(
    c: sqlite3.Connection,
    model: int,
    after: int,
    *,
    shadow_of: int | None = None,
    most_rows: int = 2048,
    most_bytes: int = 4 << 20,
) -> list[Entry]:
    """Return the next entries of a model after a place, in order, at least one if there are any.

    A shadow also gets the rows of the model whose shadow it is.
    """
    query = "SELECT place, model, kind, rows, bytes, body FROM log WHERE model = ? AND place > ? "
    parameters: list[int] = [model, after]
    if shadow_of is not None:
        query += (
            "UNION ALL SELECT place, model, kind, rows, bytes, body FROM log "
            "WHERE model = ? AND place > ? AND kind = 'learn' "
        )
        parameters += [shadow_of, after]
    cursor = c.execute(query + "ORDER BY place LIMIT 1024", parameters)
    found: list[Entry] = []
    total_rows = total_bytes = 0
    for place, owner, kind, rows, size, body in cursor:
        total_rows, total_bytes = total_rows + rows, total_bytes + size
        if found and (total_rows > most_rows or total_bytes > most_bytes):
            break
        found.append(Entry(place, owner, kind, rows, bytes(body)))
    cursor.close()
    return found


def backlog(c: sqlite3.Connection, model: int, after: int, shadow_of: int | None = None) -> int:
    """Return the number of rows after a place."""
    owner = model if shadow_of is None else shadow_of
    found = c.execute(
        "SELECT coalesce(sum(rows), 0) FROM log WHERE model = ? AND place > ?", (owner, after)
    ).fetchone()
    return int(found[0])


def last_checkpoint(c: sqlite3.Connection, model: int) -> Checkpoint:
    """Return the last checkpoint of a model."""
    found = c.execute("SELECT place, data FROM checkpoints WHERE model = ?", (model,)).fetchone()
    return Checkpoint(found[0], bytes(found[1]))


def last_history(c: sqlite3.Connection, model: int) -> bytes | None:
    """Return the history of the last checkpoint of a model, or None."""
    found = c.execute("SELECT data FROM histories WHERE model = ?", (model,)).fetchone()
    return None if found is None else bytes(found[0])


def checkpoint(
    c: sqlite3.Connection,
    model: int,
    now: Checkpoint,
    limits: Limits,
    *,
    refused: Iterable[tuple[int, str]] = (),
    snapshot: str | None = None,
    dropped: str | None = None,
    history: bytes | None = None,
) -> None:
    """Store a checkpoint, with the snapshot, the refusals and the history of its entries.

    Prune the log.
    """
    at = time.time()
    c.executemany(
        "INSERT OR REPLACE INTO refused VALUES (?, ?, ?)",
        [(model, place, message) for place, message in refused],
    )
    if dropped is not None:
        c.execute("DELETE FROM snapshots WHERE model = ? AND name = ?", (model, dropped))
    if snapshot is not None:
        c.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
            (model, snapshot, now.place, at, now.data),
        )
    c.execute(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?)", (model, now.place, at, now.data)
    )
    if history is not None:
        c.execute("INSERT OR REPLACE INTO histories VALUES (?, ?)", (model, history))
    _prune(c, model, limits)


def _prune(c: sqlite3.Connection, model: int, limits: Limits) -> None:
    """Remove old entries that every checkpoint of the model and its shadows contains."""
    learned = c.execute(
        "SELECT min(place) FROM checkpoints WHERE model = ? "
        "OR model IN (SELECT id FROM models WHERE shadow_of = ?)",
        (model, model),
    ).fetchone()[0]
    newest = c.execute(
        "SELECT max(place) FROM (SELECT place, row_number() OVER newest AS n, "
        "sum(bytes) OVER newest AS total FROM log WHERE model = ? "
        "WINDOW newest AS (ORDER BY place DESC)) WHERE n > ? OR total > ?",
        (model, limits.log_entries, limits.log_bytes),
    ).fetchone()[0]
    if newest is None:
        return
    last = min(learned, newest)
    c.execute("DELETE FROM log WHERE model = ? AND place <= ?", (model, last))
    c.execute("DELETE FROM refused WHERE model = ? AND place <= ?", (model, last))
