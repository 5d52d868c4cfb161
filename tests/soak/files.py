"""Files under fire: ``make soak``.

100,000 mutated model files: each is refused with `ModelFileError` or holds the model it was, within a second. And 200 processes that learn and store after every block, killed at random moments: after each, the
file on disk loads, and the run that goes on from it ends bit-identical to one that was never interrupted.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from test_state import MODELS, assert_same, learn, look, mutations, stream

import parsimon

MUTATIONS, KILLS, BLOCK, BLOCKS = 100_000, 200, 20, 600

LEARN = """
import sys, numpy as np, parsimon
path, data = sys.argv[1], np.load(sys.argv[2])
model = parsimon.load(path)
while model.n_samples_seen_ < len(data["X"]):
    rows = slice(model.n_samples_seen_, model.n_samples_seen_ + int(sys.argv[3]))
    model.partial_fit(data["X"][rows], data["y"][rows]).save(path)
"""


def mutated(folder):
    path, refused, slowest, failures = folder / "model.parsimon", 0, 0.0, 0
    per_model = MUTATIONS // len(MODELS) + 1
    for i, model in enumerate(MODELS):
        X, y = stream(model)
        learn(model, X, y).save(path)
        seen = look(model, X)
        for data in mutations(path.read_bytes(), per_model, i):
            path.write_bytes(data)
            start = time.perf_counter()
            try:
                again = parsimon.load(path)
            except parsimon.ModelFileError:
                refused += 1
            except Exception as error:
                failures += 1
                print("FAILED:", type(model).__name__, repr(error))
            else:
                assert_same(look(again, X), seen)
            slowest = max(slowest, time.perf_counter() - start)
        print(
            f"{type(model).__name__}: {per_model} mutated files, {refused} refused so far, slowest {slowest:.3f} s",
            flush=True,
        )
    return failures + (slowest > 1.0)


def killed(folder):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(BLOCK * BLOCKS, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    np.savez(folder / "data.npz", X=X, y=y)
    path, failures, finished = folder / "model.parsimon", 0, 0
    make = {"gamma": 1.0, "tolerance": 0.001, "forgetting": 0.999}
    straight = parsimon.KRLSRegressor(**make)
    for first in range(0, len(X), BLOCK):
        straight.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK])
    parsimon.KRLSRegressor(**make).partial_fit(X[:BLOCK], y[:BLOCK]).save(path)
    command = [sys.executable, "-c", LEARN, str(path), str(folder / "data.npz"), str(BLOCK)]
    for kill in range(KILLS + 1):
        before = path.stat().st_mtime_ns
        process = subprocess.Popen(command)
        while kill < KILLS and process.poll() is None and path.stat().st_mtime_ns == before:
            time.sleep(0.005)  # until it has begun to store
        try:
            process.wait(None if kill == KILLS else 0.5 * rng.random())  # at last, to the end
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        model = parsimon.load(path)
        if kill % 20 == 19:
            print(f"{kill + 1} kills, {model.n_samples_seen_} samples learned, {finished} runs finished", flush=True)
        if model.n_samples_seen_ >= len(X):
            finished += 1
            failures += not np.array_equal(model.weights_, straight.weights_)
            parsimon.KRLSRegressor(**make).partial_fit(X[:BLOCK], y[:BLOCK]).save(path)  # once more from the beginning
    print(f"{KILLS} kills, {finished} runs finished, {failures} of them other than one never interrupted")
    return failures + (finished == 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        failures = killed(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        failures += mutated(Path(folder))
    return failures


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
