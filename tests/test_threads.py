"""Many threads and one model: each sees the model as it was after some row, never half of it."""

import _thread
import copy
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import hostile
import numpy as np
import pytest
import sound
from sklearn.base import BaseEstimator

import parsimon
from parsimon import kernels

SMALL = {"gamma": 1.0, "budget": 12}
#: Every estimator, in ways that keep different things.
MODELS = [
    parsimon.published(parsimon.KNLMSRegressor, **SMALL, coherence=0.9),
    parsimon.published(parsimon.KLMSRegressor, **SMALL),
    parsimon.published(parsimon.NORMARegressor, **SMALL),
    parsimon.published(parsimon.KRLSRegressor, **SMALL, tolerance=1e-3, forgetting=0.99),
    parsimon.published(parsimon.SPLRegressor, **SMALL),
    parsimon.published(parsimon.POLKRegressor, **SMALL, average=True),
    parsimon.published(parsimon.POLKClassifier, **SMALL, loss="logistic"),
    parsimon.published(parsimon.BSGDClassifier, **SMALL),
    parsimon.published(parsimon.SOGSVR, **SMALL),
    parsimon.published(parsimon.SOGSVC, **SMALL),
    parsimon.KernelDictionaryLearning(4, **SMALL, random_state=0),
    parsimon.KernelDictionaryClassifier(4, **SMALL, random_state=0),
]


@pytest.fixture(autouse=True)
def impatient():
    """Threads that give way a thousand times more often than usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(usual)


every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
POINTS = np.random.default_rng(1).uniform(-2, 2, size=(7, 2))


def stream(model, n):
    """Rows and what goes with them; where there are classes many are met, the last ones sorted
    before the first.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    if isinstance(model, parsimon.KernelDictionaryLearning):
        return (X,)
    if hostile.classifies(model):
        return X, 99 - rng.integers(1 + np.arange(n) // 3)
    return X, np.sin(2 * X[:, 0]) * X[:, 1]


def learn(model, data, rows):
    model.partial_fit(*(values[rows] for values in data))


def seen(model):
    """What a thread sees of a model in one call, for each of the calls there are."""
    names = ("predict", "decision_function", "predict_proba", "transform", "reconstruction_error")
    return {
        name: sound.frozen(getattr(model, name)(POINTS)) for name in names if hasattr(model, name)
    }


def states(model, data, look):
    """How a model looks after each row, by itself."""
    alone, found = copy.deepcopy(model), []
    for i in range(len(data[0])):
        learn(alone, data, slice(i, i + 1))
        found.append(look(alone))
    return found


def while_learning(model, data, look, n_threads):
    """Learn row by row in one thread, while others look. Returns all that they saw."""
    learn(model, data, slice(0, 1))
    done, begun = threading.Event(), threading.Barrier(n_threads + 1)

    def watch(_):
        found = []
        begun.wait()
        while not done.is_set():
            found.append(look(model))
        return [*found, look(model)]

    with ThreadPoolExecutor(n_threads) as pool:
        watching = pool.map(watch, range(n_threads))
        begun.wait()
        try:
            for i in range(1, len(data[0])):
                learn(model, data, slice(i, i + 1))
        finally:
            done.set()
        return [look for found in watching for look in found]


@every_model
def test_what_threads_predict_is_what_some_state_predicts(model):
    data = stream(model, 50)
    known = states(model, data, seen)
    right = {name: [state[name] for state in known] for name in known[0]}
    for found in while_learning(copy.deepcopy(model), data, seen, 8):
        for name, value in found.items():
            assert value in right[name], name


@every_model
def test_what_is_stored_while_learning_is_some_state(model, tmp_path):
    data = stream(model, 30)
    names = iter(range(10**9))

    def stored(model):
        path = tmp_path / f"{threading.get_ident()}-{next(names)}"
        model.save(path)
        found = sound.frozen(parsimon.load(path))
        path.unlink()
        return found

    known = states(model, data, sound.frozen)
    for found in while_learning(copy.deepcopy(model), data, stored, 2):
        assert found in known, min((sound.difference(found, state) for state in known), key=len)


@every_model
def test_rows_learned_by_several_threads_are_all_learned(model):
    data = stream(model, 160)
    model = copy.deepcopy(model)
    learn(model, data, slice(None))
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(learn, model, data, slice(i, None, 8)) for i in range(8)]:
            done.result()
    assert model.n_samples_seen_ == 320
    sound.assert_sound(model, POINTS)


@every_model
def test_an_interrupt_is_heard_and_leaves_what_was_learned(model):
    data = [values[:40].repeat(100, axis=0) for values in stream(model, 4000)]
    model = copy.deepcopy(model)
    model.partial_fit(*data)
    alone = copy.deepcopy(model)
    timer = threading.Timer(0.15, _thread.interrupt_main)
    end = time.monotonic() + 60.0  # an interrupt that is lost fails the test and does not hang it
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while time.monotonic() < end:
            model.partial_fit(*data)
    timer.join()
    sound.assert_sound(model, POINTS)
    more = model.n_samples_seen_ - 4000
    if isinstance(model, parsimon.KernelDictionaryClassifier):
        return  # a dictionary a class: each has learned its own rows up to somewhere
    for _ in range(more // 4000):
        alone.partial_fit(*data)
    if more % 4000:
        learn(alone, data, slice(0, more % 4000))
    sound.assert_same(alone, model, "the rows before the interrupt")


@pytest.mark.parametrize("method", ["partial_fit", "predict", "save", "n_centers_"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_kernel_function_that_uses_its_model_is_told_so(model, method):
    def kernel(x, y):
        if armed:
            armed.clear()
            use[method]()
            armed.append(True)  # it was not learning yet
        return float(np.exp(-((x - y) ** 2).sum()))

    use = {
        "partial_fit": lambda: learn(used, data, slice(0, 2)),
        "predict": lambda: seen(used),
        "save": lambda: sound.frozen(used),
        "n_centers_": lambda: used.n_centers_,
    }
    armed, data = [], stream(model, 4)
    options = {"maintenance": "removal"} if isinstance(model, parsimon.BSGDClassifier) else {}
    used = copy.deepcopy(model).set_params(
        kernel=kernels.Function(kernel), gamma="scale", **options
    )
    used.partial_fit(*data)
    armed.append(True)
    outcome = []

    def run():
        try:
            used.partial_fit(*data)
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it waits for itself"
    assert isinstance(outcome[0], RuntimeError), outcome


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("cls", [parsimon.POLKClassifier, parsimon.BSGDClassifier, parsimon.SOGSVC])
def test_a_class_added_while_a_state_is_taken_is_in_all_of_it_or_in_none(cls, moment, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model, taken = cls(**SMALL).partial_fit(X, np.arange(30) % 2), BaseEstimator.__getstate__

    def racing(self):
        state = dict(taken(self)) if moment == "before" else None
        monkeypatch.undo()
        model.partial_fit(X, np.full(30, -5))  # what another thread may do here
        return state or taken(self)

    monkeypatch.setattr(BaseEstimator, "__getstate__", racing)
    found = copy.deepcopy(model)
    assert found.classes_.tolist() == [0, 1]
    sound.assert_sound(found, POINTS)
    assert model.classes_.tolist() == [-5, 0, 1]


@pytest.mark.parametrize(
    "model", [m for m in MODELS if hasattr(m, "compress")], ids=lambda model: type(model).__name__
)
def test_threads_share_rows_and_change_no_bit(model):
    model = copy.deepcopy(model)
    learn(model, stream(model, 60), slice(None))
    X = np.random.default_rng(2).uniform(-2, 2, size=(1500, 2))
    for name in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, name):
            ask = getattr(model, name)
            for n_jobs in (1, 3, -1):
                np.testing.assert_array_equal(ask(X, n_jobs=n_jobs), ask(X))
    whole, parts = copy.deepcopy(model), copy.deepcopy(model)
    assert whole.compress(5).distance == parts.compress(5, n_jobs=2).distance
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    merged = [parsimon.merge([model, whole], n_jobs=n).model for n in (None, 2)]
    np.testing.assert_array_equal(merged[0].predict(X), merged[1].predict(X))


def test_threads_of_models_from_elsewhere_change_no_bit():
    X = np.random.default_rng(2).uniform(-2, 2, size=(1500, 2))
    model = parsimon.KernelExpansionRegressor(kernels.Gaussian(1.0), X[:20], np.ones(20), 0.5)
    np.testing.assert_array_equal(model.predict(X, n_jobs=2), model.predict(X))
    labels = np.array(["a", "b"])
    model = parsimon.KernelExpansionClassifier(
        kernels.Gaussian(1.0), X[:20], X[:20, :1], np.zeros(1), labels
    )
    np.testing.assert_array_equal(model.predict(X, n_jobs=2), model.predict(X))
    np.testing.assert_array_equal(model.decision_function(X, n_jobs=2), model.decision_function(X))


def test_an_error_in_one_of_several_threads_is_raised():
    def kernel(a, b):
        if abs(b[0]) > 1e3 or abs(a[0]) > 1e3:
            raise ZeroDivisionError("so far away")
        return float(np.exp(-((a - b) ** 2).sum()))

    X = np.random.default_rng(2).uniform(-2, 2, size=(1000, 2))
    model = parsimon.published(parsimon.KNLMSRegressor, kernel, coherence=0.5).fit(
        X[:30], X[:30, 0]
    )
    before = model.predict(X)
    np.testing.assert_array_equal(model.predict(X, n_jobs=3), before)
    far = X.copy()
    far[800] = 1e4
    with pytest.raises(ZeroDivisionError, match="so far away"):
        model.predict(far, n_jobs=3)
    np.testing.assert_array_equal(model.predict(X, n_jobs=3), before)


@pytest.mark.parametrize(
    ("n_jobs", "error"),
    [(0, ValueError), (1.5, TypeError), ("all", TypeError), (True, TypeError), (1025, ValueError)],
)
def test_what_is_no_number_of_threads(n_jobs, error):
    model = parsimon.published(parsimon.KNLMSRegressor).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(error, match="n_jobs must be"):
        model.predict([[0.0]], n_jobs=n_jobs)
    with pytest.raises(error, match="n_jobs must be"):
        model.compress(1, n_jobs=n_jobs)
    with pytest.raises(error, match="n_jobs must be"):
        parsimon.merge([model], n_jobs=n_jobs)
