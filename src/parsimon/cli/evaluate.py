"""``parsimon evaluate``: score a model on rows that it does not learn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.cli.errors import Failure
from parsimon.cli.model_files import column_kinds, load_fitted_model, reading_options
from parsimon.cli.reading import Block, Source, in_good_parts, table_failure
from parsimon.cli.scores import NAMES, interval_lines, score_lines
from parsimon.cli.text import as_json, lines
from parsimon.cli.words import plural
from parsimon.evaluation import METRICS, IntervalMetrics
from parsimon.preprocessing import TableError
from parsimon.tables import TableModel

__all__ = ["evaluate"]

#: The metric that compares each row with the row before it.
ORDERED = "kappa_no_change"


def evaluate(
    path: Path,
    data: str,
    as_lines: bool,
    delimiter: str | None = None,
    decimal: str | None = None,
    date_formats: Sequence[str] = (),
    bad_rows: str = "error",
) -> int:
    """Score a model on data, and print the scores."""
    model = load_fitted_model(path)
    scored = _Scored(model)
    reading = reading_options(model, decimal, date_formats)
    with Source(
        data, kinds=column_kinds(model), delimiter=delimiter, bad_rows=bad_rows, **reading
    ) as source:
        for block in source.blocks():
            _score_block(scored, block, source)
            source.print_notes()
        source.print_notes()
    if not scored.rows:
        raise Failure(f"{source.path} has no rows")
    total, skipped = scored.total(), source.rows - scored.rows
    if as_lines:
        print(as_json({**total, "skipped": skipped}))
        return 0
    pairs = [
        (name, f"{text}, if the rows are in order of time" if name == NAMES[ORDERED] else text)
        for name, text in score_lines(total)
    ]
    pairs += interval_lines(model, total)
    bad = f"; {plural(skipped, 'bad row')} skipped" if skipped else ""
    print(lines([("rows", f"{scored.rows:,}{bad}"), *pairs]))
    return 0


def _score_block(scored: _Scored, block: Block, source: Source) -> None:
    def refuse(at: int, error: TableError) -> None:
        row = block.number(at)
        source.refuse(row, table_failure(error, row))

    try:
        in_good_parts(partial(scored.take, block.table), 0, block.table.num_rows, refuse)
    except TableError as error:
        raise table_failure(error, block.first) from None


class _Scored:
    """Metrics of the predictions of a model.

    Attributes
    ----------
    rows : how many rows were scored.
    metrics : over all rows.
    ordered : over all rows but the first, which has no row before it.
    intervals : coverage and width of the intervals, or None.
    """

    def __init__(self, model: TableModel) -> None:
        self._model, self.rows = model, 0
        self.metrics, self.ordered = METRICS[model.task_](), METRICS[model.task_]()
        self.intervals = None if model.intervals is None else IntervalMetrics()

    def take(self, table: Any, at: int, n: int) -> None:
        """Score rows `at` to `at + n` of a table."""
        model, rows = self._model, table.slice(at, n)
        y = model._targets(model._read(rows)[1], model.task_)
        if self.intervals is None:
            found = [model.predict(rows, lagged=False)]
        else:
            predictions, ends = model.predict(rows, lagged=False, return_intervals=True)
            found = [predictions]
            self.intervals.update(y, ends)
        if hasattr(model.estimator_, "predict_proba"):
            found += [model.predict_proba(rows, lagged=False)]
        self.ordered.update(y, found[0])
        # The metrics do not score the very first row. Giving it twice makes it count once.
        if not self.rows:
            y, found = np.concatenate([y[:1], y]), [np.concatenate([f[:1], f]) for f in found]
        self.rows += n
        self.metrics.update(y, *found, *([model.classes_] if len(found) > 1 else []))

    def total(self) -> dict[str, float]:
        """Return the metrics, each over the rows for which it is defined."""
        total: dict[str, float] = self.metrics.total()
        if ORDERED in total:
            total[ORDERED] = self.ordered.total()[ORDERED]
        if self.intervals is not None:
            total |= self.intervals.total()
        return total
