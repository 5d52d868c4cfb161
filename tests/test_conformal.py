"""Prediction intervals and sets of labels on streams."""

from __future__ import annotations

import copy
from collections import deque

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDRegressor

from parsimon import (
    SOGSVC,
    ConformalClassifier,
    ConformalRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    MixtureClassifier,
    MixtureRegressor,
    POLKClassifier,
    load,
)
from parsimon.conformal import Calibrator, Intervals
from parsimon.conformal.spread import Spread


def numbers(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * np.exp(X[:, 2]) * rng.normal(size=n)
    return X, y


def labels(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-0.5, 0.5])]
    return X, y


def covered(intervals, y):
    return (intervals[..., 0] <= y) & (y <= intervals[..., 1])


# The calibrator


def plain_widths(scores, coverage, window, rate, missed=None):
    """Adaptive conformal inference, as in the docstring."""
    kept, a, widths = deque(maxlen=window), 1 - coverage, []
    for i, score in enumerate(scores):
        width = np.inf
        if kept:
            place = int(np.ceil((1 - a) * (len(kept) + 1)))
            ordered = sorted(kept)
            if place > len(kept):
                width = ordered[-1] * (1 + max(0.0, -a) / (1 - coverage))
            else:
                width = ordered[max(place, 1) - 1]
        widths.append(width)
        if np.isnan(score):
            continue
        miss = score > width if missed is None or np.isnan(missed[i]) else missed[i]
        a = np.clip(a + rate * (1 - coverage - miss), -100 * (1 - coverage), 1.0)
        kept.append(score)
    return np.array(widths)


@pytest.mark.parametrize("window", [1, 7, 500])
@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
def test_calibrator_equals_its_definition(window, coverage):
    rng = np.random.default_rng(1)
    scores = np.abs(rng.standard_t(3, size=1500)) * np.where(np.arange(1500) < 700, 1, 4)
    scores[rng.random(1500) < 0.05] = np.nan
    scores[100:150] = 1.0  # equal scores
    missed = np.where(rng.random(1500) < 0.2, rng.random(1500) < 0.3, np.nan)
    for given in (None, missed):
        found = Calibrator(coverage, window, 0.02).run(scores, given)
        np.testing.assert_allclose(found, plain_widths(scores, coverage, window, 0.02, given))


def test_calibrator_blocks_equal_rows():
    scores = np.abs(np.random.default_rng(2).normal(size=400))
    whole, rows = Calibrator(0.8, 50), Calibrator(0.8, 50)
    found = whole.run(scores)
    for i, score in enumerate(scores):
        assert rows.width == found[i]
        assert rows.run(np.array([score]))[0] == found[i]
    np.testing.assert_array_equal(rows.state, whole.state)
    assert whole.recent_coverage == pytest.approx(np.mean((scores <= found)[-50:]))


@pytest.mark.parametrize(
    ("name", "value"),
    [("coverage", 0.0), ("coverage", 1.0), ("window", 0), ("rate", -0.1), ("highest", 2.0)],
)
def test_calibrator_refuses_bad_parameters(name, value):
    with pytest.raises(ValueError, match=name):
        Calibrator(**{name: value})


# Coverage


@pytest.mark.parametrize("model", [KRLSRegressor(budget=100), MixtureRegressor()])
def test_coverage_and_width_where_noise_depends_on_x(model):
    X, y = numbers(4000)
    widths = {}
    for spread in ("learned", "constant"):
        intervals = ConformalRegressor(model, spread=spread).predict_interval_then_learn(X, y)
        assert covered(intervals, y).mean() == pytest.approx(0.9, abs=0.01)
        for first in range(1000, 4000, 1000):
            inside = covered(intervals, y)[first : first + 1000]
            assert inside.mean() == pytest.approx(0.9, abs=0.04)
        widths[spread] = np.diff(intervals[2000:], axis=1).mean()
    assert widths["learned"] < 0.9 * widths["constant"]


def test_coverage_follows_a_change():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4000, 2))
    y = X[:, 0] + np.where(np.arange(4000) < 2000, 0.2, 0.6) * rng.normal(size=4000)
    model = ConformalRegressor(KRLSRegressor(budget=50))
    inside = covered(model.predict_interval_then_learn(X, y), y)
    assert inside.mean() == pytest.approx(0.9, abs=0.01)
    assert inside[2000:3000].mean() == pytest.approx(0.9, abs=0.08)
    assert inside[3000:].mean() == pytest.approx(0.9, abs=0.04)
    assert model.coverage_ == pytest.approx(inside[-500:].mean())


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_cover(coverage):
    X, y = labels(4000)
    model = ConformalClassifier(MixtureClassifier(), coverage=coverage)
    sets = model.predict_set_then_learn(X, y)
    hit = sets[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    assert hit[500:].mean() == pytest.approx(coverage, abs=0.02)
    assert model.coverage_ == pytest.approx(hit[-500:].mean())
    assert 1.0 <= sets[500:].sum(axis=1).mean() < 2.5


def test_sets_hold_the_most_probable_label_and_grow_again():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 2))
    noise = np.where(np.arange(4000) < 2500, 0.0, 1.5)  # easy at first, so sets are small
    y = X[:, 0] + noise * rng.normal(size=4000) > 0
    model = ConformalClassifier(MixtureClassifier(), coverage=0.9)
    sets = model.predict_set_then_learn(X, y)
    assert (sets[1:].sum(axis=1) >= 1).all()
    assert sets[1000:2500].sum(axis=1).mean() < 1.05
    hit = sets[np.arange(len(y)), y.astype(int)]
    assert hit[3000:].mean() == pytest.approx(0.9, abs=0.04)


# Exactness


@pytest.mark.parametrize(
    "model", [KRLSRegressor(gamma=0.5, ridge=0.2, budget=30), MixtureRegressor(budget=400)]
)
@pytest.mark.parametrize("spread", ["learned", "model", "constant"])
def test_blocks_equal_rows_files_and_predict(model, spread, tmp_path):
    X, y = numbers(300)
    whole = ConformalRegressor(model, spread=spread)
    P, expected = whole.predict_interval_then_learn(X, y, return_predictions=True)
    cut = ConformalRegressor(model, spread=spread)
    at = 0
    for size in (1, 1, 2, 60, 37, 99, 100):
        rows = slice(at, at + size)
        # A mixture scales a row with its own features when it learns it.
        if at and isinstance(model, KRLSRegressor) and spread != "learned":
            np.testing.assert_array_equal(cut.predict_interval(X[at : at + 1])[0], expected[at])
        p, found = cut.predict_interval_then_learn(X[rows], y[rows], return_predictions=True)
        np.testing.assert_array_equal(found, expected[rows])
        np.testing.assert_array_equal(p, P[rows])
        at += size
        cut.save(tmp_path / "model.parsimon")
        cut = load(tmp_path / "model.parsimon") if size % 2 else copy.deepcopy(cut)
    np.testing.assert_array_equal(cut.predict_interval(X), whole.predict_interval(X))
    assert cut.coverage_ == whole.coverage_


def test_classifier_blocks_equal_rows_and_files(tmp_path):
    X, y = labels(400)
    whole = ConformalClassifier(POLKClassifier(gamma=0.5, budget=30))
    whole.partial_fit(X[:100], y[:100])
    cut = copy.deepcopy(whole)
    expected = whole.predict_set_then_learn(X[100:], y[100:])
    for i in range(100, 400, 75):
        rows = slice(i, i + 75)
        found = cut.predict_set_then_learn(X[rows], y[rows])
        np.testing.assert_array_equal(found, expected[i - 100 : i - 25])
        cut.save(tmp_path / "model.parsimon")
        cut = load(tmp_path / "model.parsimon")
    np.testing.assert_array_equal(cut.predict_set(X), whole.predict_set(X))


def test_the_model_is_the_same_as_without_intervals():
    X, y = numbers(500)
    alone = KRLSRegressor(gamma=0.5)
    alone.predict_then_learn(X, y)
    wrapped = ConformalRegressor(KRLSRegressor(gamma=0.5)).partial_fit(X, y)
    np.testing.assert_array_equal(wrapped.predict(X), alone.predict(X))


def test_several_outputs():
    X, y = numbers(1500)
    Y = np.column_stack([y, 10 * y, y**2])
    model = ConformalRegressor(KRLSRegressor(gamma=0.5, budget=60))
    intervals = model.predict_interval_then_learn(X, Y)
    assert intervals.shape == (1500, 3, 2)
    np.testing.assert_allclose(covered(intervals, Y)[200:].mean(axis=0), 0.9, atol=0.02)
    assert model.predict_interval(X[:5]).shape == (5, 3, 2)
    assert np.shape(model.coverage_) == (3,)


# Delayed targets, other models, errors


def test_delayed_targets_steer_by_the_intervals_that_were_given():
    X, y = numbers(3000)
    model = ConformalRegressor(KRLSRegressor(gamma=0.5, budget=60)).partial_fit(X[:500], y[:500])
    waiting, inside = deque(), []
    for first in range(500, 3000, 50):
        rows = slice(first, first + 50)
        waiting.append((rows, model.predict_interval(X[rows])))
        if len(waiting) > 4:  # targets arrive 200 rows later
            late, given = waiting.popleft()
            inside.append(covered(given, y[late]))
            model.partial_fit(X[late], y[late], intervals=given)
    assert np.concatenate(inside).mean() == pytest.approx(0.9, abs=0.02)
    assert model.coverage_ == pytest.approx(np.concatenate(inside)[-500:].mean())


def test_delayed_labels():
    X, y = labels(600)
    model = ConformalClassifier(MixtureClassifier()).partial_fit(X[:300], y[:300])
    given = model.predict_set(X[300:])
    before = model.coverage_
    model.partial_fit(X[300:], y[300:], sets=given)
    hit = given[np.arange(300), np.searchsorted(model.classes_, y[300:])]
    assert model.coverage_ != before
    expected = (hit.sum() + before * 300 - 0) / 600
    assert abs(model.coverage_ - expected) < 0.1


def test_other_models_learn_row_by_row():
    X, y = numbers(400)
    model = ConformalRegressor(SGDRegressor(random_state=0))
    intervals = model.predict_interval_then_learn(X, y)
    assert 0.85 < covered(intervals, y)[100:].mean() < 0.95
    assert model.predict_interval(X[:3]).shape == (3, 2)


def test_fit_shuffles_and_knows_names():
    pandas = pytest.importorskip("pandas")
    X, y = numbers(600)
    order = np.argsort(y)
    table = pandas.DataFrame(X[order], columns=["a", "b", "c"])
    model = ConformalRegressor(KRLSRegressor(budget=60)).fit(table, y[order])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert covered(model.predict_interval(table), y[order]).mean() > 0.85
    assert model.score(table, y[order]) > 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coverage": 1.5}, "coverage"),
        ({"spread": "wide"}, "unknown spread 'wide'"),
        ({"window": 0}, "window"),
        ({"rate": 2.0}, "rate"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_learned(parameters, message):
    X, y = numbers(20)
    model = ConformalRegressor(KRLSRegressor(), **parameters)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, y)
    assert not hasattr(model, "model_")


def test_bad_rows_change_nothing():
    X, y = numbers(100)
    model = ConformalRegressor(KRLSRegressor(gamma=0.5)).partial_fit(X, y)
    before = model.predict_interval(X)
    broken = y.copy()
    broken[7] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        model.partial_fit(X, broken)
    with pytest.raises(ValueError, match="intervals must have shape"):
        model.partial_fit(X, y, intervals=np.zeros((3, 2)))
    np.testing.assert_array_equal(model.predict_interval(X), before)


def test_changed_parameters_are_refused():
    X, y = numbers(100)
    model = ConformalRegressor(KRLSRegressor(gamma=0.5)).partial_fit(X, y)
    model.model.set_params(ridge=1.0)
    with pytest.raises(ValueError, match="call fit"):
        model.partial_fit(X, y)
    model.model.set_params(ridge=0.2)
    model.set_params(coverage=0.5)
    with pytest.raises(ValueError, match="coverage was"):
        model.partial_fit(X, y)


def test_not_fitted_and_no_probabilities():
    with pytest.raises(NotFittedError):
        ConformalRegressor(KRLSRegressor()).predict_interval([[0.0]])
    with pytest.raises(NotFittedError):
        ConformalClassifier(MixtureClassifier()).predict_set([[0.0]])
    X, y = labels(20)
    with pytest.raises(TypeError, match="no probabilities"):
        ConformalClassifier(SOGSVC()).partial_fit(X, y)


def test_extreme_numbers():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 2))
    for y in (np.zeros(300), np.full(300, 1e90), 1e-200 * rng.normal(size=300)):
        for model in (KNLMSRegressor(gamma=0.5), KRLSRegressor(gamma=0.5)):
            intervals = ConformalRegressor(model).predict_interval_then_learn(X, y)
            assert not np.isnan(intervals).any()
            assert covered(intervals, y)[50:].mean() > 0.5


def test_intervals_are_a_part_of_their_own():
    X, y = numbers(500)
    intervals = Intervals(0.9, spread="constant")
    found = intervals.run(X, np.zeros((500, 1)), y[:, np.newaxis])
    assert found.shape == (500, 1, 2)
    assert np.isinf(found[0]).all()
    assert intervals.nbytes > 0


def test_spread_finds_what_errors_depend_on():
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(3000, 4))
    sizes = np.abs(np.exp(Z[:, :1]) * rng.normal(size=(3000, 1)))
    scales = Spread().run(Z, sizes)
    assert np.corrcoef(np.log(scales[1500:, 0]), Z[1500:, 0])[0, 1] > 0.9


def test_the_first_error_is_in_no_unit_and_leaves_no_trace():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = 1000.0 + 50.0 * rng.normal(size=300)
    model = ConformalRegressor(MixtureRegressor())
    ends = model.predict_interval_then_learn(X, y)
    assert ends.shape == (300, 2)
    widths = (ends[:, 1] - ends[:, 0])[np.isfinite(ends).all(axis=1)]
    assert len(widths) > 290 and widths.max() < 50 * y.std()
    # Errors of 0, and then one that is not: the interval before has no width.
    zero = np.zeros((40, 1))
    intervals = Intervals(0.9)
    targets = np.where(np.arange(40) < 20, 0.0, 5.0)[:, np.newaxis]
    ends = intervals.run(zero, zero, targets)
    np.testing.assert_array_equal(ends[1:21, 0], np.zeros((20, 2)))
    rows = Intervals(0.9)
    single = [rows.run(zero[i : i + 1], zero[i : i + 1], targets[i : i + 1]) for i in range(40)]
    np.testing.assert_array_equal(np.concatenate(single), ends)
    assert intervals.calibrators[0].n_scores == 39
