"""What `compare` shows of its models: a table of scores, and notes on the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from parsimon.cli.compare_models import WARMUP, Model
from parsimon.cli.intervals import percent

__all__ = ["drawn_metric", "model_facts", "score_notes", "score_table", "window"]

#: Metrics that are shown, by task. The first one is drawn.
SHOWN = {
    "classification": {"accuracy": "accuracy", "kappa": "kappa", "log_loss": "log loss"},
    "regression": {"relative_mse": "error / variance", "mae": "absolute error", "r2": "R2"},
}


def drawn_metric(task: str) -> str:
    """Return the metric that is drawn."""
    return next(iter(SHOWN[task]))


def window(models: Mapping[str, Model]) -> int:
    """Return over how many rows the scores of the last rows are."""
    metrics = [model.metrics for model in models.values() if model.metrics is not None]
    return max((int(m.rolling()["rows"]) for m in metrics), default=0)


def interval_share(models: Mapping[str, Model]) -> float | None:
    """Return the share of targets that intervals are for, or None if no model has intervals."""
    return next((m.intervals for m in models.values() if m.intervals is not None), None)


def score_table(models: Mapping[str, Model], task: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of scores."""
    shown, first = SHOWN[task], drawn_metric(task)
    of_intervals = [] if interval_share(models) is None else ["coverage", "width"]
    rows = []
    for name, model in models.items():
        total, rolling = model.scores()
        values = [*(total.get(key) for key in shown), rolling.get(first)]
        texts = ["" if v is None or np.isnan(v) else f"{v:.4f}" for v in values]
        ends = [total.get(key, np.nan) for key in of_intervals]
        texts += ["-" if np.isnan(v) else f"{v:.4f}" for v in ends]
        centres = "" if model.centres is None else f"{model.centres:,}"
        cost = "" if not model.rows else f"{model.microseconds_per_row:,.1f}"
        rows.append([name, *texts, centres, cost, model.failed or ""])
    last = f"last {window(models):,}" if window(models) else "last rows"
    recent = f"{shown[first]}, {last}"
    header = [task, *shown.values(), recent, *of_intervals, "centres", "us/row", ""]
    if not any(model.failed for model in models.values()):
        return header[:-1], [row[:-1] for row in rows]
    return header, rows


def score_notes(models: Mapping[str, Model], task: str) -> list[str]:
    """Return what to know about the scores: which models have none and why, and over which rows."""
    share = interval_share(models)
    notes = _row_notes(models, task)
    if share is not None:
        what = "the share of targets within their intervals, and how wide these are"
        notes.append(f"coverage and width: {what}; the intervals are for {percent(share)}")
    return notes


def _row_notes(models: Mapping[str, Model], task: str) -> list[str]:
    unscored: dict[str, list[str]] = {}
    for name, model in models.items():
        if reason := model.why_no_scores():
            unscored.setdefault(reason, []).append(name)
    if not unscored:
        names = [name for name, model in models.items() if model.warmup]
        if not names:
            return []
        loss = ", which have no log loss" if task == "classification" else ""
        said = f"predictions repeat the last target for the first {WARMUP} rows{loss}"
        return [f"{', '.join(names)}: {said}"]
    notes = []
    for reason, names in unscored.items():
        which = "" if len(names) == len(models) else f" for {', '.join(names)}"
        notes.append(f"no scores{which}: {reason}")
    return notes


def model_facts(model: Model, skipped: int) -> dict[str, Any]:
    """Return the scores of a model as JSON has them. `skipped` is the number of bad rows."""
    total, rolling = model.scores()
    failed = {} if model.failed is None else {"failed": model.failed}
    return {
        "rows": model.rows,
        "centres": model.centres,
        "microseconds_a_row": model.microseconds_per_row,
        "skipped": skipped,
        "total": total,
        "rolling": rolling,
        **failed,
    }
