"""Two threads that train two models, beside one thread that trains both: learning holds no lock of
Python's. And what `n_jobs=2` brings to predictions and merges.

    python benchmarks/threads.py

Prints tables of the best of five; the ratio of the two times should be at most 0.65 where there are
two free cores.
"""

from __future__ import annotations

import copy
import os

# Before NumPy is loaded: a thread for each model, no more
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from common import markdown, processor, seconds

import parsimon

REPEATS, BAR = 5, 0.65
#: Each learns for some tenths of a second.
TASKS = [
    (parsimon.published(parsimon.KNLMSRegressor, gamma=0.1, coherence=0.5), 20_000),
    (parsimon.published(parsimon.KRLSRegressor, gamma=0.1, tolerance=1e-3, budget=200), 8_000),
    (parsimon.published(parsimon.SPLRegressor, gamma=0.1, tolerance=0.1, budget=200), 8_000),
    (parsimon.published(parsimon.SOGSVR, gamma=0.1, budget=200), 8_000),
    (parsimon.published(parsimon.POLKRegressor, gamma=0.1, budget=200), 8_000),
    (
        parsimon.published(
            parsimon.POLKClassifier, gamma=0.1, batch_size=32, step_size=6.0, budget=200
        ),
        8_000,
    ),
    (parsimon.published(parsimon.BSGDClassifier, gamma=0.1, budget=200), 8_000),
    (parsimon.KernelDictionaryLearning(20, gamma=0.1, random_state=0), 3_000),
]


def ratio(model, X, y):
    """The best times of one thread after the other and of both at once."""
    with ThreadPoolExecutor(2) as pool:
        best = {"in turn": np.inf, "together": np.inf}
        for _ in range(REPEATS):  # in turn, so that a noisy moment of the machine hits both alike
            pairs = {name: [copy.deepcopy(model), copy.deepcopy(model)] for name in best}
            for name, run in (("in turn", map), ("together", pool.map)):
                taken = seconds(
                    lambda run=run, pair=pairs[name]: list(run(lambda m: m.partial_fit(X, y), pair))
                )
                best[name] = min(best[name], taken)
    return best


def shared():
    """Rows of what one model does with one thread and with two."""
    rng, m = np.random.default_rng(0), 1500
    model = parsimon.published(
        parsimon.POLKRegressor, gamma=0.01, budget=m, parsimony=0.0, batch_size=32
    )
    parts = [
        copy.deepcopy(model).partial_fit(rng.normal(size=(m, 100)), rng.normal(size=m))
        for _ in range(2)
    ]
    X = rng.normal(size=(20_000, 100))
    for name, run in (
        (f"predict, {len(X):,} rows, {m} centres", lambda n: parts[0].predict(X, n_jobs=n)),
        (f"merge, {2 * m} centres to {m}", lambda n: parsimon.merge(parts, n_jobs=n)),
    ):
        one, two = (
            min(seconds(lambda n=n, run=run: run(n)) for _ in range(REPEATS)) for n in (1, 2)
        )
        yield [
            name,
            f"{one:.3f}",
            f"{two:.3f}",
            f"{two / one:.2f}",
            "yes" if two <= BAR * one else "no",
        ]


def main():
    rows = []
    for model, n in TASKS:
        X = np.random.default_rng(0).normal(size=(n, 10))
        y = np.sin(X[:, 0]) * X[:, 1]
        best = ratio(model, X, y > 0 if "Classifier" in type(model).__name__ else y)
        share = best["together"] / best["in turn"]
        rows.append(
            [
                type(model).__name__,
                f"{best['in turn']:.3f}",
                f"{best['together']:.3f}",
                f"{share:.2f}",
                "yes" if share <= BAR else "no",
            ]
        )
        print(f"{rows[-1][0]}: {rows[-1][3]}", flush=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"\n{processor()}, {cores} cores\n")
    print(
        markdown(
            ["model", "one after the other, s", "two threads, s", "ratio", f"at most {BAR}"], rows
        )
    )
    print(
        "\n"
        + markdown(["", "n_jobs=1, s", "n_jobs=2, s", "ratio", f"at most {BAR}"], list(shared()))
    )


if __name__ == "__main__":
    main()
