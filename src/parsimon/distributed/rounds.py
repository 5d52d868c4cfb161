"""Rounds of learning on shards: each goes on from the same model, and what they made of it is
merged.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Sequence
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
#: Rows of a shard, from and to.
Span = tuple[int, int]

#: What an engine is called: the module in which `engine(shards, **options)` makes one.
ENGINES = {
    "joblib": "parsimon.distributed.local",
    "dask": "parsimon.distributed.dask",
    "spark": "parsimon.distributed.spark",
}

#: How many rounds are made where nothing is said: one where all that was seen adds up, more where
#: only the functions do and shards drift apart.
ROUNDS = 16
#: Steps by which SOG goes from the mean to the fit to all that was seen.
ASCENT = 100


class Engine(Protocol):
    """Where shards are, and how work gets there."""

    @property
    def sizes(self) -> list[int]:
        """How many rows each shard has."""

    def head(self, n: int) -> tuple[Any, Any]:
        """Return the first n rows of the first shard that has any, X (n, d) and y."""

    def round(self, start: bytes, spans: Sequence[Span]) -> tuple[bytes, int]:
        """Let every shard `learn` its span of rows from the model `start` on, and `combine` the
        results. Return the merged model, and how many bytes of models were sent.
        """


@dataclass(frozen=True)
class Result:
    """What learning in parts came to."""

    model: Any = field(repr=False)
    rounds: int
    n_shards: int
    #: Bytes of models that were sent, both ways (with joblib: to and from the shards).
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
    """Learn afresh from shards, each on its own, and merge.

    In each round every shard goes on from the model of the last one with the next part of its rows,
    in order, and the mean of the functions (by rows learned) is what the next round starts from,
    brought down to the estimator's budget. One round is learning apart and averaging once; with
    more of them the shards do not drift apart. What KRLS and SOG have seen adds up: for KRLS
    (admission "ald") the fit to all of it takes the place of the mean, and SOG takes a hundred
    steps towards it at the end (`ascend`), so that shards need not be alike.

    Parameters
    ----------
    estimator : an estimator that learns over one dictionary
        A `gamma` of "scale" or "median" is measured on the head of the first shard. `n_passes` and
        `shuffle` are not looked at: rows are learned once, in the order they have.
    shards : sequence of (X, y); or what the engine takes (Dask arrays and frames, a Spark frame)
        The columns of frames are the model's `feature_names_in_`. An `Engine` has its shards: these
        are not looked at then.
    engine : "joblib", "dask", "spark" or an `Engine`, default="joblib"
        "joblib": processes of this machine (`n_jobs=`). "dask": `client=`. "spark": the frame says
        where.
    rounds : int or None
        None: 1 for KRLS with admission "ald" (and any KRLS that forgets) and for SOG, whose
        information adds up; 16 for the others.
    progress : bool
        Whether to tell on standard error how far it is.
    **options : for the engine.

    Returns
    -------
    Result
        `model`, `rounds`, `bytes_sent`, `seconds`.
    """
    if not isinstance(estimator, StreamEstimator):
        raise TypeError(
            f"shards are for estimators that learn over one dictionary, got {type(estimator).__name__}"
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
                f"round {r + 1} of {n_rounds}: {len(start):,} bytes a model, {time.perf_counter() - begun:.1f} s"
            )
    model = loads(start)
    if _update(estimator).pooling == "climb" and model.__sklearn_is_fitted__():
        model.ascend(ASCENT)
    _give_back(model, estimator)
    return Result(model, n_rounds, len(sizes), sent, time.perf_counter() - begun)


def learn(start: bytes, X: Any, y: Any, *, shard: int | None = None, first: int = 0) -> bytes:
    """Return the model that comes of `start` and a block: what a shard does.

    Errors name the shard, and its row that the block begins with.
    """
    model = loads(start)
    try:
        return dumps(model.partial_fit(X, y) if len(X) else model)
    except (TypeError, ValueError) as error:
        if shard is None:
            raise
        where = f"shard {shard}, counted from its row {first}" if first else f"shard {shard}"
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"{where}: {error}"
        ) from error


def combine(parts: Sequence[bytes], start: bytes, threads: int = 1) -> bytes:
    """Return the mean of models that went on from `start`, by the rows that each has learned.

    It can be done in any tree, and with any number of threads, of which no more are taken than this
    machine has cores.
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
    """Return the mean of any number of models: in pairs (`in_pairs`), or where the fit to all that
    was seen is made, at once (`at_once`).

    `each` combines the pairs of a level with so many threads for a pair; None: here, one after the
    other. There are `threads` in all.
    """
    if at_once(start):
        return combine(parts, start, threads)
    if each is None:
        return in_pairs(parts, lambda pairs: [combine(pair, start, threads) for pair in pairs])
    return in_pairs(parts, lambda pairs: each(pairs, max(threads // len(pairs), 1)))


def in_pairs(parts: Sequence[T], each: Callable[[list[Sequence[T]]], list[T]]) -> T:
    """Return what is left of parts when `each` makes one of every pair, level by level, which keeps
    unions small. All engines pair so, and agree to the last bit.
    """
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts) - 1, 2)]
        parts = [*each(pairs), *parts[2 * len(pairs) :]]
    return parts[0]


def at_once(start: bytes) -> bool:
    """Return whether models that go on from this one are merged all at once: fits over few centres
    at every node of a tree would lose too much.
    """
    return _update(loads(start)).pooling == "solve"


def cut(X: Any, y: Any, span: Span) -> tuple[Any, Any]:
    """Return rows of arrays, or of a frame, whatever its index is."""
    rows = slice(*span)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows], y[rows]


def _engine(engine: str | Engine, shards: Any, options: dict[str, Any]) -> Engine:
    if not isinstance(engine, str):
        if options:
            raise TypeError(
                f"{', '.join(options)}: options are for engines that are named, this is one already"
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
            "models that forget learn in one round: what the next one starts from is not known by them any more"
        )
    batches = max(sizes) // getattr(estimator, "batch_size", 1)
    return min(whole("rounds", rounds, at_least=1), max(batches, 1))


def _update(estimator: StreamEstimator) -> updates.Update:
    options = estimator._options(estimator.get_params(deep=False))
    return type(estimator)._algorithm(kernels.Gaussian(), **options).update


def _prepared(estimator: StreamEstimator, work: Engine) -> Any:
    """Return the estimator, to be learned with, its kernel settled for all shards."""
    model = clone(estimator)
    X = np.ascontiguousarray(work.head(1000)[0], dtype=np.float64)
    first = next(i for i, n in enumerate(work.sizes) if n)
    single = isinstance(model.kernel, kernels.SinglePrecision)
    # Before the kernel's width is measured on it
    _core.require_finite(X, f"shard {first}: X", single)
    model.kernel, model.gamma = kernels.resolve(model.kernel, model.gamma, X), "scale"
    return model


def _give_back(model: Any, estimator: Any) -> None:
    """Let a model have the parameters that were asked for; `kernel_` is what they came to."""
    for given in (model.__dict__, model._learns_with):
        given.update(kernel=copy.deepcopy(estimator.kernel), gamma=estimator.gamma)


def _cuts(n: int, rounds: int, batch_size: int) -> list[int]:
    """Return where the rounds of n rows begin and end: whole batches, but for the last."""
    return [*(n // batch_size * r // rounds * batch_size for r in range(rounds)), n]


def _tell(what: str) -> None:
    print(f"parsimon: {what}", file=sys.stderr, flush=True)
