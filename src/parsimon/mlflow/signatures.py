"""What a table model says about itself to MLflow: its columns, an example, and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema

from parsimon.mlflow.scoring import PARAMS
from parsimon.preprocessing import EncodedColumn
from parsimon.tables import TableModel

__all__ = ["example_of", "signature_of"]

#: The type of MLflow for each kind of column.
TYPES = {
    "number": DataType.double,
    "boolean": DataType.boolean,
    "duration": DataType.double,  # seconds
    "time": DataType.string,
    "date": DataType.datetime,
    "timestamp": DataType.datetime,
    "text": DataType.string,
}


def signature_of(model: TableModel) -> ModelSignature:
    """Return the signature of a model that has learned: columns, predictions and parameters.

    >>> print(signature_of(TableModel("y").learn_one({"x": 1.0, "y": 2.0})).inputs)
    ['x': double (required)]
    """
    ready = model.frozen_copy()
    columns = [ColSpec(TYPES[kind], name) for name, kind in ready.encoder_.columns_.items()]
    classes = ready.task_ == "classification"
    output = _type_of(ready.classes_) if classes else DataType.double
    offered = {"lagged"}
    if classes:
        offered.add("probabilities")
    elif ready.intervals is not None:
        offered.add("intervals")
    params = [
        ParamSpec(name, DataType.boolean, default)
        for name, default in PARAMS.items()
        if name in offered
    ]
    return ModelSignature(Schema(columns), Schema([ColSpec(output)]), ParamSchema(params))


def example_of(model: TableModel) -> pd.DataFrame:
    """Return a row as an example: the mean of each column, or the first text.

    >>> example_of(TableModel("y").learn_one({"x": 1.0, "y": 2.0}))
         x
    0  1.0
    """
    columns = model.frozen_copy().encoder_.encoded_columns_
    return pd.DataFrame({column.name: [_example(column)] for column in columns})


def _example(column: EncodedColumn) -> Any:
    if column.kind == "text":
        return column.categories[0] if column.categories else ""
    return EXAMPLES[column.kind](column.mean)


def _type_of(labels: Any) -> DataType:
    kinds = {"b": DataType.boolean, "i": DataType.long, "u": DataType.long, "f": DataType.double}
    return kinds.get(np.asarray(labels).dtype.kind, DataType.string)


def _at(seconds: float) -> pd.Timestamp:
    return pd.Timestamp(round(seconds), unit="s")


#: The value of a mean, which is in seconds for times.
EXAMPLES: dict[str, Callable[[float], Any]] = {
    "number": float,
    "boolean": lambda mean: mean >= 0.5,
    "duration": float,
    "time": lambda mean: f"{_at(mean):%H:%M:%S}",
    "date": lambda mean: _at(mean).normalize(),
    "timestamp": _at,
}
