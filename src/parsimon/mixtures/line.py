"""Work on the pieces of a block, in threads that pass pieces on as in an assembly line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

__all__ = ["run_line"]

Work = Callable[[int], None]


def run_line(
    n: int, prepare: Work, each: Sequence[Work], combine: Work, threads: int, depth: int
) -> None:
    """For each piece k of n, call prepare(k), then the functions of `each`, then combine(k).

    Every function gets the pieces in order, one at a time. So the result does not depend on the
    number of threads. The first functions of `each` should take the most time. At most `depth`
    pieces are prepared and not combined.

    An interrupt (Ctrl-C) takes effect when all prepared pieces are combined. An error of a function
    ends the work, and is raised.

    >>> found = []
    >>> run_line(2, lambda k: found.append(k), [lambda k: found.append(-k)], found.append, 1, 1)
    >>> found
    [0, 0, 0, 1, -1, 1]
    """
    line = _Line(n, [prepare, *each, combine], depth)
    interrupt: BaseException | None = None
    with ThreadPoolExecutor(threads) as pool:
        workers: list[Future[None]] = []
        while True:
            try:
                while len(workers) < threads and interrupt is None:
                    workers.append(pool.submit(line.work))
                while not all(worker.done() for worker in workers):
                    wait(workers, timeout=0.1)  # so that an interrupt is heard soon
                break
            except BaseException as error:
                interrupt = error
                line.stop()
    if line.error is not None:
        raise line.error
    if interrupt is not None:
        raise interrupt


class _Line:
    """Which function has done how many pieces. The first prepares, and the last combines."""

    def __init__(self, n: int, functions: Sequence[Work], depth: int) -> None:
        self.n, self.functions, self.depth = n, functions, depth
        self.done = [0] * len(functions)
        self.busy = [False] * len(functions)
        self.error: BaseException | None = None
        self.changed = threading.Condition()

    def work(self) -> None:
        """Do what is ready, until all is done."""
        while (f := self._take()) is not None:
            error: BaseException | None = None
            try:
                self.functions[f](self.done[f])
            except BaseException as raised:
                error = raised
            with self.changed:
                self.busy[f] = False
                self.done[f] += 1
                self.error = self.error or error
                self.changed.notify_all()

    def stop(self) -> None:
        """Prepare no further pieces."""
        with self.changed:
            self.n = min(self.n, self.done[0] + self.busy[0])
            self.changed.notify_all()

    def _take(self) -> int | None:
        """Wait for a function that is ready, and return its number. None if all is done."""
        with self.changed:
            while self.error is None and self.done[-1] < self.n:
                ready = [f for f in range(len(self.functions)) if self._is_ready(f)]
                if ready:
                    # The first and the last function take little time, and others wait for them.
                    ends = (0, len(self.functions) - 1)
                    f = min(ready, key=lambda f: (f not in ends, self.done[f], f))
                    self.busy[f] = True
                    return f
                self.changed.wait()
        return None

    def _is_ready(self, f: int) -> bool:
        k = self.done[f]
        if self.busy[f] or k >= self.n:
            return False
        if f == 0:
            return k < self.done[-1] + self.depth
        before = self.done[:1] if f < len(self.functions) - 1 else self.done[1:-1]
        return k < min(before)
