"""Files that are written completely or not at all, and a lock for one writer at a time."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["Output", "is_stream", "naming", "only_writer", "write_whole", "writing"]

#: Seconds after which a temporary file that nobody holds is a leftover of a killed process.
LEFTOVER = 60.0
#: What locking a file raises if another process holds the lock.
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
#: What syncing a folder raises where the file system or the permissions do not allow it.
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EACCES, errno.EPERM)

#: What a second writer is told.
BUSY = "another process is writing this file: wait until it ends, or choose another file"

Name = str | os.PathLike[str]


@contextmanager
def naming(path: Name) -> Iterator[None]:
    """Make errors of the operating system name this file, even if they are about another file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def is_stream(path: Name) -> bool:
    """Return whether a path is a FIFO, a device, a socket or an open file of the process.

    ``/dev/stdout`` counts as an open file, even if it is redirected to a regular file.
    """
    if _open_file(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _open_file(path: Name) -> tuple[str, int] | None:
    """Return the process and the number of the open file that a path names, or None."""
    at = os.path.abspath(path)
    for _ in range(40):  # links are followed one by one
        if found := re.fullmatch(r"/(dev|proc/([^/]+))/fd/(\d+)", at):
            return found[2] or "self", int(found[3])
        if not os.path.islink(at):
            break
        at = os.path.normpath(os.path.join(os.path.dirname(at), os.readlink(at)))
    return None


def _descriptor(path: Name) -> int:
    """Open a stream. An open file of this process keeps its place, which its users share."""
    process, number = _open_file(path) or ("", 0)
    if process in ("self", str(os.getpid())):
        if number == 1:
            sys.stdout.flush()
        return os.dup(number)
    return os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOCTTY", 0))


class Output:
    """A file that is being written. Its errors name `path`."""

    def __init__(self, descriptor: int, path: Name) -> None:
        self._descriptor, self._path = descriptor, path
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        """Write all of the data. A closed file is left alone, because a library may flush late."""
        left = memoryview(data).cast("B")
        size = len(left)
        with naming(self._path):
            while left and not self.closed:
                left = left[os.write(self._descriptor, left) :]
        return size

    def flush(self) -> None:
        """Do nothing, because nothing is buffered."""

    def sync(self) -> None:
        """Wait until the data is on the disk."""
        with naming(self._path):
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self.closed = True
            with naming(self._path):
                os.close(self._descriptor)


@contextmanager
def writing(path: Name, *, regular: bool = False) -> Iterator[Output]:
    """Open a file for writing, which replaces `path` at the end if there was no error.

    Until then it is a temporary file beside `path`. After an error, `path` is as it was, or is
    the new file if only the folder could not be synced.
    A symbolic link is followed. A FIFO or a device is written to directly and never replaced.

    Parameters
    ----------
    path : the file to write.
    regular : reject a path that exists and is not a regular file. Default: False.
    """
    with naming(path):
        stream = is_stream(path)
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stream and regular:
            raise OSError(
                errno.EINVAL, "not a regular file, which a model needs: choose another name"
            )
    with _streaming(path) if stream else _replacing(path) as file:
        yield file


def write_whole(path: Name, data: bytes, *, regular: bool = False) -> None:
    """Write a file as `writing` does."""
    with writing(path, regular=regular) as file:
        file.write(data)


@contextmanager
def _streaming(path: Name) -> Iterator[Output]:
    with naming(path):
        file = Output(_descriptor(path), path)
    try:
        yield file
    except BaseException:
        with suppress(OSError):
            file.close()
        raise
    file.close()


@contextmanager
def _replacing(path: Name) -> Iterator[Output]:
    place = Path(os.path.realpath(path))
    made = _beside(place, f"{os.getpid()}-{os.urandom(4).hex()}.tmp")
    file: Output | None = None
    try:
        with naming(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            file = Output(os.open(made, flags, 0o666), path)
            if os.name == "posix":
                _lock(file._descriptor)  # so that no other process removes it as a leftover
            with suppress(FileNotFoundError):
                mode = stat.S_IMODE(os.stat(place).st_mode)
                os.chmod(made, mode)  # before there is anything to read
        yield file
        file.sync()
        file.close()
        with naming(path):
            os.replace(made, place)
    except BaseException:
        with suppress(OSError):
            if file is not None:
                file.close()
        with suppress(OSError):
            os.unlink(made)
        raise
    with naming(path):
        _sync_folder(place.parent)


def _sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name != "posix":
        return
    descriptor = None
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _beside(path: Path, suffix: str) -> Path:
    """Return a hidden name beside a file, within the length that file systems allow."""
    name = path.name
    if len(os.fsencode(name)) > 200:
        import hashlib

        name = f"{name[:40]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"
    return path.with_name(f".{name}.{suffix}")


# One writer at a time


@contextmanager
def only_writer(path: Name) -> Iterator[None]:
    """Hold the lock of a file, so that a second process that asks for it raises `BlockingIOError`.

    The lock is on a file ``.NAME.lock`` beside the file, because replacing a file makes a new
    inode. The operating system releases the lock when the process ends, even after a crash. The
    lock is advisory: `writing` does not check it. Where locks are not supported, nothing is locked.
    """
    place = Path(os.path.realpath(path))
    name = _beside(place, "lock")
    with naming(path):
        descriptor = _locked(name)
    try:
        _remove_leftovers(place)
        yield
    finally:
        with suppress(OSError):
            if os.name == "posix":
                os.unlink(name)  # while it is locked: nobody else has locked this inode
        os.close(descriptor)
        if os.name != "posix":
            with suppress(OSError):
                os.unlink(name)  # Windows refuses this while another process has it open


def _locked(name: Path) -> int:
    """Create and lock a file, and return its descriptor."""
    while True:
        try:
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        except PermissionError:  # a file of another user, left by a killed process
            if not os.path.exists(name):
                raise
            descriptor = os.open(name, os.O_RDONLY)
        try:
            if _lock(descriptor) is False:
                raise BlockingIOError(errno.EWOULDBLOCK, BUSY)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(name)):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the holder before removed the file: there may be a new one


def _lock(descriptor: int) -> bool | None:
    """Lock an open file without waiting, and return True.

    Return False if another process holds the lock, and None if locks are not supported.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return None
    except OSError as error:
        return False if error.errno in HELD else None
    return True


def _remove_leftovers(place: Path) -> None:
    """Remove temporary files of killed writers. They are old, and nobody has locked them."""
    if os.name != "posix":
        return
    pattern = re.compile(re.escape(_beside(place, "").name) + r"\d+-[0-9a-f]{8}\.tmp")
    with suppress(OSError):
        for found in [entry for entry in os.scandir(place.parent) if pattern.fullmatch(entry.name)]:
            facts = found.stat(follow_symlinks=False)
            if not stat.S_ISREG(facts.st_mode) or time.time() - facts.st_mtime < LEFTOVER:
                continue
            descriptor = os.open(found.path, os.O_RDWR)
            try:
                if _lock(descriptor):
                    os.unlink(found.path)
            finally:
                os.close(descriptor)
