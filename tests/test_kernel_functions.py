"""Kernels that are Python functions: they can raise anywhere, and come back to the model that they
work for.
"""

import contextlib
import copy
import itertools
import threading

import numpy as np
import pytest

import parsimon
from parsimon import algorithms, kernels

X = np.random.default_rng(0).uniform(-2, 2, size=(60, 2))
Y = np.sin(X[:, 0])


class Failing:
    """A Gaussian kernel that raises at one of its calls."""

    def __init__(self):
        self.left = -1

    def __call__(self, x, y):
        self.left -= 1
        if self.left == 0:
            raise KeyError("no value")
        return float(np.exp(-((x - y) ** 2).sum()))


RECIPES = {
    "neighbours": lambda k: parsimon.published(
        parsimon.SPLRegressor,
        k,
        admission="coherence",
        coherence=0.95,
        budget=12,
        removal="cheaper",
    ),
    "adaptive": lambda k: parsimon.published(
        parsimon.SPLRegressor, k, admission="coherence", coherence="adaptive", budget=12
    ),
    "residual": lambda k: parsimon.published(parsimon.SPLRegressor, k, budget=12),
    "batches": lambda k: parsimon.published(
        parsimon.POLKRegressor, k, batch_size=4, budget=12, step_size=0.5, average=True
    ),
    "held": lambda k: parsimon.published(
        parsimon.KRLSRegressor, k, forgetting=0.9, budget=12, tolerance=1e-3
    ),
    "rows": lambda k: parsimon.published(
        parsimon.KRLSRegressor, k, admission="coherence", coherence=0.95, forgetting=0.9, budget=12
    ),
    "oldest": lambda k: parsimon.published(parsimon.NORMARegressor, k, budget=12),
    "least cost": lambda k: parsimon.published(
        parsimon.KNLMSRegressor, k, coherence=0.95, budget=12
    ),
    "dual": lambda k: parsimon.published(parsimon.SOGSVR, k, bias=0),
    "atoms": lambda k: parsimon.KernelDictionaryLearning(3, k, budget=12, random_state=0),
}


def learn(model, rows):
    return (
        model.partial_fit(X[rows])
        if isinstance(model, parsimon.KernelDictionaryLearning)
        else model.partial_fit(X[rows], Y[rows])
    )


@pytest.mark.parametrize("name", RECIPES)
def test_a_kernel_that_raises_leaves_a_sound_model(name):
    kernel = Failing()
    begun = learn(RECIPES[name](kernel), slice(0, 20))
    for call in [*range(1, 60, 2), *range(61, 1500, 59)]:
        model = copy.deepcopy(begun)
        kernel = model.kernel
        size = learn(copy.deepcopy(begun), slice(20, 24)).nbytes_
        kernel.left = call
        with contextlib.suppress(KeyError):
            learn(model, slice(20, 60))
        kernel.left = -1
        again = copy.deepcopy(model)  # reads what was stored, and refuses what is not sound
        model._learner.require_sound()
        for m in (model, again):
            learn(m, slice(0, 4))
            assert begun.budget is None or m.n_centers_ <= 12
        assert begun.budget is None or name == "atoms" or model.nbytes_ == size


def test_set_budget_that_a_kernel_stops_changes_no_rule():
    kernel = Failing()
    model = learn(RECIPES["neighbours"](kernel), slice(0, 60))
    before = model.n_centers_
    model.kernel.left = 3
    with pytest.raises(KeyError):
        model.set_budget(2)
    model.kernel.left = -1
    assert 2 < model.n_centers_ <= before and model.budget == 12
    learn(learn(model, slice(0, 60)), slice(0, 60))
    assert 2 < model.n_centers_ <= 12


def hooked(make):
    """A model with a kernel that calls what is in the list, once."""
    calls = []

    def kernel(x, y):
        if calls:
            calls.pop()()
        return float(np.exp(-((x - y) ** 2).sum()))

    return make(kernel), calls


USES = {
    "partial_fit": lambda m: learn(m, slice(0, 1)),
    "learn_one": lambda m: m.learn_one(
        X[0], *[] if isinstance(m, parsimon.KernelDictionaryLearning) else [0.0]
    ),
    "state": lambda m: m.__getstate__(),
    "copy": copy.deepcopy,
    "set_budget": lambda m: m.set_budget(3),
    "predict": lambda m: look(m, X[:1]),
    "centers": lambda m: m.centers_,
}


def look(model, rows, **options):
    return model.transform(rows) if hasattr(model, "transform") else model.predict(rows, **options)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["least cost", "atoms"])
@pytest.mark.parametrize("within", ["learning", "predicting", "several threads predicting"])
def test_a_kernel_that_comes_back_to_its_model_is_told_so(name, use, within):
    model, calls = hooked(RECIPES[name])
    if use == "set_budget" and name == "atoms":
        pytest.skip("has none")
    learn(model, slice(0, 20))
    before = look(model, X)
    calls.append(lambda: USES[use](model))
    many = np.repeat(X, 20, axis=0)

    def run():
        if within == "learning":
            learn(model, slice(20, 22))
        elif within == "predicting" or name == "atoms":
            look(model, many)
        else:
            look(model, many, n_jobs=3)

    if within != "learning" and use in ("predict", "centers"):
        run()
    else:
        with pytest.raises(RuntimeError, match="a kernel function must not"):
            run()
    np.testing.assert_array_equal(look(model, X), before)
    learn(model, slice(20, 22))  # nothing is locked


def test_reading_what_is_read_already_does_not_wait_for_who_wants_to_learn():
    model, calls = hooked(RECIPES["least cost"])
    learn(model, slice(0, 20))
    waiting = threading.Thread(target=learn, args=[model, slice(20, 21)])

    def nested():
        waiting.start()
        waiting.join(0.2)  # it waits for the lock
        model.predict(X[:1])

    calls.append(nested)
    model.predict(X[:2])
    waiting.join(10)
    assert not waiting.is_alive()


def test_rows_of_check_agree():
    learner = algorithms.knlms(kernels.Gaussian(1.0), step_size=0.5, coherence=0.5).build(2)
    for args in (
        (X, Y[:3, None], None, 1),
        (X, Y[:, None], Y[:3], 1),
        (X[:3], Y[:, None], None, 1),
    ):
        with pytest.raises(ValueError, match="rows"):
            learner.check(*args)
    learner.check(X, Y[:, None], np.ones(60), 1)


def test_bytes_of_merging_are_counted():
    d = 10_000
    wide = np.random.default_rng(0).normal(size=(30, d))
    sizes = {}
    for rule in ("merge", "removal"):
        model = parsimon.published(
            parsimon.BSGDClassifier, gamma=1 / d, budget=8, maintenance=rule
        ).partial_fit(wide[:2], [0, 1])
        sizes[rule] = model.nbytes_
        assert model.partial_fit(wide, np.arange(30) % 2).nbytes_ == sizes[rule]
    assert sizes["merge"] - sizes["removal"] > 3 * 8 * d


def test_a_copy_of_an_interrupted_model_goes_on_alike():
    """What is left to do after a kernel raised in a step is part of the state."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-2, 2, size=(60, 2)), rng.normal(size=60)
    over = 0
    for at, n in itertools.product(range(20, 23), range(1, 26)):
        calls = [None]

        def kernel(a, b, calls=calls):
            if calls[0] is not None:
                calls[0] -= 1
                if calls[0] == 0:
                    calls[0] = None
                    raise RuntimeError("no value")
            return float(np.exp(-((a - b) ** 2).sum()))

        model = parsimon.published(
            parsimon.SPLRegressor,
            kernels.Function(kernel),
            budget=5,
            admission="coherence",
            coherence=0.99,
        )
        model.partial_fit(X[:at], y[:at])
        calls[0] = n
        try:
            model.learn_one(X[at], y[at])
        except RuntimeError:
            over += model.n_centers_ > 5
        calls[0] = None
        other = copy.deepcopy(model)
        for each in (model, other):
            each.partial_fit(X[at + 1 :], y[at + 1 :])
        assert model.n_centers_ <= 5
        np.testing.assert_array_equal(model.predict(X), other.predict(X))
    assert over  # some of them stopped before the budget was kept
