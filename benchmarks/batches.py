"""POLK by the sample and in mini-batches: what an admitted sample costs."""

from __future__ import annotations

import numpy as np
import workloads
from common import Bar, Section, Times, cpu_seconds, markdown

SIZES, BATCHES, BOUND = [(2000, 10, 1), (2000, 784, 10)], (1, 8, 32), 2.5


def measure(m, d, C, rounds):
    """Seconds a sample by batch size, in turn, every sample admitted."""
    works = {}
    for batch in BATCHES:
        workload = workloads.Workload(f"POLK, {batch}", workloads.polk(batch), True, batch=batch)
        works[batch] = workloads.Work(workload, m, d, C)
        works[batch].n = 64 if rounds > 1 else 32
    taken = {batch: [] for batch in works}
    for _ in range(rounds):
        for batch, work in works.items():
            block = work.block(work.n)
            taken[batch].append(
                cpu_seconds(lambda block=block, work=work: work.learner.learn(*block)) / work.n
            )
    return {batch: Times(np.array(times)) for batch, times in taken.items()}


def section(context):
    rows, worst, rounds = [], {}, context.rounds(9)
    for m, d, C in [(200, 10, 1)] if context.quick else SIZES:
        context.say(f"m = {m}, d = {d}, C = {C}")
        times = measure(m, d, C, rounds)
        for batch, t in times.items():
            ratio = t.best / times[BATCHES[-1]].best
            rows.append(
                [
                    f"{m}",
                    f"{d}",
                    f"{C}",
                    f"{batch}",
                    f"{1e6 * t.best:.0f}",
                    f"{100 * t.spread:.0f} %",
                    f"{ratio:.2f}",
                ]
            )
        if m == 2000:
            worst[d] = times[1].best / times[BATCHES[-1]].best
    header = ["m", "d", "C", "batch_size", "us per sample", "spread"]
    text = f"""The dictionary is at its budget of m. Every sample is admitted and another centre is
evicted (`workloads.py`). Rounds: {rounds}, in turn.

{markdown([*header, f"over batches of {BATCHES[-1]}"], rows)}
"""
    at = max(worst, key=worst.get, default=None)
    note = "" if at is None else f"(the worst: d = {at})"
    what = f"POLK, m = 2000: an admitted sample by itself over one in batches of {BATCHES[-1]}"
    return Section(
        "POLK: by the sample and in batches",
        text,
        [Bar(what, worst.get(at), BOUND, False, "x", note)],
    )
