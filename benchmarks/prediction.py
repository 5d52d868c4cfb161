"""Prediction: POLK beside what a matrix product and vectorised exponentials of that size take,
NumPy, and SVC with as many support vectors.
"""

from __future__ import annotations

import numpy as np
import peaks
from common import Bar, Section, doubles, markdown, race
from sklearn.svm import SVC

from parsimon import POLKClassifier, published

C = 10


def model_of(m, d, rng, kernel="gaussian"):
    """POLK with m centres and ten classes; samples so far apart that each enters."""
    X, y = rng.normal(size=(2 * m, d)), rng.integers(C, size=2 * m)
    model = published(
        POLKClassifier, kernel, gamma=0.5 / d, parsimony=0.0, batch_size=32, budget=m, shuffle=False
    )
    return model.partial_fit(X, y, classes=np.arange(C)), X, y


def by_numpy(X, centres, weights, gamma):
    squares = (X**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2.0 * (X @ centres.T)
    return np.exp(-gamma * squares) @ weights


def measure(m, d, n, loops, rounds):
    rng = np.random.default_rng(m + d)
    model, X, y = model_of(m, d, rng)
    assert model.n_centers_ == m
    rows = rng.normal(size=(n, d))
    centres, weights, gamma = model.centers_, model.weights_, 0.5 / d
    across, values, out = np.ascontiguousarray(centres.T), np.empty((n, m)), np.empty((n, C))
    svc = SVC(gamma=gamma, C=10, decision_function_shape="ovo").fit(X[:m], y[:m])
    few = max(1, n // 20)

    tile = np.ascontiguousarray(rng.uniform(-20, 0, size=4096))
    results, turns = np.empty(4096), -(-n * m // 4096)

    def exponentials():
        if loops is not None:
            loops.exponentials(doubles(tile), doubles(results), 4096, turns)
        else:
            for _ in range(turns):
                np.exp(tile, out=results)

    tasks = {
        "ours": (lambda: model.decision_function(rows), n),
        "dgemm": (lambda: np.matmul(rows, across, out=values), n),
        "second": (lambda: np.matmul(values, weights, out=out), n),
        "exp": (exponentials, n),
        "numpy": (lambda: by_numpy(rows, centres, weights, gamma), n),
        "svc": (lambda: svc.predict(rows[:few]), few),
    }
    times = race(tasks, rounds)
    expected = np.stack(
        [np.exp(-gamma * ((centres - x) ** 2).sum(axis=1)) @ weights for x in rows[:50]]
    )
    error = float(
        np.abs(model.decision_function(rows[:50]) - expected).max() / np.abs(expected).max()
    )
    theirs = float(
        np.abs(by_numpy(rows[:50], centres, weights, gamma) - expected).max()
        / np.abs(expected).max()
    )
    return times, error, theirs, len(svc.support_)


def section(context):
    loops, reason = peaks.library(context.folder)
    n = 512  # some milliseconds: short enough to find the machine quiet now and then
    rows, shares, beside, rounds = [], {}, {}, context.rounds(21)
    sizes = (
        [(200, 10), (200, 784)]
        if context.quick
        else [(200, 10), (2000, 10), (2000, 100), (2000, 784)]
    )
    for m, d in sizes:
        context.say(f"m = {m}, d = {d}")
        times, error, theirs, support = measure(m, d, n, loops, rounds)
        us = {name: 1e6 * t.best for name, t in times.items()}
        least = us["dgemm"] + us["exp"] + us["second"]
        shares[m, d] = least / us["ours"]
        beside[m, d] = us["numpy"] / us["ours"]
        cells = [f"{m}", f"{d}", f"{us['ours']:.1f}", f"{100 * times['ours'].spread:.0f} %"]
        cells += [
            f"{us['dgemm'] + us['second']:.1f} + {us['exp']:.1f}",
            f"{100 * shares[m, d]:.0f} %",
        ]
        cells += [
            f"{us['numpy']:.1f}",
            f"{us['numpy'] / us['ours']:.1f}",
            f"{us['svc']:.0f} ({support})",
        ]
        rows.append([*cells, f"{us['svc'] / us['ours']:.1f}", f"{error:.0e}", f"{theirs:.0e}"])
    header = [
        "m",
        "d",
        "POLK",
        "spread",
        "products + exp",
        "reached",
        "NumPy",
        "NumPy / POLK",
        "SVC (vectors)",
        "SVC / POLK",
    ]
    header += ["error", "NumPy's error"]
    text = f"""Microseconds per row, {C} classes, blocks of {n} rows. "Products + exp" is the time
of two matrix products in NumPy (OpenBLAS), rows times centres and kernel values times weights, and
of the exponentials by the fastest vector code available, in the first-level cache. The squared
norms, and memory traffic between the three, are not counted. NumPy is the complete prediction, with
squared distances as differences of large numbers. parsimon does the same from 32 features on, but
sums squared differences where a bound of the rounding error is too large, as for near copies. SVC
has m support vectors. Errors are the largest over 50 rows against sums of differences, relative to
the largest value. Rounds: {rounds}.

{markdown(header, rows)}
"""
    what = (
        "prediction of POLK, 2000 centres, d = 784: "
        "share of what dgemm of that size plus vectorised exp allows"
    )
    # NumPy's exponentials alone would make it easy
    seen = shares.get((2000, 784)) if loops is not None else None
    note = reason and f"({reason})"
    return Section(
        "Prediction: microseconds per row",
        text,
        [
            Bar(what, None if seen is None else 100 * seen, 60, True, " %", note),
            Bar(
                f"{what.split(':')[0]}: NumPy's time over ours",
                beside.get((2000, 784)),
                1.5,
                True,
                "x",
            ),
        ],
    )
