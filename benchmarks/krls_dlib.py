"""KRLS beside dlib's: time and accuracy on the same stream, same kernel, tolerance and cap."""

from __future__ import annotations

import ctypes

import numpy as np
from common import Bar, Section, Times, cpu_seconds, doubles, markdown

from parsimon import KRLSRegressor, published

GAMMA, D = 0.1, 8
#: The rule to use at a budget: least squares with noise, evicted centres projected out.
PROJECT = {"penalty": "norm", "ridge": 0.01, "eviction": "project"}


class Dlib:
    """dlib's krls, if it could be built."""

    def __init__(self, library, tolerance, cap):
        self.library = library
        library.krls_new.restype = ctypes.c_void_p
        library.krls_new.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_ulong]
        library.krls_delete.argtypes = library.krls_size.argtypes = [ctypes.c_void_p]
        library.krls_size.restype = ctypes.c_ulong
        pointer = ctypes.POINTER(ctypes.c_double)
        library.krls_train.argtypes = [
            ctypes.c_void_p,
            pointer,
            pointer,
            ctypes.c_ulong,
            ctypes.c_int,
        ]
        library.krls_train.restype = ctypes.c_double
        self.filter = library.krls_new(GAMMA, tolerance, cap)

    def __del__(self):
        self.library.krls_delete(self.filter)

    def size(self):
        return self.library.krls_size(self.filter)

    def learn(self, X, y, score=False):
        return self.library.krls_train(self.filter, doubles(X), doubles(y), len(X), int(score))


def target(X, rng):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))


def measure(m, novel, library, rounds):
    rng = np.random.default_rng(m)
    first = rng.normal(size=(m if not novel else 2 * m, D))
    # To time, and to measure the error on
    n, many = {50: (1000, 4000), 200: (250, 1000), 1000: (60, 200)}[m]
    tolerance = 1e-5 if novel else 1e-4

    def block(n=n):
        # Nothing new: points so near the centres that the tolerance rejects them. All new: fresh
        # points, the dictionary at its cap.
        X = (
            rng.normal(size=(n, D))
            if novel
            else first[rng.integers(m, size=n)] + 1e-3 * rng.normal(size=(n, D))
        )
        return np.ascontiguousarray(X), target(X, rng)

    yf = target(first, rng)
    models = [
        published(KRLSRegressor, gamma=GAMMA, tolerance=tolerance, budget=m, **rule).fit(first, yf)
        for rule in ({}, PROJECT)
    ]
    peer = Dlib(library, tolerance, m) if library is not None else None
    if peer:
        peer.learn(first, yf)
    full = models[0].n_centers_, peer.size() if peer else None
    X, y = block(many)
    errors = [float(np.mean((y - model.predict_then_learn(X, y)) ** 2)) for model in models]
    errors.append(peer.learn(X, y, score=True) / many if peer else np.nan)
    ours, theirs = [[], []], []
    for _ in range(rounds):
        X, y = block()
        Y = np.ascontiguousarray(y[:, None])
        for times, model in zip(ours, models, strict=True):
            learn = model._learner.learn
            times.append(cpu_seconds(lambda X=X, Y=Y, learn=learn: learn(X, Y)) / n)
        if peer:
            theirs.append(cpu_seconds(lambda X=X, y=y: peer.learn(X, y)) / n)
    ours = [Times(np.array(times)) for times in ours]
    return full, ours, Times(np.array(theirs)) if peer else None, errors


def section(context):
    library, what = context.dlib
    header = [
        "m",
        "stream",
        "centres (dlib's)",
        "parsimon",
        "spread",
        "project",
        "spread",
        "dlib",
        "spread",
        "dlib / parsimon",
        "error",
        "error of project",
        "dlib's error",
    ]
    # Short blocks and many of them find the machine quiet now and then; dlib's at m = 1000 take
    # seconds all the same.
    rows, ratios, rounds = (
        [],
        {},
        {m: context.rounds(k) for m, k in ((50, 41), (200, 41), (1000, 7))},
    )
    for m in (50, 200) if context.quick else (50, 200, 1000):
        for novel in (False, True):
            context.say(f"m = {m}, {'every sample new' if novel else 'nothing new'}")
            (size, peer_size), (ours, project), theirs, errors = measure(
                m, novel, library, rounds[m]
            )
            against = [f"absent: {what}", "", ""]
            if theirs is not None:
                ratios[m, novel] = theirs.best / ours.best
                against = [
                    f"{1e6 * theirs.best:.0f}",
                    f"{100 * theirs.spread:.0f} %",
                    f"{ratios[m, novel]:.1f}",
                ]
            stream = "every sample new, one evicted" if novel else "nothing new"
            own = [
                f"{m}",
                stream,
                f"{size} ({peer_size})",
                f"{1e6 * ours.best:.1f}",
                f"{100 * ours.spread:.0f} %",
                f"{1e6 * project.best:.1f}",
                f"{100 * project.spread:.0f} %",
            ]
            rows.append([*own, *against, *(f"{error:.3f}" for error in errors)])
    text = f"""d = {D}, Gaussian kernel with gamma = {GAMMA}, the same tolerance, the dictionary at
its limit of m, one thread. dlib's `krls` ({what}, `-O3 -march=native`) evicts its oldest centre.
parsimon evicts the centre whose removal increases the squared error least. The error is the mean
squared error before learning, over the stream. If every sample is new, KRLS without a ridge fits
each value exactly, with its noise. "project" is parsimon with `penalty="norm"`, `ridge=0.01` and
`eviction="project"`, which do not.

Rounds: {", ".join(f"{k} at m = {m}" for m, k in rounds.items())}.

{markdown(header, rows)}
"""
    bars = [
        Bar(
            f"KRLS: dlib's time over ours, every sample new, m = {m}",
            ratios.get((m, True)),
            least,
            True,
            "x",
        )
        for m, least in ((200, 30.0), (1000, 80.0))
    ]
    return Section("KRLS: microseconds per sample, beside dlib", text, bars)
