"""Figures 1 and 2: the coherence bounds, compared with random dictionaries."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from parsimon import diagnostics, plots
from parsimon.experiments.report import Report
from parsimon.kernels import Gaussian


def worst_residual(centers: np.ndarray, kernel: Gaussian) -> float:
    """Return the smallest squared error of a centre approximated by the other centres.

    It is 1 / max_j (K^-1)_jj for the Gram matrix K of a kernel with k(x, x) = 1.
    """
    return float(1.0 / np.diag(np.linalg.inv(kernel(centers))).max())


def run(output: Path, *, quick: bool = False) -> Report:
    """Draw both figures, and compare the bound of Proposition 3 with random dictionaries."""
    rng = np.random.default_rng(2007)
    rows = []
    kernel = Gaussian(1.0)
    for m in (2, 5, 10):
        found = []
        for _ in range(200 if quick else 2000):
            centers = rng.normal(size=(m, 3)) * rng.uniform(1, 3) * m ** (1 / 3)
            mu = diagnostics.coherence(kernel, centers)
            if 0.1 < (m - 1) * mu < 1:  # below 0.1 the bound is practically 1
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
        "Honeine et al. 2007, Proposition 3: squared error of a centre approximated by the others",
        [
            "centres m",
            "dictionaries",
            "coherence of the tightest",
            "corrected bound",
            "bound as printed",
            "true",
            "violations",
        ],
        rows,
        notes=[
            "Random dictionaries of m centres of a Gaussian kernel with (m - 1) mu < 1. One centre "
            "is approximated by the m - 1 others. m means the same in both figures. Figure 1: the "
            "bounds. Figure 2: which errors are possible for a sample x that the coherence rule, "
            "(6) in the paper, admits as the last of m centres, or that it rejects."
        ],
        pictures=[
            plots.coherence_bounds(output / "figure-1.png"),
            plots.approximation_regions(output / "figure-2.png"),
        ],
    )
