"""Error messages for rows: where the row is, what is wrong with it, and which option helps."""

from __future__ import annotations

import json
import re

from parsimon.cli.errors import Failure
from parsimon.cli.reading import guesses
from parsimon.cli.reading.text_rows import split_rows
from parsimon.cli.words import plural
from parsimon.preprocessing import TableError

__all__ = ["CONVERT", "csv_failure", "first_line", "json_failure", "table_failure"]

#: What to do about text in another encoding.
CONVERT = "convert it, for example with iconv -f latin1 -t utf-8"
#: What the types of Arrow are called.
NOUNS = {
    "double": "number",
    "bool": "boolean",
    "date32": "date",
    "time64": "time",
    "timestamp": "date with time",
}
#: The most characters of a bad value that are shown.
LONGEST_SHOWN = 100


def table_failure(error: TableError, first: int) -> Failure:
    """Return an error about a block whose first row is row `first` of the data, from 0."""
    place = [] if error.row is None else [f"row {first + error.row + 1:,}"]
    if error.column is not None:
        place.append(f"column {error.column!r}")
    return Failure(f"{', '.join(place)}: {error.what}" if place else error.what)


def first_line(text: str) -> str:
    """Return the first line of a message of another library, shortened."""
    return text.strip().splitlines()[0][:200] if text.strip() else "it is damaged"


# CSV


def csv_failure(text: str, names: list[str], first: int, decimal: str, path: str) -> Failure:
    """Return what is wrong with a CSV, given Arrow's message about rows from `first` on."""
    row = re.search(r"Row #(\d+)", text)
    place = f"row {first + int(row[1]):,}" if row else "a row"
    if ragged := re.search(r"Expected (\d+) columns, got (\d+)", text):
        columns, values = plural(int(ragged[1]), "column"), plural(int(ragged[2]), "value")
        hint = _json_hint(path) if first == 0 else ""
        return Failure(f"{place}: it has {values} where the header has {columns}{hint}")
    column = re.search(r"In CSV column #(\d+)", text)
    where = f"{place}, column {names[int(column[1])]!r}" if column else place
    if "invalid UTF8" in text:
        return Failure(f"{where}: it is not UTF-8 text: {CONVERT}")
    if bad := re.search(r"conversion error to (\w+).*?: invalid value '(.*)'", text, re.DOTALL):
        noun, value = NOUNS.get(bad[1], bad[1]), bad[2]
        shown = value if len(value) <= LONGEST_SHOWN else value[:LONGEST_SHOWN] + "..."
        option = _option_that_reads(noun, value, decimal)
        return Failure(f"{where}: {shown!r} is not a {noun}, and the column needs one{option}")
    return Failure(f"{where}: {first_line(text)}")


def _option_that_reads(noun: str, value: str, decimal: str) -> str:
    if noun == "number" and decimal == "." and "," in value and re.match(guesses.COMMA, value):
        return "; --decimal , reads decimal commas"
    if noun == "number" and decimal == "," and "." in value and re.match(guesses.NUMBER, value):
        return "; --decimal . reads decimal points"
    return "; --date-format reads other formats" if noun in ("date", "date with time") else ""


def _json_hint(path: str) -> str:
    """Return why a file with the name of JSON lines was read as CSV."""
    named = path.lower().endswith((".json", ".jsonl", ".ndjson"))
    return "; the first line is not a JSON object, so the file is read as CSV" if named else ""


# JSON lines


def json_failure(text: str, piece: bytes, first: int) -> Failure:
    """Return what is wrong with JSON lines, given Arrow's message and the rows from `first` on."""
    found = re.search(r"in row (\d+)", text)
    row = int(found[1]) if found else -1
    place = f"row {first + row + 1:,}" if found else "a row"
    if broken := _broken_json(piece, row):
        return Failure(f"{place} {broken}")
    if changed := re.search(r"Column\(/(.*?)\) changed from (\w+) to (\w+)", text):
        got, expected = (_with_article(noun) for noun in (changed[3], changed[2]))
        return Failure(f"{place}, column {changed[1]!r}: expected {expected}, got {got}")
    if twice := re.search(r"Column\(/(.*?)\) was specified twice", text):
        return Failure(f"{place} has {twice[1]!r} more than once")
    if "too big" in text:
        return Failure(f"{place} has a number that is too large: the largest is 1.8e308")
    what = re.sub(r"JSON parse error: |\.? in row \d+", "", first_line(text))
    return Failure(f"{place} is not a JSON object on one line: {what}")


def _broken_json(piece: bytes, row: int) -> str | None:
    """Return what is wrong with the text of a row, or None if it is one JSON object."""
    rows = split_rows(piece, quoted=False)
    if not 0 <= row < len(rows):
        return None
    try:
        found = json.loads(rows[row])
    except json.JSONDecodeError as error:
        what = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
        return f"is not a JSON object on one line: {what} at character {error.pos + 1}"
    except (ValueError, RecursionError):  # very many digits, or very deep: Arrow's message is used
        return None
    if isinstance(found, dict):
        return None
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return f"is {names.get(type(found), 'a number')}, not a JSON object"


def _with_article(noun: str) -> str:
    """Return the name of a JSON type with its article.

    >>> _with_article("object"), _with_article("number")
    ('an object', 'a number')
    """
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
