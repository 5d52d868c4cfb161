"""Interrupts (Ctrl-C) that wait until a step is done."""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["HeldBack"]


class HeldBack:
    """Let an interrupt wait until the end of a ``with`` block.

    Python interrupts the main thread only, but anywhere. A step that changes several objects would
    leave them apart. In other threads, and if SIGINT has no handler in Python, this does nothing.

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

    def __enter__(self) -> None:
        self._handler: Any = None
        self._came: tuple[Any, ...] | None = None
        if threading.current_thread() is not threading.main_thread():
            return
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            self._handler = handler
            signal.signal(signal.SIGINT, self._keep)

    def __exit__(self, *_: object) -> None:
        if self._handler is None:
            return
        signal.signal(signal.SIGINT, self._handler)
        if self._came is not None:
            self._handler(*self._came)

    def _keep(self, *came: Any) -> None:
        self._came = came
