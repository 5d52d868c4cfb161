"""How do forecasts go on after a series has changed: a shift of the level, a trend, an outlier?

    OPENBLAS_NUM_THREADS=1 python benchmarks/forecast_changes.py [--rows 600] [--seeds 3]

Each series changes after some rows. The table has the mean absolute error of forecasts of 24 steps
over that of the last value, by the number of rows since the change, and averaged over seeds. The
first four rows after a shift cannot be told from outliers. There is no bar.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from common import markdown

from parsimon import Forecaster

HORIZON = 24
#: Origins, in rows after the change, and how they are grouped.
ORIGINS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40, 60, 90, 130, 200)
GROUPS = {
    "1 to 4": (0, 4),
    "5 to 10": (4, 8),
    "13 to 30": (8, 13),
    "40, 60": (13, 15),
    "90 to 200": (15, 18),
}


def _autoregressive(t: Any, e: Any) -> Any:
    y = np.zeros(len(e))
    for i in range(1, len(e)):
        y[i] = 0.8 * y[i - 1] + e[i]
    return y


SERIES: dict[str, Callable[[Any, Any], Any]] = {
    "white noise": lambda t, e: e,
    "autoregressive": _autoregressive,
    "season and noise": lambda t, e: 3 * np.sin(2 * np.pi * t / 24) + e,
    "two waves": lambda t, e: np.sin(2 * np.pi * t / 37) + np.sin(2 * np.pi * t / 11.3) + 0.05 * e,
    "random walk": lambda t, e: np.cumsum(e),
}
#: Changes, in units of the deviation of the series, given the rows since the change.
CHANGES: dict[str, Callable[[Any], Any]] = {
    "none": lambda since: 0.0 * since,
    "shift by 3": lambda since: 3.0 * (since >= 0),
    "shift by 5": lambda since: 5.0 * (since >= 0),
    "shift by 20": lambda since: 20.0 * (since >= 0),
    "shift by 20, for 40 rows": lambda since: 20.0 * ((since >= 0) & (since < 40)),
    "trend of 0.3 per row": lambda since: 0.3 * np.maximum(since, 0),
    "one outlier of 20": lambda since: 20.0 * (since == 0),
}


def errors(series: str, change: str, rows: int, seed: int) -> Any:
    """Return the errors of the forecaster and of the last value at all origins, (N, 2)."""
    t = np.arange(rows + ORIGINS[-1] + HORIZON)
    y = SERIES[series](t, np.random.default_rng(seed).normal(size=len(t)))
    unit = 1.0 if series == "random walk" else y.std()
    y = y + unit * CHANGES[change](t - rows)
    model, found = Forecaster(horizon=HORIZON).learn(y[:rows]), []
    for before, origin in zip((0, *ORIGINS), ORIGINS, strict=False):
        model.learn(y[rows + before : rows + origin])
        targets = y[rows + origin :][:HORIZON]
        last = y[rows + origin - 1]
        found.append([np.abs(f - targets).mean() for f in (model.forecast(), last)])
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=600, help="rows before the change")
    parser.add_argument("--seeds", type=int, default=3, help="series of each kind")
    given = parser.parse_args()
    table = []
    for change in CHANGES:
        for series in SERIES:
            found = np.mean([errors(series, change, given.rows, s) for s in range(given.seeds)], 0)
            ratios = [found[a:b, 0].mean() / found[a:b, 1].mean() for a, b in GROUPS.values()]
            table.append([change, series, *(f"{ratio:.2f}" for ratio in ratios)])
    print(markdown(["change", "series", *(f"rows {name}" for name in GROUPS)], table))


if __name__ == "__main__":
    main()
