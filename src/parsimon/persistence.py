"""Model files: data, never code.

A file is in the safetensors format: arrays, and one JSON text that says what they are (format
version, estimator, parameters, kernel, classes, counters) with a digest over all of it. It is
written whole or not at all. A model that was stored and loaded goes on learning bit for bit as if
it had never stopped (same build, same processor).

The digest detects damage. It does not authenticate: whoever writes a file can compute it. So a file
is not believed because its digest is right. Sizes are checked before memory is taken, types and
numbers before they are used, and what learning could not have led to is refused. Loading takes at
most 16 times the size of the file and 64 MB. Room for the budget is made at the next sample.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema, admission, compression, kernels, losses, updates
from parsimon._files import write_whole

__all__ = ["FORMAT", "ModelFileError", "dumps", "load", "loads", "save"]

#: The version of the format that is written. Older ones stay readable.
FORMAT = 1
KEY = "parsimon"
#: How deep a value, such as a sum of sums of kernels, may be nested.
DEEPEST = 100
#: Parameters that came after the first files, with the values that leave a model as it was without
#: them.
LATER: dict[str, Any] = {"class_weight": None}

#: Types of numbers as NumPy and as safetensors calls them.
_KINDS = {
    "b1": "BOOL", "i1": "I8", "u1": "U8", "i2": "I16", "u2": "U16", "f2": "F16", "i4": "I32", "u4": "U32", "f4": "F32",
    "i8": "I64", "u8": "U64", "f8": "F64",
}  # fmt: skip
_DTYPES = {kind: np.dtype("<" + name) for name, kind in _KINDS.items()}
#: What a file may make of itself in memory: so many times its size, and so many bytes besides.
TIMES, BESIDES = 8, 32 << 20

Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that no model can be made of. The message says why."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file. The same as ``model.save(path)``.

    After an error the file is as it was. A path that exists and is not a regular file is refused.

    >>> import tempfile
    >>> from parsimon import KNLMSRegressor, load
    >>> model = KNLMSRegressor(gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/model.parsimon")
    ...     again = load(folder + "/model.parsimon")
    >>> bool((again.predict([[0.5]]) == model.predict([[0.5]])).all())
    True
    """
    write_whole(path, dumps(model), regular=True)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model that a file holds.

    A file that is damaged, cut off, of another kind or too new raises `ModelFileError`, which says
    so.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a model file")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return loads(path.read_bytes(), str(path))


def dumps(model: Any) -> bytes:
    """Return what a model's file would hold: for sending it elsewhere.

    >>> from parsimon import KNLMSRegressor
    >>> model = loads(dumps(KNLMSRegressor(gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0])))
    >>> model.n_centers_
    2
    """
    if not _is_model(model):
        raise TypeError(f"files are for the estimators of parsimon, got {type(model).__name__}")
    arrays: Arrays = {}
    header = {
        "format": FORMAT,
        "estimator": type(model).__name__,
        "state": _encode(_state(model), arrays, "state"),
    }
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    metadata = {KEY: text, "digest": _digest(text, arrays)}
    return _safetensors(arrays, metadata)


def loads(data: bytes, path: str = "the data") -> Any:
    """Return the model that `dumps` made these bytes of, or raise `ModelFileError`; `path` is what
    it calls them.
    """
    try:
        arrays, metadata = _tensors(data)
    except (
        ValueError,
        TypeError,
        KeyError,
        OverflowError,
        AttributeError,
        RecursionError,
    ) as error:
        raise ModelFileError(f"{path} is damaged or not a model file: {error}") from None
    if KEY not in metadata:
        raise ModelFileError(f"{path} is not a parsimon model file")
    try:
        header = _parsed(metadata[KEY], len(data))
        version = header["format"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{path} is damaged: its format is {version!r}")
    if version > FORMAT:
        raise ModelFileError(
            f"{path} is of format {version}; this version of parsimon reads formats up to {FORMAT}: update parsimon"
        )
    if metadata.get("digest") != _digest(metadata[KEY], arrays):
        raise ModelFileError(f"{path} is damaged: its contents do not agree with its digest")
    name = header.get("estimator")
    cls = _estimators().get(name) if isinstance(name, str) else None
    if cls is None:
        raise ModelFileError(f"{path} holds a model of a kind unknown here, {name!r}")
    try:
        reader = _Reader(arrays, TIMES * len(data) + BESIDES)
        return _restored(cls, reader.decoded(header.get("state")))
    except MemoryError:
        raise
    except Exception as error:  # whatever a file that someone made by hand can lead to
        raise ModelFileError(f"{path} does not hold a sound model: {error}") from None


def _is_model(value: Any) -> bool:
    return _estimators().get(type(value).__name__) is type(value)


def _state(model: Any) -> dict[str, Any]:
    """Return what a file holds of a model. What could not be loaded again is refused."""
    state = {k: v for k, v in model.__getstate__().items() if k != "_sklearn_version"}
    known = {*type(model)._get_param_names(), *model._attributes.needed, *model._attributes.allowed}
    for name in state.keys() - known:
        value = state[name].item() if isinstance(state[name], np.generic) else state[name]
        if name.startswith("_") or not _schema.is_plain(value):
            raise TypeError(
                f"{name} cannot be stored in a file: it is no attribute of a {type(model).__name__}"
            )
    return state


def _restored(cls: type[Any], state: Any) -> Any:
    names = set(cls._get_param_names())
    for parameters in (state, state["_learns_with"]) if "_learns_with" in state else (state,):
        if not isinstance(parameters, dict):
            raise ValueError("its parameters are not those of the model")
        for name in LATER.keys() & names:  # older files lack it
            parameters.setdefault(name, LATER[name])
        if not names <= parameters.keys() or (
            parameters is not state and parameters.keys() != names
        ):
            raise ValueError("its parameters are not those of the model")
    # Data, and nothing in the place of what the class defines or builds itself
    for attribute in state:
        if attribute in ("_learner", "_learners") or (
            attribute != "_learned" and hasattr(cls, attribute)
        ):
            raise ValueError(f"it would replace {attribute}")
    for parameters in (state, state.get("_learns_with", {})):
        for name in names & parameters.keys():
            if not _schema.is_plain(parameters[name], cls._other_parameters):
                raise ValueError(f"its parameter {name} is not what it must be")
    cls._attributes.check({k: v for k, v in state.items() if k not in names})
    rng = state.get("random_state")
    if isinstance(rng, np.random.RandomState) and "_learns_with" in state:
        state["_learns_with"]["random_state"] = rng  # one object, as it was
    model: Any = object.__new__(cls)
    model.__setstate__(state)
    model._require_sound()
    return model


class Storable:
    """A model that can be stored in a file."""

    #: What a file may hold of it besides its parameters.
    _attributes: ClassVar[_schema.Schema] = _schema.Schema({}, {})

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        """Whether a value that is neither plain nor a part can be in its parameters."""
        return False

    def _require_sound(self) -> None:
        """Raise an error unless a model that was read from a file is such as learning leads to."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `parsimon.load` reads: data, never code, and whole or not
        at all.
        """
        save(self, path)


def _estimators() -> dict[str, type[Any]]:
    from parsimon.dictionary_learning import KernelDictionaryClassifier, KernelDictionaryLearning
    from parsimon.estimators import ESTIMATORS, KernelExpansionClassifier, KernelExpansionRegressor
    from parsimon.evaluation import ClassificationMetrics, RegressionMetrics
    from parsimon.preprocessing import TableEncoder, TargetScaler
    from parsimon.tables import MixtureClassifier, TableModel

    others = (
        ClassificationMetrics,
        KernelDictionaryClassifier,
        KernelDictionaryLearning,
        KernelExpansionClassifier,
        KernelExpansionRegressor,
        MixtureClassifier,
        RegressionMetrics,
        TableEncoder,
        TableModel,
        TargetScaler,
    )
    return {cls.__name__: cls for cls in (*ESTIMATORS, *others)}


def _parts() -> dict[str, type[Any]]:
    """Return the parts that parameters can hold: immutable values of plain fields, by module and
    name.
    """
    found: dict[str, type[Any]] = {}
    for module in (kernels, losses, updates, admission, compression):
        for name, cls in vars(module).items():
            if (
                isinstance(cls, type)
                and dataclasses.is_dataclass(cls)
                and cls.__module__ == module.__name__
            ):
                found[f"{module.__name__.rpartition('.')[2]}.{name}"] = cls
    del found["kernels.Function"]  # code
    return found


def _encode(value: Any, arrays: Arrays, where: str) -> Any:
    """Return a value as JSON has it; arrays go to `arrays`, and whatever has no plain form is
    refused.
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
        items = [_encode(item, arrays, f"{where}.{i}") for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {
            "dict": [
                [
                    _encode(k, arrays, f"{where}.key"),
                    _encode(v, arrays, f"{where}.{k if isinstance(k, str) else i}"),
                ]
                for i, (k, v) in pairs
            ]
        }
    if isinstance(value, np.random.RandomState):
        return {"random_state": _encode(value.get_state(legacy=False), arrays, where)}
    if _is_model(value):  # a model within a model
        return {"model": type(value).__name__, "state": _encode(_state(value), arrays, where)}
    for name, cls in _parts().items():
        if type(value) is cls:
            fields = {
                f.name: _encode(getattr(value, f.name), arrays, f"{where}.{f.name}")
                for f in dataclasses.fields(cls)
            }
            return {"part": name, "fields": fields}
    if isinstance(value, kernels.Function) or callable(value):
        raise TypeError(
            f"{where.removeprefix('state.')} is a Python function, and files hold no code: pickle the model instead"
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
                "labels": [_encode(item, arrays, where) for item in items],
                "dtype": value.dtype.str,
            }
    raise TypeError(
        f"{where.removeprefix('state.')} cannot be stored in a file: an array of {value.dtype}"
    )


class _Reader:
    """Makes values of what `_encode` made of them, within `room` bytes."""

    def __init__(self, arrays: Arrays, room: int) -> None:
        self.arrays, self.room, self.depth = dict(arrays), room, 0

    def decoded(self, value: Any) -> Any:
        """Return a value; what is none is refused."""
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
            "array": lambda v: self.arrays.pop(v),  # each has one place
            "labels": lambda v: self._labels([decode(item) for item in v], value["dtype"]),
            "tuple": lambda v: tuple(decode(item) for item in v),
            "dict": lambda v: {decode(k): decode(item) for k, item in v},
            "random_state": lambda v: _random_state(decode(v)),
            "model": lambda v: _restored(_estimators()[v], decode(value["state"])),
            "part": lambda v: _parts()[v](
                **{k: decode(item) for k, item in value["fields"].items()}
            ),
        }
        for key, read in readers.items():
            if key in value:
                return read(value[key])
        raise ValueError(f"what is {sorted(value)}?")

    def _labels(self, items: list[Any], name: str) -> NDArray[Any]:
        """Return labels as an array of the type they had, which is no wider than they ask for."""
        dtype = np.dtype(name)
        longest = max((len(item) for item in items if isinstance(item, str)), default=0)
        self.room -= dtype.itemsize * len(items)
        if dtype.kind not in "UO" or dtype.itemsize > 4096 + 4 * longest or self.room < 0:
            raise ValueError(f"{len(items)} labels of type {name!r}")
        return np.array(items, dtype=dtype)


def _random_state(state: dict[str, Any]) -> np.random.RandomState:
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


def _safetensors(arrays: Arrays, metadata: dict[str, str]) -> bytes:
    """Return a file in the safetensors format: the same bytes for the same contents, which the
    library does not promise.
    """
    header: dict[str, Any] = {"__metadata__": metadata}
    at, pieces = 0, []
    # Aligned, as the format asks for
    for name in sorted(arrays, key=lambda name: (-arrays[name].itemsize, name)):
        piece = arrays[name].tobytes()
        kind = _KINDS[arrays[name].dtype.newbyteorder("=").str[1:]]
        header[name] = {
            "dtype": kind,
            "shape": list(arrays[name].shape),
            "data_offsets": [at, at + len(piece)],
        }
        pieces.append(piece)
        at += len(piece)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *pieces])


def _tensors(data: bytes) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the metadata of a file in the safetensors format.

    They fill it: there are neither gaps nor overlaps.
    """
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise ValueError("it ends within its header")
    text = data[8 : 8 + size]
    header = _parsed(text.decode(), len(data))
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        raise ValueError("its metadata cannot be read")
    found, at = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape, (first, last) = _DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, first, last)):
            raise ValueError(f"{name} is no array")
        if (
            first != at
            or last - first != math.prod(shape) * dtype.itemsize
            or 8 + size + last > len(data)
        ):
            raise ValueError(f"{name} is not where it must be")
        count = (last - first) // dtype.itemsize
        found[name] = np.frombuffer(data, dtype, count, 8 + size + first).reshape(shape).copy()
        at = last
    if 8 + size + at != len(data):
        raise ValueError("it does not end with its arrays")
    return found, metadata


def _parsed(text: str, size: int) -> Any:
    """Return the values of a JSON text.

    One that would take far more memory than the file's size allows for is refused unread.
    """
    # A bracket becomes an object of some 60 bytes, and another when it is decoded. A comma stands
    # for a value.
    cost = 128 * (text.count("[") + text.count("{")) + 52 * text.count(",") + 8 * len(text)
    if cost > 2 * TIMES * size + BESIDES:
        raise ValueError("its header holds too much for its size")
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"its header holds {name}")


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
