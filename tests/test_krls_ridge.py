"""KRLS with a ridge that is estimated from the first block."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

import parsimon
from parsimon import KRLSRegressor, kernels, merge, persistence
from parsimon.distributed import fit
from parsimon.estimators.evidence import RATIOS, likely_ridge


def stream(n, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 5.0 + np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + noise * rng.normal(size=n)


def peer_likelihood(X, y, ratio):
    """scikit-learn's log likelihood of a process with noise, at its best amplitude."""
    process = GaussianProcessRegressor(
        Matern(length_scale=1.5, nu=1.5), alpha=ratio, optimizer=None
    )
    at_unit_variance = process.fit(X, y).log_marginal_likelihood_value_
    n, quadratic = len(y), float(y @ process.alpha_)
    # The likelihood as a function of the amplitude is known from the quadratic form.
    return at_unit_variance + 0.5 * quadratic - 0.5 * n * (1.0 + np.log(quadratic / n))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5, 3.0])
def test_it_is_the_most_likely_of_all_that_are_tried(noise):
    X, y = stream(120, noise)
    kernel = kernels.Matern32(gamma=0.5 / 1.5**2)
    np.testing.assert_allclose(kernel(X, X), Matern(length_scale=1.5, nu=1.5)(X), atol=1e-12)
    found = likely_ridge(kernel, X, y[:, np.newaxis], fit_intercept=True)
    likelihoods = [peer_likelihood(X, y - y.mean(), ratio) for ratio in RATIOS]
    assert found == pytest.approx(RATIOS[int(np.argmax(likelihoods))])


def test_noise_is_found_and_the_unit_of_the_targets_does_not_matter():
    found = []
    for noise in (0.02, 0.2, 1.0):
        X, y = stream(2000, noise)
        model = KRLSRegressor().fit(X, y)
        found.append(model.ridge_)
        assert KRLSRegressor().fit(X, 1e6 * y).ridge_ == model.ridge_
        assert KRLSRegressor(2.0 * kernels.Matern32(0.5)).fit(X, y).ridge_ == pytest.approx(
            2.0 * KRLSRegressor(kernels.Matern32(0.5)).fit(X, y).ridge_
        )
    assert found[0] < found[1] < found[2]


def test_noise_is_not_fitted():
    X, y = stream(600, 1.5)
    new, truth = stream(2000, 0.0, seed=1)

    def error(ridge):
        return np.mean((KRLSRegressor(ridge=ridge).fit(X, y).predict(new) - truth) ** 2)

    assert error("auto") < 0.8 * error(0.01)


def a_kernel(x, y):
    return np.exp(-np.square(x - y).sum())


@pytest.mark.parametrize(
    ("parameters", "n", "y"),
    [
        ({}, 29, None),
        ({}, 100, 0.0),
        ({}, 100, 7.5),
        ({"penalty": "values"}, 100, None),
        ({"admission": "coherence"}, 100, None),
        ({"kernel": a_kernel}, 100, None),
    ],
)
def test_where_it_cannot_be_estimated_it_is_the_usual_one(parameters, n, y):
    X, targets = stream(n)
    model = KRLSRegressor(**parameters).fit(X, targets if y is None else np.full(n, y))
    assert model.ridge_ == 0.2


def test_several_outputs_and_rows_without_weight():
    X, y = stream(200)
    both = KRLSRegressor().fit(X, np.column_stack([y, y]))
    assert both.ridge_ == KRLSRegressor().fit(X, y).ridge_
    weights = np.r_[np.ones(100), np.zeros(100)]
    wrong = np.r_[y[:100], np.full(100, 1e6)]
    assert (
        KRLSRegressor().fit(X, wrong, weights).ridge_
        == KRLSRegressor().fit(X[:100], y[:100]).ridge_
    )


def test_it_is_the_same_model_as_with_the_number_and_stays_in_files():
    X, y = stream(500)
    model = KRLSRegressor().fit(X[:300], y[:300])
    given = KRLSRegressor(ridge=model.ridge_).fit(X[:300], y[:300])
    again = persistence.loads(persistence.dumps(model))
    assert again.ridge == "auto" and again.ridge_ == model.ridge_ != 0.2
    for each in (model, given, again):
        each.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(model.weights_, given.weights_)
    np.testing.assert_array_equal(again.weights_, given.weights_)
    assert again.ridge_ == given.ridge_


def test_a_weight_is_a_factor_on_the_precision():
    X, y = stream(300)
    plain = KRLSRegressor(gamma=0.5).fit(X, y)
    for factor in (0.01, 100.0):
        weighted = KRLSRegressor(gamma=0.5).fit(X, y, np.full(300, factor))
        assert weighted.ridge_ == pytest.approx(factor * plain.ridge_)
        np.testing.assert_allclose(weighted.predict(X), plain.predict(X), rtol=1e-6)
    # A few samples of no use: their weights are tiny, and their targets are wrong.
    weights = np.where(np.arange(300) % 3, 1.0, 1e-6)
    wrong = np.where(np.arange(300) % 3, y, 100.0)
    ratio = KRLSRegressor(gamma=0.5).fit(X, wrong, weights).ridge_ / plain.ridge_
    assert 0.1 < ratio < 10


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_a_ridge_that_no_model_can_have_is_the_usual_one(scale):
    X, y = stream(100)
    assert KRLSRegressor("linear").fit(scale * X, y).ridge_ == 0.2


def test_values_that_cannot_be_used_are_named_by_their_row():
    X, y = stream(600)
    y[501] = np.nan
    with pytest.raises(ValueError, match="501"):
        KRLSRegressor().fit(X, y)
    X[501, 1], y[501] = 1e300, 0.0
    with pytest.raises(ValueError, match=r"row 501, column 1"):
        KRLSRegressor(kernels.SinglePrecision(kernels.Gaussian(0.5))).fit(X, y)


def test_after_the_first_block_a_block_equals_a_loop():
    X, y = stream(400)
    block, loop = (KRLSRegressor().partial_fit(X[:200], y[:200]) for _ in range(2))
    assert block.ridge_ == loop.ridge_ != 0.2
    block.partial_fit(X[200:], y[200:])
    for x, target in zip(X[200:], y[200:], strict=True):
        loop.learn_one(x, target)
    np.testing.assert_array_equal(block.weights_, loop.weights_)


@pytest.mark.parametrize("options", [{}, {"return_std": True}])
def test_no_prediction_depends_on_later_targets(options):
    X, y = stream(400)
    later = np.r_[y[:200], 30.0 * y[200:]]
    found = [
        np.array(KRLSRegressor().predict_then_learn(X, targets, **options))
        for targets in (y, later)
    ]
    np.testing.assert_array_equal(found[0][..., :201], found[1][..., :201])
    model = KRLSRegressor()
    model.predict_then_learn(X, y)
    assert model.ridge_ == 0.2
    model.fit(X, y)
    assert model.ridge_ != 0.2


def test_weights_that_are_refused_give_no_warning():
    X, y = stream(100)
    with np.errstate(all="raise"), pytest.raises(ValueError, match="sample_weight"):
        KRLSRegressor(gamma=0.5).fit(X, y, np.full(100, 1e-310))


def test_fit_begins_anew():
    X, y = stream(300, 2.0)
    model = KRLSRegressor().fit(X, y)
    assert model.ridge_ > 0.2
    assert model.fit(X[:10], y[:10]).ridge_ == 0.2


def test_all_shards_have_the_ridge_of_the_first():
    X, y = stream(900)
    shards = [(X[i : i + 300], y[i : i + 300]) for i in (0, 300, 600)]
    model = fit(KRLSRegressor(tolerance=0.1), shards, progress=False).model
    assert model.ridge == "auto"
    assert model.ridge_ == KRLSRegressor(tolerance=0.1).fit(X[:300], y[:300]).ridge_
    model.partial_fit(X, y)  # it can go on
    again = persistence.loads(persistence.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_models_of_different_ridges_are_not_merged():
    X, y = stream(200)
    models = [
        KRLSRegressor(gamma=0.5).fit(X, target)
        for target in (y, np.random.default_rng(0).permutation(y))
    ]
    with pytest.raises(ValueError, match=r"ridge is .* in models\[1\]: give ridge as a number"):
        merge(models)
    models[1] = KRLSRegressor(gamma=0.5, ridge=7.0).fit(X, y)
    for pair in (models, models[::-1]):
        with pytest.raises(ValueError, match="give ridge as a number"):
            merge(pair)
    models = [KRLSRegressor(gamma=0.5, ridge=0.1).fit(X, y) for _ in range(2)]
    assert merge(models).model.ridge_ == 0.1


@pytest.mark.parametrize("ridge", ["noise", None, -1.0])
def test_other_values_are_refused(ridge):
    X, y = stream(50)
    with pytest.raises((TypeError, ValueError), match="ridge"):
        KRLSRegressor(ridge=ridge).fit(X, y)


def test_the_published_algorithm_has_none():
    X, y = stream(50)
    assert parsimon.published(KRLSRegressor).fit(X, y).ridge_ == 0.0
