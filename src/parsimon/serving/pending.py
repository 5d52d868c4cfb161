"""Rows that were predicted and wait for their labels.

Each prediction has an id: the number of the model in the store, and a number that counts the
predictions of the model. A row is kept until its label comes, its time to live ends, or
`Limits.pending` later ids were given.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.rows import Row, decoded, encoded

__all__ = ["count", "labelled", "remember"]

#: The form of an id.
ID = re.compile(r"([1-9]\d{0,17})-([1-9]\d{0,17})", re.ASCII)


def remember(
    c: sqlite3.Connection, model: int, rows: Sequence[bytes], limits: Limits
) -> tuple[list[str], int]:
    """Keep rows, and return their ids and the number of ids that were dropped for them."""
    now = time.time()
    found = c.execute("SELECT issued FROM models WHERE id = ?", (model,)).fetchone()
    if found is None:
        raise Refused(404, "the model was deleted")
    first = found[0] + 1
    last = found[0] + len(rows)
    c.execute("UPDATE models SET issued = ? WHERE id = ?", (last, model))
    c.executemany(
        "INSERT INTO pending VALUES (?, ?, ?, ?, NULL)",
        [(model, number, now, row) for number, row in enumerate(rows, first)],
    )
    c.execute(
        "DELETE FROM pending WHERE model = ? AND at < ?", (model, now - limits.pending_seconds)
    )
    dropped = c.execute(
        "DELETE FROM pending WHERE model = ? AND number <= ?", (model, last - limits.pending)
    ).rowcount
    return [f"{model}-{number}" for number in range(first, last + 1)], dropped


def labelled(
    c: sqlite3.Connection,
    model: int,
    target: str,
    labels: Sequence[tuple[str, Any]],
    limits: Limits,
) -> tuple[list[Row], int]:
    """Return the rows of ids with their labels, and the number of those labelled before.

    Rows are in the order of the labels. If an id is refused, nothing is learned. A label that was
    given before is not learned again; another label for the same id is refused.
    """
    oldest = time.time() - limits.pending_seconds
    issued = c.execute("SELECT issued FROM models WHERE id = ?", (model,)).fetchone()
    rows: list[Row] = []
    gone: list[str] = []
    before = 0
    for text, label in labels:
        number = _number(text, model, 0 if issued is None else issued[0])
        kept = c.execute(
            "SELECT at, row, label FROM pending WHERE model = ? AND number = ?", (model, number)
        ).fetchone()
        if kept is None or kept[0] < oldest:
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


def count(c: sqlite3.Connection, model: int) -> int:
    """Return the number of rows that wait for their labels."""
    found = c.execute(
        "SELECT count(*) FROM pending WHERE model = ? AND label IS NULL", (model,)
    ).fetchone()
    return int(found[0])


def _number(text: str, model: int, issued: int) -> int:
    match = ID.fullmatch(text)
    if match is None or int(match[1]) != model or int(match[2]) > issued:
        raise Refused(404, f"there is no id {text!r} of this model", ids=[text])
    return int(match[2])
