"""Interrupts (Ctrl-C) that wait until a step is done."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Self

__all__ = ["HeldBack"]


class HeldBack:
    """Let an interrupt wait until the end of a ``with`` block. `came` says whether there was one.

    Python raises `KeyboardInterrupt` in the main thread, but anywhere. A step that changes several
    objects would leave them apart. In other threads, and if the program handles SIGINT itself,
    this does nothing.

    >>> steps = []
    >>> try:
    ...     with HeldBack():
    ...         signal.raise_signal(signal.SIGINT)
    ...         steps.append("done")
    ... except KeyboardInterrupt:
    ...     steps.append("interrupted")
    >>> steps
    ['done', 'interrupted']
    """

    came = False
    _holds = False

    def __enter__(self) -> Self:
        if (
            signal.getsignal(signal.SIGINT) is signal.default_int_handler
            and threading.current_thread() is threading.main_thread()
        ):
            try:
                signal.signal(signal.SIGINT, self._keep)
                self._holds = True
            except ValueError:  # a thread of a program in another language began first
                pass
        return self

    def __exit__(self, *_: object) -> None:
        if self._holds:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.came:
            raise KeyboardInterrupt

    def _keep(self, _: int, __: FrameType | None) -> None:
        self.came = True
