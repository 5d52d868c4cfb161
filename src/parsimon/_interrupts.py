"""Interrupts (Ctrl-C) that wait until a step is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

__all__ = ["HeldBack", "Patient"]


class Patient:
    """An object whose methods, as handlers of SIGINT, wait for a safe moment by themselves."""


class HeldBack(Patient):
    """Let an interrupt wait until the end of a ``with`` block.

    Handlers of signals are called in the main thread, but anywhere. That of Python raises
    `KeyboardInterrupt`. A step that changes several objects would leave them apart. In other
    threads, without a handler in Python, and with a `Patient` one, this does nothing.

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

    _came: tuple[int, FrameType | None] | None = None
    _handler: Callable[[int, FrameType | None], object] | None = None

    @property
    def raises(self) -> bool:
        """Whether the block will end with `KeyboardInterrupt`, so that its work may stop now."""
        return self._came is not None and self._handler is signal.default_int_handler

    def __enter__(self) -> Self:
        handler = signal.getsignal(signal.SIGINT)
        if (
            callable(handler)
            and not isinstance(getattr(handler, "__self__", None), Patient)
            and threading.current_thread() is threading.main_thread()
        ):
            try:
                signal.signal(signal.SIGINT, self._keep)
                self._handler = handler
            except ValueError:  # a thread of a program in another language began first
                pass
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is None:
            return
        signal.signal(signal.SIGINT, self._handler)
        if self._came is not None:
            self._handler(*self._came)

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._came = number, frame
