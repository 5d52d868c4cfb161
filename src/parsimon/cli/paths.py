"""Checks of the files that a command is given, before it begins to work."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from parsimon._files import is_stream
from parsimon.cli.errors import Failure

__all__ = ["require_different", "require_writable"]


def require_different(paths: dict[str, str | Path | None]) -> None:
    """Fail if two arguments, given by their names, are the same file."""
    names: dict[Path, str] = {}
    for name, path in paths.items():
        if path is None or str(path) == "-":
            continue
        place = Path(os.path.realpath(path))
        if place in names:
            raise Failure(f"{name} and {names[place]} are the same file, {path}")
        names[place] = name


def require_writable(path: Path, *, regular: bool = False) -> None:
    """Fail if a path cannot be written, or if `regular`, if it is a FIFO or a device."""
    if path.is_dir():
        raise Failure(f"{path} is a folder: it cannot be written as a file")
    try:
        stream = is_stream(path)
        if stream and regular:
            raise Failure(f"{path} is not a regular file, which a model needs: choose another name")
        if not stream:  # opening a FIFO would wait for a reader
            with tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))):
                pass
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror or error}") from None
    if path.exists() and not os.access(path, os.W_OK):
        raise Failure(f"{path} cannot be written: it is read-only")
