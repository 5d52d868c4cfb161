"""KNLMS: what a sample costs, beside a bare C++ loop and NumPy, in one run on one core. Writes benchmarks/RESULTS.md."""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import parsimon
from parsimon import KNLMSRegressor, _core

HERE = Path(__file__).parent
GAMMA, STEP, COHERENCE = 0.1, 0.1, 0.5


def bare_loop(folder):
    """Build the bare loop with the machine's compiler; None if there is none."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    library = Path(folder) / "bare_loop.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-std=c++20", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(HERE / "bare_loop.cpp"), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).bare_loop
    pointer = ctypes.POINTER(ctypes.c_double)
    function.argtypes = [pointer] * 5 + [ctypes.c_size_t] * 3 + [ctypes.c_double] * 2
    function.restype = ctypes.c_double
    return function


def numpy_knlms(centres, w, X, y):
    for x, target in zip(X, y, strict=True):
        h = np.exp(-GAMMA * ((centres - x) ** 2).sum(axis=1))
        error = target - h @ w
        if h.max() <= COHERENCE:
            raise AssertionError("the stream was made so that nothing is admitted")
        w += STEP / (h @ h) * error * h


def filled(m, d, rng):
    """A model with exactly m centres, and a stream from which it admits no more."""
    model = KNLMSRegressor(gamma=GAMMA, step_size=STEP, coherence=COHERENCE)
    while not hasattr(model, "_learner") or model.n_centers_ < m:
        model.learn_one(rng.normal(size=d) * 1.5, rng.normal())
    n = 200_000 // m + 2000
    X = model.centers_[rng.integers(m, size=n)] + 0.1 * rng.normal(size=(n, d))
    return model, np.ascontiguousarray(X), np.sin(X[:, 0])


def best(function, repeats):
    """Seconds of the fastest of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(m, d, bare, repeats):
    rng = np.random.default_rng(m + d)
    model, X, y = filled(m, d, rng)
    n, Y = len(X), np.ascontiguousarray(y[:, None])
    learner, rows = model._learner, list(X)
    result = {"m": m, "d": d}
    centres, w, h = np.ascontiguousarray(model.centers_.T), model.weights_.copy(), np.empty(m)
    few = max(200, n // 50)
    for _ in range(repeats):  # interleaved, so that a noisy moment of the machine hits all alike
        tasks = {
            "block": (lambda: learner.learn(X, Y), n),
            "partial_fit": (lambda: model.partial_fit(X, y), n),
            "one": (
                lambda: [model.learn_one(x, t) for x, t in zip(rows[:5000], y[:5000].tolist(), strict=False)],
                min(n, 5000),
            ),
            "numpy": (lambda: numpy_knlms(model.centers_, model.weights_.copy(), X[:few], y[:few]), few),
        }
        if bare is not None:
            arrays = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (centres, w, h, X, y)]
            tasks["bare"] = (lambda arrays=arrays: bare(*arrays, n, m, d, GAMMA, 1e-3), n)
        for name, (task, count) in tasks.items():
            result[name] = min(result.get(name, np.inf), best(task, 3) / count * 1e6)
    assert model.n_centers_ == m
    return result


def table(results):
    header = [
        "m",
        "d",
        "in a block",
        "bare C++ loop",
        "block / bare",
        "NumPy",
        "NumPy / block",
        "`learn_one`",
        "`learn_one` - block",
    ]
    lines = ["| " + " | ".join(header) + " |", "|" + "---:|" * len(header)]
    for r in results:
        bare = r.get("bare")
        cells = [
            f"{r['m']}",
            f"{r['d']}",
            f"{r['block']:.2f}",
            f"{bare:.2f}" if bare else "no compiler",
            f"{r['block'] / bare:.2f}" if bare else "",
            f"{r['numpy']:.1f}",
            f"{r['numpy'] / r['block']:.0f}",
            f"{r['one']:.2f}",
            f"{r['one'] - r['block']:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test: one repeat, nothing written")
    quick = parser.parse_args().quick
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        bare = bare_loop(folder)
        results = []
        for m, d in [(100, 10), (1000, 10), (100, 100), (1000, 100)]:
            print(f"m = {m}, d = {d} ...", flush=True)
            results.append(measure(m, d, bare, 1 if quick else 7))
    text = f"""# Benchmarks

Written by `make bench`; run it again for your machine.

## KNLMS: microseconds a sample

The dictionary holds m centres and admits no more (Gaussian kernel, d features). One core; the best of {1 if quick else 7} x 3 runs, taken in turn. The bare loop evaluates the kernel row, a dot product and an axpy and nothing else,
compiled with `-O3 -march=native -ffast-math`; NumPy is KNLMS in plain array code.

{table(results)}

{processor()}, core loops `{_core.instruction_set()}`, parsimon {parsimon.__version__}, NumPy {np.__version__}, Python {platform.python_version()}.
"""
    print(text)
    if not quick:
        (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
