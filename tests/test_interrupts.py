"""Ctrl-C while models learn: what was learned is whole, and learning goes on."""

import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone

from parsimon import POLKClassifier, POLKRegressor, persistence, published
from parsimon._interrupts import HeldBack
from parsimon.cli.interrupt import Interrupt
from parsimon.mixtures import CandidateClassifier, MixtureRegressor
from parsimon.mixtures.combiners import Stack
from parsimon.preprocessing import TableEncoder, TableError
from parsimon.tables import TableModel, learning

pytestmark = pytest.mark.usefixtures("ctrl_c")

N = 6000
BATCHES = published(POLKRegressor, gamma=1.0, batch_size=48, budget=20)

BATCHES_OF_CLASSES = published(POLKClassifier, gamma=1.0, batch_size=48, budget=20, loss="logistic")


def table(first, last):
    x, z = np.random.default_rng(0).normal(size=(2, N))
    return {"x": x[first:last], "z": z[first:last], "y": (np.sin(2 * x) * z)[first:last]}


def interrupting(monkeypatch, owner, name, at):
    """Let call number `at` of a method come with a Ctrl-C, before it does anything."""
    method, calls = getattr(owner, name), []

    def call(*arguments, **options):
        calls.append(name)
        if len(calls) == at:
            signal.raise_signal(signal.SIGINT)
        return method(*arguments, **options)

    monkeypatch.setattr(owner, name, call)


@pytest.mark.parametrize(
    "options",
    [{}, {"intervals": 0.9}, {"algorithm": "krls"}, {"algorithm": BATCHES}],
    ids=["default", "intervals", "krls", "batches"],
)
@pytest.mark.parametrize(("learned", "at"), [(0, 1), (0, 9), (500, 1), (500, 3)])
def test_a_table_model_goes_on_after_an_interrupt(monkeypatch, options, learned, at):
    monkeypatch.setattr(learning, "PIECE", 480)
    monkeypatch.setattr(learning, "SOON", 0.0)
    model, other = TableModel("y", **options), TableModel("y", **options)
    if learned:
        model.learn(table(0, learned))
        other.learn(table(0, learned))
    with monkeypatch.context() as patch:
        interrupting(patch, TableEncoder, "learn_columns", at)
        with pytest.raises(KeyboardInterrupt):
            model.learn(table(learned, N))
    n = model.n_rows_
    assert learned < n < N
    model.learn(table(n, N))
    other.learn(table(learned, n))
    other.learn(table(n, N))
    assert persistence.dumps(model) == persistence.dumps(other)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"intervals": 0.9},
        {"algorithm": BATCHES},
        {"algorithm": clone(BATCHES).set_params(batch_size=np.int64(48))},
    ],
)
def test_pieces_make_no_difference(monkeypatch, options):
    monkeypatch.setattr(learning, "SOON", 0.0)
    models = [TableModel("y", **options) for _ in range(2)]
    for size, model in zip((100, N), models, strict=True):
        monkeypatch.setattr(learning, "PIECE", size)
        found = [model.learn(table(0, 500)), model.learn(table(500, N))]
        assert [len(each) for each in found] == [500, N - 500]
        if "intervals" in options:
            assert len(model.learn(table(0, 1000), return_intervals=True)[1]) == 1000
    assert persistence.dumps(models[0]) == persistence.dumps(models[1])


def test_classes_that_come_late_and_candidates_make_no_difference(monkeypatch):
    block = table(0, 3000)
    block["y"] = np.where(block["y"] > 0, "yes", "no")
    block["y"][2500::3] = "x"
    candidates = [clone(BATCHES_OF_CLASSES), clone(BATCHES_OF_CLASSES).set_params(gamma=0.3)]
    for algorithm in ("default", BATCHES_OF_CLASSES, CandidateClassifier(candidates)):
        stored = []
        for size in (100, N):
            monkeypatch.setattr(learning, "PIECE", size)
            model = TableModel("y", algorithm=algorithm)
            assert len(model.learn(block)) == 3000
            stored.append(persistence.dumps(model))
        assert stored[0] == stored[1]


def test_an_error_names_the_row_of_the_block():
    block = table(0, 3000)
    block["y"] = np.where(block["y"] > 0, 1.0, 0.0)
    block["y"][2800] = 1.5
    model = TableModel("y", task="auto")
    with pytest.raises(TableError, match="row 2800"):
        model.learn(block)
    assert model.n_rows_ == 0


def test_an_error_in_a_later_piece_of_the_first_block_changes_nothing(monkeypatch):
    monkeypatch.setattr(learning, "PIECE", 100)
    model = TableModel("y")
    with monkeypatch.context() as patch:
        calls = []

        def fail(*arguments):
            calls.append(arguments)
            if len(calls) == 3:
                raise MemoryError

        patch.setattr(TableModel, "_learn_intervals", fail)
        with pytest.raises(MemoryError):
            model.learn(table(0, 2000))
    assert model.n_rows_ == 0
    other = TableModel("y")
    np.testing.assert_array_equal(model.learn(table(0, 900)), other.learn(table(0, 900)))


def test_single_rows_of_a_mixture_are_learned_by_all_experts(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(2, 300, 1))
    models = [MixtureRegressor().partial_fit(X[:200], y[:200, 0]) for _ in range(2)]
    with monkeypatch.context() as patch:
        interrupting(patch, Stack, "run", 5)
        with pytest.raises(KeyboardInterrupt):
            for x, t in zip(X[200:], y[200:, 0], strict=True):
                models[0].learn_one(x, t)
    n = models[0].n_samples_seen_
    assert 200 < n < 210
    models[1].partial_fit(X[200:n], y[200:n, 0])
    for model in models:
        model.partial_fit(X[n:], y[n:, 0])
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


def test_signals_that_come_together_are_one_for_the_command(monkeypatch):
    with Interrupt() as interrupt:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert interrupt() and interrupt.exit_code == 130
    with pytest.raises(KeyboardInterrupt), Interrupt():
        signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr("parsimon.cli.interrupt.TOGETHER", -1.0)
        signal.raise_signal(signal.SIGINT)


# What holds interrupts back


def test_an_error_is_raised_before_the_interrupt():
    with pytest.raises(KeyboardInterrupt) as raised, HeldBack():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("in the step")
    assert isinstance(raised.value.__context__, ValueError)


def test_blocks_within_blocks_wait_for_the_outermost():
    steps = []
    with pytest.raises(KeyboardInterrupt), HeldBack():
        with HeldBack():
            signal.raise_signal(signal.SIGINT)
        steps.append("between")
    assert steps == ["between"]


def test_a_handler_of_another_library_is_called_at_the_end():
    steps = []
    before = signal.signal(signal.SIGINT, lambda *_: steps.append("handled"))
    try:
        with HeldBack():
            signal.raise_signal(signal.SIGINT)
            steps.append("step")
    finally:
        signal.signal(signal.SIGINT, before)
    assert steps == ["step", "handled"]


def test_nothing_is_held_back_from_the_command():
    with Interrupt() as interrupt, HeldBack():
        signal.raise_signal(signal.SIGINT)
        assert interrupt()


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL, lambda *_: None])
def test_the_handler_is_what_it_was(handler):
    before = signal.signal(signal.SIGINT, handler)
    try:
        with HeldBack():
            pass
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_hold_nothing_back():
    before, found = signal.getsignal(signal.SIGINT), []

    def step():
        with HeldBack():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=step)
    thread.start()
    thread.join()
    assert found == [before]
