"""Checks of stored attributes, which each class of models declares.

A file can be made by hand, so every value in it is checked before it is used. `persistence` asks
the class of a model which attributes a file may hold, and which values they may have.
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

    After learning, all needed attributes exist. Before learning, none of them exists.
    """

    needed: Mapping[str, Check]
    allowed: Mapping[str, Check]

    def extended(
        self, needed: Mapping[str, Check] | None = None, allowed: Mapping[str, Check] | None = None
    ) -> Schema:
        """Return a schema with further attributes."""
        return Schema({**self.needed, **(needed or {})}, {**self.allowed, **(allowed or {})})

    def check(self, attributes: Mapping[str, Any]) -> None:
        """Raise a ValueError that names a missing, unknown or invalid attribute."""
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
    """Return a check for numbers. Infinity passes only with `infinite`."""

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
    """Return a check for lists and tuples whose items pass a check."""
    return lambda value: isinstance(value, list | tuple) and all(map(check, value))


def mapped(key: Check, value: Check) -> Check:
    """Return a check for dicts whose keys and values pass checks."""
    return lambda found: (
        isinstance(found, dict) and all(key(k) and value(v) for k, v in found.items())
    )


def finite_array(*shape: int | None, least: float = -math.inf, most: float = math.inf) -> Check:
    """Return a check for arrays of finite numbers with this shape. None means any length."""

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
    """Return whether a value is an array (n,) of different labels."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in LABEL_KINDS:
        return False
    items = value.tolist()
    if value.dtype.kind == "O" and not all(isinstance(item, str) for item in items):
        return False
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        return False
    return len(set(items)) == len(items)


def is_label(value: Any) -> bool:
    """Return whether a value is one label."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def is_plain(value: Any, others: Check = lambda value: False) -> bool:
    """Return whether a value can be a parameter.

    Parameters are plain values, parts, random states, and lists and dicts of these.
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
    if isinstance(value, np.ndarray):  # of strings
        return value.dtype.kind in "UO" and value.ndim == 1
    return is_dataclass(value)


#: The most kernels that a kernel in a file may consist of.
MOST_KERNELS = 256


def is_kernel(value: Any) -> bool:
    """Return whether a value is a kernel that can be evaluated."""
    if not isinstance(value, Kernel) or n_kernels(value) > MOST_KERNELS:
        return False
    value.core()  # raises an error if the width is not known yet
    return True


def n_kernels(kernel: Any) -> int:
    """Return the number of kernels that a kernel consists of, itself included."""
    inner = [part for part in vars(kernel).values() if isinstance(part, Kernel)]
    return 1 + sum(map(n_kernels, inner))
