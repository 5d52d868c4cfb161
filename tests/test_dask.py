"""Learning in parts on a Dask cluster: the same bits whatever the cluster does."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from parsimon import KNLMSRegressor, KRLSRegressor, POLKClassifier, published
from parsimon._extras import install_command
from parsimon.datasets import make_multidist
from parsimon.distributed import fit, rounds

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

MODEL = published(POLKClassifier, gamma=1.4, step_size=3.0, budget=30, batch_size=4)
DASK = {"engine": "dask", "progress": False}


def test_without_a_client():  # first of all, while there is none
    with pytest.raises(
        RuntimeError, match=r"needs a cluster: first make a client with distributed\.Client"
    ):
        fit(published(KNLMSRegressor), [data()], **DASK)


def local_cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def data(n=500):
    return make_multidist(n, random_state=0)


def cut(X, y, sizes):
    ends = np.cumsum(sizes)
    return [(X[end - n : end], y[end - n : end]) for n, end in zip(sizes, ends, strict=True)]


def in_pairs(model, shards, n_rounds):
    """What rounds with merges in pairs come to, without a cluster."""
    return fit(model, shards, engine=Pairs(shards), rounds=n_rounds, progress=False)


class Pairs:
    """An engine of one process that merges as the tree of tasks does."""

    def __init__(self, shards):
        self.shards, self.sizes = shards, [len(X) for X, _ in shards]

    def head(self, n):
        X, y = next(shard for shard in self.shards if len(shard[0]))
        return X[:n], y[:n]

    def round(self, start, spans):
        work = zip(self.shards, spans, strict=True)
        parts = [rounds.learn(start, X[a:b], y[a:b]) for (X, y), (a, b) in work if a < b]
        return rounds.combine_all(parts, start), 0


def assert_same(a, b, X=None):
    X = data()[0] if X is None else X
    np.testing.assert_array_equal(a.centers_, b.centers_)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    assert a.n_samples_seen_ == b.n_samples_seen_


@pytest.mark.parametrize("sizes", [[500], [300, 200], [100, 150, 0, 210, 40]], ids=str)
def test_shards_in_memory(client, sizes):
    shards = cut(*data(), sizes)
    result = fit(MODEL, shards, rounds=3, **DASK)
    assert_same(result.model, in_pairs(MODEL, shards, 3).model)
    assert (result.rounds, result.n_shards, result.model.n_samples_seen_) == (3, len(sizes), 500)
    again = fit(MODEL, shards, rounds=3, client=client, **DASK)
    assert_same(again.model, result.model)


def test_one_round_of_two_is_that_of_processes(client):
    shards = cut(*data(), [300, 200])
    ours, theirs = (
        fit(MODEL, shards, rounds=1, progress=False, **o)
        for o in ({"engine": "dask"}, {"n_jobs": 1})
    )
    assert_same(ours.model, theirs.model)


def test_shards_that_were_changed_are_not_taken_for_the_old(client):
    X, y = data()
    first = fit(MODEL, [(X, y)], rounds=1, **DASK)
    X *= 0.5
    second = fit(MODEL, [(X, y)], rounds=1, **DASK)
    assert_same(second.model, in_pairs(MODEL, [(X, y)], 1).model)
    assert not np.array_equal(first.model.centers_, second.model.centers_)


@pytest.mark.parametrize("chunks", [(150, -1), ((100, 0, 250, 150), 1)], ids=str)
def test_arrays(client, chunks):
    X, y = data()
    lazy = da.from_array(X, chunks=chunks)
    expected = in_pairs(MODEL, cut(X, y, lazy.chunks[0]), 3)
    for lazy_y in (da.from_array(y, chunks=lazy.chunks[:1]), da.from_array(y, chunks=77)):
        result = fit(MODEL, (lazy, lazy_y), rounds=3, **DASK)
        assert_same(result.model, expected.model)
        assert result.n_shards == len(lazy.chunks[0])


def test_arrays_of_unknown_lengths(client):
    X, y = data()
    kept = X[:, 0] > 0
    lazy_X, lazy_y = da.from_array(X, chunks=(200, 1)), da.from_array(y, chunks=200)
    rows = da.from_array(kept, chunks=200)
    result = fit(MODEL, (lazy_X[rows], lazy_y[rows]), rounds=2, **DASK)
    shards = [
        (X[a : a + 200][kept[a : a + 200]], y[a : a + 200][kept[a : a + 200]])
        for a in (0, 200, 400)
    ]
    assert_same(result.model, in_pairs(MODEL, shards, 2).model)
    with pytest.raises(ValueError, match="X has 3 partitions, y has 5: repartition"):
        fit(MODEL, (lazy_X[rows], da.from_array(y, chunks=100)), **DASK)


def test_frames(client):
    X, y = data()
    labels = np.array(["a", "b", "c", "d", "e"])[y]
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(kind=labels)
    lazy = dd.from_pandas(frame, npartitions=3)
    columns = frame[["u", "v"]]
    expected = in_pairs(MODEL, cut(columns, labels, [len(part) for part in lazy.partitions]), 2)
    for result in (
        fit(MODEL, lazy, target="kind", rounds=2, **DASK),
        fit(MODEL, (lazy[["u", "v"]], lazy["kind"]), rounds=2, **DASK),
    ):
        assert_same(result.model, expected.model, columns)
        assert result.model.feature_names_in_.tolist() == ["u", "v"]
        assert result.model.classes_.tolist() == ["a", "b", "c", "d", "e"]
        assert result.n_shards == 3


def test_several_targets_and_an_estimator_that_adds_up(client):
    X, _ = data()
    Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2], axis=1)
    model = published(KRLSRegressor, gamma="scale", tolerance=1e-2)
    result = fit(
        model, (da.from_array(X, chunks=(200, 2)), da.from_array(Y, chunks=(100, 1))), **DASK
    )
    assert result.rounds == 1
    expected = in_pairs(model, cut(X, Y, [200, 200, 100]), 1)
    np.testing.assert_array_equal(result.model.predict(X), expected.model.predict(X))
    assert result.model.get_params() == model.get_params()


def test_bytes_that_are_counted(client):
    """The start to both workers and the end back, and from none to all of the models in the tree on
    the way to another worker.
    """
    shards = cut(*data(), [125] * 4)
    starts, ends = lengths(shards)
    result = fit(MODEL, shards, rounds=3, **DASK)
    least, edges = 2 * sum(starts) + sum(ends), 3 * 6
    assert least <= result.bytes_sent <= least + edges * 1.2 * max(ends)
    assert fit(MODEL, shards[:1], rounds=3, **DASK).bytes_sent == sum(map(sum, lengths(shards[:1])))


def lengths(shards):
    """Of the models that three rounds start from and come to."""
    starts, ends = [], []

    class Counting(Pairs):
        def round(self, start, spans):
            end, _ = super().round(start, spans)
            starts.append(len(start))
            ends.append(len(end))
            return end, 0

    fit(MODEL, shards, engine=Counting(shards), rounds=3, progress=False)
    return starts, ends


def test_rows_stay_where_they_are(client):
    from parsimon.distributed.dask import engine

    shards = cut(*data(), [125] * 4)
    work = engine(shards)
    distributed.wait(work._shards)
    before = client.who_has(work._shards)
    assert len({where for (where,) in before.values()}) == 2  # spread
    start = rounds.dumps(rounds._prepared(MODEL, work))
    for first in range(0, 120, 40):
        start, _ = work.round(start, [(first, first + 40)] * 4)
    assert client.who_has(work._shards) == before
    del work
    deadline = time.monotonic() + 10
    while client.who_has() and time.monotonic() < deadline:
        gc.collect()  # tracebacks of earlier tests can hold futures in cycles
        time.sleep(0.05)
    assert not client.who_has()  # and nothing is left behind


@pytest.mark.parametrize("lazy", [False, True], ids=["in memory", "arrays"])
def test_a_worker_that_is_killed(client, cluster, lazy):
    X, y = data(6000)
    model = published(POLKClassifier, gamma=1.4, step_size=3.0, budget=150, parsimony=1e-6)
    shards = cut(X, y, [1500] * 4)
    given = (da.from_array(X, chunks=(1500, 2)), da.from_array(y, chunks=1500)) if lazy else shards
    model_killed = learned_with_a_kill(model, given, client, cluster)
    assert_same(model_killed, in_pairs(model, shards, 4).model)


def learned_with_a_kill(model, shards, client, cluster):
    """The model of four rounds, in the second of which, or a later one, a worker that learns is
    killed.
    """
    done = {}
    learner = threading.Thread(
        target=lambda: done.update(result=fit(model, shards, rounds=4, client=client, **DASK))
    )
    learner.start()
    first, victim = set(), None
    while victim is None and learner.is_alive():
        learning = {
            w: {k for k in keys if "_learn" in k} for w, keys in client.processing().items()
        }
        first = first or set().union(*learning.values())
        victim = next(
            (w for w, keys in learning.items() if keys and all(later(k, first) for k in keys)), None
        )
        time.sleep(0.005)
    assert victim is not None, "it was over before a worker could be killed"
    (nanny,) = (nanny for nanny in cluster.workers.values() if nanny.worker_address == victim)
    os.kill(nanny.pid, signal.SIGKILL)
    learner.join(timeout=120)
    assert not learner.is_alive()
    assert victim not in client.ncores()
    client.wait_for_workers(len(cluster.workers), timeout=60)
    return done["result"].model


def later(key, keys):
    """Whether a task came well after others: its number is the last part of its name."""
    return int(key.rpartition("-")[2]) > max(int(k.rpartition("-")[2]) for k in keys) + 4


def test_the_only_worker_is_killed():
    X, y = data(3000)
    model = published(POLKClassifier, gamma=1.4, step_size=3.0, budget=100, parsimony=1e-6)
    shards = cut(X, y, [1000] * 3)
    with local_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        killed = learned_with_a_kill(model, shards, client, cluster)
    assert_same(killed, in_pairs(model, shards, 4).model)


def test_workers_that_come_later_get_a_share():
    from parsimon.distributed.dask import engine

    shards, spans = cut(*data(), [125] * 4), ([(0, 60)] * 4, [(60, 125)] * 4)
    alone = Pairs(shards)
    expected = start = rounds.dumps(rounds._prepared(MODEL, alone))
    for span in spans:
        expected, _ = alone.round(expected, span)
    with local_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        work = engine(shards, client=client)
        start, _ = work.round(start, spans[0])
        before = list(work._shards)
        assert len({worker for (worker,) in work._at}) == 1
        cluster.scale(2)
        client.wait_for_workers(2)
        start, _ = work.round(start, spans[1])
        assert len({worker for (worker,) in work._at}) == 2
        assert work._shards[:2] == before[:2]  # rows whose place is the same are not sent again
    assert start == expected


def test_errors_come_back(client):
    X, y = data()
    bad = X.copy()
    bad[270, 1] = np.nan
    message = "shard 2, counted from its row 48: X contains NaN at row 22, column 1"
    for shards in (
        cut(bad, y, [100] * 5),
        (da.from_array(bad, chunks=(100, 2)), da.from_array(y, chunks=100)),
    ):
        with pytest.raises(ValueError, match=message):
            fit(MODEL, shards, rounds=2, **DASK)
    frame = dd.from_pandas(pd.DataFrame(X, columns=["u", "v"]), npartitions=2)
    lazy = da.from_array(X, chunks=(100, 2))
    cases = [
        (ValueError, "there are no shards", [], {}),
        (ValueError, "the shards hold no rows", [(X[:0], y[:0])], {}),
        (
            ValueError,
            r"shard 1 has X of shape \(500, 2\) and y of shape \(499,\)",
            [(X, y), (X, y[1:])],
            {},
        ),
        (ValueError, "X has 500 rows, y has 400", (lazy, lazy[:400, 0]), {}),
        (ValueError, r"shard \d has X of shape \(100,\)", (lazy[:, 0], lazy[:, 0]), {}),
        (TypeError, 'one Dask frame with target="column"', frame, {}),
        (TypeError, "a pair", (lazy, y), {}),
        (ValueError, r"no column 'w'; it has \['u', 'v'\]", frame, {"target": "w"}),
        (
            TypeError,
            "target='u' is a column of one Dask frame, got list",
            [(X, y)],
            {"target": "u"},
        ),
    ]
    for error, message, shards, options in cases:
        with pytest.raises(error, match=message):
            fit(MODEL, shards, **DASK, **options)
    assert fit(MODEL, [(X, y)], rounds=1, **DASK).rounds == 1  # the cluster has taken no harm


def test_without_dask():
    script = (
        "import sys; import parsimon, parsimon.distributed;"
        "assert not {'dask', 'distributed'} & set(sys.modules);"
        "sys.modules['dask'] = None;"
        "parsimon.distributed.fit("
        "parsimon.KNLMSRegressor(), [([[0.0]], [1.0])], engine='dask')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert (
        done.stderr.splitlines()[-1]
        == f'ImportError: engine="dask" needs Dask: {install_command("dask")}'
    )
