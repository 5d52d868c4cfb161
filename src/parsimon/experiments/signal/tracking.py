"""How filters track a switch: the same measures, table and figure for each experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parsimon import plots
from parsimon.evaluation import LearningCurve, convergence_time, learning_curve, steady_state
from parsimon.experiments.report import Report, progress
from parsimon.experiments.signal.filters import FAMILIES, FILTERS, Task

SAMPLES, SWITCH = 2000, 1000
#: A filter has recovered when its error is this near to its floor, in dB.
WITHIN = 1.0
#: Samples in which a tracker should recover, and samples of the moving mean.
SOON, WINDOW = 200, 20


def tracked(task: Task, make_stream: Callable[[int], Any], runs: int) -> dict[str, LearningCurve]:
    """Return the learning curve of each filter of the table, by name."""
    return {
        name: learning_curve(make(task), make_stream, runs, window=WINDOW)
        for name, (_, make) in progress(list(FILTERS.items()), "filters")
    }


def floors(curve: LearningCurve) -> tuple[float, float]:
    """Return the steady states before and after the switch, in dB."""
    return steady_state(curve.errors[:, :SWITCH]), steady_state(curve.errors[:, SWITCH:])


def recovery(curve: LearningCurve) -> int | None:
    """Return the samples after the switch until the error is within 1 dB of its floor."""
    return convergence_time(curve.errors[:, SWITCH:], WITHIN, window=WINDOW)


def report(
    output: Path,
    title: str,
    task: Task,
    curves: Mapping[str, LearningCurve],
    *,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """Return the table and draw the figure of all filters.

    `columns` are further columns: a cell for each filter, by name of the column.
    """
    rows, times = [], {}
    for name, curve in curves.items():
        before, after = floors(curve)
        first = convergence_time(curve.errors[:, :SWITCH], WITHIN, window=WINDOW)
        times[name] = recovery(curve)
        good = convergence_time(curve.errors[:, SWITCH:], 0.0, floor=task.level, window=WINDOW)
        rows.append(
            [
                name,
                "-" if np.isnan(curve.centers).all() else f"{curve.centers.mean():.0f}",
                f"{before:.2f}",
                _count(first),
                f"{after:.2f}",
                _count(times[name]),
                _count(good),
                *(cells[name] for cells in (columns or {}).values()),
            ]
        )
    soon = [name for name, time in times.items() if time is not None and time <= SOON]
    runs = len(next(iter(curves.values())).errors)
    groups = {
        family: [name for name in curves if FILTERS[name][0] == key]
        for key, family in FAMILIES.items()
    }
    picture = plots.decibel_curves(
        output / "tracking.png",
        curves,
        marks={"switch": SWITCH},
        groups={family: names for family, names in groups.items() if names},
        title=title,
    )
    return Report(
        f"{title}: mean of {runs} runs of {SAMPLES} samples, switch at {SWITCH}",
        [
            "filter",
            "centres",
            "floor before, dB",
            "samples to 1 dB",
            "floor after, dB",
            "samples to 1 dB after the switch",
            f"samples to {task.level:g} dB after the switch",
            *(columns or {}),
        ],
        rows,
        notes=[
            f"A floor is the mean squared error over the last {SWITCH // 5} samples before the "
            f"switch, or before the end. Samples are counted until the mean over {WINDOW} "
            f"samples and all runs is within {WITHIN:g} dB of the floor of the same half.",
            f"Within {SOON} samples of the switch, and within {WITHIN:g} dB of their floor: "
            f"{', '.join(soon) or 'none'}. A filter with a high floor reaches it easily.",
            *notes,
        ],
        pictures=[picture],
    )


def _count(samples: int | None) -> str:
    return "never" if samples is None else str(samples)
