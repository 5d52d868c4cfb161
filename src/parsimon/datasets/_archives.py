"""NumPy archives in a folder of data sets."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_archive(data_dir: str | Path, name: str, *arrays: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file. A file that is damaged or lacks `arrays` raises an error."""
    path = Path(data_dir) / name
    if not path.exists():
        raise FileNotFoundError(f"there is no {name} in {data_dir}")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            found = dict(stored)
    except (ValueError, EOFError, zipfile.BadZipFile, TypeError) as error:
        raise ValueError(f"{path} is damaged or is not a NumPy archive") from error
    missing = [array for array in arrays if array not in found]
    if missing:
        raise ValueError(
            f"{path} has no array {missing[0]!r}; it holds {', '.join(sorted(found)) or 'none'}"
        )
    return found


def required_folder(data_dir: str | Path | None, name: str) -> str | Path:
    """Return the folder of a data set that cannot be fetched."""
    if data_dir is None:
        raise ValueError(
            f"{name} cannot be fetched, because it is not at OpenML: "
            f"give a data_dir (--data-dir) with {name}.npz"
        )
    return data_dir
