"""The derivative of a model with respect to its inputs, against central differences."""

import copy
import pickle
import re

import dense
import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC, SVR

import parsimon
from parsimon import _core, diagnostics, kernels
from parsimon.estimators import ESTIMATORS

fast_kernel = pytest.mark.parametrize("name", dense.FAST)


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def differences(f, X, h=1e-5):
    """df/dx_i by central differences: the shape of f with the features as last axis."""
    steps = h * np.eye(X.shape[1])
    return np.stack([(f(X + step) - f(X - step)) / (2 * h) for step in steps], axis=-1)


def assert_close(G, expected):
    assert G.shape == expected.shape
    assert np.abs(G - expected).max() <= 1e-6 * np.abs(expected).max()
    assert np.abs(expected).max() > 0


def shown(model):
    """f as users see it."""
    if is_classifier(model):
        return model.decision_function
    return getattr(model, "predict_link", model.predict)


def expansion(kernel, m=21, d=5, seed=1, outputs=()):
    rng = np.random.default_rng(seed)
    return parsimon.KernelExpansionRegressor(
        kernel, rng.normal(size=(m, d)), rng.normal(size=(m, *outputs)), intercept=0.3
    )


# Kernels


@fast_kernel
@pytest.mark.parametrize("d", [1, 2, 9])
@pytest.mark.parametrize("outputs", [(), (3,)])
def test_every_kernel(name, d, outputs):
    kernel, _ = dense.KERNELS[name]
    model, X = expansion(kernel, d=d, outputs=outputs), points(11, d)
    G = model.gradient(X)
    if kernel.single:  # the derivative at the rounded points
        model.kernel, model.centers, X = kernel.inner, model.centers_, kernels.seen(kernel, X)
    assert_close(G, differences(model.predict, X))


@fast_kernel
def test_every_kernel_in_a_learner(name):
    kernel, _ = dense.KERNELS[name]
    X = kernels.seen(kernel, points(60, 3))
    model = parsimon.published(parsimon.KRLSRegressor, kernel, tolerance=0.01, budget=20).fit(
        X, np.sin(X).sum(axis=1)
    )
    same = parsimon.KernelExpansionRegressor(kernel, model.centers_, model.weights_)
    G = model.gradient(X)
    np.testing.assert_array_equal(same.gradient(X), G)
    if not kernel.single:
        assert_close(G, differences(model.predict, X))


def test_every_kernel_that_has_a_name_has_a_derivative():
    assert all(kernel.core().differentiable for kernel, _ in dense.FAST.values())


def test_a_constant_has_derivative_zero():
    assert not expansion(kernels.Constant(2.0)).gradient(points(4, 5)).any()


def test_laplacian_has_sign_zero_at_a_centre():
    centers, weights = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([2.0, 5.0])
    model = parsimon.KernelExpansionRegressor(kernels.Laplacian(0.5), centers, weights)
    G = model.gradient(centers[:1])
    # Only the second centre counts, by its first feature
    np.testing.assert_allclose(G, [[5.0 * 0.5 * np.exp(-1.0), 0.0]], rtol=1e-14)


@pytest.mark.parametrize("name", dense.RADIAL)
def test_a_kernel_of_a_distance_is_flat_at_its_centre(name):
    kernel, _ = dense.KERNELS[name]
    x = points(1, 4)
    assert not parsimon.KernelExpansionRegressor(kernel, x, np.ones(1)).gradient(x).any()


def test_a_normalised_kernel_of_norm_zero_has_derivative_zero():
    kernel = kernels.Normalized(kernels.Linear())
    model = parsimon.KernelExpansionRegressor(kernel, [[1.0, 2.0], [0.0, 0.0]], np.ones(2))
    np.testing.assert_array_equal(model.gradient([[0.0, 0.0]]), [[0.0, 0.0]])
    model.centers = [[0.0, 1.0], [0.0, 2.0]]
    assert np.isfinite(model.gradient([[1e-155, 0.0]])).all()
    assert_close(model.gradient([[1.0, 1.0]]), differences(model.predict, np.array([[1.0, 1.0]])))


@pytest.mark.parametrize("name", dense.RADIAL)
@pytest.mark.parametrize("gamma", [1e-300, 1.0, 1e300])
def test_distances_up_to_infinity_give_numbers(name, gamma):
    kernel = type(dense.KERNELS[name][0])(gamma)
    centers = np.array([[-1.7e308, 0.0], [1e200, 1e-200], [0.0, 0.0]])
    model = parsimon.KernelExpansionRegressor(kernel, centers, np.ones(3))
    assert np.isfinite(model.gradient([[1.7e308, 1.0], [1e200, 0.0], [0.0, 0.0]])).all()


def test_a_width_that_underflows_gives_numbers():
    model = parsimon.KernelExpansionRegressor(
        kernels.RationalQuadratic(1e-300, alpha=1e30), [[-1.7e308]], np.ones(1)
    )
    np.testing.assert_array_equal(np.abs(model.gradient([[1.7e308]])), [[0.0]])


def test_digits_are_kept_far_from_the_origin():
    model, X = expansion(kernels.Gaussian(0.5), d=3), points(5, 3)
    G = model.gradient(X)
    model.centers = model.centers + 2.0**20
    np.testing.assert_allclose(model.gradient(X + 2.0**20), G, rtol=1e-7, atol=1e-8)


# Estimators

X = points(120, 3)
TARGETS = {
    "number": np.abs(X[:, 0] + X[:, 1] * X[:, 2]),
    "columns": np.abs(X[:, :2] + X[:, 1:]),
    "one column": np.abs(X[:, :1]),
    "one class": np.zeros(120, dtype=int),
    "two classes": np.where(X[:, 0] * X[:, 1] > 0, "up", "down"),
    "three classes": np.array(["b", "c", "a"])[np.digitize(X[:, 0], [-0.5, 0.5])],
}


def cases():
    for cls in ESTIMATORS:
        for name, y in TARGETS.items():
            if is_classifier(cls()) == ("class" in name):
                yield pytest.param(cls(gamma=0.3), y, id=f"{cls.__name__}, {name}")
    options = {"gamma": 0.3, "budget": 20, "step_size": 0.2}
    number, classes = TARGETS["number"], TARGETS["three classes"]
    yield pytest.param(
        parsimon.published(parsimon.POLKRegressor, loss="poisson", **options), number, id="poisson"
    )
    yield pytest.param(
        parsimon.published(parsimon.POLKRegressor, average=True, **options), number, id="mean"
    )
    yield pytest.param(
        parsimon.published(parsimon.POLKClassifier, average=True, **options), classes, id="means"
    )


@pytest.mark.parametrize(("model", "y"), list(cases()))
def test_every_estimator(model, y):
    model.fit(X, y)
    F, G, new = shown(model)(X), model.gradient(X), points(40, 3, seed=1)
    assert G.shape == (*F.shape, 3)
    if not G.any():  # one class: nothing to learn for some losses
        assert not differences(shown(model), new).any()
        return
    assert_close(model.gradient(new), differences(shown(model), new))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.gradient(X), G)


def test_classes_that_came_later_are_sorted():
    model = parsimon.published(parsimon.POLKClassifier, gamma=0.3, budget=20)
    for label in "cab":
        model.partial_fit(X[:40], np.full(40, label))
        model.partial_fit(X[40:80], np.full(40, "d"))
    assert_close(model.gradient(X), differences(model.decision_function, X))


def test_merged_and_compressed_models():
    y = TARGETS["number"]
    parts = [
        parsimon.published(parsimon.KRLSRegressor, gamma=0.3, ridge=0.1).fit(X[rows], y[rows])
        for rows in (slice(0, 60), slice(60, 120))
    ]
    model = parsimon.merge(parts).model
    assert_close(model.gradient(X), differences(model.predict, X))
    model.compress(budget=5)
    assert_close(model.gradient(X), differences(model.predict, X))


@pytest.mark.parametrize("name", ["two classes", "three classes"])
def test_models_of_scikit_learn(name):
    model = parsimon.from_sklearn(SVC(gamma=0.3).fit(X, TARGETS[name]))
    assert_close(model.gradient(X), differences(model.decision_function, X))
    model.compress(budget=10)
    assert_close(model.gradient(X), differences(model.decision_function, X))
    regressor = parsimon.from_sklearn(SVR(gamma=0.3).fit(X, TARGETS["number"]))
    assert_close(regressor.gradient(X), differences(regressor.predict, X))


def test_a_model_without_centres_has_derivative_zero():
    model = parsimon.published(parsimon.KLMSRegressor, kernels.Linear()).fit(
        np.zeros((1, 3)), [0.0]
    )
    np.testing.assert_array_equal(model.gradient(X), np.zeros_like(X))


# Blocks and threads


@fast_kernel
@pytest.mark.parametrize("m", [1, 8, 37])
def test_blocks_equal_rows_bit_for_bit(name, m):
    kernel, _ = dense.KERNELS[name]
    model, Z = expansion(kernel, m=m, d=4, outputs=(2,)), points(71, 4)
    G = model.gradient(Z)
    for first, last in [(0, 1), (70, 71), (3, 10), (60, 71)]:
        np.testing.assert_array_equal(model.gradient(Z[first:last]), G[first:last])
    for i in range(len(Z)):
        np.testing.assert_array_equal(model.gradient(Z[i : i + 1])[0], G[i])


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_threads_give_the_same_bits(n_jobs):
    Z = points(1000, 3, seed=2)
    learned = parsimon.published(parsimon.KRLSRegressor, gamma=0.3, budget=30).fit(
        X, TARGETS["columns"]
    )
    for model in (learned, expansion(kernels.Laplacian(0.2), d=3)):
        np.testing.assert_array_equal(model.gradient(Z, n_jobs=n_jobs), model.gradient(Z))


def test_the_model_is_not_changed():
    model = parsimon.published(parsimon.KRLSRegressor, gamma=0.3, budget=30).fit(
        X, TARGETS["number"]
    )
    other = copy.deepcopy(model)
    model.gradient(X)
    for each in (model, other):
        each.partial_fit(X[::-1], TARGETS["number"])
    np.testing.assert_array_equal(model.weights_, other.weights_)


# Errors


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_a_model_that_is_not_fitted(cls):
    with pytest.raises(NotFittedError):
        cls().gradient(X)


@pytest.mark.parametrize(
    "model",
    [
        parsimon.published(parsimon.KRLSRegressor, gamma=0.3).fit(X, TARGETS["number"]),
        parsimon.published(parsimon.POLKClassifier, gamma=0.3).fit(X, TARGETS["two classes"]),
        expansion(kernels.Gaussian(1.0), d=3),
    ],
)
def test_input_that_cannot_be_used(model):
    with pytest.raises(ValueError, match="2 features"):
        model.gradient(X[:, :2])
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="X contains NaN at row 7, column 1"):
        model.gradient(bad)
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.gradient(X[0])
    with pytest.raises(ValueError, match="n_jobs"):
        model.gradient(X, n_jobs=0)


def unknown(x, y):
    unknown.calls += 1
    return float(x @ y)


PYTHON = kernels.Function(unknown)


@pytest.mark.parametrize(
    "kernel",
    [PYTHON, kernels.Gaussian(1.0) + 2.0 * PYTHON, kernels.Normalized(PYTHON)],
    ids=["alone", "sum", "normalized"],
)
def test_a_python_function_is_named_before_anything_is_computed(kernel):
    unknown.calls = 0
    learned = parsimon.published(parsimon.KLMSRegressor, kernel, step_size=0.1, budget=3).fit(
        X[:5], X[:5, 0]
    )
    for model in (learned, expansion(kernel, d=3)):
        calls = unknown.calls
        named = rf"the kernel {re.escape(repr(PYTHON))} has no derivative"
        with pytest.raises(TypeError, match=named):
            model.gradient(X)
        assert unknown.calls == calls


def test_a_kernel_of_ones_own_is_named():
    class Own(kernels.Kernel):
        def core(self):
            return _core.callable(lambda x, y: 1.0)

        def __repr__(self):
            return "Own()"

    with pytest.raises(TypeError, match=r"the kernel Own\(\) has no derivative"):
        expansion(Own() * kernels.Linear(), d=3).gradient(X)


def test_an_expansion_without_a_kernel_object():
    with pytest.raises(TypeError, match="kernel must be an object"):
        expansion("gaussian").gradient(points(2, 5))


def test_the_core_checks_shapes():
    core = kernels.Gaussian(1.0).core()
    with pytest.raises(ValueError, match="centres has 2 features, but 3 are expected"):
        core.gradient(X, X[:, :2].copy(), np.ones((1, 120)))
    with pytest.raises(ValueError, match="a weight for each centre"):
        core.gradient(X, X, np.ones((1, 7)))


# Relevance


@pytest.mark.parametrize("name", ["number", "columns"])
def test_relevance_is_the_root_mean_square_of_the_derivatives(name):
    model = parsimon.published(parsimon.KRLSRegressor, gamma=0.3, budget=30).fit(X, TARGETS[name])
    squares = model.gradient(X).reshape(120, -1, 3) ** 2
    s = diagnostics.relevance(model, X)
    np.testing.assert_allclose(s, np.sqrt(squares.sum(axis=1).mean(axis=0)), rtol=1e-13)
    np.testing.assert_array_equal(diagnostics.relevance(model, X, n_jobs=2), s)


def test_relevance_of_a_linear_function():
    y = X @ [3.0, 0.0, -0.5]
    model = parsimon.published(parsimon.KRLSRegressor, "linear", ridge=0.0).fit(X, y)
    np.testing.assert_allclose(diagnostics.relevance(model, X), [3.0, 0.0, 0.5], atol=1e-9)
    classifier = parsimon.published(parsimon.POLKClassifier, gamma=0.3).fit(
        X, TARGETS["three classes"]
    )
    assert diagnostics.relevance(classifier, X).shape == (3,)


def test_relevance_raises_the_errors_of_the_gradient():
    with pytest.raises(NotFittedError):
        diagnostics.relevance(parsimon.published(parsimon.KRLSRegressor), X)
