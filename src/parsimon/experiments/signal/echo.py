"""Cancellation of a nonlinear echo, when the room changes.

A loudspeaker distorts a loud far-end signal, whose standard deviation is 2 (Comminiello et al.
2013). A room with an impulse response of six samples follows, and noise 30 dB below the echo. In
the middle another room takes its place. The filters predict the echo from the last six values of
the far-end signal. Real rooms have hundreds of samples: this is a short path, such as that of a
headset.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from parsimon.datasets import make_echo
from parsimon.evaluation import decibels
from parsimon.experiments.report import Report
from parsimon.experiments.signal.filters import Task
from parsimon.experiments.signal.tracking import SAMPLES, SWITCH, floors, report, tracked

TASK = Task(gamma=0.025, budget=100, step_size=0.5, level=-10.0)


def stream(seed: int) -> tuple[Any, Any]:
    """Return the far-end signal (n, 6) and the signal at the microphone (n,)."""
    return make_echo(SAMPLES, length=6, decay=2.0, level=2.0, switch=SWITCH, random_state=seed)


def run(output: Path, *, quick: bool = False) -> Report:
    """Run all filters on the echo."""
    runs = 3 if quick else 50
    curves = tracked(TASK, stream, runs)
    last = (SAMPLES - SWITCH) // 5
    heard = np.mean([np.mean(stream(seed)[1][-last:] ** 2) for seed in range(runs)])
    gains = {name: f"{float(decibels(heard)) - floors(c)[1]:.1f}" for name, c in curves.items()}
    return report(
        output,
        "Cancellation of a nonlinear echo",
        TASK,
        curves,
        columns={"ERLE, dB": gains},
        notes=[
            "ERLE, the echo return loss enhancement, is the power of the microphone signal over "
            "that of the error, at the end."
        ],
    )
