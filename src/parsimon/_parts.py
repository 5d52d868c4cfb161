"""What all parts share: named registries, and checks of parameters that say what was wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

T = TypeVar("T")


def lookup(registry: Mapping[str, T], name: object, what: str) -> T:
    """Return the entry called `name`, or raise a ValueError that lists the known names."""
    if isinstance(name, str) and name in registry:
        return registry[name]
    known = ", ".join(repr(key) for key in registry)
    raise ValueError(f"unknown {what} {name!r}; known are {known}")


def real(
    what: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """Return `value` as a float if it is a finite real number within the bounds, else raise an error that names it."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{what} must be a number, got {value!r}")
    number = float(value)
    tests: list[tuple[float | None, str, Callable[[float, float], bool]]] = [
        (above, "> ", lambda v, b: v > b),
        (at_least, ">= ", lambda v, b: v >= b),
        (below, "< ", lambda v, b: v < b),
        (at_most, "<= ", lambda v, b: v <= b),
    ]
    wanted = [f"{sign}{bound:g}" for bound, sign, _ in tests if bound is not None]
    if not math.isfinite(number) or any(not test(number, bound) for bound, _, test in tests if bound is not None):
        raise ValueError(f"{what} must be finite{''.join(' and ' + w for w in wanted)}, got {value!r}")
    return number


def whole(what: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """Return `value` as an int if it is a whole number within the bounds, else raise an error that names it."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{what} must be a whole number, got {value!r}")
    number = int(value)
    if number < at_least:
        raise ValueError(f"{what} must be >= {at_least}, got {value!r}")
    if at_most is not None and number > at_most:
        raise ValueError(f"{what} must be <= {at_most}, got {value!r}")
    return number
