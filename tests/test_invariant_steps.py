"""Steps that follow the gradient along its path: stable for any rate, and weight 2 is two steps."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_losses import PARTS, target

from parsimon import (
    BSGDClassifier,
    KAPRegressor,
    KLMSRegressor,
    KNLMSRegressor,
    NORMARegressor,
    POLKClassifier,
    POLKRegressor,
    SPLRegressor,
    losses,
    published,
)


def as_core(loss, y, n_outputs):
    """Return the target as the core takes it."""
    if isinstance(loss, losses.MulticlassHinge | losses.MultinomialLogistic):
        return np.array([float(y), float(n_outputs)])
    return np.asarray(y, dtype=np.float64)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("reach", [1e-6, 0.3, 2.0, 30.0])
def test_a_step_ends_where_many_small_steps_end(name, reach):
    loss, rng = PARTS[name], np.random.default_rng(3)
    smooth = name in ("logistic", "ovr_logistic", "multinomial_logistic", "squared", "poisson")
    for _ in range(15 if smooth else 5):
        f, y = 1.5 * rng.normal(size=4), target(PARTS[name], rng, 4)
        core, own = loss.core(), as_core(loss, y, 4)
        end = f - reach * core.flow(f, own, reach)
        if smooth:
            path = solve_ivp(
                lambda _, v, core=core, own=own: -core.gradient(v, own),
                (0.0, reach),
                f,
                method="LSODA",
                rtol=1e-11,
                atol=1e-12,
            )
            np.testing.assert_allclose(end, path.y[:, -1], atol=1e-8)
        else:  # kinks: small explicit steps
            v, n = f.copy(), 20000
            for _ in range(n):
                v -= reach / n * core.gradient(v, own)
            np.testing.assert_allclose(end, v, atol=6 * reach / n + 1e-9)


@pytest.mark.parametrize("name", PARTS)
def test_two_steps_equal_one_of_both_lengths(name):
    loss, rng = PARTS[name], np.random.default_rng(4)
    for _ in range(50):
        f, y = 3.0 * rng.normal(size=5), target(PARTS[name], rng, 5)
        core, own = loss.core(), as_core(loss, y, 5)
        first, second = rng.exponential(size=2) * 10 ** rng.uniform(-2, 1)
        middle = f - first * core.flow(f, own, first)
        end = middle - second * core.flow(middle, own, second)
        once = f - (first + second) * core.flow(f, own, first + second)
        np.testing.assert_allclose(once, end, atol=1e-9)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("reach", [1e-300, 1e-12, 1e10, 1e20])
def test_extreme_steps_are_finite_and_never_raise_the_loss(name, reach):
    loss, rng = PARTS[name], np.random.default_rng(5)
    for scale in (1e-8, 1.0, 500.0, 1e5):
        f, y = scale * rng.normal(size=4), target(PARTS[name], rng, 4)
        if name == "poisson":
            f = np.clip(f, -300.0, 300.0)
        core, own = loss.core(), as_core(loss, y, 4)
        end = f - reach * core.flow(f, own, reach)
        assert np.isfinite(end).all()
        before = core.value(f, own)
        assert core.value(end, own) <= before + 1e-9 * (1.0 + abs(before))


def test_ties_and_many_classes():
    hinge, logistic = losses.MulticlassHinge().core(), losses.MultinomialLogistic().core()
    y = np.array([0.0, 3.0])
    # Two runners-up share the fall: the margin 1 closes at speed 3/2.
    np.testing.assert_allclose(hinge.flow(np.zeros(3), y, 6.0) * 6.0, [-2 / 3, 1 / 3, 1 / 3])
    f = np.zeros(300)
    many = np.array([7.0, 300.0])
    assert np.isfinite(logistic.flow(f, many, 2.0)).all()
    assert (logistic.flow(np.zeros(1), np.array([0.0, 1.0]), 2.0) == 0.0).all()


# So narrow that no sample lies in the span of others up to rounding
FREE = {"gamma": 20.0, "step_size": 0.7}
EXACT = {**FREE, "alpha": 0.0, "parsimony": 0.0, "step": "invariant"}
STEP_BASED = [
    published(KNLMSRegressor, gamma=20.0, step_size=0.4, coherence=0.6, ridge=0.02),
    published(KNLMSRegressor, gamma=20.0, step_size=1.6, coherence=0.6),
    published(KAPRegressor, gamma=20.0, step_size=0.4, order=1, ridge=0.0),
    published(KLMSRegressor, step="invariant", **FREE),
    published(NORMARegressor, alpha=0.0, step="invariant", budget=None, **FREE),
    published(SPLRegressor, tolerance=0.0, step="invariant", **FREE),
    *(published(POLKRegressor, loss=loss, **EXACT) for loss in losses.REGRESSION),
    *(
        published(POLKClassifier, loss=loss, fit_intercept=fit, **{**EXACT, "step_size": 3.0})
        for loss in losses.CLASSIFICATION
        for fit in (False, True)
    ),
    published(
        BSGDClassifier,
        step_size=3.0,
        alpha=0.0,
        step="invariant",
        gamma=20.0,
        budget=1000,
        maintenance="removal",
    ),
]


def is_classifier(model):
    return hasattr(model, "class_weight")


def decided(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict_link(X)


@pytest.mark.parametrize("model", STEP_BASED, ids=lambda m: f"{type(m).__name__}-{m.get_params()}")
def test_weight_two_is_two_samples_in_the_same_order(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.abs(np.sin(2 * X[:, 0]) + X[:, 1]) + 0.1 * rng.random(60)
    if is_classifier(model):
        y = np.digitize(y, [0.5, 1.0])
    whole = rng.integers(1, 4, size=60)
    options = {"classes": [0, 1, 2]} if is_classifier(model) else {}
    weighted = type(model)(**model.get_params()).partial_fit(
        X, y, sample_weight=whole.astype(float), **options
    )
    rows = np.repeat(np.arange(60), whole)
    repeated = type(model)(**model.get_params()).partial_fit(X[rows], y[rows], **options)
    np.testing.assert_allclose(decided(weighted, X), decided(repeated, X), rtol=0, atol=1e-7)


@pytest.mark.parametrize("model", STEP_BASED, ids=lambda m: f"{type(m).__name__}-{m.get_params()}")
def test_any_weight_is_stable(model):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 2)), np.abs(rng.normal(size=50))
    y = (y > 0.7).astype(int) if is_classifier(model) else y
    weights = 10.0 ** rng.uniform(-10, 15, size=50)
    model = type(model)(**model.get_params()).fit(X, y, sample_weight=weights)
    assert np.abs(decided(model, X)).max() < 1e6


def test_small_steps_keep_their_digits():
    for weight in (1.0 + 1e-9, 2.0):
        model = published(KNLMSRegressor, gamma=1.0, ridge=1e17)
        model.partial_fit([[0.0]], [1.0], sample_weight=[weight])
        assert model.weights_[0] == pytest.approx(0.2e-17 * weight)
