"""Shared by all parts: named registries, and checks of parameters and data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

T = TypeVar("T")
Labels = NDArray[Any]

#: Types of labels by NumPy's kinds. All labels of a model have one type, because labels of
#: different types could only be compared after rounding or as text.
LABEL_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str", "O": "str"}


def _values(part: Any) -> tuple[Any, ...]:
    return tuple(getattr(part, name) for name in _names(part))


def _names(part: Any) -> tuple[str, ...]:
    """Return the names of the fields, without class variables."""
    names: tuple[str, ...] = type(part).__match_args__
    return names


class _Frozen:
    """Methods of a frozen dataclass, written once."""

    def __repr__(self: Any) -> str:
        values = zip(_names(self), _values(self), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values)})"

    def __eq__(self, other: object) -> bool:
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), _values(self)))

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if name in self.__dict__ or name not in _names(self):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


@dataclass_transform()
def part(cls: type[T]) -> type[T]:
    """Make a class an immutable value with the fields that it names, like a frozen dataclass.

    `dataclass(frozen=True)` compiles six methods per class, which takes most of the time to import
    the classes. Here all methods except `__init__` are shared.
    """
    made = dataclass(repr=False, eq=False)(cls)
    for name in ("__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"):
        setattr(made, name, getattr(_Frozen, name))
    return made


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
    """Return `value` as a float if it is a finite number within the bounds, or raise an error."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{what} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf
    tests: list[tuple[float | None, str, Callable[[float, float], bool]]] = [
        (above, "> ", lambda v, b: v > b),
        (at_least, ">= ", lambda v, b: v >= b),
        (below, "< ", lambda v, b: v < b),
        (at_most, "<= ", lambda v, b: v <= b),
    ]
    wanted = [f"{sign}{bound:g}" for bound, sign, _ in tests if bound is not None]
    if not math.isfinite(number) or any(
        not test(number, bound) for bound, _, test in tests if bound is not None
    ):
        raise ValueError(
            f"{what} must be finite{''.join(' and ' + w for w in wanted)}, got {value!r}"
        )
    return number


def whole(what: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """Return `value` as an int if it is a whole number within the bounds, or raise an error."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{what} must be a whole number, got {value!r}")
    number = int(value)
    if number < at_least:
        raise ValueError(f"{what} must be >= {at_least}, got {value!r}")
    if at_most is not None and number > at_most:
        raise ValueError(f"{what} must be <= {at_most}, got {value!r}")
    return number


def require_unmasked(values: Any, what: str) -> None:
    """Raise an error if an array, or one of a list of arrays, has masked values."""
    parts = values if isinstance(values, list | tuple) else (values,)
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise ValueError(f"{what} has masked values: fill them in, or leave their rows out")


def numbers(values: Any, what: str, read: Callable[[Any], T]) -> T:
    """Return read(values), where `read` converts an array-like to float64.

    Values that NumPy would silently convert to float64 raise an error.
    """
    require_unmasked(values, what)
    given = np.asarray(values) if isinstance(values, list | tuple) else values
    dtype = np.asarray(given).dtype
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} must hold real numbers")
    if dtype.kind not in "fiubO":
        raise TypeError(f"{what} must hold numbers, got {dtype}")
    try:
        return read(given)
    except OverflowError:
        raise ValueError(f"{what} holds a whole number beyond the largest double") from None


def labels(y: Any, what: str = "y") -> Labels:
    """Return labels as an array (n,) of bools, integers, whole floats or strings.

    Labels are kept exactly as given. An invalid label raises an error that names it.
    """
    if y is None:
        raise ValueError(f"requires y to be passed, but the target {what} is None")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU" and y.flags.c_contiguous:
        return y  # none of the checks below applies
    if type(y) is list and len(y) == 1 and isinstance(y[0], bool | int | str | np.integer):
        one: Labels = np.asarray(y)
        if one.dtype.kind in "biuU" and one.tolist() == y:
            return one  # as above, for a single row
    require_unmasked(y, what)
    found: Labels = column_or_1d(np.asarray(y), warn=True)
    each = np.asarray(y, dtype=object).ravel().tolist() if isinstance(y, list | tuple) else None
    if found.dtype.kind == "O" and not all(isinstance(label, str) for label in found):
        each = found.tolist()
        found = np.asarray(each)
    if found.ndim != 1 or found.dtype.kind not in LABEL_KINDS or found.dtype.char == "g":
        raise TypeError(
            f"{what} holds {found.dtype}: labels are bools, integers, whole floats or strings"
        )
    if found.dtype.kind == "O" and each is not None:
        row = next(i for i, label in enumerate(each) if np.asarray([label]).dtype.kind == "O")
        raise TypeError(
            f"{what} holds {each[row]!r} at row {row}: "
            "labels are bools, integers, whole floats or strings, all of one kind"
        )
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        raise ValueError(f"{what} contains {found[row]} at row {row}, which is no label")
    for row, (label, given) in enumerate(zip(found.tolist(), each or (), strict=False)):
        if label != given:
            raise TypeError(
                f"{what} holds labels of several kinds: "
                f"{given!r} at row {row} would be read as {label!r}"
            )
    # Other kinds need no check, which warns of many classes in a short block.
    if len(found) and found.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # floats beyond all integers raise an error there
            check_classification_targets(found)
    return found


def extended_labels(known: Labels, more: Labels, what: str = "y") -> Labels:
    """Return known and further labels in one array, each exactly as it was.

    Further labels of another type raise an error.
    """
    if len(known) == 0 or len(more) == 0:
        return known if len(known) else more
    if LABEL_KINDS[known.dtype.kind] != LABEL_KINDS[more.dtype.kind]:
        raise TypeError(
            f"labels so far are {known.dtype}, {what} holds {more.dtype}: they must be of one kind"
        )
    if known.dtype.kind in "iu":
        every = known.tolist() + more.tolist()
        dtype = np.result_type(known, more)
        if dtype.kind == "f":  # signed and unsigned
            if min(every) < 0 and max(every) >= 2**63:
                raise TypeError(
                    f"labels so far are {known.dtype}, {what} holds {more.dtype}: "
                    "no type of integers has both"
                )
            dtype = np.dtype(np.int64 if max(every) < 2**63 else np.uint64)
        return np.array(every, dtype=dtype)
    return np.concatenate([known, more])
