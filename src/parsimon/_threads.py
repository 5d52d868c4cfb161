"""Work cut into pieces for several threads.

What the pieces are does not depend on how many threads there are, and so no bit of the result does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from parsimon._parts import whole

__all__ = ["count", "each"]

#: Threads that may be asked for.
MOST = 1024


def count(n_jobs: int | None) -> int:
    """Return how many threads are meant: None is 1, -1 is one for each core that this process may
    use, -2 one less.
    """
    if n_jobs is None:
        return 1
    n = whole("n_jobs", n_jobs, at_least=-MOST, at_most=MOST)
    if n == 0:
        raise ValueError("n_jobs must be a number of threads, or -1 for one for each core, got 0")
    return n if n > 0 else max(_cores() + 1 + n, 1)


def each(work: Callable[[int, int], Any], n: int, length: int, threads: int) -> None:
    """Call work(first, last) for the pieces of 0..n-1, `length` each but for the last.

    They must not depend on each other.
    """
    firsts = range(0, n, length)
    if threads == 1 or len(firsts) < 2:
        for first in firsts:
            work(first, min(first + length, n))
        return
    with ThreadPoolExecutor(min(threads, len(firsts))) as pool:
        # All are waited for, and the first error is raised.
        list(pool.map(lambda first: work(first, min(first + length, n)), firsts))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
