"""Recursive filters in which every sample becomes a centre, against oracles and dense answers."""

import numpy as np
import oracle_growing as oracle
import pytest
from oracle import trajectory
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

from parsimon import (
    EXKRLSRegressor,
    FBKRLSRegressor,
    KRLSTRegressor,
    SWKRLSRegressor,
    algorithms,
    kernels,
    merge,
    persistence,
    published,
)
from parsimon.admission import Always, Coherence
from parsimon.compression import Nothing, Oldest
from parsimon.updates import Window

GAUSSIAN = kernels.Gaussian(1.0)
ALL = (EXKRLSRegressor, FBKRLSRegressor, KRLSTRegressor, SWKRLSRegressor)
each = pytest.mark.parametrize("cls", ALL)


def stream(n=3000, seed=0):
    """A function that changes slowly, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) * np.cos(np.arange(n) / 400) + X[:, 1] + 0.1 * rng.normal(size=n)
    return X, y


@pytest.mark.parametrize("kernel", [GAUSSIAN, kernels.Matern32(0.5), kernels.Polynomial(2)])
@pytest.mark.parametrize("cls", [SWKRLSRegressor, FBKRLSRegressor])
def test_windows_equal_the_oracle(cls, kernel):
    X, y = stream(3000 if kernel is GAUSSIAN else 400)
    model = published(cls, kernel, ridge=0.1, budget=40)
    expected = oracle.Window(kernel, 0.1, 40, cls is SWKRLSRegressor)
    np.testing.assert_allclose(
        model.predict_then_learn(X, y), trajectory(expected, X, y), atol=1e-8, rtol=1e-8
    )
    np.testing.assert_array_equal(model.centers_, expected.X)


@pytest.mark.parametrize(
    ("forgetting", "jitter", "budget"),
    [(0.99, 1e-6, 40), (1.0, 1e-6, 40), (0.9, 1e-4, 25), (0.999, 1e-4, None)],
)
def test_the_tracker_equals_the_oracle(forgetting, jitter, budget):
    X, y = stream(3000 if budget else 300)
    model = published(
        KRLSTRegressor, GAUSSIAN, forgetting=forgetting, noise=0.01, jitter=jitter, budget=budget
    )
    expected = oracle.Tracker(GAUSSIAN, forgetting, 0.01, jitter, budget)
    found, std = model.predict_then_learn(X, y, return_std=True)
    np.testing.assert_allclose(found, trajectory(expected, X, y), atol=1e-6)
    np.testing.assert_array_equal(model.centers_, expected.X)
    assert model.noise_ == pytest.approx(0.01 * expected.power, rel=1e-6)
    assert np.isfinite(std[1:]).all()
    _, std = model.predict(X[:50], return_std=True)
    variances = [expected.variance(x) for x in X[:50]]
    np.testing.assert_allclose(std**2, variances, rtol=1e-5)


@pytest.mark.parametrize(
    ("transition", "forgetting", "ridge", "state_noise"),
    [(1.0, 1.0, 0.1, 1e-2), (0.99, 0.995, 0.1, 1e-2), (1.0, 0.999, 1.0, 1e-1)],
)
def test_the_extended_filter_equals_the_oracle(transition, forgetting, ridge, state_noise):
    X, y = stream()
    given = (transition, forgetting, ridge, state_noise)
    names = ("transition", "forgetting", "ridge", "state_noise")
    model = published(EXKRLSRegressor, GAUSSIAN, budget=40, **dict(zip(names, given, strict=True)))
    expected = oracle.Extended(GAUSSIAN, *given, 40)
    np.testing.assert_allclose(
        model.predict_then_learn(X, y), trajectory(expected, X, y), atol=1e-8
    )


def test_without_forgetting_the_tracker_is_a_gaussian_process():
    X, y = stream(300)
    noise, jitter = 0.01, 1e-6
    model = published(
        KRLSTRegressor, GAUSSIAN, forgetting=1.0, noise=noise, jitter=jitter, budget=None
    ).fit(X, y)
    assert model.n_centers_ == 300
    dense = GaussianProcessRegressor(RBF(np.sqrt(0.5)), alpha=noise + jitter, optimizer=None)
    dense.fit(X, y)
    test = np.random.default_rng(1).uniform(-3, 3, size=(100, 2))
    mean, std = model.predict(test, return_std=True)
    expected, deviation = dense.predict(test, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    power = model.noise_ / noise
    np.testing.assert_allclose(
        std / np.sqrt(power), np.sqrt(deviation**2 + noise + jitter), atol=1e-6
    )


def test_the_tracker_is_calibrated():
    X, y = stream(2000)
    model = KRLSTRegressor("gaussian", gamma=0.5, forgetting=0.995, noise=0.02)
    found, std = model.predict_then_learn(X, y, return_std=True)
    scores = (y - found)[500:] / std[500:]
    assert 0.8 < scores.std() < 1.25


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_after_many_samples_the_window_is_exact(fit_intercept):
    X, y = stream(20_000)
    X[5000:5100] = X[4999]  # copies enter like other samples
    model = published(SWKRLSRegressor, GAUSSIAN, ridge=1e-3, budget=30, fit_intercept=fit_intercept)
    for start, end in ((0, 5080), (5080, 20_000)):
        model.partial_fit(X[start:end], 5 + y[start:end])
        np.testing.assert_array_equal(model.centers_, X[end - 30 : end])
        dense = KernelRidge(kernel="rbf", gamma=1.0, alpha=1e-3)
        dense.fit(X[end - 30 : end], 5 + y[end - 30 : end] - model.intercept_)
        np.testing.assert_allclose(
            model.predict(X[:100]), dense.predict(X[:100]) + model.intercept_, atol=1e-8
        )


def test_the_intercept_is_exact_for_kernels_without_constants():
    X, y = stream(300)
    model = published(SWKRLSRegressor, "linear", budget=200, fit_intercept=True)
    model.partial_fit(X, 5 + y)
    dense = KernelRidge(kernel="linear", alpha=0.1)
    dense.fit(X[-200:], 5 + y[-200:] - model.intercept_)
    np.testing.assert_allclose(model.predict(X), dense.predict(X) + model.intercept_, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        published(FBKRLSRegressor, GAUSSIAN, ridge=1e-6, budget=10),
        published(KRLSTRegressor, GAUSSIAN, forgetting=0.1, budget=10),
        published(KRLSTRegressor, GAUSSIAN, forgetting=1.0, noise=1e-6, jitter=1e-8, budget=10),
        published(EXKRLSRegressor, GAUSSIAN, forgetting=0.5, state_noise=0.0, budget=10),
        published(EXKRLSRegressor, GAUSSIAN, transition=0.1, state_noise=1e3, budget=10),
    ],
    ids=str,
)
def test_after_many_samples_all_is_finite(model):
    X, y = stream(20_000)
    X[::3] = X[0]
    assert np.isfinite(model.predict_then_learn(X, y)).all()
    assert np.abs(model.predict(X)).max() < 1e3
    model._learner.require_sound()


@pytest.mark.parametrize(
    "options", [{"forgetting": 0.1}, {"forgetting": 0.5, "kernel": kernels.Matern32(10.0)}], ids=str
)
def test_what_is_forgotten_completely_can_be_stored(options):
    """E becomes smaller than any number."""
    X, y = stream(800)
    model = published(KRLSTRegressor, **{"kernel": GAUSSIAN, "budget": None, **options})
    model.partial_fit(X, y)
    again = persistence.loads(persistence.dumps(model))
    X, y = stream(100, seed=1)
    np.testing.assert_array_equal(again.predict_then_learn(X, y), model.predict_then_learn(X, y))
    expected = oracle.Tracker(model.kernel, model.forgetting, model.noise, model.jitter, None)
    trajectory(expected, *stream(800))
    np.testing.assert_allclose(
        [expected.predict(x) for x in X[:3]], published_copy(model).predict(X[:3]), atol=1e-6
    )


def published_copy(model):
    return published(type(model), **model.get_params()).partial_fit(*stream(800))


def test_a_sample_in_the_span_is_learned_without_becoming_a_centre():
    """Beside huge kernel values, the jitter is rounding error. f is Bayesian linear regression."""
    X, y = stream(200)
    kernel = 1e6 * kernels.Linear()
    model = published(KRLSTRegressor, kernel, forgetting=1.0, noise=1.0, jitter=1e-8, budget=None)
    model.partial_fit(X, y)
    assert model.n_centers_ < 20
    slopes = np.linalg.solve(1e-6 * np.eye(2) + X.T @ X, X.T @ y)
    np.testing.assert_allclose(model.predict(X), X @ slopes, atol=1e-4)


@each
def test_a_block_equals_a_loop(cls):
    X, y = stream(300)
    block = published(cls, gamma=1.0, budget=20).partial_fit(X, y)
    single = published(cls, gamma=1.0, budget=20)
    for x, target in zip(X, y, strict=True):
        single.learn_one(x, target)
    np.testing.assert_array_equal(single.weights_, block.weights_)
    np.testing.assert_array_equal(single.centers_, block.centers_)


@each
def test_several_outputs(cls):
    X, y = stream(300)
    model = published(cls, gamma=1.0, budget=20).partial_fit(X, np.column_stack([y, -2 * y]))
    alone = published(cls, gamma=1.0, budget=20).partial_fit(X, y)
    np.testing.assert_allclose(model.predict(X)[:, 0], alone.predict(X), atol=1e-10)
    np.testing.assert_allclose(model.predict(X)[:, 1], -2 * alone.predict(X), atol=1e-10)
    model.add_outputs(1)
    assert model.partial_fit(X[:5], np.ones((5, 3))).predict(X[:5]).shape == (5, 3)


@pytest.mark.parametrize("cls", [SWKRLSRegressor, FBKRLSRegressor, EXKRLSRegressor])
def test_weight_two_is_a_copy(cls):
    X, y = stream(60)
    options = {"state_noise": 0.0} if cls is EXKRLSRegressor else {}
    twice = published(cls, GAUSSIAN, budget=None, **options).fit(X, y, np.full(60, 2.0))
    copies = published(cls, GAUSSIAN, budget=None, **options).fit(np.repeat(X, 2, 0), y.repeat(2))
    np.testing.assert_allclose(twice.predict(X), copies.predict(X), atol=1e-9)


def test_the_noise_of_a_weighted_sample_of_the_tracker_is_smaller():
    X, y = stream(60)
    v = np.random.default_rng(0).uniform(0.2, 3, size=60)
    model = published(KRLSTRegressor, GAUSSIAN, forgetting=1.0, noise=0.1, jitter=1e-8, budget=None)
    dense = GaussianProcessRegressor(RBF(np.sqrt(0.5)), alpha=0.1 / v, optimizer=None).fit(X, y)
    np.testing.assert_allclose(model.fit(X, y, v).predict(X), dense.predict(X), atol=1e-6)


def test_weights_of_a_window_stay_with_their_samples():
    X, y = stream(300)
    v = np.random.default_rng(0).uniform(0.2, 3, size=300)
    model = published(SWKRLSRegressor, GAUSSIAN, ridge=0.1, budget=30).partial_fit(X, y, v)
    again = persistence.loads(persistence.dumps(model)).partial_fit(X[:9], y[:9], v[:9])
    X, y, v = (np.concatenate([values, values[:9]])[-30:] for values in (X, y, v))
    dense = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1).fit(X, y, v)
    np.testing.assert_allclose(again.predict(X), dense.predict(X), atol=1e-9)


@each
def test_set_budget(cls):
    X, y = stream(200)
    model = published(cls, GAUSSIAN, budget=50).partial_fit(X, y).set_budget(20)
    assert model.n_centers_ == 20
    if cls is SWKRLSRegressor:
        dense = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1).fit(X[-20:], y[-20:])
        np.testing.assert_allclose(model.predict(X), dense.predict(X), atol=1e-9)
    assert model.partial_fit(X, y).n_centers_ == 20


@pytest.mark.parametrize("cls", [SWKRLSRegressor, FBKRLSRegressor])
def test_windows_can_be_merged(cls):
    X, y = stream(100)
    parts = [published(cls, GAUSSIAN, budget=30).partial_fit(X[i::2], y[i::2]) for i in range(2)]
    merged = merge(parts, budget=60).model
    mean = (parts[0].predict(X) + parts[1].predict(X)) / 2
    np.testing.assert_allclose(merged.predict(X), mean, atol=1e-8)
    # Learning goes on with the targets that the merged weights fit
    implied = (GAUSSIAN(merged.centers_) + 0.1 * np.eye(merged.n_centers_)) @ merged.weights_
    centres = merged.centers_
    merged.partial_fit(X[:1] + 0.1, y[:1])
    dense = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1)
    kept = np.vstack([centres, X[:1] + 0.1])[-merged.n_centers_ :]
    dense.fit(kept, np.append(implied, y[0])[-merged.n_centers_ :])
    if cls is SWKRLSRegressor:
        np.testing.assert_allclose(merged.predict(X), dense.predict(X), atol=1e-8)


@pytest.mark.parametrize("cls", [KRLSTRegressor, EXKRLSRegressor])
def test_others_cannot_be_merged(cls):
    model = published(cls, GAUSSIAN).partial_fit(*stream(20))
    with pytest.raises(ValueError, match=r"cannot be merged or compressed.*set_budget"):
        model.compress(5)
    with pytest.raises(ValueError, match="cannot be merged"):
        merge([model, model])
    assert model.n_centers_ == 20


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (SWKRLSRegressor, {"ridge": 0.0}, "ridge must be finite and >= 1e-06"),
        (FBKRLSRegressor, {"budget": 0}, "budget must be >= 1"),
        (KRLSTRegressor, {"forgetting": 1.1}, "forgetting must be"),
        (KRLSTRegressor, {"noise": 0.0}, "noise must be"),
        (KRLSTRegressor, {"jitter": 0.0}, "jitter must be"),
        (EXKRLSRegressor, {"transition": 0.0}, "transition must be"),
        (EXKRLSRegressor, {"state_noise": -1.0}, "state_noise must be"),
    ],
)
def test_invalid_parameters(cls, options, message):
    with pytest.raises(ValueError, match=message):
        cls(**options).fit(*stream(5))


@pytest.mark.parametrize(
    "parts",
    [
        {"admission": Coherence(0.5)},
        {"compression": Oldest(5)},
        {"batch_size": 2},
    ],
    ids=str,
)
def test_other_parts_are_refused(parts):
    given = {"admission": Always(), "compression": Nothing(), **parts}
    with pytest.raises(ValueError, match="Window needs batch_size=1, the admission Always"):
        algorithms.Recipe(kernel=GAUSSIAN, loss=published_loss(), update=Window(ridge=0.1), **given)


def published_loss():
    return algorithms.swkrls(GAUSSIAN, ridge=0.1, budget=3).loss
