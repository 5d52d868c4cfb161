"""What the machine allows, measured with work that has nothing to do with what is judged."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from parsimon import KRLSRegressor, published

__all__ = ["thread_gain"]


def thread_gain():
    """Return how much faster two threads do the same independent work twice than one thread.

    The work is KRLS by itself, so this says nothing about mixtures or POLK. It is the most that the
    machine allows: 2 with two free cores, less if others use them or if they share a core.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 10)), rng.normal(size=1500)

    def work(_):
        published(KRLSRegressor, "laplacian", gamma=0.1, tolerance=0.03, ridge=0.1, budget=300).fit(
            X, y
        )

    taken = []
    for workers in (1, 2):
        with ThreadPoolExecutor(workers) as pool:
            start = time.perf_counter()
            list(pool.map(work, range(2)))
            taken.append(time.perf_counter() - start)
    return taken[0] / taken[1]
