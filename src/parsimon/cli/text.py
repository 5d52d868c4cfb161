"""Plain text for people and JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

__all__ = ["as_json", "byte_size", "clock", "lines", "table"]


def byte_size(n: int | None) -> str:
    """Return a number of bytes with a unit.

    >>> byte_size(1234567)
    '1.2 MB'
    """
    if n is None:
        return ""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} bytes"


def clock(seconds: float) -> str:
    """Return a time in hours, minutes and seconds.

    >>> clock(3725.6)
    '1:02:06'
    """
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def as_json(value: Any) -> str:
    """Return one line of JSON. NaN and infinity become null, because JSON has neither."""

    def plain(v: Any) -> Any:
        if isinstance(v, dict):
            return {str(k): plain(item) for k, item in v.items()}
        if isinstance(v, list | tuple):
            return [plain(item) for item in v]
        if hasattr(v, "tolist"):
            return plain(v.tolist())
        if isinstance(v, float):
            return v if math.isfinite(v) else None
        return v if v is None or isinstance(v, bool | int | str) else repr(v)

    return json.dumps(plain(value), allow_nan=False)


def lines(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and values in two columns.

    >>> print(lines([("rows", "12"), ("task", "regression")]))
    rows  12
    task  regression
    """
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in pairs)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return a plain table. The columns `left` are aligned left, the others right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            c.ljust(w) if i in left else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )

    return "\n".join([line(header).rstrip(), *(line(row).rstrip() for row in rows)])
