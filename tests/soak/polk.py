"""A million samples of drifting classes through a POLK classifier with a budget: ``make soak``.

The mixture changes every 50,000 samples, and now and then the input is confined to a corner or
constant. After each segment everything must be finite, the factor's drift at most 1e-6, the
resident memory flat once the dictionary is full, and rebuilds few.
"""

import sys
import time
from pathlib import Path

import numpy as np

from parsimon import POLKClassifier, published
from parsimon.datasets import make_multidist

SEGMENT, SEGMENTS, BUDGET = 50_000, 20, 150


def resident():
    """Return the bytes of this process that are in memory; 0 where that cannot be known."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


def segment(i):
    X, y = make_multidist(SEGMENT, random_state=i // 2)
    if i % 5 == 3:
        X = 0.1 * X + 1.0  # a corner
    if i % 10 == 8:
        X[SEGMENT // 2 :] = 0.3  # nothing new for long
    return X, y


def run(batch_size):
    model = published(
        POLKClassifier,
        gamma=2.0,
        step_size=1.0,
        parsimony=1e-3,
        budget=BUDGET,
        batch_size=batch_size,
    )
    failures, resident_bytes, model_bytes = 0, [], set()
    print(f"\nPOLK, batches of {batch_size}, budget {BUDGET}")
    print("segment  centres  error   drift    rebuilds  resident (MB)  model (kB)  us/sample")
    for i in range(SEGMENTS):
        X, y = segment(i)
        start = time.perf_counter()
        errors = model.predict_then_learn(X, y) != y
        elapsed = time.perf_counter() - start
        drift, memory = model._learner.drift(), resident()
        resident_bytes.append(memory)
        model_bytes.add(model.nbytes_)
        checks = {
            "finite": np.isfinite(model.weights_).all(),
            "drift": drift <= 1e-6,
            "budget": model.n_centers_ <= BUDGET,
            "memory": len(model_bytes) == 1,
        }
        bad = [name for name, good in checks.items() if not good]
        failures += len(bad)
        print(
            f"{i:7d}  {model.n_centers_:7d}  {errors[-10_000:].mean():.3f}  {drift:.1e}  "
            f"{model._learner.rebuilds:8d}  {memory / 2**20:13.1f}  {model.nbytes_ / 1024:10.0f}  "
            f"{elapsed / SEGMENT * 1e6:9.1f}  {'FAILED: ' + ', '.join(bad) if bad else ''}",
            flush=True,
        )
    print(f"{model.n_samples_seen_:,} samples, {model._learner.rebuilds} rebuilds of the factor")
    # A segment's own arrays come and go: what may not be is a trend.
    growth = np.mean(resident_bytes[-8:]) - np.mean(resident_bytes[2:10])
    print(
        "resident memory, last eight segments against the third to the tenth: "
        f"{growth / 2**20:+.2f} MB"
    )
    return failures + (model._learner.rebuilds > 100) + (growth > 2**21)


if __name__ == "__main__":
    failed = sum(run(batch_size) for batch_size in (1, 32))
    print("all held" if not failed else f"{failed} checks failed")
    sys.exit(bool(failed))
