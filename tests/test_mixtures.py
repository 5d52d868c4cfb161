"""Mixtures of regressors and of classifiers."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

import parsimon
from parsimon import KNLMSRegressor, KRLSRegressor, POLKClassifier, _core, published
from parsimon.mixtures import Expert, MixtureClassifier, MixtureRegressor
from parsimon.mixtures.combiners import LabelHistory, Pool, RecentMean, Stack
from parsimon.mixtures.generations import GRADIENTS, MEASURED, RELEVANT, STRIDE, Generations
from parsimon.mixtures.recent import Recent
from parsimon.mixtures.tasks import Numbers

MODELS = {"numbers": MixtureRegressor, "classes": MixtureClassifier}


def rows(n=900, d=4, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)) * [1.0, 10.0, 0.1, 1.0][:d]
    return X, 5.0 + 3.0 * np.sin(2 * X[:, 0]) * X[:, 1] / 10


def stream(kind, n=900):
    X, y = rows(n)
    if kind == "numbers":
        return X, y
    return X, np.array(["low", "middle", "high"])[np.digitize(y, [4.0, 6.0])]


def before(model, X, y):
    if isinstance(model, MixtureClassifier):
        return model.predict_proba_then_learn(X, y)
    return model.predict_then_learn(X, y)


def small(**options):
    """A mixture with few centres, for tests that need many rows."""
    rls = published(KRLSRegressor, "laplacian", ridge=0.1, penalty="norm", forgetting=0.9995)
    experts = [
        Expert(rls, "plain"),
        Expert(rls, "lagged", lags=2),
        Expert(rls, "relevant", relevance=True),
    ]
    return MixtureRegressor(experts, budget=60, **options)


# The combiners, against plain NumPy


def stack_oracle(P, y, memory, ridge):
    """The weights of the definition, solved anew for each row. Return the last ones too."""
    n, E = P.shape
    out = np.empty(n + 1)
    for t in range(n + 1):
        keep = 1 - 1 / np.minimum(memory, 50 + np.arange(t) / 2)
        past = np.sqrt([np.prod(keep[i + 1 :]) for i in range(t)])
        A = np.vstack([past[:, None] * P[:t], np.sqrt(ridge) * np.eye(E)])
        b = np.concatenate([past * y[:t], np.full(E, np.sqrt(ridge) / E)])
        weights = np.linalg.lstsq(A, b, rcond=None)[0]
        out[t] = P[min(t, n - 1)] @ weights
    return out[:n], weights


def test_stacking_solves_its_least_squares_problem():
    rng = np.random.default_rng(0)
    P = rng.normal(size=(80, 4))
    y = P @ [0.7, 0.3, 0.0, -0.2] + 0.1 * rng.normal(size=80)
    stack = Stack(4, memory=70.0, ridge=2.0)
    found = np.concatenate([stack.run(P[:30], y[:30], 0), stack.run(P[30:], y[30:], 30)])
    expected, weights = stack_oracle(P, y, 70.0, 2.0)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(stack.weights, weights, atol=1e-10)


def pool_oracle(P, labels, known, forgetting, ridge, memory):
    """The definition in plain NumPy, for experts with probabilities."""
    n, E, C = P.shape
    w, A, losses, rivals = np.full(E, 1 / E), np.zeros((E, E)), np.zeros(E), np.zeros(2)
    out = np.zeros((n, C))
    for i in range(n):
        if known:
            p = P[i, :, :known] / P[i, :, :known].sum(axis=1, keepdims=True)
            p = 0.999 * p + 0.001 / known
            logs = np.log(p)
            u = np.exp(w @ logs - (w @ logs).max())
            pooled = (1 - 1e-4) * u / u.sum() + 1e-4 / known
            v = np.exp(losses.min() - losses)
            mixed = v / v.sum() @ p
            share = 1 / (1 + np.exp(rivals[0] - rivals[1]))
            out[i, :known] = share * pooled + (1 - share) * mixed
            if labels[i] < known:
                y, keep = labels[i], 1 - 1 / memory
                rivals = keep * rivals - np.log([pooled[y], mixed[y]])
                losses = keep * losses - logs[:, y]
                mean = logs @ pooled
                centred = logs - mean[:, None]
                A = forgetting * A + (centred * pooled) @ centred.T
                g = logs[:, y] - mean - (1 - forgetting) * ridge * (w - 1 / E)
                w = w + np.linalg.solve(A + ridge * np.eye(E), g)
        known = max(known, labels[i] + 1)
    return out


def test_pooling_equals_its_definition():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(3), size=(80, 4))
    labels = rng.integers(0, 3, size=80)
    labels[:3] = [0, 1, 2]
    pool = Pool(np.zeros(4), forgetting=0.98, ridge=3.0, memory=50.0)
    found = pool.run(P, labels, 0)
    np.testing.assert_allclose(
        found, pool_oracle(P, labels, 0, 0.98, 3.0, 50.0), rtol=0, atol=1e-12
    )
    assert not found[0].any() and found[1].tolist() == [1.0, 0.0, 0.0]
    np.testing.assert_allclose(found[3:].sum(axis=1), 1.0)


def test_the_scale_of_scores_is_learned():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(4000, 1, 2))
    chance = 1 / (1 + np.exp(-9.0 * (scores[:, 0, 1] - scores[:, 0, 0])))
    labels = (rng.uniform(size=4000) < chance).astype(np.int64)
    labels[:2] = [0, 1]
    pool = Pool(np.ones(1))
    P = pool.run(scores, labels, 0)[2000:, 1]
    assert abs(P - chance[2000:]).mean() < 0.01


def test_sleeping_experts_count_as_the_mean_of_the_others():
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(2), size=(50, 3))
    labels = np.array([0, 1] * 25)
    asleep, filled = P.copy(), P.copy()
    asleep[:, 2] = np.nan
    filled[:, 2] = P[:, :2].mean(axis=1)
    one, other = Pool(np.zeros(3)), Pool(np.zeros(3))
    np.testing.assert_allclose(one.run(asleep, labels, 0), other.run(filled, labels, 0), atol=1e-12)


def test_alternating_labels_are_predicted_from_the_last_label():
    labels = np.array([0, 1] * 200)
    history = LabelHistory()
    P = history.run(labels, 0, 2)
    assert (P[10:, 1].argmax(axis=1) == labels[10:]).all()
    np.testing.assert_array_equal(history.now()[1].argmax(), 0)
    np.testing.assert_allclose(P[1:, :, :].sum(axis=2), 1.0)


@pytest.mark.parametrize("labels", [[1, 0], [0, 2], [-1], [0, 5]])
def test_labels_must_appear_in_order(labels):
    with pytest.raises(ValueError, match="order in which they appear"):
        Pool(np.zeros(1)).run(np.ones((len(labels), 1, 3)), np.array(labels), 0)


def test_states_of_another_size_are_refused():
    with pytest.raises(ValueError, match="shape"):
        _core.stack(np.ones((1, 2)), np.ones(1), 0, np.zeros((2, 2)), 9.0, 1.0)
    with pytest.raises(ValueError, match="shape"):
        _core.pool_now(np.ones((1, 2, 2)), 2, np.zeros(2), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="as many rows"):
        _core.stack(np.ones((2, 2)), np.ones(1), 0, np.zeros((3, 2)), 9.0, 1.0)
    with pytest.raises(ValueError, match="last label"):
        _core.label_history(np.array([0]), 1, -1, np.zeros((2, 1)))


# Exactness


@pytest.mark.parametrize("kind", MODELS)
def test_block_chunks_threads_and_resumed_models_are_bit_identical(kind, tmp_path):
    X, y = stream(kind)
    whole = before(MODELS[kind](), X, y)
    chunks, at, parts = MODELS[kind](n_jobs=2), 0, []
    rng = np.random.default_rng(1)
    last = None
    while at < len(X):
        n = int(rng.integers(1, 150))
        last = before(chunks, X[at : at + n], y[at : at + n])
        parts.append(last)
        at += n
    np.testing.assert_array_equal(last, whole[-len(last) :])
    half = MODELS[kind]().partial_fit(X[:333], y[:333])
    half.save(tmp_path / "half.parsimon")
    for resumed in (parsimon.load(tmp_path / "half.parsimon"), copy.deepcopy(half)):
        np.testing.assert_array_equal(before(resumed, X[333:], y[333:]), whole[333:])
        assert resumed.n_samples_seen_ == len(X)


def test_rows_one_by_one_equal_a_block_across_restarts():
    X, y = rows(500)
    whole = small().predict_then_learn(X, y)
    model = small()
    np.testing.assert_array_equal(
        [model.predict_then_learn(x[None], [t])[0] for x, t in zip(X, y, strict=True)], whole
    )


@pytest.mark.parametrize("at", [1, 15, 16, 17, 200, 207, 208, 216, 230, 400])
def test_a_model_stored_at_any_row_goes_on(at, tmp_path):
    X, y = rows(420)
    whole = small().predict_then_learn(X, y)
    model = small().partial_fit(X[:at], y[:at])
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(
        parsimon.load(tmp_path / "m").predict_then_learn(X[at:], y[at:]), whole[at:]
    )


@pytest.mark.parametrize("kind", MODELS)
def test_predict_changes_nothing_and_equals_one_row_at_a_time(kind):
    X, y = stream(kind, 300)
    model = MODELS[kind]().partial_fit(X[:250], y[:250])
    expected = before(copy.deepcopy(model), X[250:], y[250:])
    found = model.predict(X[250:])
    np.testing.assert_array_equal(found, [model.predict_one(x) for x in X[250:]])
    np.testing.assert_array_equal(before(model, X[250:], y[250:]), expected)


# Quality


def test_numbers_are_predicted_well_in_any_units():
    X, y = rows(1200)
    scaled = []
    for factor, offset in ((1.0, 0.0), (1e6, -1e9), (1e-8, 3.0)):
        target = factor * y + offset
        found = MixtureRegressor().predict_then_learn(X, target)
        scaled.append(np.square(found - target)[600:].mean() / target.var())
    assert scaled[0] < 0.03
    np.testing.assert_allclose(scaled, scaled[0], rtol=0.01)


def test_relevance_is_found_among_many_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    y = np.sin(2 * X[:, 3]) + X[:, 7] ** 2
    model = MixtureRegressor()
    error = np.square(model.predict_then_learn(X, y) - y)[1500:].mean() / y.var()
    assert error < 0.15
    assert set(np.argsort(-model.relevance_)[:2]) == {3, 7}
    assert np.sort(model.relevance_)[-3] < 0.3 and model.relevance_.max() == 1.0


def test_lags_follow_a_series_whose_features_say_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.sin(np.arange(1500) / 3.0)
    error = np.square(MixtureRegressor().predict_then_learn(X, y) - y)[200:].mean() / y.var()
    assert error < 0.01


def test_the_first_rows_are_near_the_best_simple_prediction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    for y in (X @ [1.0, 2.0, 3.0, 0.0, 0.0], rng.normal(size=200), np.cumsum(rng.normal(size=200))):
        found = MixtureRegressor().predict_then_learn(X, y)
        mean = np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, 200)])
        simple = [mean, np.concatenate([[0.0], y[:-1]])]
        best = min(np.square(p - y)[1:].mean() for p in simple)
        assert np.square(found - y)[1:].mean() <= 1.3**2 * best


def test_alternating_labels_with_a_constant_feature():
    X, y = np.ones((400, 1)), np.array(["a", "b"] * 200)
    found = MixtureClassifier().predict_then_learn(X, y)
    assert (found == y)[50:].all()


def test_bounds_of_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.maximum(0.0, 10 * X[:, 0])
    model = MixtureRegressor().partial_fit(X, y)
    far = model.predict([[-100.0, 0.0], [100.0, 0.0]])
    assert far.min() >= 0.0 and far.max() <= 1.1 * y.max()
    below = MixtureRegressor().partial_fit(X, y - 1.0).predict([[-100.0, 0.0]])
    assert below[0] >= -1.0 - 0.1 * y.max()
    assert np.isfinite(MixtureRegressor(bounded=False).partial_fit(X, y).predict(X)).all()


@pytest.mark.parametrize(
    "y", [np.zeros(300), np.full(300, 1e150), np.repeat([0.0, 1e100], 150), np.arange(300.0) ** 30]
)
def test_targets_without_variation_and_with_too_much_are_answered(y):
    X = np.column_stack([np.ones(300), np.arange(300.0)])
    assert np.isfinite(MixtureRegressor().predict_then_learn(X, y)).all()


def test_several_outputs():
    X, y = rows(400)
    Y = np.column_stack([y, -2 * y + 1])
    model = MixtureRegressor()
    found = model.predict_then_learn(X, Y)
    assert found.shape == (400, 2) and model.predict(X[:3]).shape == (3, 2)
    assert model.shares_.shape == (len(model.expert_names_), 2)
    assert np.square(found - Y)[300:].mean(axis=0)[0] < 0.3 * y.var()
    assert model.predict_one(X[0]).shape == (2,)


def test_classes_can_appear_at_any_time():
    X, y = stream("classes", 700)
    y[:300] = np.where(y[:300] == "high", "low", y[:300])
    model = MixtureClassifier()
    P = model.predict_proba_then_learn(X, y)
    new = model.classes_.tolist().index("high")
    first = int((y == "high").argmax())
    assert not P[: first + 1, new].any() and P[first + 1 :, new].all()
    assert (P.argmax(axis=1) == np.searchsorted(model.classes_, y))[600:].mean() > 0.7
    assert model.predict_proba_one(X[0]).keys() == {"low", "middle", "high"}


def test_probabilities_are_better_than_frequencies():
    X, y = stream("classes", 1500)
    P = MixtureClassifier().predict_proba_then_learn(X, y)
    true = P[np.arange(len(y)), np.searchsorted(np.unique(y), y)]
    assert -np.log(np.maximum(true, 1e-7))[500:].mean() < 0.45


# Memory, generations, errors


def test_memory_is_bounded():
    X, y = rows(3000)
    model, sizes = small(), []
    for first in range(0, 3000, 100):
        model.partial_fit(X[first : first + 100], y[first : first + 100])
        sizes.append(model.nbytes_)
    assert len(set(sizes)) == 1
    assert model.n_centers_ <= 60


def test_the_budget_is_split_by_the_shares():
    rls = published(KRLSRegressor, "laplacian", ridge=0.1)
    experts = [Expert(rls, "a", share=3.0), Expert(rls, "b")]
    X, y = rows(300)
    model = MixtureRegressor(experts, budget=40).partial_fit(X, y)
    assert [expert.n_centers_ for expert in model.experts_] == [17, 5]  # 3 + 1, and 3 for one more


def test_a_challenger_that_is_worse_is_dropped():
    class Worse(Numbers):
        def losses(self, model, P, T):
            return np.full(len(P), float(len(model.centers_) < 5))

    expert = Expert(published(KRLSRegressor, "laplacian", ridge=0.1), "a")
    generations, recent = Generations(expert, 20, 3000), Recent(3000, 4, 1)
    X, y = rows(300)
    recent.append(X, y[:, None])
    generations.run(Worse(), recent, 0, 205, 1)
    first = generations.present
    assert generations.challenge is not None
    generations.losses[:] = -1.0
    generations.run(Worse(), recent, 205, 300, 1)
    assert generations.challenge is None and generations.present is first
    assert generations.n_wins == 0


def test_experts_wake_when_a_width_can_be_measured():
    X, y = rows(20)
    model = small().partial_fit(X[:16], y[:16])
    assert model.experts_ == [None, None, None]
    assert model.partial_fit(X[16:], y[16:]).experts_[0] is not None
    assert MEASURED[0] == RELEVANT[0] == 16 and 200 % STRIDE == 0 and GRADIENTS % STRIDE == 0


@pytest.mark.parametrize("kind", MODELS)
def test_invalid_blocks_change_nothing(kind):
    X, y = stream(kind, 60)
    model, other = MODELS[kind]().partial_fit(X, y), MODELS[kind]().partial_fit(X, y)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7, column 2"):
        model.partial_fit(bad, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    bad[7, 2] = 1e200
    with pytest.raises(ValueError, match="too large"):
        model.partial_fit(bad, y)
    with pytest.raises(ValueError, match="budget was"):
        copy.deepcopy(model).set_params(budget=7).partial_fit(X, y)
    np.testing.assert_array_equal(before(model, X, y), before(other, X, y))


def test_an_interrupt_within_a_row_is_remembered(monkeypatch, tmp_path):
    X, y = rows(60)
    model = small().partial_fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr(Stack, "run", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[:3], y[:3])
    for call in (
        lambda: model.partial_fit(X, y),
        lambda: model.save(tmp_path / "m"),
    ):
        with pytest.raises(RuntimeError, match="interrupted within a block"):
            call()
    assert model.fit(X, y).n_samples_seen_ == 60


def test_experts_of_ones_own():
    X, y = rows(600)
    experts = [
        Expert(published(KNLMSRegressor, "gaussian"), "filter", width=2.0),
        Expert(published(KRLSRegressor, "gaussian", ridge=0.1), "smooth", relevance=True, bias=1.0),
    ]
    model = MixtureRegressor(experts, budget=50).partial_fit(X, y)
    assert model.expert_names_ == ["filter", "smooth", "last value", "mean"]
    assert clone(model).experts == experts and model.n_centers_ <= 50
    assert "smooth" in repr(experts[1])


@pytest.mark.parametrize(
    ("experts", "message"),
    [
        ([], "list of Expert"),
        ([published(KRLSRegressor)], "list of Expert"),
        (
            [Expert(published(KRLSRegressor), "a"), Expert(published(KRLSRegressor), "a")],
            "same name",
        ),
        ([Expert(object(), "a")], "one of parsimon"),
    ],
)
def test_errors_of_experts(experts, message):
    with pytest.raises((TypeError, ValueError), match=message):
        MixtureRegressor(experts).partial_fit(*rows(20))


def test_further_errors():
    X, y = rows(20)
    for options in ({"lags": 9}, {"width": 0}, {"share": 0}, {"bias": -1}, {"relevance": 1}):
        with pytest.raises((TypeError, ValueError), match=next(iter(options))):
            Expert(published(KRLSRegressor), **options)
    with pytest.raises(TypeError, match="no probabilities"):
        MixtureClassifier([Expert(published(POLKClassifier), "a")]).partial_fit(X, y > 5)
    with pytest.raises(ValueError, match="columns as before"):
        small().partial_fit(X, y).partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="not in classes"):
        MixtureClassifier().partial_fit(X, y > 5, classes=[True])
    with pytest.raises(TypeError):
        parsimon.merge([small().partial_fit(X, y), small().partial_fit(X, y)])


def test_relevance_is_that_of_the_combination():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3)) * [1.0, 100.0, 1.0]
    y = X[:, 0] + X[:, 1] / 50
    np.testing.assert_allclose(
        MixtureRegressor().partial_fit(X, y).relevance_, [0.5, 1.0, 0.0], atol=0.12
    )
    assert MixtureRegressor().partial_fit(X[:1], y[:1]).relevance_ is None
    labels = np.digitize(X[:, 2], [-0.5, 0.5])
    for classes in (labels, labels > 0, np.where(np.arange(800) < 700, labels, 9)):
        found = MixtureClassifier().partial_fit(X, classes).relevance_
        assert found.argmax() == 2 and found.shape == (3,)


@pytest.mark.parametrize("kind", MODELS)
def test_rows_that_do_not_follow_are_predicted_without_lags(kind):
    """A series that repeats: lags say nearly all, and features a part."""
    t = np.arange(1500)
    X = np.column_stack([np.sin(t / 8.0), np.random.default_rng(0).normal(size=1500)])
    y = X[:, 0] + 0.5 * np.sin(t / 2.0)
    y = y if kind == "numbers" else y > 0
    model = MODELS[kind]().partial_fit(X[:1400], y[:1400])
    rest, target = X[1400:], y[1400:]
    if kind == "numbers":
        plain = np.square(model.predict(rest, lagged=False) - target).mean()
        assert plain < 0.5 * np.square(model.predict(rest) - target).mean()
        assert plain < 0.4 * target.var()
    else:
        P = model.predict_proba(rest, lagged=False)
        assert (model.predict(rest, lagged=False) == target).mean() > 0.75
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        model.predict(rest, lagged=False)[:5],
        [model.predict(row[None], lagged=False)[0] for row in rest[:5]],
    )


def test_fit_shuffles_rows_that_are_sorted_by_their_targets():
    X, y = stream("classes", 400)
    order = np.argsort(y, kind="stable")
    model = MixtureClassifier().fit(X[order], y[order])
    assert (model.predict(X) == y).mean() > 0.8
    again = MixtureClassifier().fit(X[order], y[order])
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    whole = MixtureClassifier(shuffle=False).fit(X[order], y[order])
    rowwise = MixtureClassifier(shuffle=False).partial_fit(X[order], y[order])
    np.testing.assert_array_equal(whole.predict_proba(X), rowwise.predict_proba(X))


def test_a_budget_below_one_centre_each_is_refused():
    X, y = rows(30)
    with pytest.raises(ValueError, match="budget=5 is too small for 9 experts: 20 is enough"):
        MixtureRegressor(budget=5).partial_fit(X, y)
    assert MixtureRegressor(budget=20).partial_fit(X, y).n_centers_ <= 20


def test_a_classifier_is_no_expert_for_numbers():
    X, y = rows(30)
    with pytest.raises(TypeError, match="expert 'a' is not for numbers"):
        MixtureRegressor([Expert(published(POLKClassifier), "a")]).partial_fit(X, y)
    with pytest.raises(TypeError, match="it has relevance_"):
        parsimon.diagnostics.relevance(small().partial_fit(X, y), X)


@pytest.mark.parametrize("n_classes", [9, 20])
def test_many_classes_that_appear_within_a_block(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.minimum(rng.integers(0, n_classes, size=400), np.arange(400) // 10)
    whole, parts = MixtureClassifier(), MixtureClassifier()
    expected = whole.predict_proba_then_learn(X, y)
    for first in range(0, 400, 13):
        found = parts.predict_proba_then_learn(X[first : first + 13], y[first : first + 13])
    np.testing.assert_array_equal(found, expected[-len(found) :])
    for one, other in zip(whole._slots, parts._slots, strict=True):
        np.testing.assert_array_equal(one.losses, other.losses)


@pytest.mark.parametrize("kind", MODELS)
def test_a_shallow_copy_is_a_model_of_its_own(kind):
    X, y = stream(kind, 120)
    model = MODELS[kind]().partial_fit(X[:60], y[:60])
    before_copy = model.predict(X)
    copy.copy(model).partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(model.predict(X), before_copy)


def test_inputs_that_are_not_scaled():
    X, y = rows(100)
    options = {"standardize": False, "bounded": False}
    model, other = (MixtureRegressor(**options).partial_fit(X, y) for _ in range(2))
    bad = X.copy()
    bad[50, 1] = 1e40
    with pytest.raises(ValueError, match="row 50, column 1: too large"):
        model.partial_fit(bad, y)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    bad[50, 1] = 1e9
    assert np.isfinite(model.predict_then_learn(bad, y)).all()
    assert np.isfinite(copy.deepcopy(model).predict(X)).all()


def test_an_error_within_a_block_is_remembered(monkeypatch):
    X, y = rows(200)
    model = small().partial_fit(X[:100], y[:100])
    with monkeypatch.context() as patch:
        patch.setattr(Stack, "run", lambda *args: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            model.partial_fit(X[100:], y[100:])
    with pytest.raises(RuntimeError, match="interrupted within a block"):
        model.partial_fit(X, y)


def test_relevance_needs_a_derivative():
    expert = Expert(
        published(KRLSRegressor, lambda a, b: float(a @ b), ridge=0.1), "own", relevance=True
    )
    with pytest.raises(TypeError, match="has no derivative"):
        MixtureRegressor([expert]).partial_fit(*rows(5))


def test_experts_that_cannot_be_exact_are_refused():
    X, y = rows(30)
    for estimator, message in (
        (parsimon.published(parsimon.POLKRegressor, batch_size=8), "batch_size=1"),
        (parsimon.published(parsimon.POLKRegressor, loss="poisson"), "link"),
    ):
        with pytest.raises(ValueError, match=message):
            MixtureRegressor([Expert(estimator, "a")], budget=50).partial_fit(X, y)
    with pytest.raises(ValueError, match="given by name"):
        Expert(published(KRLSRegressor, parsimon.kernels.Gaussian(1.0)), bias=5.0)


@pytest.mark.parametrize("make", [MixtureRegressor, MixtureClassifier])
def test_fit_names_the_row_that_was_given(make):
    X, y = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN at row 3, column 1"):
        make().fit(bad, y)


def test_recent_mean_equals_its_definition():
    values = np.random.default_rng(0).exponential(size=(3000, 2))
    mean = RecentMean(2)
    found = np.vstack([mean.run(values[:1]), mean.run(values[1:700]), mean.run(values[700:])])
    expected = np.zeros(2)
    for t, row in enumerate(values, start=1):
        np.testing.assert_allclose(found[t - 1], expected, rtol=1e-12)
        expected = expected + max(3 / (t + 2), 1 / 1000) * (row - expected)
    np.testing.assert_allclose(mean.now, expected, rtol=1e-12)


def test_standard_deviations_of_a_mixture(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 3))
    y = 50 + 10 * X[:, 0] * X[:, 1] + rng.normal(size=1500)
    model = MixtureRegressor()
    errors = model.predict_then_learn(X, y) - y
    assert model.noise_ == pytest.approx(np.square(errors[500:]).mean(), rel=0.2)
    assert 0.9 < model.noise_ < 1.5
    P, std = model.predict(X[:300], return_std=True)
    np.testing.assert_array_equal(P, model.predict(X[:300]))
    assert 0.9 < std.mean() < 1.25
    far = model.predict([[30.0, -30.0, 30.0]], return_std=True)[1][0]
    assert far > 1.2 * std.mean()
    rows = [model.predict(X[i : i + 1], return_std=True)[1][0] for i in range(50)]
    np.testing.assert_array_equal(rows, std[:50])
    model.save(tmp_path / "model.parsimon")
    again = parsimon.load(tmp_path / "model.parsimon")
    np.testing.assert_array_equal(again.predict(X, return_std=True)[1][:300], std)
    both = MixtureRegressor().partial_fit(X, np.column_stack([y, 2 * y]))
    assert both.predict(X[:4], return_std=True)[1].shape == (4, 2)
    assert both.noise_[1] == pytest.approx(4 * both.noise_[0], rel=1e-6)


@pytest.mark.parametrize("kind", MODELS)
def test_weights_are_refused_by_name(kind):
    X, y = stream(kind, 40)
    model = MODELS[kind]()
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(TypeError, match=f"{type(model).__name__} takes no sample weights"):
            learn(X, y, sample_weight=np.ones(40))
    assert not has_fit_parameter(model, "sample_weight")
