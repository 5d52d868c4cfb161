"""``parsimon predict``: copy rows, with a column of predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def predict(
    path: Path,
    data: str,
    out: Path | None,
    column: str,
    probabilities: bool,
    delimiter: str | None = None,
    all_digits: bool = False,
    decimal: str | None = None,
    date_formats: Sequence[str] = (),
    lagged: bool = False,
) -> int:
    """Write the rows of the data with a column of predictions.

    With `lagged`, each row counts as the next one after the last row that the model learned.
    """
    model = load_fitted_model(path)
    has_probabilities = hasattr(model.estimator_, "predict_proba")
    if probabilities and not (model.task_ == "classification" and has_probabilities):
        name = type(model.estimator_).__name__
        raise Failure(f"{path} gives no probabilities: it is {model.task_} with {name}")
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
        copied = source.format in (format_name, "parquet", "arrow")
        with table_writer(out, format_name) as write:
            for block in source.blocks():
                source.print_notes()
                rows = block.written if copied else block.table
                found = _with_predictions(
                    model, block, rows, column, probabilities, rounded, lagged
                )
                write(found, source.dialect)
                _stop_if(interrupt)
            if not source.rows:
                raise Failure(f"{data} has no rows")
    return 0


def _stop_if(interrupt: Interrupt) -> None:
    """End the command after a signal. A file that is half written is removed."""
    if interrupt():
        raise SystemExit(interrupt.exit_code)


def _with_predictions(
    model: TableModel,
    block: Block,
    rows: Any,
    column: str,
    probabilities: bool,
    rounded: bool,
    lagged: bool,
) -> Any:
    """Return rows with further columns for the predictions of a block."""
    if column in rows.column_names:
        raise Failure(
            f"the data has a column {column!r} already: choose another name with --column"
        )
    try:
        found = {column: model.predict(block.table, lagged=lagged)}
        if rounded and model.task_ == "regression":
            found[column] = _rounded(found[column], model.scaler_.scale_)
        if probabilities:
            P = model.predict_proba(block.table, lagged=lagged)
            P = np.round(P, PROBABILITY_DECIMALS) if rounded else P
            for i, label in enumerate(model.classes_.tolist()):
                found[f"{column}: {label}"] = P[:, i]
    except TableError as error:
        raise table_failure(error, block.first) from None
    for name, values in found.items():
        rows = rows.append_column(name, pa.array(values.tolist()))
    return rows


def _rounded(values: Any, scale: float) -> Any:
    """Round predictions to at most 1e-4 of the target's standard deviation, `scale`.

    >>> _rounded(np.array([1234.56789, 0.1]), 250.0).tolist()
    [1234.57, 0.1]
    """
    places = PREDICTION_DECIMALS - math.floor(math.log10(scale)) if scale > 0 else 17
    return values if places > 17 else np.round(values, max(places, 0))
