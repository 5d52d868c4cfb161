"""Messages of streams in the store: which were logged, and which could not be used."""

from __future__ import annotations

import sqlite3
import time
import uuid
from typing import Any

from parsimon.serving.limits import Limits
from parsimon.serving.rows import decoded, encoded

__all__ = [
    "advance",
    "bad_messages",
    "client_name",
    "forget",
    "natural_key",
    "next_offset",
    "positions",
    "reject",
]

#: The most bytes of a bad message that are kept.
KEPT = 1 << 16


def client_name(c: sqlite3.Connection, source: str) -> str:
    """Return the name of this store at a broker. It is made once, and differs between stores."""
    found = c.execute("SELECT name FROM clients WHERE source = ?", (source,)).fetchone()
    if found is not None:
        return str(found[0])
    name = f"parsimon-{uuid.uuid4().hex[:12]}"
    c.execute("INSERT INTO clients VALUES (?, ?)", (source, name))
    return name


def positions(c: sqlite3.Connection, model: int, source: str) -> dict[int, int]:
    """Return the offset of the next message that is not in the store, by part of a source."""
    found = c.execute(
        "SELECT part, next FROM positions WHERE model = ? AND source = ?", (model, source)
    ).fetchall()
    return dict(found)


def next_offset(c: sqlite3.Connection, model: int, source: str, part: int) -> int:
    """Return the offset of the next message of a part that is not in the store."""
    found = c.execute(
        "SELECT next FROM positions WHERE model = ? AND source = ? AND part = ?",
        (model, source, part),
    ).fetchone()
    return 0 if found is None else int(found[0])


def advance(c: sqlite3.Connection, model: int, source: str, part: int, offset: int) -> None:
    """Note that the message with an offset is in the store, and all before it."""
    c.execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?)", (model, source, part, offset))


def forget(c: sqlite3.Connection, model: int, source: str, part: int) -> None:
    """Forget the messages of a part, whose offsets begin anew."""
    c.execute(
        "DELETE FROM positions WHERE model = ? AND source = ? AND part = ?", (model, source, part)
    )
    c.execute(
        "DELETE FROM message_keys WHERE model = ? AND key GLOB ?",
        (model, f"{_escaped(natural_key(source, part, ''))}*"),
    )


def natural_key(source: str, part: int, offset: int | str) -> str:
    """Return the key of a message that the broker has numbered."""
    return f"{source} {part} {offset}"


def reject(
    c: sqlite3.Connection, model: int, origin: dict[str, Any], reason: str, body: bytes | None,
    limits: Limits,
) -> None:  # fmt: skip
    """Keep a message that cannot be used, with the reason."""
    cursor = c.execute(
        "INSERT INTO bad_messages (model, at, origin, reason, body) VALUES (?, ?, ?, ?, ?)",
        (model, time.time(), encoded(origin).decode(), reason, (body or b"")[:KEPT]),
    )
    assert cursor.lastrowid is not None
    c.execute(
        "DELETE FROM bad_messages WHERE number <= ?", (cursor.lastrowid - limits.bad_messages,)
    )


def bad_messages(c: sqlite3.Connection, model: int) -> list[dict[str, Any]]:
    """Return the messages that could not be used, the newest first."""
    found = c.execute(
        "SELECT at, origin, reason, body FROM bad_messages WHERE model = ? ORDER BY number DESC",
        (model,),
    ).fetchall()
    return [
        {
            "at": at,
            **decoded(origin.encode()),
            "reason": reason,
            "body": bytes(body).decode(errors="replace"),
        }
        for at, origin, reason, body in found
    ]


def _escaped(text: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)
