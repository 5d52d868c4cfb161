"""Kernel recursive least squares with the penalty ridge ||f||^2."""

import numpy as np
import pytest
from dense import gaussian

import parsimon
from parsimon import KRLSRegressor

OPTIONS = {"gamma": 0.5, "ridge": 0.3, "penalty": "norm"}


def stream(n=80, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=n)


def test_equals_kernel_ridge_regression_when_all_samples_are_centres():
    X, y = stream()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    model = KRLSRegressor(**OPTIONS, tolerance=1e-9).fit(X, y, weights)
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
    model = KRLSRegressor(**OPTIONS, tolerance=1e-6).fit(X[rows], targets)
    assert model.n_centers_ == 30
    K = gaussian(0.5)(X, X)
    H = K[rows]
    dense = np.linalg.solve(H.T @ H + 0.3 * K, H.T @ targets)
    np.testing.assert_allclose(model.predict(X), K @ dense, rtol=0, atol=1e-9)


def test_does_not_fit_the_noise_of_admitted_samples():
    X = np.random.default_rng(3).normal(size=(400, 5))
    noise = np.random.default_rng(4).normal(size=400)
    values, norm = (
        KRLSRegressor(gamma=0.5, tolerance=1e-3, ridge=1.0, penalty=penalty).fit(X, noise)
        for penalty in ("values", "norm")
    )
    new = np.random.default_rng(5).normal(size=(400, 5))
    assert np.square(norm.predict(new)).mean() < 0.5 * np.square(values.predict(new)).mean()


def test_forgetting_returns_to_the_prior_variance_where_nothing_arrives():
    X, y = stream(20)
    model = KRLSRegressor(**OPTIONS, forgetting=0.9, tolerance=1e-9).fit(X, y)
    before = model.predict(X)
    far = np.full((500, 3), 50.0)
    model.partial_fit(far, np.zeros(500))
    np.testing.assert_allclose(model.predict(X), before, atol=1e-6)
    factor = model._learner.covariance_factor()
    K = gaussian(0.5)(model.centers_, model.centers_)
    variances = np.square(factor @ K).sum(axis=0)
    assert variances.max() < 2.0 / 0.3 and variances[:20].min() > 0.4 / 0.3


def test_blocks_equal_rows_and_files_go_on(tmp_path):
    X, y = stream(300)
    options = {**OPTIONS, "forgetting": 0.99, "budget": 20}
    whole = KRLSRegressor(**options).partial_fit(X, y)
    rows = KRLSRegressor(**options)
    for i in range(300):
        rows.partial_fit(X[i : i + 1], y[i : i + 1])
    half = KRLSRegressor(**options).partial_fit(X[:150], y[:150])
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
        KRLSRegressor(gamma=1.0, **options).fit(X, y)
