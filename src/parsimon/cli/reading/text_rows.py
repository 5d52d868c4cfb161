"""Where rows of text begin and end, and which of them can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from parsimon.cli.errors import Failure

__all__ = ["first_row_end", "last_row_end", "read_good_rows", "split_rows"]


def first_row_end(data: bytes) -> int:
    """Return where the first row ends. A line end within quotes ends no row."""
    end, quotes = 0, 0
    while True:
        start, end = end, data.find(b"\n", end) + 1
        if not end:
            return len(data)
        quotes += data.count(b'"', start, end)
        if quotes % 2 == 0:
            return end


def last_row_end(data: bytes, quoted: bool) -> int:
    """Return where the last whole row ends. If `quoted`, a line end within quotes ends no row."""
    end = data.rfind(b"\n") + 1
    # Looking for one quote is much faster than counting them.
    odd = data.count(b'"', 0, end) % 2 if quoted and b'"' in data else 0
    while end and odd:
        before = data.rfind(b"\n", 0, end - 1) + 1
        odd ^= data.count(b'"', before, end) % 2
        end = before
    return end


def split_rows(piece: bytes, *, quoted: bool) -> list[bytes]:
    """Return the rows of a text without empty ones.

    If `quoted`, a line end within quotes ends no row.
    """
    if not quoted:
        return [line for line in piece.splitlines(keepends=True) if line.strip(b"\r\n")]
    found: list[bytes] = []
    complete = True  # whether the previous row is
    for line in piece.split(b"\n"):
        line += b"\n"
        if complete and not line.strip(b"\r\n"):
            continue
        if complete:
            found.append(line)
        else:
            found[-1] += line
        if line.count(b'"') % 2:
            complete = not complete
    return found


def read_good_rows(
    rows: list[bytes], read: Callable[[bytes, int], Any], first: int
) -> Iterator[tuple[list[bytes], Any]]:
    """Yield rows, in order, with their table; a row that cannot be read, with its `Failure`.

    The rows are halved until the bad ones are found. A bad row of several lines has a quote that
    may be part of the text: its first line is tried alone, and then the others.
    """
    parts = [rows]
    while parts:
        some = parts.pop()
        try:
            found = read(b"".join(some), first)
        except Failure as error:
            if len(some) > 1:
                parts += [some[len(some) // 2 :], some[: len(some) // 2]]
                continue
            line, _, others = some[0].partition(b"\n")
            if others.strip(b"\r\n"):
                parts += [split_rows(others, quoted=True), [line + b"\n"]]
                continue
            found = error
        yield some, found
        first += 1 if isinstance(found, Failure) else found.num_rows
