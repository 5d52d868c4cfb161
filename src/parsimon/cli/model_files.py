"""Load models, and read data the way a model's data was read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import parsimon
from parsimon.cli.errors import Failure
from parsimon.cli.reading.file_kinds import looks_like
from parsimon.tables import TableModel

__all__ = [
    "column_kinds",
    "load_fitted_model",
    "load_model",
    "load_table_model",
    "reading_options",
    "skipped_rows",
]


def load_model(path: Path) -> Any:
    """Return the model of a file. The error for another file says what it looks like."""
    try:
        return parsimon.load(path)
    except parsimon.ModelFileError:
        with open(path, "rb") as file:
            kind = looks_like(file.read(8192))
        if kind == "a model file":
            raise
        raise Failure(f"{path} is not a model file: it looks like {kind}") from None


def load_table_model(path: Path) -> TableModel:
    """Return the model of a file that `learn` has written."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise Failure(
            f"{path} holds a {type(model).__name__}, which knows no columns: "
            "it was not learned by `learn`"
        )
    return model


def load_fitted_model(path: Path) -> TableModel:
    """Return the model of a file that `learn` has written, ready to predict."""
    model = load_table_model(path).finish()
    if not model.n_rows_:
        raise Failure(f"{path} has learned nothing yet")
    return model


def column_kinds(model: TableModel) -> dict[str, str]:
    """Return the kinds of the columns that a model knows, with the target; none if it is new."""
    return model.column_kinds_


def reading_options(
    model: TableModel, decimal: str | None, date_formats: Sequence[str]
) -> dict[str, Any]:
    """Return how to read data for a model: as asked for, or else as its data was read."""
    kept = getattr(model, "reading_", {})
    return {
        "decimal": decimal or kept.get("decimal"),
        "date_formats": date_formats or kept.get("date_formats", []),
    }


def skipped_rows(model: TableModel) -> int:
    """Return how many bad rows were skipped when the model learned."""
    n: int = getattr(model, "reading_", {}).get("skipped", 0)
    return n
