"""Rows in JSON: objects with values by column name."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits

__all__ = ["Row", "block_of", "checked_label", "checked_rows", "decoded", "encoded"]

Row = dict[str, Any]

#: The types of a value in a row.
SCALARS = {str, int, float, bool, type(None)}
#: Texts that are times and dates in a column whose kind is not known yet.
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?")
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def decoded(body: bytes) -> Any:
    """Return the value of a JSON text, or raise `Refused`. NaN and Infinity are not JSON.

    >>> decoded(b'{"rows": [{"x": 1.5}]}')
    {'rows': [{'x': 1.5}]}
    """
    try:
        return _DECODER.decode(body.decode())
    except RecursionError:
        raise Refused(400, "the body is nested too deeply") from None
    except ValueError as error:  # also a wrong encoding, and a number with too many digits
        raise Refused(400, f"the body is not JSON: {error}") from None


def encoded(value: Any) -> bytes:
    """Return a value as JSON, or raise `Refused` if it cannot be stored."""
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:
        raise Refused(422, "a text has a lone surrogate, which is not Unicode") from None
    except ValueError:
        raise Refused(422, "a number is infinite or too large") from None


def checked_rows(value: Any, limits: Limits, *, target: str | None = None) -> list[Row]:
    """Return the rows of a request, or raise `Refused`.

    All rows must have the same columns. With `target`, each row must have a target.
    """
    if not isinstance(value, list) or not value:
        raise Refused(422, "rows must be a list of at least one object")
    if len(value) > limits.rows:
        raise Refused(413, f"there are {len(value)} rows; the most per call are {limits.rows}")
    names: Any = None
    for at, row in enumerate(value):
        if type(row) is not dict:
            raise Refused(422, f"row {at}: it must be an object of values by column")
        if names is None:
            names = row.keys()
            _check_names(names, limits)
        elif row.keys() != names:
            different = sorted(row.keys() ^ names)[0]
            raise Refused(
                422,
                f"row {at}, column {different!r}: all rows of a call need the same columns; "
                "null is a missing value",
            )
        for name, cell in row.items():
            if type(cell) not in SCALARS or (type(cell) is str and len(cell) > limits.text):
                raise Refused(422, f"row {at}, column {name!r}: {_objection(cell, limits)}")
    if target is not None:
        if target not in names:
            raise Refused(422, f"column {target!r}: the target is missing")
        for at, row in enumerate(value):
            if row[target] is None:
                raise Refused(422, f"row {at}, column {target!r}: the target is missing")
    return value


def checked_label(value: Any, limits: Limits) -> Any:
    """Return a label, or raise `Refused`."""
    if value is None:
        raise Refused(422, "a label must not be null")
    if type(value) not in SCALARS or (type(value) is str and len(value) > limits.text):
        raise Refused(422, f"a label: {_objection(value, limits)}")
    return value


def block_of(rows: Sequence[Row], kinds: Mapping[str, str], target: str) -> dict[str, list[Any]]:
    """Return rows as a block of columns. Texts become times where the column has times.

    `kinds` are the kinds of the columns so far. In a column that is not among them, texts in the
    form of ISO 8601 are times. This depends on each value alone, so blocks equal loops.

    >>> block_of([{"at": "2026-01-31T12:00", "y": 1.0}], {}, "y")
    {'at': [datetime.datetime(2026, 1, 31, 12, 0)], 'y': [1.0]}
    """
    block: dict[str, list[Any]] = {}
    for name in rows[0]:
        convert = None if name == target else CONVERSIONS.get(kinds.get(name, ""))
        values = [row[name] for row in rows]
        if convert is not None:
            values = [v if v is None else convert(v) for v in values]
        block[name] = values
    return block


def _check_names(names: Any, limits: Limits) -> None:
    if not names or len(names) > limits.columns:
        raise Refused(422, f"a row needs between 1 and {limits.columns} columns, got {len(names)}")
    long = next((name for name in names if len(name) > 200), None)
    if long is not None:
        raise Refused(422, f"column {long[:20]!r}...: the name has more than 200 characters")


def _objection(cell: Any, limits: Limits) -> str:
    if isinstance(cell, str):
        return f"the text has {len(cell)} characters; the most are {limits.text}"
    return "values are numbers, texts, true, false or null"


def _not_json(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON; null is a missing value")


# Made once: making them takes longer than reading a row.
_DECODER = json.JSONDecoder(parse_constant=_not_json)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _parsed(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Return a conversion of texts. A text that is not parsed stays, and the model refuses it."""

    def convert(value: Any) -> Any:
        if type(value) is not str:
            return value
        try:
            return parse(value)
        except (ValueError, OverflowError):
            return value

    return convert


def _found(text: str) -> Any:
    if TIMESTAMP.fullmatch(text):
        return datetime.datetime.fromisoformat(text)
    return datetime.date.fromisoformat(text) if DATE.fullmatch(text) else text


def _duration(value: Any) -> Any:
    try:
        return value if type(value) not in (int, float) else datetime.timedelta(seconds=value)
    except (ValueError, OverflowError):
        return value


#: What values become in a column of a kind. "" and "empty" are columns that are not known yet.
CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "": _parsed(_found),
    "empty": _parsed(_found),
    "timestamp": _parsed(datetime.datetime.fromisoformat),
    "date": _parsed(datetime.date.fromisoformat),
    "time": _parsed(datetime.time.fromisoformat),
    "duration": _duration,
}
