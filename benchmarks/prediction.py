"""Prediction: POLK beside what a matrix product and vectorised exponentials of that size take,
NumPy, and SVC with as many support vectors. Rows are normal noise, and MNIST's if there are any.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import peaks
from common import Bar, Section, doubles, markdown, race
from sklearn.svm import SVC

from parsimon import POLKClassifier, published
from parsimon.datasets import load_mnist

C = 10
DIGITS = 2000  # centres of the model of MNIST


def fitted(X, y, m, gamma, kernel="gaussian", **options):
    """POLK with m centres and ten classes."""
    model = published(
        POLKClassifier,
        kernel,
        gamma=gamma,
        parsimony=0.0,
        batch_size=32,
        budget=m,
        shuffle=False,
        **options,
    ).partial_fit(X, y, classes=np.arange(C))
    assert model.n_centers_ == m
    return model


def model_of(m, d, rng, kernel="gaussian"):
    """POLK with m centres and ten classes; samples so far apart that each enters."""
    X, y = rng.normal(size=(2 * m, d)), rng.integers(C, size=2 * m)
    return fitted(X, y, m, 0.5 / d, kernel), X, y


def noise(m, d, n):
    """A model, the samples it learned, n rows to predict, and gamma."""
    rng = np.random.default_rng(m + d)
    return *model_of(m, d, rng), rng.normal(size=(n, d)), 0.5 / d


def digits(data_dir, n):
    """The same of MNIST, four fifths of whose pixels are 0."""
    data, gamma = load_mnist(data_dir), 0.03
    X, y = data.X_train[: 8 * DIGITS], data.y_train[: 8 * DIGITS]
    return fitted(X, y, DIGITS, gamma, step_size=60.0), X, y, data.X_test[:n], gamma


def by_numpy(X, centres, weights, gamma):
    squares = (X**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2.0 * (X @ centres.T)
    return np.exp(-gamma * squares) @ weights


def measure(model, X, y, rows, gamma, loops, rounds):
    n, m = len(rows), model.n_centers_
    centres, weights = model.centers_, model.weights_
    across, values, out = np.ascontiguousarray(centres.T), np.empty((n, m)), np.empty((n, C))
    svc = SVC(gamma=gamma, C=10, decision_function_shape="ovo").fit(X[:m], y[:m])
    few = max(1, n // 20)

    tile = np.random.default_rng(0).uniform(-20, 0, size=4096)
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
    tasks = [("noise", m, d, partial(noise, m, d, n)) for m, d in sizes]
    if context.data_dir and not context.quick:
        tasks.append(("digits", DIGITS, 784, partial(digits, context.data_dir, n)))
    for name, m, d, task in tasks:
        context.say(f"{name}, m = {m}, d = {d}")
        times, error, theirs, support = measure(*task(), loops, rounds)
        us = {name: 1e6 * t.best for name, t in times.items()}
        product = us["dgemm"] + us["second"]
        least = product + us["exp"]
        shares[name, m, d] = least / us["ours"]
        beside[name, m, d] = us["numpy"] / us["ours"], product, us["numpy"]
        cells = [name, f"{m}", f"{d}", f"{us['ours']:.1f}", f"{100 * times['ours'].spread:.0f} %"]
        cells += [f"{product:.1f} + {us['exp']:.1f}", f"{100 * shares[name, m, d]:.0f} %"]
        cells += [
            f"{us['numpy']:.1f}",
            f"{us['numpy'] / us['ours']:.1f}",
            f"{us['svc']:.0f} ({support})",
        ]
        rows.append([*cells, f"{us['svc'] / us['ours']:.1f}", f"{error:.0e}", f"{theirs:.0e}"])
    header = [
        "rows",
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
sums squared differences where a bound of the rounding error is too large, as for near copies. It
passes over features that are 0 in several rows: "digits" are rows of MNIST. SVC has at most m
support vectors. Errors are the largest over 50 rows against sums of differences, relative to
the largest value. Rounds: {rounds}.

{markdown(header, rows)}
"""
    what = "prediction of POLK, 2000 centres, d = 784"
    # NumPy's exponentials alone would make it easy
    seen = shares.get(("noise", 2000, 784)) if loops is not None else None
    bars = [
        Bar(
            f"{what}: share of what dgemm of that size plus vectorised exp allows",
            None if seen is None else 100 * seen,
            60,
            True,
            " %",
            reason and f"({reason})",
        )
    ]
    for kind, label in (("noise", "rows of noise"), ("digits", "rows of MNIST")):
        ratio, product, whole = beside.get((kind, 2000, 784), (None, 0.0, 0.0))
        note = f"(its products alone take {product:.0f} of its {whole:.0f} us)" if ratio else ""
        bars.append(Bar(f"{what}, {label}: NumPy's time over ours", ratio, 1.5, True, "x", note))
    return Section("Prediction: microseconds per row", text, bars)
