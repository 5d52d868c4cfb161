"""Learning MNIST with POLK in one thread and in two: seconds by the clock, in turn.

    OPENBLAS_NUM_THREADS=1 python benchmarks/polk_threads.py --data-dir /path

The benchmarks run on one processor. So `measure` starts this program in a process of its own, which
may use all. Beside the times is what two threads gain with independent work: it is the most that
the machine allows, 2 with two free processors and less if others use them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from machine import thread_gain

from parsimon import POLKClassifier, published
from parsimon.datasets import load_mnist
from parsimon.experiments.koppel_2019.common import first, pass_over
from parsimon.experiments.koppel_2019.mnist import ALPHA, SETTINGS

ROUNDS = 5
ROWS = 60_000
ERROR = "2.3 %"  # about the test error of both settings
PLAIN, MERGING = "from 4000", "merging"


def settings():
    """Return {name: (parameters, the budget it begins with)} of POLK with 2100 centres."""
    options, begin = SETTINGS["2100"][1:]
    merging = {**options, "average": 42_000, "parsimony": 0.0, "maintenance": "merge"}
    return {PLAIN: (options, begin), MERGING: (merging, None)}


def seconds(data, options, begin, n_jobs):
    """Return the seconds of one pass, and the model."""
    options = {"shuffle": False, "batch_size": 32, "alpha": ALPHA, **options}
    model = published(POLKClassifier, **options, n_jobs=n_jobs)
    start = time.perf_counter()
    for _ in pass_over(model, data, begin_with=begin):
        pass
    return time.perf_counter() - start, model


def run(data_dir, rounds=ROUNDS, rows=ROWS):
    """Return {setting: {"1": seconds of the rounds, "2": ..., "machine": ..., "error": ...}}."""
    data, found = first(load_mnist(data_dir), rows), {}
    for name, (options, begin) in settings().items():
        taken, bits = {"1": [], "2": [], "machine": []}, set()
        for _ in range(rounds):
            taken["machine"].append(thread_gain())
            for n_jobs in (1, 2):
                spent, model = seconds(data, options, begin, n_jobs)
                taken[str(n_jobs)].append(spent)
                bits.add(model.weights_.tobytes() + model.centers_.tobytes())
        if len(bits) > 1:
            raise AssertionError("the number of threads changed the model")
        error = float(np.mean(model.predict(data.X_test) != data.y_test))
        found[name] = {**taken, "error": error}
    return found


def speedup(taken):
    """Return the best time with one thread over the best with two."""
    return min(taken["1"]) / min(taken["2"])


def describe(taken):
    """Return times, error and the gain of independent work, as one line."""
    return (
        f"{min(taken['1']):.2f} s with one thread, {min(taken['2']):.2f} s with two, "
        f"test error {100 * taken['error']:.2f} %; independent work in two threads gains "
        f"{max(taken['machine']):.2f}x"
    )


def spread():
    """Allow this process all processors."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))


def measure(data_dir, rounds, rows):
    """Return what `run` returns, measured by a process that may use all processors."""
    line = [sys.executable, str(Path(__file__)), "--data-dir", str(data_dir), "--json"]
    line += ["--rounds", str(rounds), "--rows", str(rows)]
    free = spread if hasattr(os, "sched_setaffinity") else None
    done = subprocess.run(line, check=True, capture_output=True, text=True, preexec_fn=free)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = run(options.data_dir, options.rounds, options.rows)
    if options.json:
        print(json.dumps(found))
        return
    for name, taken in found.items():
        print(f"POLK, 2100 centres, {name}: {speedup(taken):.2f}x ({describe(taken)})")


if __name__ == "__main__":
    main()
