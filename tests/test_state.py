"""Going on where one stopped: pickle, copies, files."""

import copy
import pickle

import numpy as np
import pytest

import parsimon
from parsimon import kernels
from parsimon.estimators import ESTIMATORS
from parsimon.updates import Schedule

#: Estimators in all their ways, each with something to remember that another has not.
MODELS = [
    parsimon.KNLMSRegressor(gamma=1.0),
    parsimon.KNLMSRegressor(gamma=1.0, coherence=0.9, budget=12),
    parsimon.KNLMSRegressor(kernels.Gaussian(1.0) + kernels.Normalized(kernels.Polynomial(2)), budget=12, compression="oldest"),
    parsimon.KLMSRegressor(gamma=1.0, quantization=0.2),
    parsimon.NORMARegressor(gamma=1.0, budget=20),
    parsimon.KRLSRegressor(gamma=1.0, forgetting=0.99),
    parsimon.KRLSRegressor(gamma=1.0, admission="coherence", ridge=0.1, forgetting=0.99, budget=10),
    parsimon.SPLRegressor(gamma=1.0),
    parsimon.SPLRegressor(gamma=1.0, admission="coherence", coherence="adaptive", budget=10),
    parsimon.POLKRegressor(gamma=1.0, schedule="diminishing", budget=15, average=50),
    parsimon.POLKClassifier(gamma=1.0, loss="logistic", batch_size=4, schedule=Schedule(0.5, 10), budget=20, average=True),
    parsimon.BSGDClassifier(gamma=1.0, budget=15),
    parsimon.SOGSVR(gamma=1.0, tolerance=0.1, ridge=0.01, epsilon=0.05),
    parsimon.SOGSVR(gamma=1.0, tolerance=0.1, box=0.5),
    parsimon.SOGSVC(gamma=1.0),
    parsimon.KernelDictionaryLearning(6, gamma=1.0, budget=15, random_state=0),
    parsimon.KernelDictionaryLearning(6, gamma=1.0, budget=15, update="feature", admission="reconstruction", random_state=0),
    parsimon.KernelDictionaryClassifier(6, gamma=1.0, budget=15, random_state=0),
]  # fmt: skip


def stream(model, n=240):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    if hasattr(model, "predict_proba") or type(model).__name__.endswith(("Classifier", "SVC")):
        y = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
        y[: n // 3] = np.where(y[: n // 3] == "high", "low", y[: n // 3])  # a class met late
    return X, y


def learn(model, X, y):
    return model.partial_fit(X) if isinstance(model, parsimon.KernelDictionaryLearning) else model.partial_fit(X, y)


def look(model, X):
    """All that can be seen of a model."""
    seen = {}
    for name in ("predict", "decision_function", "predict_proba", "transform", "reconstruction_error"):
        if hasattr(model, name):
            seen[name] = getattr(model, name)(X)
    for name in sorted(set(dir(type(model)))):
        if name.endswith("_") and not name.startswith("_"):
            seen[name] = getattr(model, name)
    return seen


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        if name != "nbytes_":  # room for growth is taken anew
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_every_estimator_is_here():
    missing = {*ESTIMATORS, parsimon.KernelDictionaryLearning, parsimon.KernelDictionaryClassifier} - set(
        map(type, MODELS)
    )
    assert not missing


@pytest.mark.parametrize(
    "again", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"]
)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_going_on_is_the_same_as_never_stopping(model, again):
    X, y = stream(model)
    stopped = copy.deepcopy(model)
    for first in range(0, 240, 12):  # whole batches
        stopped = again(stopped)
        learn(stopped, X[first : first + 12], y[first : first + 12])
    once = learn(learn(copy.deepcopy(model), X[:12], y[:12]), X[12:], y[12:])
    assert_same(look(stopped, X), look(once, X))
    other = again(stopped)
    before = look(stopped, X)
    learn(other, X, y)
    assert_same(look(stopped, X), before)  # a copy is a model of its own


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_damaged_state_is_refused(model):
    X, y = stream(model)
    learn(model := copy.deepcopy(model), X, y)
    state = model.__getstate__()
    kept = state["_learned"]
    arrays, counts = next(iter(kept.values())) if isinstance(model, parsimon.KernelDictionaryClassifier) else kept[-2:]
    for name, values in list(arrays.items()):
        for bad in (values[:-1], np.append(values, 0.0), np.full_like(values, np.nan)):
            if len(bad) == len(values) and not len(values):
                continue
            arrays[name] = bad
            with pytest.raises(ValueError, match="state"):
                copy.deepcopy(model).__setstate__(state)
        del arrays[name]
        with pytest.raises((ValueError, KeyError)):
            copy.deepcopy(model).__setstate__(state)
        arrays[name] = values
    for name, value in list(counts.items()):
        del counts[name]
        with pytest.raises(ValueError, match="state lacks"):
            copy.deepcopy(model).__setstate__(state)
        counts[name] = value
    copy.deepcopy(model).__setstate__(state)
