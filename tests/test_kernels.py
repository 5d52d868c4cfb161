import re

import dense
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon import _core, formulas, kernels
from parsimon._formula_values import own_values, values

every_kernel = pytest.mark.parametrize("name", dense.KERNELS)
fast_kernel = pytest.mark.parametrize("name", dense.FAST)
coordinates = st.floats(-10, 10, allow_subnormal=False)


def points(max_rows=6, max_columns=5):
    shapes = st.tuples(
        st.integers(1, max_rows), st.integers(1, max_rows), st.integers(1, max_columns)
    )
    return shapes.flatmap(
        lambda s: st.tuples(
            arrays(float, (s[0], s[2]), elements=coordinates),
            arrays(float, (s[1], s[2]), elements=coordinates),
        )
    )


@every_kernel
@pytest.mark.parametrize("d", [1, 2, 9, 50])
def test_agrees_with_dense_formula(name, d):
    kernel, formula = dense.KERNELS[name]
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(23, d)), rng.normal(size=(41, d))
    expected = formula(X, Y)
    # 1e-12 of the value; where a sum of products cancels, of the terms that cancel.
    scale = np.maximum(
        np.abs(expected),
        formula(np.abs(X), np.abs(Y)) if name in ("polynomial", "linear", "product") else 0,
    )
    if name in ("normalized", "nested"):
        scale = np.ones_like(expected)
    assert np.max(np.abs(kernel(X, Y) - expected) / scale) < 1e-12
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(formula(X, X)), rtol=1e-12)


def test_every_kernel_that_has_a_name_is_tested():
    registered = {kernels.KERNELS[name]: kernel for name, (kernel, _) in dense.REGISTERED.items()}
    assert registered.keys() == set(kernels.KERNELS.values())
    assert all(type(kernel) is cls for cls, kernel in registered.items())


@fast_kernel
@pytest.mark.parametrize("d", [1, 7])
def test_formula_agrees_with_the_values(name, d):
    kernel, _ = dense.KERNELS[name]
    rng = np.random.default_rng(d)
    X, Y = (kernels.seen(kernel, rng.normal(size=(n, d))) for n in (13, 17))
    K, norms = kernel(X, Y), np.sqrt(np.outer(kernel.diagonal(X), kernel.diagonal(Y)))
    assert np.max(np.abs(values(kernel.formula(), X, Y) - K) / norms) < 1e-12
    np.testing.assert_allclose(own_values(kernel.formula(), X), kernel.diagonal(X), rtol=1e-12)


@pytest.mark.parametrize("name", dense.RADIAL)
def test_kernels_of_a_distance_have_a_constant_diagonal(name):
    kernel, _ = dense.KERNELS[name]
    assert formulas.diagonal(kernel.formula()) == formulas.Number(1.0)
    assert kernel.diagonal([[0.3, 1e200]]).tolist() == [1.0]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("gausian", [1.0], "there is no kernel 'gausian'"),
        ("gaussian", [], "'gaussian' takes 1 parameters, got 0"),
        ("linear", [1.0], "'linear' takes 0 parameters, got 1"),
    ],
)
def test_the_core_names_what_a_kernel_lacks(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        _core.leaf(name, parameters)


@fast_kernel
@given(pair=points())
@settings(max_examples=60, deadline=None)
def test_rows_equal_blocks_bit_for_bit(name, pair):
    kernel, _ = dense.KERNELS[name]
    X, Y = pair
    block = kernel(X, Y)
    for i in range(len(X)):
        np.testing.assert_array_equal(kernel(X[i : i + 1], Y)[0], block[i])
    for j in range(len(Y)):
        np.testing.assert_array_equal(kernel(X, Y[j : j + 1])[:, 0], block[:, j])
    np.testing.assert_array_equal(kernel(Y, X), block.T)
    np.testing.assert_array_equal(kernel.diagonal(X), np.diag(kernel(X)))


@every_kernel
def test_gram_is_positive_semidefinite_to_rounding(name):
    kernel, _ = dense.KERNELS[name]
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 3)), rng.normal(size=(20, 3)) * 1e-6])
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-13 * len(X) * eigenvalues[-1]


@fast_kernel
@given(x=arrays(float, 7, elements=st.floats(-1e3, 1e3) | st.floats(-1e-60, 1e-60)))
@settings(max_examples=100, deadline=None)
def test_exact_copies_have_coherence_one(name, x):
    kernel, _ = dense.KERNELS[name]
    K = kernel(np.array([x, x]))
    assert K[0, 1] == K[0, 0] == K[1, 1] == kernel.diagonal(x[None])[0]
    dictionary = _core.Dictionary(kernel.core(), 7, factor=False)
    dictionary.append(x, np.ones(1))
    assert dictionary.look(x)["coherence"] == 1.0


@pytest.mark.parametrize("offset", [1e-3, 1e-6, 1e-9])
def test_near_duplicates_far_from_the_origin_are_told_apart(offset):
    # ||x||^2 + ||y||^2 - 2 x'y would lose all digits of the distance here.
    x = np.full((1, 4), 1000.0)
    y = x + offset
    gamma = 1.0 / offset**2
    exact = np.exp(-gamma * ((x - y) ** 2).sum())
    assert kernels.Gaussian(gamma)(x, y)[0, 0] == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("name", dense.RADIAL)
def test_kernels_of_a_distance_fall_from_one_to_zero(name):
    kernel = kernels.KERNELS[name](gamma=2.0)
    r = np.linspace(0, 30, 400)[:, None]
    values = kernel(r, np.zeros((1, 1)))[:, 0]
    assert values[0] == 1.0
    assert np.all(np.diff(values[values > 0]) < 0)
    assert kernel([[1e6]], [[0.0]]) < 1e-2
    np.testing.assert_array_equal(kernel([[1e200]], [[-1e200]]) < 1e-2, True)


def test_rational_quadratic_tends_to_the_gaussian():
    r = np.linspace(0, 2, 20)[:, None]
    z = np.zeros((1, 1))
    np.testing.assert_allclose(
        kernels.RationalQuadratic(1.0, alpha=1e7)(r, z), kernels.Gaussian(1.0)(r, z), rtol=1e-5
    )


def test_kernels_compose_and_compare():
    k = 2 * kernels.Gaussian(0.5) + 1
    assert k == kernels.Sum(
        kernels.Product(kernels.Constant(2), kernels.Gaussian(0.5)), kernels.Constant(1)
    )
    assert k([[0.0]], [[0.0]])[0, 0] == 3.0
    assert hash(k) == hash(2 * kernels.Gaussian(0.5) + 1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: kernels.Gaussian(-1.0), ValueError, "gamma must be finite and > 0, got -1.0"),
        (lambda: kernels.Gaussian(float("nan")), ValueError, "gamma"),
        (lambda: kernels.Gaussian("wide"), TypeError, "gamma must be a number, got 'wide'"),
        (lambda: kernels.Polynomial(0), ValueError, "degree must be >= 1"),
        (lambda: kernels.Polynomial(2.5), TypeError, "degree must be a whole number"),
        (lambda: kernels.Polynomial(offset=-1), ValueError, "offset"),
        (lambda: kernels.Constant(-1), ValueError, "value"),
        (lambda: kernels.RationalQuadratic(alpha=0), ValueError, "alpha"),
        (lambda: kernels.Function(3), TypeError, "callable"),
        (lambda: kernels.Gaussian()([1.0, 2.0]), ValueError, "two dimensions"),
        (lambda: kernels.Gaussian()([[1.0, np.nan]]), ValueError, "NaN at row 0, column 1"),
        (
            lambda: kernels.Gaussian()([[1.0]], [[1.0, 2.0]]),
            ValueError,
            "Y has 2 features, but 1 are expected",
        ),
        (
            lambda: kernels.resolve("gausian", 1.0, np.zeros((2, 2))),
            ValueError,
            "unknown kernel 'gausian'; known are 'gaussian'",
        ),
        (
            lambda: kernels.resolve(kernels.Gaussian(), 2.0, np.zeros((2, 2))),
            ValueError,
            "set it there",
        ),
        (
            lambda: kernels.resolve(kernels.Gaussian, "scale", np.zeros((2, 2))),
            TypeError,
            "write Gaussian()",
        ),
        (
            lambda: kernels.Sum(1, kernels.Linear()),
            TypeError,
            "left must be a kernel object, got 1",
        ),
        (lambda: kernels.Normalized(len), TypeError, "inner must be a kernel object"),
        (lambda: kernels.resolve("linear", -1.0, np.zeros((2, 2))), ValueError, "gamma"),
        (lambda: kernels.resolve(3, "scale", np.zeros((2, 2))), TypeError, "kernel must be"),
        (
            lambda: kernels.width("wide", np.zeros((2, 2))),
            ValueError,
            "known are 'scale', 'median'",
        ),
        (lambda: kernels.width("scale", np.array([[1e300], [-1e300]])), ValueError, "first block"),
    ],
)
def test_bad_parameters_are_named(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_widths():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) * 2
    assert kernels.width("scale", X) == pytest.approx(1 / (3 * X.var()))
    some = X[:300]
    assert kernels.width("median", some) == pytest.approx(
        1 / (2 * np.median(dense.squares(some, some)[np.triu_indices(300, 1)]))
    )
    assert kernels.width("median", X) == pytest.approx(kernels.width("median", some), rel=0.1)
    assert kernels.width("scale", X[:1]) == kernels.width("auto", X) == 1 / 3
    assert kernels.width("median", X[:1]) == 1 / 12
    assert kernels.width("median", X[:1], "cityblock") == 1 / 3
    assert (
        kernels.width("scale", np.ones((5, 3))) == kernels.width("median", np.ones((5, 3))) == 1.0
    )
    assert kernels.width(0.25, X) == 0.25
    assert kernels.width("scale", X, "cityblock") == pytest.approx(1 / (3 * X.std()))


@pytest.mark.parametrize("alpha", [1e3, 1e6, 1e12, 1e16])
def test_rational_quadratic_keeps_its_digits_for_large_alpha(alpha):
    r = np.linspace(0, 3, 50)[:, None]
    exact = np.exp(-alpha * np.log1p(0.7 * r**2 / alpha))
    np.testing.assert_allclose(
        kernels.RationalQuadratic(0.7, alpha)(r, np.zeros((1, 1))), exact, rtol=1e-13
    )


@pytest.mark.parametrize("name", dense.RADIAL)
@pytest.mark.parametrize("gamma", [1e-308, 1e308])
def test_extreme_widths(name, gamma):
    K = kernels.KERNELS[name](gamma=gamma)([[0.0], [1.0]])
    assert K[0, 0] == K[1, 1] == 1.0
    assert 0.0 <= K[0, 1] <= 1.0


def test_an_exception_in_a_function_comes_through():
    def broken(x, y):
        raise RuntimeError("no kernel today")

    with pytest.raises(RuntimeError, match="no kernel today"):
        kernels.Function(broken)([[1.0]])


def test_a_kernel_of_ones_own_is_an_object_like_others():
    class Mine(kernels.Kernel):
        def __init__(self, width):
            self.width = width

        def core(self):
            return kernels.Gaussian(self.width).core()

    mine = Mine(2.0)
    mine.width = 3.0
    assert mine == mine and mine != Mine(3.0) and hash(mine) and "Mine" in repr(mine)
    assert (mine + kernels.Linear())(np.eye(2)).shape == (2, 2)
