"""Columns of text that look like something else: numbers with decimal commas, or dates."""

from __future__ import annotations

import datetime
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "all_match",
    "comma_numbers",
    "date_formats",
    "dates",
    "first_exception",
    "first_with_comma",
    "format_type",
    "other_numbers",
    "present",
    "require_date_format",
]

NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
COMMA = r"^\s*[-+]?(\d+(,\d*)?|,\d+)([eE][-+]?\d+)?\s*$"
DAY = r"^\d{4}-\d{2}-\d{2}"
#: Numbers such as 1,234, whose comma may be a decimal mark or group digits.
GROUPED = r"^\s*[-+]?\d{1,3},\d{3}\s*$"
#: Numbers in a notation that is not read: with groups of digits, a currency or a percent sign.
OTHER = r"^\s*[-+]?\s*[$€£]?\s*[-+]?\d[\d.,' \x{a0}\x{202f}]*\s*[%$€£]?\s*$"
#: The fraction of values from which on a column counts as numbers or dates with a few exceptions.
MOST = 0.9
#: Patterns of the parts of a date.
PARTS = {
    "%Y": r"\d{4}",
    "%y": r"\d{2}",
    "%m": r"\d{1,2}",
    "%d": r"\d{1,2}",
    "%b": "[A-Za-z]{3}",
    "%H": r"\d{1,2}",
    "%I": r"\d{1,2}",
    "%M": r"\d{2}",
    "%S": r"\d{2}",
    "%p": "[AaPp][Mm]",
}
DAYS = [
    *(f"%{a}{s}%{b}{s}%{y}" for y in "Yy" for s in "/.-" for a, b in ("md", "dm")),
    *(f"%Y{s}%m{s}%d" for s in "/."),
    *("%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y"),
]
TIMES = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"]
#: How many values are tested before all are.
SOME = 50


def _share(values: Any, pattern: str) -> float:
    """Return the fraction of values that match a pattern; 0 if there are no values."""
    found = pc.mean(pc.match_substring_regex(values, pattern)).as_py()
    return 0.0 if found is None else float(found)


def present(values: Any) -> Any:
    """Return the values that are not missing."""
    return pc.drop_null(values)


def first_exception(values: Any, pattern: str) -> int | None:
    """Return the index of the first value that does not match, if most match; else None."""
    matched = pc.match_substring_regex(values, pattern)
    share = pc.mean(matched).as_py()
    if share is None or not MOST < share < 1.0:
        return None
    row: int = pc.index(matched, False).as_py()
    return row


def all_match(values: Any, pattern: str) -> bool:
    """Return whether all values match; False if there are none."""
    return _share(values, pattern) == 1.0


def comma_numbers(values: Any) -> str | None:
    """Return "decimal" if texts are numbers with decimal commas, else None.

    If all commas may group digits, return "grouped".

    >>> comma_numbers(pa.array(["1,5", "2"])), comma_numbers(pa.array(["1,500", "2"]))
    ('decimal', 'grouped')
    """
    values = present(values)
    if not len(values) or _share(values.slice(0, SOME), COMMA) < 1.0 or _share(values, COMMA) < 1.0:
        return None
    with_comma = values.filter(pc.match_substring(values, ","))
    if not len(with_comma):
        return None
    return "grouped" if _share(with_comma, GROUPED) == 1.0 else "decimal"


def first_with_comma(values: Any) -> str:
    """Return the first value that has a comma."""
    found: str = values.filter(pc.match_substring(values, ","))[0].as_py()
    return found


def other_numbers(values: Any) -> bool:
    """Return whether most texts are numbers in a notation that is not read.

    >>> other_numbers(pa.array(["1.234,5", "7"])), other_numbers(pa.array(["a1"]))
    (True, False)
    """
    values = present(values)
    return (
        len(values) > 0
        and _share(values.slice(0, SOME), OTHER) > MOST
        and _share(values, OTHER) > MOST
    )


def date_formats(values: Any) -> list[str]:
    """Return the formats in which all values can be dates.

    >>> date_formats(pa.array(["12/31/2024", "1/2/2025"])), date_formats(pa.array(["3.1.24"]))
    (['%m/%d/%Y'], ['%m.%d.%y', '%d.%m.%y'])
    """
    values = present(values)
    some = values.slice(0, SOME)
    if (
        not len(values)
        or _share(some, r"\d.*[/. -].*\d") < 1.0
        or _share(some, r"^[\w/., :-]{6,25}$") < 1.0
    ):
        return []
    found = []
    for form in (day + time for day in DAYS for time in TIMES):
        pattern = re.sub(r"%\w", lambda m: PARTS[m[0]], form.replace(".", r"\."))
        if (
            all_match(some, f"^{pattern}$")
            and all_match(values, f"^{pattern}$")
            and not dates(values, form).null_count
        ):
            found.append(form)
    return found


def dates(values: Any, form: str) -> Any:
    """Return texts as timestamps; null where a text does not have the format."""
    read = pc.strptime(pc.utf8_trim_whitespace(values), format=form, unit="us", error_is_null=True)
    if "%Y" in form:  # a year such as 24 does not have four digits
        read = pc.if_else(pc.less(pc.year(read), 1000), pa.scalar(None, read.type), read)
    return read


def format_type(form: str) -> Any:
    """Return the type that a format reads: a date, or a date with a time."""
    return pa.timestamp("us") if re.search(r"%[HIMSpTRrXc]", form) else pa.date32()


def require_date_format(form: str) -> None:
    """Raise a `ValueError` for a format that cannot read dates."""
    moments = [datetime.datetime(2024, 12, 31, 13, 5, 6), datetime.datetime(2023, 2, 1, 1, 0, 0)]
    texts = [moment.strftime(form) for moment in moments]
    read = dates(pa.array(texts), form)
    if (
        "%" not in form
        or read.null_count
        or [m.date() for m in read.to_pylist()] != [m.date() for m in moments]
    ):
        raise ValueError(
            f"--date-format {form!r} reads no dates: it needs a day, a month and a year, "
            "as in %d.%m.%Y or %m/%d/%Y %H:%M"
        )
