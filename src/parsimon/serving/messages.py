"""What a message means: rows to predict, rows to learn, or labels for ids.

A message is JSON. An object with a list of rows, or a list of labels, is a request as over HTTP.
Every other object is one row: the value of a column is never a list.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from parsimon.serving import openapi
from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.rows import Row, checked_rows, decoded

__all__ = ["Meaning", "meaning"]

#: The most characters of a key.
LONGEST_KEY = 200


class Meaning(NamedTuple):
    """What a message asks for.

    `labels` is None, or `rows` is empty. `learns` says whether the rows have targets. `intervals`
    is None if the message does not say.
    """

    rows: list[Row]
    learns: bool = False
    labels: list[Any] | None = None
    key: str | None = None
    intervals: bool | None = None
    probabilities: bool = False
    remember: bool = True


def meaning(body: bytes, target: str, limits: Limits, key_column: str | None = None) -> Meaning:
    """Return what a message means, or raise `Refused`.

    `key_column` is the column of a single row that holds its key. It is taken out of the row.

    >>> meaning(b'{"size": 40, "price": 90.5}', "price", Limits()).learns
    True
    >>> meaning(b'{"rows": [{"size": 40}], "key": "order-17"}', "price", Limits()).key
    'order-17'
    >>> meaning(b'{"n": 17, "size": 40}', "price", Limits(), "n")[:4]
    ([{'size': 40}], False, None, '17')
    """
    value = decoded(body)
    if not isinstance(value, dict):
        raise Refused(422, "a message must be a JSON object")
    if isinstance(value.get("labels"), list) and "rows" not in value:
        openapi.check_fields(value, "LabelsMessage")
        return Meaning([], labels=value["labels"], key=_key(value.get("key")))
    key: str | None
    if isinstance(value.get("rows"), list):
        openapi.check_fields(value, "RowsMessage")
        rows, key = value["rows"], _key(value.get("key"))
    else:
        if key_column is not None and value.get(key_column) is None:
            raise Refused(422, f"column {key_column!r}: the key is missing")
        key = None if key_column is None else _key(value.pop(key_column))
        rows, value = [value], {}
    rows = checked_rows(rows, limits)
    learns = any(row.get(target) is not None for row in rows)
    if learns:
        checked_rows(rows, limits, target=target)
    elif target in rows[0]:  # a null target is no target
        rows = [{name: cell for name, cell in row.items() if name != target} for row in rows]
        checked_rows(rows, limits)
    return Meaning(
        rows,
        learns,
        key=key,
        intervals=value.get("intervals"),
        probabilities=value.get("probabilities") is True,
        remember=value.get("remember") is not False,
    )


def _key(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool | list | dict):
        raise Refused(422, "a key is a text or a number")
    key = str(value)
    if not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise Refused(422, f"a key has 1 to {LONGEST_KEY} characters")
    return key
