"""Ctrl-C and SIGTERM, held back until it is safe to stop."""

from __future__ import annotations

import errno
import os
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Self

from parsimon._interrupts import Patient

__all__ = ["Interrupt"]

#: Seconds between looks at a FIFO that has no reader.
PAUSE = 0.1
#: Signals within this many seconds count as one.
TOGETHER = 1.0


class Interrupt(Patient):
    """Holds Ctrl-C and SIGTERM back within a ``with`` block.

    A second signal is not held back, unless it comes within `TOGETHER` seconds: some programs send
    one signal to a process and to its group.

    Calling the object returns whether a signal came. `number` is that signal, or None.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._came = 0.0  # when
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Return whether a signal came."""
        return self.number is not None

    @property
    def exit_code(self) -> int:
        """The exit code of the process: 0 without a signal."""
        return 0 if self.number is None else 128 + self.number

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._keep)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _keep(self, number: int, _: FrameType | None) -> None:
        now = time.monotonic()
        if self.number is None:
            self.number, self._came = number, now
        elif now - self._came > TOGETHER:
            raise KeyboardInterrupt

    @contextmanager
    def reader(self, path: Path | None) -> Iterator[bool]:
        """Wait until a FIFO has a reader. Give False if a signal came first.

        Within the block the FIFO can be opened without waiting. Other files need no reader.
        """
        if path is None or not (path.exists() and stat.S_ISFIFO(path.stat().st_mode)):
            yield True
            return
        descriptor = self._open_for_writing(path)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _open_for_writing(self, path: Path) -> int | None:
        while True:
            try:
                return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:  # ENXIO: there is no reader
                    raise
            if self():
                return None
            time.sleep(PAUSE)
