"""The bars: how much worse than simple models and the former default ours may be."""

from __future__ import annotations

import numpy as np
from arena_models import SIMPLE
from arena_scores import new_labels

__all__ = ["FIXED", "beside", "fixed", "verdicts"]

#: The warm-up of the former default, and the rows that count as the beginning of a stream.
BEGINNING = 200
#: A difference smaller than this share of a standard deviation, or nat, does not count.
SLACK = 0.005

#: Fixed bounds: what is measured, rows, bound.
FIXED = {
    "fried": ("loss", slice(0, None), 1.33),
    "metrotraffic": ("loss", slice(0, None), 600.0),
    "california_housing": ("loss", slice(0, None), 47500.0),
    "bike_sharing_hour": ("loss", slice(0, None), 43.0),
    "electricity": ("loss", slice(0, None), 0.188),
    "nomao": ("loss", slice(0, None), 0.0535),
    "pumadyn32nm": ("relative", slice(BEGINNING, 8000), 0.28),
    "pol": ("relative", slice(BEGINNING, 8000), 0.062),
    "parkinsons": ("relative", slice(BEGINNING, None), 0.025),
    "cod_rna": ("loss", slice(BEGINNING, 20000), 0.176),
    "gas_drift_partial": ("loss", slice(BEGINNING, None), 0.05),
    "covtype_20k": ("error", slice(BEGINNING, None), 0.284),
    "kin40k": ("relative", slice(0, None), 0.391),
}


def score(stream, losses, rows, known_only):
    """RMSE or mean log-loss over some rows; without rows that bring a new label, if so asked."""
    if stream.task == "regression":
        return float(np.sqrt(losses[rows].mean()))
    counted = ~new_labels(stream.y)[rows] if known_only else np.ones(len(losses[rows]), bool)
    return float(losses[rows][counted].mean()) if counted.any() else 0.0


def beside(stream, runs):
    """Return the scores of runs {name: run} over all rows but the first, and over parts.

    "known" holds the scores without the rows that bring a new label. No model knows such a label,
    so each costs all models 16 nats, which hides differences.
    """
    parts = {
        "all": slice(1, None),
        "after": slice(BEGINNING, None),
        "beginning": slice(1, BEGINNING),
    }
    losses = {name: run.losses(stream) for name, run in runs.items()}
    found = {
        kind: {
            part: {
                name: score(stream, each, rows, kind == "known") for name, each in losses.items()
            }
            for part, rows in parts.items()
        }
        for kind in ("scores", "known")
    }
    units = {
        part: float(stream.y[rows].std()) if stream.task == "regression" else 1.0
        for part, rows in parts.items()
    }
    return {**found, "units": units}


def verdicts(measured, kind="scores"):
    """Return {bar: (ratio, difference in units, allowed ratio, word)} from what `beside` gave."""
    scores, units = measured[kind], measured["units"]
    found = {}
    if "former" in scores["all"]:
        for part in ("all", "after"):
            found[f"former, {part}"] = _judge(scores, units, part, ["former"], 1.03)
    if all(name in scores["all"] for name in SIMPLE):
        found["best of three, all"] = _judge(scores, units, "all", list(SIMPLE), 1.05)
        found["best of three, beginning"] = _judge(scores, units, "beginning", list(SIMPLE), 1.3)
    return found


def _judge(scores, units, part, others, allowed):
    ours = scores[part]["ours"]
    least = min(scores[part][name] for name in others)
    ratio = ours / least if least > 0 else (1.0 if ours == 0 else float("inf"))
    difference = (ours - least) / units[part] if units[part] > 0 else ours - least
    word = "held" if ratio <= allowed else "within .005" if difference <= SLACK else "**failed**"
    return ratio, difference, allowed, word


def fixed(stream, run):
    """Return what is seen and the bound of a stream that has a fixed one, or None."""
    if stream.name not in FIXED:
        return None
    what, rows, bound = FIXED[stream.name]
    losses = run.losses(stream)[rows]
    if what == "error":
        seen = float((run.predictions != stream.y)[rows].mean())
    elif what == "relative":
        seen = float(losses.mean() / stream.y[rows].var())
    else:
        seen = float(losses.mean())
        seen = seen**0.5 if stream.task == "regression" else seen
    return {"what": what, "seen": seen, "bound": bound, "rows": len(losses)}
