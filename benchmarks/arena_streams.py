"""The streams of `arena.py`: files of a folder, and those of `made_streams`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from made_streams import MADE, made

__all__ = ["LEADERBOARD", "Stream", "load", "names"]

#: Sorted files, whose rows are shuffled.
SHUFFLED = {"cod_rna", "pumadyn32nm", "pol"}
#: A series becomes rows of this many earlier values, with the next value as the target.
LAGS = 5
#: Whole numbers with at most this many distinct values are classes.
MOST_CLASSES = 50

#: The names of StreamArena and its figures: RMSE for numbers, log-loss for classes.
LEADERBOARD = {
    "electricity": (
        "real/electricity",
        {"ARF": 0.252, "SRP": 0.289, "HAT": 0.701, "majority": 0.682},
    ),
    "nomao": ("real/nomao", {"SRP": 0.077, "ARF": 0.081, "HAT": 0.460, "majority": 0.599}),
    "fried": ("synth/fried", {"SOKNL": 2.020, "FIMT-DD": 2.739, "ARF": 2.950, "mean": 4.998}),
    "bike_sharing_hour": (
        "real/bike",
        {"ARF": 91.87, "SOKNL": 95.15, "FIMT-DD": 572.0, "mean": 181.4},
    ),
    "california_housing": (
        "real/california_housing",
        {"ARF": 60824.0, "SOKNL": 62411.0, "FIMT-DD": 75973.0, "mean": 115455.0},
    ),
    "metrotraffic": ("real/MetroTraffic", {"ARF": 1705.0, "SOKNL": 1749.0, "mean": 1987.0}),
}


@dataclass(frozen=True)
class Stream:
    """Rows X (n, d) in the order of the stream, and targets y (n,)."""

    name: str
    X: np.ndarray
    y: np.ndarray
    task: str

    @property
    def dataset(self):
        """The name that StreamArena has for it, or one that says that it has none."""
        if self.name in LEADERBOARD:
            return LEADERBOARD[self.name][0]
        return f"{'made' if self.name in MADE else 'other'}/{self.name}"

    def block(self, rows):
        """Return some rows as a table with the target "y"."""
        columns = {f"x{i}": column for i, column in enumerate(self.X[rows].T)}
        return {**columns, "y": self.y[rows]}

    def first(self, n):
        return Stream(self.name, self.X[:n], self.y[:n], self.task)


def names(folder):
    """Return the names of the files that hold a stream, and of the made streams."""
    found = sorted(path.stem for path in Path(folder).glob("*.npz")) if folder else []
    return [name for name in found if _arrays(folder, name) is not None] + list(MADE)


def load(folder, name, rows=None):
    """Return the stream of a name, or its first rows."""
    X, y = made(name) if name in MADE else _arrays(folder, name)
    if name in SHUFFLED:
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
    task = "regression"
    if y.dtype.kind in "iub" and len(np.unique(y)) <= MOST_CLASSES:
        task = "classification"
    X = X[:rows].reshape(len(y[:rows]), -1).astype(np.float64)
    return Stream(name, X, y[:rows].astype(np.float64 if task == "regression" else int), task)


def _arrays(folder, name):
    """Return X and y of a file, or None if it holds no stream."""
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as stored:
        if "series" in stored:
            series = stored["series"].astype(np.float64)
            windows = np.lib.stride_tricks.sliding_window_view(series, LAGS + 1)
            return windows[:, :LAGS], windows[:, LAGS]
        for X, y in (("X", "y"), ("X_train", "y_train")):
            if X in stored and y in stored:
                return stored[X], stored[y]
    return None
