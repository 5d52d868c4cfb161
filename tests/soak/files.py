"""Files under fire: ``make soak``.

100,000 mutated model files: each is refused with `ModelFileError` or holds a sound model, within a second and ten times the file's size in memory. And 200 processes that learn and store after every block, killed at random moments: after each, the
file on disk loads, and the run that goes on from it ends bit-identical to one that was never interrupted.
"""

import contextlib
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
from test_state import MODELS, assert_same, forged, learn, look, mutations, spoil, stream

import parsimon

MUTATIONS, KILLS, BLOCK, BLOCKS = 100_000, 200, 20, 600
ALLOWANCE = 1 << 20  # bytes that the interpreter may take for itself

LEARN = """
import sys, numpy as np, parsimon
path, data = sys.argv[1], np.load(sys.argv[2])
model = parsimon.load(path)
while model.n_samples_seen_ < len(data["X"]):
    rows = slice(model.n_samples_seen_, model.n_samples_seen_ + int(sys.argv[3]))
    model.partial_fit(data["X"][rows], data["y"][rows]).save(path)
"""


def resident(which):
    """Bytes of memory that this process holds ("VmRSS") or held at most since `forget` ("VmHWM"); 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return 1024 * int(status.split(which + ":")[1].split()[0])


def forget():
    """Let the system measure the most memory held from now on."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def spoiled_files(path, model, n, seed):
    """Yield n files with a right digest over a state in which one thing is wrong."""
    state = {k: v for k, v in model.__getstate__().items() if k != "_sklearn_version"}
    rng = np.random.default_rng(seed)
    while n > 0:
        try:
            forged(path, spoil(state, rng), type(model).__name__)
        except (TypeError, ValueError, OverflowError):
            continue  # not even a file
        n -= 1
        yield path.read_bytes()


def mutated(folder):
    """Half of the files are changed somewhere, half have one wrong thing in the state and a right digest."""
    path, refused, slowest, failures, largest = folder / "model.parsimon", 0, 0.0, 0, 0.0
    each = MUTATIONS // (2 * len(MODELS)) + 1
    for i, model in enumerate(MODELS):
        X, y = stream(model)
        learn(model, X, y).save(path)
        seen, whole = look(model, X), path.read_bytes()
        for forgery, files in ((False, mutations(whole, each, i)), (True, spoiled_files(path, model, each, i))):
            for data in files:
                path.write_bytes(data)
                forget()
                start, before = time.perf_counter(), resident("VmRSS")
                try:
                    again = parsimon.load(path)
                except parsimon.ModelFileError:
                    again = None
                    refused += 1
                except Exception as error:
                    failures += 1
                    print("FAILED:", type(model).__name__, repr(error))
                    continue
                slowest = max(slowest, time.perf_counter() - start)
                largest = max(largest, (resident("VmHWM") - before - ALLOWANCE) / max(len(data), 1))
                if again is None:
                    continue
                if not forgery:
                    assert_same(look(again, X), seen)
                elif again.__sklearn_is_fitted__():
                    held = [
                        getattr(again, name) for name in ("centers_", "weights_", "components_") if hasattr(again, name)
                    ]
                    failures += not all(np.isfinite(values).all() for values in held)
        print(
            f"{type(model).__name__}: {2 * each} files, {refused} refused so far, slowest {slowest:.3f} s, "
            f"most memory {largest:.1f} times the file beyond {ALLOWANCE >> 10} KB",
            flush=True,
        )
    return failures + (slowest > 1.0) + (largest > 10.0)


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
