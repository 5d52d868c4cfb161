"""What `forecast` shows: a table or lines of JSON, notes, and a picture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon import plots
from parsimon.cli.model_facts import mean_weights
from parsimon.cli.text import as_json, lines, table
from parsimon.cli.words import plural
from parsimon.forecasting.structure import STARTS
from parsimon.plots.drawing import plain

if TYPE_CHECKING:
    from parsimon.cli.forecast_run import ForecastRun

__all__ = ["ERROR_OF", "draw_forecasts", "print_forecasts"]

#: How the names of the columns of errors begin.
ERROR_OF = "error of "


def print_forecasts(run: ForecastRun, found: dict[str, Any]) -> None:
    """Print the forecasts as a table, or as lines of JSON."""
    o, model = run.options, run.model
    for note in _notes(run, found):
        print(f"parsimon: note: {note}", file=sys.stderr)
    columns = found | {f"{ERROR_OF}{name}": e.tolist() for name, e in model.errors_.items()}
    each = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if o.json:
        for row in each:
            print(as_json(row))
        return
    seasons = ", ".join(map(str, model.seasons_)) or "none found"
    pairs = [("rows", f"{model.n_rows_:,}"), ("seasons", seasons)]
    if len(model.weights_.T):
        shown = sorted(mean_weights(model).items(), key=lambda item: -item[1])[:4]
        pairs.append(("models", ", ".join(f"{name} {w:.2f}" for name, w in shown if w > 0.005)))
    written = {"forecasts": o.out, "plot": o.plot, "model": o.model}
    pairs += [(name, str(path)) for name, path in written.items() if path is not None]
    print(lines(pairs))
    print()
    cells = [[_shown(value) for value in row.values()] for row in each]
    print(table(list(columns), cells, left=(1,)))


def _notes(run: ForecastRun, found: dict[str, Any]) -> list[str]:
    """Return what the user should know about the forecasts."""
    model, each = run.model, []
    if not model.expert_names_:
        start = next(s for s in STARTS if s >= 2 * model.horizon)
        few = f"fewer than {start:,}" if model.n_rows_ < start else "too few"
        season = max(model.seasons_, default=0)
        what = f"the value {plural(season, 'row')} before" if season else "the last value"
        each.append(f"{few} rows: {what} is the forecast")
    if None in found["low"]:
        each.append("some intervals are empty: too few forecasts have been scored")
    if run.zoned:
        each.append(f"the times of {run.time} have a zone: future times are in UTC")
    if run.time not in (None, run.time_name):
        each.append(
            f"the times are in the column {run.time_name!r}, because the table has a column "
            f"{run.time!r} of its own"
        )
    rows = run.start + run.n_learned
    if model.n_rows_ > 2 * rows:
        each.append(
            f"most times are missing: {rows:,} of {model.n_rows_:,} rows are in the data. "
            "Leave --time out if gaps do not matter"
        )
    return each


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def draw_forecasts(run: ForecastRun, found: dict[str, Any], path: Path) -> None:
    """Draw the last values and the forecasts."""
    bounds: Any = np.array([found["low"], found["high"]], dtype=np.float64).T
    plots.forecast(
        path,
        run.last,
        (run.model.future_times(), found["forecast"]),
        bounds=bounds if np.isfinite(bounds).any() else None,
        errors=run.model.errors_,
        name=run.options.target,
        title=plain(f"{run.options.target} of {run.options.data}", 80),
    )
