"""Tables as matrices, online: columns of numbers, text and times to float64 features, in a width
settled beforehand.

>>> encoder = TableEncoder(max_categories=2)
>>> encoder.learn_transform({"size": [1.0, 3.0, None], "shop": ["a", "b", "c"]})
array([[0., 0., 1., 0., 0., 0.],
       [1., 0., 0., 1., 0., 0.],
       [0., 1., 0., 0., 1., 0.]])
>>> encoder.feature_names_
['size', 'size is missing', 'shop = a', 'shop = b', 'shop: other', 'shop is missing']

Row i is scaled by the statistics of the rows up to and including it, so a block equals its rows,
bit for bit. Blocks are pyarrow tables or record batches, pandas or polars frames, or dicts of
columns; which of them makes no difference.
"""

from __future__ import annotations

import datetime
import difflib
import importlib
import importlib.util
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from parsimon import _core, _schema
from parsimon._parts import lookup, real, whole
from parsimon.persistence import Storable

__all__ = ["MISSING", "Column", "TableEncoder", "TableError", "TargetScaler", "read_table"]

Array = NDArray[np.float64]

#: What can be done about missing values.
MISSING = {
    "mean": "a number's running mean, which is 0; a category of its own in text",
    "error": "refuse them",
}
#: Beyond this a square overflows.
LARGEST = 1e150
LARGEST_STORED = 1e152
DAY = 86400.0


class TableError(ValueError):
    """A table that cannot be used.

    `column` and `row` (in the block, from 0) say where, as far as that is known; `what` is the
    message without the place.
    """

    def __init__(self, what: str, column: str | None = None, row: int | None = None) -> None:
        self.what, self.column, self.row = what, column, row
        place = [] if column is None else [f"column {column!r}"]
        place += [] if row is None else [f"row {row}"]
        super().__init__(f"{', '.join(place)}: {what}" if place else what)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the hint that an error about an unknown name ends with: the nearest known one, or all
    of them.

    >>> nearest("prize", ["price", "shop"])
    "did you mean 'price'?"
    """
    known = list(names)
    close = difflib.get_close_matches(name, known, 1) or [
        k for k in known if k.lower() == name.lower()
    ]
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(repr(k) for k in known[:10]) + (", ..." if len(known) > 10 else "")
    return f"there are {shown}" if known else "there are no columns"


class Column(NamedTuple):
    """A column as it was read.

    `kind` is one of `KINDS`, or "empty" where no value is there. `values` (n,) are numbers (times
    in seconds), NaN where missing; for text they are the positions of the values in `categories`,
    which has them in order of appearance, and -1 where missing.
    """

    kind: str
    values: Array
    categories: list[str]


#: Kinds of columns, with the features that each has besides its standardised value, and the period
#: of each pair of them.
KINDS: dict[str, dict[str, float]] = {
    "number": {},
    "boolean": {},
    "duration": {},
    "time": {"time of day": DAY},
    "date": {"weekday": 7 * DAY},
    "timestamp": {"time of day": DAY, "weekday": 7 * DAY},
    "text": {},
}


def feature_count(kind: str, max_categories: int) -> int:
    """Return how many features a column of a kind has, but for the indicator of missing numbers.

    >>> feature_count("text", 32), feature_count("timestamp", 32)
    (34, 5)
    """
    return max_categories + 2 if kind == "text" else 1 + 2 * len(KINDS[kind])


# Reading blocks


def read_table(block: Any, names: Iterable[str] | None = None) -> dict[str, Column]:
    """Return the columns of a block: of a pyarrow table or record batch, a pandas or polars frame,
    or a dict of columns.

    Booleans are the numbers 0 and 1. Times are read as seconds since 1970 (UTC where they have a
    zone). None, NaN, NaT and nulls are missing. With `names` only those columns are read, and all
    of them must be there.
    """
    raw = _raw_columns(block)
    wanted = list(raw) if names is None else list(names)
    for name in wanted:
        if name not in raw:
            raise TableError(f"there is no column {name!r}: {nearest(name, raw)}", name)
    columns = {name: _column(name, raw[name]) for name in wanted}
    sizes = {name: len(column.values) for name, column in columns.items()}
    for name, size in sizes.items():
        if size != (first := next(iter(sizes.values()))):
            raise TableError(f"it has {size} values, but the first column has {first}", name)
    return columns


def _raw_columns(block: Any) -> dict[str, Any]:
    if isinstance(block, Mapping):
        names, columns = list(block), list(block.values())
    elif hasattr(block, "column_names") and hasattr(block, "column"):  # a Table
        names, columns = block.column_names, block.columns
    elif hasattr(block, "schema") and hasattr(block, "column"):  # a RecordBatch
        names, columns = block.schema.names, block.columns
    elif hasattr(block, "columns") and hasattr(block, "shape") and len(block.shape) == 2:
        names = list(block.columns)
        columns = [
            block.iloc[:, i] if hasattr(block, "iloc") else block[name]
            for i, name in enumerate(names)
        ]
    else:
        raise TypeError(
            f"a block must be a pyarrow table or record batch, a pandas or polars frame, or a dict of columns, got {type(block).__name__}"
        )
    found = {str(name): column for name, column in zip(names, columns, strict=True)}
    if len(found) != len(names):
        twice = next(name for name, n in Counter(map(str, names)).items() if n > 1)
        raise TableError("there is more than one column of this name", twice)
    return found


def _column(name: str, raw: Any) -> Column:
    if hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "__arrow_c_array__"):
        if importlib.util.find_spec("pyarrow") is not None:
            return _arrow_column(name, raw)
        raw = raw.to_numpy()
    if isinstance(raw, list | tuple):
        values = np.empty(len(raw), dtype=object)
        values[:] = raw
    else:
        values = np.asarray(raw)
    if values.ndim != 1:
        raise TableError(f"it must have one dimension, got shape {values.shape}", name)
    if values.dtype.kind in "biuf":
        return Column(
            "boolean" if values.dtype.kind == "b" else "number", values.astype(np.float64), []
        )
    if values.dtype.kind == "M":
        kind = "date" if np.datetime_data(values.dtype)[0] in ("Y", "M", "W", "D") else "timestamp"
        return Column(kind, _seconds(values - np.datetime64(0, "s")), [])
    if values.dtype.kind == "m":
        return Column("duration", _seconds(values), [])
    if values.dtype.kind not in "OUT":
        raise TableError(f"values of type {values.dtype} cannot be used", name)
    return _object_column(name, values.tolist())


def _seconds(spans: NDArray[Any]) -> Array:
    result: Array = spans / np.timedelta64(1, "s")  # NaT becomes NaN
    return result


def _arrow_column(name: str, raw: Any) -> Column:
    pa: Any = importlib.import_module("pyarrow")
    at = pa.types
    try:
        array = raw if isinstance(raw, pa.Array | pa.ChunkedArray) else pa.chunked_array(raw)
        if at.is_dictionary(array.type):
            chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
            array = pa.chunked_array(
                [_plain(c.dictionary).take(c.indices) for c in chunks],
                type=None if chunks else pa.null(),
            )
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TableError(f"it cannot be read: {error}", name) from None
    kind, n = array.type, len(array)

    def numbers(integers: Any = None) -> Array:
        cast = array if integers is None else array.cast(integers)
        cast = cast if cast.type == pa.float64() else cast.cast(pa.float64(), safe=False)
        chunks = cast.chunks if isinstance(cast, pa.ChunkedArray) else [cast]
        found: Array = (
            chunks[0].to_numpy(zero_copy_only=False) if len(chunks) == 1 else cast.to_numpy()
        )
        return found  # nulls are NaN

    if at.is_null(kind):
        return Column("empty", np.full(n, np.nan), [])
    if at.is_integer(kind) or at.is_floating(kind) or at.is_decimal(kind):
        return Column("number", numbers(), [])
    if at.is_boolean(kind):
        return Column("boolean", numbers(pa.uint8()), [])
    units = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
    if at.is_timestamp(kind) or at.is_duration(kind):
        return Column(
            "timestamp" if at.is_timestamp(kind) else "duration",
            numbers(pa.int64()) / units[kind.unit],
            [],
        )
    if at.is_time(kind):
        return Column(
            "time", numbers(pa.int32() if at.is_time32(kind) else pa.int64()) / units[kind.unit], []
        )
    if at.is_date(kind):
        return Column(
            "date",
            numbers(pa.int32()) * DAY if at.is_date32(kind) else numbers(pa.int64()) / units["ms"],
            [],
        )
    if at.is_string(kind) or at.is_large_string(kind) or at.is_string_view(kind):
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        texts = [_plain(chunk) for chunk in chunks] or [pa.array([], pa.large_string())]
        encoded = pa.concat_arrays(texts).dictionary_encode()
        codes = np.array(encoded.indices.fill_null(-1), dtype=np.float64)
        return Column(
            "text" if array.null_count < n else "empty", codes, encoded.dictionary.to_pylist()
        )
    raise TableError(
        f"values of type {kind} cannot be used: leave the column out, or make numbers or text of it",
        name,
    )


def _plain(values: Any) -> Any:
    """Return text of any layout in one that every function of pyarrow takes."""
    pa: Any = importlib.import_module("pyarrow")
    return values.cast(pa.large_string()) if "string" in str(values.type) else values


def _object_column(name: str, values: list[Any]) -> Column:
    """Read Python objects."""
    kinds = [_kind(value) for value in values]
    kind = next((k for k in kinds if k != "empty"), "empty")
    for row, other in enumerate(kinds):
        if not other:
            raise TableError(f"{values[row]!r} cannot be used", name, row)
        if other not in (kind, "empty"):
            raise TableError(
                f"{values[row]!r} is {other}, where the values before are {kind}", name, row
            )
    if kind == "text":
        index: dict[str, int] = {}
        codes = [
            -1 if k == "empty" else index.setdefault(str(v), len(index))
            for v, k in zip(values, kinds, strict=True)
        ]
        return Column(kind, np.array(codes, dtype=np.float64), list(index))
    try:
        numbers = [
            np.nan if k == "empty" else _number(v) for v, k in zip(values, kinds, strict=True)
        ]
    except OverflowError:
        raise TableError("a number is too large", name) from None
    return Column(kind, np.array(numbers, dtype=np.float64), [])


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "empty"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Real | Decimal):
        return "number" if value == value else "empty"  # NaN is missing
    if isinstance(value, datetime.datetime):
        return "timestamp"
    kinds = {datetime.date: "date", datetime.time: "time", datetime.timedelta: "duration"}
    return next((kind for cls, kind in kinds.items() if isinstance(value, cls)), "")


def _number(value: Any) -> float:
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
    if isinstance(value, datetime.date):
        return DAY * (value.toordinal() - datetime.date(1970, 1, 1).toordinal())
    if isinstance(value, datetime.time):
        return value.hour * 3600.0 + value.minute * 60.0 + value.second + value.microsecond / 1e6
    return value.total_seconds() if isinstance(value, datetime.timedelta) else float(value)


def joined(first: Column, then: Column) -> Column:
    """Return the rows of one column and then those of another, of the same kind or with nothing in
    them.
    """
    if "text" not in (first.kind, then.kind):
        kind = then.kind if first.kind == "empty" else first.kind
        return Column(kind, np.concatenate([first.values, then.values]), [])
    index = {category: i for i, category in enumerate(first.categories)}
    places = [index.setdefault(category, len(index)) for category in then.categories]
    return Column(
        "text",
        np.concatenate([_codes(first), np.array([*places, -1.0])[_codes(then).astype(int)]]),
        list(index),
    )


def _codes(column: Column) -> Array:
    return column.values if column.kind == "text" else np.full(len(column.values), -1.0)


# Running statistics


class Moments:
    """Running means and standard deviations of k columns.

    CONVENTION: over the `count` values present so far, `shift` is the first of them, `total` the
    sum of x - shift, `squares` the sum of (x - mean)^2. The squares grow as in Welford's recursion,

        squares_i = squares_(i-1) + (x_i - mean_(i-1))^2 (i - 1) / i,

    by terms that are never negative, so nothing cancels; sums run in the order of the rows, so a
    block equals its rows, bit for bit.

    Reference: Welford, *Note on a method for calculating corrected sums of squares and products*,
    Technometrics 1962.

    >>> moments = Moments(1)
    >>> means, deviations = moments.learn(np.array([[1.0, 3.0, np.nan]]))
    >>> means, deviations
    (array([[0., 1., 2., 2.]]), array([[0., 0., 1., 1.]]))
    """

    FIELDS = ("count", "shift", "total", "squares")

    def __init__(self, k: int) -> None:
        self.count, self.shift, self.total, self.squares = np.zeros((4, k))

    def learn(self, V: Array) -> tuple[Array, Array]:
        """Take values V (k, n), NaN where missing, and return means and standard deviations before
        the first row and after each, (k, n + 1).
        """
        means, deviations, after = _core.learn_moments(np.ascontiguousarray(V), self._stacked())
        self.count, self.shift, self.total, self.squares = after
        return means, deviations

    def now(self) -> tuple[Array, Array]:
        """Return the means and standard deviations so far, (k, 1); 0 where nothing was there."""
        means, deviations, _ = _core.learn_moments(np.empty((len(self.count), 0)), self._stacked())
        return means, deviations

    def _stacked(self) -> Array:
        return np.stack([getattr(self, name) for name in self.FIELDS])

    def state(self) -> dict[str, Array]:
        """Return what it holds."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def require_sound(self, largest: float) -> None:
        """Raise a ValueError unless these can be the statistics of values up to `largest`."""
        with np.errstate(over="ignore"):
            within = np.abs(self.total) <= 2.0 * largest * np.maximum(self.count, 1.0)
        if not (
            (self.count % 1 == 0)
            & (self.count <= 2.0**53)
            & (np.abs(self.shift) <= largest)
            & within
        ).all():
            raise ValueError("its running statistics are not those of numbers")

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Moments:
        """Return one that holds a state."""
        arrays = [np.asarray(state[name], dtype=np.float64) for name in cls.FIELDS]
        sound = all(
            a.ndim == 1 and len(a) == len(arrays[0]) and np.isfinite(a).all() for a in arrays
        )
        if not sound or (arrays[0] < 0).any() or (arrays[3] < 0).any():
            raise ValueError("its running statistics are not sound")
        moments = cls(len(arrays[0]))
        moments.count, moments.shift, moments.total, moments.squares = arrays
        return moments


#: The running statistics in a state.
MOMENTS = _schema.mapped(lambda name: name in Moments.FIELDS, _schema.finite_array(None))


class TargetScaler(Storable, BaseEstimator):  # type: ignore[misc]
    """Regression targets in units of their running standard deviation, around their running mean.

    A target is scaled by the statistics of the targets up to and including it; a prediction is
    scaled back by those of the targets before it.

    >>> scaler = TargetScaler()
    >>> T, back = scaler.learn_transform([10.0, 30.0, 20.0])
    >>> T, back(np.zeros(3))
    (array([0., 1., 0.]), array([ 0., 10., 20.]))
    >>> scaler.inverse_transform([1.0]).round(4)
    array([28.165])
    """

    _moments: Moments
    _attributes = _schema.Schema({"_moments": MOMENTS}, {})

    def _require_sound(self) -> None:
        if hasattr(self, "_moments"):
            if len(self._moments.count) != 1:
                raise ValueError("its running statistics are not those of one column")
            self._moments.require_sound(LARGEST_STORED)

    def learn_transform(self, y: ArrayLike) -> tuple[Array, Any]:
        """Take targets y (n,), and return them scaled and the function that scales predictions
        back, each as it was before its row.
        """
        if not hasattr(self, "_moments"):
            self._moments = Moments(1)
        y = np.ascontiguousarray(y, dtype=np.float64)
        if np.ndim(y) != 1:
            raise ValueError(f"y must have shape (n,), got {np.shape(y)}")
        (means,), (deviations,) = self._moments.learn(y[np.newaxis])
        scaled = np.empty((len(y), 1))
        _core.standardise_into(
            y[np.newaxis], means[np.newaxis, 1:], deviations[np.newaxis, 1:], np.inf, scaled, [0]
        )
        return scaled[:, 0], lambda f: means[:-1] + deviations[:-1] * f

    @classmethod
    def of_nothing(cls) -> TargetScaler:
        """Return a scaler with mean 0 and deviation 1, for models whose targets are not scaled.

        >>> TargetScaler.of_nothing().inverse_transform([0.3])
        array([0.3])
        """
        scaler = cls()
        scaler.learn_transform([-1.0, 1.0])
        return scaler

    def inverse_transform(self, f: ArrayLike) -> Array:
        """Scale predictions f (n,) back by the statistics so far."""
        mean, deviation = self.mean_, self.scale_
        return np.asarray(mean + deviation * np.asarray(f, dtype=np.float64))

    @property
    def mean_(self) -> float:
        """The mean of the targets so far."""
        return float(self._moments.now()[0][0, 0])

    @property
    def scale_(self) -> float:
        """The standard deviation of the targets so far."""
        return float(self._moments.now()[1][0, 0])

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return with_plain_moments(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        super().__setstate__(with_moments(state))


def with_plain_moments(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with its running statistics as arrays."""
    return {k: v.state() if isinstance(v, Moments) else v for k, v in state.items()}


def with_moments(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with its running statistics as objects again."""
    return {k: Moments.restored(v) if k == "_moments" else v for k, v in state.items()}


class TableEncoder(Storable, BaseEstimator):  # type: ignore[misc]
    """Turn blocks of a table into matrices of fixed width, online.

    | column | features |
    |---|---|
    | number, duration | (x - mean) / deviation, running, within [-clip, clip]; 0 while nothing varied |
    | boolean | the same with 0 and 1 |
    | date, timestamp, time | seconds as a number; sqrt(2) sin and cos of the time of day (timestamp, time) and of the weekday (date, timestamp) |
    | text | one-hot: the first `max_categories` values met, one for all others, one for missing |

    Row i is scaled by the statistics of the rows up to and including it. So a block equals its
    rows, bit for bit, except that the first block settles the columns: their names, their kinds,
    and which of them have an indicator. Two rows that differ in a text column are sqrt(2) apart in
    it, as two independent values of a standardised number are on average: no kind drowns another.
    (For the sum of absolute differences it is 2 against 1.1.)

    Later blocks may have the columns in another order, and further ones, which are not looked at. A
    column that is not there, or of another kind, is refused, and so is an infinite value. A block
    that is refused changes nothing. A column without any value in the first block counts as one of
    numbers.

    Parameters
    ----------
    missing : "mean" or "error", default="mean"
        "mean": a missing number is the running mean, 0, and a column in which one was missing in
        the first block has an indicator of it, 0 or 1; missing text is a category. "error":
        refused.
    max_categories : int >= 1, default=32
        The size of the vocabulary of each text column, first come, first served. Its features are
        reserved from the beginning.
    clip : float > 0, default=3.0
        How far from the mean a standardised value can lie. It keeps single values, and columns that
        are nearly always the same, from hiding all others.
    ignore : names of columns that are not looked at, default=()

    Attributes
    ----------
    columns_ : dict of the columns' kinds by name, in the order of the features.
    feature_names_ : what each of the features is.
    n_features_ : how many there are.
    n_rows_seen_ : rows learned.

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
        """Take a block into the statistics and vocabularies and return its features, (n,
        n_features_).
        """
        columns = self.read(block)
        self.check(columns)
        return self.learn_columns(columns)

    def transform(self, block: Any) -> Array:
        """Return the features of a block, (n, n_features_), by what was learned so far.

        Text that was not met counts as other.
        """
        if not hasattr(self, "columns_"):
            raise TableError("nothing has been learned yet")
        columns = self.read(block)
        self.check(columns)
        return self._features(columns, *self._moments.now())

    @property
    def n_features_(self) -> int:
        """How many features there are."""
        each = (feature_count(kind, self.max_categories) for kind in self.columns_.values())
        return sum(each) + len(self._indicators)

    @property
    def feature_names_(self) -> list[str]:
        """What each feature is."""
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

    # In steps, for those who hold blocks back

    def read(self, block: Any) -> dict[str, Column]:
        """Return the columns of a block that are looked at."""
        if hasattr(self, "columns_"):
            return read_table(block, self.columns_)
        ignored = set(self.ignore)
        return read_table(block, [name for name in _raw_columns(block) if name not in ignored])

    def check(self, columns: Mapping[str, Column]) -> None:
        """Refuse what cannot be learned or transformed."""
        self._require_parameters()
        if not columns:
            raise TableError("there are no columns to learn from")
        for name, column in columns.items():
            require_kind(name, column, getattr(self, "columns_", {}).get(name))
            require_usable(name, column, self.missing)

    def learn_columns(self, columns: Mapping[str, Column]) -> Array:
        """Take columns that were read and checked, and return their features, (n, n_features_)."""
        if not hasattr(self, "columns_"):
            self._settle(columns)
        for name, known in self._vocabulary.items():
            if len(known) < self.max_categories and columns[name].kind == "text":
                self._vocabulary[name] = self._grown(known, columns[name])
        means, deviations = self._moments.learn(self._values(columns))
        self.n_rows_seen_ += len(next(iter(columns.values())).values)
        return self._features(columns, means[:, 1:], deviations[:, 1:])

    # How it is done

    def _require_parameters(self) -> None:
        lookup(MISSING, self.missing, "missing")
        whole("max_categories", self.max_categories, at_least=1, at_most=10**6)
        if self.clip != np.inf:
            real("clip", self.clip, above=0)

    def _settle(self, columns: Mapping[str, Column]) -> None:
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

    def _grown(self, known: list[str], column: Column) -> list[str]:
        codes, first = np.unique(column.values, return_index=True)
        met = [column.categories[int(code)] for code in codes[np.argsort(first)] if code >= 0]
        return list(dict.fromkeys([*known, *met]))[: self.max_categories]

    def _values(self, columns: Mapping[str, Column]) -> Array:
        rows = [columns[name].values for name, kind in self.columns_.items() if kind != "text"]
        n = len(next(iter(columns.values())).values)
        return np.array(rows, dtype=np.float64).reshape(len(rows), n)

    def _features(self, columns: Mapping[str, Column], means: Array, deviations: Array) -> Array:
        V = self._values(columns)
        X = np.empty((V.shape[1], self.n_features_))
        places: list[int] = []  # of the values of numbers
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
            absent = np.isnan(column.values)
            for period in KINDS[kind].values():
                angle = np.where(absent, 0.0, column.values) % period * (2 * np.pi / period)
                for wave in (np.sin, np.cos):
                    X[:, at] = np.where(absent, 0.0, np.sqrt(2.0) * wave(angle))
                    at += 1
            if name in indicators:
                X[:, at] = absent
                at += 1
        _core.standardise_into(V, means, deviations, self.clip, X, places)
        return X

    def _one_hot(self, name: str, column: Column) -> Array:
        index = {category: i for i, category in enumerate(self._vocabulary[name])}
        places = [index.get(category, self.max_categories) for category in column.categories]
        place = np.array([*places, self.max_categories + 1])[_codes(column).astype(np.int64)]
        hot = np.zeros((self.max_categories + 2, len(place)))
        hot[place, np.arange(len(place))] = 1.0
        return hot

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file keeps."""
        state = with_plain_moments(super().__getstate__())
        return {k: dict(v) if k == "_vocabulary" else v for k, v in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
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


def require_kind(name: str, column: Column, kind: str | None) -> None:
    """Refuse a column that is not of the kind that it was."""
    if kind is not None and column.kind not in (kind, "empty"):
        raise TableError(f"it holds {column.kind} values, where those before are {kind}", name)


def require_usable(name: str, column: Column, missing: str) -> None:
    """Refuse infinite values, and missing ones if that is the policy."""
    if column.kind != "text":
        too_large = np.abs(column.values) > LARGEST
        if too_large.any():
            row = int(too_large.argmax())
            value = column.values[row]
            raise TableError(
                f"{value:g} is {'infinite' if np.isinf(value) else 'too large'}", name, row
            )
    if missing == "error":
        absent = _codes(column) < 0 if column.kind == "text" else np.isnan(column.values)
        if absent.any():
            raise TableError(
                "the value is missing, and missing='error'", name, int(absent.argmax())
            )
