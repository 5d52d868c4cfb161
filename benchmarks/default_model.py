"""The default model of tables: how much of its time is the learning of its experts."""

from __future__ import annotations

import time
from contextlib import contextmanager

import numpy as np
from common import Bar, Section, markdown
from numpy.typing import NDArray

from parsimon import _core
from parsimon.tables import TableModel

BLOCK = 1000
BOUND = 1.25

TEXT = """`TableModel` with its defaults learns made streams in blocks of {block} rows, the first
{first} of {rows} rows not counted. "Experts" is the time in the C++ loops of all experts and
challengers, with their gradients. The rest is reading the table, scaling, views, combining and
metrics. Processor time, best of {rounds} rounds.

"""


@contextmanager
def clocked(taken):
    """Add the seconds in the learners' loops to a list of one number."""
    names = ("predict_then_learn", "predict_then_learn_with_gradients", "gradient")
    kept = {name: getattr(_core.Learner, name) for name in names}

    def timed(function):
        def call(*arguments):
            start = time.process_time()
            try:
                return function(*arguments)
            finally:
                taken[0] += time.process_time() - start

        return call

    for name, function in kept.items():
        setattr(_core.Learner, name, timed(function))
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(_core.Learner, name, function)


def tables(X: NDArray[np.float64], y: NDArray[np.float64]):
    """Return the blocks of a stream as columns."""
    for first in range(0, len(X), BLOCK):
        rows = slice(first, first + BLOCK)
        columns = {f"x{i}": X[rows, i] for i in range(X.shape[1])}
        yield {**columns, "y": y[rows]}


def measure(task, X, y, first):
    """Return microseconds per row, of the model and of its experts' loops."""
    model, taken, begun = TableModel("y", task=task), [0.0], None
    with clocked(taken):
        for number, block in enumerate(tables(X, y)):
            if number * BLOCK == first:
                begun, taken[0] = time.process_time(), 0.0
            model.learn(block)
        total = time.process_time() - begun
    return 1e6 * total / (len(X) - first), 1e6 * taken[0] / (len(X) - first)


def streams(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    smooth = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    return {
        "numbers": ("regression", X, smooth),
        "two classes": ("classification", X, (smooth > 0).astype(int)),
        "ten classes": (
            "classification",
            X,
            np.digitize(smooth, np.quantile(smooth, np.linspace(0.1, 0.9, 9))),
        ),
    }


def section(context):
    rounds, n, first = context.rounds(5), 2000 if context.quick else 4000, 1000
    rows, worst = [], 0.0
    for name, stream in streams(n).items():
        context.say(name)
        found = [measure(*stream, first) for _ in range(rounds)]
        total, loops = min(found, key=lambda each: each[0])
        ratio = min(a / b for a, b in found)
        worst = max(worst, ratio)
        rows.append([name, f"{total:.0f}", f"{loops:.0f}", f"{ratio:.2f}"])
    header = ["stream", "us per row", "experts", "ratio"]
    text = TEXT.format(block=BLOCK, first=first, rows=n, rounds=rounds) + markdown(header, rows)
    what = "default model: time of a row over the sum of its experts' loops"
    return Section(
        "Default model: microseconds per row",
        text + "\n",
        [Bar(what, worst, BOUND, at_least=False, unit="x")],
    )
