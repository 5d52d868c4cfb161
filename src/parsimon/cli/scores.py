"""Scores in words: over which rows they are, and why there are none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from parsimon.cli.intervals import percent
from parsimon.cli.words import plural
from parsimon.mixtures import Mixture
from parsimon.tables import TableModel

__all__ = [
    "INTERVAL_NAMES",
    "NAMES",
    "guessed_rows",
    "interval_lines",
    "meaningful_scores",
    "model_score_lines",
    "model_scores",
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
#: Names of the metrics of intervals for people.
INTERVAL_NAMES = {"coverage": "interval coverage", "width": "interval width"}
#: Which metrics can be over fewer rows: the key of their number, and these rows in words.
FEWER_ROWS = {
    "log_loss": ("log_loss_rows", "after the warm-up"),
    "coverage": ("interval_rows", "with intervals"),
    "width": ("interval_rows", "with intervals"),
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


def model_scores(model: TableModel) -> tuple[dict[str, float], dict[str, float]]:
    """Return the metrics of a model over all rows and over the last rows, with its intervals.

    Coverage and width can be over fewer rows than the other metrics; `interval_rows` is the number
    of these rows.
    """
    total, rolling = meaningful_scores(model.metrics_, guessed_rows(model))
    intervals = model.interval_metrics_
    if intervals is not None:
        n = getattr(intervals, "n_rows_", 0)
        total |= {**intervals.total(), "interval_rows": n}
        rolling |= {**intervals.rolling(), "interval_rows": min(n, intervals.window)}
    return total, rolling


def score_lines(
    total: dict[str, float],
    rolling: dict[str, float] | None = None,
    names: Mapping[str, str] = NAMES,
) -> list[tuple[str, str]]:
    """Return names and values of metrics, over all rows and over the last rows.

    The last rows are left out if they are all rows.
    """
    pairs = []
    for key, name in names.items():
        if key not in total or math.isnan(total[key]):
            continue
        text = f"{total[key]:.6g}"
        if rolling is not None:
            rows, last, which = total["rows"], rolling["rows"], "all rows"
            count, what = FEWER_ROWS.get(key, ("rows", ""))
            if total.get(count, rows) < rows:
                rows, last = total[count], rolling[count]
                which = f"the {plural(int(rows), 'row')} {what}"
            text += f" over {which}"
            if last < rows:
                recent = "undefined" if math.isnan(rolling[key]) else f"{rolling[key]:.6g}"
                text += f", {recent} over the last {last:,.0f}"
        pairs.append((name, text))
    return pairs


def interval_lines(
    model: TableModel, total: dict[str, float], rolling: dict[str, float] | None = None
) -> list[tuple[str, str]]:
    """Return the coverage and width of intervals, if the model has intervals."""
    if model.intervals is None:
        return []
    said = f"for {percent(model.intervals)} of the targets"
    found = score_lines(total, rolling, INTERVAL_NAMES)
    if not found:
        said += "; there are none yet, because too few rows were learned"
    return [("intervals", said), *found]


def model_score_lines(model: TableModel) -> list[tuple[str, str]]:
    """Return the scores of a model and how the first rows count, or why there are no scores."""
    guessed, scores = guessed_rows(model), model_scores(model)
    intervals = interval_lines(model, *scores)
    reason = why_no_scores(model.metrics_, guessed)
    if reason is not None:
        return [("scores", f"none: {reason}"), *intervals]
    note = "each row is predicted before it is learned, from the second row on"
    if guessed:
        note = f"the first {guessed:,} rows count with the previous target as prediction"
    return [("scores", note), *score_lines(*scores), *intervals]
