"""Mixtures learn the pieces of a block in threads, and are interrupted between pieces."""

import _thread
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone

from parsimon import KRLSRegressor, POLKClassifier, POLKRegressor, persistence, published
from parsimon.mixtures import Expert, MixtureClassifier, MixtureRegressor
from parsimon.mixtures.line import run_line
from parsimon.mixtures.tasks import Numbers, Task

pytestmark = pytest.mark.usefixtures("ctrl_c")

RLS = published(KRLSRegressor, "laplacian", ridge=0.1, penalty="norm", forgetting=0.9995)
EXPERTS = [Expert(RLS, "plain"), Expert(RLS, "lagged", lags=2), Expert(RLS, "r", relevance=True)]


def rows(n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, np.sin(2 * X[:, 0]) * X[:, 1]


# Pieces in a line


@pytest.mark.parametrize(("threads", "depth"), [(1, 1), (2, 2), (3, 2), (4, 5)])
def test_each_function_gets_the_pieces_in_order(threads, depth):
    calls, inside, lock, rng = [], set(), threading.Lock(), np.random.default_rng(0)
    pauses = rng.uniform(0, 0.002, size=(5, 9))

    def made(f):
        def call(k):
            with lock:
                assert f not in inside
                inside.add(f)
                calls.append((f, k))
            time.sleep(pauses[f, k])
            with lock:
                inside.remove(f)
                calls.append((f, k, "done"))

        return call

    run_line(9, made(0), [made(1), made(2), made(3)], made(4), threads, depth)
    for f in range(5):
        assert [call[1] for call in calls if call[0] == f and len(call) == 2] == list(range(9))
    for k in range(9):
        for f in (1, 2, 3):
            assert calls.index((0, k, "done")) < calls.index((f, k))
            assert calls.index((f, k, "done")) < calls.index((4, k))
        if k >= depth:
            assert calls.index((4, k - depth, "done")) < calls.index((0, k))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("failing", [0, 1, 2, 3])
def test_an_error_in_a_line_is_raised_and_ends_the_work(threads, failing):
    calls = []

    def made(f):
        def call(k):
            calls.append((f, k))
            if f == failing and k == 2:
                raise MemoryError(f"in function {f}")

        return call

    with pytest.raises(MemoryError, match=f"in function {failing}"):
        run_line(9, made(0), [made(1), made(2)], made(3), threads, 2)
    assert (3, 2) not in calls or failing == 3
    assert max(k for _, k in calls) <= 4


@pytest.mark.parametrize("at", [0, 3], ids=["while threads begin", "later"])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_an_interrupt_of_a_line_comes_when_what_was_prepared_is_combined(threads, at):
    prepared, combined = [], []

    def prepare(k):
        prepared.append(k)
        if k == at:
            _thread.interrupt_main()
            time.sleep(0.5)  # meanwhile the main thread hears it

    with pytest.raises(KeyboardInterrupt):
        run_line(
            1000, prepare, [lambda k: time.sleep(0.002)], combined.append, threads, min(threads, 2)
        )
    assert prepared == combined and at < len(combined) < 1000


# Mixtures


def labelled(n):
    """A stream in which classes appear one after another, some within a piece."""
    X, y = rows(n)
    known = 1 + np.arange(n) // 130
    return X, np.floor(3 * np.abs(y) * 7).astype(int) % known


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_long_blocks_have_the_same_bits_in_threads(n_jobs):
    X, y = rows(1500)
    one, more = (MixtureRegressor(EXPERTS, budget=90, n_jobs=jobs) for jobs in (1, n_jobs))
    np.testing.assert_array_equal(more.predict_then_learn(X, y), one.predict_then_learn(X, y))
    np.testing.assert_array_equal(more.predict(X), one.predict(X))
    X, labels = labelled(1300)
    one, more = (MixtureClassifier(budget=300, n_jobs=jobs) for jobs in (1, n_jobs))
    P = one.predict_proba_then_learn(X, labels)
    assert P.shape[1] > 5
    np.testing.assert_array_equal(more.predict_proba_then_learn(X, labels), P)
    np.testing.assert_array_equal(more.predict_proba(X), one.predict_proba(X))


@pytest.mark.parametrize("d", [1, 4])
def test_long_streams_with_challengers_are_stored_with_the_same_bits(d):
    # The ring of recent rows begins again at row 1520, and challengers catch up after 1600 and
    # 3200 rows, which fall within blocks.
    X, y = rows(4000)
    X = X[:, :d]
    models = [MixtureRegressor(EXPERTS, budget=90).partial_fit(X[:9], y[:9]) for _ in range(2)]
    models[1].set_params(n_jobs=2)
    for sizes, model in zip(([37, 512, 1], [901, 1200]), models, strict=True):
        at, k = 9, 0
        while at < 3700:
            end = min(at + sizes[k % len(sizes)], 3700)
            model.partial_fit(X[at:end], y[at:end])
            at, k = end, k + 1
    alone, threads = (persistence.dumps(model.set_params(n_jobs=None)) for model in models)
    assert threads == alone
    again = persistence.loads(threads).set_params(n_jobs=2)
    np.testing.assert_array_equal(
        again.predict_then_learn(X[3700:], y[3700:]),
        models[0].predict_then_learn(X[3700:], y[3700:]),
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_mixture_that_was_interrupted_has_learned_the_rows_before(n_jobs):
    X, y = rows(200_000)
    model = MixtureRegressor(EXPERTS, budget=60, n_jobs=n_jobs).partial_fit(X[:100], y[:100])

    def interrupt():
        while model.n_samples_seen_ < 5000:
            time.sleep(0.001)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[100:], y[100:])
    thread.join()
    assert 5000 <= model.n_samples_seen_ < len(X)
    check_that_it_goes_on(model, X, y)


def test_a_handler_that_raises_nothing_ends_nothing():
    X, y = rows(3000)
    model, heard = MixtureRegressor(EXPERTS, budget=60, n_jobs=2), []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(model.n_samples_seen_))
    try:
        threading.Timer(0.01, _thread.interrupt_main).start()
        while not heard:
            model.partial_fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.n_samples_seen_ % 3000 == 0 and heard[0] % 3000 == 0


def check_that_it_goes_on(model, X, y):
    n = model.n_samples_seen_
    alone = MixtureRegressor(EXPERTS, budget=60).partial_fit(X[:n], y[:n])
    np.testing.assert_array_equal(
        model.predict_then_learn(X[n : n + 50], y[n : n + 50]),
        alone.predict_then_learn(X[n : n + 50], y[n : n + 50]),
    )


def beginning(monkeypatch, at, error, runs):
    """Let thread `at` of a line raise an error when it begins. It goes on if `runs`."""
    begun = []

    class Interrupted(threading.Thread):
        def start(self):
            begun.append(self)
            if runs or len(begun) <= at:
                super().start()
            if len(begun) == at + 1:
                time.sleep(0.01)
                raise error

    monkeypatch.setattr("parsimon.mixtures.line.threading.Thread", Interrupted)
    return begun


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize("at", [0, 1])
def test_an_interrupt_while_a_thread_begins_loses_no_rows(monkeypatch, at, runs):
    X, y = rows(50_000)
    model = MixtureRegressor(EXPERTS, budget=60, n_jobs=2).partial_fit(X[:100], y[:100])
    with monkeypatch.context() as patch:
        begun = beginning(patch, at, KeyboardInterrupt, runs)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[100:40_000], y[100:40_000])
    for thread in begun[: at + runs]:
        thread.join(1.0)
        assert not thread.is_alive()
    assert model.n_samples_seen_ < 40_000
    check_that_it_goes_on(model, X, y)


def test_a_thread_that_the_system_has_not_is_done_without(monkeypatch):
    X, y = rows(700)
    model = MixtureRegressor(EXPERTS, budget=60, n_jobs=2)
    with monkeypatch.context() as patch:
        beginning(patch, 1, RuntimeError("can't start new thread"), runs=False)
        model.partial_fit(X[:300], y[:300])
    assert model.n_samples_seen_ == 300
    with monkeypatch.context() as patch:
        beginning(patch, 0, RuntimeError("can't start new thread"), runs=False)
        with pytest.raises(RuntimeError, match="new thread"):
            model.partial_fit(X[300:], y[300:])
    check_that_it_goes_on(model, X, y)


# Gradients while rows are learned


@pytest.mark.parametrize("d", [4, 1])
def test_learning_with_gradients_equals_learning_and_then_gradients(d):
    X, y = rows(200)
    X = X[:, :d]
    Y, scale = np.column_stack([y, y**2]), np.array([1.0, 0.5, 0.0, 2.0])[:d]
    parts = [(0, 20, 1), (30, 64, 4), (64, 65, 3), (100, 200, 7)]
    fast, slow = (clone(RLS).set_params(gamma=0.5) for _ in range(2))
    P, sums = fast.learn_checked_with_gradients(X, Y, parts, scale)
    expected, slow_sums = Task.learn_with_gradients(Numbers(), slow, X, Y, parts, scale)
    np.testing.assert_array_equal(P, expected)
    np.testing.assert_array_equal(sums, slow_sums)
    np.testing.assert_array_equal(fast.predict(X), slow.predict(X))
    P, sums = fast.learn_checked_with_gradients(X[:5], Y[:5], [], scale)
    assert P.shape == (5, 2) and sums.shape == (0, d)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(5, 5, 1)], "not in order"),
        ([(0, 9, 1), (8, 10, 1)], "not in order"),
        ([(-1, 9, 1)], "not in order"),
        ([(0, 9, 0)], "not in order"),
        ([(0, 11, 1)], "more than there are rows"),
    ],
)
def test_parts_of_rows_are_checked(parts, message):
    X, y = rows(10)
    model = clone(RLS).partial_fit(X, y[:, None])
    with pytest.raises(ValueError, match=message):
        model.learn_checked_with_gradients(X, y[:, None], parts, np.ones(4))
    with pytest.raises(ValueError, match="scale has 3 features"):
        model.learn_checked_with_gradients(X, y[:, None], [], np.ones(3))
    assert model.n_samples_seen_ == 10
    batches = published(POLKRegressor, batch_size=2).partial_fit(X, y[:, None])
    with pytest.raises(ValueError, match="batch size of 1"):
        batches.learn_checked_with_gradients(X, y[:, None], [], np.ones(4))


def test_a_relevant_expert_with_probabilities_is_exact():
    X, labels = labelled(700)
    polk = published(POLKClassifier, "gaussian", loss="logistic")
    models = [
        MixtureClassifier([Expert(polk, "relevant", relevance=True)], budget=80) for _ in range(2)
    ]
    whole = models[0].predict_proba_then_learn(X, labels)
    parts = [
        models[1].predict_proba_then_learn(X[at : at + 37], labels[at : at + 37])
        for at in range(0, 700, 37)
    ]
    for at, part in zip(range(0, 700, 37), parts, strict=True):
        C = part.shape[1]
        np.testing.assert_array_equal(part, whole[at : at + 37, :C])
        assert not whole[at : at + len(part), C:].any()
    np.testing.assert_array_equal(models[1].predict_proba(X), models[0].predict_proba(X))
