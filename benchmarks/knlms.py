"""KNLMS: what a sample costs, beside a bare C++ loop and NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
from common import build, doubles, markdown, seconds

from parsimon import KNLMSRegressor

GAMMA, STEP, COHERENCE = 0.1, 0.1, 0.5


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
    model.learn_one(rng.normal(size=d), 0.0)
    while model.n_centers_ < m:
        model.learn_one(rng.normal(size=d) * 1.5, rng.normal())
    n = 200_000 // m + 2000
    X = model.centers_[rng.integers(m, size=n)] + 0.1 * rng.normal(size=(n, d))
    return model, np.ascontiguousarray(X), np.sin(X[:, 0])


def measure(m, d, bare, repeats):
    model, X, y = filled(m, d, np.random.default_rng(m + d))
    n, Y, rows, targets = len(X), np.ascontiguousarray(y[:, None]), list(X[:5000]), y[:5000].tolist()
    centres, w, h = np.ascontiguousarray(model.centers_.T), model.weights_.copy(), np.empty(m)
    few = max(200, n // 50)
    tasks = {
        "block": (lambda: model._learner.learn(X, Y), n),
        "one": (lambda: [model.learn_one(x, t) for x, t in zip(rows, targets, strict=True)], len(rows)),
        "numpy": (lambda: numpy_knlms(model.centers_, model.weights_.copy(), X[:few], y[:few]), few),
    }
    if bare is not None:
        arrays = [doubles(a) for a in (centres, w, h, X, y)]
        tasks["bare"] = (lambda: bare(*arrays, n, m, d, GAMMA, 1e-3), n)
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(3 * repeats):  # in turn, so that a noisy moment of the machine hits all alike
        for name, (task, count) in tasks.items():
            best[name] = min(best[name], seconds(task) / count * 1e6)
    assert model.n_centers_ == m
    return best


def section(folder, repeats):
    library, reason = build("bare_loop.cpp", folder, "-ffast-math", "-lm")
    bare = None
    if library is not None:
        bare = library.bare_loop
        bare.argtypes = [ctypes.POINTER(ctypes.c_double)] * 5 + [ctypes.c_size_t] * 3 + [ctypes.c_double] * 2
        bare.restype = ctypes.c_double
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
    rows = []
    for m, d in [(100, 10), (1000, 10), (100, 100), (1000, 100)]:
        print(f"KNLMS, m = {m}, d = {d} ...", flush=True)
        r = measure(m, d, bare, repeats)
        against = [f"{r['bare']:.2f}", f"{r['block'] / r['bare']:.2f}"] if bare else [reason, ""]
        rows.append(
            [
                f"{m}",
                f"{d}",
                f"{r['block']:.2f}",
                *against,
                f"{r['numpy']:.1f}",
                f"{r['numpy'] / r['block']:.0f}",
                f"{r['one']:.2f}",
                f"{r['one'] - r['block']:.2f}",
            ]
        )
    return f"""## KNLMS: microseconds a sample

The dictionary holds m centres and admits no more (Gaussian kernel, d features). The best of {3 * repeats} runs, taken in turn. The bare loop evaluates the kernel row, a dot product and an axpy and nothing
else, compiled with `-O3 -march=native -ffast-math`; NumPy is KNLMS in plain array code.

{markdown(header, rows)}
"""
