"""A model of a table as plain data: an encoding, a function of the features, and a target."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property

from sklearn.exceptions import NotFittedError

from parsimon.export.combination import Combination
from parsimon.export.lags import Units
from parsimon.export.model_functions import ModelFunction, model_function
from parsimon.preprocessing import KINDS, EncodedColumn, TableEncoder, feature_count
from parsimon.tables import TableModel

__all__ = ["Encoding", "Table", "table"]

#: What the numbers of each kind of column are.
UNITS = {
    "number": "a number",
    "boolean": "0 or 1",
    "duration": "seconds",
    "time": "seconds since midnight",
    "date": "seconds since 1970-01-01, at midnight",
    "timestamp": "seconds since 1970-01-01, UTC",
    "text": "text in UTF-8",
}


@dataclass(frozen=True)
class Encoding:
    """Columns, and the features that are computed from them, in this order:

    - each number, standardised;
    - the sine of each wave, then the cosine of each wave;
    - the indicators of missing numbers;
    - for each text column: its categories, "other", "missing".
    """

    columns: tuple[EncodedColumn, ...]

    @cached_property
    def numbers(self) -> list[EncodedColumn]:
        """The columns of numbers."""
        return [column for column in self.columns if column.kind != "text"]

    @cached_property
    def texts(self) -> list[EncodedColumn]:
        """The columns of text."""
        return [column for column in self.columns if column.kind == "text"]

    @cached_property
    def waves(self) -> list[tuple[int, float]]:
        """The position in `numbers` and the period in seconds of each pair of sine and cosine."""
        return [
            (i, period)
            for i, column in enumerate(self.numbers)
            for period in KINDS[column.kind].values()
        ]

    @cached_property
    def indicators(self) -> list[int]:
        """The positions in `numbers` of columns with an indicator of missing values."""
        return [i for i, column in enumerate(self.numbers) if column.indicator]

    @property
    def n_features(self) -> int:
        """The number of features."""
        words = sum(len(column.categories) + 2 for column in self.texts)
        return len(self.numbers) + 2 * len(self.waves) + len(self.indicators) + words


@dataclass(frozen=True)
class Table:
    """A fitted `TableModel` as plain data. `units` are those of the target of regression."""

    estimator: str
    encoding: Encoding
    function: ModelFunction  # of the features of the encoding
    target: str
    units: Units | None = None


def table(model: TableModel) -> Table:
    """Return a table model as plain data. During the warm-up: as if `finish` had been called."""
    if not model.n_rows_:
        raise NotFittedError("the TableModel has learned nothing yet")
    if model.metrics_ is None:
        model = copy.deepcopy(model).finish()
    function, units = model_function(model.estimator_), None
    if model.task_ == "regression":
        units = Units.of(model.scaler_.mean_, model.scaler_.scale_)
    if isinstance(function, Combination) and function.units is not None:
        # The mixture scales the target, and not the table.
        function, units = replace(function, units=None), function.units
    return Table(
        type(model).__name__,
        Encoding(tuple(model.encoder_.encoded_columns_)),
        function.taking(_order(model.encoder_)),
        model.target,
        units,
    )


def _order(encoder: TableEncoder) -> list[int]:
    """Return the place in the encoder's row of each feature of an `Encoding`.

    Features that are reserved for further categories are left out. They are always 0.
    """
    numbers: list[int] = []
    waves: list[int] = []
    indicators: list[int] = []
    words: list[int] = []
    at = 0
    for column in encoder.encoded_columns_:
        size = feature_count(column.kind, encoder.max_categories)
        if column.kind == "text":
            words += [*range(at, at + len(column.categories)), at + size - 2, at + size - 1]
        else:
            numbers.append(at)
            waves += range(at + 1, at + size, 2)
            indicators += [at + size] * column.indicator
        at += size + column.indicator
    return [*numbers, *waves, *(i + 1 for i in waves), *indicators, *words]
