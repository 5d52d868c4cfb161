"""Rounds of learning on shards.

In a round, every shard continues from the same model, and the resulting models are merged.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, TypeVar

import numpy as np
from sklearn.base import clone

from parsimon import _core, _threads, kernels, merging, updates
from parsimon._parts import lookup, whole
from parsimon.estimators.base import StreamEstimator
from parsimon.persistence import dumps, loads

__all__ = [
    "Engine",
    "Result",
    "Span",
    "at_once",
    "combine",
    "combine_all",
    "cut",
    "fit",
    "in_pairs",
    "learn",
]

T = TypeVar("T")
#: Rows of a shard: first, and last plus one.
Span = tuple[int, int]

#: Engines by name: the module whose `engine(shards, **options)` makes one.
ENGINES = {
    "joblib": "parsimon.distributed.local",
    "dask": "parsimon.distributed.dask",
    "spark": "parsimon.distributed.spark",
}

#: Default number of rounds for models of which only the functions can be added: they drift apart.
#: Models that combine everything seen need one round.
ROUNDS = 16
#: Number of steps by which SOG moves from the mean to the fit to everything seen.
ASCENT = 100


class Engine(Protocol):
    """Where the shards are, and how work is sent there."""

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each shard."""

    def head(self, n: int) -> tuple[Any, Any]:
        """Return the first n rows of the first shard that is not empty, X (n, d) and y."""

    def round(self, start: bytes, spans: Sequence[Span]) -> tuple[bytes, int]:
        """Let every shard `learn` its rows of a round from the model `start`, and merge the models.

        `spans` has a pair (first, end) for each shard: it learns its rows first to end - 1. Return
        the merged model, and how many bytes of models were sent.
        """


@dataclass(frozen=True)
class Result:
    """Result of learning in shards."""

    model: Any = field(repr=False)
    rounds: int
    n_shards: int
    #: Bytes of models sent, in both directions (with joblib: to and from the shards).
    bytes_sent: int
    seconds: float


def fit(
    estimator: StreamEstimator,
    shards: Any,
    *,
    engine: str | Engine = "joblib",
    rounds: int | None = None,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Learn from shards separately, and merge the models.

    In each round, every shard continues from the model of the previous round with its next rows, in
    order. The mean of the resulting functions, weighted by the rows learned, is reduced to the
    estimator's budget. The next round starts from this mean. With one round, the models are
    averaged once, at the end.

    The mean is not the model of one process that learns all rows, whatever the number of rounds. An
    average of S models divides the effect of each sample by S. So other step sizes are best, and
    the error is often larger. Shuffle the rows before you cut them into shards.

    SOG, and KRLS with admission "ald", also add up what the shards know about their samples. KRLS
    uses the least-squares fit to these sums instead of the mean. SOG takes a hundred steps towards
    this fit at the end (`ascend`). So their shards need not be alike. The fit is approximate: each
    sample is known only as a combination of the centres of its own shard.

    Parameters
    ----------
    estimator : estimator that learns over one dictionary
        It is cloned. A `gamma` of "scale" or "median" and a `ridge` of "auto" are computed from the
        first rows of the first shard. `n_passes` and `shuffle` are ignored: rows are learned once,
        in their order. KRLS-T and extended KRLS raise an error, because their models cannot be
        merged.
    shards : sequence of (X, y), or the shards of the engine
        For "dask", Dask arrays or frames. For "spark", a Spark frame. The columns of frames become
        the model's `feature_names_in_`. If `engine` is an `Engine`, it has its own shards, and
        `shards` is ignored.
    engine : "joblib", "dask", "spark" or Engine, default="joblib"
        "joblib": processes on this machine (option `n_jobs`). "dask": workers of a cluster (option
        `client`). "spark": executors of the frame's session.
    rounds : int or None, default=None
        Number of rounds. With more rounds, models drift apart less between two merges, and more
        data is sent. The error can fall or rise. None means 1 for SOG, for KRLS with admission
        "ald" and for KRLS with forgetting, and 16 for all other estimators. There are at most as
        many rounds as the longest shard has batches.
    progress : bool, default=True
        Whether to report progress on standard error.
    **options : dict
        Options of the engine.

    Returns
    -------
    Result
        `model`, `rounds`, `n_shards`, `bytes_sent` and `seconds`.
    """
    if not isinstance(estimator, StreamEstimator):
        raise TypeError(
            "distributed.fit needs an estimator that learns over one dictionary, "
            f"got {type(estimator).__name__}"
        )
    begun = time.perf_counter()
    work = _engine(engine, shards, options)
    sizes = work.sizes
    if sum(sizes) == 0:
        raise ValueError("the shards hold no rows")
    n_rounds = _rounds(estimator, rounds, sizes)
    start, sent = dumps(_prepared(estimator, work)), 0
    cuts = [_cuts(n, n_rounds, getattr(estimator, "batch_size", 1)) for n in sizes]
    for r in range(n_rounds):
        start, more = work.round(start, [(c[r], c[r + 1]) for c in cuts])
        sent += more
        if progress:
            _tell(
                f"round {r + 1} of {n_rounds}: {len(start):,} bytes per model, "
                f"{time.perf_counter() - begun:.1f} s"
            )
    model = loads(start)
    if _update(estimator).pooling == "climb" and model.__sklearn_is_fitted__():
        model.ascend(ASCENT)
    model._unsettle(estimator)
    return Result(model, n_rounds, len(sizes), sent, time.perf_counter() - begun)


def learn(start: bytes, X: Any, y: Any, *, shard: int | None = None, first: int = 0) -> bytes:
    """Return the model `start` after it has learned a block. This is the work of a shard.

    Errors name the shard, and the row of the shard with which the block begins.
    """
    model = loads(start)
    with naming(shard, first):
        return dumps(model.partial_fit(X, y) if len(X) else model)


@contextmanager
def naming(shard: int | None, first: int = 0) -> Iterator[None]:
    """Let errors name a shard, and the row from which its rows are counted."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if shard is None:
            raise
        where = f"shard {shard}, counted from its row {first}" if first else f"shard {shard}"
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"{where}: {error}"
        ) from error


def combine(parts: Sequence[bytes], start: bytes, threads: int = 1) -> bytes:
    """Return the mean of models that continued from `start`, weighted by the rows each has learned.

    The result does not depend on the number of threads. At most one thread per core is used.
    """
    since = loads(start)
    before = since.n_samples_seen_ if since.__sklearn_is_fitted__() else 0
    models = [
        model
        for model in map(loads, parts)
        if model.__sklearn_is_fitted__() and model.n_samples_seen_ > before
    ]
    if len(models) < 2:
        return dumps(models[0]) if models else start
    informed = "information" if _update(models[0]).pooling == "solve" else None
    n_jobs = min(threads, _threads.count(-1))
    return dumps(
        merging.merge(models, informed, since=since if before else None, n_jobs=n_jobs).model
    )


def combine_all(
    parts: Sequence[bytes],
    start: bytes,
    threads: int = 1,
    each: Callable[[list[Sequence[bytes]], int], list[bytes]] | None = None,
) -> bytes:
    """Return the mean of any number of models.

    They are merged in pairs (`in_pairs`), or all together (`at_once`) if the result is the fit to
    everything seen. `each` combines the pairs of a level, with a number of threads per pair. If it
    is None, pairs are combined here, one after the other. `threads` is the total number of threads.
    """
    if at_once(start):
        return combine(parts, start, threads)
    if each is None:
        return in_pairs(parts, lambda pairs: [combine(pair, start, threads) for pair in pairs])
    return in_pairs(parts, lambda pairs: each(pairs, max(threads // len(pairs), 1)))


def in_pairs(parts: Sequence[T], each: Callable[[list[Sequence[T]]], list[T]]) -> T:
    """Reduce parts to one: `each` makes one of every pair, level by level.

    Merging in pairs keeps the unions small. All engines use the same pairs, so their results agree
    to the last bit.
    """
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts) - 1, 2)]
        parts = [*each(pairs), *parts[2 * len(pairs) :]]
    return parts[0]


def at_once(start: bytes) -> bool:
    """Return whether models that continue from this model are merged all together.

    These are models whose merge is a new least-squares fit to all samples. In a tree of pairs, each
    fit would be over few centres and lose too much.
    """
    return _update(loads(start)).pooling == "solve"


def cut(X: Any, y: Any, span: Span) -> tuple[Any, Any]:
    """Return the rows of X and y from span[0] to span[1] - 1, by position."""
    rows = slice(*span)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows], y[rows]


def _engine(engine: str | Engine, shards: Any, options: dict[str, Any]) -> Engine:
    if not isinstance(engine, str):
        if options:
            raise TypeError(
                f"{', '.join(options)}: options need an engine given by name, got an engine object"
            )
        return engine
    make: Callable[..., Engine] = import_module(lookup(ENGINES, engine, "engine")).engine
    return make(shards, **options)


def _rounds(estimator: StreamEstimator, rounds: int | None, sizes: list[int]) -> int:
    update = _update(estimator)
    forgets = update.forgets
    if rounds is None:
        rounds = 1 if forgets or update.pooling != "none" else ROUNDS
    if forgets and whole("rounds", rounds, at_least=1) > 1:
        raise ValueError(
            "models with forgetting < 1 need rounds=1: after a round they no longer weigh "
            "the model that they started from"
        )
    batches = max(sizes) // getattr(estimator, "batch_size", 1)
    return min(whole("rounds", rounds, at_least=1), max(batches, 1))


def _update(estimator: StreamEstimator) -> updates.Update:
    options = estimator._options(estimator.get_params(deep=False))
    return type(estimator)._algorithm(kernels.Gaussian(), **options).update


def _prepared(estimator: StreamEstimator, work: Engine) -> Any:
    """Return a clone of the estimator, with the same kernel for all shards."""
    model = clone(estimator)
    head, y = work.head(1000)
    X = np.ascontiguousarray(head, dtype=np.float64)
    first = next(i for i, n in enumerate(work.sizes) if n)
    single = isinstance(model.kernel, kernels.SinglePrecision)
    # Before gamma is computed from it
    _core.require_finite(X, f"shard {first}: X", single)
    with naming(first):
        return model.set_params(**model._settled_on(X, y))


def _cuts(n: int, rounds: int, batch_size: int) -> list[int]:
    """Return the first row of each round, and n. All rounds except the last have whole batches."""
    return [*(n // batch_size * r // rounds * batch_size for r in range(rounds)), n]


def _tell(what: str) -> None:
    print(f"parsimon: {what}", file=sys.stderr, flush=True)
