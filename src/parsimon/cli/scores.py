"""Scores in words: over which rows they are, and why there are none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from parsimon.mixtures import Mixture
from parsimon.tables import TableModel

__all__ = [
    "NAMES",
    "guessed_rows",
    "meaningful_scores",
    "model_score_lines",
    "score_lines",
    "why_no_scores",
]

#: Names of the metrics for people.
NAMES = {
    "accuracy": "accuracy",
    "kappa": "kappa",
    "kappa_no_change": "kappa relative to no change",
    "log_loss": "logarithmic loss",
    "mse": "squared error",
    "mae": "absolute error",
    "r2": "R2",
    "relative_mse": "error / variance",
}


def guessed_rows(model: TableModel) -> int:
    """Return how many first rows count with the previous target as prediction.

    A mixture predicts during the warm-up. Other models begin after it.
    """
    return 0 if isinstance(getattr(model, "estimator_", None), Mixture) else model.warmup


def meaningful_scores(metrics: Any, warmup: int = 0) -> tuple[dict[str, float], dict[str, float]]:
    """Return the metrics over all rows and over the last rows; NaN where they mean nothing.

    Metrics mean nothing if there is only one class, or if all rows belong to the warm-up. The
    logarithmic loss can be over fewer rows than the other metrics; `log_loss_rows` is the number of
    these rows.
    """
    total, rolling = dict(metrics.total()), dict(metrics.rolling())
    if why_no_scores(metrics, warmup) is not None:
        for found in (total, rolling):
            found.update({name: math.nan for name in found if name != "rows"})
    elif not math.isnan(total.get("log_loss", math.nan)):
        total["log_loss_rows"] = metrics._losses
        rolling["log_loss_rows"] = int((~np.isnan(metrics._recent[2])).sum())
    return total, rolling


def why_no_scores(metrics: Any, warmup: int = 0) -> str | None:
    """Return why metrics mean nothing, or None if they are meaningful.

    `warmup` is the number of first rows that the model did not predict itself.
    """
    rows = metrics.total()["rows"] + 1
    if rows == 1:
        return "the first row is not scored"
    if rows <= warmup:
        return f"fewer than {warmup + 1:,} rows, and the first {warmup:,} are the warm-up"
    if "accuracy" in metrics.total() and len(metrics.labels_) < 2:
        return "there is only one class so far"
    return None


def score_lines(
    total: dict[str, float], rolling: dict[str, float] | None = None
) -> list[tuple[str, str]]:
    """Return names and values of metrics, over all rows and over the last rows.

    The last rows are left out if they are all rows.
    """
    pairs = []
    for key, name in NAMES.items():
        if key not in total or math.isnan(total[key]):
            continue
        text = f"{total[key]:.6g}"
        if rolling is not None:
            rows, last, which = total["rows"], rolling["rows"], "all rows"
            if key == "log_loss" and total.get("log_loss_rows", rows) < rows:
                rows, last = total["log_loss_rows"], rolling["log_loss_rows"]
                which = f"the {rows:,.0f} rows after the warm-up"
            text += f" over {which}"
            if last < rows:
                recent = "undefined" if math.isnan(rolling[key]) else f"{rolling[key]:.6g}"
                text += f", {recent} over the last {last:,.0f}"
        pairs.append((name, text))
    return pairs


def model_score_lines(model: TableModel) -> list[tuple[str, str]]:
    """Return the scores of a model and how the first rows count, or why there are no scores."""
    metrics, guessed = model.metrics_, guessed_rows(model)
    reason = why_no_scores(metrics, guessed)
    if reason is not None:
        return [("scores", f"none: {reason}")]
    note = "each row is predicted before it is learned, from the second row on"
    if guessed:
        note = f"the first {guessed:,} rows count with the previous target as prediction"
    return [("scores", note), *score_lines(*meaningful_scores(metrics, guessed))]
