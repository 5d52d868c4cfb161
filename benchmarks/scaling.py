"""Scaling: what a sample costs against the number m of centres, d of features and C of outputs."""

from __future__ import annotations

import numpy as np
import workloads
from common import Section, markdown, slope

NAMES = [
    "KNLMS, nothing new",
    "KRLS (dependence), nothing new",
    "KRLS (dependence), all new",
    "POLK, all new",
    f"POLK in batches of {workloads.BATCH}, all new",
    "BSGD (merging), all new",
]
#: What varies, and the rest. The power is fitted to the larger half.
SWEEPS = {
    "m": ([100, 200, 500, 1000, 2000, 5000], {"d": 10, "C": 1}),
    "d": ([10, 30, 100, 300, 1000], {"m": 200, "C": 1}),
    "C": ([1, 3, 10, 30, 100], {"m": 200, "d": 10}),
}
QUICK = {
    "m": ([100, 200], {"d": 10, "C": 1}),
    "d": ([10, 50], {"m": 100, "C": 1}),
    "C": ([1, 5], {"m": 100, "d": 10}),
}


def section(context):
    rounds, sweeps, parts, curves = context.rounds(5), QUICK if context.quick else SWEEPS, [], {}
    for what, (values, rest) in sweeps.items():
        rows = []
        for name in NAMES:
            context.say(f"{name}, {what} = {values[0]} to {values[-1]}")
            workload = workloads.named(name)
            times = [
                workloads.measure(workload, **{**rest, what: value}, rounds=rounds)
                for value in values
            ]
            best = np.array([t.best for t in times])
            curves[what, name] = best
            spread, half = np.median([t.spread for t in times]), len(values) // 2
            power = slope(values[half - 1 :], best[half - 1 :])
            cells = [f"{1e6 * b:.3g}" for b in best]
            rows.append(
                [
                    name,
                    *cells,
                    f"{power:.2f}",
                    f"{workload.power if what == 'm' else 1}",
                    f"{100 * spread:.0f} %",
                ]
            )
        fixed = ", ".join(f"{name} = {value}" for name, value in rest.items())
        header = [
            f"{fixed}; {what} =",
            *map(str, values),
            "power seen",
            "at most, by theory",
            "spread",
        ]
        parts.append(markdown(header, rows))

    def draw(figure):
        for axes, what in zip(figure.subplots(1, 3), sweeps, strict=True):
            for name in NAMES:
                axes.plot(sweeps[what][0], 1 / curves[what, name], ".-", label=name)
            axes.set(xscale="log", yscale="log", xlabel=what)
        figure.axes[0].set_ylabel("samples per second")
        figure.legend(
            *figure.axes[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=3,
            fontsize=8,
        )

    tables = "\n\n".join(parts)
    text = f"""Microseconds per sample (`workloads.py` has the streams), and the power with which
they grow over the larger half. In d and C only a part of the work grows, linearly. In m, times grow
faster than in theory while the data outgrow a cache. Rounds: {rounds}.

{tables}

{context.figure("scaling", "samples per second against m, d and C", draw)}"""
    return Section("Scaling: microseconds per sample against m, d and C", text)
