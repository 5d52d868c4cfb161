"""Models added up, compressed and compared in function space."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import parsimon
from parsimon import (
    SOGSVC,
    SOGSVR,
    BSGDClassifier,
    KernelDictionaryLearning,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    NORMARegressor,
    POLKClassifier,
    POLKRegressor,
    SPLRegressor,
    kernels,
    merge,
    published,
)

REGRESSORS = [
    published(KLMSRegressor, gamma=1.0, quantization=0.2),
    published(KNLMSRegressor, gamma=1.0, step_size=0.5),
    published(KNLMSRegressor, kernels.Polynomial(3, 0.5), coherence=0.9),
    published(KRLSRegressor, gamma=1.0),
    published(KRLSRegressor, gamma=1.0, admission="coherence", ridge=0.1),
    published(KRLSRegressor, gamma=1.0, forgetting=0.99),
    published(NORMARegressor, gamma=1.0, budget=None),
    published(POLKRegressor, gamma=1.0),
    published(POLKRegressor, gamma=1.0, average=20, batch_size=4),
    published(SOGSVR, gamma=1.0, tolerance=0.1),
    published(SOGSVR, gamma=1.0, tolerance=0.1, ridge=0.01),
    published(SPLRegressor, gamma=1.0),
    published(SPLRegressor, gamma=1.0, admission="coherence"),
]
CLASSIFIERS = [
    published(BSGDClassifier, gamma=1.0, budget=400),
    published(POLKClassifier, gamma=1.0, loss="logistic"),
    published(POLKClassifier, gamma=1.0, average=True),
    published(POLKClassifier, gamma=1.0, average=True, maintenance="merge", budget=400),
    published(SOGSVC, gamma=1.0),
]


def stream(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def labelled(n=300, seed=0):
    X, y = stream(n, seed)
    return X, np.array(["high", "low", "middle"])[np.digitize(y, [-0.4, 0.4])]


def parts(model):
    """Models of parts of different sizes of one stream, classes met late."""
    X, y = (labelled if hasattr(model, "classes_") or model in CLASSIFIERS else stream)()
    cuts = [0, 40, 160, 300]
    return (
        [copy.deepcopy(model).partial_fit(X[a:b], y[a:b]) for a, b in itertools.pairwise(cuts)],
        X,
        y,
    )


def evaluate(model, X):
    """Return f (n, C)."""
    return model._learner.predict(X)


def weighted_sum(models, shares, X):
    if not hasattr(models[0], "_met"):
        return sum(p * evaluate(m, X) for p, m in zip(shares, models, strict=True))
    labels = sorted({label for m in models for label in m.classes_})
    F = np.zeros((len(X), len(labels)))
    for p, m in zip(shares, models, strict=True):
        for c, label in enumerate(m._met):
            F[:, labels.index(label)] += p * evaluate(m, X)[:, c]
    return F


def ordered(model, X):
    return model._sorted(evaluate(model, X)) if hasattr(model, "_met") else evaluate(model, X)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=str)
def test_a_merge_is_the_weighted_sum(model):
    models, X, _ = parts(model)
    before = [pickle.dumps(m) for m in models]
    shares = np.array([40, 120, 140]) / 300
    merged = merge(models)
    scale = np.abs(weighted_sum(models, shares, X)).max() + 1.0
    np.testing.assert_allclose(
        ordered(merged.model, X),
        weighted_sum(models, shares, X),
        atol=scale * max(1e-12, 2 * merged.distance),
    )
    if not merged.model._learner.needs[0]:
        assert merged.distance == 0.0
    assert merged.model.n_samples_seen_ == 300
    given = merge(models, [1.0, -2.0, 0.5])
    np.testing.assert_allclose(
        ordered(given.model, X),
        weighted_sum(models, [1.0, -2.0, 0.5], X),
        atol=scale * max(1e-11, 2 * given.distance),
    )
    assert [pickle.dumps(m) for m in models] == before


@pytest.mark.parametrize(
    "model", [m for m in (*REGRESSORS, *CLASSIFIERS) if not isinstance(m, POLKRegressor)], ids=str
)
def test_without_near_copies_nothing_is_lost(model):
    """No centre is in the span of the others: exact also for models with a factor."""
    X, y = (labelled if model in CLASSIFIERS else stream)(60)
    grid = np.array([[i, j] for i in range(6) for j in range(10)], dtype=float) * 1.5
    models = [copy.deepcopy(model).partial_fit(grid[i::2], y[i::2]) for i in range(2)]
    merged = merge(models, [0.25, 0.5])
    F = weighted_sum(models, [0.25, 0.5], 2 * X)
    np.testing.assert_allclose(ordered(merged.model, 2 * X), F, atol=1e-12 * (1 + np.abs(F).max()))
    assert merged.distance < 1e-12


def dense_distance(kernel, A, V, B, W):
    C, Z = np.concatenate([V, -W]), np.concatenate([A, B])
    return np.sqrt(max(np.einsum("ic,ij,jc->", C, kernel(Z), C), 0.0))


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=str)
@pytest.mark.parametrize(
    "how", [dict(budget=12), dict(tolerance=0.05), dict(budget=15, tolerance=0.05)], ids=str
)
def test_the_distance_is_that_of_the_dense_computation_and_the_bound_holds(model, how):
    models, X, _ = parts(model)
    merged, whole = merge(models, **how), merge(models, [40 / 300, 120 / 300, 140 / 300])
    if "budget" in how:
        assert merged.model.n_centers_ <= how["budget"]
        assert merged.model.budget == how["budget"]
    else:
        assert merged.distance <= max(how["tolerance"], whole.distance) + 1e-9
    shares = np.array([40, 120, 140]) / 300
    if not hasattr(models[0], "_met"):
        V = np.concatenate([p * m._learner.weights() for p, m in zip(shares, models, strict=True)])
        W = merged.model._learner.weights()
        dense = dense_distance(
            merged.model.kernel_,
            np.concatenate([m.centers_ for m in models]),
            V,
            merged.model.centers_,
            W,
        )
        assert merged.distance == pytest.approx(dense, rel=1e-8, abs=1e-6 if dense < 1e-4 else 1e-8)
    points = np.concatenate([X, 3 * X])
    gap = np.abs(ordered(merged.model, points) - weighted_sum(models, shares, points))
    assert (gap <= merged.bound(points)[:, np.newaxis] + 1e-9 * (1 + np.abs(gap).max())).all()
    assert merged.model.distance(whole.model) == pytest.approx(
        merged.distance, abs=1e-6 + 2 * whole.distance
    )


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=str)
def test_a_merge_goes_on_learning_and_can_be_stored(model, tmp_path):
    models, X, y = parts(model)
    for merged in (merge(models).model, merge(models, budget=10).model):
        merged.save(tmp_path / "merged.parsimon")
        again = parsimon.load(tmp_path / "merged.parsimon")
        for _ in range(3):
            merged.partial_fit(X, y)
            again.partial_fit(X, y)
        np.testing.assert_array_equal(merged.weights_, again.weights_)
        assert np.isfinite(merged.weights_).all()
        if merged.budget is not None:
            assert merged.n_centers_ <= merged.budget
        elif hasattr(merged, "_flat") and merged.gamma == 1.0:
            assert merged.score(X, y) > 0.7


@pytest.mark.parametrize("options", [dict(), dict(admission="coherence", coherence=0.9)], ids=str)
def test_what_recursive_least_squares_has_seen_adds_up(options):
    """One dictionary, two halves of a stream: the information P^-1 is that of both."""
    X, y = stream(30)
    first = published(KRLSRegressor, gamma=1.0, ridge=0.5, **options).partial_fit(X, y)
    centres, targets = first.centers_, np.random.default_rng(1).normal(size=(2, first.n_centers_))
    # Samples at the centres: none is admitted
    halves = [copy.deepcopy(first).partial_fit(centres, t) for t in targets]
    merged = merge(halves, [0.5, 0.5]).model
    np.testing.assert_array_equal(merged.centers_, centres)

    def information(model):
        R = np.zeros((len(centres), len(centres)))
        R[np.tril_indices(len(centres))] = model._learner.state()[0][
            "update.covariance.factor.rows"
        ]
        return np.linalg.inv(R.T @ R)

    both = information(halves[0]) + information(halves[1])
    np.testing.assert_allclose(information(merged), both, atol=1e-6 * np.abs(both).max())


def test_recursive_least_squares_goes_on_with_what_both_parts_know():
    """What is known well moves less: the merge of two halves follows a wrong sample no further than
    a model of the whole does.
    """
    X, y = stream(600)
    whole = published(KRLSRegressor, gamma=1.0, ridge=1e-3).partial_fit(X, y)
    halves = [
        published(KRLSRegressor, gamma=1.0, ridge=1e-3).partial_fit(X[i::2], y[i::2])
        for i in range(2)
    ]
    merged = merge(halves, budget=50).model
    moved = []
    for model in (
        whole,
        merged,
        published(KRLSRegressor, gamma=1.0, ridge=1e-3).partial_fit(X[:30], y[:30]),
    ):
        before = model.predict(X[:200])
        model.partial_fit(X[:1], y[:1] + 10.0)
        moved.append(np.abs(model.predict(X[:200]) - before).max())
    assert moved[1] < 1.1 * moved[0]
    assert moved[0] < 0.5 * moved[2]


def test_support_vector_machines_ascend_to_the_fit_of_all_that_was_seen():
    X, y = stream(400)
    whole = (
        published(SOGSVR, gamma=1.0, tolerance=0.05, epsilon=0.0).partial_fit(X, y).ascend(20000)
    )
    halves = [
        published(SOGSVR, gamma=1.0, tolerance=0.05, epsilon=0.0).partial_fit(X[i::2], y[i::2])
        for i in range(2)
    ]
    merged = merge(halves, budget=45).model.ascend(20000)
    assert (
        np.abs(merged.dual_residual_).max()
        < 1e-3 * np.abs(merge(halves, budget=45).model.dual_residual_).max()
    )
    assert merged.score(X, y) == pytest.approx(whole.score(X, y), abs=2e-3)


def test_compression_in_place():
    X, y = stream(500)
    for model in (*REGRESSORS, *CLASSIFIERS):
        if model in CLASSIFIERS:
            y = labelled(500)[1]
        model = copy.deepcopy(model).partial_fit(X, y)
        whole, seen = copy.deepcopy(model), model.n_samples_seen_
        done = model.compress(8)
        assert done.model is model
        assert model.n_centers_ <= 8
        assert model.n_samples_seen_ == seen
        assert model.get_params() == whole.get_params()
        assert model.distance(whole) == pytest.approx(done.distance, abs=1e-6)
        assert whole.distance(whole) == 0.0
        assert whole.norm() ** 2 == pytest.approx(
            model.norm() ** 2 + done.distance**2, rel=1e-5, abs=1e-6
        )
        before = pickle.dumps(model)
        with pytest.raises(TypeError, match="a budget or a tolerance"):
            model.compress()
        with pytest.raises(ValueError, match="budget must be >= 1"):
            model.compress(0)
        with pytest.raises(ValueError, match="tolerance"):
            model.compress(tolerance=-1.0)
        assert pickle.dumps(model) == before


def test_what_cannot_be_merged_says_why():
    X, y = stream(50)
    one = published(KNLMSRegressor, gamma=1.0).fit(X, y)
    for others, error, match in (
        ([], ValueError, "no models"),
        (
            [one, published(KLMSRegressor, gamma=1.0).fit(X, y)],
            TypeError,
            "KNLMSRegressor, models.1. a KLMSRegressor",
        ),
        (
            [one, published(KNLMSRegressor, gamma=2.0).fit(X, y)],
            ValueError,
            "only functions of one kernel",
        ),
        (
            [one, published(KNLMSRegressor, gamma=1.0, step_size=0.1).fit(X, y)],
            ValueError,
            "step_size is 0.2 in models.0. and 0.1",
        ),
        ([one, published(KNLMSRegressor, gamma=1.0).fit(X[:, :1], y)], ValueError, "features"),
        (
            [one, published(KNLMSRegressor, gamma=1.0).fit(X, np.stack([y, y], axis=1))],
            ValueError,
            "outputs",
        ),
        ([one, published(KNLMSRegressor, gamma=1.0)], ValueError, "not fitted"),
        ([KernelDictionaryLearning(3).fit(X)], TypeError, "learn one kernel expansion"),
    ):
        with pytest.raises(error, match=match):
            merge(others)
    for weights in ([1.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match="weights"):
            merge([one, one], weights)
    for other in ("x", KernelDictionaryLearning(3).fit(X)):
        with pytest.raises(TypeError, match="one kernel expansion"):
            one.distance(other)
    with pytest.raises(ValueError, match="different kernels"):
        one.distance(published(KNLMSRegressor, gamma=2.0).fit(X, y))


def test_exact_copies_are_counted_once():
    X, y = stream(80)
    one = published(KNLMSRegressor, gamma=1.0).fit(X, y)
    merged = merge([one, one, one])
    assert merged.n_before == one.n_centers_
    np.testing.assert_allclose(merged.model.predict(X), one.predict(X), atol=1e-12)
    assert merged.model.n_samples_seen_ == 240


def fitted_elsewhere():
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.svm import SVC, SVR, NuSVC, NuSVR

    X, y = stream(200)
    labels = labelled(200)[1]
    return [
        (SVR(C=10.0), X, y),
        (SVR(kernel="poly", degree=2, coef0=1.0), X, y),
        (NuSVR(gamma=0.5), X, y),
        (KernelRidge(kernel="rbf", alpha=0.1), X, y),
        (KernelRidge(kernel="laplacian", gamma=0.3, alpha=0.1), X, np.stack([y, -y], axis=1)),
        (KernelRidge(kernel="polynomial", alpha=1.0), X, y),
        (KernelRidge(kernel="linear"), X, y),
        (SVC(C=10.0), X, labels),
        (SVC(kernel="linear"), X, labels),
        (SVC(C=10.0), X, labels == "high"),
        (NuSVC(nu=0.2), X, labels),
    ]


@pytest.mark.parametrize(
    ("model", "X", "y"), fitted_elsewhere(), ids=lambda v: str(v) if hasattr(v, "fit") else ""
)
def test_models_of_scikit_learn_become_expansions(model, X, y, tmp_path):
    model.fit(X, y)
    ours = parsimon.from_sklearn(model)
    points = stream(500, seed=1)[0]
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(ours.predict(points), model.predict(points))
        assert ours.score(X, y) == model.score(X, y)
    else:
        np.testing.assert_allclose(ours.predict(points), model.predict(points), atol=1e-8)
    whole = copy.deepcopy(ours)
    before = ours._evaluate(points)
    done = ours.compress(max(1, ours.n_centers_ // 2))
    assert ours.n_centers_ <= max(1, whole.n_centers_ // 2)
    assert ours.distance(whole) == pytest.approx(done.distance, abs=1e-6 * (1 + whole.norm()))
    gap = np.abs(ours._evaluate(points) - before)
    assert (
        gap <= done.bound(points)[:, np.newaxis] * (1 + 1e-6) + 1e-6 * (1 + np.abs(before).max())
    ).all()
    ours.save(tmp_path / "ours.parsimon")
    np.testing.assert_array_equal(
        parsimon.load(tmp_path / "ours.parsimon").predict(points), ours.predict(points)
    )


def test_what_is_no_expansion_says_so():
    from scipy.sparse import csr_array
    from sklearn.linear_model import Ridge
    from sklearn.svm import SVR

    X, y = stream(30)
    for model, error, match in (
        (Ridge().fit(X, y), TypeError, "got Ridge"),
        (SVR(kernel="sigmoid").fit(X, y), TypeError, "'sigmoid' cannot be converted"),
        (SVR(), ValueError, "not fitted"),
        (SVR().fit(csr_array(X), y), TypeError, "sparse"),
    ):
        with pytest.raises(error, match=match):
            parsimon.from_sklearn(model)
    model = parsimon.from_sklearn(SVR().fit(X, y))
    with pytest.raises(ValueError, match="NaN at row 1, column 0"):
        model.predict([[0.0, 0.0], [np.nan, 0.0]])
    with pytest.raises(ValueError, match="features"):
        model.predict([[0.0]])


@pytest.mark.parametrize(
    "model",
    [m for m in (*REGRESSORS, *CLASSIFIERS) if getattr(m, "forgetting", 1.0) == 1.0],
    ids=str,
)
def test_what_models_went_on_from_counts_once(model):
    X, y = (labelled if model in CLASSIFIERS else stream)(300)
    start = copy.deepcopy(model).partial_fit(X[:100], y[:100])
    models = [copy.deepcopy(start).partial_fit(X[a:b], y[a:b]) for a, b in ((100, 150), (150, 300))]
    for weights, p in ((None, [0.25, 0.75]), ([1.0, 1.0], [1.0, 1.0])):
        merged = merge(models, weights, since=start)
        F = weighted_sum([*models, start], [*p, 1.0 - sum(p)], X)
        scale = 1.0 + np.abs(F).max()
        np.testing.assert_allclose(
            ordered(merged.model, X), F, atol=scale * max(1e-11, 2 * merged.distance)
        )
        assert merged.model.n_samples_seen_ == 300
        merged.model.partial_fit(X, y)
        assert np.isfinite(merged.model.weights_).all()


def test_information_since_is_counted_once():
    X, y = stream(40)
    start = published(SOGSVR, gamma=1.0, tolerance=0.2).partial_fit(X, y)
    more = np.random.default_rng(1).normal(size=(2, start.n_centers_))
    models = [copy.deepcopy(start).partial_fit(start.centers_, t) for t in more]
    merged = merge(models, since=start).model.ascend(5000)
    straight = copy.deepcopy(start)
    for t in more:
        straight.partial_fit(start.centers_, t)
    np.testing.assert_allclose(merged.predict(X), straight.ascend(5000).predict(X), atol=1e-6)
    with pytest.raises(ValueError, match="not seen more"):
        merge([start, start], since=start)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_models_of_one_class_have_no_centres_and_can_be_merged(model):
    X, y = labelled()
    single = [
        copy.deepcopy(model).partial_fit(X[y == c][:20], y[y == c][:20]) for c in ("low", "high")
    ]
    both = copy.deepcopy(model).partial_fit(X, y)
    for models in (single, [*single, both], [both, *single]):
        merged = merge(models).model
        assert set(merged.classes_) == {label for m in models for label in m.classes_}
        merged.partial_fit(X, y)
        assert np.isfinite(merged.weights_).all()


def test_rows_of_recursive_least_squares_are_zero_where_a_centre_was_not():
    """Two dictionaries without a centre in common: the information on kernel rows is that of each,
    side by side.
    """
    X, y = stream(40)
    options = dict(gamma=1.0, ridge=0.5, admission="coherence", coherence=0.9)
    parts = [published(KRLSRegressor, **options).partial_fit(X[i::2], y[i::2]) for i in range(2)]
    merged = merge(parts, [0.5, 0.5]).model

    def information(model):
        R = np.zeros((model.n_centers_, model.n_centers_))
        R[np.tril_indices(len(R))] = model._learner.state()[0]["update.covariance.factor.rows"]
        return np.linalg.inv(R.T @ R)

    each, m = [information(part) for part in parts], parts[0].n_centers_
    assert merged.n_centers_ == m + parts[1].n_centers_
    found = information(merged)
    np.testing.assert_allclose(found[:m, :m], each[0], atol=1e-8 * np.abs(each[0]).max())
    np.testing.assert_allclose(found[m:, m:], each[1], atol=1e-8 * np.abs(each[1]).max())
    np.testing.assert_allclose(found[:m, m:], 0.0, atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_a_gram_matrix_that_is_singular_is_compressed(kernel):
    X = np.random.default_rng(0).normal(size=(12, 2))
    options = {} if kernel == "linear" else {"gamma": 1e-12}
    model = published(
        KRLSRegressor, kernel, admission="coherence", coherence=1.0, **options
    ).partial_fit(X, X[:, 0])
    model.compress(1)
    assert model.n_centers_ == 1
    assert np.isfinite(model.partial_fit(X, X[:, 0]).weights_).all()


def test_labels_of_several_models_are_not_rounded():
    X = np.arange(2.0)[:, np.newaxis]
    first, second, third = (
        published(POLKClassifier, gamma=1.0).partial_fit(X, y)
        for y in ([2**53, 2**53 + 1], [2.0**53, 0.0], [2**53, 7])
    )
    assert merge([first, third]).model.classes_.tolist() == [7, 2**53, 2**53 + 1]
    with pytest.raises(TypeError, match=r"labels so far are int64, models\[1\] holds float64"):
        merge([first, second])


def test_since_with_one_model_is_that_model():
    X, y = stream(400)
    for make in (
        published(POLKRegressor, gamma=1.0),
        published(KRLSRegressor, gamma=1.0),
        published(SOGSVR, gamma=1.0, tolerance=0.1),
    ):
        start = make.partial_fit(X[:300], y[:300])
        model = copy.deepcopy(start).partial_fit(X[300:], y[300:])
        merged = merge([model], since=start).model
        assert merged.n_samples_seen_ == 400
        merged.partial_fit(X, y)
        np.testing.assert_allclose(merged.predict(X), model.partial_fit(X, y).predict(X), atol=1e-6)


def test_models_that_forget_the_oldest_keep_the_newest():
    X, y = stream(1000)
    parts = [
        published(NORMARegressor, gamma=1.0, budget=100).partial_fit(X[a:b], y[a:b])
        for a, b in ((0, 400), (400, 800))
    ]
    merged = merge(parts)
    newest = {row.tobytes() for part in parts for row in part.centers_[-50:]}
    assert {row.tobytes() for row in merged.model.centers_} == newest
    alone = parts[1].partial_fit(X[800:], y[800:]).score(X, y)
    # It goes on as one
    assert merged.model.partial_fit(X[800:], y[800:]).score(X, y) == pytest.approx(alone, abs=0.05)


def test_features_have_the_same_names():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = stream(50)
    table = pandas.DataFrame(X, columns=["a", "b"])
    one, two = (
        published(KNLMSRegressor, gamma=1.0).fit(table, y),
        published(KNLMSRegressor, gamma=1.0).fit(table[["b", "a"]], y),
    )
    with pytest.raises(ValueError, match=r"has the features \['a', 'b'\]"):
        merge([one, two])
    with pytest.raises(ValueError, match=r"step_size was 0\.2"):
        merge([one, copy.deepcopy(one).set_params(step_size=0.1)])


def test_the_distance_of_models_that_average_is_that_of_what_they_predict():
    X, y = stream(600)
    for after in (100, 10_000):
        model = published(POLKRegressor, gamma=1.0, average=after).fit(X, y)
        whole = copy.deepcopy(model)
        assert model.compress(20).distance == pytest.approx(model.distance(whole), rel=1e-6)


def test_functions_without_a_factor_lose_nothing_that_need_not_go():
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.metrics import roc_auc_score
    from sklearn.svm import SVC

    X, y = stream(300)
    ridge = KernelRidge(kernel="rbf", gamma=0.3, alpha=1e-6).fit(X, y)
    model = parsimon.from_sklearn(ridge)
    assert model.compress(10**6).distance == 0.0
    assert model.n_centers_ == 300
    assert model.compress(tolerance=1e-3).distance <= 1e-3
    svc = SVC(gamma=1.0).fit(X, y > 0)
    ours = parsimon.from_sklearn(svc)
    np.testing.assert_allclose(ours.decision_function(X), svc.decision_function(X), atol=1e-9)
    assert roc_auc_score(y > 0, ours.decision_function(X)) > 0.9
    ours.weights[:] = 0.0
    assert svc.score(X, y > 0) > 0.9  # nothing is shared


def test_what_parts_have_seen_makes_the_fit_to_all():
    """Over centres that both have, the fit by information equals one model of all samples."""
    X, y = stream(400)
    first = published(KRLSRegressor, gamma=0.3, tolerance=1e-3, ridge=0.01).partial_fit(
        X[:200], y[:200]
    )
    order = np.argsort(X[200:, 0]) + 200
    halves = [
        copy.deepcopy(first).partial_fit(X[rows], y[rows]) for rows in np.array_split(order, 2)
    ]
    whole = copy.deepcopy(first).partial_fit(X[order], y[order])
    informed = merge(halves, "information", since=first)
    plain = merge(halves, since=first)
    errors = [np.abs(m.model.predict(X) - whole.predict(X)).max() for m in (informed, plain)]
    assert errors[0] < 0.3 * errors[1]
    # What is reported is the distance to the sum all the same.
    gap = np.abs(informed.model.predict(X) - plain.model.predict(X))
    assert (gap <= informed.bound(X) + plain.bound(X) + 1e-9).all()


def test_information_is_for_what_keeps_it():
    X, y = stream(60)
    for model, match in (
        (published(KNLMSRegressor, gamma=1.0), "is for KRLS with admission='ald'"),
        (
            published(KRLSRegressor, gamma=1.0, admission="coherence"),
            "is for KRLS with admission='ald'",
        ),
        (published(SOGSVR, gamma=1.0), "call ascend on the merged SOGSVR"),
    ):
        with pytest.raises(ValueError, match=match):
            merge([copy.deepcopy(model).fit(X, y)] * 2, "information")
    with pytest.raises(ValueError, match="'information' or None, got 'info'"):
        merge([published(KRLSRegressor, gamma=1.0).fit(X, y)], "info")


def test_distances_of_what_cannot_be_compared():
    X, y = stream(60)
    regressor = published(KNLMSRegressor, kernels.Gaussian(1.0)).fit(X, y)
    words, numbers = (
        published(POLKClassifier, kernels.Gaussian(1.0)).fit(
            X, np.array(kinds)[(y > 0).astype(int)]
        )
        for kinds in (["a", "b"], [0, 1])
    )
    with pytest.raises(TypeError, match="one of the models is a classifier"):
        regressor.distance(words)
    with pytest.raises(TypeError, match="of one kind"):
        words.distance(numbers)
    with pytest.raises(ValueError, match="at most 1e100"):
        merge([regressor, regressor], [1e300, 1e300])
    with pytest.raises(ValueError, match="X must have 2 columns, got shape"):
        merge([regressor, regressor]).bound(X[:, :1])


def test_models_without_centres_can_be_compressed(capfd):
    X, y = stream(50)
    one_class = published(POLKClassifier, gamma=1.0).fit(X, np.zeros(50, dtype=int))
    empty = published(KNLMSRegressor, gamma=1.0).fit(X, y)
    empty.compress(tolerance=1e9)
    assert empty.n_centers_ == 0
    for model in (one_class, empty):
        assert merge([model, model], tolerance=0.1).n_centers == 0
        assert merge([model, model]).distance == 0.0
        model.compress(tolerance=0.1)
        model.compress(budget=3)
        model.partial_fit(X, y if model is empty else np.zeros(50, dtype=int))
    assert capfd.readouterr() == ("", "")  # LAPACK says nothing


def test_a_label_without_an_output_is_left_out():
    """Another thread that learns has met the label, and has not added its output yet."""
    X, y = labelled(200)
    model = published(POLKClassifier, kernels.Gaussian(1.0)).fit(X, y)
    expected = merge([model, model]).model
    model._set_classes(np.append(model._met, ["new"]))
    merged = merge([model, model]).model
    assert list(merged.classes_) == list(expected.classes_)
    np.testing.assert_array_equal(merged.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        published(SOGSVR, gamma=1.0),
        published(SOGSVC, gamma=1.0, random_state=0),
        published(KRLSRegressor, gamma=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("first", [True, False])
def test_a_model_without_centres_adds_nothing(model, first):
    X, y = (labelled if isinstance(model, SOGSVC) else stream)(100)
    empty = clone(model).fit(X, y)
    empty.compress(tolerance=1e9)
    other = clone(model).fit(X, y)
    assert empty.n_centers_ == 0 < other.n_centers_
    models, weights = ([empty, other], [0, 1]) if first else ([other, empty], [1, 0])
    merged = merge(models, weights).model
    ask = "decision_function" if isinstance(model, SOGSVC) else "predict"
    np.testing.assert_allclose(getattr(merged, ask)(X), getattr(other, ask)(X), atol=1e-9)
    merged.partial_fit(X, y)
    merge([empty, empty]).model.partial_fit(X, y)


def test_sums_that_overflow_are_refused():
    X, y = stream(60)
    for cls in (KNLMSRegressor, KRLSRegressor, POLKRegressor):
        parts = [cls(kernels.Gaussian(1.0)).fit(X + i, 1e60 * y) for i in range(2)]
        with pytest.raises(ValueError, match="too large to be added"):
            merge(parts, [1e100, -1e100], budget=5)


def test_a_model_that_has_seen_less_than_since_is_refused():
    X, y = stream(100)
    small, large = (
        published(KNLMSRegressor, kernels.Gaussian(1.0)).fit(X[:n], y[:n]) for n in (20, 100)
    )
    with pytest.raises(ValueError, match="have not seen more"):
        merge([small, small], [0.5, 0.5], since=large)


def test_compression_to_nothing_keeps_the_averages():
    X, y = stream(300)
    model = published(POLKRegressor, kernels.Gaussian(1.0), average=100, budget=15).fit(X, y)
    before = model._learner.state()[1]
    model.compress(tolerance=1e9)
    model.partial_fit(X, y)
    after = model._learner.state()[1]
    assert after["averaged"] == before["averaged"] + 300 and after["alive"] == before["alive"]
