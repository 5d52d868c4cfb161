"""Shards on the workers of a Dask cluster.

    from dask.distributed import Client
    client = Client("scheduler:8786")  # or Client() for the cores of this machine
    distributed.fit(POLKClassifier(budget=500), (X, y), engine="dask")  # X, y: Dask arrays

Rows are sent to the workers once and stay there. Each round has one task per shard, which runs
where its rows are. Then the models are merged in pairs by a balanced tree of tasks, and one model
is returned. Near the root of the tree there are fewer merges than workers, so a merge also uses the
threads of idle workers on its machine.

Every task is a pure function of rows and model files, and the order of the shards determines the
pairs. So the result does not depend on the schedule, on the number of workers or on the loss of a
worker. Lost data are computed again. Partitions of Dask collections come from their source. Rows
and models that this process sent are stored inside their tasks, and the scheduler keeps these
tasks. So rows in memory also take memory in the scheduler: use Dask arrays or frames for large
data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from parsimon._extras import install_command
from parsimon.distributed.local import checked, checked_all
from parsimon.distributed.rounds import Span, at_once, combine, cut, in_pairs, learn

try:
    import dask.array
    import dask.config
    import distributed
    from dask.base import is_dask_collection
    from dask.delayed import delayed
except ImportError as error:
    raise ImportError(f'engine="dask" needs Dask: {install_command("dask")}') from error

__all__ = ["engine"]


def engine(shards: Any, *, client: Any = None, target: Any = None) -> Cluster:
    """Return an engine over the workers of a cluster.

    Parameters
    ----------
    shards : sequence of (X, y), pair (X, y) of Dask collections, or Dask frame
        Shards in memory are sent to the workers, one per task. For Dask arrays a shard is a chunk
        of rows of X. For frames and series a shard is a partition.
    client : distributed.Client or None, default=None
        Client of the cluster. None means the current client. No cluster is started.
    target : column name or None, default=None
        Column of a Dask frame that is y. The other columns are X.
    """
    return Cluster(shards, _client() if client is None else client, target)


class Cluster:
    """An engine whose shards are on the workers of a Dask cluster."""

    def __init__(self, shards: Any, client: Any, target: Any) -> None:
        self._client = client
        self._name = uuid4().hex  # keys of different calls must not clash
        self._count = count()
        # Rows that were in memory here, and the workers that have each shard of them or soon will.
        self._rows: list[tuple[Any, Any]] | None = None
        self._at: list[Sequence[str]] = []
        self._shards: list[Any]
        self._sizes: list[int]
        if target is None and not _is_lazy(shards):
            self._rows = checked_all(shards)
            self._sizes = [len(X) for X, _ in self._rows]
            self._shards, self._at = [None] * len(self._rows), [()] * len(self._rows)
            self._bring(list(client.ncores()))
            return
        self._shards = client.compute(_blocks(shards, target))
        if not self._shards:
            raise ValueError("there are no shards")
        self._sizes = client.gather([self._submit(_size, shard) for shard in self._shards])

    @property
    def sizes(self) -> list[int]:
        """Number of rows of each shard."""
        return self._sizes

    def head(self, n: int) -> tuple[Any, Any]:
        """Return the first n rows of the first shard that is not empty."""
        first = next(i for i, size in enumerate(self._sizes) if size)
        if self._rows is not None:
            return cut(*self._rows[first], (0, n))
        rows: tuple[Any, Any] = self._submit(_head, self._shards[first], n).result()
        return rows

    def round(self, start: bytes, spans: Sequence[Span]) -> tuple[bytes, int]:
        """Let every shard learn its rows of a round from the model `start`, and merge the models.

        `spans` has a pair (first, end) for each shard: it learns its rows first to end - 1. Return
        the merged model, and how many bytes of models were sent. Three kinds of bytes are counted.
        The first is the start model, once per worker that used it. The second is every model that
        was merged on another worker than the one that made it. The third is the final model.
        Transfers through the scheduler count once. Transfers to a worker that was lost do not
        count.
        """
        if all(first == last for first, last in spans):
            return start, 0
        given, whole = self._submit(_same, start), at_once(start)
        workers = self._workers()
        if self._rows is not None:
            self._bring(list(workers))
        homes = self._homes()
        last = self._merged(given, spans, homes, whole=whole)
        pinned = {(worker, workers.get(worker)) for home in homes for worker in home}
        while not _done(last):
            if pinned and not pinned & set(self._workers().items()):
                # All workers are lost, and pinned tasks do not move to workers that join later.
                pinned = set()
                if self._rows is not None:
                    self._bring([])
                last = self._merged(given, spans, [()] * len(spans), whole=whole)
        part: _Part = last.result()
        return part.model, len(start) * len(part.workers) + part.sent + len(part.model)

    def _merged(
        self, given: Any, spans: Sequence[Span], homes: Sequence[Sequence[str]], *, whole: bool
    ) -> Any:
        """Return the future of the merged model of a round, merged in pairs or all at once.

        `homes` are the workers on which to learn, as long as they exist.
        """
        parts = [
            self._submit(_learn, given, shard, span, i, **_pin(home))
            for i, (shard, span, home) in enumerate(zip(self._shards, spans, homes, strict=True))
            if span[0] < span[1]
        ]
        if whole and len(parts) > 1:
            return self._submit(_merge, given, self._idle(1), *parts)
        # Neighbouring shards are merged: each worker takes its share of a level.
        workers = list(dict.fromkeys(worker for home in homes for worker in home))

        def each(pairs: list[Sequence[Any]]) -> list[Any]:
            idle, n = self._idle(len(pairs)), len(pairs)
            return [
                self._submit(_merge, given, idle, *p, **_pin(_share(workers, k, n)))
                for k, p in enumerate(pairs)
            ]

        return in_pairs(parts, each)

    def _workers(self) -> dict[str, str]:
        """Return the workers' addresses, each with an id that changes when it restarts."""
        found: dict[str, dict[str, Any]] = self._client.scheduler_info(n_workers=-1)["workers"]
        return {address: worker["local_directory"] for address, worker in found.items()}

    def _bring(self, workers: list[str]) -> None:
        """Send rows that are in memory here to these workers, if they are not there yet.

        Neighbouring shards go to the same worker. Without workers, the scheduler decides.
        """
        before = list(dict.fromkeys(worker for home in self._at for worker in home))
        workers = sorted(
            workers, key=lambda worker: before.index(worker) if worker in before else len(before)
        )
        for i, rows in enumerate(self._rows or ()):
            home = _share(workers, i, len(self._shards))
            if home != self._at[i] or not home:
                self._shards[i], self._at[i] = self._submit(_same, rows, **_pin(home)), home

    def _homes(self) -> list[Sequence[str]]:
        """Return the workers that have each shard, or will have it soon."""
        if self._rows is not None:
            return self._at
        found = self._client.who_has(self._shards)
        return [found[shard.key] for shard in self._shards]

    def _idle(self, merges: int) -> int:
        """Return the number of threads for each of several merges that run at the same time.

        Near the root of the tree of merges, idle threads of other workers on the machine are
        included.
        """
        machines = Counter[str]()
        for worker, threads in self._client.ncores().items():
            machines[worker.rsplit(":", 1)[0]] += threads
        on_one = -(-merges // max(len(machines), 1))
        return max(min(machines.values(), default=1) // on_one, 1)

    def _submit(self, function: Any, *args: Any, **where: Any) -> Any:
        """Return the future of a task."""
        key = f"parsimon{function.__name__}-{self._name}-{next(self._count)}"
        # Rows and models from here are part of their task, not scattered: scattered data are lost
        # with their worker.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
            return self._client.submit(function, *args, key=key, **where)


class _Part(NamedTuple):
    """A model on its way through the tree of merges.

    The other fields are only for counting bytes.
    """

    model: bytes
    at: str
    workers: frozenset[str]  # that worked on it
    sent: int  # bytes of models sent between workers for it


def _learn(start: bytes, shard: tuple[Any, Any], span: Span, i: int) -> _Part:
    here = distributed.get_worker().address
    return _Part(
        learn(start, *cut(*shard, span), shard=i, first=span[0]), here, frozenset([here]), 0
    )


def _merge(start: bytes, threads: int, *parts: _Part) -> _Part:
    here = distributed.get_worker().address
    sent = sum(part.sent + len(part.model) * (part.at != here) for part in parts)
    workers = frozenset([here]).union(*(part.workers for part in parts))
    return _Part(combine([part.model for part in parts], start, threads), here, workers, sent)


def _share(workers: Sequence[str], i: int, n: int) -> Sequence[str]:
    """Return the worker for item i of n."""
    return workers[i * len(workers) // n :][:1]


def _pin(workers: Sequence[str]) -> dict[str, Any]:
    return {"workers": list(workers), "allow_other_workers": True} if workers else {}


def _done(future: Any) -> bool:
    """Wait until the future is done, for at most a second, and return whether it is."""
    with suppress(TimeoutError):
        future.exception(timeout=1)
    finished: bool = future.done()
    return finished


def _same(value: Any) -> Any:
    return value


def _size(shard: tuple[Any, Any]) -> int:
    return len(shard[0])


def _head(shard: tuple[Any, Any], n: int) -> tuple[Any, Any]:
    return cut(*shard, (0, n))


def _shard(i: int, X: Any, y: Any) -> tuple[Any, Any]:
    return checked(i, (X, y))


def _columns(i: int, frame: Any, target: Any) -> tuple[Any, Any]:
    return checked(i, (frame.drop(columns=target), frame[target]))


def _is_lazy(shards: Any) -> bool:
    if isinstance(shards, tuple | list) and len(shards) == 2:
        return any(map(is_dask_collection, shards))
    return is_dask_collection(shards)


def _blocks(shards: Any, target: Any) -> list[Any]:
    """Return a delayed (X, y) for each block of rows."""
    if target is not None:
        if not is_dask_collection(shards) or not hasattr(shards, "columns"):
            raise TypeError(
                f"target={target!r} is a column of one Dask frame, got {type(shards).__name__}"
            )
        if target not in shards.columns:
            raise ValueError(f"the frame has no column {target!r}; it has {list(shards.columns)}")
        return [delayed(_columns)(i, part, target) for i, part in enumerate(shards.to_delayed())]
    if is_dask_collection(shards) or not all(map(is_dask_collection, shards)):
        raise TypeError(
            "shards must be a pair (X, y) of Dask arrays, frames or series, "
            'or one Dask frame with target="column"'
        )
    X, y = map(_whole_rows, shards)
    if _is_array(X) and _is_array(y) and not np.isnan(X.shape[0] + y.shape[0]):
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows, y has {len(y)}")
        y = y.rechunk({0: X.chunks[0]})
    rows, targets = _parts(X), _parts(y)
    if len(rows) != len(targets):
        raise ValueError(
            f"X has {len(rows)} partitions, y has {len(targets)}: repartition one like the other "
            "(for arrays of unknown length, call compute_chunk_sizes)"
        )
    return [delayed(_shard)(i, *pair) for i, pair in enumerate(zip(rows, targets, strict=True))]


def _whole_rows(a: Any) -> Any:
    """Return the collection with unsplit rows."""
    return a.rechunk(dict.fromkeys(range(1, a.ndim), -1)) if _is_array(a) else a


def _parts(a: Any) -> list[Any]:
    return list(np.ravel(a.to_delayed())) if _is_array(a) else list(a.to_delayed())


def _is_array(a: Any) -> bool:
    return isinstance(a, dask.array.Array)


def _client() -> Any:
    try:
        return distributed.get_client()
    except ValueError:
        raise RuntimeError(
            'engine="dask" needs a cluster: first make a client with '
            'distributed.Client("scheduler:8786"), or distributed.Client() for this machine'
        ) from None
