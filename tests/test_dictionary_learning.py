"""Online kernel dictionary learning against its specifications."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline

from parsimon import KernelDictionaryClassifier, KernelDictionaryLearning, _core, kernels
from parsimon.updates import Schedule

POLYNOMIAL = kernels.Polynomial(degree=4, gamma=1.0, offset=1.0)


def held(step):
    return lambda n: step / (1 + min(n, 2000) / 1000)


def codes(D, phi, lam, start=None):
    """The core's lasso on explicit features: D (p, K), phi (n, p)."""
    b = phi @ D
    return _core.sparse_codes(
        D.T @ D, b, (phi**2).sum(axis=1), lam, 1e-12, np.zeros_like(b) if start is None else start
    )


@pytest.mark.parametrize("admission", ["always", "coherence", "reconstruction"])
@pytest.mark.parametrize("update", ["parameter", "feature"])
@pytest.mark.parametrize(
    "kernel", [kernels.Gaussian(0.3), POLYNOMIAL], ids=["gaussian", "polynomial"]
)
def test_trajectory_is_that_of_table_1(kernel, update, admission):
    X = np.random.default_rng(0).normal(size=(500, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    options = {
        "alpha": 0.05,
        "penalty": 0.1,
        "step_size": 0.003,
        "budget": 20,
        "n_init": 10,
        "init_scale": 0.1,
    }
    model = KernelDictionaryLearning(
        8,
        kernel,
        update=update,
        admission=admission,
        coherence=0.8,
        tolerance=0.3,
        random_state=0,
        **options,
    )
    model.partial_fit(X)
    stored, Omega = oracle.kernel_dl(
        kernel,
        X,
        0.1 * np.random.RandomState(0).standard_normal((10, 8)),
        0.05,
        0.1,
        held(0.003),
        20,
        gamma=0.8 if admission == "coherence" else np.inf,
        epsilon=0.3 if admission == "reconstruction" else -1.0,
        parameter=update == "parameter",
    )
    np.testing.assert_array_equal(model.centers_, stored)
    np.testing.assert_allclose(model.components_, Omega, rtol=0, atol=1e-8)
    K = kernel(model.centers_, model.centers_)
    np.testing.assert_allclose(model.gram_, Omega.T @ K @ Omega, rtol=0, atol=1e-8)
    assert model.n_samples_seen_ == 500
    assert model.n_samples_learned_ <= 490


def test_with_a_linear_kernel_it_is_plain_online_dictionary_learning():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    model = KernelDictionaryLearning(
        4,
        "linear",
        update="feature",
        admission="always",
        budget=1000,
        n_init=20,
        init_scale=0.5,
        random_state=0,
    )
    model.partial_fit(X)
    D = X[:20].T @ (0.5 * np.random.RandomState(0).standard_normal((20, 4)))
    for n in range(21, 301):
        x, rate = X[n - 1], held(0.01)(n)
        alpha = oracle.lasso(D.T @ D, D.T @ x, 0.05)
        D = D - rate * (-np.outer(x - D @ alpha, alpha) + 0.1 * D)
    np.testing.assert_allclose(model.centers_.T @ model.components_, D, rtol=0, atol=1e-8)


@given(seed=st.integers(0, 10**6), K=st.integers(1, 30), lam=st.floats(1e-3, 10.0))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the peer
def test_codes_are_those_of_the_lasso(seed, K, lam):
    rng = np.random.default_rng(seed)
    D, phi = rng.normal(size=(40, K)), rng.normal(size=(5, 40))
    found = codes(D, phi, lam)
    c = (phi - found @ D.T) @ D
    assert np.all(np.abs(c) <= lam + 1e-6)
    assert np.all(np.abs(c - lam * np.sign(found))[found != 0] <= 1e-6)
    theirs = Lasso(alpha=lam / 40, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(D, phi.T)
    np.testing.assert_allclose(found, theirs.coef_.reshape(5, K), rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        codes(D, phi, lam, start=rng.normal(size=(5, K))), found, rtol=0, atol=1e-9
    )


def test_codes_over_dependent_atoms_are_optimal_too():
    rng = np.random.default_rng(0)
    D = rng.normal(size=(10, 4)) @ rng.normal(size=(4, 30))  # thirty atoms in four dimensions
    D[:, 3] = 0.0
    phi = rng.normal(size=(20, 10))
    found = codes(D, phi, 0.3)
    c = (phi - found @ D.T) @ D
    assert np.all(np.abs(c) <= 0.3 + 1e-5)
    assert np.all(np.abs(c - 0.3 * np.sign(found))[found != 0] <= 1e-5)
    assert (found[:, 3] == 0).all()


def ring(n, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, size=n)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) + noise * rng.normal(size=(n, 2))


def test_transform_error_and_score_fit_together():
    X = ring(500)
    model = KernelDictionaryLearning(12, gamma=1.0, budget=30, step_size=0.1, random_state=0).fit(X)
    A, K = model.transform(X), model.kernel_(X, model.centers_)
    errors = (
        1
        - 2 * np.sum(A * (K @ model.components_), axis=1)
        + np.einsum("ij,jk,ik->i", A, model.gram_, A)
    )
    np.testing.assert_allclose(model.reconstruction_error(X), errors, rtol=0, atol=1e-10)
    assert model.score(X) == pytest.approx(-errors.mean())
    assert model.score_samples([[0.0, 0.0]])[0] < np.quantile(model.score_samples(X), 0.05)
    assert (A == 0).mean() > 0.3
    np.testing.assert_array_equal(model.transform(X[7:8])[0], A[7])
    assert model.get_feature_names_out()[0] == "kerneldictionarylearning0"


@pytest.mark.parametrize("update", ["parameter", "feature"])
def test_a_block_equals_its_rows(update):
    X = ring(200)
    block, rows = (
        KernelDictionaryLearning(6, gamma=1.0, budget=15, update=update, random_state=0)
        for _ in range(2)
    )
    block.partial_fit(X[:1]).partial_fit(X[1:])
    for x in X:
        rows.partial_fit(x[None])
    np.testing.assert_array_equal(block.components_, rows.components_)
    np.testing.assert_array_equal(block.gram_, rows.gram_)


@pytest.mark.parametrize("update", ["parameter", "feature"])
def test_costs_fall_and_are_those_before_each_step(update):
    X = ring(3000)
    options = {"gamma": 1.0, "budget": 20, "step_size": 0.1, "update": update, "random_state": 0}
    model = KernelDictionaryLearning(10, **options)
    costs = model.learning_costs(X[:100])
    np.testing.assert_array_equal(
        model.components_, KernelDictionaryLearning(10, **options).partial_fit(X[:100]).components_
    )
    A, G = model.transform(X[100:101])[0], model.gram_
    expected = (
        0.5 * model.reconstruction_error(X[100:101])[0]
        + 0.05 * np.abs(A).sum()
        + 0.05 * np.trace(G)
    )
    costs = np.append(costs, model.learning_costs(X[100:]))
    assert costs[100] == pytest.approx(expected, rel=1e-9)
    assert costs[-500:].mean() < 0.75 * costs[:10].mean()


@pytest.mark.parametrize("kernel", ["gaussian", POLYNOMIAL], ids=["gaussian", "polynomial"])
def test_copies_have_coherence_one_whatever_rounding_says(kernel):
    X = np.random.default_rng(0).normal(size=(30, 7)) / 3
    model = KernelDictionaryLearning(5, kernel, budget=100, n_init=5, random_state=0).partial_fit(X)
    before = model.components_
    assert model.n_centers_ == 30
    np.testing.assert_array_equal(model.partial_fit(X).components_, before)  # all of them are there
    always = KernelDictionaryLearning(
        5, kernel, budget=100, n_init=5, admission="always", random_state=0
    )
    assert always.partial_fit(X).partial_fit(X).n_centers_ == 60


@pytest.mark.parametrize("update", ["parameter", "feature"])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((60, 3)),
        np.ones((60, 3)),
        np.repeat(np.eye(3), 20, axis=0),
        1e8 * np.random.default_rng(0).normal(size=(60, 3)),
        1e-200 * np.random.default_rng(0).normal(size=(60, 3)),
    ],
    ids=["zeros", "constant", "copies", "huge", "tiny"],
)
@pytest.mark.parametrize(
    "kernel", ["linear", "gaussian", POLYNOMIAL], ids=["linear", "gaussian", "polynomial"]
)
def test_hostile_samples_give_finite_atoms(X, update, kernel):
    for admission in ("coherence", "reconstruction", "always"):
        model = KernelDictionaryLearning(
            4, kernel, update=update, admission=admission, budget=6, step_size=10.0, random_state=0
        )
        model.partial_fit(X).partial_fit(X)
        assert model.n_centers_ <= 6
        for array in (
            model.components_,
            model.gram_,
            model.transform(X),
            model.reconstruction_error(X),
        ):
            assert np.isfinite(array).all()


def test_a_huge_alpha_makes_all_codes_vanish():
    X = ring(200)
    model = KernelDictionaryLearning(5, gamma=1.0, alpha=100.0, budget=20, random_state=0).fit(X)
    assert not model.transform(X).any()
    np.testing.assert_allclose(model.reconstruction_error(X), 1.0)


@pytest.mark.parametrize("update", ["parameter", "feature"])
def test_no_step_leaves_its_samples_cost_higher(update):
    X = np.random.default_rng(0).normal(size=(80, 3))
    options = {
        "budget": 1000,
        "n_init": 5,
        "step_size": 50.0,
        "schedule": "constant",
        "admission": "always",
    }
    model = KernelDictionaryLearning(
        4, POLYNOMIAL, update=update, random_state=0, **options
    ).partial_fit(X[:5])
    for x in X[5:]:
        before = model.learning_costs(x[None])[0]
        A = model.transform(x[None])[0]
        after = (
            0.5 * model.reconstruction_error(x[None])[0]
            + 0.05 * np.abs(A).sum()
            + 0.05 * np.trace(model.gram_)
        )
        assert after <= before * (1 + 1e-9)


def test_memory_is_flat_and_the_budget_holds():
    X = ring(400)
    model = KernelDictionaryLearning(6, gamma=1.0, budget=12, random_state=0).partial_fit(X[:50])
    held_bytes = model.nbytes_
    for _ in range(5):
        assert model.partial_fit(X).nbytes_ == held_bytes
        assert model.n_centers_ == 12


def test_classes_by_least_reconstruction_error():
    X = np.vstack([ring(400), 2.5 * ring(400, 1), 0.3 * ring(400, 2)])
    y = np.repeat(["middle", "outer", "inner"], 400)
    options = {"gamma": 1.0, "budget": 40, "step_size": 0.1, "coherence": 0.9, "random_state": 0}
    model = KernelDictionaryClassifier(10, **options).fit(X, y)
    assert model.score(X, y) > 0.97
    errors = model.reconstruction_errors(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[errors.argmin(axis=1)])
    sizes = dict(zip(model.classes_, model.n_centers_, strict=True))
    assert sizes["inner"] < sizes["middle"] < sizes["outer"] <= 40  # as many as the class needs
    one = KernelDictionaryLearning(10, **options).set_params(random_state=np.random.RandomState(0))
    one.kernel, one.gamma = model.kernel_, "scale"
    one.partial_fit(X[y == "inner"])
    both = KernelDictionaryClassifier(10, **options).partial_fit(X[y == "inner"], y[y == "inner"])
    np.testing.assert_array_equal(both.reconstruction_errors(X)[:, 0], one.reconstruction_error(X))


def test_classes_met_as_they_come_and_refused_blocks():
    X, y = ring(90), np.repeat([2, 0, 1], 30)
    model = KernelDictionaryClassifier(4, gamma=1.0, budget=10, random_state=0)
    for first in range(0, 90, 30):
        model.partial_fit(X[first : first + 30], y[first : first + 30])
    assert model.classes_.tolist() == [0, 1, 2]
    before = model.reconstruction_errors(X)
    for bad_X, bad_y, message in [
        (np.vstack([X[:1], [[np.nan, 0]]]), [0, 7], "NaN at row 1, column 0"),
        (X[:2], ["a", "b"], "labels so far"),
        (X[:2], [0], "rows"),
        (X[:2, :1], [0, 1], "features"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            model.partial_fit(bad_X, bad_y)
        assert model.classes_.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(model.reconstruction_errors(X), before)
    closed = KernelDictionaryClassifier(4, gamma=1.0, budget=10).partial_fit(
        X, y, classes=[0, 1, 2]
    )
    with pytest.raises(ValueError, match="label 9 at row 1"):
        closed.partial_fit(X[:2], [0, 9])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"alpha": -1}, "alpha"),
        ({"penalty": -1}, "penalty"),
        ({"step_size": 0}, "step_size"),
        ({"schedule": "slow"}, "'slow'"),
        ({"update": "both"}, "'both'"),
        ({"admission": "none"}, "'none'"),
        ({"coherence": 1.5}, "coherence"),
        ({"tolerance": -1}, "tolerance"),
        ({"budget": 0}, "budget"),
        ({"n_init": 20, "budget": 10}, "n_init=20"),
        ({"init_scale": -1}, "init_scale"),
        ({"n_passes": 0}, "n_passes"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_left_behind(options, message):
    model = KernelDictionaryLearning(**options)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(ring(20))
    assert vars(model) == vars(clone(model))


def test_codes_feed_a_pipeline():
    X = np.vstack([ring(300), 2.0 * ring(300, 1)])
    y = np.repeat([0, 1], 300)
    learner = KernelDictionaryLearning(
        20, gamma=1.0, budget=40, step_size=0.1, schedule=Schedule(0.5, 100), random_state=0
    )
    assert make_pipeline(learner, LogisticRegression(C=100)).fit(X, y).score(X, y) > 0.95


def test_never_admitted_samples_are_learned_all_the_same():
    X = np.random.default_rng(0).normal(size=(200, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = KernelDictionaryLearning(
        5,
        POLYNOMIAL,
        admission="never",
        n_init=12,
        budget=12,
        step_size=0.001,
        schedule="constant",
        random_state=0,
    ).partial_fit(X)
    np.testing.assert_array_equal(model.centers_, X[:12])
    Omega, K = 0.1 * np.random.RandomState(0).standard_normal((12, 5)), POLYNOMIAL(X[:12], X[:12])
    for x in X[12:]:
        h = POLYNOMIAL(X[:12], x[None])[:, 0]
        alpha = oracle.lasso(Omega.T @ K @ Omega, Omega.T @ h, 0.05)
        Omega = Omega - 0.001 * (
            K @ Omega @ (np.outer(alpha, alpha) + 0.1 * np.eye(5)) - np.outer(h, alpha)
        )
    np.testing.assert_allclose(model.components_, Omega, rtol=0, atol=1e-8)
    with pytest.raises(ValueError, match="never"):
        KernelDictionaryLearning(5, admission="never", update="feature").fit(X)


def test_a_block_refused_in_the_middle_changes_nothing():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = KernelDictionaryClassifier(4, "linear", budget=8, random_state=0).partial_fit(
        X[:50], np.arange(50) % 2
    )
    before, drawn = model.reconstruction_errors(X), model._rng.get_state()[1].copy()
    with pytest.raises(ValueError, match="row 10"):
        model.partial_fit(np.vstack([X[50:], [[1e50] * 3]]), [0] * 10 + [7])
    assert model.n_samples_seen_ == 50
    np.testing.assert_array_equal(model.reconstruction_errors(X), before)
    np.testing.assert_array_equal(model._rng.get_state()[1], drawn)


@pytest.mark.parametrize("lam", [0.0, 1e-8, 1e-4])
def test_small_penalties_over_dependent_atoms_end_soon_and_nearly_right(lam):
    rng = np.random.default_rng(0)
    D, phi = rng.normal(size=(20, 50)), rng.normal(size=(10, 20))
    found = codes(D, phi, lam)
    c = (phi - found @ D.T) @ D
    assert np.abs(c).max() <= lam + 1e-3


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        (
            {
                "alpha": 0.0,
                "init_scale": 1e-150,
                "penalty": 0.0,
                "step_size": 1.0,
                "kernel": "linear",
            },
            1e30,
        ),
        ({"init_scale": 1e10, "penalty": 1e10, "kernel": "linear"}, 1e39),
        ({"alpha": 0.0, "init_scale": 1e-150, "step_size": 1e10, "kernel": "linear"}, 1.0),
        ({"budget": 10**6}, 1.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("update", ["parameter", "feature"])
def test_extreme_parameters_give_finite_atoms(options, scale, update):
    X = np.random.default_rng(0).normal(size=(40, 3)) * scale
    model = KernelDictionaryLearning(
        4,
        **{"admission": "always", "budget": 6, "n_init": 4, **options},
        update=update,
        random_state=0,
    )
    model.partial_fit(X)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.gram_).all()
    assert model.nbytes_ < 10**6
