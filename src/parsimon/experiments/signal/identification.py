"""Identification of a nonlinear channel that switches: van Vaerenbergh et al. 2012, Fig. 3.

The channel is a Wiener system: a linear filter, then tanh. Its linear part changes abruptly. The
filters predict the output from the last five inputs. Both linear parts, tanh, the signal-to-noise
ratio of 20 dB and the five inputs are as printed. The paper switches after 500 of 1500 samples,
which is too early for slow filters to have a floor. It measures the error on separate test data.
Here it is the error before learning, which includes the noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parsimon.datasets import make_wiener
from parsimon.evaluation import decibels
from parsimon.experiments.report import Report
from parsimon.experiments.signal.filters import Task
from parsimon.experiments.signal.tracking import SAMPLES, SWITCH, report, tracked

TASK = Task(gamma=0.1, budget=100, step_size=0.5, level=-12.0)
SNR = 20.0


def stream(seed: int, snr: float | None = SNR) -> tuple[Any, Any]:
    """Return the inputs (n, 5) and outputs (n,) of the channel."""
    return make_wiener(SAMPLES, snr=snr, switch=SWITCH, random_state=seed)


def run(output: Path, *, quick: bool = False) -> Report:
    """Run all filters on the switching channel."""
    runs = 3 if quick else 50
    noise = sum(float(stream(seed, None)[1].var()) for seed in range(runs)) / runs
    level = float(decibels(noise)) - SNR
    return report(
        output,
        "Identification of a switching channel",
        TASK,
        tracked(TASK, stream, runs),
        notes=[f"The noise alone is {level:.2f} dB."],
    )
