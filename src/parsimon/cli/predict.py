"""``parsimon predict``: copy rows, with a column of predictions."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from parsimon.cli.errors import Failure
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.model_files import column_kinds, load_fitted_model, reading_options
from parsimon.cli.paths import require_different
from parsimon.cli.reading import Block, Source, table_failure
from parsimon.cli.table_writer import output_format, table_writer
from parsimon.preprocessing import TableError
from parsimon.tables import TableModel

__all__ = ["predict"]

#: Decimals of probabilities, and decimals of predictions in units of the target's deviation.
PROBABILITY_DECIMALS, PREDICTION_DECIMALS = 8, 4
#: What is said if intervals are infinite.
NO_INTERVALS = "too few rows were learned for intervals: their columns are empty"


def predict(
    path: Path,
    data: str,
    out: Path | None,
    column: str,
    probabilities: bool,
    intervals: bool = False,
    delimiter: str | None = None,
    all_digits: bool = False,
    decimal: str | None = None,
    date_formats: Sequence[str] = (),
    lagged: bool = False,
) -> int:
    """Write the rows of the data with a column of predictions.

    With `intervals`, two more columns have the ends of the prediction intervals. With `lagged`,
    each row counts as the next one after the last row that the model learned.
    """
    model = load_fitted_model(path)
    has_probabilities = hasattr(model.estimator_, "predict_proba")
    if probabilities and not (model.task_ == "classification" and has_probabilities):
        name = type(model.estimator_).__name__
        raise Failure(f"{path} gives no probabilities: it is {model.task_} with {name}")
    if intervals and model.intervals is None:
        how = "learn it again with --intervals 0.9, or another share"
        if model.task_ == "classification":
            how = "they are for numbers, and it predicts classes"
        raise Failure(f"{path} has no intervals: {how}")
    require_different({"MODEL": path, "DATA": data, "--out": out})
    format_name, interrupt = output_format(out), Interrupt()
    with (
        Source(
            data,
            kinds=column_kinds(model),
            delimiter=delimiter,
            written=True,
            stopped=interrupt,
            **reading_options(model, decimal, date_formats),
        ) as source,
        interrupt,
        interrupt.reader(out),
    ):
        _stop_if(interrupt)
        if format_name is None:
            format_name = "json" if source.format == "json" else "csv"
        rounded = format_name != "parquet" and not all_digits
        wanted = _Wanted(column, probabilities, intervals, rounded, lagged)
        unknown = False  # whether intervals are empty
        copied = source.format in (format_name, "parquet", "arrow")
        with table_writer(out, format_name) as write:
            for block in source.blocks():
                source.print_notes()
                rows = block.written if copied else block.table
                found = _with_predictions(model, block, rows, wanted)
                unknown |= intervals and found.column(found.num_columns - 1).null_count > 0
                write(found, source.dialect)
                _stop_if(interrupt)
            if not source.rows:
                raise Failure(f"{source.path} has no rows")
            if unknown:
                print(f"parsimon: note: {NO_INTERVALS}", file=sys.stderr)
    return 0


def _stop_if(interrupt: Interrupt) -> None:
    """End the command after a signal. A file that is half written is removed."""
    if interrupt():
        raise SystemExit(interrupt.exit_code)


class _Wanted(NamedTuple):
    """What is added to rows: the name of the column, and the options of the command."""

    column: str
    probabilities: bool
    intervals: bool
    rounded: bool
    lagged: bool


def _with_predictions(model: TableModel, block: Block, rows: Any, wanted: _Wanted) -> Any:
    """Return rows with further columns for the predictions of a block."""
    _require_new(wanted.column, rows.column_names)
    try:
        found = _predicted(model, block.table, wanted)
    except TableError as error:
        raise table_failure(error, block.first) from None
    for name, values in found.items():
        _require_new(name, rows.column_names)
        numbers = values.dtype.kind == "f"  # NaN is written as a missing value
        column = pa.array(values, from_pandas=True) if numbers else pa.array(values.tolist())
        rows = rows.append_column(name, column)
    return rows


def _predicted(model: TableModel, table: Any, wanted: _Wanted) -> dict[str, Any]:
    """Return the columns of predictions by name."""
    column, lagged = wanted.column, wanted.lagged
    if wanted.intervals:
        found, ends = model.predict(table, lagged=lagged, return_intervals=True)
        ends = np.where(np.isfinite(ends), ends, np.nan)
        numbers = {column: found, f"{column}: low": ends[:, 0], f"{column}: high": ends[:, 1]}
    else:
        numbers = {column: model.predict(table, lagged=lagged)}
    if wanted.rounded and model.task_ == "regression":
        numbers = {name: _rounded(v, model.scaler_.scale_) for name, v in numbers.items()}
    if wanted.probabilities:
        P = model.predict_proba(table, lagged=lagged)
        P = np.round(P, PROBABILITY_DECIMALS) if wanted.rounded else P
        for i, label in enumerate(model.classes_.tolist()):
            numbers[f"{column}: {label}"] = P[:, i]
    return numbers


def _require_new(column: str, present: Sequence[str]) -> None:
    """Fail if the data has a column of this name."""
    if column in present:
        raise Failure(
            f"the data has a column {column!r} already: choose another name with --column"
        )


def _rounded(values: Any, scale: float) -> Any:
    """Round predictions to at most 1e-4 of the target's standard deviation, `scale`.

    >>> _rounded(np.array([1234.56789, 0.1]), 250.0).tolist()
    [1234.57, 0.1]
    """
    places = PREDICTION_DECIMALS - math.floor(math.log10(scale)) if scale > 0 else 17
    return values if places > 17 else np.round(values, max(places, 0))
