"""Learning in parts on this machine: what rounds come to, written out plainly beside them."""

import copy

import numpy as np
import pytest
from sklearn.base import clone

import parsimon
from parsimon import (
    SOGSVR,
    BSGDClassifier,
    KNLMSRegressor,
    KRLSRegressor,
    POLKClassifier,
    POLKRegressor,
    kernels,
    merge,
    published,
)
from parsimon.distributed import fit, local, rounds
from parsimon.persistence import dumps, loads

QUIET = {"progress": False, "n_jobs": 1}
REGRESSORS = [
    published(KNLMSRegressor, gamma=1.0, coherence=0.9),
    published(KRLSRegressor, gamma=1.0, tolerance=1e-2),
    published(POLKRegressor, gamma=1.0, budget=20, batch_size=4, schedule="diminishing"),
]
CLASSIFIERS = [
    published(POLKClassifier, gamma=1.0, budget=25, batch_size=4),
    published(POLKClassifier, gamma=1.0, budget=25, average=True),
    published(BSGDClassifier, gamma=1.0, budget=25),
]
every_model = pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=str)


def stream(model, n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    if type(model).__name__.endswith("Classifier"):
        return X, np.array(["high", "low", "middle"])[np.digitize(y, [-0.4, 0.4])]
    return X, y


def shards_of(model, sizes):
    X, y = stream(model, sum(sizes))
    cuts = np.cumsum(sizes)[:-1]
    return list(zip(np.split(X, cuts), np.split(y, cuts), strict=True))


def in_pairs(parts, since=None):
    """The mean of two or three models, as every engine makes it."""
    fits = isinstance(parts[0], KRLSRegressor) and parts[0].admission == "ald"
    if fits:
        return merge(parts, "information", since=since).model
    first = merge(parts[:2], since=since).model
    return merge([first, *parts[2:]], since=since).model if len(parts) > 2 else first


def finished(model):
    """SOG ends with some steps on all that was seen."""
    return model.ascend(100) if hasattr(model, "ascend") else model


def plain(model, shards, n_rounds):
    """The merged model of n_rounds, and the bytes of all models that a round started from and came
    to; shards are of a multiple of n_rounds rows.
    """
    start, sent = None, 0
    for r in range(n_rounds):
        parts = []
        for X, y in shards:
            n = len(X) // n_rounds
            part = copy.deepcopy(model if start is None else start)
            parts.append(part.partial_fit(X[r * n : (r + 1) * n], y[r * n : (r + 1) * n]))
        sent += sum(len(dumps(part)) + (len(dumps(start)) if start else 0) for part in parts)
        start = in_pairs(parts, start)
    return finished(start), sent


def assert_same(a, b, X):
    np.testing.assert_array_equal(a.centers_, b.centers_)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert a.n_samples_seen_ == b.n_samples_seen_


@every_model
def test_one_round_is_learning_apart_and_merging(model):
    shards = shards_of(model, [40, 100, 60])
    result = fit(model, shards, rounds=1, **QUIET)
    parts = [copy.deepcopy(model).partial_fit(X, y) for X, y in shards]
    assert_same(result.model, finished(in_pairs(parts)), shards[0][0])
    assert (result.rounds, result.n_shards, result.model.n_samples_seen_) == (1, 3, 200)


@every_model
def test_rounds_are_a_plain_loop(model):
    shards = shards_of(model, [48, 96, 24])
    result = fit(model, shards, rounds=3, **QUIET)
    expected, _ = plain(model, shards, 3)
    assert_same(result.model, expected, shards[0][0])
    more = stream(model, 40, seed=1)
    # And it goes on
    assert_same(result.model.partial_fit(*more), expected.partial_fit(*more), more[0])


def test_the_tree_does_not_matter_but_for_rounding():
    model = published(KNLMSRegressor, gamma=1.0)
    shards, first = (
        shards_of(model, [50, 30, 20]),
        copy.deepcopy(model).partial_fit(*stream(model, 40, seed=3)),
    )
    start = dumps(first)
    a, b, c = (rounds.learn(start, X, y) for X, y in shards)
    X = stream(model, 100, seed=2)[0]
    flat, tree = (
        rounds.loads(data)
        for data in (
            rounds.combine([a, b, c], start),
            rounds.combine([rounds.combine([a, b], start), c], start),
        )
    )
    np.testing.assert_allclose(flat.predict(X), tree.predict(X), rtol=0, atol=1e-12)
    mean = sum(
        w * rounds.loads(part).predict(X)
        for w, part in zip((0.5, 0.3, 0.2), (a, b, c), strict=True)
    )
    np.testing.assert_allclose(flat.predict(X), mean, rtol=0, atol=1e-12)
    assert flat.n_samples_seen_ == tree.n_samples_seen_ == 140


def test_bytes_are_counted():
    model = published(POLKClassifier, kernels.Gaussian(1.0), budget=25)
    shards = shards_of(model, [40, 60])
    _, sent = plain(model, shards, 2)
    result = fit(model, shards, rounds=2, **QUIET)
    assert result.bytes_sent == sent + len(shards) * len(
        dumps(model)
    )  # the first round starts from one that has seen nothing
    assert result.seconds > 0


def test_processes_make_no_difference():
    model = published(POLKClassifier, gamma=1.0, budget=25)
    shards = shards_of(model, [50, 80, 20])
    one, two = (fit(model, shards, rounds=3, progress=False, n_jobs=n) for n in (1, 2))
    assert_same(one.model, two.model, shards[0][0])
    assert one.bytes_sent == two.bytes_sent
    shards[1][0][70, 1] = np.nan
    with pytest.raises(
        ValueError, match="shard 1, counted from its row 53: X contains NaN at row 17, column 1"
    ):
        fit(model, shards, rounds=3, progress=False, n_jobs=2)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_classes_that_shards_lack(model):
    X, y = stream(model, 240)
    lacking = [y != label for label in ("middle", "high", "low")]
    shards = [(X[rows], y[rows]) for rows in lacking]
    result = fit(model, shards, rounds=4, **QUIET)
    assert result.model.classes_.tolist() == ["high", "low", "middle"]
    assert result.model.score(X, y) > 0.5
    assert result.model.n_samples_seen_ == 480


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_shards_of_one_class_each(model):
    X, y = stream(model, 240)
    shards = [(X[y == label], y[y == label]) for label in ("middle", "high", "low")]
    result = fit(model, shards, rounds=4, **QUIET)
    assert result.model.classes_.tolist() == ["high", "low", "middle"]
    assert result.model.n_samples_seen_ == 240


@every_model
def test_empty_shards_change_nothing(model):
    shards = shards_of(model, [60, 60])
    X, y = shards[0]
    with_empty = [(X[:0], y[:0]), shards[0], (X[:0], y[:0]), shards[1]]
    result = fit(model, with_empty, rounds=3, **QUIET)
    assert_same(result.model, fit(model, shards, rounds=3, **QUIET).model, X)
    assert result.n_shards == 4


@every_model
def test_shards_that_are_shorter_than_the_rounds(model):
    shards = shards_of(model, [3, 200, 1])
    result = fit(model, shards, rounds=10, **QUIET)
    assert result.model.n_samples_seen_ == 204
    batches = 3 // getattr(model, "batch_size", 1)
    # No more than there are batches
    assert fit(model, [shards[0]], rounds=10, **QUIET).rounds == max(1, batches)


def test_batches_are_not_cut():
    seen = []

    class Listening(local.Local):
        def round(self, start, spans):
            seen.append(spans)
            return super().round(start, spans)

    model = published(POLKRegressor, gamma=1.0, batch_size=8, budget=20)
    shards = shards_of(model, [50, 23])
    fit(model, shards, engine=Listening(shards, 1), rounds=3, progress=False)
    for shard, n in enumerate([50, 23]):
        cuts = [spans[shard] for spans in seen]
        assert [first for first, _ in cuts] == [0, *(last for _, last in cuts[:-1])]
        assert cuts[-1][1] == n
        assert all(first % 8 == 0 for first, _ in cuts)


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_the_width_is_measured_on_the_head(gamma):
    model = published(KNLMSRegressor, gamma=gamma)
    shards = shards_of(model, [1500, 100])
    shards[0][0][1000:] *= 100.0  # beyond the head
    result = fit(model, [(shards[0][0][:0], shards[0][1][:0]), *shards], rounds=2, **QUIET)
    assert result.model.kernel_ == kernels.resolve("gaussian", gamma, shards[0][0][:1000])


def test_parameters_are_given_back():
    model = published(KNLMSRegressor, gamma="scale", coherence=0.7)
    shards = shards_of(model, [60, 60])
    before = model.get_params()
    learned = fit(model, shards, rounds=2, **QUIET).model
    assert learned.get_params() == model.get_params() == before
    assert not model.__sklearn_is_fitted__()
    learned.partial_fit(*shards[0])
    parsimon.persistence.loads(dumps(learned)).partial_fit(*shards[0])


def test_rounds_by_default():
    def made(model):
        return fit(model, shards_of(model, [60, 60]), **QUIET).rounds

    assert made(published(KRLSRegressor, gamma=1.0, tolerance=1e-2)) == 1
    assert made(published(KRLSRegressor, gamma=1.0, forgetting=0.99)) == 1
    assert made(published(KRLSRegressor, gamma=1.0, admission="coherence", ridge=0.1)) == 16
    assert made(parsimon.published(parsimon.SOGSVR, gamma=1.0)) == 1
    assert (
        made(published(KNLMSRegressor, gamma=1.0))
        == made(published(POLKClassifier, gamma=1.0, budget=20))
        == 16
    )


def test_progress_is_told(capsys):
    model = published(KNLMSRegressor, gamma=1.0)
    shards = shards_of(model, [60, 60])
    fit(model, shards, rounds=2, **QUIET)
    assert capsys.readouterr() == ("", "")
    fit(model, shards, rounds=2, n_jobs=1)
    told = capsys.readouterr()
    assert told.out == ""
    first, second = told.err.splitlines()
    assert first.startswith("parsimon: round 1 of 2: ")
    assert second.startswith("parsimon: round 2 of 2: ")
    assert "bytes per model" in first


def test_what_is_wrong_is_said():
    model = published(KNLMSRegressor, gamma=1.0)
    X, y = stream(model, 60)
    cases = [
        (ValueError, "there are no shards", model, [], {}),
        (ValueError, "the shards hold no rows", model, [(X[:0], y[:0])], {}),
        (
            ValueError,
            r"shard 1 has X of shape \(60, 2\) and y of shape \(59,\)",
            model,
            [(X, y), (X, y[1:])],
            {},
        ),
        (ValueError, r"shard 0 has X of shape \(60,\)", model, [(X[:, 0], y)], {}),
        (TypeError, r"shard 1 is not a pair \(X, y\): int", model, [(X, y), 3], {}),
        (ValueError, "unknown engine 'carts'", model, [(X, y)], {"engine": "carts"}),
        (ValueError, "rounds", model, [(X, y)], {"rounds": 0}),
        (
            TypeError,
            "one dictionary, got KernelDictionaryLearning",
            parsimon.KernelDictionaryLearning(3),
            [(X, y)],
            {},
        ),
    ]
    for error, message, estimator, shards, options in cases:
        with pytest.raises(error, match=message):
            fit(estimator, shards, progress=False, **options)


@pytest.mark.parametrize("gamma", [1.0, "scale", "median"])
def test_a_bad_value_names_shard_and_row(gamma):
    model = published(KNLMSRegressor, gamma=gamma)
    for shard, row, message in (
        (0, 11, "shard 0: X contains NaN at row 11, column 1"),
        (1, 7, "shard 1: X contains NaN at row 7, column 1"),
        (1, 47, "shard 1, counted from its row 30: X contains NaN at row 17, column 1"),
    ):
        shards = shards_of(model, [60, 60])
        shards[shard][0][row, 1] = np.nan
        with pytest.raises(ValueError, match=message):
            fit(model, shards, rounds=2, **QUIET)
    shards = shards_of(model, [60, 60])
    shards[1][1][3] = np.inf
    with pytest.raises(ValueError, match=r"shard 1: y contains infinity \(inf\) at row 3"):
        fit(model, shards, rounds=2, **QUIET)


@pytest.mark.parametrize(
    "model",
    [
        published(KRLSRegressor, gamma=0.5, tolerance=0.01),
        published(KRLSRegressor, gamma=0.5, tolerance=0.01, forgetting=0.9999),
        published(KRLSRegressor, gamma=0.5, admission="coherence", coherence=0.8, ridge=0.1),
        published(SOGSVR, gamma=0.5, tolerance=0.05, epsilon=0.05),
    ],
    ids=str,
)
def test_shards_need_not_be_alike(model):
    """Each has seen another part of the plane: the mean of the functions is a fourth of what is
    true anywhere.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(2000, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.05 * rng.normal(size=2000)
    Z = rng.uniform(-3, 3, size=(500, 2))
    true = np.sin(Z[:, 0]) * Z[:, 1]
    rows = np.array_split(np.argsort(X[:, 0]), 4)
    result = fit(model, [(X[r], y[r]) for r in rows], **QUIET)
    apart = [copy.deepcopy(model).partial_fit(X[r], y[r]) for r in rows]
    errors = [np.mean((m.predict(Z) - true) ** 2) for m in (result.model, merge(apart).model)]
    assert errors[0] < 0.3 * errors[1]
    assert errors[0] < 0.15 * np.var(true)


def test_columns_keep_their_names():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = stream(published(KNLMSRegressor), 90)
    frame = pandas.DataFrame(X, columns=[f"x {i}" for i in range(X.shape[1])])
    model = published(KNLMSRegressor, gamma=1.0)
    result = fit(model, [(frame[:50], y[:50]), (frame[50:], y[50:])], rounds=2, **QUIET)
    assert list(result.model.feature_names_in_) == list(frame.columns)
    plain = fit(model, [(X[:50], y[:50]), (X[50:], y[50:])], rounds=2, **QUIET)
    np.testing.assert_array_equal(result.model.weights_, plain.model.weights_)
    with pytest.raises(ValueError, match="features"):
        fit(model, [(frame[:50], y[:50]), (frame[50:].iloc[:, ::-1], y[50:])], rounds=1, **QUIET)


def test_what_is_no_shard_says_so():
    X, y = stream(published(KNLMSRegressor), 40)
    model = published(KNLMSRegressor, gamma=1.0)
    with pytest.raises(ValueError, match="shard 0 has 2 features, shard 1 1"):
        fit(model, [(X, y), (X[:, :1], y)], **QUIET)
    with pytest.raises(TypeError, match="shards must be a sequence of pairs"):
        fit(model, 3, **QUIET)
    with pytest.raises(TypeError, match="n_jobs: options need an engine given by name"):
        fit(model, None, engine=local.Local([(X, y)], 1), n_jobs=2, progress=False)
    with pytest.raises(ValueError, match="models with forgetting < 1 need rounds=1"):
        fit(
            published(KRLSRegressor, gamma=1.0, forgetting=0.9), [(X, y), (X, y)], rounds=2, **QUIET
        )


def test_a_fit_on_a_budget_is_made_once():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, size=1000))[:, np.newaxis]
    y = np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=1000)
    model = published(KRLSRegressor, gamma=1.0, budget=12)
    result = fit(model, list(zip(np.array_split(x, 5), np.array_split(y, 5), strict=True)), **QUIET)
    assert np.abs(result.model.predict(x) - np.sin(2 * x[:, 0])).mean() < 0.03


def test_shards_without_rows_change_nothing():
    model = published(POLKClassifier, gamma=1.0, budget=25)
    shards = shards_of(model, [50, 3, 50, 40])
    X, y = shards[0]
    with_empty = [shards[0], (X[:0], y[:0]), *shards[1:], (X[:0], y[:0])]
    a, b = (fit(model, given, rounds=3, **QUIET).model for given in (shards, with_empty))
    assert_same(a, b, X)


@pytest.mark.parametrize(
    "estimator",
    [
        parsimon.SOGSVR("gaussian", gamma=0.5),
        parsimon.KRLSRegressor("gaussian", gamma=0.5),
        parsimon.KNLMSRegressor("gaussian", gamma=0.5),
        parsimon.SPLRegressor("gaussian", gamma=0.5),
        parsimon.POLKRegressor("gaussian", gamma=0.5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_defaults_have_the_kernel_of_one_process_and_can_be_stored(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.sin(X[:, 0])
    model = fit(estimator, [(X[:100], y[:100]), (X[100:], y[100:])], progress=False).model
    assert model.kernel_ == clone(estimator).fit(X, y).kernel_
    again = loads(dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_targets_of_the_first_shard_are_named_with_it():
    X = np.zeros((40, 2))
    with pytest.raises(TypeError, match="shard 0: y must hold numbers"):
        fit(parsimon.KRLSRegressor(gamma=0.5), [(X, np.full(40, "a"))], progress=False)
