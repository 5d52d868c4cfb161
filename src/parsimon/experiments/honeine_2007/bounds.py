"""Figures 1 and 2: the coherence bounds, beside what random dictionaries show."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from parsimon import diagnostics, plots
from parsimon.experiments.report import Report
from parsimon.kernels import Gaussian


def worst_residual(centers: np.ndarray, kernel: Gaussian) -> float:
    """Return the least squared error of a dictionary element approximated by the others: 1 / max
    (K^-1)_jj for a unit-norm kernel.
    """
    return float(1.0 / np.diag(np.linalg.inv(kernel(centers))).max())


def run(output: Path, *, quick: bool = False) -> Report:
    """Draw both figures, and hold the bound of Proposition 3 against dictionaries as coherent as it
    allows for.
    """
    rng = np.random.default_rng(2007)
    rows = []
    kernel = Gaussian(1.0)
    for m in (2, 5, 10):
        found = []
        for _ in range(200 if quick else 2000):
            centers = rng.normal(size=(m, 3)) * rng.uniform(1, 3) * m ** (1 / 3)
            mu = diagnostics.coherence(kernel, centers)
            if 0.1 < (m - 1) * mu < 1:  # below that the bound is 1 for all it matters
                found.append(
                    (mu, diagnostics.residual_bound(m, mu), worst_residual(centers, kernel))
                )
        mu, bound, true = np.array(found).T
        slack = true - bound
        tightest = int(np.argmin(slack))
        rows.append(
            [
                f"{m}",
                f"{len(found)}",
                f"{mu[tightest]:.3f}",
                f"{bound[tightest]:.4f}",
                f"{diagnostics.residual_bound(m, mu[tightest], form='printed'):.4f}",
                f"{true[tightest]:.4f}",
                f"{(slack < -1e-12).sum()}",
            ]
        )
    return Report(
        "Honeine et al. 2007, Proposition 3: squared error of an element approximated by the others",
        [
            "m",
            "dictionaries",
            "coherence of the tightest",
            "bound that holds",
            "bound as printed",
            "true",
            "violations",
        ],
        rows,
        notes=[
            "Random dictionaries of a Gaussian kernel with (m - 1) mu < 1. Figure 1: the bounds. Figure 2: what the coherence rule says of admitted and rejected samples."
        ],
        pictures=[
            plots.coherence_bounds(output / "figure-1.png"),
            plots.approximation_regions(output / "figure-2.png"),
        ],
    )
