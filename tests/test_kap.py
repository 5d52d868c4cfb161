"""Kernel affine projection."""

import copy

import dense
import numpy as np
import oracle
import pytest

import parsimon
from parsimon import KAPRegressor, KNLMSRegressor, kernels, merge, persistence, published


def stream(n, seed=0):
    """A time series with its last three values as inputs: neighbours in time are alike."""
    rng = np.random.default_rng(seed)
    series = np.sin(0.2 * np.arange(n + 3)) + 0.3 * np.sin(0.05 * np.arange(n + 3) ** 1.1)
    X = np.column_stack([series[i : i + n] for i in range(3)])
    Y = np.column_stack([series[3:], -(series[3:] ** 2)])
    return X, Y + 0.01 * rng.normal(size=Y.shape)


@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("name", ["gaussian", "nested", "polynomial", "single"])
def test_trajectory_equals_the_oracle(name, order):
    kernel = (
        kernels.SinglePrecision(kernels.Gaussian(1.0))
        if name == "single"
        else dense.KERNELS[name][0]
    )
    X, Y = stream(1500)
    mu0 = 0.99 if name in ("polynomial", "nested") else 0.9
    options = {"step_size": 0.3, "order": order, "ridge": 0.05}
    seen = kernels.seen(kernel, X)
    predictions, centres, W = oracle.kap(kernel, seen, Y, 0.3, mu0, order, ridge=0.05)
    model = published(KAPRegressor, kernel, coherence=mu0, **options)
    ours = model.predict_then_learn(X, Y)
    assert model.n_centers_ > 1
    np.testing.assert_array_equal(model.centers_, centres)
    scale = max(1, np.abs(predictions).max())
    np.testing.assert_allclose(ours, predictions, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(model.weights_, W, rtol=0, atol=1e-8 * max(1, np.abs(W).max()))


def test_order_one_is_normalised_lms():
    X, Y = stream(800)
    options = {"step_size": 0.4, "coherence": 0.9, "ridge": 0.1}
    one = published(KAPRegressor, kernels.Gaussian(1.0), order=1, **options)
    lms = published(KNLMSRegressor, kernels.Gaussian(1.0), **options)
    np.testing.assert_allclose(
        one.predict_then_learn(X, Y), lms.predict_then_learn(X, Y), rtol=0, atol=1e-12
    )


def test_recent_samples_are_fitted_exactly_by_a_whole_step():
    """With step_size 1 and no ridge the error of all recent samples is zero after a step."""
    X, Y = stream(300)
    X = X + np.random.default_rng(0).normal(size=X.shape)  # independent rows
    model = published(
        KAPRegressor, kernels.Gaussian(1.0), step_size=1.0, order=4, ridge=0.0, coherence=0.5
    )
    model.fit(X, Y)
    np.testing.assert_allclose(model.predict(X[-4:]), Y[-4:], atol=1e-8)


@pytest.mark.parametrize("budget", [{}, {"budget": 12}, {"budget": 12, "compression": "oldest"}])
def test_blocks_loops_and_files_agree_bit_for_bit(budget):
    X, Y = stream(400)
    fresh = published(KAPRegressor, kernels.Gaussian(2.0), coherence=0.95, order=4, **budget)
    block = copy.deepcopy(fresh).partial_fit(X, Y)
    loop = copy.deepcopy(fresh)
    for x, y in zip(X, Y, strict=True):
        loop.learn_one(x, y)
    stored = persistence.loads(
        persistence.dumps(copy.deepcopy(fresh).partial_fit(X[:173], Y[:173]))
    )
    stored.partial_fit(X[173:], Y[173:])
    assert block.n_centers_ > 5
    for other in (loop, stored):
        assert persistence.dumps(other) == persistence.dumps(block)


def test_copies_of_a_sample_do_no_harm():
    """Their rows are alike: without a ridge H H' is singular."""
    X, Y = stream(200)
    copies = np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0)
    model = published(KAPRegressor, kernels.Gaussian(1.0), order=5, ridge=0.0, coherence=0.9)
    assert np.isfinite(model.partial_fit(*copies).predict(X)).all()
    same = published(
        KAPRegressor, kernels.Gaussian(1.0), order=5, ridge=0.0, coherence=0.9, step_size=1.0
    )
    once = published(
        KAPRegressor, kernels.Gaussian(1.0), order=1, ridge=0.0, coherence=0.9, step_size=1.0
    )
    x, y = X[:1], Y[:1]
    same.partial_fit(np.repeat(x, 5, axis=0), np.repeat(y, 5, axis=0))
    np.testing.assert_allclose(same.weights_, once.partial_fit(x, y).weights_, atol=1e-12)


def test_a_sample_of_weight_zero_changes_nothing():
    X, Y = stream(100)
    model = published(KAPRegressor, kernels.Gaussian(1.0), order=3).partial_fit(X, Y)
    before = persistence.dumps(model)
    model.partial_fit(X[:1] + 5, Y[:1], sample_weight=[0.0])
    model_state, earlier = model._learner.state()[0], persistence.loads(before)._learner.state()[0]
    for name, values in earlier.items():
        np.testing.assert_array_equal(model_state[name], values)


def test_a_merged_model_goes_on_without_recent_samples():
    X, Y = stream(600)
    parts = [published(KAPRegressor, kernels.Gaussian(1.0)).fit(X[i::2], Y[i::2]) for i in range(2)]
    model = merge(parts).model
    mean = (parts[0].predict(X) + parts[1].predict(X)) / 2
    np.testing.assert_allclose(model.predict(X), mean, atol=1e-9)
    assert model._learner.state()[1]["update.window"] == 0
    model.partial_fit(X, Y)
    assert np.mean((model.predict(X) - Y) ** 2) < 0.8 * np.mean((mean - Y) ** 2)


def test_forged_windows_are_refused():
    model = published(KAPRegressor, kernels.Gaussian(1.0), order=3).partial_fit(*stream(50))
    arrays, counts = model._learner.state()
    for changed, more in (
        ({"update.inputs": np.full_like(arrays["update.inputs"], np.nan)}, {}),
        ({"update.targets": arrays["update.targets"][1:]}, {}),
        ({}, {"update.window": 4}),
    ):
        fresh = model._recipe(model._learns_with).build(3, 2)
        with pytest.raises(ValueError, match="update"):
            fresh.restore(arrays | changed, counts | more)
    fresh = model._recipe(model._learns_with).build(3, 2)
    fresh.restore(arrays | {"update.targets": arrays["update.targets"] * 1e200}, counts)
    with pytest.raises(ValueError, match="recent targets"):
        fresh.require_sound()


def test_it_is_faster_than_normalised_lms_on_correlated_inputs():
    X, Y = stream(1500)
    scores = []
    for model in (
        published(KNLMSRegressor, kernels.Gaussian(1.0), coherence=0.95),
        published(KAPRegressor, kernels.Gaussian(1.0), coherence=0.95),
    ):
        errors = Y - model.predict_then_learn(X, Y)
        scores.append((errors[:500] ** 2).mean())
    assert scores[1] < 0.7 * scores[0]


def test_bad_parameters_are_named():
    X, Y = stream(10)
    for options, name in (
        ({"order": 0}, "order"),
        ({"order": 65}, "order"),
        ({"step_size": 2}, "step_size"),
    ):
        with pytest.raises(ValueError, match=name):
            published(KAPRegressor, **options).fit(X, Y)
    assert parsimon.KAPRegressor is KAPRegressor


def test_an_empty_window_takes_no_memory_when_it_is_read():
    model = published(KAPRegressor, kernels.Gaussian(1.0), order=64).partial_fit([[1.0]], [0.0])
    model.compress(tolerance=1e9)
    arrays, counts = model._learner.state()
    assert counts["update.window"] == 0
    wide = model._recipe(model._learns_with).build(10**6, 1, at_once=False)
    wide.restore(arrays, counts)
    assert wide.nbytes < 10**6


def test_windows_whose_kernel_values_are_too_large_are_refused():
    model = published(KAPRegressor, kernels.Linear(), order=2).partial_fit([[1.0, 0.0]], [1.0])
    arrays, counts = model._learner.state()
    fresh = model._recipe(model._learns_with).build(2, 1, at_once=False)
    fresh.restore(arrays | {"update.inputs": np.array([0.0, 1e150])}, counts)
    with pytest.raises(ValueError, match="recent kernel values"):
        fresh.require_sound()


@pytest.mark.parametrize("order", [1, 8, 64])
def test_extreme_targets_stay_finite(order):
    X, Y = stream(200)
    kernel = 1e-99 * kernels.Gaussian(1.0)
    model = published(KAPRegressor, kernel, order=order, ridge=0.0, step_size=1.5).partial_fit(
        X, 1e99 * Y
    )
    assert np.isfinite(model.weights_).all()
