"""Prediction of chaotic series: error against size.

The filters predict the next value of Mackey-Glass, with a delay of 30 and one value per 6 units of
time, and of the first coordinate of the Lorenz system, from the last seven values. Both series are
standardised, and have noise 30 dB below. One parameter of each filter sets its number of centres.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parsimon import KLMSRegressor, KNLMSRegressor, KRLSRegressor, plots, published
from parsimon.datasets import make_lorenz, make_mackey_glass
from parsimon.evaluation import SizeSweep, size_sweep
from parsimon.experiments.report import Report, progress
from parsimon.preprocessing import embed

SAMPLES, LAGS, NOISE = 3000, 7, 10 ** (-30 / 20)
GAMMA = 0.1
BUDGETS = (10, 20, 50, 100, 200)
#: By name: the filter, the parameter that sets its size, and the values of the parameter.
FILTERS: dict[str, tuple[Any, str, Sequence[float]]] = {
    "KLMS, budget": (published(KLMSRegressor, gamma=GAMMA, step_size=0.5), "budget", BUDGETS),
    "QKLMS, quantization": (
        published(KLMSRegressor, gamma=GAMMA, step_size=0.5),
        "quantization",
        (3.0, 2.0, 1.0, 0.5, 0.3),
    ),
    "KNLMS, coherence": (
        published(KNLMSRegressor, gamma=GAMMA, step_size=0.5, ridge=0.01),
        "coherence",
        (0.3, 0.6, 0.8, 0.9, 0.95),
    ),
    "KRLS, budget": (
        KRLSRegressor("gaussian", gamma=GAMMA, ridge=0.01, tolerance=0.001),
        "budget",
        BUDGETS,
    ),
    "KRLS, tolerance": (
        KRLSRegressor("gaussian", gamma=GAMMA, ridge=0.01),
        "tolerance",
        (0.5, 0.1, 0.03, 0.01, 0.001),
    ),
}


def mackey_glass(seed: int) -> tuple[Any, Any, Any]:
    """Return the last values, the next value, and the next value without noise."""
    return _samples(make_mackey_glass(SAMPLES + LAGS, random_state=seed), seed)


def lorenz(seed: int) -> tuple[Any, Any, Any]:
    """Return the last values, the next value, and the next value without noise."""
    return _samples(make_lorenz(SAMPLES + LAGS, period=0.05, random_state=seed)[:, 0], seed)


def _samples(series: Any, seed: int) -> tuple[Any, Any, Any]:
    series = (series - series.mean()) / series.std()
    noisy = series + NOISE * np.random.default_rng(seed).normal(size=len(series))
    return (*embed(noisy, LAGS), embed(series, LAGS)[1])


#: By name: the streams.
SERIES: dict[str, Callable[[int], tuple[Any, Any, Any]]] = {
    "Mackey-Glass": mackey_glass,
    "Lorenz": lorenz,
}


def run(output: Path, *, quick: bool = False) -> Report:
    """Sweep the sizes of all filters on both series."""
    runs, step = (1, 2) if quick else (10, 1)
    rows, pictures = [], []
    for series, stream in SERIES.items():
        streams = [stream(seed) for seed in range(runs)]  # once for all filters
        sweeps: dict[str, SizeSweep] = {}
        for name, (model, parameter, values) in progress(list(FILTERS.items()), series):
            sweep = size_sweep(model, parameter, values[::step], streams.__getitem__, runs)
            sweeps[name] = sweep
            for value, size, level in zip(sweep.values, sweep.sizes, sweep.mean, strict=True):
                rows.append([series, name, f"{value:g}", f"{size:.0f}", f"{level:.2f}"])
        file = output / f"{series.lower()}.png"
        pictures.append(
            plots.error_against_size(file, sweeps, title=f"{series}: error against size")
        )
    return Report(
        f"Prediction of chaotic series: mean of {runs} runs of {SAMPLES} samples",
        ["series", "filter, parameter", "value", "centres", "error, dB"],
        rows,
        notes=[
            f"Errors are over the last {SAMPLES // 5} samples, against the series without noise, "
            "whose variance is 0 dB."
        ],
        pictures=pictures,
    )
