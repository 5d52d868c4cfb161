import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from parsimon import (
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    NORMARegressor,
    SPLRegressor,
    diagnostics,
    plots,
    published,
)
from parsimon.diagnostics import AssumptionError, RunningCoherence
from parsimon.kernels import Function, Gaussian, Laplacian, Linear, Normalized, Polynomial

KERNELS = {
    "gaussian": Gaussian(0.5),
    "laplacian": Laplacian(0.5),
    "polynomial": Normalized(Polynomial(2, gamma=1.0, offset=0.5)),
    "cubic": Normalized(Polynomial(3, gamma=1.0, offset=0.0)),  # has negative values
    "unscaled": Polynomial(3, gamma=0.5, offset=0.2),  # k(x, x) is not 1
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Thousands of small matrices: threads only get into each other's way."""
    with threadpool_limits(1):
        yield


def dense_gram(kernel, X, Y=None):
    Y = X if Y is None else Y
    values = [
        [kernel([x], [y])[0, 0] / np.sqrt(kernel([x])[0, 0] * kernel([y])[0, 0]) for y in Y]
        for x in X
    ]
    return np.array(values).reshape(len(X), len(Y))


def gram(kernel, X, Y=None):
    Y = X if Y is None else Y
    return kernel(X, Y) / np.sqrt(np.outer(kernel.diagonal(X), kernel.diagonal(Y)))


def dense_babel(rho, order):
    return max(
        sum(sorted(np.delete(row, j), reverse=True)[:order]) for j, row in enumerate(np.abs(rho))
    )


def dense_error(G, h):
    """The squared errors of functions of norm 1, by functions with Gram matrix G that have inner
    products h (..., m) with them.
    """
    return 1 - (h.T * np.linalg.lstsq(G, h.T, rcond=1e-13)[0]).sum(axis=0)


def built_by_the_rule(kernel, rng, n=120):
    """A KNLMS model with up to 50 centres, and all inputs it has seen."""
    d = int(rng.integers(1, 12))
    X = rng.normal(size=(n, d)) * rng.uniform(0.3, 6)
    model = published(
        KNLMSRegressor, kernel, coherence=float(rng.uniform(0.0, 0.98) ** rng.choice([0.5, 1, 2]))
    ).partial_fit(X[:1], [0.0])
    for i in range(1, n):
        if model.n_centers_ == 50:
            return model, X[:i]
        model.learn_one(X[i], 0.0)
    return model, X


def equally_coherent(m, mu, sign=-1.0):
    """Points of norm 1 whose inner products are all -mu (or mu)."""
    return np.linalg.cholesky((1 - sign * mu) * np.eye(m) + sign * mu)


# Measures


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("m", [1, 2, 7, 30])
def test_measures_equal_the_dense_answers(name, m):
    kernel, centers = KERNELS[name], np.random.default_rng(m).normal(size=(m, 4))
    rho = dense_gram(kernel, centers)
    largest = np.abs(rho - np.diag(np.diag(rho))).max() if m > 1 else 0.0
    assert diagnostics.coherence(kernel, centers) == pytest.approx(largest, abs=1e-14)
    expected = [dense_babel(rho, p) for p in range(1, m)]
    np.testing.assert_allclose(diagnostics.babel(kernel, centers), expected, rtol=1e-12)
    for p, value in enumerate(expected, start=1):
        assert diagnostics.babel(kernel, centers, order=p) == pytest.approx(value, rel=1e-12)
    eigenvalues = np.linalg.svd(rho, compute_uv=False)
    singular = np.linalg.matrix_rank(rho) < m
    expected = np.inf if singular else np.linalg.cond(rho)
    assert diagnostics.condition_number(kernel, centers) == pytest.approx(expected, rel=1e-6)
    assert diagnostics.smallest_eigenvalue(kernel, centers) == pytest.approx(
        eigenvalues.min(), abs=1e-12
    )
    errors = [
        dense_error(np.delete(np.delete(rho, j, 0), j, 1), np.delete(rho[j], j)) if m > 1 else 1.0
        for j in range(m)
    ]
    np.testing.assert_allclose(diagnostics.residuals(kernel, centers), errors, atol=1e-9)
    X = np.random.default_rng(m + 1).normal(size=(20, 4))
    np.testing.assert_allclose(
        diagnostics.projection_errors(kernel, centers, X=X),
        [dense_error(rho, h) for h in dense_gram(kernel, X, centers)],
        atol=1e-9,
    )


def test_no_centres_and_copies():
    none = np.zeros((0, 2))
    assert diagnostics.coherence(Gaussian(), none) == 0
    assert diagnostics.babel(Gaussian(), none).shape == (0,)
    assert diagnostics.condition_number(Gaussian(), none) == 1
    assert diagnostics.residuals(Gaussian(), none).shape == (0,)
    np.testing.assert_array_equal(
        diagnostics.projection_errors(Gaussian(), none, X=np.ones((3, 2))), np.ones(3)
    )
    copies = np.ones((3, 2))
    assert diagnostics.coherence(Gaussian(), copies) == 1
    np.testing.assert_allclose(diagnostics.babel(Gaussian(), copies), [1, 2])
    assert diagnostics.condition_number(Gaussian(), copies) == np.inf
    np.testing.assert_allclose(diagnostics.residuals(Gaussian(), copies), 0, atol=1e-12)
    np.testing.assert_allclose(
        diagnostics.projection_errors(Gaussian(), copies, X=copies), 0, atol=1e-12
    )


def test_a_model_stands_for_its_kernel_and_centres():
    X = np.random.default_rng(0).normal(size=(200, 2))
    for model in (
        published(KNLMSRegressor),
        published(KRLSRegressor),
        published(KLMSRegressor, budget=20),
        published(NORMARegressor),
        published(SPLRegressor),
    ):
        model.fit(X, X[:, 0])
        parts = model.kernel_, model.centers_
        for measure in (
            diagnostics.coherence,
            diagnostics.condition_number,
            diagnostics.smallest_eigenvalue,
            diagnostics.residuals,
            diagnostics.babel,
        ):
            np.testing.assert_array_equal(measure(model), measure(*parts))
        assert diagnostics.babel(model, order=2) == diagnostics.babel(*parts, 2)
        assert diagnostics.eigenvalue_bound(model) == diagnostics.eigenvalue_bound(
            model.n_centers_, diagnostics.coherence(model)
        )
        assert diagnostics.condition_bound(model) == pytest.approx(
            diagnostics.condition_bound(diagnostics.babel(model)[-1]), rel=1e-9
        )


@pytest.mark.parametrize("name", KERNELS)
def test_axes_equal_the_eigen_decomposition(name):
    rng = np.random.default_rng(3)
    kernel, X = KERNELS[name], rng.normal(size=(40, 3))
    centers = X[:6]
    K = dense_gram(kernel, X)
    values, vectors = np.linalg.eigh(K)
    eigenvalues, errors = diagnostics.axis_errors(kernel, centers, X=X, n_axes=5)
    np.testing.assert_allclose(eigenvalues, values[::-1][:5] / 40, rtol=1e-10)
    for k in range(5):
        beta = vectors[:, -1 - k] / np.sqrt(values[-1 - k])
        assert beta @ K @ beta == pytest.approx(1)  # ||psi_k|| = 1
        assert errors[k] == pytest.approx(dense_error(K[:6, :6], K[:6] @ beta), abs=1e-9)


# Running


def assert_same(running, kernel, centers):
    np.testing.assert_array_equal(running.centers, np.array(centers).reshape(running.centers.shape))
    assert len(running) == len(centers)
    if len(centers) < 2:
        assert running.coherence == 0
        assert running.babel == pytest.approx(0, abs=1e-14)
        return
    rho = np.abs(gram(kernel, np.array(centers)))
    np.fill_diagonal(rho, 0)
    assert running.coherence == pytest.approx(rho.max(), rel=1e-12)
    assert running.babel == pytest.approx(rho.sum(axis=1).max(), rel=1e-11)
    assert running.condition_bound == pytest.approx(diagnostics.condition_bound(running.babel))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*KERNELS]),
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.integers(0, 2**32 - 1),
)
def test_running_equals_dense(name, choices, seed):
    kernel, rng = KERNELS[name], np.random.default_rng(seed)
    running, centers = RunningCoherence(kernel), []
    for choice in choices:
        if choice < 0.4 and centers:
            j = int(choice / 0.4 * len(centers))
            running.remove(j)
            del centers[j]
        else:
            # a copy, now and then
            x = centers[0] if choice > 0.97 and centers else rng.normal(size=2)
            running.append(x)
            centers.append(x)
        assert_same(running, kernel, centers)


def test_running_does_not_drift():
    kernel, rng = Gaussian(0.3), np.random.default_rng(0)
    running, centers = RunningCoherence(kernel), []
    for _ in range(5000):
        if len(centers) == 40:
            j = int(rng.integers(40))
            running.remove(j)
            del centers[j]
        centers.append(rng.normal(size=2))
        running.append(centers[-1])
    assert_same(running, kernel, centers)


def test_running_asks_for_few_kernel_values():
    calls = []

    def kernel(x, y):
        calls.append(1)
        return float(np.exp(-((x - y) ** 2).sum()))

    running = RunningCoherence(Function(kernel))
    for m, x in enumerate(np.random.default_rng(0).normal(size=(30, 2))):
        calls.clear()
        running.append(x)
        assert len(calls) <= m + 1
    calls.clear()
    running.remove(3)
    assert not calls


def test_running_refuses():
    with pytest.raises(TypeError, match="kernel must be an object"):
        RunningCoherence("gaussian")
    running = RunningCoherence(Linear())
    with pytest.raises(IndexError, match="no centre"):
        running.remove(0)
    running.append([1.0, 2.0])
    for x, message in [
        ([1.0], r"shape \(2,\), got shape \(1,\)"),
        ([[1.0, 2.0]], "one point"),
        ([np.nan, 1.0], "x contains NaN"),
        ([0.0, 0.0], r"k\(x, x\) = 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            running.append(x)
    with pytest.raises(ValueError, match="j must be <= 0"):
        running.remove(1)
    assert_same(running, Linear(), [[1.0, 2.0]])


# Bounds, on thousands of random dictionaries


@pytest.mark.parametrize("name", KERNELS)
def test_propositions_1_to_3_hold(name):
    kernel, rng, sizes, promised = KERNELS[name], np.random.default_rng(1), set(), 0
    for _ in range(500):
        m = int(rng.integers(1, 51))
        # Spread and dimension decide the coherence: from nearly orthogonal to nearly equal.
        centers = rng.normal(size=(m, int(rng.choice([1, 2, 5, 40, 400])))) * 10 ** rng.uniform(
            -1, 1.3
        )
        rho = gram(kernel, centers)
        mu, eigenvalues = diagnostics.coherence(kernel, centers), np.linalg.eigvalsh(rho)
        assert eigenvalues[0] >= diagnostics.eigenvalue_bound(m, mu) - 1e-12
        cond_bound = diagnostics.condition_bound(
            diagnostics.babel(kernel, centers, m - 1) if m > 1 else 0.0
        )
        assert diagnostics.condition_number(kernel, centers) <= cond_bound * (1 + 1e-12)
        if not diagnostics.independence_guaranteed(m, mu):
            with pytest.raises(AssumptionError, match="which Proposition 3 assumes"):
                diagnostics.residual_bound(m, mu)
            continue
        promised, sizes = promised + 1, sizes | {m}
        assert eigenvalues[0] > 0
        least = 1 / np.diag(np.linalg.inv(rho)).max()
        corrected, printed, earlier = (
            diagnostics.residual_bound(m, mu, form=form)
            for form in ("corrected", "printed", "earlier")
        )
        assert least >= corrected - 1e-12
        assert corrected >= printed - 1e-15 >= earlier - 2e-15
    assert promised > 40
    assert len(sizes) > 10


@pytest.mark.parametrize("name", KERNELS)
def test_propositions_3_and_4_hold_for_the_rule(name):
    kernel, rng, sizes, rejected, worst = KERNELS[name], np.random.default_rng(2), set(), 0, 0.0
    for _ in range(200):
        model, X = built_by_the_rule(kernel, rng)
        m, mu0 = model.n_centers_, model.coherence
        sizes.add(m)
        assert diagnostics.coherence(model) <= mu0 + 1e-12
        G = gram(kernel, model.centers_)
        if diagnostics.independence_guaranteed(m, mu0):
            assert 1 / np.diag(np.linalg.inv(G)).max() >= diagnostics.ald_threshold(model) - 1e-12
        bound = diagnostics.rejection_bound(model)
        assert bound == 1 - mu0**2
        centres = {c.tobytes() for c in model.centers_}
        outside = np.array([x for x in X if x.tobytes() not in centres]).reshape(-1, X.shape[1])
        errors = dense_error(G, gram(kernel, outside, model.centers_))
        assert (errors <= bound + 1e-8).all()
        rejected, worst = rejected + len(errors), max(worst, errors.max(initial=0.0) / bound)
    assert rejected > 2000
    assert worst > 0.9  # the bound is not idle
    assert max(sizes) == 50
    assert len(sizes) > 20


@pytest.mark.parametrize("name", KERNELS)
def test_proposition_5_holds(name):
    kernel, rng, told = KERNELS[name], np.random.default_rng(4), 0
    for _ in range(200):
        model, X = built_by_the_rule(kernel, rng, n=60)
        K, G = gram(kernel, X), gram(kernel, model.centers_)
        values, vectors = np.linalg.eigh(K)
        bounds = diagnostics.principal_axis_bound(model, X=X)
        kept = values[::-1] > 1e-8
        values, vectors = values[::-1][kept], vectors[:, ::-1][:, kept]
        bounds = bounds[: len(values)]
        np.testing.assert_allclose(bounds, (1 - model.coherence**2) / (values / len(X)), rtol=1e-6)
        errors = dense_error(G, (gram(kernel, model.centers_, X) @ (vectors / np.sqrt(values))).T)
        assert (errors <= bounds + 1e-7).all()
        told += (bounds < 1).sum()
    assert told > 10


@pytest.mark.parametrize(("m", "mu"), [(1, 0.5), (2, 0.9), (3, 0.49), (10, 0.1), (50, 0.02)])
def test_the_bounds_are_attained(m, mu):
    centers = equally_coherent(m, mu)
    assert diagnostics.smallest_eigenvalue(Linear(), centers) == pytest.approx(
        diagnostics.eigenvalue_bound(m, mu)
    )
    assert diagnostics.residuals(Linear(), centers).min() == pytest.approx(
        diagnostics.residual_bound(m, mu)
    )
    assert diagnostics.condition_number(Linear(), centers) <= diagnostics.condition_bound(
        (m - 1) * mu
    ) * (1 + 1e-9)


def test_two_functions_attain_the_condition_bound():
    centers = equally_coherent(2, 0.6, sign=1.0)
    assert diagnostics.condition_number(Linear(), centers) == pytest.approx(
        diagnostics.condition_bound(0.6)
    )
    assert diagnostics.condition_bound(1.0) == np.inf


def test_proposition_2_is_sharp():
    # At (m - 1) mu = 1 there are dependent functions: three at 120 degrees.
    angles = 2 * np.pi * np.arange(3) / 3
    centers = np.column_stack([np.cos(angles), np.sin(angles)])
    assert diagnostics.coherence(Linear(), centers) == pytest.approx(0.5)
    assert diagnostics.smallest_eigenvalue(Linear(), centers) == pytest.approx(0, abs=1e-12)
    assert not diagnostics.independence_guaranteed(3, 0.5)


@pytest.mark.parametrize("mu0", [0.1, 0.5, 0.9])
def test_proposition_4_as_printed_fails_for_one_centre(mu0):
    value = mu0 + 0.01  # k(d, x): just coherent enough to be rejected
    x = np.sqrt(-np.log(value))
    model = published(KNLMSRegressor, Gaussian(1.0), coherence=mu0).fit([[0.0], [x]], [0.0, 1.0])
    assert model.n_centers_ == 1
    error = diagnostics.projection_errors(model, X=[[x]])[0]
    assert error == pytest.approx(1 - value**2)
    assert error > diagnostics.rejection_bound(model, form="printed") == 1 - mu0
    assert error <= diagnostics.rejection_bound(model)


def test_proposition_5_as_printed_fails_for_one_centre():
    # Nearly all inputs are copies of one that was rejected, so the first axis is nearly its
    # function.
    x = np.sqrt(-np.log(0.51))
    X = np.array([[0.0]] + [[x]] * 60)
    model = published(KNLMSRegressor, Gaussian(1.0), coherence=0.5).fit(X, np.zeros(61))
    assert model.n_centers_ == 1
    _, errors = diagnostics.axis_errors(model, X=X)
    assert errors[0] > diagnostics.principal_axis_bound(model, X=X, form="printed")[0]
    assert errors[0] <= diagnostics.principal_axis_bound(model, X=X)[0] < 1


@given(st.integers(1, 1000), st.floats(0, 1))
def test_the_bounds_keep_their_order(m, mu):
    assert diagnostics.rejection_bound(mu) >= diagnostics.rejection_bound(mu, form="printed")
    if not diagnostics.independence_guaranteed(m + 1, mu):
        return
    # Admitted functions may come closer than rejected ones, as the paper notes
    for form in ("corrected", "printed"):
        assert (
            diagnostics.residual_bound(m + 1, mu, form=form)
            <= diagnostics.rejection_bound(mu, form=form) + 1e-15
        )
    assert 0 <= diagnostics.residual_bound(m, mu) <= 1
    assert diagnostics.residual_bound(m, mu) >= diagnostics.residual_bound(m + 1, mu) - 1e-15
    assert diagnostics.ald_threshold(m, mu) == diagnostics.residual_bound(m, mu)


# Refusals


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: diagnostics.eigenvalue_bound(0, 0.5), ValueError, "m must be >= 1, got 0"),
        (lambda: diagnostics.eigenvalue_bound(2.5, 0.5), TypeError, "m must be a whole number"),
        (lambda: diagnostics.eigenvalue_bound(3), TypeError, "mu is missing"),
        (
            lambda: diagnostics.independence_guaranteed(3, 1.5),
            ValueError,
            "mu must be finite and >= 0 and <= 1",
        ),
        (lambda: diagnostics.residual_bound(3, -0.1), ValueError, "mu must be finite"),
        (lambda: diagnostics.residual_bound(3, np.nan), ValueError, "mu must be finite"),
        (
            lambda: diagnostics.residual_bound(3, 0.1, form="best"),
            ValueError,
            "unknown form 'best'; known are 'corr",
        ),
        (
            lambda: diagnostics.residual_bound(3, 0.5),
            ValueError,
            r"\(m - 1\) mu = 1 is not below 1",
        ),
        (lambda: diagnostics.rejection_bound(2), ValueError, "mu0 must be finite"),
        (lambda: diagnostics.rejection_bound(0.5, form="earlier"), ValueError, "unknown form"),
        (lambda: diagnostics.ald_threshold(3, 1.1), ValueError, "mu0 must be finite"),
        (
            lambda: diagnostics.principal_axis_bound(0.5),
            TypeError,
            "mu0 and eigenvalues, or a model and X",
        ),
        (
            lambda: diagnostics.principal_axis_bound(0.5, [0.1, 0.0]),
            ValueError,
            "eigenvalues must be > 0",
        ),
        (lambda: diagnostics.condition_bound(-0.1), ValueError, "babel must be finite and >= 0"),
        (lambda: diagnostics.coherence(Gaussian()), TypeError, "centers is missing"),
        (
            lambda: diagnostics.coherence("gaussian", [[1.0]]),
            TypeError,
            "with centers, kernel must be an object",
        ),
        (lambda: diagnostics.coherence(Ridge()), TypeError, "expected a fitted model with centres"),
        (lambda: diagnostics.coherence(KNLMSRegressor), TypeError, "expected a fitted model"),
        (
            lambda: diagnostics.coherence(Gaussian(), [1.0, 2.0]),
            ValueError,
            "centers must have two dimensions",
        ),
        (
            lambda: diagnostics.coherence(Linear(), [[1.0], [0.0]]),
            ValueError,
            r"row 1 of centers has k\(x, x\) = 0",
        ),
        (
            lambda: diagnostics.coherence(Linear(), [[np.inf]]),
            ValueError,
            "centers contains infinity",
        ),
        (lambda: diagnostics.babel(Linear(), [[1.0], [2.0]], 2), ValueError, "order must be <= 1"),
        (lambda: diagnostics.babel(Linear(), [[1.0]], 1), ValueError, "needs at least two centres"),
        (
            lambda: diagnostics.projection_errors(Linear(), [[1.0]], X=[[1.0, 2.0]]),
            ValueError,
            "X has 2 columns",
        ),
        (
            lambda: diagnostics.axis_errors(Linear(), [[1.0]], X=np.zeros((0, 1))),
            ValueError,
            "X has no rows",
        ),
    ],
)
def test_wrong_arguments_are_named(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


@pytest.mark.parametrize(
    "ask",
    [
        diagnostics.coherence,
        diagnostics.babel,
        diagnostics.condition_number,
        diagnostics.condition_bound,
        diagnostics.eigenvalue_bound,
        diagnostics.residual_bound,
        diagnostics.rejection_bound,
        diagnostics.ald_threshold,
        lambda model: diagnostics.principal_axis_bound(model, X=[[1.0]]),
        diagnostics.report,
    ],
)
def test_unfitted(ask):
    with pytest.raises(NotFittedError):
        ask(published(KNLMSRegressor))


def fitted(model, n=300):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return model.fit(X, np.sin(X[:, 0])), X


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            published(KNLMSRegressor, gamma=1.0, budget=10),
            "may have evicted centres.*no centre was evicted",
        ),
        (
            published(KNLMSRegressor, gamma=1.0, budget=10, compression="oldest"),
            "may have evicted centres",
        ),
        (
            published(KRLSRegressor, gamma=1.0, admission="coherence", budget=10),
            "may have evicted centres",
        ),
        (
            published(KRLSRegressor, gamma=1.0),
            "admission='ald': the centres were not chosen by the coherence rule",
        ),
        (published(SPLRegressor, gamma=1.0), "admission='residual'"),
        (
            published(
                SPLRegressor, gamma=1.0, admission="coherence", coherence="adaptive", budget=10
            ),
            "coherence='adaptive'",
        ),
        (
            published(SPLRegressor, gamma=0.1, admission="coherence", coherence=0.99999),
            "nearly singular",
        ),
        (
            published(KLMSRegressor, gamma=1.0),
            "KLMSRegressor: the centres were not chosen by a fixed coherence",
        ),
        (published(NORMARegressor, gamma=1.0), "NORMARegressor"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_propositions_4_and_5_refuse_what_they_do_not_speak_of(model, message):
    model, X = fitted(model)
    with pytest.raises(ValueError, match=message):
        diagnostics.rejection_bound(model)
    with pytest.raises(ValueError, match=message):
        diagnostics.principal_axis_bound(model, X=X)
    found = diagnostics.report(model, X)
    assert isinstance(found.rejection_bound, str)
    assert found.axes == found.rejection_bound
    assert found.rejection_bound in str(found)


@pytest.mark.parametrize(
    "model",
    [
        published(KNLMSRegressor, gamma=1.0),
        published(KNLMSRegressor, gamma=1.0, budget=200),
        published(KNLMSRegressor, gamma=1.0, n_passes=3),
        published(KRLSRegressor, gamma=1.0, admission="coherence"),
        published(SPLRegressor, gamma=1.0, admission="coherence", coherence=0.8),
    ],
)
def test_propositions_4_and_5_speak_of_dictionaries_of_the_rule(model):
    model, X = fitted(model)
    found = diagnostics.report(model, X)
    assert found.largest_error <= found.rejection_bound == 1 - model.coherence**2
    assert len(found.axes) == 5
    for axis in found.axes:
        assert axis.error <= axis.bound
        assert axis.bound == pytest.approx(found.rejection_bound / axis.eigenvalue)


def test_a_budget_does_break_proposition_4():
    model, X = fitted(published(KNLMSRegressor, gamma=1.0, budget=10))
    assert diagnostics.projection_errors(model, X=X).max() > 1 - model.coherence**2


def test_a_removal_does_no_harm_to_proposition_3():
    model, _ = fitted(published(KNLMSRegressor, gamma=2.0, coherence=0.1, budget=5))
    assert model.n_centers_ == 5
    assert diagnostics.residuals(model).min() >= diagnostics.ald_threshold(model)
    with pytest.raises(ValueError, match="admission='ald'"):
        diagnostics.ald_threshold(fitted(published(KRLSRegressor, gamma=1.0))[0])


def test_inputs_never_seen_are_refused():
    model, X = fitted(published(KNLMSRegressor, gamma=1.0))
    strange = np.vstack([X, [[100.0, 100.0]]])
    with pytest.raises(
        AssumptionError, match=r"row 300 of X is not a centre and has coherence 0 <= 0\.5"
    ):
        diagnostics.principal_axis_bound(model, X=strange)
    found = diagnostics.report(model, strange)
    assert found.largest_error == 1
    assert "row 300" in found.rejection_bound
    assert "row 300" in found.axes


def test_the_threshold_in_force_counts():
    model, _ = fitted(published(KNLMSRegressor, gamma=1.0, coherence=0.5))
    model.set_params(coherence=0.1, budget=5)
    assert diagnostics.rejection_bound(model) == 0.75


# Report


def test_report_holds_what_the_functions_say():
    model, X = fitted(published(KNLMSRegressor, gamma=4.0, coherence=0.01))
    found = diagnostics.report(model, X, n_axes=3)
    assert found.n_centers == model.n_centers_
    assert found.coherence == diagnostics.coherence(model)
    assert found.babel == pytest.approx(diagnostics.babel(model)[-1])
    assert found.condition_number == diagnostics.condition_number(model) <= found.condition_bound
    assert (
        found.smallest_eigenvalue
        == diagnostics.smallest_eigenvalue(model)
        >= found.eigenvalue_bound
    )
    assert found.independence_guaranteed
    assert found.least_residual == diagnostics.residuals(model).min() >= found.residual_bound
    assert len(found.axes) == 3
    text = str(found).splitlines()
    assert len(text) == 11
    assert text[0].split() == ["centres", str(model.n_centers_)]
    assert any("yes" in line for line in text)
    with pytest.raises(AttributeError):
        found.babel = 0.0


def test_report_without_inputs_or_promises():
    model, _ = fitted(published(KNLMSRegressor, gamma=1.0, coherence=0.9))
    found = diagnostics.report(model)
    assert not found.independence_guaranteed
    assert "which Proposition 3 assumes" in found.residual_bound
    assert found.rejection_bound == pytest.approx(0.19)
    assert "without X" in found.largest_error
    assert "without X" in found.axes
    with pytest.raises(ValueError, match="X has no rows"):
        diagnostics.report(model, np.zeros((0, 2)))
    one = diagnostics.report(published(KNLMSRegressor, gamma=1.0).fit([[0.0]], [1.0]), [[0.0]])
    assert (one.n_centers, one.coherence, one.babel, one.condition_number, one.residual_bound) == (
        1,
        0,
        0,
        1,
        1,
    )
    assert one.axes[0].error == pytest.approx(0, abs=1e-12)


# Pictures


@pytest.mark.parametrize("draw", [plots.coherence_bounds, plots.approximation_regions])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures_are_written(tmp_path, draw, suffix):
    path = draw(tmp_path / "new" / f"picture.{suffix}")
    assert path.stat().st_size > 5000


def test_pictures_of_other_settings(tmp_path):
    assert plots.coherence_bounds(tmp_path / "a.png", coherences=[0.5]).exists()
    assert plots.approximation_regions(tmp_path / "b.png", sizes=[3]).exists()
    with pytest.raises(ValueError, match="below 1"):
        plots.coherence_bounds(tmp_path / "c.png", coherences=[1.0])
