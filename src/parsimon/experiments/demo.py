"""A kernel filter learns a nonlinear system from a stream: ``make demo``.

The system of Honeine, Richard & Bermudez 2007, section V.B, is learned sample by sample with KNLMS; every sample is predicted before it is learned.
The measurement noise is a tenth of the paper's: at the paper's own noise the system is so nearly linear that the best linear model does as well.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsimon import KNLMSRegressor, plots
from parsimon.datasets import make_honeine_system

NOISE = 0.01


@dataclass
class Progress:
    """What is shown while the stream runs, and drawn at the end."""

    total: int
    squared_errors: list[NDArray[np.float64]] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    centers: list[int] = field(default_factory=list)
    seconds: float = 0.0  # spent in the filter

    def rows(self, model: KNLMSRegressor) -> list[tuple[str, str]]:
        """Return the table as it stands."""
        seen = self.samples[-1]
        recent = np.concatenate(self.squared_errors[-50:])[-10_000:]
        return [
            ("samples", f"{seen:,} of {self.total:,}"),
            ("samples/s", f"{seen / self.seconds:,.0f}"),
            (f"error, last {len(recent):,}", f"{recent.mean():.6f}"),
            ("centres", f"{model.n_centers_}"),
            ("bytes", f"{model.nbytes_:,}"),
        ]


def run(n_samples: int, picture: Path) -> None:
    """Stream, show, draw."""
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    console = Console()
    with console.status("generating the stream"):
        X, d = make_honeine_system(n_samples, noise=NOISE, random_state=2007)
    model = KNLMSRegressor(gamma=1 / 0.02, step_size=0.09, coherence=0.5, budget=20)  # beta_0 and rho of the paper
    progress = Progress(n_samples)

    def table() -> Table:
        view = Table(title="KNLMS on the system of Honeine et al. 2007", show_header=False, title_justify="left")
        for name, value in progress.rows(model):
            view.add_row(name, value)
        view.add_row("", ProgressBar(n_samples, progress.samples[-1], width=28))
        return view

    with Live(console=console, refresh_per_second=12) as live:
        first = 0
        while first < n_samples:
            # Small blocks at the start, where the filter changes most; a block equals its rows, so its size changes nothing else.
            last = min(n_samples, first + min(1000, max(20, first // 20)))
            start = time.perf_counter()
            predicted = model.predict_then_learn(X[first:last], d[first:last])
            progress.seconds += time.perf_counter() - start
            progress.squared_errors.append((d[first:last] - predicted) ** 2)
            progress.samples.append(last)
            progress.centers.append(model.n_centers_)
            live.update(table())
            first = last

    A = np.column_stack([np.ones(n_samples), X])
    linear = float(np.mean((d - A @ np.linalg.lstsq(A, d, rcond=None)[0]) ** 2))
    console.print()
    console.print(f"The measurement noise alone: {NOISE**2:.6f}. The best linear model in hindsight: {linear:.6f}.")
    errors = np.concatenate(progress.squared_errors)
    sums = np.concatenate([[0.0], np.cumsum(errors)])
    ends = np.array(progress.samples)
    window = np.maximum(
        ends // 5, 20
    )  # the mean over the last fifth: as smooth on the right of a logarithmic axis as on the left
    plots.learning_curve(
        picture,
        ends,
        (sums[ends] - sums[ends - window]) / window,
        progress.centers,
        title=f"KNLMS, {n_samples:,} samples, {model.n_centers_} centres, {model.nbytes_:,} bytes",
        levels=[("best linear model", linear), ("measurement noise", NOISE**2)],
    )
    console.print(f"Error and model order over time: {picture}")


def main() -> None:
    """Run the demo from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--picture", type=Path, default=Path("demo-output/knlms.png"))
    arguments = parser.parse_args()
    run(arguments.samples, arguments.picture)


if __name__ == "__main__":
    main()
