"""One model per key on Spark Structured Streaming, for example per device or customer.

    scored = learn_keyed(readings, model, key="device", features=["load", "hour"], target="power")
    scored.writeStream.format("parquet").option("checkpointLocation", checkpoint).start(out)

The state of a key is its model file, as bytes, in Spark's state store. Spark commits the state
together with the offsets that it has read. After a crash, a micro-batch that was not committed is
learned again from the previous models, with the same result. So every row is learned exactly once.
Output rows are written exactly once by sinks that identify batches by number (files, or
`foreachBatch` with the batch id).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from parsimon import kernels
from parsimon._parts import lookup
from parsimon.distributed.spark import column, require_columns, require_numbers, require_spark
from parsimon.estimators.base import StreamEstimator
from parsimon.persistence import dumps, loads

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

__all__ = ["learn_keyed", "read_models"]

#: Why each row of a block is refused; an empty string if it is not.
Reasons = NDArray[np.object_]

#: The state of a key: its model file, and the number of its refused rows.
STATE = "model binary, n_refused long"
#: Kinds of output, with Spark's output mode.
OUTPUTS = {"predictions": "append", "models": "update"}
#: Parameters that have no effect here.
ONLY_FIT = ("n_passes", "shuffle", "random_state")
#: Policies for rows that cannot be learned, and whether they are skipped.
POLICIES = {"raise": False, "skip": True}


def learn_keyed(
    stream: DataFrame,
    estimator: StreamEstimator,
    *,
    key: str | list[str],
    features: list[str],
    target: str,
    order: str | None = None,
    keep: list[str] | None = None,
    output: str = "predictions",
    on_refused: str = "raise",
) -> DataFrame:
    """Learn one model per key of a stream, and return a stream of predictions.

    Each row is predicted before it is learned (test-then-learn). A new key starts a new model. Keys
    are never removed: their state exists as long as the checkpoint exists.

    Parameters
    ----------
    stream : streaming pyspark.sql.DataFrame
        Rows to learn. Workers need parsimon installed.
    estimator : estimator that learns over one dictionary
        Every key starts with a clone of it. Either `gamma` must be a number, or `kernel` must be a
        kernel object, because "scale" would be computed from the first rows of a key. Set a
        `budget`, which bounds the memory per key. With a `batch_size` above 1, batches are cut from
        the rows of a key in a micro-batch. Parameters that differ from those of the checkpoint
        raise an error.
    key : str or list of str
        Columns that identify the model of a row. Null is a valid key.
    features : list of str
        Columns of X, which must be numbers.
    target : str
        Column of y. It must be a number for a regressor.
    order : str or None, default=None
        Column, such as time or offset, by which the rows of a key in a micro-batch are sorted. Ties
        are sorted by features, then by target. None means the order of arrival, which can differ
        from run to run if a source has several partitions. Rows of an earlier micro-batch always
        come first.
    keep : list of str or None, default=None
        Columns to copy to the output, to identify its rows.
    output : "predictions" or "models", default="predictions"
        "predictions": one row per input row, in append mode. Columns are the key, `keep`,
        `prediction`, `n_samples_seen` (of the key, including this row) and `refused` (the reason,
        or null). The prediction is null if the row was refused. For a classifier it is also null
        for the first row of a key.

        "models": one row per key of the micro-batch, in update mode. Columns are the key,
        `n_samples_seen`, `n_centers`, `n_refused` and `model`, the bytes of a model file for
        `parsimon.persistence.loads`.
    on_refused : "raise" or "skip", default="raise"
        What to do with a row that has a null, NaN or infinity, or whose kernel value overflows.
        "raise": the query fails with an error that names key and row, and nothing of the
        micro-batch is learned. "skip": the row is not learned, `refused` has the reason, and the
        key's `n_refused` counts it.

    Returns
    -------
    streaming pyspark.sql.DataFrame
        Predictions or models.
    """
    require_spark("learn_keyed")
    if not stream.isStreaming:
        raise ValueError(
            "the frame is not a stream: read it with spark.readStream, "
            "or learn one model from it with distributed.fit"
        )
    keys, features = _names(key), _names(features)
    kept = [name for name in _names(keep or []) if name not in keys]
    mode = lookup(OUTPUTS, output, "output")
    skip = lookup(POLICIES, on_refused, "on_refused")
    taken = list(dict.fromkeys([*keys, *features, target, *_names(order or []), *kept]))
    require_columns(stream, taken)
    classifies = is_classifier(estimator)
    require_numbers(stream, features if classifies else [*features, target])
    begin = _beginning(estimator, len(features))
    labels = _label_type(stream.schema[target].dataType) if classifies else "float64"
    work = _Work(begin, features, target, labels, order, keys, kept, output, skip)

    def learn_group(key: tuple[Any, ...], frames: Iterator[Any], state: Any) -> Iterator[Any]:
        model, n_refused = state.get if state.exists else (begin, 0)
        model, n_refused, out = work.learn(frames, bytes(model), n_refused)
        state.update((model, n_refused))
        yield out

    rows = stream.select(*map(column, taken))
    schema = _schema(rows.schema, work, rows.schema[target].dataType if classifies else None)
    return rows.groupBy(*map(column, keys)).applyInPandasWithState(
        learn_group, schema, STATE, mode, "NoTimeout"
    )


def read_models(spark: SparkSession, checkpoint: str) -> dict[Any, Any]:
    """Return the models of a query, by key, up to its last committed micro-batch.

    A key is a value, or a tuple if there are several key columns. All models are collected on the
    driver. The query need not be running.
    """
    require_spark("read_models")
    rows = (
        spark.read.format("statestore")
        .load(str(checkpoint))
        .select("key.*", "value.groupState.model")
        .collect()
    )
    return {
        row[0] if len(row) == 2 else tuple(row[:-1]): loads(bytes(row["model"])) for row in rows
    }


@dataclass(frozen=True)
class _Work:
    """The work on the rows of a key in a micro-batch.

    It has no state: the same rows and model always give the same result.
    """

    begin: bytes
    features: list[str]
    target: str
    labels: str
    order: str | None
    keys: list[str]
    kept: list[str]
    output: str
    skip: bool

    def learn(self, frames: Iterator[Any], state: bytes, n_refused: int) -> tuple[bytes, int, Any]:
        """Return the model, the number of rows it has refused so far, and the output rows."""
        import pandas as pd  # type: ignore[import-untyped]

        rows = pd.concat(list(frames), ignore_index=True)
        if self.order is not None:
            by = list(dict.fromkeys([self.order, *self.features, self.target]))
            rows = rows.sort_values(by, kind="stable", ignore_index=True)
        X, y = rows[self.features].astype("float64"), rows[self.target]
        model = loads(state)
        self._require_same(rows, model)
        before = _seen(model)
        refused = self._refused(rows, _gaps(X, y))
        try:
            predictions = self._learned(model, X, y, refused)
        except ValueError:  # the block has changed nothing: find the invalid rows
            refused = self._refused(rows, self._objections(state, X, y, refused))
            predictions = self._learned(model, X, y, refused)
        accepted = refused == ""
        n_refused += int((~accepted).sum())
        after = dumps(model)
        if self.output == "models":
            n_centers = model.n_centers_ if _seen(model) else 0
            out = (
                rows[self.keys]
                .iloc[:1]
                .assign(
                    n_samples_seen=_seen(model),
                    n_centers=n_centers,
                    n_refused=n_refused,
                    model=[after],
                )
            )
        else:
            out = rows[[*self.keys, *self.kept]].assign(
                prediction=predictions,
                n_samples_seen=before + np.cumsum(accepted),
                refused=[reason or None for reason in refused],
            )
        return after, n_refused, out

    def _learned(self, model: Any, X: Any, y: Any, refused: Reasons) -> Any:
        """Learn the accepted rows as one block, and return the predictions for all rows."""
        accepted, new = refused == "", not _seen(model)
        predictions = np.full(len(X), None, dtype=object)
        if accepted.any():
            predictions[accepted] = model.predict_then_learn(
                X[accepted], y[accepted].to_numpy(dtype=self.labels)
            )
            if new and is_classifier(model):
                predictions[accepted.argmax()] = None
        return predictions if is_classifier(model) else predictions.astype("float64")

    def _objections(self, state: bytes, X: Any, y: Any, refused: Reasons) -> Reasons:
        """Return why rows are refused: known reasons, and errors of the model for single rows."""
        reasons = refused.copy()
        for i in np.flatnonzero(refused == ""):
            try:
                loads(state).partial_fit(X[i : i + 1], y[i : i + 1].to_numpy(dtype=self.labels))
            except ValueError as error:
                reasons[i] = str(error)
        return reasons

    def _refused(self, rows: Any, reasons: Reasons) -> Reasons:
        """Return why rows are refused, or raise an error if `on_refused` is "raise"."""
        for i in np.flatnonzero(reasons != ""):
            if not self.skip:
                names = dict.fromkeys([*_names(self.order or []), *self.kept])
                told = [f"{name}={rows[name].iloc[i]}" for name in names] or [
                    f"{i} of its micro-batch"
                ]
                raise ValueError(f"{self._whose(rows)}, row {', '.join(told)}: {reasons[i]}")
        return reasons

    def _require_same(self, rows: Any, model: Any) -> None:
        """Raise an error if a model was started with other parameters or features."""
        begun, now = (
            {
                "estimator": type(m).__name__,
                **{k: v for k, v in m.get_params(deep=False).items() if k not in ONLY_FIT},
            }
            for m in (model, loads(self.begin))
        )
        begun["features"], now["features"] = (
            list(getattr(model, "feature_names_in_", self.features)),
            self.features,
        )
        for name, value in now.items():
            if begun.get(name) != value:
                raise TypeError(
                    f"{self._whose(rows)}: its model was started with {name}={begun.get(name)!r}, "
                    f"but it is {value!r} now: use a new checkpoint"
                )

    def _whose(self, rows: Any) -> str:
        return "key " + ", ".join(f"{name}={rows[name].iloc[0]}" for name in self.keys)


def _names(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _seen(model: Any) -> int:
    return int(model.n_samples_seen_) if model.__sklearn_is_fitted__() else 0


def _gaps(X: Any, y: Any) -> Reasons:
    """Return why rows are refused because of missing values."""
    reasons = np.full(len(X), "", dtype=object)
    values = y.to_numpy()
    unusable = ~np.isfinite(values) if values.dtype.kind == "f" else y.isna().to_numpy()
    for i in np.flatnonzero(unusable):
        reasons[i] = f"the target {y.name!r} is {values[i]}"
    for i, j in np.argwhere(~np.isfinite(X.to_numpy()))[::-1]:
        reasons[i] = f"the feature {X.columns[j]!r} is {X.iat[i, j]}"
    return reasons


def _beginning(estimator: StreamEstimator, n_features: int) -> bytes:
    """Return the model that every key starts with.

    Parameters that would fail for any row raise an error here.
    """
    if not isinstance(estimator, StreamEstimator):
        raise TypeError(
            "learn_keyed needs an estimator that learns over one dictionary, "
            f"got {type(estimator).__name__}"
        )
    name, gamma = kernels.named(estimator.kernel), estimator.gamma
    if (
        name
        and isinstance(gamma, str)
        and kernels.has_width(kernels.KERNELS.get(name, kernels.Gaussian))
    ):
        raise ValueError(
            f"gamma={gamma!r} would be computed from the first rows of a key: give a number"
        )
    if getattr(estimator, "budget", None) is None:
        warnings.warn(
            f"{type(estimator).__name__} has no budget, so the state of a key can grow without "
            "limit: set budget",
            stacklevel=3,
        )
    begin = dumps(clone(estimator))
    clone(estimator).partial_fit(np.ones((1, n_features)), np.ones(1, dtype=np.int64))
    return begin


def _label_type(kind: DataType) -> str:
    """Return NumPy's name for the type of the labels."""
    from pyspark.sql.types import BooleanType, IntegralType, StringType

    if isinstance(kind, StringType):
        return "object"
    if isinstance(kind, IntegralType | BooleanType):
        return "bool" if isinstance(kind, BooleanType) else "int64"
    raise TypeError(
        f"labels must be text, whole numbers or booleans, but the target is {kind.simpleString()}"
    )


def _schema(given: StructType, work: _Work, labels: DataType | None) -> StructType:
    """Return the schema of the output."""
    from pyspark.sql.types import (
        BinaryType,
        DoubleType,
        LongType,
        StringType,
        StructField,
        StructType,
    )

    more: dict[str, DataType]
    if work.output == "models":
        names, count = work.keys, LongType()
        more = {
            "n_samples_seen": count,
            "n_centers": count,
            "n_refused": count,
            "model": BinaryType(),
        }
    else:
        names = [*work.keys, *work.kept]
        more = {
            "prediction": labels or DoubleType(),
            "n_samples_seen": LongType(),
            "refused": StringType(),
        }
    for name in names:
        if name in more:
            raise ValueError(f"the output already has a column {name!r}: rename it in the stream")
    return StructType(
        [
            *(given[name] for name in names),
            *(StructField(name, kind) for name, kind in more.items()),
        ]
    )
