"""Kernel recursive least squares with the penalty ridge ||f||^2."""

import numpy as np
import pytest
from dense import gaussian

import parsimon
from parsimon import KRLSRegressor, published

OPTIONS = {"gamma": 0.5, "ridge": 0.3, "penalty": "norm"}


def stream(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=n)


def test_equals_kernel_ridge_regression_when_all_samples_are_centres():
    X, y = stream()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    model = published(KRLSRegressor, **OPTIONS, tolerance=1e-9).fit(X, y, weights)
    K = gaussian(0.5)(X, X)
    dense = np.linalg.solve(K + 0.3 * np.diag(1.0 / weights), y)
    assert model.n_centers_ == len(y)
    np.testing.assert_allclose(model.predict(X), K @ dense, rtol=0, atol=1e-11)


def test_equals_the_penalised_fit_over_its_centres():
    # With a tolerance, samples are written as combinations of the centres at their time. If the
    # first rows are all centres and the others are copies of them, that is exact.
    X, y = stream(30)
    rng = np.random.default_rng(2)
    rows = np.concatenate([np.arange(30), rng.integers(0, 30, size=200)])
    targets = y[rows] + rng.normal(size=len(rows))
    model = published(KRLSRegressor, **OPTIONS, tolerance=1e-6).fit(X[rows], targets)
    assert model.n_centers_ == 30
    K = gaussian(0.5)(X, X)
    H = K[rows]
    dense = np.linalg.solve(H.T @ H + 0.3 * K, H.T @ targets)
    np.testing.assert_allclose(model.predict(X), K @ dense, rtol=0, atol=1e-9)


def test_does_not_fit_the_noise_of_admitted_samples():
    X = np.random.default_rng(3).normal(size=(400, 5))
    noise = np.random.default_rng(4).normal(size=400)
    values, norm = (
        published(KRLSRegressor, gamma=0.5, tolerance=1e-3, ridge=1.0, penalty=penalty).fit(
            X, noise
        )
        for penalty in ("values", "norm")
    )
    new = np.random.default_rng(5).normal(size=(400, 5))
    assert np.square(norm.predict(new)).mean() < 0.5 * np.square(values.predict(new)).mean()


def test_forgetting_returns_to_the_prior_variance_where_nothing_arrives():
    X, y = stream(20)
    model = published(KRLSRegressor, **OPTIONS, forgetting=0.9, tolerance=1e-9).fit(X, y)
    before = model.predict(X)
    far = np.full((500, 3), 50.0)
    model.partial_fit(far, np.zeros(500))
    np.testing.assert_allclose(model.predict(X), before, atol=1e-6)
    factor = model._learner.covariance_factor()
    K = gaussian(0.5)(model.centers_, model.centers_)
    variances = np.square(factor @ K).sum(axis=0)
    assert variances.max() < 2.0 / 0.3 and variances[:20].min() > 0.4 / 0.3


def test_forgetting_equals_the_recursion():
    # P <- P / forgetting; a centre enters with the prior variance; then its sample is absorbed.
    X, y = stream(30)
    K, P, w = gaussian(0.5)(X, X), np.zeros((0, 0)), np.zeros(0)
    for t in range(len(X)):
        h = K[t, :t]
        a = np.linalg.solve(K[:t, :t], h)
        own = np.append(-a, 1.0)
        P, w = np.pad(P / 0.99, (0, 1)), np.append(w, 0.0)
        P += np.outer(own, own) / (0.3 * (K[t, t] - h @ a))
        gain = P @ K[t, : t + 1]
        gain /= 1.0 + K[t, : t + 1] @ gain
        w = w + gain * (y[t] - K[t, : t + 1] @ w)
        P = P - np.outer(gain, P @ K[t, : t + 1])
    model = published(KRLSRegressor, **OPTIONS, forgetting=0.99, tolerance=1e-9).fit(X, y)
    np.testing.assert_allclose(model.weights_, w, rtol=0, atol=1e-9)
    factor = model._learner.covariance_factor()
    np.testing.assert_allclose(factor.T @ factor, P, rtol=0, atol=1e-8)


def test_every_variance_is_held_while_centres_come_and_go():
    # Old centres far away are forgotten, while new ones take each other's places after them.
    far = 30.0 * np.arange(1, 6)[:, np.newaxis] * np.ones(3)
    X = np.random.default_rng(0).normal(size=(600, 3))
    options = {**OPTIONS, "forgetting": 0.97, "budget": 12, "tolerance": 1e-3}
    model = published(KRLSRegressor, **options).fit(far, np.full(5, 100.0))
    for row in X:
        model.learn_one(row, 0.1)
        K = gaussian(0.5)(model.centers_, model.centers_)
        variances = np.square(model._learner.covariance_factor() @ K).sum(axis=0)
        assert variances.max() < 2.1 / 0.3
    assert (model.centers_[:, 0] > 20.0).sum() == 5


def test_blocks_equal_rows_and_files_go_on(tmp_path):
    X, y = stream(300)
    options = {**OPTIONS, "forgetting": 0.99, "budget": 20}
    whole = published(KRLSRegressor, **options).partial_fit(X, y)
    rows = published(KRLSRegressor, **options)
    for i in range(300):
        rows.partial_fit(X[i : i + 1], y[i : i + 1])
    half = published(KRLSRegressor, **options).partial_fit(X[:150], y[:150])
    half.save(tmp_path / "half.parsimon")
    resumed = parsimon.load(tmp_path / "half.parsimon").partial_fit(X[150:], y[150:])
    for other in (rows, resumed):
        np.testing.assert_array_equal(other.predict(X), whole.predict(X))
    assert whole.n_centers_ == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "norm"}, "ridge must be finite and >= 1e-20"),
        ({"penalty": "norm", "ridge": 1.0, "admission": "coherence"}, "unknown penalty .norm."),
        ({"penalty": "other"}, "penalty"),
    ],
)
def test_errors(options, message):
    X, y = stream(10)
    with pytest.raises(ValueError, match=message):
        published(KRLSRegressor, gamma=1.0, **options).fit(X, y)
