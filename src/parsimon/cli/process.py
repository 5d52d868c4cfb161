"""The process that a command runs in: its standard output, and the signals that end it."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from parsimon._files import naming

__all__ = ["STDOUT", "StandardOutput", "discard_output", "exit_on_signals"]

#: The name of standard output in errors.
STDOUT = "standard output"


class StandardOutput:
    """Standard output whose errors name it. Everything else is done by the file itself."""

    def __init__(self, file: Any) -> None:
        self._file = file  # None if the process was started without one

    def write(self, text: str) -> int:
        """Write text."""
        with naming(STDOUT):
            if self._file is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return int(self._file.write(text))

    def flush(self) -> None:
        """Write buffered text."""
        with naming(STDOUT):
            if self._file is not None:
                self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def discard_output() -> None:
    """Discard buffered output, so that the interpreter raises no second error when it ends."""
    with suppress(OSError, AttributeError):  # it may have no descriptor
        descriptor = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP raise `SystemExit`, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():  # only it gets signals
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    # A signal that is ignored stays ignored, as nohup asks.
    ours = [number for number, handler in before.items() if handler == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
