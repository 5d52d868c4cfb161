"""Noisy targets, many rows and few centres: the error of several estimators for the same budget.

    OPENBLAS_NUM_THREADS=1 python benchmarks/small_budgets.py [--rows 20000] [--budget 200]

There are five features. f has variance 1, and the noise of the targets has variance 1. The rows are
learned once, in blocks of 1000, by `partial_fit`. The error is the mean squared distance from f on
5000 other rows, without noise, divided by the variance of f.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from parsimon import (
    SOGSVR,
    KNLMSRegressor,
    KRLSRegressor,
    MixtureRegressor,
    POLKRegressor,
)

BLOCK = 1000


def function(X):
    """Return f at the rows of X. Its variance is about 1 for standard normal X."""
    wave = np.sin(2 * X[:, 0]) * X[:, 1]
    return 0.9 * wave + 0.5 * np.abs(X[:, 2]) + 0.4 * X[:, 3] * np.tanh(X[:, 4]) + 0.5 * X[:, 3]


def models(budget):
    """Yield a name and an estimator for each row of the table."""
    for make in (KRLSRegressor, POLKRegressor, SOGSVR, KNLMSRegressor):
        yield f"{make.__name__}(budget={budget})", make(budget=budget)
    for size in (budget, 1000, 2000):
        yield f"MixtureRegressor(budget={size})", MixtureRegressor(budget=size)


def measure(model, X, y, new, truth):
    """Return the error relative to the variance of f, and microseconds per row of learning."""
    started = time.process_time()
    for first in range(0, len(y), BLOCK):
        model.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK])
    spent = time.process_time() - started
    options = {"lagged": False} if isinstance(model, MixtureRegressor) else {}
    error = np.square(model.predict(new, **options) - truth).mean() / truth.var()
    return error, 1e6 * spent / len(y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()

    found = {}
    for seed in range(options.seeds):
        rng = np.random.default_rng(seed)
        X, new = rng.normal(size=(options.rows, 5)), rng.normal(size=(5000, 5))
        y, truth = function(X) + rng.normal(size=options.rows), function(new)
        for name, model in models(options.budget):
            found.setdefault(name, []).append(measure(model, X, y, new, truth))
    print(f"| model, {options.rows:,} rows | error / variance of f | microseconds per row |")
    print("|---|---|---|")
    for name, runs in found.items():
        error, spent = np.mean(runs, axis=0)
        print(f"| `{name}` | {error:.3f} | {spent:.0f} |")


if __name__ == "__main__":
    main()
