"""The baselines against finite differences, scikit-learn on the same features, a dual bound, a
quadratic program and each other.
"""

import numpy as np
import oracle
import pytest
from scipy.linalg import cholesky
from scipy.optimize import check_grad, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from parsimon.datasets import make_multidist
from parsimon.experiments.engel_2002.baselines import SVRseq, homogenised
from parsimon.experiments.koppel_2019 import baselines
from parsimon.experiments.koppel_2019.baselines import (
    ImportVectorMachine,
    KernelLBFGS,
    import_vectors,
)
from parsimon.losses import MulticlassHinge, MultinomialLogistic

GAMMA, ALPHA, N = 1.4, 1e-3, 200


@pytest.fixture(scope="module")
def data():
    X, y = make_multidist(1000 + N, n_classes=3, random_state=3)
    return X[:N], y[:N], X[N:], y[N:]


@pytest.fixture(scope="module")
def K(data):
    X = data[0]
    return np.exp(-GAMMA * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))


@pytest.fixture(scope="module")
def logistic(data):
    return KernelLBFGS(GAMMA, ALPHA, tolerance=1e-14).fit(*data[:2])


def features(K):
    return cholesky(K + 1e-12 * np.eye(len(K)), lower=True)


def norms(model):
    """Return sum_c ||f_c||^2 from the centres and coefficients."""
    D = ((model.centers_[:, np.newaxis] - model.centers_) ** 2).sum(axis=2)
    return np.einsum("ic,ij,jc", model.coef_, np.exp(-model.gamma * D), model.coef_, optimize=True)


@pytest.mark.parametrize("loss", [MultinomialLogistic(), MulticlassHinge()])
def test_the_losses_are_the_package_s(loss):
    rng = np.random.default_rng(0)
    F, y = rng.normal(size=(50, 4)), rng.integers(4, size=50)
    expected = loss.values(F, loss.targets(y, np.full(50, 4), 4)).ravel()
    if isinstance(loss, MultinomialLogistic):
        np.testing.assert_allclose(baselines.smooth_loss(F, y)[0], expected, rtol=1e-12)
    else:
        np.testing.assert_allclose(baselines.hinge(F, y), expected, rtol=1e-12, atol=1e-15)
        above = baselines.smooth_loss(F, y, 1.0, 0.01)[0] - expected
        assert above.min() >= -1e-15
        assert above.max() <= 0.01 * np.log(4)


@pytest.mark.parametrize(("margin", "temperature"), [(0.0, 1.0), (1.0, 0.1)])
def test_the_gradient_is_that_of_the_risk(data, K, margin, temperature):
    Phi, _ = baselines.orthonormal(K)
    Phi = Phi[:, :20]
    v = np.random.default_rng(1).normal(size=3 * Phi.shape[1])
    args = Phi, data[1], 0.1, margin, temperature
    error = check_grad(
        lambda v: baselines.risk(v, *args)[0],
        lambda v: baselines.risk(v, *args)[1],
        v,
        epsilon=1e-6,
    )
    assert error < 1e-5


def test_the_basis_gives_the_kernel_back(K):
    wide = K ** (1 / 7)  # gamma = 0.2, where K is singular to rounding
    Phi, S = baselines.orthonormal(wide)
    np.testing.assert_allclose(Phi @ Phi.T, wide, atol=1e-11)
    assert Phi.shape == (N, len(S))
    assert len(S) < N
    assert not np.triu(Phi[S], 1).any()


def test_the_logistic_minimum_is_stationary_in_the_coefficients_of_all_samples(data, K, logistic):
    X, y = data[:2]
    F = logistic.decision_function(X)
    P = logistic.predict_proba(X) - np.eye(3)[y]
    assert np.abs(K @ P / N + ALPHA * F).max() < 1e-6
    value = (
        np.log(np.exp(F).sum(axis=1)).mean()
        - F[np.arange(N), y].mean()
        + ALPHA / 2 * norms(logistic)
    )
    assert logistic.objective_ == pytest.approx(value, rel=1e-9)
    assert logistic.n_centers_ == N


def test_the_logistic_minimum_is_scikit_learn_s(data, K, logistic):
    L = features(K)
    other = LogisticRegression(
        C=1 / (N * ALPHA), fit_intercept=False, tol=1e-9, max_iter=20_000
    ).fit(L, data[1])
    np.testing.assert_allclose(logistic.predict_proba(data[0]), other.predict_proba(L), atol=1e-4)


@pytest.mark.parametrize("alpha", [1e-2, 1e-3])
def test_the_hinge_minimum_is_scikit_learn_s_and_above_the_dual(data, K, alpha):
    X, y = data[:2]
    model = KernelLBFGS(GAMMA, alpha, "hinge").fit(X, y)
    L = features(K)
    other = LinearSVC(
        multi_class="crammer_singer",
        C=1 / (N * alpha),
        fit_intercept=False,
        tol=1e-6,
        max_iter=20_000,
        random_state=0,
    ).fit(L, y)
    reference = baselines.hinge(L @ other.coef_.T, y).mean() + alpha / 2 * np.sum(other.coef_**2)
    assert model.objective_ == pytest.approx(reference, rel=1e-3)
    # Any distributions over the classes give a lower bound on the minimum: here those of the
    # smoothed loss.
    A = baselines.smooth_loss(model.decision_function(X), y, 1.0, 1e-3)[1]
    dual = A.clip(min=0).sum() / N - np.einsum("ic,ij,jc", A, K, A, optimize=True) / (
        2 * N**2 * alpha
    )
    assert dual <= model.objective_ <= 1.002 * dual
    value = baselines.hinge(model.decision_function(X), y).mean() + alpha / 2 * norms(model)
    assert model.objective_ == pytest.approx(value, rel=1e-9)


def test_a_newton_step_with_a_candidate_is_that_of_the_whole_system(data, K):
    Phi, S = baselines.orthonormal(K)
    y, q, pool = data[1], 4, np.arange(4, 9)
    V = np.random.default_rng(2).normal(size=(3, q))
    sample, column, reached = import_vectors._Newton(Phi[:, :q], y, 0.1, V).best(
        S[pool], Phi[:, pool]
    )
    risks = {}
    for k in pool:
        whole = np.column_stack([Phi[:, :q], Phi[:, k]])
        start = np.column_stack([V, np.zeros(3)])
        at = import_vectors._Newton(whole, y, 0.1, start)
        step = start - np.linalg.solve(at.H, at.gradient).reshape(3, q + 1)
        risks[k] = baselines.risk(step, whole, y, 0.1)[0]
        if S[k] == sample:
            np.testing.assert_array_equal(column, Phi[:, k])
            np.testing.assert_allclose(reached, step, atol=1e-10)
    assert sample == S[min(risks, key=risks.get)]


def test_the_hessian_is_the_gradient_s_slope(data, K):
    Phi = baselines.orthonormal(K)[0][:, :5]
    V = np.random.default_rng(3).normal(size=(3, 5))
    at = import_vectors._Newton(Phi, data[1], 0.1, V)
    for i, e in enumerate(1e-5 * np.eye(15)):
        up, down = (baselines.risk(V.ravel() + s * e, Phi, data[1], 0.1)[1] for s in (1, -1))
        np.testing.assert_allclose((up - down) / 2e-5, at.H[i], atol=1e-8)


def test_the_import_vector_machine_comes_near_the_batch_minimum(data, logistic):
    X, y = data[:2]
    model = ImportVectorMachine(GAMMA, ALPHA, N, 1e-3).fit(X, y)
    assert logistic.objective_ <= model.objective_[-1] <= 1.05 * logistic.objective_
    assert model.n_centers_ == len(model.objective_) - 1 < N / 2
    thorough = ImportVectorMachine(GAMMA, ALPHA, N, 1e-6, window=5).fit(X, y)
    assert thorough.objective_[-1] == pytest.approx(logistic.objective_, rel=1e-5)
    np.testing.assert_allclose(thorough.predict_proba(X), logistic.predict_proba(X), atol=1e-2)


def test_twenty_import_vectors_classify_about_as_well(data, logistic):
    X, y, Z, truth = data
    model = ImportVectorMachine(GAMMA, ALPHA, 20, 0.0).fit(X, y)
    assert model.n_centers_ == 20
    assert len(set(model.vectors_.tolist())) == 20
    np.testing.assert_array_equal(model.centers_, X[model.vectors_])
    assert (np.diff(model.objective_) < 0).all()
    assert np.mean(model.predict(Z) != truth) <= np.mean(logistic.predict(Z) != truth) + 0.02


@pytest.mark.parametrize("model", [KernelLBFGS(1.0, 1e-3), ImportVectorMachine(1.0, 1e-3, 5)])
def test_classes_may_be_of_any_kind(model):
    X, y = make_multidist(60, n_classes=2, random_state=0)
    names = np.array(["left", "right"])[y]
    model.fit(X, names)
    assert set(model.predict(X)) <= {"left", "right"}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="two classes"):
        model.fit(X, np.zeros(60))
    with pytest.raises(ValueError, match=r"\(n, d\)"):
        model.fit(X, y[:5])


def test_what_does_not_fit_is_refused(data):
    with pytest.raises(ValueError, match="unknown loss"):
        KernelLBFGS(1.0, 1e-3, "squared")
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelLBFGS(1.0, 1e-3, "hinge", max_iter=3).fit(*data[:2])
    with pytest.raises(AttributeError, match="no probabilities"):
        model.predict_proba(data[0])


@pytest.fixture(scope="module")
def sinc():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(N, 1))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=N)


def batch_svr(K, y, C, epsilon):
    """Return alpha* - alpha and the maximum of the dual (2.3), by L-BFGS-B on both vectors."""
    n = len(y)

    def negative(both):
        w = both[:n] - both[n:]
        f = K @ w
        return w @ (0.5 * f - y) + epsilon * both.sum(), np.concatenate([f - y, y - f]) + epsilon

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-8, "maxcor": 50}
    found = minimize(
        negative,
        np.zeros(2 * n),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, C)] * 2 * n,
        options=options,
    )
    return found.x[:n] - found.x[n:], -found.fun


@pytest.mark.parametrize(
    ("gamma", "C", "epsilon"), [(0.5, 1.0, 0.05), (1 / 18, 1.0, 0.1), (0.5, 0.1, 0.0)]
)
def test_svrseq_comes_to_the_batch_solution(sinc, gamma, C, epsilon):
    X, y = sinc
    kernel = homogenised(gamma, 0.1)
    model = SVRseq(kernel, C=C, epsilon=epsilon, tolerance=0.02).fit(X, y)
    w, largest = batch_svr(kernel(X, X), y, C, epsilon)
    Z = np.linspace(-10, 10, 500)[:, np.newaxis]
    np.testing.assert_allclose(model.predict(Z), kernel(Z, X) @ w, atol=0.02)
    assert largest - model.gap_ <= model.dual_value_ <= largest + 1e-6
    assert np.abs(model.dual_coef_).max() <= C


def test_svrseq_is_table_1(sinc):
    X, y = sinc
    kernel = homogenised(0.5, 0.1)
    with pytest.warns(ConvergenceWarning, match="max_passes=3"):
        model = SVRseq(kernel, C=0.5, epsilon=0.05, step_size=0.7, max_passes=3).fit(X, y)
    expected = oracle.svrseq(kernel(X, X), y, 0.7, 0.05, 0.5, 3)
    np.testing.assert_allclose(model.dual_coef_, expected, atol=1e-12)
    assert model.support_.tolist() == np.flatnonzero(model.dual_coef_).tolist()
    with pytest.raises(ValueError, match=r"y \(n,\)"):
        model.fit(X, y[:5])
