"""Idempotency keys: a request that is sent again gets the first answer, and changes nothing.

Requests over HTTP have the table keys, and messages of streams the table message_keys.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.rows import decoded, encoded

__all__ = ["known", "once"]

Answer = dict[str, Any]


def known(
    c: sqlite3.Connection,
    model: int,
    key: str,
    request: bytes,
    limits: Limits,
    table: str = "keys",
) -> Answer | None:
    """Return the answer of an earlier request with a key, or None.

    A key that was used for another request is refused.
    """
    found = c.execute(
        f"SELECT digest, answer FROM {table} WHERE model = ? AND key = ? AND at >= ?",
        (model, key, time.time() - limits.key_seconds),
    ).fetchone()
    if found is None:
        return None
    if bytes(found[0]) != _digest(request):
        raise Refused(422, f"the idempotency key {key!r} was used for another request")
    answer: Answer = decoded(bytes(found[1]))
    return answer


def once(
    c: sqlite3.Connection,
    model: int,
    key: str | None,
    request: bytes,
    limits: Limits,
    action: Callable[[sqlite3.Connection], Answer],
    table: str = "keys",
) -> tuple[Answer, bool]:
    """Return the answer of an action, and whether it is that of an earlier request.

    The answer is stored in the transaction of the action. A key with another request is refused.
    """
    if key is None:
        return action(c), False
    found = known(c, model, key, request, limits, table)
    if found is not None:
        return found, True
    answer, now = action(c), time.time()
    c.execute(f"DELETE FROM {table} WHERE model = ? AND at < ?", (model, now - limits.key_seconds))
    cursor = c.execute(
        f"INSERT OR REPLACE INTO {table} (model, key, digest, answer, at) VALUES (?, ?, ?, ?, ?)",
        (model, key, _digest(request), encoded(answer), now),
    )
    assert cursor.lastrowid is not None
    c.execute(
        f"DELETE FROM {table} WHERE model = ? AND number <= ?",
        (model, cursor.lastrowid - limits.keys),
    )
    return answer, False


def _digest(request: bytes) -> bytes:
    return hashlib.sha256(request).digest()
