"""Files under fire: ``make soak``.

100,000 mutated model files, of every kind that there is: each is refused with `ModelFileError` or
holds the model as it was. 5,000 files and more in which something is forged under a right digest
(`tests/forgeries.py`): each is refused, or holds a model that learns 100 more samples and is finite
then. Loading takes at most 16 times the file's size and 64 MB, and all of it 2 seconds of the
processor for each file.

And 200 processes that learn and store after every block, killed at random moments: after each, the
file on disk loads, and the run that goes on from it ends bit-identical to one that was never
interrupted.
"""

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import forgeries
import numpy as np
from test_state import mutations

import parsimon
from parsimon import persistence

MUTATIONS, FORGERIES, KILLS, BLOCK, BLOCKS = 100_000, 5_000, 200, 20, 600
SLOWEST = 2.0  # seconds

LEARN = """
import sys, numpy as np, parsimon
path, data = sys.argv[1], np.load(sys.argv[2])
model = parsimon.load(path)
while model.n_samples_seen_ < len(data["X"]):
    rows = slice(model.n_samples_seen_, model.n_samples_seen_ + int(sys.argv[3]))
    model.partial_fit(data["X"][rows], data["y"][rows]).save(path)
"""


class Tally:
    """What came of files: how many were refused, the slowest, the most memory beyond 16 times the
    file, failures.
    """

    def __init__(self):
        self.files = self.refused = self.failures = self.most = 0
        self.slowest = 0.0

    def take(self, kind, what, data):
        """Load a file and go on with it."""
        self.files += 1
        try:
            refused, seconds, taken = forgeries.check(data)
        except AssertionError as error:
            self.failures += 1
            print("FAILED:", kind, what, error, flush=True)
            return False
        beyond = taken - forgeries.TIMES * len(data)
        if seconds > SLOWEST or beyond > forgeries.BESIDES:
            self.failures += 1
            print(
                f"FAILED: {kind} {what}: {seconds:.1f} s, {beyond >> 20} MB beyond 16 times the "
                "file",
                flush=True,
            )
        self.refused += refused
        self.slowest, self.most = max(self.slowest, seconds), max(self.most, beyond)
        return not refused

    def __str__(self):
        return (
            f"{self.files} files, {self.refused} refused, {self.failures} failures, slowest "
            f"{self.slowest:.3f} s, "
            f"at most {max(self.most, 0) / 2**20:.1f} MB beyond 16 times the file"
        )


def mutated(models):
    """Files that are changed somewhere: the digest tells."""
    tally = Tally()
    for i, (kind, data) in enumerate(models):
        for bad in mutations(data, MUTATIONS // len(models) + 1, i):
            if (
                tally.take(kind, "mutated", bad)
                and persistence.dumps(persistence.loads(bad)) != data
            ):
                tally.failures += 1
                print("FAILED:", kind, "another model under a right digest")
        print(f"mutated {kind}: {tally}", flush=True)
    return tally.failures


def forged(models):
    """Files with a right digest over what someone changed: each thing on the list, then things
    drawn at random.
    """
    tally = Tally()
    for i, (kind, data) in enumerate(models):
        drawn = forgeries.random_forgeries(data, np.random.default_rng(i))
        named = ((what, make()) for what, make in forgeries.named_forgeries(data))
        for what, bad in itertools.chain(
            named, itertools.islice(drawn, FORGERIES // len(models) + 1)
        ):
            tally.take(kind, what, bad)
        print(f"forged {kind}: {tally}", flush=True)
    return tally.failures


def killed(folder):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(BLOCK * BLOCKS, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    np.savez(folder / "data.npz", X=X, y=y)
    path, failures, finished = folder / "model.parsimon", 0, 0
    make = {"gamma": 1.0, "tolerance": 0.001, "forgetting": 0.999}
    straight = parsimon.published(parsimon.KRLSRegressor, **make)
    for first in range(0, len(X), BLOCK):
        straight.partial_fit(X[first : first + BLOCK], y[first : first + BLOCK])
    parsimon.published(parsimon.KRLSRegressor, **make).partial_fit(X[:BLOCK], y[:BLOCK]).save(path)
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
            print(
                f"{kill + 1} kills, {model.n_samples_seen_} samples learned, {finished} runs "
                "finished",
                flush=True,
            )
        if model.n_samples_seen_ >= len(X):
            finished += 1
            failures += not np.array_equal(model.weights_, straight.weights_)
            # Once more from the beginning
            parsimon.published(parsimon.KRLSRegressor, **make).partial_fit(
                X[:BLOCK], y[:BLOCK]
            ).save(path)
    print(
        f"{KILLS} kills, {finished} runs finished, {failures} of them other than one never "
        "interrupted"
    )
    return failures + (finished == 0)


def main():
    models = [
        (type(model).__name__, persistence.dumps(model)) for model in forgeries.learned_models()
    ]
    failures = forged(models) + mutated(models)
    with tempfile.TemporaryDirectory() as folder:
        failures += killed(Path(folder))
    return failures


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
