"""Embedding, levels in dB, learning curves and size sweeps, against plain computations."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import SGDRegressor

from parsimon import KNLMSRegressor, KRLSRegressor, datasets, plots, published
from parsimon.evaluation import (
    LearningCurve,
    convergence_time,
    decibels,
    learning_curve,
    size_sweep,
    steady_state,
)
from parsimon.preprocessing import embed


def wiener(seed):
    return datasets.make_wiener(300, random_state=seed)


@pytest.mark.parametrize(("lags", "horizon"), [(3, 1), (1, 1), (4, 5), ([0, 3, 1], 2)])
def test_embedding_takes_the_values_that_the_equation_names(lags, horizon):
    s = np.random.default_rng(0).normal(size=30)
    X, y = embed(s, lags, horizon)
    back = range(lags) if isinstance(lags, int) else lags
    first = max(back)
    assert len(X) == len(y) == 30 - first - horizon
    for i, t in enumerate(range(first, 30 - horizon)):
        assert X[i].tolist() == [s[t - k] for k in back]
        assert y[i] == s[t + horizon]


def test_embedding_gives_a_column_for_each_step_and_takes_another_target():
    s, d = np.arange(10.0), np.arange(10.0) * 10
    X, Y = embed(s, 2, [1, 3])
    assert Y.tolist() == [[t + 1.0, t + 3.0] for t in range(1, 7)]
    X, y = embed(s, 3, 0, target=d)
    np.testing.assert_array_equal(y, 10 * X[:, 0])
    assert embed(s, 2, [1])[1].shape == (8, 1)
    y[:] = 0  # results are copies
    X[:] = 0
    assert s.tolist() == list(range(10)) and d[-1] == 90


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([1, 2, 3], 0), "lags must be >= 1"),
        (([1, 2, 3], []), "lags is empty"),
        (([1, 2, 3], [-1]), "lags must be >= 0"),
        (([1, 2, 3], 1, 0), "give a target"),
        (([1, 2, 3], 3), "has 3 values, but a sample needs 4"),
        (([1, 2, np.nan, 4], 1), "series has nan at place 2"),
        (([[1, 2], [3, 4]], 1), r"must have the shape \(n,\)"),
    ],
)
def test_what_cannot_be_embedded_is_said(arguments, said):
    with pytest.raises(ValueError, match=said):
        embed(*arguments)
    with pytest.raises(ValueError, match="target has 2 values, series has 3"):
        embed([1, 2, 3], 1, target=[1, 2])


def test_a_steady_state_is_the_mean_square_of_the_last_samples():
    errors = np.random.default_rng(0).normal(size=(4, 50))
    assert steady_state(errors) == pytest.approx(10 * np.log10((errors[:, -10:] ** 2).mean()))
    assert steady_state(errors[0], last=7) == pytest.approx(
        10 * np.log10((errors[0, -7:] ** 2).mean())
    )
    assert steady_state(np.zeros(5)) == -np.inf == decibels(0.0)


@pytest.mark.parametrize("window", [1, 5, 20])
def test_a_convergence_time_is_the_first_window_near_the_floor(window):
    rng = np.random.default_rng(1)
    errors = rng.normal(size=(30, 400)) * np.maximum(0.1, 0.97 ** np.arange(400))
    time = convergence_time(errors, 1.0, window=window)
    level = (errors[:, -80:] ** 2).mean() * 10**0.1
    means = [(errors[:, t - window : t] ** 2).mean() for t in range(window, 401)]
    assert time == window + next(i for i, mean in enumerate(means) if mean <= level)
    assert convergence_time(errors, 20.0, window=window) <= time
    assert convergence_time(errors, 0.0, floor=-60.0, window=window) is None


def test_bad_errors_are_named():
    errors = np.ones((2, 30))
    errors[1, 7] = np.nan
    for measure in (steady_state, convergence_time):
        with pytest.raises(ValueError, match="errors has nan in run 1 at sample 7"):
            measure(errors)
        with pytest.raises(ValueError, match="not be empty"):
            measure([])
    with pytest.raises(ValueError, match="last must be <= 30"):
        steady_state(np.ones(30), last=31)
    with pytest.raises(ValueError, match="window must be <= 5"):
        convergence_time(np.ones(5))


def test_a_learning_curve_is_the_mean_over_runs_of_a_plain_loop():
    model = published(KNLMSRegressor, gamma=0.1)
    curve = learning_curve(model, wiener, 3, window=10, seed=5)
    errors = []
    for seed in (5, 6, 7):
        fresh = published(KNLMSRegressor, gamma=0.1)
        X, d = wiener(seed)
        predictions = [0.0]
        fresh.learn_one(X[0], d[0])
        for x, target in zip(X[1:], d[1:], strict=True):
            predictions.append(fresh.predict_one(x))
            fresh.learn_one(x, target)
        errors.append(d - np.array(predictions))
    np.testing.assert_array_equal(curve.errors, errors)
    squares = np.square(errors)
    runs = np.array([[row[t - 10 : t].mean() for t in range(10, 301)] for row in squares])
    np.testing.assert_allclose(curve.mean, 10 * np.log10(runs.mean(axis=0)), atol=1e-12)
    half = stats.t.ppf(0.975, 2) * stats.sem(runs, axis=0) / runs.mean(axis=0) * 10 / np.log(10)
    np.testing.assert_allclose(curve.band[:, 1] - curve.mean, half, rtol=1e-9)
    np.testing.assert_allclose(curve.mean - curve.band[:, 0], half, rtol=1e-9)
    assert curve.samples[[0, -1]].tolist() == [10, 300]
    assert not hasattr(model, "n_centers_")  # it is cloned
    assert curve.steady_state() == steady_state(errors)
    assert curve.convergence_time(2.0) == convergence_time(errors, 2.0, window=10)


def test_the_band_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        low, high = LearningCurve(rng.normal(size=(30, 20)), np.full(30, np.nan)).band[0]
        covered.append(low <= 0.0 <= high)  # the mean square is 1
    assert 0.91 < np.mean(covered) < 0.98


def test_errors_can_be_measured_against_targets_without_noise():
    def stream(seed):
        return (*wiener(seed), datasets.make_wiener(300, snr=None, random_state=seed)[1])

    model = KRLSRegressor("gaussian", gamma=0.1)
    noisy, clean = learning_curve(model, wiener, 2), learning_curve(model, stream, 2)
    _, d, truth = stream(0)
    np.testing.assert_allclose(noisy.errors[0] - clean.errors[0], d - truth, atol=1e-12)


def test_models_of_others_and_functions_that_make_models():
    from river.linear_model import LinearRegression

    from parsimon import river as ours

    whole = learning_curve(SGDRegressor(random_state=0), wiener, 2)
    made = learning_curve(lambda: SGDRegressor(random_state=0), wiener, 2)
    np.testing.assert_array_equal(whole.errors, made.errors)
    assert np.isnan(whole.centers).all() and whole.errors[0, 0] == wiener(0)[1][0]
    assert learning_curve(ours.KNLMSRegressor, wiener, 1).errors.shape == (1, 300)
    theirs = learning_curve(LinearRegression(), wiener, 2)
    assert theirs.errors.shape == (2, 300) and theirs.steady_state() < -5
    with pytest.raises(TypeError, match="a function that makes one, got 3"):
        learning_curve(3, wiener)


def test_streams_that_do_not_fit_are_said():
    model = published(KNLMSRegressor, gamma=0.1)
    with pytest.raises(TypeError, match=r"must return \(X, y\)"):
        learning_curve(model, lambda seed: wiener(seed)[0], 1)
    with pytest.raises(ValueError, match="300 samples for one seed and 301 for another"):
        learning_curve(model, lambda s: datasets.make_wiener(300 + s, random_state=s), 2)
    with pytest.raises(ValueError, match="window=301, but a run has only 300"):
        learning_curve(model, wiener, 1, window=301)
    with pytest.raises(ValueError, match=r"make_stream\(0\) returned X of shape \(300, 5\)"):
        learning_curve(model, lambda seed: (wiener(seed)[0], np.zeros(3)), 1)
    with pytest.raises(ValueError, match="predicts nan at sample 1 of seed 0: it diverges"):
        learning_curve(Diverging(), wiener, 1)


class Diverging:
    def get_params(self, deep=True):
        return {}

    def predict_then_learn(self, X, y):
        return np.full(len(y), np.nan)


def test_one_run_has_no_band(tmp_path):
    curve = learning_curve(published(KNLMSRegressor, gamma=0.1), wiener, 1)
    assert np.isnan(curve.band).all() and np.isfinite(curve.mean).all()
    assert curve.plot(tmp_path / "one.png").stat().st_size > 1000


def test_a_size_sweep_is_a_learning_curve_for_each_value(tmp_path):
    model = KRLSRegressor("gaussian", gamma=0.1)
    sweep = size_sweep(model, "budget", [5, 20], wiener, 3)
    for i, budget in enumerate((5, 20)):
        curve = learning_curve(KRLSRegressor("gaussian", gamma=0.1, budget=budget), wiener, 3)
        assert sweep.mean[i] == pytest.approx(curve.steady_state())
        assert sweep.sizes[i] == curve.centers.mean() == budget
    assert (sweep.band[:, 0] < sweep.mean).all() and (sweep.mean < sweep.band[:, 1]).all()
    assert model.budget == 500
    assert sweep.plot(tmp_path / "sizes.svg").stat().st_size > 1000
    with pytest.raises(ValueError, match=r"KRLSRegressor has no parameter 'size'; it has .*budget"):
        size_sweep(model, "size", [1], wiener)
    with pytest.raises(ValueError, match="values is empty"):
        size_sweep(model, "budget", [], wiener)
    with pytest.raises(TypeError, match="must be an estimator"):
        size_sweep(KRLSRegressor, "budget", [5], wiener)


def test_curves_are_drawn_in_panels(tmp_path):
    curve = LearningCurve(np.full((2, 50), 0.1), np.array([3.0, 3.0]))
    silent = LearningCurve(np.zeros((2, 50)), np.array([3.0, 3.0]))  # minus infinity dB
    picture = plots.decibel_curves(
        tmp_path / "both.png",
        {"a": curve, "b $x$": silent},
        groups={"first": ["a"], "second": ["b $x$"]},
        marks={"switch": 30},
    )
    assert picture.stat().st_size > 1000
    for draw in (plots.decibel_curves, plots.error_against_size):
        with pytest.raises(ValueError, match="nothing to draw"):
            draw(tmp_path / "none.png", {})
