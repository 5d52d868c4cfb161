"""Intercepts and the unit of the targets."""

import copy

import numpy as np
import pytest

import parsimon
from parsimon import (
    SOGSVR,
    BSGDClassifier,
    KAPRegressor,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    NORMARegressor,
    POLKClassifier,
    POLKRegressor,
    SPLRegressor,
    losses,
    merge,
    published,
)
from parsimon.export.expansion import expansion

AUTO = {"target_scale": "auto"}
REGRESSORS = [
    KNLMSRegressor(gamma=1.0, step_size=0.4, budget=30),
    KAPRegressor(gamma=1.0, step_size=0.4, budget=30),
    KLMSRegressor(gamma=1.0, step_size=0.4, step="invariant", budget=30),
    NORMARegressor(gamma=1.0, step_size=0.4, step="invariant", alpha=0.01, budget=30),
    KRLSRegressor(gamma=1.0, tolerance=0.05, ridge=0.1, budget=30),
    KRLSRegressor(gamma=1.0, tolerance=0.05, ridge=0.1, penalty="norm", forgetting=0.99, budget=30),
    KRLSRegressor(gamma=1.0, admission="coherence", ridge=0.1, budget=30),
    SPLRegressor(gamma=1.0, step_size=0.4, tolerance=0.1, **AUTO),
    SPLRegressor(gamma=1.0, step_size=0.4, admission="coherence", budget=20, **AUTO),
    *(
        POLKRegressor(gamma=1.0, step_size=0.4, parsimony=0.2, loss=loss, step=step, **AUTO)
        for loss in ("squared", "absolute", "huber", "epsilon_insensitive", "quantile")
        for step in ("invariant", "explicit")
    ),
    POLKRegressor(gamma=1.0, step_size=0.4, batch_size=8, average=20, **AUTO),
    SOGSVR(gamma=1.0, tolerance=0.05),
]
for each in REGRESSORS:
    each.set_params(fit_intercept=True)


def stream(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


def names(model):
    return f"{type(model).__name__}-{model.get_params()}"


def fresh(model, **options):
    return type(model)(**{**model.get_params(), **options})


@pytest.mark.parametrize("model", REGRESSORS, ids=names)
def test_the_unit_and_the_zero_of_y_do_not_matter(model):
    X, y = stream()
    plain, moved = fresh(model), fresh(model)
    before = plain.predict_then_learn(X, y)
    other = moved.predict_then_learn(X, 1000.0 * y - 7e4)
    step = getattr(model, "batch_size", 1)  # nothing is known before
    np.testing.assert_allclose((other[step:] + 7e4) / 1000.0, before[step:], atol=1e-6)
    assert moved.n_centers_ == plain.n_centers_
    np.testing.assert_allclose((moved.intercept_ + 7e4) / 1000.0, plain.intercept_, atol=1e-9)


@pytest.mark.parametrize("model", REGRESSORS, ids=names)
def test_the_intercept_is_the_mean_at_the_last_power_of_two(model):
    X, y = stream()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(y))
    if getattr(model, "average", False):
        model = fresh(model, average=False)
    n, step = 256, getattr(model, "batch_size", 1)
    if getattr(model, "admission", "") == "coherence" and isinstance(model, KRLSRegressor):
        n = 16  # it has no factor to shift f with
    keep = getattr(model, "forgetting", 1.0) ** np.arange(n)[::-1]
    learned = fresh(model).partial_fit(X, y, sample_weight=weights)
    assert learned.intercept_ == pytest.approx(np.average(y[:n], weights=weights[:n] * keep))
    two = fresh(model).partial_fit(X[: n - step], np.column_stack([y, 5.0 - y])[: n - step])
    means = np.average(y[: n // 2], weights=keep[-n // 2 :])
    np.testing.assert_allclose(two.intercept_, [means, 5 - means])


@pytest.mark.parametrize("model", REGRESSORS, ids=names)
def test_fit_learns_the_difference_from_the_mean_of_all(model):
    # With a fixed unit, this is the algorithm without an intercept on y - mean.
    X, y = stream(100)
    options = {"target_scale": 0.7} if "target_scale" in model.get_params() else {}
    options |= {"shuffle": False} if "shuffle" in model.get_params() else {}
    model = fresh(model, n_passes=2, **options)
    with_intercept = fresh(model).fit(X, 20.0 + y)
    keep = getattr(model, "forgetting", 1.0) ** np.arange(100)[::-1]
    mean = np.average(y, weights=keep)
    without = fresh(model, fit_intercept=False).fit(X, y - mean)
    np.testing.assert_allclose(with_intercept.weights_, without.weights_, rtol=1e-6, atol=1e-9)
    assert with_intercept.intercept_ == pytest.approx(20.0 + mean)
    # It goes on from there.
    more = with_intercept.partial_fit(X, 20.0 + y)
    assert abs(more.intercept_ - (20.0 + mean)) < 0.1


def test_what_was_learned_stays_when_the_intercept_changes():
    # Without a ridge, KRLS interpolates all samples, whatever the intercept was at their time.
    X, y = stream(70)
    y = 50.0 + 10.0 * y + np.arange(70)
    model = published(KRLSRegressor, gamma=1.0, tolerance=1e-9, fit_intercept=True)
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-4)
    dual = published(SOGSVR, gamma=1.0, tolerance=0.05, fit_intercept=True).partial_fit(X, y)
    np.testing.assert_allclose(
        dual.dual_residual_, fresh(dual).partial_fit(X, y).ascend(0).dual_residual_
    )
    values = dual.kernel_(dual.centers_) @ dual.weights_
    dual.ascend(1000)  # f is computed again from the weights
    assert np.isfinite(values).all() and np.abs(dual.predict(X) - y).mean() < 12.0


@pytest.mark.parametrize("model", REGRESSORS, ids=names)
def test_blocks_rows_files_and_copies(model, tmp_path):
    X, y = stream(96)
    y = 30.0 + y
    step = getattr(model, "batch_size", 1)
    whole, rows, half = fresh(model), fresh(model), fresh(model)
    predictions = whole.predict_then_learn(X, y)
    each = [rows.predict_then_learn(X[i : i + step], y[i : i + step]) for i in range(0, 96, step)]
    np.testing.assert_array_equal(np.concatenate(each), predictions)
    half.partial_fit(X[:48], y[:48])
    half.save(tmp_path / "model.parsimon")
    for resumed in (parsimon.load(tmp_path / "model.parsimon"), copy.deepcopy(half)):
        resumed.partial_fit(X[48:], y[48:])
        np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
        assert resumed.intercept_ == whole.intercept_
    assert whole.predict_one(X[0]) == whole.predict(X[:1])[0]


@pytest.mark.parametrize("model", REGRESSORS, ids=names)
def test_merge_adds_intercepts(model):
    X, y = stream()
    far = {"budget": 200} if "budget" in model.get_params() else {}
    if getattr(model, "admission", "") == "coherence" and isinstance(model, SPLRegressor):
        far = {}
    model = fresh(model, **far)
    parts = [
        fresh(model).partial_fit(X[:100], 10.0 + y[:100]),
        fresh(model).partial_fit(X[100:], 30.0 + y[100:]),
    ]
    merged = merge(parts)
    expected = (parts[0].predict(X) + 2 * parts[1].predict(X)) / 3
    error = np.abs(merged.model.predict(X) - expected)
    assert (error <= merged.bound(X) + 1e-9).all()
    assert merged.model.intercept_ == pytest.approx(
        (parts[0].intercept_ + 2 * parts[1].intercept_) / 3
    )
    # The sums behind the unit are those of all targets.
    after = merged.model.partial_fit(X[:1], [y[0]])
    assert np.isfinite(after.predict(X)).all()


def test_merge_pools_the_unit_of_the_targets():
    X, y = stream()
    options = {"gamma": 1.0, "fit_intercept": True, **AUTO}
    targets = np.concatenate([10.0 + y[:100], 30.0 + y[100:]])
    parts = [
        POLKRegressor(**options).partial_fit(X[:100], targets[:100]),
        POLKRegressor(**options).partial_fit(X[100:], targets[100:]),
    ]
    unit = merge(parts).model._learner.unit
    assert unit == pytest.approx(POLKRegressor(**options).partial_fit(X, targets)._learner.unit)
    assert unit == pytest.approx(targets.std())


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("shift", [0.0, 40.0])
def test_parts_of_different_regions_and_so_different_intercepts(shift, fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(600, 1))
    y = shift + 5.0 * np.tanh(X[:, 0])
    left = X[:, 0] < 0
    options = {"gamma": 1.0, "tolerance": 1e-3, "fit_intercept": fit_intercept}

    def parts(model):
        return [fresh(model).fit(X[side], y[side]) for side in (left, ~left)]

    together = merge(parts(published(KRLSRegressor, ridge=1e-3, **options)), "information").model
    assert np.abs(together.predict(X) - y).max() < (0.3 if fit_intercept or not shift else 2.0)
    ascended = merge(parts(published(SOGSVR, **options))).model.ascend(5000)
    assert np.abs(ascended.predict(X) - y).mean() < (0.3 if fit_intercept or not shift else 2.0)


def classes(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(rng.random(n) < 0.2, 1, np.where(X[:, 0] > 2.0, 2, 0))


CLASSIFIERS = [
    *(
        POLKClassifier(gamma=1.0, loss=loss, step_size=0.3, step=step, fit_intercept=True)
        for loss in losses.CLASSIFICATION
        for step in ("invariant", "explicit")
    ),
    POLKClassifier(gamma=1.0, loss="logistic", average=True, batch_size=4, fit_intercept=True),
    BSGDClassifier(gamma=1.0, fit_intercept=True),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names)
def test_the_intercept_of_classes_is_a_constant_kernel_that_does_not_shrink(model):
    X, y = classes(150)
    rng = np.random.default_rng(0)
    model = fresh(model, alpha=0.0, **({"parsimony": 0.0} if hasattr(model, "parsimony") else {}))
    if isinstance(model, BSGDClassifier):
        model = fresh(model, budget=1000, maintenance="removal")
    one = fresh(model, kernel=parsimon.kernels.Gaussian(30.0), gamma="scale")
    other = fresh(
        model, kernel=parsimon.kernels.Gaussian(30.0) + 0.1, gamma="scale", fit_intercept=False
    )
    for each in (one, other):
        each.partial_fit(X, y, classes=[0, 1, 2])
    points = rng.normal(size=(20, 2))
    np.testing.assert_allclose(
        one.decision_function(points), other.decision_function(points), atol=1e-9
    )
    assert np.abs(one.intercept_).max() > 0.01


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names)
def test_classes_blocks_rows_files_and_merges(model, tmp_path):
    X, y = classes(96)
    step = getattr(model, "batch_size", 1)
    whole, rows, half = fresh(model), fresh(model), fresh(model)
    whole.partial_fit(X, y)
    for i in range(0, 96, step):
        rows.partial_fit(X[i : i + step], y[i : i + step])
    half.partial_fit(X[:48], y[:48]).save(tmp_path / "model.parsimon")
    resumed = parsimon.load(tmp_path / "model.parsimon").partial_fit(X[48:], y[48:])
    for other in (rows, resumed):
        np.testing.assert_array_equal(other.decision_function(X), whole.decision_function(X))
        np.testing.assert_array_equal(other.intercept_, whole.intercept_)
    merged = merge([half, whole]).model
    share = 48 / 144
    known = np.searchsorted(whole.classes_, half.classes_)
    expected = (1 - share) * whole.intercept_
    expected[known] += share * half.intercept_
    np.testing.assert_allclose(merged.intercept_, expected)


def test_frequent_classes_win_far_from_all_centres():
    X, y = classes()
    model = POLKClassifier(
        gamma=1.0,
        loss="logistic",
        step_size=0.1,
        step="invariant",
        fit_intercept=True,
        shuffle=False,
    ).fit(X, y)
    far = model.predict_proba([[100.0, 100.0]])[0]
    assert far[0] > 0.5
    np.testing.assert_array_equal(np.argsort(far), [2, 1, 0])


def test_counts_have_the_logarithm_of_their_mean():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(3000, 1))
    rate = np.exp(np.sin(2 * X[:, 0]))
    for factor in (1.0, 200.0):
        y = rng.poisson(factor * rate)
        options = {"loss": "poisson", "step_size": 0.1, "step": "invariant"}
        model = published(POLKRegressor, gamma=1.0, fit_intercept=True, **options).fit(X, y)
        assert model.intercept_ == pytest.approx(np.log(y.mean()))
        error = np.log(model.predict(X) / (factor * rate))
        assert np.square(error).mean() < 0.05
    zeros = POLKRegressor(gamma=1.0, loss="poisson", fit_intercept=True, step="invariant")
    zeros.fit(X[:100], np.zeros(100))
    assert 0.0 < zeros.predict(X).max() < 0.1
    assert np.isfinite(zeros.partial_fit(X[:1], [5.0]).predict(X)).all()


@pytest.mark.parametrize("model", [REGRESSORS[0], REGRESSORS[-2], CLASSIFIERS[0], CLASSIFIERS[-2]])
def test_exports_have_the_intercept(model):
    X, y = classes(60) if hasattr(model, "shuffle") else stream(60)
    learned = fresh(model).fit(X, 50 + y)
    found = expansion(learned)
    np.testing.assert_array_equal(found.offset, np.reshape(learned.intercept_, -1))
    values = learned.kernel_(X, found.centers) @ found.weights + found.offset
    expected = learned._evaluate(X) if hasattr(model, "shuffle") else learned.predict(X)
    np.testing.assert_allclose(values.reshape(expected.shape), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fit_intercept": 1}, TypeError, "fit_intercept must be True or False, got 1"),
        ({"target_scale": 0.0}, ValueError, "target_scale"),
        ({"target_scale": "std"}, ValueError, "unknown target_scale 'std'; known are 'auto'"),
        ({"target_scale": None}, TypeError, "target_scale must be a number or 'auto', got None"),
        ({"step": "implicit"}, ValueError, "unknown step 'implicit'; known are 'invariant'"),
    ],
)
def test_errors(options, error, message):
    X, y = stream(5)
    with pytest.raises(error, match=message):
        POLKRegressor(**options).fit(X, y)


def test_earlier_files_have_no_intercept():
    from parsimon.persistence.models import LATER

    assert LATER["fit_intercept"] is False and LATER["step"] == "explicit"
    assert LATER["target_scale"] == 1.0


@pytest.mark.parametrize(
    "model",
    [
        published(KNLMSRegressor, gamma=1.0, step_size=0.5, fit_intercept=True),
        published(KRLSRegressor, gamma=1.0, admission="coherence", ridge=0.1, forgetting=0.99),
        published(KRLSRegressor, gamma=1.0, ridge=0.1, forgetting=0.99),
    ],
    ids=names,
)
def test_predictions_do_not_jump_when_the_intercept_changes(model):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(2200, 1))
    y = np.sin(2 * X[:, 0]) + np.arange(2200) / 400
    error = np.abs(fresh(model, fit_intercept=True).predict_then_learn(X, y) - y)
    assert error[2048:2068].mean() < 2.0 * error[2000:2048].mean() + 0.05


def test_compressing_does_not_change_when_the_intercept_changes():
    X, y = stream(150)
    options = {"gamma": 1.0, "fit_intercept": True}
    plain, compressed = (published(KRLSRegressor, **options).partial_fit(X, y) for _ in range(2))
    compressed.compress(budget=plain.n_centers_)
    counts = [model._learner.state()[1] for model in (plain, compressed)]
    for name in ("offset.count", "offset.settled"):
        assert counts[0][name] == counts[1][name]


def test_samples_of_weight_zero_do_not_begin_an_intercept():
    X, _ = stream(3)
    model = POLKRegressor(loss="poisson").partial_fit(X[:1], [3.0], sample_weight=[0.0])
    assert model.intercept_ == 0.0 and model.predict(X[:1])[0] == 1.0


def test_counts_that_begin_after_many_zeros():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(400, 1))
    y = np.concatenate([np.zeros(200), rng.poisson(5.0, size=200)])
    found = POLKRegressor(loss="poisson", average=False).predict_then_learn(X, y)
    assert found[240:].mean() == pytest.approx(5.0, abs=1.5)


def test_a_later_output_of_counts_has_had_zeros():
    X, _ = stream(20)
    model = POLKRegressor(loss="poisson").partial_fit(X, np.full((20, 1), 4.0))
    assert model.add_outputs(1).predict(X)[0, 1] == pytest.approx(0.5 / 20)


def test_rows_of_weight_zero_do_not_enter_gamma():
    X, y = stream(100)
    far, weights = np.concatenate([X, 1000.0 * X]), np.repeat([1.0, 0.0], 100)
    for make in (KRLSRegressor, KNLMSRegressor):
        model = make().fit(far, np.concatenate([y, y]), sample_weight=weights)
        assert model.kernel_ == make().fit(X, y).kernel_


def test_pegasos_with_an_intercept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = np.linalg.norm(X, axis=1) > 1.2
    options = {"schedule": "pegasos", "alpha": 1e-4, "step": "explicit", "random_state": 0}
    assert BSGDClassifier(**options).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("seed", range(6))
def test_a_kernel_without_constants_is_not_shifted_far(seed):
    # A linear function that is 1 at as many centres as features can be huge elsewhere.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 8))
    y = X @ rng.normal(size=8) + 3.0 * rng.normal() + 0.1 * rng.normal(size=300)
    model = KRLSRegressor("linear", ridge=0.01)
    errors = model.predict_then_learn(X, y) - y
    assert np.square(errors[12:]).max() < 50 * y.var()
