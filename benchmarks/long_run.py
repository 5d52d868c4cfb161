"""A long stream: what KNLMS costs, in time and memory, in the first million of samples and in the
last.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import knlms
import numpy as np
from common import Bar, Section, markdown, memory

M, D, BLOCK = 200, 10, 10_000


def learn(millions, per_million):
    """For each million of samples: percentiles of the seconds a sample, resident memory, bytes of
    the model, mean squared error.
    """
    rng = np.random.default_rng(0)
    model, _, _ = knlms.filled(M, D, rng)
    centres, learner = model.centers_, model._learner
    for _ in range(millions):
        taken, squares = [], 0.0
        for _ in range(per_million):
            X = centres[rng.integers(M, size=BLOCK)] + 0.1 * rng.normal(size=(BLOCK, D))
            y = np.sin(X[:, 0])
            Y = y[:, None]
            squares += float(np.mean((y[:500] - model.predict(X[:500])) ** 2)) / per_million
            start = time.process_time()
            learner.learn(X, Y)
            taken.append((time.process_time() - start) / BLOCK)
        yield [*np.percentile(taken, [0, 50, 90]).tolist(), memory(), model.nbytes_, squares]


def section(context):
    millions, per_million = (3, 5) if context.quick else (10, 100)
    context.say(f"{millions * per_million * BLOCK:,} samples")
    # In a process of its own, whose memory nothing else has touched.
    command = [sys.executable, __file__, str(millions), str(per_million)]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    times, resident = [line[:3] for line in found], [line[3] for line in found]
    rows = [
        [
            f"{i + 1}",
            *(f"{1e6 * v:.3f}" for v in line[:3]),
            f"{line[3] / 1e6:.1f}",
            f"{line[4]}",
            f"{line[5]:.1e}",
        ]
        for i, line in enumerate(found)
    ]
    header = [
        "million",
        "us per sample: best",
        "median",
        "90 %",
        "resident, MB",
        "`nbytes_`",
        "squared error",
    ]

    def draw(figure):
        left, right = figure.subplots(1, 2)
        x = np.arange(1, millions + 1)
        low, middle, high = 1e6 * np.array(times).T
        left.plot(x, middle, ".-")
        left.fill_between(x, low, high, alpha=0.3)
        left.set(xlabel="million samples", ylabel="microseconds per sample", ylim=(0, None))
        right.plot(x, np.array(resident) / 1e6, ".-")
        right.set(xlabel="million samples", ylabel="resident memory, MB", ylim=(0, None))

    text = f"""KNLMS, m = {M}, d = {D}, {millions * per_million * BLOCK:,} samples in blocks of
{BLOCK:,}. `million` counts {per_million} blocks, and the percentiles are over them. The bars
compare the best block of the first million with that of the last: the best block depends least on
other work on the machine. The error is that of predictions for some samples before they are
learned.

{markdown(header, rows)}

{context.figure("long_run", "time of a sample and memory against samples seen", draw)}"""
    bars = [
        Bar(
            "KNLMS, 10^7 samples: time of a sample, last million over first, off 1 by",
            None,
            5.0,
            False,
            " %",
        ),
        Bar(
            "KNLMS, 10^7 samples: resident memory after the last million over the first, off 1 by",
            None,
            5.0,
            False,
            " %",
        ),
    ]
    if not context.quick:
        changes = [times[-1][0] / times[0][0] - 1, resident[-1] / resident[0] - 1]
        bars = [
            Bar(bar.what, abs(100 * change), bar.bound, False, bar.unit, f"({100 * change:+.1f} %)")
            for bar, change in zip(bars, changes, strict=True)
        ]
    return Section("A long stream: flat in the number of samples", text, bars)


if __name__ == "__main__":
    print(json.dumps(list(learn(*map(int, sys.argv[1:])))))
