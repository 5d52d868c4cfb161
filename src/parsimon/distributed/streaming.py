"""One model a key on Spark Structured Streaming: a device, a customer, each with its own, kept by
the engine.

    scored = learn_keyed(readings, model, key="device", features=["load", "hour"], target="power",
    order="time", keep=["time"]) scored.writeStream.format("parquet").option("path",
    out).option("checkpointLocation", checkpoint).start()

The state of a key is its model file, as bytes, in Spark's state store. Spark writes it with the
offsets it has read, and after a crash takes up both where they last agreed: a micro-batch that was
not committed is learned again, from the models before it, and comes to the same. So every row is
learned exactly once. Rows out are written exactly once by sinks that know a batch by its number
(files; `foreachBatch` with the batch id).
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

#: Why each row of a block is refused; an empty text where it is not.
Reasons = NDArray[np.object_]

#: The state of a key: its model file, and how many of its rows were refused.
STATE = "model binary, n_refused long"
#: What comes out, and in which of Spark's output modes.
OUTPUTS = {"predictions": "append", "models": "update"}
#: Parameters that do nothing here.
ONLY_FIT = ("n_passes", "shuffle", "random_state")
#: What happens to a row that cannot be learned.
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
    """Learn a model for each key of a stream, and return a stream of what they predicted for each
    row before it was learned (test-then-learn).

    A key that was not met before begins a model. State lives as long as the checkpoint: a key is
    never forgotten.

    Parameters
    ----------
    stream : streaming pyspark.sql.DataFrame
        Workers need parsimon installed.
    estimator : an estimator that learns over one dictionary
        All keys begin with it. `gamma` must be a number (or `kernel` an object): "scale" would be
        measured on whatever rows of a key came first. Give it a `budget`, which bounds what a key
        takes. With a `batch_size` above 1, batches are cut from the rows that a key has in a
        micro-batch. Parameters other than those that a checkpoint was begun with are refused.
    key : str or list of str
        The columns that say whose row it is. Null is a key like others.
    features, target : list of str, str
        The columns of X and y. A feature must be a number; a regressor's target too.
    order : str or None
        The rows that a key has in a micro-batch are learned in the order of this column (time,
        offset), those that agree in it by their features, then target. None: as they arrive, which
        for a source of several partitions is not the same each time. Rows of an earlier micro-batch
        come first, whatever they hold.
    keep : list of str or None
        Columns to pass on, so that rows out can be told apart.
    output : "predictions" or "models"
        "predictions": a row for each row: the key, `keep`, `prediction`, `n_samples_seen` (of the
        key, this row included) and `refused` (why, else null); append mode. The prediction is null
        where the row was refused, and for the very first row of a classifier, who knows no class
        then. "models": a row for each key of the micro-batch: the key, `n_samples_seen`,
        `n_centers`, `n_refused` and `model` (a file's bytes: `parsimon.persistence.loads`); update
        mode.
    on_refused : "raise" or "skip"
        What to do with a row that has a null, NaN or infinity, or whose kernel value overflows.
        "raise": the query fails, its error names key and row, and nothing of the micro-batch is
        learned. "skip": the row is not learned, `refused` says why, and the key's `n_refused`
        counts it.

    Returns
    -------
    streaming pyspark.sql.DataFrame
    """
    require_spark("learn_keyed")
    if not stream.isStreaming:
        raise ValueError(
            "the frame is no stream: read it with spark.readStream, or learn one model of it with distributed.fit"
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
    """Return the models that a query with this checkpoint has learned up to its last committed
    micro-batch, by key: a value, or a tuple of several.

    All of them come to the driver. The query need not be running.
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
    """What is done with the rows that a key has in a micro-batch.

    It holds no state: the same rows and model come to the same again.
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
        """Return the model, how many rows it has refused so far, and the rows that go out."""
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
        except ValueError:  # the block has changed nothing; which of its rows was it?
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
        """Learn the rows that were not refused, as one block, and return the predictions for all."""
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
        """Return why rows are refused, those known to be and those that the model refuses when it
        is given them alone.
        """
        reasons = refused.copy()
        for i in np.flatnonzero(refused == ""):
            try:
                loads(state).partial_fit(X[i : i + 1], y[i : i + 1].to_numpy(dtype=self.labels))
            except ValueError as error:
                reasons[i] = str(error)
        return reasons

    def _refused(self, rows: Any, reasons: Reasons) -> Reasons:
        """Return why rows are refused, if they may be."""
        for i in np.flatnonzero(reasons != ""):
            if not self.skip:
                names = dict.fromkeys([*_names(self.order or []), *self.kept])
                told = [f"{name}={rows[name].iloc[i]}" for name in names] or [
                    f"{i} of its micro-batch"
                ]
                raise ValueError(f"{self._whose(rows)}, row {', '.join(told)}: {reasons[i]}")
        return reasons

    def _require_same(self, rows: Any, model: Any) -> None:
        """Refuse to go on with a model that was begun with something else."""
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
                    f"{self._whose(rows)}: its model was begun with {name}={begun.get(name)!r}, and it is {value!r} now: give a new checkpoint"
                )

    def _whose(self, rows: Any) -> str:
        return "key " + ", ".join(f"{name}={rows[name].iloc[0]}" for name in self.keys)


def _names(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _seen(model: Any) -> int:
    return int(model.n_samples_seen_) if model.__sklearn_is_fitted__() else 0


def _gaps(X: Any, y: Any) -> Reasons:
    """Return why rows are refused for what is not in them."""
    reasons = np.full(len(X), "", dtype=object)
    values = y.to_numpy()
    unusable = ~np.isfinite(values) if values.dtype.kind == "f" else y.isna().to_numpy()
    for i in np.flatnonzero(unusable):
        reasons[i] = f"the target {y.name!r} is {values[i]}"
    for i, j in np.argwhere(~np.isfinite(X.to_numpy()))[::-1]:
        reasons[i] = f"the feature {X.columns[j]!r} is {X.iat[i, j]}"
    return reasons


def _beginning(estimator: StreamEstimator, n_features: int) -> bytes:
    """Return the model that every key begins with, and refuse here what would be refused for any
    row.
    """
    if not isinstance(estimator, StreamEstimator):
        raise TypeError(
            f"keyed streams are for estimators that learn over one dictionary, got {type(estimator).__name__}"
        )
    name, gamma = kernels.named(estimator.kernel), estimator.gamma
    if (
        name
        and isinstance(gamma, str)
        and kernels.has_width(kernels.KERNELS.get(name, kernels.Gaussian))
    ):
        raise ValueError(
            f"gamma={gamma!r} would be measured on whatever rows of a key come first: give a number"
        )
    if getattr(estimator, "budget", None) is None:
        warnings.warn(
            f"{type(estimator).__name__} has no budget, so that the state of a key may grow without end: set budget",
            stacklevel=3,
        )
    begin = dumps(clone(estimator))
    clone(estimator).partial_fit(np.ones((1, n_features)), np.ones(1, dtype=np.int64))
    return begin


def _label_type(kind: DataType) -> str:
    """Return what NumPy calls labels of a column."""
    from pyspark.sql.types import BooleanType, IntegralType, StringType

    if isinstance(kind, StringType):
        return "object"
    if isinstance(kind, IntegralType | BooleanType):
        return "bool" if isinstance(kind, BooleanType) else "int64"
    raise TypeError(
        f"labels must be text, whole numbers or booleans, and the target is {kind.simpleString()}"
    )


def _schema(given: StructType, work: _Work, labels: DataType | None) -> StructType:
    """Return what goes out."""
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
            raise ValueError(f"a column {name!r} goes out already: rename the one of the stream")
    return StructType(
        [
            *(given[name] for name in names),
            *(StructField(name, kind) for name, kind in more.items()),
        ]
    )
