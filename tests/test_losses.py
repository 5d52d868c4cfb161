"""Losses: gradients, convexity, and agreement with other libraries."""

import numpy as np
import pytest
from scipy.special import huber as scipy_huber
from sklearn.metrics import (
    hinge_loss,
    log_loss,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
)

from parsimon import _core, losses

#: Every loss that is registered, some with parameters of their own.
PARAMETERS = {
    "huber": {"delta": 0.7},
    "epsilon_insensitive": {"epsilon": 0.3},
    "quantile": {"quantile": 0.8},
}
PARTS = {name: cls(**PARAMETERS.get(name, {})) for name, cls in losses.LOSSES.items()}


def target(loss, rng, n_outputs):
    if isinstance(loss, losses.MulticlassHinge | losses.MultinomialLogistic):
        return int(rng.integers(n_outputs))
    if isinstance(loss, losses.ClassificationLoss):
        return rng.choice([-1.0, 1.0], size=n_outputs)
    if isinstance(loss, losses.Poisson):
        return rng.poisson(2.0, size=n_outputs).astype(float)
    return rng.normal(size=n_outputs)


def least(loss, y):
    """Return the least value of a loss."""
    if not isinstance(loss, losses.Poisson):
        return 0.0
    return np.sum(y - y * np.log(np.maximum(y, 1.0)))


@pytest.mark.parametrize("name", PARTS)
def test_gradient_is_that_of_the_value(name):
    loss, rng = PARTS[name], np.random.default_rng(0)
    for _ in range(200):
        f = 2 * rng.normal(size=4)
        y = target(loss, rng, 4)
        numeric = [(loss.value(f + h, y) - loss.value(f - h, y)) / 2e-6 for h in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(loss.gradient(f, y), numeric, atol=1e-6)


@pytest.mark.parametrize("name", PARTS)
def test_convex_and_above_every_tangent(name):
    loss, rng = PARTS[name], np.random.default_rng(1)
    for trial in range(500):
        f, g = (
            rng.normal(size=3) * 10 ** rng.uniform(-2, 2),
            rng.normal(size=3) * 10 ** rng.uniform(-2, 2),
        )
        if trial % 5 == 0:  # kinks, too
            f, g = f.round(), g.round()
        y = target(loss, rng, 3)
        t = rng.uniform()
        slack = 1e-12 * (1 + abs(loss.value(f, y)) + abs(loss.value(g, y)))
        assert (
            loss.value(t * f + (1 - t) * g, y)
            <= t * loss.value(f, y) + (1 - t) * loss.value(g, y) + slack
        )
        assert loss.value(g, y) >= loss.value(f, y) + loss.gradient(f, y) @ (g - f) - slack
        assert loss.value(f, y) >= least(loss, y) - slack


def test_values_agree_with_other_libraries():
    rng = np.random.default_rng(2)
    y, f = rng.normal(size=300), rng.normal(size=300)

    def mean(loss, F, Y):
        return loss.values(F, Y).mean()

    assert mean(losses.Squared(), f, y) == pytest.approx(mean_squared_error(y, f) / 2, rel=1e-12)
    assert mean(losses.Absolute(), f, y) == pytest.approx(mean_absolute_error(y, f), rel=1e-12)
    assert mean(losses.Quantile(0.8), f, y) == pytest.approx(
        mean_pinball_loss(y, f, alpha=0.8), rel=1e-12
    )
    assert mean(losses.Huber(0.7), f, y) == pytest.approx(scipy_huber(0.7, y - f).mean(), rel=1e-12)
    signs = np.sign(y)
    assert mean(losses.Hinge(), f, signs) == pytest.approx(hinge_loss(signs, f), rel=1e-12)
    p = 1 / (1 + np.exp(-f))
    assert mean(losses.Logistic(), f, signs) == pytest.approx(log_loss(signs, p), rel=1e-9)
    F, labels = rng.normal(size=(300, 4)), rng.integers(4, size=300)
    known = np.full(300, 4)
    multi, softmax = losses.MulticlassHinge(), losses.MultinomialLogistic()
    assert mean(multi, F, multi.targets(labels, known, 4)) == pytest.approx(
        hinge_loss(labels, F), rel=1e-12
    )
    ours = mean(softmax, F, softmax.targets(labels, known, 4))
    assert ours == pytest.approx(log_loss(labels, softmax.probabilities(F)), rel=1e-9)


@pytest.mark.parametrize("name", PARTS)
def test_extreme_predictions_stay_finite(name):
    loss = PARTS[name]
    rng = np.random.default_rng(3)
    for scale in (1e3, 1e8, 1e100):
        f, y = scale * rng.normal(size=3), target(loss, rng, 3)
        assert np.isfinite(loss.value(f, y))
        assert np.isfinite(loss.gradient(f, y)).all()


def test_subgradients_at_the_kinks_are_those_stated():
    assert losses.Absolute().gradient([1.0], [1.0])[0] == 0
    assert losses.EpsilonInsensitive(0.5).gradient([1.5], [1.0])[0] == 0
    assert losses.Quantile(0.9).gradient([1.0], [1.0])[0] == 0
    assert losses.Hinge().gradient([1.0], [1.0])[0] == 0
    assert losses.MulticlassHinge().gradient([2.0, 1.0], 0).tolist() == [0, 0]
    # The first of equals
    assert losses.MulticlassHinge().gradient([0.0, 0.0, 0.0], 1).tolist() == [1, -1, 0]
    assert losses.MulticlassHinge().value([5.0], 0) == 0  # no other class


def test_outputs_that_are_not_known_take_no_part():
    multi, one = losses.MulticlassHinge(), losses.Hinge()
    index, known = np.array([0, 1]), np.array([1, 2])
    assert multi.targets(index, known, 3).tolist() == [[0, 1], [1, 2]]
    assert one.targets(index, known, 3).tolist() == [[1, 0, 0], [-1, 1, 0]]
    assert multi.core().gradient(np.array([0.0, 0.0, 9.0]), np.array([0.0, 2.0])).tolist() == [
        -1,
        1,
        0,
    ]
    assert multi.core().gradient(np.array([0.0, 0.0, 9.0]), np.array([0.0, 1.0])).tolist() == [
        0,
        0,
        0,
    ]


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (losses.Hinge(), 0.5, "must be -1 or 1"),
        (losses.MulticlassHinge(), 3, "must be a class from 0 on"),
        (losses.MultinomialLogistic(), -1, "must be a class"),
        (losses.MultinomialLogistic(), 0.5, "must be a class"),
        (losses.Poisson(), -1.0, "must be at least 0: it is a count"),
    ],
)
def test_bad_targets_are_named(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.value([0.0, 0.0] if isinstance(y, int) else [0.0], y)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: losses.Huber(0), "delta"),
        (lambda: losses.Quantile(1.0), "quantile"),
        (lambda: losses.EpsilonInsensitive(-1), "epsilon"),
        (
            lambda: losses.resolve("hinge", losses.REGRESSION),
            "unknown loss 'hinge'; known are 'squared'",
        ),
        (lambda: losses.resolve(losses.Hinge(), losses.REGRESSION), "cannot be used here"),
    ],
)
def test_bad_losses_are_named(build, message):
    with pytest.raises(ValueError, match=message):
        build()
    with pytest.raises(TypeError, match=r"write Hinge\(\)"):
        losses.resolve(losses.Hinge, losses.CLASSIFICATION)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("square", [], "there is no loss 'square'"),
        ("huber", [], "'huber' takes 1 parameters, got 0"),
        ("squared", [1.0], "'squared' takes 0 parameters, got 1"),
    ],
)
def test_the_core_names_what_a_loss_lacks(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        _core.loss(name, parameters)
