"""KRLS, SPL, KLMS, QKLMS and NORMA against their oracles, and what holds for every filter."""

import numpy as np
import oracle
import pytest

from parsimon import (
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    NORMARegressor,
    SPLRegressor,
    kernels,
    published,
)

GAUSSIAN = kernels.Gaussian(0.7)
COMPOSED = kernels.Matern52(0.5) + 0.2 * kernels.Polynomial(2, gamma=0.3)


def stream(n, d=2, outputs=2, seed=0, scale=1.5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d)) * scale
    Y = np.column_stack([np.sin(2 * X[:, 0] + c) + X[:, -1] * X[:, 0] for c in range(outputs)])
    return X, Y + 0.1 * rng.normal(size=Y.shape)


#: name: (estimator, oracle). Sizes are chosen so that several hundred centres would be there
#: without sparsification.
CASES = {
    "klms": (
        lambda k: published(KLMSRegressor, k, step_size=0.3),
        lambda k, X, Y: oracle.klms(k, X, Y, step_size=0.3),
    ),
    "qklms": (
        lambda k: published(KLMSRegressor, k, step_size=0.3, quantization=0.25),
        lambda k, X, Y: oracle.klms(k, X, Y, step_size=0.3, radius=0.25),
    ),
    "norma": (
        lambda k: published(NORMARegressor, k, step_size=0.3, alpha=0.01, budget=60),
        lambda k, X, Y: oracle.norma(k, X, Y, step_size=0.3, alpha=0.01, budget=60),
    ),
    "krls_ald": (
        lambda k: published(KRLSRegressor, k, tolerance=1e-2),
        lambda k, X, Y: oracle.krls_ald(k, X, Y, nu=1e-2),
    ),
    "krls_ald_forgetting": (
        lambda k: published(KRLSRegressor, k, tolerance=1e-2, ridge=0.1, forgetting=0.995),
        lambda k, X, Y: oracle.krls_ald(k, X, Y, nu=1e-2, ridge=0.1, forgetting=0.995),
    ),
    "krls_coherence": (
        lambda k: published(KRLSRegressor, k, admission="coherence", coherence=0.7),
        lambda k, X, Y: oracle.krls_coherence(k, X, Y, mu0=0.7),
    ),
    "krls_coherence_forgetting": (
        lambda k: published(
            KRLSRegressor, k, admission="coherence", coherence=0.7, ridge=0.01, forgetting=0.995
        ),
        lambda k, X, Y: oracle.krls_coherence(k, X, Y, mu0=0.7, ridge=0.01, forgetting=0.995),
    ),
    "spl": (
        lambda k: published(SPLRegressor, k, step_size=0.4, tolerance=0.02),
        lambda k, X, Y: oracle.spl(k, X, Y, step_size=0.4, eps0=0.02),
    ),
    "spl_coherence": (
        lambda k: published(
            SPLRegressor, k, step_size=0.4, admission="coherence", coherence=0.9, budget=20
        ),
        lambda k, X, Y: oracle.spl(k, X, Y, step_size=0.4, mu0=0.9, budget=20),
    ),
    "spl_cheaper": (
        lambda k: published(
            SPLRegressor,
            k,
            step_size=0.4,
            admission="coherence",
            coherence=0.9,
            budget=20,
            removal="cheaper",
        ),
        lambda k, X, Y: oracle.spl(k, X, Y, step_size=0.4, mu0=0.9, budget=20, removal="cheaper"),
    ),
    "spl_adaptive": (
        lambda k: published(
            SPLRegressor, k, step_size=0.4, admission="coherence", coherence="adaptive", budget=20
        ),
        lambda k, X, Y: oracle.spl(k, X, Y, step_size=0.4, mu0="adaptive", budget=20),
    ),
}
every_case = pytest.mark.parametrize("case", CASES)


def state(model):
    return model.centers_.tobytes(), model.weights_.tobytes(), model.n_samples_seen_


@every_case
@pytest.mark.parametrize("kernel", [GAUSSIAN, COMPOSED], ids=["gaussian", "composed"])
def test_trajectory_equals_the_oracle(case, kernel):
    make, specification = CASES[case]
    X, Y = stream(500 if case == "klms" and kernel is COMPOSED else 3000)
    predictions, centres, weights = specification(kernel, X, Y)
    model = make(kernel)
    ours = model.predict_then_learn(X, Y)
    np.testing.assert_array_equal(model.centers_, centres)
    scale = max(1.0, np.abs(predictions).max())
    np.testing.assert_allclose(ours, predictions, rtol=0, atol=1e-8 * scale)
    # Weights are no better determined than the Gram matrix is conditioned; the function is.
    Z, _ = stream(200, seed=1)
    np.testing.assert_allclose(
        model.predict(Z), kernel(Z, centres) @ weights, rtol=0, atol=1e-8 * scale
    )


@every_case
@pytest.mark.parametrize("outputs", [1, 3])
def test_block_chunks_and_loop_are_bit_identical(case, outputs):
    X, Y = stream(800, outputs=outputs)
    y = Y if outputs > 1 else Y[:, 0]
    make = CASES[case][0]
    block, chunks, loop = make(GAUSSIAN).partial_fit(X, y), make(GAUSSIAN), make(GAUSSIAN)
    for rows in np.split(np.arange(len(X)), [1, 2, 9, 40, 41, 170, 601]):
        chunks.partial_fit(X[rows], y[rows])
    before = []
    for i, (x, target) in enumerate(zip(X, y, strict=True)):
        before.append(loop.predict_one(x) if i else np.zeros(outputs).squeeze())
        loop.learn_one(x, target)
    assert state(block) == state(chunks) == state(loop)
    np.testing.assert_array_equal(
        make(GAUSSIAN).predict_then_learn(X, y), np.array(before).reshape(y.shape)
    )


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_ald_krls_is_least_squares_in_the_dictionary(ridge, weighted):
    rng = np.random.default_rng(0)
    centres = np.array([[a, b] for a in (-2, -1, 0, 1, 2) for b in (-2, -1, 0, 1, 2)], dtype=float)
    X = np.vstack([centres, rng.uniform(-2, 2, size=(2000, 2))])
    y = np.sin(X[:, 0]) * X[:, 1] + 0.2 * rng.normal(size=len(X))
    s = rng.uniform(0.2, 3, size=len(X)) if weighted else np.ones(len(X))
    kernel = kernels.Gaussian(0.4)
    K = kernel(centres)
    nu = 1.01 * max(
        1 - kernel(x[None], centres)[0] @ np.linalg.solve(K, kernel(x[None], centres)[0])
        for x in X[25:]
    )
    model = published(KRLSRegressor, kernel, tolerance=nu, ridge=ridge).fit(X, y, sample_weight=s)
    assert model.n_centers_ == 25  # the centres all came first
    A = np.linalg.solve(K, kernel(centres, X)).T
    values = np.linalg.solve(A.T @ (s[:, None] * A) + ridge * np.eye(25), A.T @ (s * y))
    Z = rng.uniform(-2, 2, size=(500, 2))
    np.testing.assert_allclose(
        model.predict(Z), kernel(Z, centres) @ np.linalg.solve(K, values), atol=1e-6
    )


def test_coherence_krls_is_ridge_regression_on_rows():
    rng = np.random.default_rng(0)
    X = np.vstack([[[0.0]], [[2.0]], [[4.0]], rng.uniform(-1, 5, size=(500, 1))])
    y = np.sin(X[:, 0])
    kernel = kernels.Gaussian(0.3)
    model = published(KRLSRegressor, kernel, admission="coherence", coherence=0.35, ridge=0.2).fit(
        X, y
    )
    H = kernel(X, model.centers_)
    first = [int(np.flatnonzero((c == X).all(axis=1))[0]) for c in model.centers_]
    for column, row in enumerate(first):
        H[:row, column] = 0.0  # rows seen before the centre entered
    expected = np.linalg.solve(H.T @ H + 0.2 * np.eye(H.shape[1]), H.T @ y)
    np.testing.assert_allclose(model.weights_, expected, atol=1e-8)


@pytest.mark.parametrize("admission", ["ald", "coherence"])
def test_weights_are_repetitions_and_zeros_are_absences(admission):
    X, Y = stream(400, outputs=1)
    options = dict(kernel=GAUSSIAN, admission=admission, tolerance=0.05, coherence=0.6, ridge=0.1)
    counts = np.random.default_rng(0).integers(0, 4, size=400)
    weighted = published(KRLSRegressor, **options).fit(X, Y[:, 0], sample_weight=counts)
    repeated = published(KRLSRegressor, **options).fit(
        np.repeat(X, counts, axis=0), np.repeat(Y[:, 0], counts)
    )
    np.testing.assert_array_equal(weighted.centers_, repeated.centers_)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)


@pytest.mark.parametrize("admission", ["ald", "coherence"])
def test_eviction_is_least_squares_without_the_centre(admission):
    # One centre too many: the one that leaves is the one whose absence raises the squared error
    # least, and the rest is refitted.
    kernel = kernels.Gaussian(1.0)
    rng = np.random.default_rng(3)
    grid = np.linspace(-3, 3, 9)[:, None]
    X = np.vstack([grid, rng.uniform(-3, 3, size=(400, 1)), [[8.0]]])
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=len(X))
    options = dict(admission=admission, tolerance=0.5, coherence=0.6, ridge=1e-3)
    free = published(KRLSRegressor, kernel, **options).fit(X, y)
    assert free.n_centers_ == 10
    model = published(KRLSRegressor, kernel, **options, budget=9).fit(X, y)
    C = free.centers_
    K = kernel(C)
    A = np.linalg.solve(K, kernel(C, X)).T if admission == "ald" else kernel(X, C)
    if admission == "coherence":
        for column, row in enumerate([*range(9), len(X) - 1]):
            A[:row, column] = 0.0
    else:
        A[:9] = np.eye(10)[:9]
        A[-1] = np.eye(10)[9]
        A[9:-1, 9] = 0.0
        A[9:-1, :9] = np.linalg.solve(K[:9, :9], kernel(C[:9], X[9:-1])).T
    results = []
    for j in range(10):
        keep = np.arange(10) != j
        # Weights of j held at zero: w = K^-1 v in "ald", w itself in "coherence".
        to_values = K[:, keep] if admission == "ald" else np.eye(10)[:, keep]
        B = A @ to_values
        penalty = 1e-3 * to_values.T @ to_values
        w = np.linalg.solve(B.T @ B + penalty, B.T @ y)
        results.append((((y - B @ w) ** 2).sum() + w @ penalty @ w, keep, w))
    _, keep, w = min(results, key=lambda r: r[0])
    np.testing.assert_array_equal(model.centers_, C[keep])
    np.testing.assert_allclose(model.predict(X), kernel(X, C[keep]) @ w, atol=1e-7)


@pytest.mark.parametrize("admission", ["ald", "coherence"])
def test_budgeted_krls_with_forgetting_tracks_and_holds_its_memory(admission):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(12000, 1))
    sign = np.where((np.arange(12000) // 3000) % 2, -1.0, 1.0)
    y = sign * np.sin(2 * X[:, 0]) + 0.05 * rng.normal(size=12000)
    model = published(
        KRLSRegressor,
        gamma=1.0,
        admission=admission,
        tolerance=0.02,
        coherence=0.95,
        ridge=1e-3,
        forgetting=0.995,
        budget=12,
    )
    model.learn_one(X[0], y[0])
    size, errors = model.nbytes_, [0.0]
    for i in range(1, 12000, 500):
        errors.extend(
            (y[i : i + 500] - model.predict_then_learn(X[i : i + 500], y[i : i + 500])) ** 2
        )
        assert model.nbytes_ == size
        assert model.n_centers_ <= 12
    errors = np.array(errors)
    for end in (3000, 6000, 9000, 12000):
        assert errors[end - 500 : end].mean() < 0.006  # the noise alone: 0.0025


def held_factor(model, admission):
    """R with P = R'R of what anti-windup holds: the values at the centres for ALD, the weights for
    coherence.
    """
    R = model._learner.covariance_factor()
    return R @ model.kernel_(model.centers_) if admission == "ald" else R


@pytest.mark.parametrize("admission", ["ald", "coherence"])
@pytest.mark.parametrize("kind", ["constant", "corner"])
def test_covariance_stays_bounded_where_nothing_excites_it(admission, kind):
    rng = np.random.default_rng(0)
    model = published(
        KRLSRegressor,
        gamma=1.0,
        admission=admission,
        tolerance=0.01,
        coherence=0.8,
        forgetting=0.99,
    )
    X = rng.uniform(-3, 3, size=(500, 1))
    model.fit(X, np.sin(X[:, 0]))
    Z = np.full((40000, 1), 2.5) if kind == "constant" else rng.uniform(2, 3, size=(40000, 1))
    model.partial_fit(Z, np.sin(Z[:, 0]) + 0.1 * rng.normal(size=40000))
    R = held_factor(model, admission)
    assert np.isfinite(R).all()
    assert np.linalg.svd(R, compute_uv=False)[-1] > 0
    assert (R**2).sum(axis=0).max() <= (2e3 if admission == "ald" else 1e6) * 1.0001
    assert np.abs(model.weights_).max() < 1e4
    # The corner is still tracked, and what lies elsewhere can be learned again at once.
    model.partial_fit(X, -np.sin(X[:, 0]))
    assert np.abs(model.predict(X) + np.sin(X[:, 0])).max() < 0.3


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        (
            KRLSRegressor,
            {"admission": "novelty"},
            "unknown admission 'novelty'; known are 'ald', 'coherence'",
        ),
        (KRLSRegressor, {"tolerance": -1}, "tolerance"),
        (KRLSRegressor, {"forgetting": 0.05}, "forgetting"),
        (KRLSRegressor, {"ridge": 1e-300}, "ridge"),
        (KRLSRegressor, {"ridge": 1e300}, "ridge"),
        (KRLSRegressor, {"forgetting": 1.1}, "forgetting"),
        (KRLSRegressor, {"ridge": -1}, "ridge"),
        (KRLSRegressor, {"budget": 0}, "budget"),
        (
            SPLRegressor,
            {"admission": "ald"},
            "unknown admission 'ald'; known are 'residual', 'coherence'",
        ),
        (
            SPLRegressor,
            {"admission": "coherence", "coherence": "adaptive", "budget": None},
            "needs a budget",
        ),
        (
            SPLRegressor,
            {"admission": "coherence", "coherence": "low", "budget": 3},
            "unknown coherence 'low'",
        ),
        (SPLRegressor, {"admission": "coherence", "coherence": 2.0}, "coherence"),
        (
            SPLRegressor,
            {"admission": "coherence", "budget": 3, "removal": "both"},
            "unknown removal 'both'",
        ),
        (SPLRegressor, {"step_size": 2.0, "step": "explicit"}, "step_size < 2 / k"),
        (SPLRegressor, {"step_size": -1.0}, "step_size"),
        (KLMSRegressor, {"quantization": -1}, "quantization"),
        (KLMSRegressor, {"step_size": 2.5, "step": "explicit"}, "step_size < 2 / k"),
        (NORMARegressor, {"alpha": -1}, "alpha"),
        (NORMARegressor, {"alpha": 10.0, "step_size": 0.2}, r"step_size \* alpha must be < 1"),
    ],
)
def test_bad_parameters_are_named(estimator, parameters, message):
    X, Y = stream(20)
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(X, Y)


def test_klms_with_a_linear_kernel_and_a_budget_is_lms():
    # f has as many dimensions as there are features, so a budget above that loses nothing.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = X @ [1.0, -2.0, 0.5, 0.3] + 0.05 * rng.normal(size=500)
    model = published(KLMSRegressor, kernels.Linear(), step_size=0.02, budget=10)
    w = np.zeros(4)
    for x, target in zip(X, y, strict=True):
        predicted = model.predict_then_learn(x[None], [target])[0]
        assert predicted == pytest.approx(w @ x, rel=1e-9, abs=1e-9)
        w += 0.02 * (target - w @ x) * x


@pytest.mark.parametrize("estimator", [SPLRegressor, KLMSRegressor, NORMARegressor])
def test_the_step_size_is_checked_against_the_kernel(estimator):
    X, Y = stream(50, outputs=1)
    kernel = kernels.Polynomial(2)
    small = X / 10
    model = published(estimator, kernel, step_size=1.0).fit(small, Y[:, 0])  # k(x, x) < 2
    before = state(model)
    bad = small.copy()
    bad[7] = [1.0, 1.0]
    with pytest.raises(
        ValueError, match=r"k\(x, x\) of row 7 of X is 9: .* k\(x, x\) < 2 / step_size = 2"
    ):
        model.partial_fit(bad, Y[:, 0])
    assert state(model) == before
    model.predict(bad)  # predicting there is fine


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(49), "shape"),
        (-np.ones(50), "at row 0"),
        (np.r_[np.ones(49), np.nan], "at row 49"),
        (np.zeros(50), "zero"),
    ]
    + [(np.full(50, value), "at row 0: it must be 0, or from") for value in (1e-310, 1e-21, 1e21)],
)
def test_bad_weights_are_named(weights, message):
    X, Y = stream(50, outputs=1)
    model = published(KRLSRegressor, GAUSSIAN).fit(X, Y[:, 0])
    before = state(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y[:, 0], sample_weight=weights)
    assert state(model) == before


@pytest.mark.parametrize("case", [*CASES, "knlms"])
@pytest.mark.parametrize("data", ["ones", "duplicates", "tiny", "far"])
def test_weights_stay_finite(case, data):
    rng = np.random.default_rng(0)
    X = {
        "ones": np.ones((400, 2)),
        "duplicates": np.repeat(rng.normal(size=(4, 2)), 100, axis=0),
        "tiny": rng.normal(size=(400, 2)) * 1e-9,
        "far": rng.normal(size=(400, 2)) * 10 ** rng.uniform(-300, 300, size=(400, 1)),
    }[data]
    y = np.tile([1e100, -1e100, 1.0, 0.0], 100)
    model = published(KNLMSRegressor, GAUSSIAN) if case == "knlms" else CASES[case][0](GAUSSIAN)
    model.fit(X, y)
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("forgetting", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("admission", ["ald", "coherence"])
@pytest.mark.parametrize("budget", [None, 1, 2, 8])
def test_strong_forgetting_stays_finite(forgetting, admission, budget):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(3000, 1))
    y = np.sin(2 * X[:, 0])
    options = dict(tolerance=1e-3, coherence=0.9, forgetting=forgetting, budget=budget)
    model = published(KRLSRegressor, gamma=1.0, admission=admission, **options)
    errors = (y - model.predict_then_learn(X, y)) ** 2
    assert np.isfinite(model.weights_).all()
    if budget is None and forgetting >= 0.9:
        assert errors[-500:].mean() < 0.01
    R = model._learner.covariance_factor()
    assert np.isfinite(R).all()
    assert (np.diag(R) > 0).all()


@pytest.mark.parametrize("admission", ["ald", "coherence"])
def test_centres_that_keep_coming_do_not_wind_the_covariance_up(admission):
    X = np.arange(1250.0)[:, None] * 10  # 2^1250 is beyond doubles, 2^150 beyond the bounds below
    model = published(KRLSRegressor, gamma=1.0, admission=admission, forgetting=0.5, budget=150)
    model.fit(X, np.sin(X[:, 0])).partial_fit(X[-3:], np.ones(3))
    assert np.isfinite(model.weights_).all()
    R = held_factor(model, admission)
    assert (R**2).sum(axis=0).max() <= (2e3 if admission == "ald" else 1e6) * 1.0001


@pytest.mark.parametrize("admission", ["ald", "coherence"])
@pytest.mark.parametrize("weight", [1e-20, 1e20])
def test_an_odd_first_sample_does_not_spoil_the_rest(admission, weight):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1500, 1))
    weights = np.ones(1500)
    weights[0] = weight
    model = published(
        KRLSRegressor, gamma=1.0, admission=admission, coherence=0.7, ridge=0.01, forgetting=0.98
    )
    model.fit(X, np.sin(2 * X[:, 0]), sample_weight=weights)
    away = np.abs(X[:, 0] - X[0, 0]) > 0.5
    assert np.abs(model.predict(X) - np.sin(2 * X[:, 0]))[away].max() < 0.2


def test_a_first_point_of_another_scale_does_not_spoil_the_rest():
    rng = np.random.default_rng(0)
    X = np.vstack([[[40.0, 40.0]], rng.uniform(-0.5, 0.5, size=(1500, 2))])
    y = X[:, 0] * X[:, 1] + X[:, 0]
    y[0] = 0.0
    options = dict(
        kernel=kernels.Polynomial(3), admission="coherence", coherence=0.95, forgetting=0.99
    )
    fits = [published(KRLSRegressor, **options).fit(X[i:], y[i:]) for i in (0, 1)]
    rmse = [np.sqrt(np.mean((fit.predict(X[-500:]) - y[-500:]) ** 2)) for fit in fits]
    assert rmse[0] < 3 * rmse[1] + 1e-3


@pytest.mark.parametrize("admission", ["ald", "coherence"])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_weighted_forgetting_trajectory_equals_the_oracle(admission, ridge):
    X, Y = stream(1500)
    weights = np.random.default_rng(1).choice([0.0, 0.3, 1.0, 4.0], size=1500)
    if admission == "ald":
        expected, centres, _ = oracle.krls_ald(GAUSSIAN, X, Y, 1e-2, ridge, 0.995, weights)
    else:
        expected, centres, _ = oracle.krls_coherence(GAUSSIAN, X, Y, 0.7, ridge, 0.995, weights)
    model = published(
        KRLSRegressor,
        GAUSSIAN,
        admission=admission,
        tolerance=1e-2,
        coherence=0.7,
        ridge=ridge,
        forgetting=0.995,
    )
    ours = model.predict_then_learn(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(model.centers_, centres)
    np.testing.assert_allclose(ours, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
def test_the_centre_evicted_is_the_least_needed(forgetting):
    X, Y = stream(1500, outputs=1)
    model = published(
        KRLSRegressor, GAUSSIAN, tolerance=1e-3, ridge=0.01, forgetting=forgetting, budget=15
    ).fit(X[:200], Y[:200, 0])
    assert model.n_centers_ == 15
    evictions = 0
    for x, y in zip(X[200:], Y[200:, 0], strict=True):
        R, centres, w = held_factor(model, "ald"), model.centers_, model.weights_
        _, delta, sound = oracle.accepted(GAUSSIAN, x, list(centres))
        model.learn_one(x, y)
        if not (delta > 1e-3 and sound):
            continue
        # What every one of the sixteen would have cost: w_j^2 / (n'P n), n = K^-1 e_j.
        grown = np.vstack([centres, x])
        inverse = np.linalg.inv(GAUSSIAN(grown))
        P = np.zeros((16, 16))
        P[:15, :15], P[15, 15] = R.T @ R / forgetting, 1 / 1.01
        w = inverse @ np.append(GAUSSIAN(centres) @ w, y / 1.01)
        costs = w**2 / np.einsum("ij,jk,ik->i", inverse, P, inverse)
        gone = [j for j in range(16) if not (model.centers_ == grown[j]).all(axis=1).any()]
        assert costs[gone] <= 1.01 * costs.min()
        evictions += 1
    assert evictions > 20


def test_norma_that_removes_by_cost_learns_too():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 1))
    y = np.sin(3 * X[:, 0])
    assert (
        published(NORMARegressor, gamma=2.0, compression="least_cost", budget=50)
        .fit(X, y)
        .score(X, y)
        > 0.85
    )


def test_a_huge_quantisation_radius_keeps_one_centre():
    X, Y = stream(50, outputs=1)
    assert published(KLMSRegressor, GAUSSIAN, quantization=1e200).fit(X, Y[:, 0]).n_centers_ == 1
