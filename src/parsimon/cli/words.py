"""Small helpers for messages: plurals, and names that may be mistyped."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypeVar

from parsimon.cli.errors import Failure

__all__ = ["choose", "plural"]

T = TypeVar("T")


def plural(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> plural(1, "row"), plural(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def choose(registry: Mapping[str, T], name: str, what: str) -> T:
    """Return the entry called `name`, or fail with the closest name and all known names.

    >>> choose({"knlms": 1, "polk": 2}, "polk", "algorithm")
    2
    """
    if name in registry:
        return registry[name]
    close = difflib.get_close_matches(name.lower(), registry, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    known = ", ".join(repr(key) for key in registry)
    raise Failure(f"unknown {what} {name!r}; {hint}known are {known}")
