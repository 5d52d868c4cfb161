"""Models to files and back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from parsimon._files import write_whole
from parsimon.persistence import tensors
from parsimon.persistence.models import is_model, restored, state_of, stored_class
from parsimon.persistence.values import Reader, encode

__all__ = ["FORMAT", "ModelFileError", "dumps", "load", "loads", "save"]

#: The version of the format that is written. Older ones stay readable.
FORMAT = 1
#: The key of the header in the metadata of the file.
KEY = "parsimon"


class ModelFileError(ValueError):
    """The file does not contain a valid model. The message says why."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file. The same as ``model.save(path)``.

    After an error the file is unchanged. A path that exists and is not a regular file is rejected.

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

    A file that is damaged, truncated, of another kind or too new raises `ModelFileError`. The
    message says what is wrong.

    >>> import tempfile
    >>> from parsimon import KNLMSRegressor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     KNLMSRegressor(gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0]).save(folder + "/m.parsimon")
    ...     model = load(folder + "/m.parsimon")
    >>> model.n_centers_
    2
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a model file")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return loads(path.read_bytes(), str(path))


def dumps(model: Any) -> bytes:
    """Return the contents of the file of a model, for example to send them elsewhere.

    >>> from parsimon import KNLMSRegressor
    >>> model = loads(dumps(KNLMSRegressor(gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0])))
    >>> model.n_centers_
    2
    """
    if not is_model(model):
        raise TypeError(f"files are for the estimators of parsimon, got {type(model).__name__}")
    arrays: tensors.Arrays = {}
    header = {
        "format": FORMAT,
        "estimator": type(model).__name__,
        "state": encode(state_of(model), arrays, "state"),
    }
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    return tensors.packed(arrays, {KEY: text, "digest": tensors.digest_of(text, arrays)})


def loads(data: bytes, path: str = "the data") -> Any:
    """Return the model that `dumps` turned into these bytes, or raise `ModelFileError`.

    Error messages call the bytes `path`.
    """
    try:
        arrays, metadata = tensors.unpacked(data)
    except (
        ValueError,
        TypeError,
        KeyError,
        OverflowError,
        AttributeError,
        RecursionError,
    ) as error:
        if _is_pickle(data):
            raise ModelFileError(
                f"{path} is not a model file: it looks like a pickle or joblib file. `joblib.load` "
                "reads it, and runs any code in it"
            ) from None
        raise ModelFileError(f"{path} is damaged or not a model file: {error}") from None
    if KEY not in metadata:
        raise ModelFileError(f"{path} is not a parsimon model file")
    try:
        header = tensors.parsed(metadata[KEY], len(data))
        version = header["format"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{path} is damaged: its format is {version!r}")
    if version > FORMAT:
        raise ModelFileError(
            f"{path} is of format {version}; this version of parsimon reads formats up to "
            f"{FORMAT}: update parsimon"
        )
    if metadata.get("digest") != tensors.digest_of(metadata[KEY], arrays):
        raise ModelFileError(f"{path} is damaged: its contents do not agree with its digest")
    name = header.get("estimator")
    cls = stored_class(name)
    if cls is None:
        raise ModelFileError(f"{path} holds a model of a kind unknown here, {name!r}")
    try:
        reader = Reader(arrays, tensors.TIMES * len(data) + tensors.BESIDES)
        return restored(cls, reader.decoded(header.get("state")))
    except MemoryError:
        raise
    except Exception as error:  # a file made by hand can lead to any error
        raise ModelFileError(f"{path} does not hold a sound model: {error}") from None


def _is_pickle(data: bytes) -> bool:
    """Return whether data looks like a pickle, as it is or compressed by joblib."""
    plain = data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    zlib = data[:2] in (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
    return (plain or zlib) and data[8:9] != b"{"  # a model file can begin with the same two bytes
