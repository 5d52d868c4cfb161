"""Shards on this machine, learned by joblib processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from parsimon.distributed.rounds import Span, combine, combine_all, cut, learn

__all__ = ["checked", "engine"]


def engine(shards: Any, *, n_jobs: int | None = -1) -> Local:
    """Return an engine over a sequence of (X, y)."""
    return Local(shards, n_jobs)


class Local:
    """An engine whose shards are in memory, for processes on this machine."""

    def __init__(self, shards: Any, n_jobs: int | None) -> None:
        self._shards = checked_all(shards)
        self._pool = Parallel(n_jobs=n_jobs, max_nbytes="100K")
        self._n_jobs: int = effective_n_jobs(n_jobs)

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each shard."""
        return [len(X) for X, _ in self._shards]

    def head(self, n: int) -> tuple[Any, Any]:
        """Return the first n rows of the first shard that is not empty."""
        return cut(*next(shard for shard in self._shards if len(shard[0])), (0, n))

    def round(self, start: bytes, spans: Sequence[Span]) -> tuple[bytes, int]:
        """Let every shard learn its rows of a round from the model `start`, and merge the models.

        `spans` has a pair (first, end) for each shard: it learns its rows first to end - 1. Return
        the merged model, and how many bytes of models were sent.
        """
        work = [
            delayed(learn)(start, *cut(*shard, span), shard=i, first=span[0])
            for i, (shard, span) in enumerate(zip(self._shards, spans, strict=True))
            if span[0] < span[1]
        ]
        parts: list[bytes] = list(self._pool(work))
        if not parts:
            return start, 0
        sent = len(start) * len(parts) + sum(map(len, parts))

        def each(pairs: list[Sequence[bytes]], threads: int) -> list[bytes]:
            return list(self._pool(delayed(combine)(pair, start, threads) for pair in pairs))

        return combine_all(parts, start, self._n_jobs, each), sent


def checked_all(shards: Any) -> list[tuple[Any, Any]]:
    """Return shards in memory, all with the same number of features."""
    if isinstance(shards, str | bytes) or not hasattr(shards, "__iter__"):
        raise TypeError(f"shards must be a sequence of pairs (X, y), got {type(shards).__name__}")
    found = [checked(i, shard) for i, shard in enumerate(shards)]
    if not found:
        raise ValueError("there are no shards")
    for i, (X, _) in enumerate(found):
        if X.shape[1] != found[0][0].shape[1]:
            raise ValueError(f"shard 0 has {found[0][0].shape[1]} features, shard {i} {X.shape[1]}")
    return found


def checked(i: int, shard: Any) -> tuple[Any, Any]:
    """Return shard i: X (n, d), an array or a frame, and y, an array; or raise an error."""
    try:
        X, y = shard
    except (TypeError, ValueError):
        raise TypeError(f"shard {i} is not a pair (X, y): {type(shard).__name__}") from None
    X, y = X if hasattr(X, "columns") else np.asarray(X), np.asarray(y)
    if len(X.shape) != 2 or len(X) != len(y):
        raise ValueError(f"shard {i} has X of shape {X.shape} and y of shape {y.shape}")
    return X, y
