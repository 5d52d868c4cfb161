"""The text of JSON lines: its values, how deep they are nested, and parts of bounded size."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from parsimon.cli.errors import Failure

__all__ = ["is_deeper", "json_values", "split_by_cells"]


class _TooDeep:
    """Stands for a value that is nested too deeply for Python to read."""


def json_values(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the JSON values in a text, each with the number of its first line, from 0.

    A value that cannot be read is None. The reader that follows says what is wrong with it.
    """
    # Numbers are replaced by their lengths: long ones would be slow to read.
    decoder = json.JSONDecoder(parse_int=len, parse_float=len, strict=False)
    space = re.compile(r"\s*")
    at = line = 0
    while True:
        before, at = at, space.match(text, at).end()  # type: ignore[union-attr]
        line += text.count("\n", before, at)
        if at >= len(text):
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except RecursionError:
            found, end = {"": _TooDeep}, len(text)
        except ValueError:
            found, end = None, text.find("\n", at) + 1 or len(text)
        yield found, line
        line += text.count("\n", at, end)
        at = end


def is_deeper(value: Any, most: int) -> bool:
    """Return whether lists and objects are nested more than `most` deep."""
    level = [value]
    for _ in range(most):
        if _TooDeep in level:
            return True
        inner = [
            v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)
        ]
        level = [
            v for values in inner for v in values if isinstance(v, dict | list) or v is _TooDeep
        ]
        if not level:
            return False
    return True


def split_by_cells(piece: bytes, width: int, cells: int) -> Iterator[bytes]:
    """Yield JSON lines in parts that have at most `cells` values as tables of `width` columns."""
    most = max(cells // max(width, 1), 1)
    if piece.count(b"{") <= most:
        yield piece
        return
    some: list[bytes] = []
    n = 0
    for line in piece.split(b"\n"):
        objects = line.count(b"{")
        if objects > most:
            # Objects within others are not rows.
            objects = sum(1 for _ in json_values(line.decode(errors="replace")))
            if objects > most:
                raise Failure("a line of JSON has many objects: write one object per line")
        if n + objects > most and some:
            yield b"\n".join(some) + b"\n"
            some, n = [], 0
        some.append(line)
        n += objects
    if any(line.strip() for line in some):
        yield b"\n".join(some) + b"\n"
