"""POLK and BSGD against their specifications."""

import threading
from dataclasses import replace

import numpy as np
import oracle
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.svm import SVC

import parsimon
from parsimon import (
    BSGDClassifier,
    KNLMSRegressor,
    POLKClassifier,
    POLKRegressor,
    SPLRegressor,
    _core,
    algorithms,
    diagnostics,
    kernels,
    losses,
    published,
)
from parsimon.datasets import make_multidist

GAUSSIAN = kernels.Gaussian(1 / (2 * 0.36))


def filled(kernel, m, C, seed, d=2):
    """A dictionary of m centres with random weights, and what it holds."""
    rng = np.random.default_rng(seed)
    dictionary = _core.Dictionary(kernel.core(), d, C, neighbours=False)
    while len(dictionary) < m:
        dictionary.append(rng.uniform(-2, 2, size=d), rng.normal(size=C))
    return dictionary, dictionary.centers(), dictionary.weights()


@pytest.mark.parametrize(
    "kernel", [kernels.Gaussian(1.0), kernels.Laplacian(0.5)], ids=["gaussian", "laplacian"]
)
@pytest.mark.parametrize(("m", "C"), [(5, 1), (20, 3), (40, 2), (60, 5)])
@pytest.mark.parametrize("share", [1e-4, 0.02, 0.3])
def test_pruning_is_that_of_the_pseudo_inverse(kernel, m, C, share):
    dictionary, centres, W = filled(kernel, m, C, seed=m)
    K = kernel(centres)
    norm = np.trace(W.T @ K @ W)
    removed, kept, weights, error = oracle.komp(K, W, share * norm)
    paid = dictionary.project_out_cheapest(share * norm, 10**9)
    np.testing.assert_array_equal(dictionary.centers(), centres[kept])
    assert paid == pytest.approx(error, abs=1e-8 * norm)
    gap = W.copy()
    gap[kept] -= dictionary.weights()
    # Booked is the dense distance
    assert paid == pytest.approx(np.trace(gap.T @ K @ gap), abs=1e-8 * norm)
    np.testing.assert_allclose(K @ gap, K @ gap_of(W, kept, weights), atol=1e-6 * np.sqrt(norm))
    assert dictionary.drift() < 1e-6
    assert share < 0.3 or len(removed) > 1


def gap_of(W, kept, weights):
    gap = W.copy()
    gap[kept] -= weights
    return gap


@pytest.mark.parametrize("seed", range(5))
def test_pruning_removes_in_the_same_order(seed):
    """One more removal for each allowance that the oracle's running error sets."""
    kernel = kernels.Gaussian(1.0)
    _, centres, W = filled(kernel, 24, 3, seed)
    removed, *_ = oracle.komp(kernel(centres), W, np.inf)
    for count in range(1, 24):
        dictionary, *_ = filled(kernel, 24, 3, seed)
        dictionary.project_out_cheapest(0.0, 24 - count)
        np.testing.assert_array_equal(
            dictionary.centers(), np.delete(centres, removed[:count], axis=0)
        )


def test_several_removals_at_once_equal_one_by_one():
    for seed in range(10):
        together, _, W = filled(kernels.Gaussian(2.0), 50, 2, seed)
        singly, *_ = filled(kernels.Gaussian(2.0), 50, 2, seed)
        paid = together.project_out_cheapest(0.0, 30)
        alone = 0.0
        while len(singly) > 30:
            alone += singly.project_out(int(np.argmin(singly.removal_costs())))
        np.testing.assert_array_equal(together.centers(), singly.centers())
        np.testing.assert_allclose(
            together.weights(), singly.weights(), atol=1e-8 * np.abs(W).max() * 50
        )
        assert paid == pytest.approx(alone, rel=1e-8)
        np.testing.assert_allclose(together.removal_costs(), singly.removal_costs(), rtol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("batch", [1, 32])
def test_trajectory_is_the_oracles(loss, batch):
    X, y = make_multidist(2000, random_state=1)
    step, K = (6.0, 0.04) if batch == 32 else (1.0, 0.08)
    slope = oracle.multiclass_hinge if loss == "hinge" else oracle.multinomial_logistic
    expected, centres, W = oracle.polk(
        GAUSSIAN, X, lambda f, i: slope(f, y[i]), 5, step, 1e-6, K, batch
    )
    model = published(
        POLKClassifier, GAUSSIAN, loss=loss, step_size=step, parsimony=K, batch_size=batch
    )
    model.partial_fit(X, y, classes=range(5))
    ours = published(
        POLKClassifier, GAUSSIAN, loss=loss, step_size=step, parsimony=K, batch_size=batch
    )
    ours._give(range(5))
    before = ours._before_and_learn(X, y, None)
    np.testing.assert_allclose(before, expected, atol=1e-6)
    np.testing.assert_array_equal(model.centers_, centres)
    np.testing.assert_allclose(model.weights_, W, atol=1e-5)
    assert 0 < model.compression_error_ <= (K * step**1.5) ** 2 * (2000 / batch)


@pytest.mark.parametrize(
    ("batch", "K", "budget", "neighbors"),
    [
        (1, 0.1, None, 0),
        (16, 0.02, 60, 0),
        (16, 0.0, 40, 0),
        (16, 0.02, 60, 12),
        (16, 0.0, 40, 1000),
    ],
)
def test_merging_trajectory_is_the_oracles(batch, K, budget, neighbors):
    X, y = make_multidist(300, random_state=1)
    step = 6.0 if batch == 16 else 1.0
    expected, centres, W, moved = oracle.polk_merging(
        GAUSSIAN,
        X,
        lambda f, i: oracle.multiclass_hinge(f, y[i]),
        5,
        step,
        1e-3,
        K,
        batch,
        budget,
        neighbors,
    )
    model = published(
        POLKClassifier,
        GAUSSIAN,
        step_size=step,
        alpha=1e-3,
        parsimony=K,
        batch_size=batch,
        budget=budget,
        maintenance="merge",
        neighbors=neighbors,
    )
    model._give(range(5))
    before = model._before_and_learn(X, y, None)
    np.testing.assert_allclose(before, expected, atol=2e-3)
    np.testing.assert_allclose(model.centers_, centres, atol=2e-3)
    np.testing.assert_allclose(model.weights_, W, atol=2e-3)
    assert model.compression_error_ == pytest.approx(moved, rel=1e-3)


@pytest.mark.parametrize("neighbors", [0, 20])
def test_merges_move_f_by_at_most_eps(neighbors):
    """Against the step without compression, from the same model."""
    X, y = make_multidist(800, random_state=2)
    K, step = 0.05, 4.0
    options = dict(
        step_size=step, batch_size=16, alpha=1e-3, maintenance="merge", neighbors=neighbors
    )
    model = published(POLKClassifier, GAUSSIAN, parsimony=K, **options)
    model.partial_fit(X[:16], y[:16], classes=range(5))
    merged = 0
    for first in range(16, 800, 16):
        A, V = model.centers_, model.weights_ * (1 - step * 1e-3)
        rows, labels = X[first : first + 16], y[first : first + 16]
        F = GAUSSIAN(rows, A) @ model.weights_
        steps = [-step / 16 * oracle.multiclass_hinge(f, t) for f, t in zip(F, labels, strict=True)]
        model.partial_fit(rows, labels)
        points = np.vstack([A, rows, model.centers_])
        change = np.vstack([V, steps, -model.weights_])
        distance = np.sqrt(max(0.0, np.sum(change * (GAUSSIAN(points) @ change))))
        assert distance <= K * step**1.5 * (1 + 1e-9)
        merged += model.n_centers_ < len(A) + np.count_nonzero(np.any(steps, axis=1))
    assert merged > 10


def test_a_merge_with_neighbors_moves_f_less():
    """Models with the same centres remove one of them by `set_budget`."""
    X, y = make_multidist(400, random_state=0)
    # Within the budget nothing is merged, so all models are the same until then.
    options = dict(step_size=2.0, batch_size=8, budget=400, parsimony=0.0, maintenance="merge")
    moved = {}
    for p in (0, 1, 7, 64):
        model = published(POLKClassifier, GAUSSIAN, **options, neighbors=p).partial_fit(X, y)
        A, V, spent = model.centers_, model.weights_, model.compression_error_
        assert spent == 0.0
        model.set_budget(len(A) - 1)
        points, change = np.vstack([A, model.centers_]), np.vstack([V, -model.weights_])
        distance = np.sum(change * (GAUSSIAN(points) @ change))
        moved[p] = model.compression_error_ - spent
        assert moved[p] == pytest.approx(distance, rel=1e-6)
    assert moved[64] < 0.8 * moved[0] and moved[64] < moved[7] <= moved[1] <= moved[0]


@pytest.mark.parametrize("neighbors", [0, 10])
@pytest.mark.parametrize("batch", [1, 8])
def test_a_block_equals_its_batches_with_merges(batch, neighbors):
    X, y = make_multidist(640, random_state=0)
    options = dict(gamma=1.0, step_size=2.0, batch_size=batch, budget=30, average=200)
    options |= {"maintenance": "merge", "neighbors": neighbors}
    block = published(POLKClassifier, **options).partial_fit(X, y)
    parts = published(POLKClassifier, **options)
    for first in range(0, 640, 80):
        parts.partial_fit(X[first : first + 80], y[first : first + 80])
    np.testing.assert_array_equal(block.centers_, parts.centers_)
    np.testing.assert_array_equal(block.weights_, parts.weights_)
    assert block.score(X, y) > 0.65
    for model in (block, parts):
        model.set_budget(12)
        assert model.n_centers_ == 12
    np.testing.assert_array_equal(block.centers_, parts.centers_)


def test_merging_regression_has_an_intercept_and_a_unit():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(2000, 1))
    y = 1000.0 + 50.0 * np.sin(2 * X[:, 0])
    model = POLKRegressor(
        "gaussian", gamma=1.0, budget=15, maintenance="merge", random_state=0
    ).fit(X, y)
    assert model.n_centers_ <= 15
    assert model.score(X, y) > 0.98


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_a_block_equals_its_batches(batch, loss):
    X, y = make_multidist(640, random_state=0)
    step = 0.5 if loss == "squared_hinge" else 2.0
    block = published(
        POLKClassifier, gamma=1.0, loss=loss, step_size=step, batch_size=batch
    ).partial_fit(X, y)
    parts = published(POLKClassifier, gamma=1.0, loss=loss, step_size=step, batch_size=batch)
    for first in range(0, 640, 80):
        parts.partial_fit(X[first : first + 80], y[first : first + 80])
    np.testing.assert_array_equal(block.centers_, parts.centers_)
    np.testing.assert_array_equal(block.weights_, parts.weights_)
    assert block.classes_.tolist() == parts.classes_.tolist()
    if batch == 1:
        rows = published(POLKClassifier, gamma=1.0, loss=loss, step_size=step)
        for x, label in zip(X, y, strict=True):
            rows.learn_one(x, label)
        np.testing.assert_array_equal(block.weights_, rows.weights_)
        assert [rows.predict_one(x) for x in X[:20]] == rows.predict(X[:20]).tolist()


@pytest.mark.parametrize(
    "loss", ["hinge", "logistic", "ovr_hinge", "ovr_logistic", "squared_hinge"]
)
@pytest.mark.parametrize("batch", [1, 16])
def test_a_class_met_late_does_not_act_on_rows_before_it(loss, batch):
    """The class that comes in the middle of a batch: the same as if the rows before it had been
    learned without it.
    """
    X, y = make_multidist(400, n_classes=3, random_state=3)
    late = np.flatnonzero(y == 2)
    y[late[late < 203]] = 0
    first = int(np.flatnonzero(y == 2)[0])
    options = dict(gamma=1.0, loss=loss, step_size=0.5, batch_size=batch, parsimony=0.02)
    known = published(POLKClassifier, **options)
    known.partial_fit(X, y)
    assert known.classes_.tolist() == [0, 1, 2]
    before = published(POLKClassifier, **options)
    F = before._before_and_learn(X[: first // batch * batch], y[: first // batch * batch], None)
    assert F.shape[1] == 2
    # By hand: with the gradient restricted to the classes met so far.
    names = list(dict.fromkeys(y.tolist()))
    part = losses.resolve(loss, losses.CLASSIFICATION)

    def gradient(f, i):
        met = len(set(y[: i + 1].tolist()))
        target = part.targets(np.array([names.index(y[i])]), np.array([met]), 3)[0]
        return part.core().gradient(np.ascontiguousarray(f), target)

    expected, _, W = oracle.polk(kernels.Gaussian(1.0), X, gradient, 3, 0.5, 1e-6, 0.02, batch)
    np.testing.assert_allclose(known.weights_, W[:, np.argsort(names)], atol=1e-6)
    assert (expected[:first, 2] == 0).all()


def test_classes_are_given_or_met():
    X, y = make_multidist(300, random_state=0)
    names = np.array(["a", "b", "c", "d", "e"])[y]
    met = published(POLKClassifier, gamma=1.0).partial_fit(X[:1], names[:1])
    assert met.classes_.tolist() == [names[0]]
    assert met.predict(X[:3]).tolist() == [names[0]] * 3
    met.learn_one(X[1], "z").partial_fit(X, names)
    assert met.classes_.tolist() == ["a", "b", "c", "d", "e", "z"]
    assert met.weights_.shape == (met.n_centers_, 6)
    assert met.decision_function(X).shape == (300, 6)
    given = published(POLKClassifier, gamma=1.0).partial_fit(
        X[:10], names[:10], classes=["e", "d", "c", "b", "a"]
    )
    assert given.classes_.tolist() == ["a", "b", "c", "d", "e"]
    weights = given.weights_
    with pytest.raises(ValueError, match="'z' at row 1, which is not among the classes given"):
        given.partial_fit(X[:2], ["a", "z"])
    with pytest.raises(ValueError, match="classes so far"):
        given.partial_fit(X[:2], ["a", "b"], classes=["a", "b"])
    with pytest.raises(ValueError, match="NaN at row 1, column 0"):
        met.partial_fit([[0.0, 0.0], [np.nan, 0.0]], ["new", "a"])
    assert "new" not in met.classes_
    assert met.decision_function(X).shape == (300, 6)
    np.testing.assert_array_equal(given.weights_, weights)
    with pytest.raises(TypeError, match="labels so far"):
        given_numbers = published(POLKClassifier, gamma=1.0).partial_fit(X, y)
        given_numbers.partial_fit(X[:1], ["text"])


def test_predictions_before_learning_know_only_what_was_met():
    X, y = make_multidist(500, random_state=2)
    model = published(POLKClassifier, gamma=1.0, loss="logistic")
    predicted = model.predict_then_learn(X, y)
    for i in range(1, 60):
        assert predicted[i] in y[:i]
    rows = published(POLKClassifier, gamma=1.0, loss="logistic")
    rows.learn_one(X[0], y[0])
    for i in range(1, 60):
        assert rows.predict_one(X[i]) == predicted[i]
        rows.learn_one(X[i], y[i])
    assert np.mean(predicted[250:] == y[250:]) > 0.5


@pytest.mark.parametrize("loss", ["logistic", "ovr_logistic"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_probabilities_sum_to_one_and_agree_with_predict(loss, n_classes):
    X, y = make_multidist(2000, n_classes=n_classes, random_state=0)
    model = published(POLKClassifier, gamma=1.0, loss=loss).fit(X, y)
    P = model.predict_proba(100 * X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    P = model.predict_proba(X)
    assert ((P >= 0) & (P <= 1)).all()
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    if n_classes == 2:
        np.testing.assert_array_equal(
            model.decision_function(X) > 0, model.predict(X) == model.classes_[1]
        )
    assert log_loss(y, P) < np.log(n_classes)
    assert not hasattr(published(POLKClassifier), "predict_proba")


def test_multidist_finds_its_modes():
    X, y = make_multidist(7500, random_state=1)
    svc = np.mean(SVC(gamma=GAUSSIAN.gamma).fit(X[:5000], y[:5000]).predict(X[5000:]) != y[5000:])
    model = published(POLKClassifier, GAUSSIAN, step_size=6, parsimony=0.06, batch_size=32)
    model.partial_fit(X[:1500], y[:1500])
    assert np.mean(model.predict(X[5000:]) != y[5000:]) < 2 * svc
    model.partial_fit(X[1500:5000], y[1500:5000])
    assert 12 <= model.n_centers_ <= 18  # there are 15 modes
    assert np.mean(model.predict(X[5000:]) != y[5000:]) < svc + 0.02


@pytest.mark.parametrize(
    "loss", ["squared", "absolute", "huber", "epsilon_insensitive", losses.Quantile(0.5)]
)
def test_regression_with_every_loss(loss):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(6000, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=6000)
    step = 0.2 if loss in ("squared", "huber") else 0.05
    model = published(
        POLKRegressor, gamma=1.0, loss=loss, step_size=step, parsimony=0.01 / step
    ).fit(X, y)
    assert model.n_centers_ < 40
    Z = np.linspace(-3, 3, 100)[:, None]
    assert np.sqrt(np.mean((model.predict(Z) - np.sin(Z[:, 0])) ** 2)) < 0.12


def test_quantiles_are_quantiles():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(20000, 1))
    y = rng.normal(size=20000)
    low, high = (
        published(
            POLKRegressor,
            gamma=0.5,
            loss=losses.Quantile(q),
            step_size=0.05,
            parsimony=0.1,
            batch_size=8,
        ).fit(X, y)
        for q in (0.1, 0.9)
    )
    assert 0.05 < np.mean(y < low.predict(X)) < 0.15
    assert 0.85 < np.mean(y < high.predict(X)) < 0.95


def test_several_outputs_share_the_dictionary():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(3000, 1))
    Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 0]), X[:, 0] / 3])
    model = published(POLKRegressor, gamma=1.0, step_size=0.5, batch_size=4).fit(X, Y)
    assert model.weights_.shape == (model.n_centers_, 3)
    assert model.score(X, Y) > 0.99


def test_weights_are_factors_on_the_loss():
    X, y = make_multidist(400, random_state=0)
    weights = np.random.default_rng(0).choice([0.0, 1.0], size=400)
    options = dict(gamma=1.0, parsimony=0.0)
    weighted = published(POLKClassifier, **options).partial_fit(
        X, y, classes=range(5), sample_weight=weights
    )
    only = published(POLKClassifier, **options, alpha=0.0).partial_fit(
        X[weights > 0], y[weights > 0], classes=range(5)
    )
    unweighted = published(POLKClassifier, **options, alpha=0.0).partial_fit(
        X, y, classes=range(5), sample_weight=weights
    )
    np.testing.assert_allclose(unweighted.weights_, only.weights_, atol=1e-12)
    assert weighted.n_centers_ == only.n_centers_
    double = published(POLKRegressor, gamma=1.0, step_size=0.2).fit(
        X, X[:, 0], sample_weight=np.full(400, 2.0)
    )
    np.testing.assert_allclose(
        double.predict(X),
        published(POLKRegressor, gamma=1.0, step_size=0.4, alpha=0.5e-6, parsimony=0.01 * 0.5**1.5)
        .fit(X, X[:, 0])
        .predict(X),
        atol=1e-9,
    )
    with pytest.raises(ValueError, match="sample_weight is 20 at row 1"):
        published(POLKRegressor, gamma=1.0, step_size=0.2).fit(
            X[:2], X[:2, 0], sample_weight=[1.0, 20.0]
        )


def test_diminishing_steps_follow_their_rule():
    X, y = make_multidist(300, random_state=0)
    k = kernels.Gaussian(100.0)  # so narrow that no sample lies in the span of the others
    model = published(
        POLKClassifier,
        k,
        loss="logistic",
        schedule="diminishing",
        parsimony=0.0,
        step_size=1.0,
        alpha=0.1,
    )
    model.partial_fit(X, y, classes=range(5))
    W = np.zeros((0, 5))
    for t in range(1, 301):
        f = k(X[t - 1 : t], X[: t - 1])[0] @ W if t > 1 else np.zeros(5)
        eta = (1 + (t - 1) / 100) ** -0.75
        W = np.vstack([(1 - eta * 0.1) * W, -eta * oracle.multinomial_logistic(f, y[t - 1])])
    np.testing.assert_allclose(model.weights_, W, atol=1e-10)


@pytest.mark.parametrize("maintenance", ["merge", "projection", "removal"])
def test_bsgd_keeps_its_budget_and_learns(maintenance):
    X, y = make_multidist(5000, random_state=1)
    model = published(BSGDClassifier, GAUSSIAN, budget=40, step_size=0.5, maintenance=maintenance)
    model.fit(X[:4000], y[:4000])
    assert model.n_centers_ == 40
    assert model.score(X[4000:], y[4000:]) > (0.4 if maintenance == "removal" else 0.7)


def test_a_merge_is_the_best_there_is():
    """The oldest of three (the smallest, for weights shrink) against a search over both partners
    and the segments to them.
    """
    rng, k = np.random.default_rng(0), kernels.Gaussian(0.5)
    h = np.linspace(0, 1, 20001)
    for _ in range(20):
        X, y = rng.normal(size=(3, 2)), rng.integers(3, size=3)
        options = dict(alpha=0.1, step_size=0.5)
        free = published(BSGDClassifier, k, budget=9, **options).partial_fit(X, y, classes=range(3))
        W = free.weights_
        assert free.n_centers_ == 3
        found = []
        for n in (1, 2):
            K = k(X[:1], X[n : n + 1])[0, 0]
            merged = np.outer(K ** ((1 - h) ** 2), W[0]) + np.outer(K ** (h**2), W[n])
            kept = (merged**2).sum(axis=1)
            best = kept.argmax()
            lost = W[0] @ W[0] + W[n] @ W[n] + 2 * K * W[0] @ W[n] - kept[best]
            found.append((lost, n, h[best] * X[0] + (1 - h[best]) * X[n], merged[best]))
        lost, n, centre, weights = min(found)
        model = published(BSGDClassifier, k, budget=2, **options).partial_fit(
            X, y, classes=range(3)
        )
        at = int(np.abs(model.centers_ - centre).sum(axis=1).argmin())
        np.testing.assert_allclose(model.centers_[at], centre, atol=1e-3)
        np.testing.assert_allclose(model.weights_[at], weights, atol=1e-3)
        np.testing.assert_allclose(model.centers_[1 - at], X[3 - n])
        assert model._learner.spent == pytest.approx(lost, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (published(POLKClassifier, loss="squared"), "unknown loss 'squared'; known are 'hinge'"),
        (published(POLKRegressor, loss="hinge"), "unknown loss 'hinge'"),
        (published(POLKRegressor, step_size=2.0), "stable only for step_size < 2"),
        (
            published(POLKClassifier, loss="squared_hinge", step_size=1.0),
            "stable only for step_size < 1 ",
        ),
        (published(POLKClassifier, step_size=10.0, alpha=0.1), "step_size . alpha must be < 1"),
        (
            published(POLKClassifier, schedule="sometimes"),
            "unknown schedule 'sometimes'; known are 'constant', 'diminishing'",
        ),
        (published(POLKClassifier, parsimony=-1), "parsimony"),
        (published(POLKClassifier, batch_size=0), "batch_size"),
        (
            published(POLKClassifier, maintenance="removal"),
            "unknown maintenance 'removal'; known are 'merge', 'projection'",
        ),
        (published(POLKClassifier, maintenance="merge", neighbors=-1), "neighbors"),
        (published(POLKClassifier, maintenance="merge", neighbors=1001), "neighbors"),
        (
            published(POLKRegressor, neighbors=8),
            "neighbors=8 needs maintenance='merge', got 'projection'",
        ),
        (
            published(POLKRegressor, kernel="matern32", maintenance="merge"),
            "needs the Gaussian kernel .* maintenance='projection' takes any kernel",
        ),
        (published(BSGDClassifier, schedule="pegasos", alpha=0.0), "needs alpha > 0"),
        (published(BSGDClassifier, kernel="laplacian"), "needs the Gaussian kernel"),
        (
            published(BSGDClassifier, maintenance="pray"),
            "unknown maintenance 'pray'; known are 'merge', 'projection', 'removal'",
        ),
        (published(BSGDClassifier, budget=0), "budget"),
    ],
)
def test_bad_parameters_are_named(model, message):
    X, y = make_multidist(50, random_state=0)
    target = X[:, 0] if isinstance(model, POLKRegressor) else y
    with pytest.raises(ValueError, match=message):
        model.fit(X, target)
    assert not hasattr(model, "_learner")


def test_pegasos_steps_are_one_over_lambda_t():
    X, y = make_multidist(60, random_state=0)
    model = published(
        BSGDClassifier, gamma=1.0, schedule="pegasos", alpha=0.5, budget=100, maintenance="removal"
    )
    model.partial_fit(X, y, classes=range(5))
    # After t steps of Pegasos every term has the weight 1 / (lambda t), whenever it came.
    sizes = np.abs(model.weights_).max(axis=1)
    np.testing.assert_allclose(sizes, 1 / (0.5 * 60), rtol=1e-9)


def test_a_budget_on_top_of_the_tolerance():
    X, y = make_multidist(3000, random_state=0)
    for batch in (1, 32):
        model = published(POLKClassifier, gamma=2.0, parsimony=1e-4, batch_size=batch, budget=25)
        for first in range(0, 3000, 320):
            model.partial_fit(X[first : first + 320], y[first : first + 320])
            assert model.n_centers_ <= 25
        nbytes = model.nbytes_
        model.partial_fit(X, y)
        assert model.nbytes_ == nbytes
        assert model._learner.drift() < 1e-6


def test_the_convergence_report_is_what_its_formulas_say():
    X, y = make_multidist(1500, random_state=0)
    model = published(POLKClassifier, GAUSSIAN, step_size=0.5, alpha=0.01, parsimony=0.05).fit(X, y)
    report = diagnostics.convergence(model, X, y)
    W, K = model.weights_, GAUSSIAN(model.centers_)
    F = GAUSSIAN(X, model.centers_) @ W
    hinge = np.mean(
        [losses.MulticlassHinge().value(f, label) for f, label in zip(F, y, strict=True)]
    )
    assert report.risk == pytest.approx(hinge + 0.005 * np.trace(W.T @ K @ W), rel=1e-9)
    assert report.risk == pytest.approx(diagnostics.regularised_risk(model, X, y))
    assert report.gradient == pytest.approx(np.sqrt(2))
    assert report.growth_distance == pytest.approx(0.05 * np.sqrt(0.5) / np.sqrt(2))
    assert report.radius == pytest.approx(
        diagnostics.convergence_radius(0.5, 0.05, 0.01, radius_sigma(F, y, W, K)), rel=1e-9
    )
    assert "radius of Theorem 2" in str(report)


def radius_sigma(F, y, W, K):
    norms = np.array(
        [np.linalg.norm(oracle.multiclass_hinge(f, label)) for f, label in zip(F, y, strict=True)]
    )
    return np.sqrt(np.mean((norms + 0.01 * np.sqrt(np.trace(W.T @ K @ W))) ** 2))


def test_growth_needs_the_distance_that_76_says():
    """Samples nearer to the span than K sqrt(eta) / C never make the dictionary grow."""
    X, y = make_multidist(1500, random_state=0)
    step, K = 0.5, 0.1
    bound = diagnostics.growth_distance(step, K, np.sqrt(2))
    model = published(POLKClassifier, GAUSSIAN, step_size=step, alpha=1e-6, parsimony=K)
    model.partial_fit(X[:5], y[:5], classes=range(5))
    grown = 0
    for x, label in zip(X[5:], y[5:], strict=True):
        before = model.n_centers_
        distance = np.sqrt(max(0.0, diagnostics.projection_errors(model, X=x[None])[0]))
        model.learn_one(x, label)
        if model.n_centers_ > before:
            grown += 1
            assert distance >= bound * (1 - 1e-9)
    assert grown > 5


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"schedule": "diminishing"}, "the rates diminish"),
        ({"budget": 5}, "budget=5 may have evicted more"),
        ({"alpha": 0.0}, "alpha=0"),
        ({"batch_size": 8}, "batch_size=8"),
        ({"maintenance": "merge"}, "maintenance='merge': (76) is about projections"),
    ],
)
def test_what_is_not_promised_is_left_out_with_the_reason(options, reason):
    X, y = make_multidist(400, random_state=0)
    report = diagnostics.convergence(published(POLKClassifier, GAUSSIAN, **options).fit(X, y), X, y)
    assert any(reason in said for said in report.assumptions)
    assert report.radius is None or "batch_size" in options or "maintenance" in options
    assert report.growth_distance is None or "alpha" in options


def test_the_report_is_for_polk_only():
    X, y = make_multidist(50, random_state=0)
    with pytest.raises(TypeError, match="expected a POLKRegressor or POLKClassifier"):
        diagnostics.convergence(published(BSGDClassifier, gamma=1.0).fit(X, y), X, y)
    with pytest.raises(ValueError, match="labels that the model does not know"):
        diagnostics.regularised_risk(published(POLKClassifier, gamma=1.0).fit(X, y), X, y + 7)


def test_log_loss_is_near_that_of_the_batch_solution():
    from parsimon.experiments.koppel_2019.baselines import KernelLBFGS

    X, y = make_multidist(5500, random_state=1)
    batch = KernelLBFGS(GAUSSIAN.gamma, 1e-4, tolerance=1e-6).fit(X[:3000], y[:3000])
    model = published(
        POLKClassifier,
        GAUSSIAN,
        loss="logistic",
        step_size=6,
        parsimony=0.01,
        batch_size=32,
        n_passes=2,
    )
    model.fit(X[:3000], y[:3000])
    best = log_loss(y[3000:], batch.predict_proba(X[3000:]))
    assert log_loss(y[3000:], model.predict_proba(X[3000:])) < 1.1 * best


def test_a_short_batch_is_a_smaller_step():
    X, y = make_multidist(320, random_state=0)
    options = dict(
        gamma=50.0, loss="logistic", parsimony=0.0, alpha=0.0, batch_size=8
    )  # so narrow that samples hardly meet
    whole = published(POLKClassifier, **options).partial_fit(X, y, classes=range(5))
    short = (
        published(POLKClassifier, **options)
        .partial_fit(X[:5], y[:5], classes=range(5))
        .partial_fit(X[5:8], y[5:8])
    )
    for x, label in zip(X[8:16], y[8:16], strict=True):
        short.learn_one(x, label)
    np.testing.assert_allclose(short.weights_, whole.weights_[:16], atol=0.02)
    assert np.abs(whole.weights_).max() <= 1 / 8


def test_threads_predict_while_classes_are_added():
    X, y = make_multidist(4000, random_state=0)
    model = published(POLKClassifier, gamma=1.0, batch_size=1).partial_fit(X[:100], y[:100])
    stop, failures = threading.Event(), []

    def predict():
        try:
            while not stop.is_set():
                assert model.decision_function(X).shape[0] == 4000
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=predict) for _ in range(3)]
    for thread in threads:
        thread.start()
    for c in range(40):
        model.partial_fit(X[c : c + 1], [100 + c])
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(model.classes_) == 45


def test_an_interrupted_block_keeps_its_classes():
    X, y = make_multidist(60, n_classes=2, random_state=0)
    calls = [10**9]

    def kernel(a, b):
        calls[0] -= 1
        if calls[0] < 0:
            raise RuntimeError("enough")
        return float(np.exp(-((a - b) ** 2).sum()))

    model = published(POLKClassifier, kernel).partial_fit(X, y)
    calls[0] = 3 * model.n_centers_
    with pytest.raises(RuntimeError, match="enough"):
        model.partial_fit(X, np.full(60, 7))
    calls[0] = 10**9
    assert len(model.classes_) == model._learner.n_outputs
    assert set(model.predict(X)) <= set(model.classes_)
    model.partial_fit(X, y)


@pytest.mark.parametrize("maintenance", ["merge", "removal", "projection"])
def test_the_budget_holds_whatever_the_numbers(maintenance):
    X, y = make_multidist(200, random_state=0)
    with np.errstate(all="ignore"):
        huge = dict(gamma=1.0, step_size=1e20, alpha=0.0, budget=5, batch_size=8)
        assert published(BSGDClassifier, **huge, maintenance=maintenance).fit(X, y).n_centers_ <= 5
        assert published(POLKClassifier, **huge, parsimony=0.0).fit(X, y).n_centers_ <= 5


def test_a_refit_may_have_other_outputs():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    model = published(POLKRegressor, gamma=1.0).fit(X, Y[:, 0]).fit(X, Y)
    assert model.predict(X).shape == (50, 2)
    assert model.fit(X, Y[:, 0]).predict(X).shape == (50,)


def test_labels_of_all_kinds():
    X, y = make_multidist(50, random_state=0)
    names = np.array(["a", "b", "c", "d", "e"])[y]
    model = (
        published(POLKClassifier, gamma=1.0)
        .partial_fit(X, names.astype(object))
        .learn_one(X[0], "new")
    )
    assert "new" in model.classes_
    numbers = published(POLKClassifier, gamma=1.0).partial_fit(X, y).learn_one(X[0], np.array(1))
    assert len(numbers.classes_) == 5
    with pytest.raises(ValueError, match="requires y"):
        numbers.predict_then_learn(X, None)


def test_pegasos_survives_a_short_first_batch():
    X, y = make_multidist(40, random_state=0)
    options = dict(
        gamma=1.0, schedule="pegasos", alpha=0.5, budget=100, maintenance="removal", batch_size=8
    )
    model = (
        published(BSGDClassifier, **options)
        .partial_fit(X[:3], y[:3], classes=range(5))
        .partial_fit(X[3:11], y[3:11])
    )
    assert np.abs(model.weights_[:3]).max() > 0


def test_sorted_classes_are_shuffled_by_fit():
    X, y = make_multidist(2000, random_state=1)
    order = np.argsort(y)
    scores = [
        published(POLKClassifier, GAUSSIAN, shuffle=shuffle, random_state=0)
        .fit(X[order], y[order])
        .score(X, y)
        for shuffle in (True, False)
    ]
    assert scores[0] > 0.75 > scores[1]
    again = published(POLKClassifier, GAUSSIAN, random_state=0).fit(X[order], y[order])
    assert again.score(X, y) == scores[0]


def test_columns_follow_sorted_classes_whatever_the_order_they_were_met_in():
    X, y = make_multidist(1000, random_state=0)
    given = published(POLKClassifier, GAUSSIAN, loss="logistic").partial_fit(X, y, classes=range(5))
    met = published(POLKClassifier, GAUSSIAN, loss="logistic").partial_fit(X, y)
    assert met._met.tolist() != met.classes_.tolist() == [0, 1, 2, 3, 4]
    assert log_loss(y, met.predict_proba(X)) == pytest.approx(
        log_loss(y, given.predict_proba(X)), rel=0.05
    )
    np.testing.assert_array_equal(
        met.predict(X), met.classes_[met.decision_function(X).argmax(axis=1)]
    )


def test_a_smaller_budget_later_is_a_pruning_then():
    X, y = make_multidist(600, random_state=3)
    model = published(
        POLKClassifier, gamma=1.0, step_size=2.0, parsimony=0.001, budget=80, batch_size=8
    ).partial_fit(X, y)
    K = np.exp(-((model.centers_[:, np.newaxis] - model.centers_) ** 2).sum(2))
    centers, W, spent = model.centers_, model.weights_, model.compression_error_
    assert model.set_budget(30) is model
    assert model.n_centers_ == model.budget == 30 == model.get_params()["budget"]
    kept = [int(np.flatnonzero((centers == center).all(axis=1))[0]) for center in model.centers_]
    _, wanted, coefficients, distance = oracle.komp(K, W, 0.0, 30)
    assert kept == wanted
    np.testing.assert_allclose(model.weights_, coefficients, rtol=0, atol=1e-6 * np.abs(W).max())
    assert model.compression_error_ - spent == pytest.approx(distance, rel=1e-6)
    model.partial_fit(X, y)  # goes on, and holds it
    assert model.n_centers_ <= 30
    clone(model).fit(X, y)


@pytest.mark.parametrize(
    ("model", "budget", "message"),
    [
        (published(KNLMSRegressor, coherence=0.9), 5, "begun without one"),
        (
            published(SPLRegressor, admission="coherence", coherence="adaptive", budget=9),
            5,
            "start again",
        ),
        (published(POLKRegressor), 0, "budget must be"),
        (published(POLKRegressor), None, "whole number"),
        (published(POLKRegressor), 2.5, "budget must be"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_and_nothing_changes(model, budget, message):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = clone(model).fit(X, X[:, 0])
    before = model.predict(X), model.get_params()
    with pytest.raises((ValueError, TypeError), match=message):
        model.set_budget(budget)
    np.testing.assert_array_equal(model.predict(X), before[0])
    assert model.get_params() == before[1]


@pytest.mark.parametrize(
    "name", ["KNLMSRegressor", "KRLSRegressor", "SPLRegressor", "BSGDClassifier"]
)
def test_every_rule_can_be_given_a_smaller_budget(name):
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = X[:, 0] > 0 if name.endswith("Classifier") else np.sin(X[:, 0])
    model = getattr(parsimon, name)(gamma=8.0, budget=40).fit(X, y)
    assert model.n_centers_ > 11
    assert model.set_budget(11).n_centers_ == 11
    assert model.partial_fit(X, y).n_centers_ <= 11


@pytest.mark.parametrize("batch", [1, 8])
def test_averages_are_means_over_the_steps(batch):
    X, y = make_multidist(120, random_state=5)
    options = {"gamma": 1.0, "step_size": 2.0, "alpha": 0.01, "parsimony": 0.0, "batch_size": batch}
    averaged = published(POLKClassifier, **options, average=40).partial_fit(
        X[:40], y[:40], classes=range(5)
    )
    plain = published(POLKClassifier, **options).partial_fit(X[:40], y[:40], classes=range(5))
    np.testing.assert_array_equal(averaged.weights_, plain.weights_)  # not yet
    total, steps = 0.0, 0
    for first in range(40, 120, batch):
        rows = slice(first, first + batch)
        before = plain.predict(X[rows]) if steps == 0 else averaged.predict(X[rows])
        np.testing.assert_array_equal(averaged.predict_then_learn(X[rows], y[rows]), before)
        total, steps = total + plain.partial_fit(X[rows], y[rows])._evaluate(X), steps + 1
        np.testing.assert_allclose(averaged._evaluate(X), total / steps, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(averaged.centers_, plain.centers_)
    block = published(POLKClassifier, **options, average=40).partial_fit(X, y, classes=range(5))
    np.testing.assert_array_equal(block.weights_, averaged.weights_)


def test_averages_are_pruned_with_the_function_and_met_by_new_classes():
    X, y = make_multidist(2000, random_state=5)
    late = np.argsort(y == 4, kind="stable")  # the last class comes last
    model = published(
        POLKClassifier, gamma=1.0, step_size=2.0, budget=30, average=True, batch_size=8
    )
    for first in range(0, 2000, 200):
        model.partial_fit(X[late][first : first + 200], y[late][first : first + 200])
    assert model.n_centers_ <= 30
    assert model.weights_.shape == (model.n_centers_, 5)
    assert np.isfinite(model.weights_).all()
    options = {"gamma": 1.0, "step_size": 6.0, "budget": 30, "batch_size": 8, "random_state": 0}
    errors = [
        1
        - published(POLKClassifier, **options, average=a)
        .fit(X[:1000], y[:1000])
        .score(X[1000:], y[1000:])
        for a in (False, 500)
    ]
    assert errors[1] < errors[0]
    with pytest.raises(ValueError, match="average"):
        published(POLKClassifier, average=-1).fit(X[:10], y[:10])


def test_a_budget_brings_no_other_change_with_it():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = published(POLKRegressor, gamma=2.0, parsimony=1e-4, budget=100).fit(X, X[:, 0])
    model.set_params(parsimony=5.0)
    with pytest.raises(ValueError, match="parsimony was"):
        model.set_budget(60)
    assert model.set_params(parsimony=1e-4).set_budget(60).n_centers_ == 60


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_class_met_late_is_seen_by_the_mean(loss):
    """Means are over the steps since a class first took part; over all steps its own would stay
    small for as long again.
    """
    X, y = make_multidist(160, n_classes=3, random_state=3)
    order = np.argsort(y == 2, kind="stable")  # the last class comes last
    X, y = X[order], y[order]
    options = {"gamma": 1.0, "loss": loss, "step_size": 1.0, "alpha": 0.01, "parsimony": 0.0}
    means, plain = (
        published(POLKClassifier, **options, average=10),
        published(POLKClassifier, **options),
    )
    total, steps, alive, restarts = 0.0, 0, 0, []
    for i in range(160):
        means.partial_fit(X[i : i + 1], y[i : i + 1])
        plain.partial_fit(X[i : i + 1], y[i : i + 1])
        if i < 10:
            continue
        met = int((plain.weights_ != 0).any(axis=0).sum())
        if met > alive:
            total, steps, alive = 0.0, 0, met
            restarts.append(i)
        total, steps = total + plain._evaluate(X), steps + 1
        np.testing.assert_allclose(means._evaluate(X), total / steps, rtol=0, atol=1e-9)
    assert restarts == [10, int(np.flatnonzero(y == 2)[0])]


def test_what_average_may_be():
    X, y = make_multidist(200, random_state=0)
    options = {"gamma": 1.0, "shuffle": False}
    plain, means = (
        published(POLKClassifier, **options, average=a).fit(X, y).weights_ for a in (False, True)
    )
    for average, expected in [(0, plain), (np.False_, plain), (np.True_, means), (10**6, plain)]:
        np.testing.assert_array_equal(
            published(POLKClassifier, **options, average=average).fit(X, y).weights_, expected
        )
    with pytest.raises(TypeError, match="average"):
        published(POLKClassifier, average=None).fit(X, y)
    with pytest.raises(ValueError, match="gradient steps"):
        replace(algorithms.krls(kernels.Gaussian()), average_after=5)


def test_recent_averages_weigh_late_steps_more():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    options = {"gamma": 1.0, "parsimony": 0.0, "alpha": 0.0, "step_size": 0.3}
    recent = parsimon.published(parsimon.POLKRegressor, average="recent", **options)
    plain, mean = parsimon.published(parsimon.POLKRegressor, **options), np.zeros(40)
    for k, x in enumerate(X, start=1):
        for model in (recent, plain):
            model.learn_one(x, x[0])
        mean += 4.0 / (k + 3.0) * (plain.predict(X) - mean)  # weights (k + 1) (k + 2) (k + 3)
    np.testing.assert_allclose(recent.predict(X), mean, atol=1e-9)
    with pytest.raises(ValueError, match="unknown average 'late'; known are 'recent'"):
        parsimon.published(parsimon.POLKRegressor, average="late").fit(X, X[:, 0])
