"""Equalisation of a nonlinear channel whose polarity switches.

Symbols -1 and 1 pass the channel r = z - 0.9 z^2, z_t = s_t + 0.5 s_{t-1} (Liu, Principe & Haykin
2010), with noise 20 dB below. The filters recover the symbols from the last five received values,
two symbols later. In the middle z changes its sign. Then the same received values mean the
opposite symbols, and all that was learned is wrong.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from parsimon.datasets import make_channel
from parsimon.evaluation import LearningCurve
from parsimon.experiments.report import Report
from parsimon.experiments.signal.filters import Task
from parsimon.experiments.signal.tracking import SAMPLES, SWITCH, report, tracked

TASK = Task(gamma=0.5, budget=100, step_size=0.9, level=-10.0)


def stream(seed: int) -> tuple[Any, Any]:
    """Return the received values (n, 5) and the symbols (n,)."""
    return make_channel(SAMPLES, switch=SWITCH, random_state=seed)


def wrong(curve: LearningCurve) -> float:
    """Return the share of wrong symbols in the last fifth after the switch."""
    last = (SAMPLES - SWITCH) // 5
    symbols = np.array([stream(seed)[1] for seed in range(len(curve.errors))])
    # The prediction is s - e. It has the wrong sign if s (s - e) = 1 - s e is not positive.
    return float(np.mean((1.0 - symbols * curve.errors <= 0)[:, -last:]))


def run(output: Path, *, quick: bool = False) -> Report:
    """Run all filters on the channel."""
    curves = tracked(TASK, stream, 3 if quick else 50)
    return report(
        output,
        "Equalisation of a switching channel",
        TASK,
        curves,
        columns={"wrong symbols": {name: f"{wrong(c):.2%}" for name, c in curves.items()}},
        notes=["Wrong symbols are the share of predictions with the wrong sign, at the end."],
    )
