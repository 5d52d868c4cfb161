"""What a stored model may hold: checks that each class declares for its attributes.

A file can be made by hand, so nothing in it is believed before it was looked at. `persistence` asks
the class of a model which attributes there are, and what each of them may be.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np

from parsimon._parts import LABEL_KINDS
from parsimon.kernels import Kernel

__all__ = [
    "Schema",
    "finite_array",
    "is_kernel",
    "is_labels",
    "is_plain",
    "listed",
    "mapped",
    "number",
    "one_of",
    "whole",
]

Check = Callable[[Any], bool]


@dataclass(frozen=True)
class Schema:
    """The attributes of a model besides its parameters.

    Those that are needed are there together, once it has learned.
    """

    needed: Mapping[str, Check]
    allowed: Mapping[str, Check]

    def extended(
        self, needed: Mapping[str, Check] | None = None, allowed: Mapping[str, Check] | None = None
    ) -> Schema:
        """Return a schema with further attributes."""
        return Schema({**self.needed, **(needed or {})}, {**self.allowed, **(allowed or {})})

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raise a ValueError that names the first attribute that is missing, unknown or not what it
        must be.
        """
        known = {**self.needed, **self.allowed}
        for name, value in attributes.items():
            if name in known:
                if not known[name](value):
                    raise ValueError(f"its {name} is not what it must be")
            elif name.startswith("_") or not is_plain(value):
                raise ValueError(f"it has an unknown attribute {name}")
        if not attributes.keys().isdisjoint(self.needed) and (
            missing := self.needed.keys() - attributes.keys()
        ):
            raise ValueError(f"it lacks {min(missing)}")


def whole(at_least: int = 0, at_most: int = 2**62) -> Check:
    """Return a check for whole numbers."""
    return lambda value: (
        isinstance(value, int) and not isinstance(value, bool) and at_least <= value <= at_most
    )


def number(
    at_least: float = -math.inf, at_most: float = math.inf, *, infinite: bool = False
) -> Check:
    """Return a check for numbers, finite unless told otherwise."""

    def check(value: Any) -> bool:
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not at_least <= value <= at_most
        ):
            return False
        return abs(value) <= sys.float_info.max or (infinite and isinstance(value, float))

    return check


def one_of(*types: type[Any]) -> Check:
    """Return a check for objects of one of these types."""
    return lambda value: isinstance(value, types)


def listed(check: Check) -> Check:
    """Return a check for lists of things that pass a check."""
    return lambda value: isinstance(value, list | tuple) and all(map(check, value))


def mapped(key: Check, value: Check) -> Check:
    """Return a check for dicts."""
    return lambda found: (
        isinstance(found, dict) and all(key(k) and value(v) for k, v in found.items())
    )


def finite_array(*shape: int | None, least: float = -math.inf, most: float = math.inf) -> Check:
    """Return a check for arrays of finite numbers of a shape, of which None is any length."""

    def check(value: Any) -> bool:
        if (
            not isinstance(value, np.ndarray)
            or value.dtype.kind not in "fiu"
            or value.ndim != len(shape)
        ):
            return False
        sized = all(n is None or n == m for n, m in zip(shape, value.shape, strict=True))
        return sized and bool(
            np.isfinite(value).all() and (value >= least).all() and (value <= most).all()
        )

    return check


def is_labels(value: Any) -> bool:
    """Whether a value is an array (n,) of different labels."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in LABEL_KINDS:
        return False
    items = value.tolist()
    if value.dtype.kind == "O" and not all(isinstance(item, str) for item in items):
        return False
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        return False
    return len(set(items)) == len(items)


def is_label(value: Any) -> bool:
    """Whether a value is one label."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def is_plain(value: Any, others: Check = lambda value: False) -> bool:
    """Whether a value is what parameters are made of: plain values, parts, a random state, and
    lists and dicts of those.
    """
    if (
        value is None
        or isinstance(value, bool | int | float | str | np.random.RandomState)
        or others(value)
    ):
        return True
    if isinstance(value, list | tuple):
        return all(is_plain(item, others) for item in value)
    if isinstance(value, dict):
        return all(is_plain(k) and is_plain(v, others) for k, v in value.items())
    if isinstance(value, np.ndarray):  # of names
        return value.dtype.kind in "UO" and value.ndim == 1
    return is_dataclass(value)


#: The most kernels that one in a file is made of.
MOST_KERNELS = 256


def is_kernel(value: Any) -> bool:
    """Whether a value is a kernel that points can be given to."""
    if not isinstance(value, Kernel) or n_kernels(value) > MOST_KERNELS:
        return False
    value.core()  # raises where one has no width yet
    return True


def n_kernels(kernel: Any) -> int:
    """Return how many kernels one is made of."""
    inner = [part for part in vars(kernel).values() if isinstance(part, Kernel)]
    return 1 + sum(map(n_kernels, inner))
