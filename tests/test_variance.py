"""Standard deviations of predictions, against dense linear models."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from parsimon import KRLSRegressor, load, merge
from parsimon.kernels import Gaussian

RIDGE = 0.3


def repeated_points(n: int = 400, m: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Samples at m different points, so that all are in the span of the centres."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, size=(m, 2))
    X = points[np.concatenate([np.arange(m), rng.integers(m, size=n - m)])]
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


def stream(n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


def model(**parameters: object) -> KRLSRegressor:
    given = {
        "kernel": Gaussian(1.0),
        "tolerance": 1e-5,
        "ridge": RIDGE,
        "budget": None,
        "fit_intercept": False,
    }
    return KRLSRegressor(**{**given, **parameters})


@pytest.mark.parametrize("penalty", ["values", "norm"])
@pytest.mark.parametrize("weighted", [False, True])
def test_std_is_that_of_a_dense_bayesian_linear_model(penalty: str, weighted: bool) -> None:
    X, y = repeated_points()
    weights = np.random.default_rng(2).uniform(0.5, 2, size=len(X)) if weighted else None
    fitted = model(penalty=penalty).partial_fit(X, y, weights)
    K, H = Gaussian(1.0)(fitted.centers_), Gaussian(1.0)(X, fitted.centers_)
    prior = RIDGE * (K @ K if penalty == "values" else K)
    v = np.ones(len(X)) if weights is None else weights
    P = np.linalg.inv(prior + H.T @ (v[:, None] * H))
    test = np.random.default_rng(3).uniform(-3, 3, size=(50, 2))
    h = Gaussian(1.0)(test, fitted.centers_)
    relative = 1 + np.sum((h @ P) * h, axis=1)
    if penalty == "norm":  # the process also varies outside the span
        relative += (1 - np.sum(np.linalg.solve(K, h.T).T * h, axis=1)) / RIDGE
    _, std = fitted.predict(test, return_std=True)
    np.testing.assert_allclose(std, np.sqrt(fitted.noise_ * relative), rtol=1e-6)


def test_std_of_kernel_rows() -> None:
    X, y = stream()
    fitted = model(admission="coherence", coherence=0.6).partial_fit(X, y)
    H = np.zeros((len(X), fitted.n_centers_))
    admitted = [int(np.flatnonzero((c == X).all(axis=1))[0]) for c in fitted.centers_]
    full = Gaussian(1.0)(X, fitted.centers_)
    for t in range(len(X)):  # a centre that came later counts as 0
        known = [j for j, row in enumerate(admitted) if row <= t]
        H[t, known] = full[t, known]
    P = np.linalg.inv(RIDGE * np.eye(H.shape[1]) + H.T @ H)
    h = Gaussian(1.0)(X[:40] + 0.1, fitted.centers_)
    _, std = fitted.predict(X[:40] + 0.1, return_std=True)
    expected = np.sqrt(fitted.noise_ * (1 + np.sum((h @ P) * h, axis=1)))
    np.testing.assert_allclose(std, expected, rtol=1e-6)


def test_std_is_that_of_a_gaussian_process() -> None:
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    X, y = stream(60)
    fitted = model(penalty="norm", tolerance=1e-9).partial_fit(X, y)
    assert fitted.n_centers_ == len(X)
    kernel = gaussian_process.kernels.RBF(np.sqrt(0.5))
    dense = gaussian_process.GaussianProcessRegressor(kernel, alpha=RIDGE, optimizer=None).fit(X, y)
    test = np.random.default_rng(3).uniform(-3, 3, size=(50, 2))
    mean, deviation = dense.predict(test, return_std=True)
    found, std = fitted.predict(test, return_std=True)
    np.testing.assert_allclose(found, mean, atol=1e-6)
    # The noise of the process is RIDGE times its power, and our unit is the noise.
    expected = np.sqrt(fitted.noise_ * (1 + np.square(deviation) / RIDGE))
    np.testing.assert_allclose(std, expected, rtol=1e-6)


@pytest.mark.parametrize("penalty", ["values", "norm"])
@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("eviction", ["refit", "project"])
def test_block_equals_rows_and_predict(penalty: str, forgetting: float, eviction: str) -> None:
    X, y = stream(200)
    parameters = {"penalty": penalty, "forgetting": forgetting, "eviction": eviction}
    whole, by_row = (model(budget=20, fit_intercept=True, **parameters) for _ in range(2))
    P, S = whole.predict_then_learn(X, y, return_std=True)
    for i in range(len(X)):
        before = by_row.predict(X[i : i + 1], return_std=True) if i else None
        p, s = by_row.predict_then_learn(X[i : i + 1], y[i : i + 1], return_std=True)
        assert (p[0], s[0]) == (P[i], S[i])
        if before is not None:
            assert (before[0][0], before[1][0]) == (p[0], s[0])
    assert by_row.noise_ == whole.noise_


def test_noise_is_found_and_later_errors_count_more() -> None:
    X, y = stream(3000)
    fitted = KRLSRegressor("gaussian", gamma=1.0).partial_fit(X, 1000 + 5 * y)
    assert fitted.noise_ == pytest.approx(1.0, rel=0.15)
    _, std = fitted.predict([[0.0, 0.0], [50.0, 50.0]], return_std=True)
    assert 0.9 < std[0] < 1.2
    assert std[1] > 2 * std[0]  # far from all samples


def test_noise_is_a_mean_over_errors() -> None:
    X, y = repeated_points(60)
    fitted, errors = model(penalty="norm"), []
    for i in range(len(X)):
        if i == 0:
            prediction, relative = 0.0, 1 + 1 / RIDGE
        else:
            p, s = fitted.predict(X[i : i + 1], return_std=True)
            prediction, relative = p[0], s[0] ** 2 / fitted.noise_
        errors.append((y[i] - prediction) ** 2 / relative)
        fitted.partial_fit(X[i : i + 1], y[i : i + 1])
    mean = 0.0
    for t, error in enumerate(errors, start=1):
        mean += 3 / (t + 2) * (error - mean)
    assert fitted.noise_ == pytest.approx(mean, rel=1e-9)


def test_unknown_noise_is_infinite() -> None:
    fitted = model(ridge=0.0, penalty="values").partial_fit([[0.0, 0.0]], [1.0])
    assert fitted.noise_ == np.inf
    assert fitted.predict([[0.0, 0.0]], return_std=True)[1][0] == np.inf


def test_several_outputs() -> None:
    X, y = stream(300)
    Y = np.column_stack([y, 3 * y, y**2])
    fitted = model(penalty="norm", budget=30).partial_fit(X, Y)
    P, S = fitted.predict(X, return_std=True)
    assert P.shape == S.shape == (300, 3)
    assert fitted.noise_.shape == (3,)
    np.testing.assert_allclose(S[:, 1], 3 * S[:, 0], rtol=1e-9)
    alone = model(penalty="norm", budget=None).partial_fit(X, y)
    both = model(penalty="norm", budget=None).partial_fit(X, Y)
    np.testing.assert_allclose(
        both.predict(X, return_std=True)[1][:, 0], alone.predict(X, return_std=True)[1]
    )


def test_added_outputs_have_no_noise_yet() -> None:
    X, y = stream(100)
    fitted = model(penalty="norm").partial_fit(X, y[:, None]).add_outputs(1)
    assert fitted.noise_[1] == np.inf
    fitted.partial_fit(X, np.column_stack([y, y]))
    assert np.all(fitted.noise_ > 0)


def test_files_and_copies_keep_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    X, y = stream(300)
    fitted = model(penalty="norm", budget=30, forgetting=0.999).partial_fit(X[:150], y[:150])
    fitted.save(tmp_path / "model.parsimon")
    for other in (load(tmp_path / "model.parsimon"), copy.deepcopy(fitted)):
        assert other.noise_ == fitted.noise_
        going_on = copy.deepcopy(fitted)
        expected = going_on.predict_then_learn(X[150:], y[150:], return_std=True)
        found = other.predict_then_learn(X[150:], y[150:], return_std=True)
        np.testing.assert_array_equal(found, expected)


def test_merge_takes_the_mean_noise() -> None:
    X, y = stream(600)
    one, other = (
        model(penalty="norm").partial_fit(X[rows], y[rows])
        for rows in (slice(200), slice(200, None))
    )
    merged = merge([one, other]).model
    n_one, n_other = one.n_samples_seen_, other.n_samples_seen_
    expected = (n_one * one.noise_ + n_other * other.noise_) / (n_one + n_other)
    assert merged.noise_ == pytest.approx(expected, rel=1e-9)


def test_a_model_that_is_not_fitted_says_so() -> None:
    with pytest.raises(Exception, match="not fitted"):
        KRLSRegressor().predict([[0.0]], return_std=True)
