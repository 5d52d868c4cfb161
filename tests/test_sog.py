"""Sparse online greedy support vector machines against their specifications."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.svm import SVC

from parsimon import SOGSVC, SOGSVR, KRLSRegressor, _core, algorithms, kernels, losses, published
from parsimon.admission import LinearDependence
from parsimon.compression import LeastCost, Nothing
from parsimon.updates import DualAscent, SpanRLS

STEPS = ["dual", "error"]
KERNEL = kernels.Gaussian(0.5) + kernels.Constant(0.01)


def plane(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def reduced(model, X):
    """A: every row of X as the combination of the centres that were there when it came; and K.

    For ridge 0 and one pass.
    """
    order = [int(np.flatnonzero((center == X).all(axis=1))[0]) for center in model.centers_]
    K = model.kernel_(model.centers_, model.centers_)
    A = np.zeros((len(X), len(order)))
    for i, x in enumerate(X):
        if i in order:
            A[i, order.index(i)] = 1.0
        else:
            m = int(np.searchsorted(order, i))
            A[i, :m] = np.linalg.solve(K[:m, :m], model.kernel_(model.centers_[:m], x[None])[:, 0])
    return A, K


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_trajectory_is_the_oracles(step, ridge):
    X, y = plane(2000)
    predictions, centres, alpha, alpha_star = oracle.sog_svr(
        KERNEL, X, y, 0.1, 0.01, ridge, best=step
    )
    model = published(SOGSVR, gamma=0.5, epsilon=0.1, tolerance=0.01, ridge=ridge, step=step)
    np.testing.assert_allclose(model.predict_then_learn(X, y), predictions, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(model.centers_, centres)
    scale = np.abs(alpha).max()
    np.testing.assert_allclose(model.weights_, alpha_star - alpha, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(model.alpha_, alpha, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(model.alpha_star_, alpha_star, rtol=0, atol=1e-7 * scale)


@pytest.mark.parametrize("step", STEPS)
def test_classifier_trajectory_is_the_oracles(step):
    X, y = plane(1000, seed=1)
    labels = np.where(y > 0, 1.0, -1.0)

    def aim(f, y):
        return y if y * f < 1 else f  # a sample beyond its margin pulls no more

    *_, alpha, alpha_star = oracle.sog_svr(KERNEL, X, labels, 0.0, 0.01, targets=aim, best=step)
    model = published(SOGSVC, gamma=0.5, tolerance=0.01, step=step).partial_fit(
        X, labels, classes=[-1, 1]
    )
    w = alpha_star - alpha
    np.testing.assert_allclose(
        model.weights_, np.stack([-w, w], axis=1), rtol=0, atol=1e-6 * np.abs(w).max()
    )


@pytest.mark.parametrize("options", [{}, {"step": "dual"}, {"ridge": 0.1}, {"box": 2.0}], ids=str)
def test_a_block_equals_its_rows(options):
    X, y = plane(300)
    block, rows = (published(SOGSVR, gamma=0.5, tolerance=0.1, **options) for _ in range(2))
    block.partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
    for x, target in zip(X, y, strict=True):
        rows.learn_one(x, target)
    np.testing.assert_array_equal(block.weights_, rows.weights_)
    np.testing.assert_array_equal(block.alpha_, rows.alpha_)


@given(
    seed=st.integers(0, 10**6),
    step=st.sampled_from(STEPS),
    box=st.sampled_from([None, 0.05, 1.0]),
    ridge=st.sampled_from([0.0, 0.05]),
    epsilon=st.sampled_from([0.0, 0.1]),
)
@settings(max_examples=60, deadline=None)
def test_the_dual_never_falls_on_fixed_data(seed, step, box, ridge, epsilon):
    X, y = plane(60, seed)
    model = published(
        SOGSVR, gamma=0.5, tolerance=0.05, step=step, box=box, ridge=ridge, epsilon=epsilon
    ).fit(X, y)
    value = model.dual_value_
    for _ in range(20):
        before, value = value, model.ascend().dual_value_
        assert value >= before - 1e-12 * max(1.0, abs(before))


def test_the_dual_of_every_class_rises():
    X, y = plane(200)
    model = published(SOGSVC, gamma=0.5, tolerance=0.1, random_state=0).fit(
        X, np.digitize(y, [-1, 1])
    )
    values = [model.dual_value_]
    for _ in range(20):
        values.append(model.ascend().dual_value_)
    assert values[0].shape == (3,)
    assert (np.diff(values, axis=0) >= -1e-9).all()


def test_dual_value_and_residual_are_what_their_formulas_say():
    X, y = plane(150)
    model = published(SOGSVR, gamma=0.5, tolerance=0.1, epsilon=0.2).fit(X, y)
    A, K = reduced(model, X)
    w, s = model.weights_, model.alpha_ + model.alpha_star_
    fit = np.linalg.lstsq(A, np.stack([y, np.ones(150)], axis=1), rcond=None)[0]
    assert model.dual_value_ == pytest.approx(
        -w @ K @ w / 2 + w @ fit[:, 0] - 0.2 * s @ fit[:, 1], rel=1e-9
    )
    np.testing.assert_allclose(model.dual_residual_, A.T @ (y - A @ K @ w), rtol=0, atol=1e-9)


@pytest.mark.parametrize("step", STEPS)
def test_without_a_box_the_fixed_point_is_least_squares(step):
    X, y = plane(200)
    model = published(SOGSVR, gamma=0.5, tolerance=0.5, step=step, epsilon=0.3).fit(X, y)
    first = np.linalg.norm(model.dual_residual_)
    model.ascend(30000)
    assert np.linalg.norm(model.dual_residual_) <= 1e-6 * first
    A, K = reduced(model, X)
    w = np.linalg.solve(K, np.linalg.lstsq(A, y, rcond=None)[0])
    np.testing.assert_allclose(model.weights_, w, rtol=0, atol=1e-5 * np.abs(w).max())
    same = published(KRLSRegressor, model.kernel_, tolerance=0.5).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), rtol=0, atol=1e-5)


def test_the_insensitive_zone_cancels_out_of_f():
    X, y = plane(200)
    wide, narrow = (published(SOGSVR, gamma=0.5, epsilon=e).fit(X, y) for e in (1.0, 0.0))
    np.testing.assert_array_equal(wide.weights_, narrow.weights_)
    assert not np.allclose(wide.alpha_, narrow.alpha_)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_with_a_box_the_fixed_point_is_the_maximum_in_it(epsilon):
    X, y = plane(120)
    C = 0.4
    model = (
        published(SOGSVR, gamma=0.5, tolerance=0.3, epsilon=epsilon, box=C).fit(X, y).ascend(30000)
    )
    A, K = reduced(model, X)
    fit, ones = np.linalg.lstsq(A, np.stack([y, np.ones(len(y))], axis=1), rcond=None)[0].T
    m = len(K)

    def falls(v):  # minus the reduced dual, and minus its gradient
        w, s = v[:m] - v[m:], v[:m] + v[m:]
        g = fit - K @ w
        return w @ K @ w / 2 - w @ fit + epsilon * s @ ones, np.concatenate(
            [epsilon * ones - g, epsilon * ones + g]
        )

    best = minimize(
        falls,
        np.zeros(2 * m),
        jac=True,
        bounds=[(-C, C)] * (2 * m),
        method="L-BFGS-B",
        options={"maxiter": 10**5, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10},
    )
    assert model.dual_value_ == pytest.approx(-best.fun, rel=1e-6)
    assert np.abs([model.alpha_, model.alpha_star_]).max() <= C
    np.testing.assert_allclose(model.weights_, best.x[:m] - best.x[m:], rtol=0, atol=1e-3 * C)
    assert np.abs(model.weights_).max() > 1.5 * C  # the box is felt


def test_sinc():
    rng = np.random.default_rng(0)
    X, T = rng.uniform(-10, 10, size=(5000, 1)), rng.uniform(-10, 10, size=(1000, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=5000)
    model = published(SOGSVR, gamma=1 / 18, epsilon=0.01).fit(X, y)
    assert model.n_centers_ <= 12
    assert np.mean((model.predict(T) - np.sinc(T[:, 0] / np.pi)) ** 2) <= 1e-4
    other = published(SOGSVR, gamma=1 / 18, epsilon=0.01).fit(X, rng.normal(size=5000))
    np.testing.assert_array_equal(model.centers_, other.centers_)


def test_several_outputs_are_several_models_on_one_dictionary():
    X, y = plane(300)
    Y = np.stack([y, X[:, 0]], axis=1)
    both = published(SOGSVR, gamma=0.5, tolerance=0.1).fit(X, Y)
    for c in range(2):
        one = published(SOGSVR, gamma=0.5, tolerance=0.1).fit(X, Y[:, c])
        np.testing.assert_array_equal(both.weights_[:, c], one.weights_)
        assert both.dual_value_[c] == one.dual_value_


def test_a_weight_is_a_number_of_samples():
    X, y = plane(100)
    weights = np.random.default_rng(0).integers(0, 4, size=100)
    weighted = published(SOGSVR, gamma=0.5, tolerance=0.3).fit(
        X, y, sample_weight=weights.astype(float)
    )
    repeated = published(SOGSVR, gamma=0.5, tolerance=0.3).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_array_equal(weighted.centers_, repeated.centers_)
    for model in (weighted, repeated):
        model.ascend(10000)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0, atol=1e-6)


def test_at_its_budget_it_admits_no_more():
    X, y = plane(500)
    model = published(SOGSVR, gamma=0.5, budget=12).fit(X, y)
    np.testing.assert_array_equal(
        model.centers_, published(SOGSVR, gamma=0.5).fit(X, y).centers_[:12]
    )
    held = model.nbytes_
    assert model.partial_fit(X + 1, y).nbytes_ == held
    with pytest.raises(ValueError, match="start again"):
        model.set_budget(5)


def test_two_classes_near_svc():
    X, y = plane(1500)
    labels = np.where(y + 0.5 * np.random.default_rng(1).normal(size=1500) > 0, "up", "down")
    model = published(SOGSVC, gamma=0.5, random_state=0).fit(X[:1000], labels[:1000])
    machine = SVC(gamma=0.5).fit(X[:1000], labels[:1000])
    assert model.score(X[1000:], labels[1000:]) >= machine.score(X[1000:], labels[1000:]) - 0.02
    assert 3 * model.n_centers_ <= len(machine.support_)


def test_a_box_bounds_the_classifiers_weights():
    X, y = plane(300)
    model = published(SOGSVC, gamma=0.5, box=0.7, random_state=0).fit(X, y > 0)
    assert np.abs(model.weights_).max() == pytest.approx(0.7)


def test_a_ridge_makes_three_residuals():
    rng = np.random.default_rng(0)
    kernel, g = kernels.Gaussian(0.5), 0.1
    dictionary = _core.Dictionary(kernel.core(), 2, 1, neighbours=False, ridge=g)
    for x in rng.uniform(-2, 2, size=(30, 2)):
        dictionary.append(x, rng.normal(size=1))
    D = dictionary.centers()
    ridged = kernel(D, D) + g * np.eye(len(D))
    S = dictionary.factor()
    np.testing.assert_allclose(S.T @ S, np.linalg.inv(ridged), rtol=0, atol=1e-9)
    x = rng.uniform(-2, 2, size=2)
    look, h = dictionary.look(x), kernel(x[None], D)[0]
    a = np.linalg.solve(ridged, h)
    np.testing.assert_allclose(look["coefficients"], a, rtol=0, atol=1e-10)
    assert look["residual"] == pytest.approx(1 - 2 * h @ a + a @ kernel(D, D) @ a, abs=1e-10)
    assert dictionary.drift() < 1e-10
    dictionary.rebuild()
    np.testing.assert_allclose(dictionary.factor(), S, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1}, "tolerance"),
        ({"bias": -0.1}, "bias"),
        ({"epsilon": -1}, "epsilon"),
        ({"ridge": -1}, "ridge"),
        ({"box": 0}, "box"),
        ({"budget": 0}, "budget"),
        ({"step": "best"}, "'best'"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        published(SOGSVR, **options).fit([[0.0], [1.0]], [0.0, 1.0])


def test_parts_that_do_not_go_together_are_refused():
    parts = {"kernel": KERNEL, "loss": losses.Squared()}
    with pytest.raises(ValueError, match="never removed"):
        algorithms.Recipe(
            **parts,
            admission=LinearDependence(0.1),
            update=DualAscent(),
            compression=LeastCost(10),
            batch_size=1,
        )
    with pytest.raises(ValueError, match="needs the update DualAscent"):
        algorithms.Recipe(
            **parts,
            admission=LinearDependence(0.1, ridge=0.1),
            update=SpanRLS(),
            compression=Nothing(),
        )


def test_an_unused_zero_function_is_no_centre():
    model = published(SOGSVR, "linear", bias=0.0).fit([[0.0], [0.0]], [1.0, 2.0])
    assert model.n_centers_ == 0
    assert model.ascend(3).predict([[1.0]]) == 0.0
    assert model.dual_value_ == 0.0


@pytest.mark.parametrize("box", [None, 5.0])
@pytest.mark.parametrize("step", STEPS)
def test_scale_does_not_matter(step, box):
    X, y = plane(200)
    plain = published(SOGSVR, gamma=0.5, epsilon=0.1, step=step, box=box).fit(X, y)
    for scale in (2.0**-500, 2.0**300):
        scaled = published(
            SOGSVR, gamma=0.5, epsilon=0.1 * scale, step=step, box=box and box * scale
        ).fit(X, y * scale)
        np.testing.assert_allclose(
            scaled.weights_ / scale,
            plain.weights_,
            rtol=0,
            atol=1e-9 * np.abs(plain.weights_).max(),
        )


@pytest.mark.parametrize("box", [None, 1e3])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("kernel", "X", "y", "weight"),
    [
        ("linear", np.array([[1e-30], [1e30], [5e29], [-1e30], [1e-30]] * 10), 1e100, 1.0),
        (
            kernels.Constant(1e79) * kernels.Gaussian(1.0),
            np.linspace(-3, 3, 50)[:, None],
            4e99,
            1e20,
        ),
        ("gaussian", np.ones((50, 2)), 1e100, 1e-20),
        ("gaussian", np.repeat([[0.0], [1.0]], 25, axis=0), 1e-300, 1.0),
        ("polynomial", 1e10 * np.random.default_rng(0).normal(size=(50, 2)), -1e100, 1.0),
    ],
    ids=["scales", "large kernel", "constant", "tiny", "polynomial"],
)
def test_no_accepted_input_makes_a_weight_that_is_not_a_number(kernel, X, y, weight, step, box):
    rng = np.random.default_rng(0)
    model = published(SOGSVR, kernel, bias=0.0, tolerance=0.0, step=step, box=box)
    model.fit(X, y * rng.uniform(-1, 1, size=len(X)), sample_weight=np.full(len(X), weight)).ascend(
        300
    )
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("options", [{"step": "dual"}, {"step": "error"}, {"box": 1000.0}], ids=str)
def test_weights_of_very_different_size(options):
    X, y = plane(300)
    weights = np.where(np.random.default_rng(1).random(300) < 0.9, 1e-20, 1e20)
    model = published(SOGSVR, gamma=0.5, tolerance=0.1, **options).fit(X, y, sample_weight=weights)
    value = model.dual_value_
    for _ in range(30):
        before, value = value, model.ascend(10).dual_value_
        assert value >= before - 1e-9 * abs(before)
    assert np.abs(model.predict(X)).max() < 10


def test_a_class_met_late_begins_where_it_is_met():
    X, y = plane(600)
    labels = np.digitize(y, [-0.7, 0.7])
    order = np.argsort(labels == 2, kind="stable")
    late = published(SOGSVC, gamma=0.5)
    for rows in np.array_split(order, 30):
        late.partial_fit(X[rows], labels[rows])
    assert late.weights_.shape == (late.n_centers_, 3)
    assert late.score(X, labels) > 0.9
    value = late.dual_value_
    assert (late.ascend().dual_value_ >= value - 1e-9).all()


def test_a_kernel_that_fails_while_a_class_is_added_leaves_a_sound_model():
    fail = False

    def k(x, z):
        if fail and not np.array_equal(x, z):
            raise RuntimeError("no")
        return float(np.exp(-np.sum((x - z) ** 2)))

    X, y = plane(40)
    model = published(SOGSVC, kernels.Function(k), bias=0.0).partial_fit(X, (y > 0).astype(int))
    fail = True
    with pytest.raises(RuntimeError, match="no"):
        model.partial_fit(X[:1] + 0.1, [2])
    fail = False
    n = len(model._learner.dual()["value"])
    assert np.isfinite(model._learner.dual()["value"]).all()
    assert model._learner.n_outputs == n
    assert np.isfinite(model.partial_fit(X, (y > 0).astype(int)).predict(X)).all()
