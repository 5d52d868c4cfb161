"""KNLMS: what a sample costs, beside a bare C++ loop and NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
from common import Bar, Section, build, doubles, markdown, race

from parsimon import KNLMSRegressor, published

GAMMA, STEP, COHERENCE = 0.1, 0.1, 0.5


def numpy_knlms(centres, w, X, y):
    for x, target in zip(X, y, strict=True):
        h = np.exp(-GAMMA * ((centres - x) ** 2).sum(axis=1))
        error = target - h @ w
        if h.max() <= COHERENCE:
            raise AssertionError("the stream was made so that nothing is admitted")
        w += STEP / (h @ h) * error * h


def filled(m, d, rng, kernel="gaussian", gamma=GAMMA):
    """A model with exactly m centres, and a stream from which it admits no more."""
    model = published(KNLMSRegressor, kernel, gamma=gamma, step_size=STEP, coherence=COHERENCE)
    model.learn_one(rng.normal(size=d), 0.0)
    while model.n_centers_ < m:
        model.learn_one(rng.normal(size=d) * 1.5, rng.normal())
    n = 200_000 // m + 2000
    X = model.centers_[rng.integers(m, size=n)] + 0.1 * rng.normal(size=(n, d))
    return model, np.ascontiguousarray(X), np.sin(X[:, 0])


def measure(m, d, bare, rounds):
    model, X, y = filled(m, d, np.random.default_rng(m + d))
    n, Y, rows, targets = (
        len(X),
        np.ascontiguousarray(y[:, None]),
        list(X[:5000]),
        y[:5000].tolist(),
    )
    few = max(200, n // 50)
    plain = model.weights_.copy()
    numpy_knlms(model.centers_, plain, X[:few], y[:few])
    model.partial_fit(X[:few], y[:few])
    difference = float(np.abs(model.weights_ - plain).max())
    centres, w, h = np.ascontiguousarray(model.centers_.T), model.weights_.copy(), np.empty(m)
    tasks = {
        "block": (lambda: model._learner.learn(X, Y), n),
        "one": (
            lambda: [model.learn_one(x, t) for x, t in zip(rows, targets, strict=True)],
            len(rows),
        ),
        "numpy": (lambda: numpy_knlms(model.centers_, plain, X[:few], y[:few]), few),
    }
    if bare is not None:
        arrays = [doubles(a) for a in (centres, w, h, X, y)]
        tasks["bare"] = (lambda: bare(*arrays, n, m, d, GAMMA, 1e-3), n)
    times = race(tasks, rounds)
    assert model.n_centers_ == m
    return times, difference


def section(context):
    library, reason = build("bare_loop.cpp", context.folder, "-ffast-math", "-lm")
    bare = None
    if library is not None:
        bare = library.bare_loop
        bare.argtypes = (
            [ctypes.POINTER(ctypes.c_double)] * 5 + [ctypes.c_size_t] * 3 + [ctypes.c_double] * 2
        )
        bare.restype = ctypes.c_double
    rows, ratios, rounds = [], {}, context.rounds(21)
    for m, d in [(100, 10), (1000, 10), (100, 100), (1000, 100)]:
        context.say(f"m = {m}, d = {d}")
        times, difference = measure(m, d, bare, rounds)
        block, one, plain = (1e6 * times[name].best for name in ("block", "one", "numpy"))
        against = [f"absent: {reason}", ""]
        if bare is not None:
            ratios[m, d] = times["block"].best / times["bare"].best
            against = [f"{1e6 * times['bare'].best:.2f}", f"{ratios[m, d]:.2f}"]
        cells = [
            f"{block:.2f}",
            f"{100 * times['block'].spread:.0f} %",
            *against,
            f"{plain:.1f}",
            f"{plain / block:.0f}",
        ]
        rows.append(
            [f"{m}", f"{d}", *cells, f"{one:.2f}", f"{one - block:.2f}", f"{difference:.0e}"]
        )
    header = [
        "m",
        "d",
        "in a block",
        "spread",
        "bare C++ loop",
        "block / bare",
        "NumPy",
        "NumPy / block",
    ]
    header += ["`learn_one`", "`learn_one` - block", "difference"]
    text = f"""The dictionary has m centres and admits no more (Gaussian kernel, d features). The
bare loop evaluates only the kernel row, a dot product and an axpy. It is compiled with `-O3
-march=native -ffast-math`. NumPy is KNLMS in plain array code. The difference is the largest
difference of a weight from NumPy's, after the same samples. Rounds: {rounds}.

{markdown(header, rows)}
"""
    worst = max(ratios, key=ratios.get, default=None)
    note = "" if worst is None else f"(the worst: m = {worst[0]}, d = {worst[1]})"
    what = "KNLMS: time of a sample over the bare loop's, m = 100 to 1000, d = 10 to 100"
    return Section(
        "KNLMS: microseconds per sample",
        text,
        [Bar(what, ratios.get(worst), 1.5, False, "x", note)],
    )
