"""What is kept of every row of a stream, and the metrics of StreamArena from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

__all__ = ["FLOOR", "Run", "metrics", "new_labels"]

#: The least probability of StreamArena's log-loss.
FLOOR = 1e-7


@dataclass
class Run:
    """Predictions for every row before it was learned, and what they took.

    `probabilities` (n, C) are those of the sorted labels of the whole stream. A label that a model
    has not seen has probability 0.
    """

    predictions: np.ndarray
    probabilities: np.ndarray | None = None
    wall: float = float("nan")
    cpu: float = float("nan")
    nbytes: int | None = None
    hyperparameters: dict | None = None

    def losses(self, stream):
        """Return the squared error or the logarithmic loss of every row, (n,)."""
        if stream.task == "regression":
            return (stream.y - self.predictions) ** 2
        index = np.unique(stream.y, return_inverse=True)[1]
        found = self.probabilities[np.arange(len(index)), index]
        return -np.log(np.maximum(found, FLOOR))


def new_labels(y):
    """Return which rows bring a label for the first time, (n,)."""
    found = np.zeros(len(y), dtype=bool)
    found[np.unique(y, return_index=True)[1]] = True
    return found


def metrics(stream, run):
    """Return the metrics of StreamArena over all rows, with its names and units."""
    y, f, loss = stream.y, run.predictions, run.losses(stream)
    if stream.task == "regression":
        return {
            "rmse": float(np.sqrt(loss.mean())),
            "mae": float(np.abs(y - f).mean()),
            "r2": float(1.0 - loss.mean() / y.var()) if y.var() > 0 else None,
        }
    labels, true = np.unique(y, return_inverse=True)
    predicted = np.searchsorted(labels, f)
    n, C = len(y), len(labels)
    table = np.zeros((C, C))
    np.add.at(table, (true, predicted), 1.0)
    accuracy = np.trace(table) / n
    chance = float((table.sum(axis=0) / n) @ (table.sum(axis=1) / n))
    unchanged = np.append(False, true[1:] == true[:-1]).mean()
    # MOA's majority counts the label of the row itself.
    counts = np.cumsum(np.eye(C)[true], axis=0)
    majority = (counts.argmax(axis=1) == true).mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = np.nan_to_num(np.diag(table) / table.sum(axis=1)).mean()
        precision = np.nan_to_num(np.diag(table) / table.sum(axis=0)).mean()
    both = precision + recall
    found = {
        "accuracy": 100.0 * accuracy,
        "kappa": _kappa(accuracy, chance),
        "kappa_t": _kappa(accuracy, unchanged),
        "kappa_m": _kappa(accuracy, majority),
        "f1_score": 200.0 * precision * recall / both if both > 0 else 0.0,
        "log_loss": float(loss.mean()),
        "roc_auc": None,
        "pr_auc": None,
    }
    if C == 2:
        found["roc_auc"] = float(roc_auc_score(true, run.probabilities[:, 1]))
        found["pr_auc"] = float(average_precision_score(true, run.probabilities[:, 1]))
    return {name: None if value is None else float(value) for name, value in found.items()}


def _kappa(accuracy, other):
    return 100.0 * (accuracy - other) / (1.0 - other) if other < 1.0 else None
