"""Features of a few rows at a time, with what does not change computed once."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import numpy as np

from parsimon import _core
from parsimon.preprocessing.columns import KINDS, LARGEST, Array, EncodedColumn, feature_count
from parsimon.preprocessing.encoder import TableEncoder
from parsimon.preprocessing.reading import number_of

__all__ = ["FewRows"]

#: The types of the values that are encoded here, by kind of column.
TYPES: dict[str, frozenset[type]] = {
    "number": frozenset({float, int}),
    "boolean": frozenset({bool}),
    "duration": frozenset({datetime.timedelta}),
    "time": frozenset({datetime.time}),
    "date": frozenset({datetime.date}),
    "timestamp": frozenset({datetime.datetime}),
    "text": frozenset({str}),
}


class FewRows:
    """An encoder of a few rows, as a `TableEncoder` is now. It does not learn.

    Encoding one row takes a tenth of the time of `TableEncoder.transform`, with the same bits.

    >>> encoder = TableEncoder()
    >>> X = encoder.learn_transform({"age": [1.0, 2.0, 3.0], "shop": ["a", "b", "a"]})
    >>> rows = FewRows(encoder)
    >>> X = rows.transform({"age": [2.5], "shop": ["b"]})
    >>> bool((X == encoder.transform({"age": [2.5], "shop": ["b"]})).all())
    True
    >>> rows.transform({"age": ["old"], "shop": ["b"]}) is None
    True
    """

    def __init__(self, encoder: TableEncoder) -> None:
        self._missing_allowed = encoder.missing == "mean"
        self._width, self._texts = encoder.n_features_, encoder.max_categories
        self._clip = float(encoder.clip)
        self._columns: list[tuple[EncodedColumn, int, dict[str, int]]] = []
        at, places, moments = 0, [], []
        for column in encoder.encoded_columns_:
            index = {text: at + i for i, text in enumerate(column.categories)}
            self._columns.append((column, at, index))
            if column.kind != "text":
                places.append(at)
                moments.append((column.mean, column.deviation))
            at += feature_count(column.kind, encoder.max_categories) + column.indicator
        self._places = places
        self._means, self._deviations = np.array(moments).reshape(-1, 2, 1).transpose(1, 0, 2)

    def transform(self, block: Mapping[str, Any]) -> Array | None:
        """Return the features of a block of lists (n, d), as `TableEncoder.transform` does.

        Return None for a block that `TableEncoder` must look at: it has values of other types, or
        it would be rejected.
        """
        n = -1
        for column, _, _ in self._columns:
            values = block.get(column.name)
            if type(values) is not list or (n >= 0 and len(values) != n):
                return None
            n = len(values)
        X = np.zeros((n, self._width))
        numbers: list[list[float]] = []
        for column, at, index in self._columns:
            values = block[column.name]
            types = TYPES[column.kind]
            if any(type(v) not in types and v is not None for v in values):
                return None
            absent = [i for i, v in enumerate(values) if v is None]
            if absent and not self._missing_allowed:
                return None
            if column.kind == "text":
                other = at + self._texts
                for i, v in enumerate(values):
                    X[i, other + 1 if v is None else index.get(v, other)] = 1.0
                continue
            found = _numbers(values)
            if found is None:
                return None
            numbers.append(found)
            if KINDS[column.kind]:
                at = _waves(X, at, KINDS[column.kind], found)
            if column.indicator:
                X[absent, at + 1] = 1.0
        if numbers:
            _core.standardise_into(
                np.array(numbers), self._means, self._deviations, self._clip, X, self._places
            )
        return X


def _numbers(values: list[Any]) -> list[float] | None:
    """Return values as numbers, NaN if missing, or None if one of them is too large."""
    try:
        found = [np.nan if v is None else number_of(v) for v in values]
    except OverflowError:
        return None
    return None if any(abs(v) > LARGEST for v in found) else found


def _waves(X: Array, at: int, periods: Mapping[str, float], found: list[float]) -> int:
    """Write sines and cosines of times behind feature `at`. Return the last feature written."""
    values = np.array(found)
    absent = np.isnan(values)
    for period in periods.values():
        angle = np.where(absent, 0.0, values) % period * (2 * np.pi / period)
        for wave in (np.sin, np.cos):
            at += 1
            X[:, at] = np.where(absent, 0.0, np.sqrt(2.0) * wave(angle))
    return at
