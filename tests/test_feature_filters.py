"""Multi-kernel NLMS and random-Fourier KLMS, against oracles."""

import copy
import pickle

import numpy as np
import oracle_features as oracle
import pytest
from oracle import trajectory
from sklearn.base import clone

import parsimon
from parsimon import (
    KLMSRegressor,
    KNLMSRegressor,
    MKNLMSRegressor,
    RFFKLMSRegressor,
    kernels,
    merge,
    persistence,
    published,
)
from parsimon.datasets import make_wiener
from parsimon.estimators import FILTERS
from parsimon.export import to_c

MODELS = [
    published(MKNLMSRegressor, gamma=1.0, budget=15),
    published(MKNLMSRegressor, kernels.Gaussian(1.0) + kernels.Linear() + 0.5, coherence=0.99),
    published(MKNLMSRegressor, "matern32", gamma="median", fit_intercept=True),
    published(MKNLMSRegressor, kernels.SinglePrecision("gaussian"), gamma=0.5),
    published(MKNLMSRegressor, "linear"),
    published(RFFKLMSRegressor, gamma=1.0, n_components=50, random_state=0),
    published(RFFKLMSRegressor, n_components=30, fit_intercept=True),
]
each = pytest.mark.parametrize("model", MODELS, ids=str)


def stream(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


def content(model):
    return persistence.dumps(model)


@pytest.mark.parametrize("budget", [20, None])
def test_multi_kernel_nlms_equals_the_oracle(budget):
    X, y = stream()
    model = published(MKNLMSRegressor, gamma=1.0, coherence=0.95, ridge=0.01, budget=budget)
    used = [kernels.Gaussian(gamma) for gamma in (0.2, 1.0, 5.0)]
    expected = oracle.MultiKernel(used, 0.2, 0.95, 0.01, budget)
    np.testing.assert_allclose(
        model.predict_then_learn(X, y), trajectory(expected, X, y), atol=1e-8
    )
    np.testing.assert_array_equal(model.centers_, expected.X)
    np.testing.assert_allclose(model.weights_, expected.w, atol=1e-8)
    assert model.kernels_ == tuple(used)


def test_kernels_of_any_kind():
    X, y = stream(500)
    used = (kernels.Gaussian(2.0), kernels.Polynomial(2))
    model = published(MKNLMSRegressor, used[0] + used[1], coherence=0.9, budget=None)
    expected = oracle.MultiKernel(used, 0.2, 0.9, 0.0, None)
    np.testing.assert_allclose(
        model.predict_then_learn(X, y), trajectory(expected, X, y), atol=1e-8
    )
    assert model.kernels_ == used


def test_kernels_that_are_not_1_on_the_diagonal_have_one_size():
    """Otherwise the largest one takes the whole step, and the error is larger than the variance."""
    X, y = make_wiener(3000, random_state=0)
    model = MKNLMSRegressor("polynomial")
    errors = y - model.predict_then_learn(X, y)
    assert np.square(errors[1500:]).mean() < 0.1 * y.var()
    x = np.zeros((1, 5))
    x[0, 2] = 1 / np.sqrt(model.kernel_.gamma)
    sizes = [float(kernel(x, x)[0, 0]) for kernel in model.kernels_]
    np.testing.assert_allclose(sizes, model.kernel_(x, x)[0, 0], rtol=1e-12)
    assert content(persistence.loads(content(model))) == content(model)
    # Without the scaling: the terms of a sum are used as they are.
    gamma = model.kernel_.gamma
    each = [kernels.Polynomial(gamma=factor * gamma) for factor in (0.2, 1.0, 5.0)]
    plain = MKNLMSRegressor(each[0] + each[1] + each[2])
    assert np.square(y - plain.predict_then_learn(X, y))[1500:].mean() > 0.5 * y.var()


def test_one_kernel_is_knlms():
    X, y = stream(500)
    model = published(MKNLMSRegressor, gamma=1.0, widths=(1.0,), coherence=0.5)
    single = published(KNLMSRegressor, gamma=1.0, coherence=0.5, step_size=0.2)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=500)
    model.partial_fit(X, y, weights)
    single.partial_fit(X, y, weights)
    np.testing.assert_array_equal(model.centers_, single.centers_)
    np.testing.assert_allclose(model.weights_[:, 0], single.weights_, atol=1e-12)


def test_random_fourier_klms_equals_the_oracle():
    X, y = stream()
    model = published(RFFKLMSRegressor, gamma=1.0, n_components=100, random_state=3)
    found = model.predict_then_learn(X, y)
    expected = oracle.Fourier(model.frequencies_, model.phases_, 0.2)
    np.testing.assert_allclose(found, trajectory(expected, X, y), atol=1e-8)


def test_features_approximate_the_kernel():
    X, y = stream(600)
    model = published(RFFKLMSRegressor, gamma=0.5, n_components=20_000, random_state=0)
    model.partial_fit(X, y)
    psi = np.sqrt(2 / 20_000) * np.cos(X[:50] @ model.frequencies_.T + model.phases_)
    np.testing.assert_allclose(psi @ psi.T, kernels.Gaussian(0.5)(X[:50]), atol=0.03)
    exact = published(KLMSRegressor, gamma=0.5, step_size=0.2).partial_fit(X, y)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=0.2)
    again = published(RFFKLMSRegressor, gamma=0.5, n_components=20_000, random_state=0)
    np.testing.assert_array_equal(again.partial_fit(X, y).predict(X), model.predict(X))


@each
def test_a_block_equals_a_loop(model):
    X, y = stream(200)
    block, single = clone(model).partial_fit(X[:9], y[:9]), clone(model).partial_fit(X[:9], y[:9])
    if hasattr(block, "_seed"):
        single = copy.deepcopy(block)
    before = block.predict_then_learn(X[9:], y[9:])
    found = []
    for x, target in zip(X[9:], y[9:], strict=True):
        found.append(single.predict_one(x))
        single.learn_one(x, target)
    np.testing.assert_array_equal(found, before)
    assert content(block) == content(single)
    np.testing.assert_array_equal(block.predict(X), [block.predict_one(x) for x in X])
    np.testing.assert_array_equal(block.predict(X, n_jobs=2), block.predict(X))


@each
@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
def test_going_on_is_the_same_as_never_stopping(model, way, tmp_path):
    X, y = stream(200)
    first = clone(model).partial_fit(X[:100], y[:100])
    if way == "file":
        first.save(tmp_path / "model")
        again = parsimon.load(tmp_path / "model")
        assert persistence.dumps(again) == persistence.dumps(first)
    else:
        again = pickle.loads(pickle.dumps(first)) if way == "pickle" else copy.deepcopy(first)
    for part in (first, again):
        part.partial_fit(X[100:], y[100:])
    assert content(first) == content(again)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))


@each
def test_outputs_are_independent(model):
    X, y = stream(200)
    given = clone(model)
    if "random_state" in given.get_params():
        given.set_params(random_state=0)
    both = clone(given).partial_fit(X, np.column_stack([y, -2 * y]))
    alone = clone(given).partial_fit(X, y)
    if given.get_params().get("budget") is None:
        np.testing.assert_allclose(both.predict(X)[:, 1], -2 * alone.predict(X), atol=1e-9)
    assert both.n_outputs_ == 2
    assert both.weights_.shape == (*alone.weights_.shape, 2)
    assert both.intercept_.shape == (2,)


@each
def test_the_derivative_is_that_of_f(model):
    X, y = stream(100)
    given = clone(model).partial_fit(X, y)
    if isinstance(given.kernel_, kernels.SinglePrecision):
        return
    found, step = given.gradient(X[:20] + 0.01), 1e-6
    for i in range(2):
        up, down = (given.predict(X[:20] + 0.01 + s * np.eye(2)[i]) for s in (step, -step))
        np.testing.assert_allclose(found[:, i], (up - down) / (2 * step), atol=1e-5)


@each
def test_bad_input_changes_nothing(model):
    X, y = stream(60)
    given = clone(model).partial_fit(X, y)
    before = content(given)
    for rows, targets, weights, message in [
        (np.vstack([X[:2], [np.nan, 0.0]]), y[:3], None, "X contains NaN at row 2, column 0"),
        (X[:3], [0.0, np.inf, 0.0], None, "y contains infinity .* at row 1"),
        (X[:3], [0.0, 1e200, 0.0], None, "largest target"),
        (X[:3], y[:3], [1.0, -1.0, 1.0], "sample_weight is -1 at row 1"),
        (X[:3], y[:4], None, "inconsistent numbers"),
        (X[:3, :1], y[:3], None, "features"),
        (X[:3], np.ones((3, 2)), None, "2 outputs"),
    ]:
        with pytest.raises(ValueError, match=message):
            given.partial_fit(rows, targets, weights)
        assert content(given) == before
    with pytest.raises(ValueError, match=r"was .* when learning began"):
        given.set_params(step_size=0.11).partial_fit(X, y)


def test_values_too_large_for_the_features_are_refused():
    X, y = stream(20)
    model = published(RFFKLMSRegressor, gamma=1.0, random_state=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="row 1 of X is too large for the frequencies"):
        model.predict([[0.0, 0.0], [1e300, 1e300]])


@each
def test_weights_of_samples(model):
    X, y = stream(100)
    given = clone(model).set_params(random_state=0)
    if isinstance(given.gamma, str):
        given.set_params(**({} if hasattr(given, "widths") else {"gamma": 1.0}))
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=100)
    found = clone(given).partial_fit(X, y, weights)
    only = clone(given).partial_fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    if not isinstance(given.gamma, str):
        np.testing.assert_array_equal(found.weights_, only.weights_)
    with pytest.raises(ValueError, match="every sample_weight is zero"):
        clone(given).fit(X, y, np.zeros(100))


def test_weight_two_is_two_steps():
    X, y = stream(100)
    given = published(RFFKLMSRegressor, gamma=1.0, random_state=0)
    twice = clone(given).partial_fit(X, y, np.full(100, 2.0))
    copies = clone(given).partial_fit(X.repeat(2, axis=0), y.repeat(2))
    np.testing.assert_allclose(twice.weights_, copies.weights_, atol=1e-12)


def test_new_features_do_not_change_f():
    X, y = stream(100)
    for model in (
        published(MKNLMSRegressor, gamma=1.0),
        published(RFFKLMSRegressor, gamma=1.0, random_state=0),
    ):
        model.partial_fit(X, y)
        before = model.predict(X)
        model._widen(3)
        np.testing.assert_array_equal(model.predict(np.column_stack([X, np.zeros(100)])), before)
        wide = np.column_stack([X, np.ones(100)])
        assert np.abs(model.predict(wide) - before).max() > 0.1


def test_set_budget():
    X, y = stream(500)
    model = published(MKNLMSRegressor, gamma=5.0, coherence=0.99).partial_fit(X, y)
    newest, n = model.centers_[-1], model.n_centers_
    assert n > 20
    model.set_budget(20)
    np.testing.assert_array_equal(model.centers_[-1], newest)
    assert model.partial_fit(X, y).n_centers_ == model.budget == 20
    loaded = persistence.loads(persistence.dumps(model))
    assert loaded.budget == 20


def test_they_are_no_kernel_expansions():
    X, y = stream(50)
    for cls in FILTERS:
        model = cls(gamma=1.0).fit(X, y)
        with pytest.raises(TypeError, match="only estimators that learn one kernel expansion"):
            merge([model, model])
        with pytest.raises(TypeError):
            to_c(model)


@pytest.mark.parametrize(
    ("cls", "options", "error", "message"),
    [
        (MKNLMSRegressor, {"widths": ()}, TypeError, "widths must be"),
        (MKNLMSRegressor, {"widths": (0.0,)}, ValueError, "each of widths must be"),
        (MKNLMSRegressor, {"step_size": 2.0}, ValueError, "step_size must be"),
        (MKNLMSRegressor, {"coherence": 1.1}, ValueError, "coherence must be"),
        (MKNLMSRegressor, {"budget": 0}, ValueError, "budget must be"),
        (RFFKLMSRegressor, {"n_components": 0}, ValueError, "n_components must be"),
        (RFFKLMSRegressor, {"step_size": 1.0}, ValueError, "step_size must be"),
        (RFFKLMSRegressor, {"fit_intercept": 1}, TypeError, "fit_intercept must be"),
        (RFFKLMSRegressor, {"n_passes": 0}, ValueError, "n_passes must be"),
    ],
)
def test_invalid_parameters(cls, options, error, message):
    with pytest.raises(error, match=message):
        cls(**options).fit(*stream(5))


@each
def test_forged_files_are_refused(model):
    X, y = stream(60)
    given = clone(model).partial_fit(X, y)
    state = given.__getstate__()
    n_features, n_outputs, arrays, counts = state["_learned"]
    for name in arrays:
        damaged = {**arrays, name: arrays[name][:-1]}
        with pytest.raises(ValueError, match="state"):
            given.__setstate__({**state, "_learned": (n_features, n_outputs, damaged, counts)})
        if name == "offset.squares":  # any number is possible
            continue
        large = {**arrays, name: np.full_like(arrays[name], 1e300)}
        with pytest.raises((ValueError, MemoryError)):
            given.__setstate__({**state, "_learned": (n_features, n_outputs, large, counts)})
            given._require_sound()
