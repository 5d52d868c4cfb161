"""The values of a model as JSON and arrays, and back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import admission, compression, kernels, losses, updates
from parsimon.persistence.models import further_parts, is_model, restored, state_of, stored_class
from parsimon.persistence.tensors import Arrays

__all__ = ["Reader", "encode", "random_state"]

#: How deep a value may be nested, for example a sum of sums of kernels.
DEEPEST = 100


@cache
def parts() -> dict[str, type[Any]]:
    """Return the parts that parameters can hold, by module and name.

    Parts are immutable objects with plain fields.
    """
    found: dict[str, type[Any]] = {}
    for module in (kernels, losses, updates, admission, compression):
        for name, cls in vars(module).items():
            if (
                isinstance(cls, type)
                and dataclasses.is_dataclass(cls)
                and f"{cls.__module__}.".startswith(f"{module.__name__}.")
            ):
                found[f"{module.__name__.rpartition('.')[2]}.{name}"] = cls
    found |= further_parts()
    del found["kernels.Function"]  # code
    return found


def encode(value: Any, arrays: Arrays, where: str) -> Any:
    """Return a value as JSON. Arrays are added to `arrays`, under names that begin with `where`.

    A value that has no plain form is rejected.
    """
    if where.count(".") > DEEPEST:
        raise TypeError(f"{where.removeprefix('state.')[:40]}... is nested too deeply for a file")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and not value.isprintable():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise TypeError(
                f"{where.removeprefix('state.')} is no text that a file can hold: {value!r}"
            ) from None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where)
    if isinstance(value, tuple | list):
        items = [encode(item, arrays, f"{where}.{i}") for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {
            "dict": [
                [
                    encode(k, arrays, f"{where}.key"),
                    encode(v, arrays, f"{where}.{k if isinstance(k, str) else i}"),
                ]
                for i, (k, v) in pairs
            ]
        }
    if isinstance(value, np.random.RandomState):
        return {"random_state": encode(value.get_state(legacy=False), arrays, where)}
    if is_model(value):  # a model within a model
        return {"model": type(value).__name__, "state": encode(state_of(value), arrays, where)}
    for name, cls in parts().items():
        if type(value) is cls:
            fields = {
                f.name: encode(getattr(value, f.name), arrays, f"{where}.{f.name}")
                for f in dataclasses.fields(cls)
            }
            return {"part": name, "fields": fields}
    if isinstance(value, kernels.Function) or callable(value):
        raise TypeError(
            f"{where.removeprefix('state.')} is a Python function, and files hold no code: "
            "pickle the model instead"
        )
    raise TypeError(f"{where.removeprefix('state.')} cannot be stored in a file: {value!r}")


def _encode_array(value: NDArray[Any], arrays: Arrays, where: str) -> Any:
    if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and value.ndim > 0:
        if where in arrays:
            raise TypeError(f"two arrays would be called {where}")
        arrays[where] = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {"array": where}
    if value.dtype.kind in "UO" and value.ndim == 1:
        items = value.tolist()
        if all(isinstance(item, str | int | float | bool) for item in items):
            return {
                "labels": [encode(item, arrays, where) for item in items],
                "dtype": value.dtype.str,
            }
    raise TypeError(
        f"{where.removeprefix('state.')} cannot be stored in a file: an array of {value.dtype}"
    )


class Reader:
    """Decodes what `encode` returned. Labels may take at most `room` bytes."""

    def __init__(self, arrays: Arrays, room: int) -> None:
        self.arrays, self.room, self.depth = dict(arrays), room, 0

    def decoded(self, value: Any) -> Any:
        """Return a value. Anything that `encode` does not write is rejected."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if self.depth > DEEPEST:
            raise ValueError("it is nested too deeply")
        self.depth += 1
        try:
            return self._container(value)
        finally:
            self.depth -= 1

    def _container(self, value: Any) -> Any:
        decode = self.decoded
        if isinstance(value, list):
            return [decode(item) for item in value]
        readers: dict[str, Callable[[Any], Any]] = {
            "float": lambda v: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[v],
            "array": lambda v: self.arrays.pop(v),  # each array is used once
            "labels": lambda v: self._labels([decode(item) for item in v], value["dtype"]),
            "tuple": lambda v: tuple(decode(item) for item in v),
            "dict": lambda v: {decode(k): decode(item) for k, item in v},
            "random_state": lambda v: random_state(decode(v)),
            "model": lambda v: self._model(v, value["state"]),
            "part": lambda v: parts()[v](
                **{k: decode(item) for k, item in value["fields"].items()}
            ),
        }
        for key, read in readers.items():
            if key in value:
                return read(value[key])
        raise ValueError(f"what is {sorted(value)}?")

    def _model(self, name: str, state: Any) -> Any:
        cls = stored_class(name)
        if cls is None:
            raise ValueError(f"it holds a model of a kind unknown here, {name!r}")
        return restored(cls, self.decoded(state))

    def _labels(self, items: list[Any], name: str) -> NDArray[Any]:
        """Return labels as an array of the stored type, if it is not much wider than necessary."""
        dtype = np.dtype(name)
        longest = max((len(item) for item in items if isinstance(item, str)), default=0)
        self.room -= dtype.itemsize * len(items)
        if dtype.kind not in "UO" or dtype.itemsize > 4096 + 4 * longest or self.room < 0:
            raise ValueError(f"{len(items)} labels of type {name!r}")
        return np.array(items, dtype=dtype)


def random_state(state: dict[str, Any]) -> np.random.RandomState:
    """Return a random state with the state that NumPy's `get_state(legacy=False)` gave."""
    inner = state["state"]
    key, position = np.asarray(inner["key"]), inner["pos"]
    plain = state["bit_generator"] == "MT19937" and key.shape == (624,) and key.dtype.kind in "iu"
    if (
        not plain
        or not isinstance(position, int)
        or not 0 <= position <= 624
        or state["has_gauss"] not in (0, 1)
    ):
        raise ValueError("its random state is not one")
    rng = np.random.RandomState()
    rng.set_state(
        ("MT19937", key.astype(np.uint32), position, int(state["has_gauss"]), float(state["gauss"]))
    )
    return rng
