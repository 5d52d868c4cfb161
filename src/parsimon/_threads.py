"""Work cut into pieces for several threads.

The pieces do not depend on the number of threads. So the result is the same for any number, bit for
bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from parsimon._parts import whole

__all__ = ["count", "each"]

#: Maximum number of threads.
MOST = 1024


def count(n_jobs: int | None) -> int:
    """Return the number of threads: None is 1, -1 is one per core, -2 is one less than -1.

    Only the cores that this process may use are counted.
    """
    if n_jobs is None:
        return 1
    n = whole("n_jobs", n_jobs, at_least=-MOST, at_most=MOST)
    if n == 0:
        raise ValueError("n_jobs must be a number of threads, or -1 for one per core, got 0")
    return n if n > 0 else max(_cores() + 1 + n, 1)


def each(work: Callable[[int, int], Any], n: int, length: int, threads: int) -> None:
    """Call work(first, last) for pieces of 0..n-1. Each piece except the last has `length` items.

    The pieces must not depend on each other.
    """
    firsts = range(0, n, length)
    if threads == 1 or len(firsts) < 2:
        for first in firsts:
            work(first, min(first + length, n))
        return
    with ThreadPoolExecutor(min(threads, len(firsts))) as pool:
        # Wait for all, and raise the first error.
        list(pool.map(lambda first: work(first, min(first + length, n)), firsts))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
