"""Arrays and metadata as bytes in the safetensors format, with a digest.

The library safetensors is not used, for two reasons. It does not promise the same bytes for the
same contents. And files must be checked before memory is allocated.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Arrays", "digest_of", "packed", "parsed", "unpacked"]

Arrays = dict[str, NDArray[Any]]

#: Types of numbers, as NumPy and as safetensors call them.
_KINDS = {
    "b1": "BOOL", "i1": "I8", "u1": "U8", "i2": "I16", "u2": "U16", "f2": "F16", "i4": "I32",
    "u4": "U32", "f4": "F32", "i8": "I64", "u8": "U64", "f8": "F64",
}  # fmt: skip
_DTYPES = {kind: np.dtype("<" + name) for name, kind in _KINDS.items()}
#: The memory that a file may take when it is read: a multiple of its size, and a number of bytes.
TIMES, BESIDES = 8, 32 << 20


def packed(arrays: Arrays, metadata: dict[str, str]) -> bytes:
    """Return a file with these arrays and metadata."""
    header: dict[str, Any] = {"__metadata__": metadata}
    at, pieces = 0, []
    # Larger types first: the format asks for aligned arrays.
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


def unpacked(data: bytes) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the metadata of a file.

    The arrays must fill the file, without gaps or overlaps.
    """
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise ValueError("it is shorter than the header that its first bytes announce")
    header = parsed(data[8 : 8 + size].decode(), len(data))
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


def parsed(text: str, size: int) -> Any:
    """Return the values of a JSON text from a file of `size` bytes.

    A text that would take far more memory than the size of the file allows is not parsed.
    """
    # A bracket becomes an object of about 60 bytes, and another one when it is decoded. A comma
    # stands for one value.
    cost = 128 * (text.count("[") + text.count("{")) + 52 * text.count(",") + 8 * len(text)
    if cost > 2 * TIMES * size + BESIDES:
        raise ValueError("its header holds too much for its size")
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"its header holds {name}")


def digest_of(text: str, arrays: Arrays) -> str:
    """Return the digest of a header and the arrays that it describes."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
