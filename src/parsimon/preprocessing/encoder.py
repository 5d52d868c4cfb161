"""Blocks of a table as matrices of fixed width."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from parsimon import _core, _schema
from parsimon._parts import lookup, real, whole
from parsimon.persistence import Storable
from parsimon.preprocessing.columns import (
    KINDS,
    Array,
    Column,
    EncodedColumn,
    TableError,
    codes,
    feature_count,
    require_kind,
    require_usable,
)
from parsimon.preprocessing.moments import (
    LARGEST_STORED,
    MOMENTS,
    Moments,
    with_moments,
    with_plain_moments,
)
from parsimon.preprocessing.reading import raw_columns, read_table

__all__ = ["MISSING", "TableEncoder"]


#: What happens to missing values.
MISSING = {
    "mean": "a number's running mean, which is 0; a category of its own in text",
    "error": "refuse them",
}


class TableEncoder(Storable, BaseEstimator):  # type: ignore[misc]
    """Turn blocks of a table into matrices of fixed width, online.

    - A number or duration becomes (x - mean) / deviation, clipped to [-clip, clip]. It becomes 0 if
      all values are equal.
    - A boolean becomes the same, for the values 0 and 1.
    - A timestamp becomes the same, for the time in seconds, and the sine and cosine of the time of
      day and of the weekday.
    - A time becomes the same, for the time in seconds, and the sine and cosine of the time of day.
    - A date becomes the same, for the time in seconds, and the sine and cosine of the weekday.
    - Text becomes one-hot features: the first `max_categories` values, one for all others, and one
      for missing values.

    x is a value, and mean and deviation are the mean and the standard deviation of its column. They
    are running: row i is scaled by the statistics of rows 1 to i. So encoding a block equals
    encoding its rows one by one, bit for bit. There is one exception. The first block determines
    the columns: their names, their kinds, and which of them have an indicator of missing values.

    Sines and cosines are multiplied by sqrt(2). Two rows with different texts have distance sqrt(2)
    in that column. For two independent values of a standardised number, the root mean square
    distance is sqrt(2) too. So no kind of column dominates. (These are Euclidean distances. With
    the sum of absolute differences, as in the Laplacian kernel, they are 2 and 1.1.)

    Later blocks may have their columns in another order. Further columns are ignored. A missing
    column, a column of another kind, and infinite values are rejected. A block that is rejected
    changes nothing. A column without any value in the first block counts as a column of numbers.

    Parameters
    ----------
    missing : "mean" or "error", default="mean"
        "mean": a missing number becomes the running mean, which is 0 after scaling. If the first
        block has a missing number in a column, that column gets an indicator, 0 or 1. Missing text
        is a category. "error": missing values are rejected.
    max_categories : int >= 1, default=32
        The largest number of categories of each text column. Categories are taken in the order in
        which they first appear. Their features are reserved from the beginning.
    clip : float > 0, default=3.0
        The largest absolute standardised value. It limits the influence of outliers, and of columns
        that are nearly constant.
    ignore : list of str, default=()
        The names of columns to ignore.

    Attributes
    ----------
    columns_ : dict
        The kind of each column by name, in the order of the features.
    feature_names_ : list of str
        The meaning of each feature.
    n_features_ : int
        Number of features.
    n_rows_seen_ : int
        Number of rows learned.
    encoded_columns_ : list
        How each column is encoded so far: its kind, mean, deviation and categories.

    Examples
    --------
    >>> encoder = TableEncoder(ignore=["price"])
    >>> encoder.learn_transform({"age": [1.0, 2.0, 3.0], "price": [3.0, 1.0, 2.0]}).round(4)
    array([[0.    ],
           [1.    ],
           [1.2247]])
    >>> encoder.transform({"age": [2.0]})
    array([[0.]])
    """

    columns_: dict[str, str]
    n_rows_seen_: int
    _moments: Moments
    _indicators: list[str]
    _vocabulary: dict[str, list[str]]
    _attributes = _schema.Schema(
        {
            "columns_": _schema.mapped(_schema.one_of(str), lambda kind: kind in KINDS),
            "n_rows_seen_": _schema.whole(),
            "_moments": MOMENTS,
            "_indicators": _schema.listed(_schema.one_of(str)),
            "_vocabulary": _schema.mapped(_schema.one_of(str), _schema.listed(_schema.one_of(str))),
        },
        {},
    )

    def __init__(
        self,
        *,
        missing: str = "mean",
        max_categories: int = 32,
        clip: float = 3.0,
        ignore: Sequence[str] = (),
    ) -> None:
        self.missing = missing
        self.max_categories = max_categories
        self.clip = clip
        self.ignore = ignore

    def learn_transform(self, block: Any) -> Array:
        """Learn the statistics and categories of a block, and return its features (n, d)."""
        columns = self.read(block)
        self.check(columns)
        return self.learn_columns(columns)

    def transform(self, block: Any) -> Array:
        """Return the features of a block (n, d), without learning. Unknown text is "other"."""
        if not hasattr(self, "columns_"):
            raise TableError("nothing has been learned yet")
        columns = self.read(block)
        self.check(columns)
        X, places = self._features(columns)
        values = np.array(self._values(columns)).reshape(len(places), len(X))
        _core.standardise_into(values, *self._moments.now(), self.clip, X, places)
        return X

    @property
    def n_features_(self) -> int:
        """Number of features."""
        each = (feature_count(kind, self.max_categories) for kind in self.columns_.values())
        return sum(each) + len(self._indicators)

    @property
    def feature_names_(self) -> list[str]:
        """The meaning of each feature."""
        names: list[str] = []
        indicators = set(self._indicators)
        for column, kind in self.columns_.items():
            if kind == "text":
                known = self._vocabulary[column]
                names += [f"{column} = {category}" for category in known]
                names += [
                    f"{column}: free {i + 1}" for i in range(self.max_categories - len(known))
                ]
                names += [f"{column}: other", f"{column} is missing"]
            else:
                names += [
                    column,
                    *(
                        f"{column}: {w} of {period}"
                        for period in KINDS[kind]
                        for w in ("sine", "cosine")
                    ),
                ]
                names += [f"{column} is missing"] if column in indicators else []
        return names

    @property
    def encoded_columns_(self) -> list[EncodedColumn]:
        """How each column is encoded so far, in the order of the features."""
        means, deviations = (iter(values.ravel().tolist()) for values in self._moments.now())
        indicators, clip = set(self._indicators), float(self.clip)
        return [
            EncodedColumn(name, kind, categories=tuple(self._vocabulary[name]))
            if kind == "text"
            else EncodedColumn(name, kind, next(means), next(deviations), clip, name in indicators)
            for name, kind in self.columns_.items()
        ]

    # In steps, for models that hold blocks back

    def read(self, block: Any) -> dict[str, Column]:
        """Return the columns of a block that are encoded."""
        if hasattr(self, "columns_"):
            return read_table(block, self.columns_)
        ignored = set(self.ignore)
        return read_table(block, [name for name in raw_columns(block) if name not in ignored])

    def check(self, columns: Mapping[str, Column]) -> None:
        """Raise an error for columns or parameters that cannot be used."""
        self._require_parameters()
        if not columns:
            raise TableError("there are no columns to learn from")
        for name, column in columns.items():
            require_kind(name, column, getattr(self, "columns_", {}).get(name))
            require_usable(name, column, self.missing)

    def learn_columns(self, columns: Mapping[str, Column]) -> Array:
        """Learn columns that were read and checked, and return their features (n, d)."""
        if not hasattr(self, "columns_"):
            self.settle(columns)
        for name, known in self._vocabulary.items():
            if len(known) < self.max_categories and columns[name].kind == "text":
                self._vocabulary[name] = self._grown(known, columns[name])
        X, places = self._features(columns)
        self._moments.learn_into(self._values(columns), self.clip, X, places)
        self.n_rows_seen_ += len(X)
        return X

    def settle(self, columns: Mapping[str, Column]) -> None:
        """Determine the features from columns, without learning them."""
        if not len(next(iter(columns.values())).values):
            raise TableError("the first block has no rows to tell the columns' kinds from")
        self.columns_ = {
            name: "number" if c.kind == "empty" else c.kind for name, c in columns.items()
        }
        self._indicators = [
            n for n, c in columns.items() if self.columns_[n] != "text" and np.isnan(c.values).any()
        ]
        self._vocabulary = {name: [] for name, kind in self.columns_.items() if kind == "text"}
        self._moments = Moments(len(self.columns_) - len(self._vocabulary))
        self.n_rows_seen_ = 0

    @property
    def statistics(self) -> tuple[int, Moments]:
        """The number of rows learned, and the running statistics of the columns of numbers."""
        return self.n_rows_seen_, copy.copy(self._moments)

    @statistics.setter
    def statistics(self, learned: tuple[int, Moments]) -> None:
        self.n_rows_seen_, self._moments = learned[0], copy.copy(learned[1])

    @property
    def structure(self) -> tuple[Any, ...]:
        """What determines the features: kinds of columns, and which have an indicator."""
        return tuple(self.columns_.items()), tuple(self._indicators)

    # Implementation

    def _require_parameters(self) -> None:
        lookup(MISSING, self.missing, "missing")
        whole("max_categories", self.max_categories, at_least=1, at_most=10**6)
        if self.clip != np.inf:
            real("clip", self.clip, above=0)

    def _grown(self, known: list[str], column: Column) -> list[str]:
        found, first = np.unique(column.values, return_index=True)
        met = [column.categories[int(code)] for code in found[np.argsort(first)] if code >= 0]
        return list(dict.fromkeys([*known, *met]))[: self.max_categories]

    def _values(self, columns: Mapping[str, Column]) -> list[Array]:
        """Return the columns that are standardised."""
        return [columns[name].values for name, kind in self.columns_.items() if kind != "text"]

    def _features(self, columns: Mapping[str, Column]) -> tuple[Array, list[int]]:
        """Return a matrix (n, d) of all features but the standardised ones, and their places."""
        X = np.empty((len(next(iter(columns.values())).values), self.n_features_))
        places: list[int] = []
        indicators = set(self._indicators)
        at = 0
        for name, kind in self.columns_.items():
            column = columns[name]
            if kind == "text":
                X[:, at : at + self.max_categories + 2] = self._one_hot(name, column).T
                at += self.max_categories + 2
                continue
            places.append(at)
            at += 1
            if not KINDS[kind] and name not in indicators:
                continue
            absent = np.isnan(column.values)
            for period in KINDS[kind].values():
                angle = np.where(absent, 0.0, column.values) % period * (2 * np.pi / period)
                for wave in (np.sin, np.cos):
                    X[:, at] = np.where(absent, 0.0, np.sqrt(2.0) * wave(angle))
                    at += 1
            if name in indicators:
                X[:, at] = absent
                at += 1
        return X, places

    def _one_hot(self, name: str, column: Column) -> Array:
        index = {category: i for i, category in enumerate(self._vocabulary[name])}
        places = [index.get(category, self.max_categories) for category in column.categories]
        place = np.array([*places, self.max_categories + 1])[codes(column).astype(np.int64)]
        hot = np.zeros((self.max_categories + 2, len(place)))
        hot[place, np.arange(len(place))] = 1.0
        return hot

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that a file keeps."""
        state = with_plain_moments(super().__getstate__())
        return {k: dict(v) if k == "_vocabulary" else v for k, v in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        super().__setstate__(with_moments(state))
        if hasattr(self, "columns_"):
            numbers = [
                name for name, kind in self.columns_.items() if kind in KINDS and kind != "text"
            ]
            texts = set(self.columns_) - set(numbers)
            if len(self._moments.count) != len(numbers) or set(self._vocabulary) != texts:
                raise ValueError("its columns are not sound")
            if any(
                len(set(v)) != len(v) or len(v) > self.max_categories
                for v in self._vocabulary.values()
            ):
                raise ValueError("its vocabulary is not sound")

    def _require_sound(self) -> None:
        if not hasattr(self, "columns_"):
            return
        self._moments.require_sound(LARGEST_STORED)
        if not self.columns_ or not {
            n for n, kind in self.columns_.items() if kind != "text"
        } >= set(self._indicators):
            raise ValueError("its columns are not sound")
        self._require_parameters()
