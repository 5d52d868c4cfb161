"""Idempotency keys: a request that is sent again gets the first answer, and changes nothing."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.rows import decoded, encoded

__all__ = ["once"]

Answer = dict[str, Any]


def once(
    c: sqlite3.Connection,
    model: int,
    key: str | None,
    request: bytes,
    limits: Limits,
    action: Callable[[sqlite3.Connection], Answer],
) -> tuple[Answer, bool]:
    """Return the answer of an action, and whether it is that of an earlier request.

    The answer is stored in the transaction of the action. A key with another request is refused.
    """
    if key is None:
        return action(c), False
    digest = hashlib.sha256(request).digest()
    now = time.time()
    found = c.execute(
        "SELECT digest, answer FROM keys WHERE model = ? AND key = ? AND at >= ?",
        (model, key, now - limits.key_seconds),
    ).fetchone()
    if found is not None:
        if bytes(found[0]) != digest:
            raise Refused(422, f"the idempotency key {key!r} was used for another request")
        return decoded(bytes(found[1])), True
    answer = action(c)
    c.execute("DELETE FROM keys WHERE model = ? AND at < ?", (model, now - limits.key_seconds))
    cursor = c.execute(
        "INSERT OR REPLACE INTO keys (model, key, digest, answer, at) VALUES (?, ?, ?, ?, ?)",
        (model, key, digest, encoded(answer), now),
    )
    assert cursor.lastrowid is not None
    c.execute(
        "DELETE FROM keys WHERE model = ? AND number <= ?", (model, cursor.lastrowid - limits.keys)
    )
    return answer, False
