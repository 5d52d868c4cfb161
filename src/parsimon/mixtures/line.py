"""Work on the pieces of a block, in threads that pass pieces on as in an assembly line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from parsimon._interrupts import HeldBack

__all__ = ["run_line"]

Work = Callable[[int], None]


def run_line(
    n: int, prepare: Work, each: Sequence[Work], combine: Work, threads: int, depth: int
) -> None:
    """For each piece k of n, call prepare(k), then the functions of `each`, then combine(k).

    Every function gets the pieces in order, one at a time. So the result does not depend on the
    number of threads. Threads wait less if the first functions of `each` take the most time. At
    most `depth` pieces are prepared and not combined.

    An interrupt (Ctrl-C) takes effect when all prepared pieces are combined. An error of a function
    ends the work, and is raised.

    >>> found = []
    >>> run_line(2, lambda k: found.append(k), [lambda k: found.append(-k)], found.append, 1, 1)
    >>> found
    [0, 0, 0, 1, -1, 1]
    """
    line = _Line(n, [prepare, *each, combine], depth)
    workers: list[threading.Thread] = []
    interrupt: BaseException | None = None
    with HeldBack() as held:
        while not line.is_over():
            try:
                if held.raises or interrupt is not None:
                    line.stop()
                elif len(workers) < threads:
                    threads = line.begin(workers, threads)
                    continue
                line.going.acquire(timeout=0.1)  # so that an interrupt is heard soon
            except BaseException as error:  # from a handler of another signal
                interrupt = error
        for worker in workers:
            worker.join()
        failure, line.error = line.error, None
        try:
            if failure is not None:
                raise failure from interrupt
            if interrupt is not None:
                raise interrupt
        finally:
            del failure, interrupt  # their tracebacks refer to this frame


class _Line:
    """Which function has done how many pieces. The first prepares, and the last combines.

    Handlers of signals can raise errors in the thread that waits for the line, anywhere. So it does
    not use `changed`, which could stay locked.
    """

    def __init__(self, n: int, functions: Sequence[Work], depth: int) -> None:
        self.n, self.functions, self.depth = n, functions, depth
        self.done = [0] * len(functions)
        self.busy = [False] * len(functions)
        self.error: BaseException | None = None
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.going = threading.Lock()  # held until the work is over
        self.going.acquire()

    def begin(self, workers: list[threading.Thread], threads: int) -> int:
        """Begin a further thread, and return how many there shall be."""
        worker = threading.Thread(target=self.work, name="parsimon-line")
        try:
            worker.start()
        except RuntimeError:  # the system has no further thread
            if not workers:
                raise
            return len(workers)
        workers.append(worker)
        return threads

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
                if error is not None:
                    self.error = self.error or error
                    self.n = 0
                if self._is_over() and self.going.locked():
                    self.going.release()
                self.changed.notify_all()

    def stop(self) -> None:
        """Prepare no further pieces."""
        # Threads that wait need not be told. Another is busy, and tells them when it is done.
        with self.lock:
            self.n = min(self.n, self.done[0] + self.busy[0])

    def is_over(self) -> bool:
        """Return whether no thread does anything, or ever will."""
        with self.lock:
            return self._is_over()

    def _is_over(self) -> bool:
        return self.done[-1] >= self.n and not any(self.busy)

    def _take(self) -> int | None:
        """Wait for a function that is ready, and return its number. None if all is done."""
        with self.changed:
            while self.done[-1] < self.n:
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
