"""Pieces of text: where rows end, which of them can be read, and what objects of JSON they have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from parsimon.cli.errors import Failure

__all__ = ["deeper", "in_cells", "last_end", "objects", "row_end", "sifted", "split_rows"]


def row_end(data: bytes) -> int:
    """Return where the first row ends."""
    end, quotes = 0, 0
    while True:
        start, end = end, data.find(b"\n", end) + 1
        if not end:
            return len(data)
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0:
            return end


def last_end(data: bytes, quoted: bool) -> int:
    """Return where the last whole row ends: at a line end that is not within quotes."""
    end = data.rfind(b"\n") + 1
    odd = (
        data.count(b'"', 0, end) % 2 if quoted and b'"' in data else 0
    )  # to look for one is much quicker than to count
    while end and odd:
        before = data.rfind(b"\n", 0, end - 1) + 1
        odd ^= data.count(b'"', before, end) % 2
        end = before
    return end


def split_rows(piece: bytes, *, quoted: bool) -> list[bytes]:
    """Return the rows of a piece of text, but for empty ones; a line end within quotes ends none."""
    found: list[bytes] = []
    whole = True  # whether the row before is
    for line in piece.splitlines(keepends=True) if not quoted else piece.split(b"\n"):
        line = line if not quoted else line + b"\n"
        if whole and not line.strip(b"\r\n"):
            continue
        if whole:
            found.append(line)
        else:
            found[-1] += line
        if quoted and line.count(b'"') % 2:
            whole = not whole
    return found


def sifted(
    rows: list[bytes], read: Callable[[bytes, int], Any], first: int
) -> Iterator[tuple[list[bytes], Any]]:
    """Yield rows, in order, with the table that they are, or one row with the `Failure` that it is."""
    parts = [rows]
    while parts:
        some = parts.pop()
        try:
            found = read(b"".join(some), first)
        except Failure as error:
            if len(some) > 1:
                parts += [some[len(some) // 2 :], some[: len(some) // 2]]
                continue
            found = error
        yield some, found
        first += 1 if isinstance(found, Failure) else found.num_rows


def objects(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the values of JSON in a text, each with the number of the line that it begins in, from
    0.
    """
    # Long numbers and control characters are no reason not to look at the rest.
    decoder, space = (
        json.JSONDecoder(parse_int=len, parse_float=len, strict=False),
        re.compile(r"\s*"),
    )
    at = line = 0
    while True:
        before, at = at, space.match(text, at).end()  # type: ignore[union-attr]
        line += text.count("\n", before, at)
        if at >= len(text):
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except RecursionError:
            found, end = {"": _Deep}, len(text)
        except ValueError:  # it is found out where that is
            found, end = None, text.find("\n", at) + 1 or len(text)
        yield found, line
        line += text.count("\n", at, end)
        at = end


class _Deep:
    """Stands for what is nested too deeply to be read."""


def deeper(value: Any, most: int) -> bool:
    """Return whether lists and objects are nested more than so deep."""
    level = [value]
    for _ in range(most):
        if _Deep in level:
            return True
        inner = [
            v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)
        ]
        level = [v for values in inner for v in values if isinstance(v, dict | list) or v is _Deep]
        if not level:
            return False
    return True


def in_cells(piece: bytes, width: int, cells: int) -> Iterator[bytes]:
    """Yield JSON lines in parts of bounded size, as tables of so many columns."""
    most = max(cells // max(width, 1), 1)
    if piece.count(b"{") <= most:
        yield piece
        return
    some: list[bytes] = []
    n = 0
    for line in piece.split(b"\n"):
        inside = line.count(b"{")
        if inside > most:
            # Those within others are no rows
            inside = sum(1 for _ in objects(line.decode(errors="replace")))
            if inside > most:
                raise Failure("a line of JSON has many objects: write one object a line")
        if n + inside > most and some:
            yield b"\n".join(some) + b"\n"
            some, n = [], 0
        some.append(line)
        n += inside
    if any(line.strip() for line in some):
        yield b"\n".join(some) + b"\n"
