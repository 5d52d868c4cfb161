"""Section 4, second benchmark: an adaptive coherence threshold.

Figures 1 (coherence over time) and 2 (error over time), mean of 10 runs.

Three things differ from the paper. With its start y_1 = 10 about half of all runs grow without
bound, so runs start at 1 here. The paper does not say which past values of the output x_t and of
the input u_t of the system are the inputs of the model. With (x_{t-1}, u_t) alone, 20 centres
cannot be far apart, so two lags of each are used. The paper does not print the learning rate; it is
0.3 here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsimon import SPLRegressor, diagnostics, plots, published
from parsimon.datasets import make_pothin_system
from parsimon.experiments.report import Report, progress

SAMPLES, STEP, BUDGET, EVERY = 600, 0.3, 20, 10
MODELS: dict[str, dict[str, object]] = {
    "basic SPL": {"tolerance": 0.01},
    "fixed threshold 0.5": {"admission": "coherence", "coherence": 0.5, "budget": BUDGET},
    "adaptive threshold": {"admission": "coherence", "coherence": "adaptive", "budget": BUDGET},
}


def one_run(
    parameters: dict[str, object], lags: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Return the squared errors, the coherence every few samples, and the number of centres."""
    X, x = make_pothin_system(SAMPLES, lags=lags, random_state=seed)
    model = published(SPLRegressor, gamma=5.0, step_size=STEP, **parameters)
    errors, coherences = [], []
    for i in range(0, SAMPLES, EVERY):
        errors.append(
            (x[i : i + EVERY] - model.predict_then_learn(X[i : i + EVERY], x[i : i + EVERY])) ** 2
        )
        coherences.append(diagnostics.coherence(model))
    return np.concatenate(errors), np.array(coherences), model.n_centers_


def run(output: Path, *, quick: bool = False) -> Report:
    """Run the benchmark and draw both figures."""
    seeds = range(2 if quick else 10)
    errors, coherences, rows = {}, {}, []
    for lags in (2, 5):
        for name, parameters in MODELS.items():
            runs = [
                one_run(parameters, lags, seed) for seed in progress(seeds, f"{name}, {lags} lags")
            ]
            error, coherence = (
                np.mean([r[0] for r in runs], axis=0),
                np.mean([r[1] for r in runs], axis=0),
            )
            errors[name, lags], coherences[name, lags] = error, coherence
            shown = [coherence[2 * BUDGET // EVERY], coherence[200 // EVERY], coherence[-1]]
            order, late = np.mean([r[2] for r in runs]), error[SAMPLES // 2 :].mean()
            rows.append(
                [str(lags), name, f"{order:.1f}", *(f"{c:.2g}" for c in shown), f"{late:.4f}"]
            )
    steps, smoothed = np.arange(EVERY, SAMPLES + 1, EVERY), np.arange(20, SAMPLES + 1)
    controlled = {name: (steps, coherences[name, 2]) for name in MODELS if name != "basic SPL"}
    smooth = {name: (smoothed, plots.moving_average(errors[name, 2], 20)) for name in MODELS}
    pictures = [
        plots.curves(
            output / "figure-1.png",
            controlled,
            xlabel="samples",
            ylabel="coherence of the dictionary",
        ),
        plots.curves(
            output / "figure-2.png",
            smooth,
            xlabel="samples",
            ylabel="squared error before learning",
            log=True,
        ),
    ]
    basic, adaptive = (
        errors[name, 2][SAMPLES // 2 :].mean() for name in ("basic SPL", "adaptive threshold")
    )
    return Report(
        f"Pothin & Richard 2006, second benchmark: mean of {len(seeds)} runs of {SAMPLES} samples",
        [
            "lags",
            "algorithm",
            "centres",
            f"coherence at {2 * BUDGET}",
            "at 200",
            "at the end",
            "mean squared error, second half",
        ],
        rows,
        notes=[
            "The paper: a coherence of 1.5e-4 after 200 samples with 20 centres, and the same "
            "error as basic SPL (Figure 2).",
            "Here, with two lags (the figures): with the adaptive threshold the coherence keeps "
            "decreasing, below that of the fixed threshold at the same size. "
            f"The error is {adaptive / basic - 1:+.1%} compared with basic SPL. "
            "The paper's 1.5e-4 is not reached. With five lags the coherence comes close to it. "
            "But then 20 centres do not span the input space, and the error is larger than that "
            "of basic SPL. Start, regressor and learning rate are our choice.",
        ],
        pictures=pictures,
    )
