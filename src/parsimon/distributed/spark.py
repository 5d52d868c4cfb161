"""Shards that are the partitions of a Spark frame.

    result = distributed.fit(model, frame, engine="spark", target="y", features=["x1", "x2"])

A round is one Spark job: each partition learns its rows and sends one model back. The driver merges
the models in pairs, as every engine does, with the cores of its machine. Models are small, so this
is cheap. A task depends only on its model and its rows, so Spark can run it again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon import _threads
from parsimon._extras import install_command
from parsimon.distributed.rounds import Span, combine_all, learn

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["engine"]

#: Columns that the engine adds to a frame: the partition of a row, and its position in it.
SHARD, ROW = "__shard", "__row"


def engine(frame: DataFrame, *, target: str, features: list[str] | None = None) -> Spark:
    """Return an engine over a Spark frame. A shard is a partition, with its rows in order.

    The columns in use are cached (in memory, else on disk) while the engine lives. The position of
    each row is cached too, so all rounds see the same order. If an executor is lost, its partitions
    are computed again. To get the same order of rows then, define this order:
    ``frame.repartition(8, "device").sortWithinPartitions("device", "time")``.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Data. `repartition` sets the number of shards. Workers need parsimon installed.
    target : str
        Column of y: numbers or labels.
    features : list of str or None, default=None
        Columns of X, which must be numbers, in this order. None means all except the target.
    """
    require_spark('engine="spark"')
    return Spark(frame, target, features)


class Spark:
    """An engine whose shards are the partitions of a Spark frame."""

    def __init__(self, frame: DataFrame, target: str, features: list[str] | None) -> None:
        from pyspark.sql import functions as F
        from pyspark.sql.types import DecimalType

        self._features = (
            [name for name in frame.columns if name != target]
            if features is None
            else list(features)
        )
        self._target = target
        require_columns(frame, [target, *self._features])
        require_numbers(frame, self._features)
        y = column(target)
        if isinstance(frame.schema[target].dataType, DecimalType):
            y = y.cast("double")
        # The last 33 bits are the row, the others the partition
        place = F.monotonically_increasing_id()
        chosen = frame.select(
            *(column(name).cast("double").alias(f"x{i}") for i, name in enumerate(self._features)),
            y.alias("y"),
            F.shiftright(place, 33).cast("int").alias(SHARD),
            place.bitwiseAND(F.lit(2**33 - 1)).alias(ROW),
        ).persist()
        self._frame = chosen
        weakref.finalize(self, chosen.unpersist).atexit = False
        self._sizes = self._measured()

    def _measured(self) -> dict[int, int]:
        """Return the number of rows of each partition that is not empty.

        Missing values raise an error.
        """
        from pyspark.sql import functions as F

        names = {**{f"x{i}": name for i, name in enumerate(self._features)}, "y": self._target}
        floats = {name for name, kind in self._frame.dtypes if kind in ("double", "float")}
        gaps = [
            F.count_if(F.isnull(name) | F.isnan(name) if name in floats else F.isnull(name)).alias(
                name
            )
            for name in names
        ]
        rows = (
            self._frame.groupBy(SHARD).agg(F.count("*").alias("n"), *gaps).orderBy(SHARD).collect()
        )
        if not rows:
            raise ValueError("the frame has no rows")
        missing = {names[name]: sum(row[name] for row in rows) for name in names}
        if any(missing.values()):
            told = ", ".join(f"{name!r} has {count}" for name, count in missing.items() if count)
            raise ValueError(f"the frame has null or NaN: {told}; drop or fill these rows first")
        return {row[SHARD]: row["n"] for row in rows}

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each shard. Empty partitions are not shards."""
        return list(self._sizes.values())

    def head(self, n: int) -> tuple[Any, Any]:
        """Return the first n rows of the first shard."""
        first = next(iter(self._sizes))
        rows = self._frame.where(f"{SHARD} = {first} and {ROW} < {n}").orderBy(ROW).collect()
        return np.array([row[: len(self._features)] for row in rows]), np.array(
            [row["y"] for row in rows]
        )

    def round(self, start: bytes, spans: Sequence[Span]) -> tuple[bytes, int]:
        """Let every shard learn its rows of a round from the model `start`, and merge the models.

        `spans` has a pair (first, end) for each shard: it learns its rows first to end - 1. Return
        the merged model, and how many bytes of models were sent.
        """
        work = {
            shard: span for shard, span in zip(self._sizes, spans, strict=True) if span[0] < span[1]
        }
        if not work:
            return start, 0
        first, last = (
            min(first for first, _ in work.values()),
            max(last for _, last in work.values()),
        )
        # Other rows do not leave the JVM
        near = self._frame.where(f"{ROW} >= {first} and {ROW} < {last}")
        models = near.mapInPandas(
            _learner(start, work, self._features), f"{SHARD} int, model binary"
        )
        parts = {row[SHARD]: bytes(row["model"]) for row in models.collect()}
        if parts.keys() != work.keys():
            raise RuntimeError(
                f"models came from partitions {sorted(parts)}, but the rows are in {sorted(work)}"
            )
        sent = len(start) * len(parts) + sum(map(len, parts.values()))
        return combine_all([parts[shard] for shard in work], start, _threads.count(-1)), sent


def _learner(
    start: bytes, work: dict[int, Span], features: list[str]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark calls with the frames of a partition."""

    def learn_partition(frames: Iterator[Any]) -> Iterator[Any]:
        import pandas as pd  # type: ignore[import-untyped]

        parts = list(frames)
        for shard, rows in pd.concat(parts).groupby(SHARD) if parts else ():
            first, last = work.get(shard, (0, 0))
            if first < last:
                rows = rows[(rows[ROW] >= first) & (rows[ROW] < last)]
                yield pd.DataFrame(
                    {
                        SHARD: [shard],
                        "model": [
                            learn(start, *_block(rows, features), shard=int(shard), first=first)
                        ],
                    }
                )

    return learn_partition


def _block(rows: Any, features: list[str]) -> tuple[Any, Any]:
    return rows[[f"x{i}" for i in range(len(features))]].set_axis(features, axis=1), rows[
        "y"
    ].to_numpy()


# Also used by streaming.py


def require_spark(what: str) -> None:
    """Raise an ImportError if Spark is not installed."""
    try:
        for name in ("pandas", "pyarrow", "pyspark.sql"):
            import_module(name)
    except ImportError as error:
        raise ImportError(f"{what} needs Spark: {install_command('spark')}") from error


def column(name: str) -> Column:
    """Return the column of that name, which may have any characters."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def require_columns(frame: DataFrame, names: Sequence[str]) -> None:
    """Raise an error if a column is missing from the frame, or is in it twice."""
    known = list(frame.columns)
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, known))}"
            raise ValueError(f"the frame has no column {name!r}: {hint}")
        if known.count(name) > 1:
            raise ValueError(f"the frame has {known.count(name)} columns {name!r}")


def require_numbers(frame: DataFrame, names: Sequence[str]) -> None:
    """Raise an error if a feature is not a number."""
    from pyspark.sql.types import BooleanType, NumericType

    if not names:
        raise ValueError("there are no features")
    for name in names:
        kind = frame.schema[name].dataType
        if not isinstance(kind, NumericType | BooleanType):
            raise TypeError(
                f"features must be numbers, but column {name!r} is {kind.simpleString()}"
            )
