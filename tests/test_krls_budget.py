"""Kernel recursive least squares at its budget, with eviction "project"."""

from pathlib import Path

import numpy as np
import oracle
import pytest

import parsimon
from parsimon import KRLSRegressor, kernels, published

GAUSSIAN = kernels.Gaussian(1.0)
GOLDEN = Path(__file__).parent / "golden" / "record"


def stream(n, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    Y = np.stack([np.sin(2 * X[:, 0]) * X[:, 1], np.cos(X).sum(axis=1)], axis=1)
    return X, (Y + 0.1 * rng.normal(size=Y.shape))[:, :outputs]


def chaos(n=3000):
    """The logistic map, seen through four lags with some noise."""
    x, values = 0.3, []
    for _ in range(n + 4):
        x = 3.9 * x * (1 - x)
        values.append(x)
    series = 4 * np.array(values) - 2
    X = np.lib.stride_tricks.sliding_window_view(series, 4)[:n]
    return X + 0.05 * np.random.default_rng(0).normal(size=X.shape), series[4:]


@pytest.mark.parametrize("forgetting", [1.0, 0.999])
@pytest.mark.parametrize(
    ("penalty", "ridge"), [("values", 0.0), ("values", 0.1), ("norm", 0.01), ("norm", 1.0)]
)
def test_trajectory_equals_the_oracle(penalty, ridge, forgetting):
    X, Y = stream(600)
    weights = np.random.default_rng(1).choice([0.0, 0.3, 1.0, 4.0], size=len(X))
    rule = {"ridge": ridge, "penalty": penalty, "forgetting": forgetting, "budget": 12}
    expected, centres, w = oracle.krls_budget(GAUSSIAN, X, Y, 1e-3, weights=weights, **rule)
    model = published(KRLSRegressor, GAUSSIAN, tolerance=1e-3, eviction="project", **rule)
    ours = model.predict_then_learn(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(model.centers_, centres)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.weights_, w, rtol=0, atol=1e-6)
    assert (model.centers_[:, None] == X[:20]).all(axis=2).any(axis=1).sum() < 12


@pytest.mark.parametrize(
    ("options", "decibels"), [({}, 2.0), ({"penalty": "norm", "ridge": 0.01}, 1.0)]
)
def test_the_tolerance_matters_little(options, decibels):
    X, y = chaos()

    def error(tolerance, eviction):
        model = published(
            KRLSRegressor, GAUSSIAN, tolerance=tolerance, budget=30, eviction=eviction, **options
        )
        return np.square(model.predict_then_learn(X, y) - y)[-1000:].mean()

    errors = [error(tolerance, "project") for tolerance in (1e-2, 1e-3, 1e-4)]
    assert max(errors) < 10 ** (decibels / 10) * min(errors)
    assert max(errors) < 0.8 * error(1e-4, "refit")


def test_below_the_budget_nothing_is_different():
    X, Y = stream(300)
    options = {"tolerance": 1e-2, "ridge": 0.1, "penalty": "norm", "forgetting": 0.99}
    expected = published(KRLSRegressor, GAUSSIAN, **options).fit(X, Y)
    for budget in (None, 500):
        model = published(
            KRLSRegressor, GAUSSIAN, **options, budget=budget, eviction="project"
        ).fit(X, Y)
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("options", [{}, {"penalty": "norm", "ridge": 0.1}])
def test_blocks_equal_rows_and_files_go_on(options, tmp_path):
    X, Y = stream(400)
    options = {**options, "tolerance": 1e-3, "forgetting": 0.99, "budget": 15}
    made = [published(KRLSRegressor, GAUSSIAN, **options, eviction="project") for _ in range(3)]
    whole = made[0].partial_fit(X, Y)
    for i in range(len(X)):
        made[1].partial_fit(X[i : i + 1], Y[i : i + 1])
    made[2].partial_fit(X[:200], Y[:200]).save(tmp_path / "half.parsimon")
    resumed = parsimon.load(tmp_path / "half.parsimon").partial_fit(X[200:], Y[200:])
    assert whole.n_centers_ == 15
    for other in (made[1], resumed):
        np.testing.assert_array_equal(other.centers_, whole.centers_)
        np.testing.assert_array_equal(other.weights_, whole.weights_)
        np.testing.assert_array_equal(
            other._learner.covariance_factor(), whole._learner.covariance_factor()
        )


def test_files_of_earlier_versions_keep_their_rule():
    model = parsimon.load(GOLDEN / "krls-ald-budget.parsimon")
    assert model.eviction == "refit"


def test_the_covariance_stays_sound_over_many_evictions():
    X, Y = stream(20000, outputs=1)
    model = published(
        KRLSRegressor,
        GAUSSIAN,
        tolerance=1e-4,
        ridge=0.01,
        penalty="norm",
        forgetting=0.98,
        budget=20,
        eviction="project",
    ).fit(X, Y[:, 0])
    R = model._learner.covariance_factor()
    K = GAUSSIAN(model.centers_)
    assert np.isfinite(R).all() and (np.diag(R) > 0).all()
    # Forgetting goes back to the prior variance and not beyond.
    assert np.square(R @ K).sum(axis=0).max() < 2.1 / 0.01
    assert model.score(X[-500:], Y[-500:, 0]) > 0.9


def test_errors():
    X, Y = stream(10)
    with pytest.raises(ValueError, match=r"unknown eviction 'other'; known are 'refit', 'project'"):
        published(KRLSRegressor, GAUSSIAN, eviction="other").fit(X, Y)
    with pytest.raises(ValueError, match="unknown eviction 'project'; known are 'refit'"):
        published(KRLSRegressor, GAUSSIAN, admission="coherence", eviction="project", budget=5).fit(
            X, Y
        )
