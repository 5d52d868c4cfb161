"""Weights of samples and of classes."""

import pickle

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

import parsimon
from parsimon import (
    SOGSVC,
    SOGSVR,
    BSGDClassifier,
    EXKRLSRegressor,
    FBKRLSRegressor,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    KRLSTRegressor,
    NORMARegressor,
    POLKClassifier,
    POLKRegressor,
    SPLRegressor,
    SWKRLSRegressor,
    published,
)
from parsimon.datasets import make_multidist

CLASSIFIERS = (BSGDClassifier, POLKClassifier, SOGSVC)
REGRESSORS = (
    EXKRLSRegressor,
    FBKRLSRegressor,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    KRLSTRegressor,
    NORMARegressor,
    POLKRegressor,
    SOGSVR,
    SPLRegressor,
    SWKRLSRegressor,
)


def stream(n=300):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    return (
        X,
        np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n),
        rng.choice([0.0, 0.25, 0.5, 1.0], size=n),
    )


@pytest.mark.parametrize(
    ("make", "weighted", "plain"),
    [
        (
            KLMSRegressor,
            dict(step_size=0.2, quantization=0.2),
            dict(step_size=0.4, quantization=0.2),
        ),
        (NORMARegressor, dict(step_size=0.2, alpha=0.02), dict(step_size=0.4, alpha=0.01)),
        (SPLRegressor, dict(step_size=0.2), dict(step_size=0.4)),
        (
            SPLRegressor,
            dict(step_size=0.2, admission="coherence"),
            dict(step_size=0.4, admission="coherence"),
        ),
    ],
)
def test_a_weight_is_a_factor_on_the_gradient(make, weighted, plain):
    X, y, _ = stream()
    double = published(make, gamma=1.0, **weighted).fit(X, y, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_allclose(
        double.predict(X), published(make, gamma=1.0, **plain).fit(X, y).predict(X), atol=1e-10
    )


@pytest.mark.parametrize("make", REGRESSORS)
def test_a_weight_of_zero_changes_nothing(make):
    X, y, weights = stream()
    options = {
        name: 0.0 for name in ("alpha", "parsimony") if name in published(make).get_params()
    }  # each step shrinks, and removes
    model = published(make, gamma=1.0, **options).fit(X, y, sample_weight=weights)
    only = published(make, gamma=1.0, **options).fit(
        X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0]
    )
    np.testing.assert_array_equal(model.centers_, only.centers_)
    np.testing.assert_array_equal(model.weights_, only.weights_)


@pytest.mark.parametrize("make", (*REGRESSORS, *CLASSIFIERS))
def test_one_sample_with_a_weight_is_a_block_of_one(make):
    X, y, weights = stream(100)
    if make in CLASSIFIERS:
        y = (y > 0).astype(int)
    block, single = published(make, gamma=1.0), published(make, gamma=1.0)
    block.partial_fit(X, y, sample_weight=weights)
    for x, target, weight in zip(X, y, weights, strict=True):
        single.learn_one(x, target, sample_weight=weight)
    assert pickle.dumps(block.__getstate__()["_learned"]) == pickle.dumps(
        single.__getstate__()["_learned"]
    )
    before = pickle.dumps(single)
    for bad, error in (
        (-1.0, ValueError),
        (np.nan, ValueError),
        ("1", TypeError),
        (1e300, ValueError),
    ):
        with pytest.raises(error, match="sample_weight"):
            single.learn_one(X[0], y[0], sample_weight=bad)
    assert pickle.dumps(single) == before


def test_rounding_of_a_large_weight_does_not_spoil_the_file(tmp_path):
    # The mean of the targets becomes the last target, but for rounding.
    model = SWKRLSRegressor(budget=None, gamma=1.0)
    model.fit([[0.0], [3.0]], [-0.05, 0.17], sample_weight=[1.0, 1e20])
    model.save(tmp_path / "model.parsimon")
    again = parsimon.load(tmp_path / "model.parsimon")
    assert np.array_equal(again.predict([[0.0]]), model.predict([[0.0]]))


def test_weights_that_would_diverge_are_refused_by_row():
    X, y, _ = stream(3)
    for make in (KLMSRegressor, NORMARegressor, SPLRegressor):
        model = published(make, gamma=1.0, step_size=0.5, step="explicit").fit(X, y)
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=r"sample_weight is 4 at row 2: .* = 4"):
            model.partial_fit(X, y, sample_weight=[1.0, 3.9, 4.0])
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_class_weights_are_factors_on_sample_weights(make):
    X, y = make_multidist(200, random_state=0)
    labels = np.array(["a", "b", "c", "d", "e"])[y]
    weights = np.random.default_rng(1).uniform(0.5, 1.5, size=200)
    factors = {"b": 0.5, "d": 2.0, "unheard": 7.0}
    model = published(make, gamma=1.0, class_weight=factors, random_state=0).fit(
        X, labels, sample_weight=weights
    )
    each = weights * np.select([labels == "b", labels == "d"], [0.5, 2.0], 1.0)
    same = published(make, gamma=1.0, random_state=0).fit(X, labels, sample_weight=each)
    np.testing.assert_array_equal(model.weights_, same.weights_)

    one, block = (
        published(make, gamma=1.0, class_weight=factors),
        published(make, gamma=1.0, class_weight=factors),
    )
    for x, label in zip(X, labels.tolist(), strict=True):
        one.learn_one(x, label)
    np.testing.assert_array_equal(one.weights_, block.partial_fit(X, labels).weights_)
    np.testing.assert_array_equal(
        one.weights_,
        published(make, gamma=1.0).partial_fit(X, labels, None, each / weights).weights_,
    )


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_balanced_class_weights_are_measured_by_fit_and_kept(make, tmp_path):
    X, y = make_multidist(300, random_state=0)
    rows = (y != 2) | (np.arange(300) % 5 == 0)
    X, y = X[rows], y[rows]
    each = compute_class_weight("balanced", classes=np.arange(5), y=y)
    model = published(make, gamma=1.0, class_weight="balanced", random_state=0).fit(X, y)
    given = published(make, gamma=1.0, class_weight=dict(enumerate(each)), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.weights_, given.weights_)
    model.save(tmp_path / "model.parsimon")
    again = parsimon.load(tmp_path / "model.parsimon")
    np.testing.assert_array_equal(
        again.partial_fit(X, y).weights_, given.partial_fit(X, y).weights_
    )
    fresh = published(make, class_weight="balanced")
    with pytest.raises(ValueError, match="only fit has"):
        fresh.partial_fit(X, y)
    assert not hasattr(fresh, "classes_")


def test_a_rare_class_is_found_more_often_with_balanced_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)) + np.where(np.arange(4000) % 20 == 0, 1.5, 0.0)[:, np.newaxis]
    y = np.arange(4000) % 20 == 0
    for make in CLASSIFIERS:
        plain, balanced = (
            published(make, gamma=0.5, class_weight=w, random_state=0).fit(X, y)
            for w in (None, "balanced")
        )
        found = [np.mean(model.predict(X)[y]) for model in (plain, balanced)]
        assert found[1] > found[0] + 0.1, make


@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [
        ({"a": -1.0}, ValueError, r"class_weight\['a'\] must be finite and >= 0, got -1.0"),
        ({"a": np.nan}, ValueError, "finite"),
        ({"a": "heavy"}, TypeError, "must be a number"),
        ("even", ValueError, "known are 'balanced'"),
        (3, TypeError, "must be a dict"),
    ],
)
@pytest.mark.parametrize("make", CLASSIFIERS)
def test_bad_class_weights_are_refused(make, bad, error, match):
    model = published(make, class_weight=bad)
    with pytest.raises(error, match=match):
        model.fit([[0.0], [1.0]], ["a", "b"])
    assert not hasattr(model, "classes_")
