"""Matrix products with one thread each, so that a merge gives the same bits everywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

__all__ = ["one_thread"]

F = TypeVar("F", bound=Callable[..., Any])


class _OneThread:
    """Limit the BLAS library to one thread per product while any merge is running.

    A product rounds differently with another number of threads. The limit belongs to the process:
    the first running merge sets it, and the last running merge restores it. A limit that another
    thread has set for itself stays. Work for several threads is split into panels by the caller.
    """

    def __init__(self) -> None:
        self._lock, self._running = Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._running == 0:
                self._limits = threadpool_limits(limits=1, user_api="blas")
            self._running += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._running -= 1
            if self._running == 0:
                self._limits.restore_original_limits()


_one_thread = _OneThread()


def one_thread(function: F) -> F:
    """Decorate a function so that its matrix products use one thread each."""

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        with _one_thread:
            return function(*args, **kwargs)

    return limited  # type: ignore[return-value]
