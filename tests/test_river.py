"""The models behind River's interface."""

import copy
import doctest
import importlib
import inspect
import pickle
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest

river = pytest.importorskip("river", reason="parsimon.river needs River")
pd = pytest.importorskip("pandas", reason="River's frames are pandas's or those of others")

from river import (  # noqa: E402
    checks,
    compose,
    datasets,
    dummy,
    evaluate,
    linear_model,
    metrics,
    preprocessing,
    stats,
)

import parsimon  # noqa: E402
from parsimon import _docs, kernels  # noqa: E402
from parsimon import river as pr  # noqa: E402
from parsimon._extras import install_command  # noqa: E402
from parsimon.estimators import ESTIMATORS, FILTERS  # noqa: E402

CLASSES = [getattr(pr, name) for name in pr.__all__ if name != "ConformalRegressor"]
DOCS = Path(__file__).parent.parent / "docs" / "river.md"

#: Models in all their ways, each with something to keep when a feature comes that another has not.
MODELS = [
    pr.KNLMSRegressor(),
    pr.KNLMSRegressor(gamma=1.0, coherence=0.9, budget=12),
    pr.KNLMSRegressor(kernels.Gaussian(1.0) + kernels.Normalized(kernels.Polynomial(2)), budget=12),
    pr.KNLMSRegressor("laplacian", gamma="median", budget=12, compression="oldest"),
    pr.KNLMSRegressor(kernels.SinglePrecision("matern32"), budget=12),
    pr.KAPRegressor(gamma=1.0, order=3, budget=12),
    pr.KLMSRegressor(gamma=1.0, quantization=0.2),
    pr.NORMARegressor(gamma=1.0, budget=20),
    pr.KRLSRegressor(gamma=1.0, forgetting=0.99),
    pr.KRLSRegressor(gamma=1.0, admission="coherence", ridge=0.1, forgetting=0.99, budget=10),
    pr.KRLSTRegressor(gamma=1.0, forgetting=0.99, budget=12),
    pr.SWKRLSRegressor(gamma=1.0, budget=12),
    pr.FBKRLSRegressor(gamma=1.0, budget=12),
    pr.EXKRLSRegressor(gamma=1.0, budget=12),
    pr.MKNLMSRegressor(gamma=1.0, budget=12),
    pr.RFFKLMSRegressor(n_components=20, seed=0),
    pr.SPLRegressor(gamma=1.0),
    pr.SPLRegressor(gamma=1.0, admission="coherence", coherence="adaptive", budget=10),
    pr.POLKRegressor(gamma=1.0, schedule="diminishing", budget=15, average=50),
    pr.SOGSVR(gamma=1.0, tolerance=0.1, box=0.5),
    pr.POLKClassifier(gamma=1.0, loss="logistic", budget=20, average=True),
    pr.BSGDClassifier(gamma=1.0, budget=15),
    pr.SOGSVC(),
    pr.KernelDictionaryClassifier(6, gamma=1.0, budget=15, seed=0),
    pr.KernelDictionaryLearning(6, gamma=1.0, budget=15, seed=0),
    pr.KernelDictionaryLearning(6, budget=15, update="feature", admission="reconstruction", seed=0),
    pr.MixtureRegressor(budget=60),
    pr.MixtureClassifier(budget=60),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


def is_classifier(model):
    return isinstance(model, river.base.Classifier)


def stream(model, n=200, names="abc"):
    """Samples, and a target each: (frame, series)."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2, 2, size=(n, len(names))), columns=list(names))
    y = np.sin(2 * X["a"]) * X["b"] + 0.1 * rng.normal(size=n)
    if is_classifier(model):
        y = pd.Series(np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])])
        y[(y == "high") & (y.index < n // 3)] = "low"  # a class met late
    return X, y


def rows(X):
    return X.to_dict("records")


def learn_rows(model, X, y):
    for x, target in zip(rows(X), y.tolist(), strict=True):
        model.learn_one(x, target) if model._supervised else model.learn_one(x)
    return model


def learn_frame(model, X, y):
    model.learn_many(X, y) if model._supervised else model.learn_many(X)
    return model


def said(model, X):
    """What a model says of the rows of a frame, one by one."""
    if isinstance(model, river.base.Transformer):
        return [(model.transform_one(x), model.score_one(x)) for x in rows(X)]
    if isinstance(model, pr.MixtureClassifier):
        return [model.predict_proba_one(x) for x in rows(X)]
    if is_classifier(model):
        F = model.estimator.decision_function(X[model.features].to_numpy()).tolist()
        return [model.predict_one(x) for x in rows(X)], F
    return [model.predict_one(x) for x in rows(X)]


def values(model, X):
    """The numbers behind that, for a frame that holds every feature."""
    X = X[model.features].to_numpy()
    return numbers(model.estimator, X)


def numbers(estimator, X):
    for name in ("decision_function", "transform", "predict_proba", "predict"):
        if hasattr(estimator, name):
            return getattr(estimator, name)(X)


# River's own checks


def test_every_estimator_is_here():
    known = {*ESTIMATORS, parsimon.KernelDictionaryLearning, parsimon.KernelDictionaryClassifier}
    known |= {parsimon.MixtureClassifier, parsimon.MixtureRegressor, *FILTERS}
    assert {cls.__name__ for cls in known} == set(pr.__all__) - {"ConformalRegressor"}
    assert {type(model) for model in MODELS} == set(CLASSES)
    for cls in CLASSES:
        assert cls._of is getattr(parsimon, cls.__name__)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_parameter_is_documented(cls):
    parts = _docs.sections(cls.__doc__)
    names = [name for name in inspect.signature(cls).parameters if name != "self"]
    assert list(_docs.entries(parts["Parameters"])) == names
    if "gamma" in names:
        assert "With d features in the first sample" in parts["Parameters"]
    assert {*_docs.entries(parts["Attributes"])} == {"estimator", "features"}
    assert parts["References"] and ">>> " in parts["Examples"]


def all_checks():
    for cls in CLASSES:
        for params in cls._unit_test_params():
            model = cls(**params)
            assert not model._unit_test_skips()
            for i, check in enumerate(checks.yield_checks(model)):
                yield pytest.param(model, check, id=f"{cls.__name__}-{i}-{check.__name__}")


@pytest.mark.parametrize(("model", "check"), list(all_checks()))
def test_river_check(model, check):
    random.seed(0)  # some of them shuffle
    check(model.clone())


# What is learned


@every_model
def test_learns_what_the_scikit_learn_class_learns(model):
    X, y = stream(model)
    model = learn_rows(model.clone(), X, y)
    params = {"random_state" if k == "seed" else k: v for k, v in model._get_params().items()}
    estimator = type(model)._of(**params)
    for block in (slice(0, 1), slice(1, None)):  # a width is measured on the first sample
        if model._supervised:
            estimator.partial_fit(X[block].to_numpy(), y[block].to_numpy())
        else:
            estimator.partial_fit(X[block].to_numpy())
    np.testing.assert_array_equal(numbers(estimator, X.to_numpy()), values(model, X))
    if isinstance(model, river.base.Transformer):
        np.testing.assert_array_equal(
            [list(code.values()) for code, _ in said(model, X)], estimator.transform(X.to_numpy())
        )
        np.testing.assert_array_equal(
            [-score for _, score in said(model, X)], estimator.score_samples(X.to_numpy())
        )
    else:
        np.testing.assert_array_equal(
            [model.predict_one(x) for x in rows(X)], estimator.predict(X.to_numpy())
        )


@pytest.mark.parametrize("library", ["pandas", "polars"])
@every_model
def test_a_frame_is_learned_as_its_rows_bit_for_bit(model, library):
    frames = pytest.importorskip(library)
    one, many = model.clone(), model.clone()
    X, y = stream(model, names="abcde")
    # Features that come, go and come back, in another order; the very first block is one of many
    # rows.
    for first, names in [(0, "cba"), (40, "bcd"), (80, "e"), (120, "edcba"), (160, "ab")]:
        block, targets = X.loc[first : first + 39, list(names)], y.loc[first : first + 39]
        learn_rows(one, block, targets)
        own = frames.DataFrame({name: block[name].tolist() for name in names})
        learn_frame(many, own, frames.Series(targets.tolist()))
    assert one.features == many.features == list("abcde")
    np.testing.assert_array_equal(values(one, X), values(many, X))
    own = frames.DataFrame({name: X[name].tolist() for name in X})
    if is_classifier(model):
        assert many.predict_many(own).to_list() == [one.predict_one(x) for x in rows(X)]
    elif model._supervised:
        np.testing.assert_array_equal(many.predict_many(own).to_list(), said(one, X))
    else:
        np.testing.assert_array_equal(
            np.asarray(many.transform_many(own)), one.estimator.transform(X.to_numpy())
        )


@every_model
def test_a_feature_that_comes_was_zero_before(model):
    X, y = stream(model, n=300, names="abcdef")
    X.loc[:149, ["d", "e", "f"]] = 0.0
    X.loc[200:, ["b"]] = 0.0
    narrow, wide = model.clone(), model.clone()
    kernel = getattr(model, "kernel", getattr(model._of, "kernel", None))
    if isinstance(getattr(model, "gamma", 1.0), str) and kernels.named(kernel):
        # As the three features of the first sample give it
        metric = kernels.KERNELS[kernels.named(kernel)].metric
        wide.gamma = kernels.width(model.gamma, np.zeros((1, 3)), metric)
    learn_rows(narrow, X[["a", "b", "c"]][:150], y[:150])
    before = values(narrow, X)
    estimator = copy.deepcopy(narrow.estimator)
    estimator._widen(6)
    np.testing.assert_allclose(
        numbers(estimator, X.to_numpy() * [1, 1, 1, 0, 0, 0]), before, rtol=1e-9, atol=1e-12
    )
    learn_rows(narrow, X[150:200], y[150:200])
    learn_rows(narrow, X.drop(columns="b")[200:], y[200:])
    learn_rows(wide, X, y)
    assert narrow.features == wide.features == list("abcdef")
    assert narrow.estimator.n_features_in_ == 6
    if hasattr(narrow.estimator, "n_centers_"):
        np.testing.assert_array_equal(narrow.estimator.n_centers_, wide.estimator.n_centers_)
    np.testing.assert_allclose(values(narrow, X), values(wide, X), rtol=1e-7, atol=1e-9)
    assert np.ptp(values(narrow, X)) > 0


@every_model
def test_a_feature_that_was_never_learned_is_ignored_and_one_that_is_missing_is_zero(model):
    X, y = stream(model)
    model = learn_rows(model.clone(), X, y)
    frame = X.drop(columns="b").assign(unknown="no number")
    zero = X.assign(b=0.0)
    one = model.transform_one if isinstance(model, river.base.Transformer) else model.predict_one
    many = model.transform_many if isinstance(model, river.base.Transformer) else model.predict_many
    assert [one(x) for x in rows(frame)] == [one(x) for x in rows(zero)]
    assert many(frame).equals(many(zero))
    assert model.features == ["a", "b", "c"]


@every_model
def test_the_order_of_features_does_not_matter_bit_for_bit(model):
    X, y = stream(model)
    X.columns = ["a", 10, ("n", "gram")]  # of several kinds
    there, back = learn_rows(model.clone(), X, y), learn_rows(model.clone(), X[X.columns[::-1]], y)
    assert there.features == back.features
    np.testing.assert_array_equal(values(there, X), values(back, X))


def test_a_sample_without_features_is_zero():
    model = pr.KNLMSRegressor("gaussian", gamma=1.0, step_size=1.0, fit_intercept=False)
    model.learn_one({}, 2.0)
    assert model.features == []
    assert model.predict_one({}) == model.predict_one({"a": 1.0}) == 2.0
    model.learn_one({"a": 3.0}, -1.0)
    assert model.features == ["a"]
    assert model.predict_one({"a": 3.0}) == pytest.approx(-1.0)
    assert model.predict_one({}) == pytest.approx(2.0, abs=1e-3)


def test_width_is_that_of_the_first_sample():
    X, y = stream(pr.KNLMSRegressor(), names="abcd")
    for gamma, width in (("scale", 0.5), ("auto", 0.5), ("median", 0.125)):
        model = pr.KNLMSRegressor("gaussian", gamma=gamma)
        model.learn_many(X[["a", "b"]][:100], y[:100])
        model.learn_many(X[100:], y[100:])
        assert model.estimator.kernel_ == kernels.Gaussian(width)
        assert model.gamma == gamma


def test_batches_are_cut_from_frames():
    X, y = stream(pr.POLKRegressor())
    model = pr.POLKRegressor(batch_size=16)
    model.learn_many(X, y)
    whole = parsimon.POLKRegressor(gamma=1 / 3, batch_size=16, average=False).partial_fit(
        X.to_numpy(), y.to_numpy()
    )
    np.testing.assert_array_equal(model.predict_many(X), whole.predict(X.to_numpy()))


def test_a_python_function_knows_its_features():
    def k(x, z):
        return float(np.exp(-np.sum((x - z) ** 2)))

    for kernel in (k, 0.5 * kernels.Normalized(kernels.Function(k))):
        for model in (pr.KNLMSRegressor(kernel), pr.KernelDictionaryLearning(3, kernel, seed=0)):
            learn = (
                (lambda m, x: m.learn_one(x, 1.0))
                if model._supervised
                else lambda m, x: m.learn_one(x)
            )
            learn(model, {"a": 1.0, "b": 2.0})
            learn(model, {"a": 0.5})
            with pytest.raises(TypeError, match="new features"):
                learn(model, {"a": 1.0, "c": 2.0})
            assert model.features == ["a", "b"]
            assert model.estimator.n_features_in_ == 2
            assert model.estimator.n_samples_seen_ == 2


# What is refused

BAD_VALUES = [
    ("1.5", TypeError, "feature 'a' must be a number, got '1.5'"),
    (None, TypeError, "feature 'a' must be a number, got None"),
    ([1.0], TypeError, r"feature 'a' must be a number, got \[1.0\]"),
    (1j, TypeError, "feature 'a' must be a number"),
    (float("nan"), ValueError, "feature 'a' is nan"),
    (np.float64("-inf"), ValueError, "feature 'a' is -inf"),
    (10**400, ValueError, "feature 'a' is too large"),
]


@pytest.mark.parametrize(("value", "kind", "message"), BAD_VALUES)
@every_model
def test_a_refused_sample_changes_nothing(model, value, kind, message):
    X, y = stream(model)
    new, old = model.clone(), learn_rows(model.clone(), X, y)
    target = (y.iloc[0],) if model._supervised else ()
    for given in (new, old):
        before = pickle.dumps(given)
        for x in ({"a": value, "b": 0.0}, {"zz": 1.0, "a": value}):
            with pytest.raises(kind, match=message):
                given.learn_one(x, *target)
        assert pickle.dumps(given) == before
    before = pickle.dumps(old)
    say = old.transform_one if isinstance(old, river.base.Transformer) else old.predict_one
    with pytest.raises(kind, match=message):
        say({"a": value})
    with pytest.raises(kind, match="feature 'new'"):  # of which nothing stays
        old.learn_one({"a": 1.0, "new": value}, *target)
    assert pickle.dumps(old) == before
    assert new.features == []
    assert new.estimator is None


@pytest.mark.parametrize(("value", "kind", "message"), BAD_VALUES)
@every_model
def test_a_refused_frame_changes_nothing(model, value, kind, message):
    X, y = stream(model, n=60)
    bad = X.astype(object) if kind is TypeError or isinstance(value, int) else X.copy()
    bad.at[7, "a"] = value
    for given in (model.clone(), learn_frame(model.clone(), X, y)):
        before = pickle.dumps(given)
        for frame in (bad, bad.assign(zz=1.0)):
            with pytest.raises(kind, match=message):
                learn_frame(given, frame, y)
        with (
            pytest.raises(ValueError, match=r"inconsistent|rows")
            if model._supervised
            else pytest.raises(TypeError)
        ):
            learn_frame(given, X.assign(zz=1.0), y[:-1]) if model._supervised else given.learn_many(
                X.to_numpy()
            )
        assert pickle.dumps(given) == before


def test_rows_are_named_in_frames():
    X, y = stream(pr.KNLMSRegressor())
    model = learn_frame(pr.KNLMSRegressor(), X, y)
    X.at[7, "b"] = np.nan
    with pytest.raises(ValueError, match="feature 'b' is nan at row 7"):
        model.learn_many(X, y)
    with pytest.raises(ValueError, match="feature 'b' is nan at row 7"):
        model.predict_many(X)
    twice = pd.DataFrame(np.ones((2, 2)), columns=["a", "a"])
    for use in (
        lambda: model.predict_many(twice),
        lambda: pr.KNLMSRegressor().learn_many(twice, y[:2]),
    ):
        with pytest.raises(ValueError, match=r"'a'|\"a\""):
            use()


def test_targets():
    model = pr.KNLMSRegressor(gamma=1.0)
    for _ in range(2):
        for bad in ({"y": 1.0}, "1.0", None, [1.0, 2.0]):
            with pytest.raises(TypeError, match="y must be a number"):
                model.learn_one({"a": 1.0, "b": 1.0}, bad)
        with pytest.raises(TypeError, match="y must be a number, got '2'"):
            model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series(["1", "2"])[1:])
        with pytest.raises(ValueError, match="y contains NaN"):
            model.learn_one({"a": 1.0, "b": 1.0}, np.nan)
        assert model.features in ([], ["a"])
        for good in (1, np.float32(1), True, np.bool_(True)):
            model.learn_one({"a": 1.0}, good)
    with pytest.raises(TypeError, match="x must be a dict"):
        model.learn_one([1.0], 1.0)
    with pytest.raises(TypeError, match="x must be a dict"):
        model.predict_one(np.ones(1))


# Labels and probabilities


@pytest.mark.parametrize("model", [m for m in MODELS if is_classifier(m)], ids=str)
@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [np.False_, np.True_],
        [3, -1, 7],
        [np.int32(3), np.int32(4)],
        [np.str_("a"), "bcd"],
    ],
    ids=repr,
)
def test_labels_come_back_as_they_were(model, labels):
    X, _ = stream(model, n=120)
    y = [labels[i % len(labels)] for i in range(120)]
    plain = [getattr(label, "item", lambda label=label: label)() for label in labels]
    one, many = model.clone(), model.clone()
    for x, label in zip(rows(X), y, strict=True):
        one.learn_one(x, label)
        assert one.predict_one(x) in plain
    many.learn_many(X, pd.Series(y))
    for predicted in ([one.predict_one(x) for x in rows(X)], many.predict_many(X).tolist()):
        assert {type(label) for label in predicted} == {type(plain[0])}
        if isinstance(model, pr.MixtureClassifier):  # it knows that labels take turns
            assert set(predicted) == {plain[120 % len(plain)]}
        else:
            assert set(predicted) == set(plain)
    with pytest.raises(TypeError):
        one.learn_one({"a": 1.0, "new": 1.0}, 1 if isinstance(plain[0], str) else "text")
    with pytest.raises(TypeError, match="one label"):
        one.learn_one({"a": 1.0, "new": 1.0}, {"y": labels[0]})
    with pytest.raises(TypeError, match="both strings and other"):
        many.learn_many(X[:2], pd.Series(["text", 1], dtype=object))
    assert one.features == many.features == ["a", "b", "c"]


@pytest.mark.parametrize("loss", ["logistic", "ovr_logistic"])
def test_probabilities(loss):
    model = pr.POLKClassifier(gamma=1.0, loss=loss)
    X, y = stream(model)
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.predict_proba_many(X).shape == (200, 0)
    learn_rows(model, X, y)
    frame = model.predict_proba_many(X.set_index(X.index + 5))
    assert frame.columns.tolist() == ["high", "low", "middle"]
    assert frame.index.tolist() == (X.index + 5).tolist()
    for x, (_, row) in zip(rows(X), frame.iterrows(), strict=True):
        one = model.predict_proba_one(x)
        assert one == pytest.approx(row.to_dict(), rel=1e-12)
        assert sum(one.values()) == pytest.approx(1.0)
        assert max(one, key=one.get) == model.predict_one(x)


def test_no_probabilities_are_made_up():
    for model in (
        pr.POLKClassifier(loss="hinge"),
        pr.BSGDClassifier(),
        pr.SOGSVC(),
        pr.KernelDictionaryClassifier(3, seed=0),
    ):
        for _ in range(2):
            with pytest.raises(NotImplementedError, match="gives no probabilities"):
                model.predict_proba_one({"a": 1.0})
            with pytest.raises(NotImplementedError, match="gives no probabilities"):
                model.predict_proba_many(pd.DataFrame({"a": [1.0]}))
            model.learn_one({"a": 1.0}, "label")
        assert model.predict_one({"a": 1.0}) == "label"
    with pytest.raises(ValueError, match="'what'"):
        pr.POLKClassifier(loss="what").predict_proba_one({"a": 1.0})


@every_model
def test_before_anything_is_learned(model):
    model, frame = model.clone(), pd.DataFrame({"a": [1.0, 2.0]}, index=[5, 9])
    if isinstance(model, river.base.Transformer):
        assert set(model.transform_one({"a": 1.0}).values()) == {0.0}
        assert not model.transform_many(frame).to_numpy().any()
        assert model.score_one({"a": 1.0}) == 0.0
        answer = model.transform_many(frame)
    else:
        assert model.predict_one({"a": 1.0}) == (None if is_classifier(model) else 0.0)
        answer = model.predict_many(frame)
        assert answer.tolist() == ([None, None] if is_classifier(model) else [0.0, 0.0])
    assert answer.index.tolist() == [5, 9]
    learn_frame(model, frame[:0], pd.Series([], dtype=float))  # nothing is nothing
    assert model.estimator is None


def test_predictions_are_named_after_targets():
    X, y = stream(pr.KNLMSRegressor())
    model = pr.KNLMSRegressor()
    model.learn_many(X, y.rename("speed"))
    assert model.predict_many(X).name == "speed"


# Weights


@every_model
def test_weights(model):
    X, y = stream(model)
    if not model._supervised:
        return
    w = np.random.default_rng(1).choice([0.25, 0.5, 1.0], size=len(X))
    one, many, whole = model.clone(), model.clone(), type(model)._of
    if "sample_weight" not in inspect.signature(whole.fit).parameters:
        for learn in (
            lambda: one.learn_one({"a": 1.0}, y.iloc[0], w=0.5),
            lambda: many.learn_many(X, y, w=pd.Series(w)),
        ):
            with pytest.raises(TypeError, match="does not support weights"):
                learn()
        assert one.estimator is None
        return
    for x, target, weight in zip(rows(X), y.tolist(), w.tolist(), strict=True):
        one.learn_one(x, target, w=weight)
    many.learn_many(X, y, w=pd.Series(w))
    np.testing.assert_array_equal(values(one, X), values(many, X))
    plain = learn_rows(model.clone(), X, y)
    assert not np.array_equal(values(one, X), values(plain, X))
    half, halves = (
        learn_frame(model.clone(), X[:1], y[:1]),
        learn_frame(model.clone(), X[:1], y[:1]),
    )
    half.learn_many(X, y, w=0.5)
    halves.learn_many(X, y, w=pd.Series(np.full(len(X), 0.5)))
    np.testing.assert_array_equal(values(half, X), values(halves, X))
    with pytest.raises(ValueError, match="sample_weight"):
        one.learn_one({"a": 1.0, "new": 1.0}, y[0], w=-1.0)
    assert one.features == ["a", "b", "c"]


# Parameters, copies, memory


def test_parameters():
    model = pr.POLKClassifier("gaussian", gamma=2.0, budget=7)
    names = list(inspect.signature(pr.POLKClassifier).parameters)
    assert {"n_passes", "shuffle", "random_state", "seed"}.isdisjoint(names)
    assert names == list(model._get_params())
    assert "seed" in inspect.signature(pr.KernelDictionaryLearning).parameters
    assert repr(model).startswith('POLKClassifier (\n  kernel="gaussian"\n  gamma=2.\n')
    clone = model.clone({"budget": 9})
    assert (clone.budget, clone.gamma, model.budget) == (9, 2.0, 7)
    for bad in ({"n_passes": 2}, {"what": 1}):
        with pytest.raises(
            TypeError,
            match=f"KNLMSRegressor: got an unexpected keyword argument '{next(iter(bad))}'",
        ):
            pr.KNLMSRegressor(**bad)
    with pytest.raises(ValueError, match="step_size"):
        pr.KNLMSRegressor(step_size=-1.0).learn_one({"a": 1.0}, 1.0)
    for cls in CLASSES:
        assert cls.__init__.__qualname__ == f"{cls.__name__}.__init__"

    class Mine(pr.KNLMSRegressor):
        """One's own."""

        def __init__(self, width=1.0):
            super().__init__(gamma=1 / width**2)
            self.width = width

    mine = Mine(2.0).clone()
    mine.learn_one({"a": 1.0}, 1.0)
    assert mine.estimator.kernel_.gamma == 0.25


def test_seeds():
    X, y = stream(pr.KernelDictionaryClassifier(seed=0))

    def errors(seed):
        model = pr.KernelDictionaryClassifier(4, gamma=1.0, budget=8, seed=seed)
        return values(learn_rows(model, X, y), X)

    np.testing.assert_array_equal(errors(1), errors(1))
    assert not np.array_equal(errors(1), errors(2))


@every_model
def test_going_on_is_the_same_as_never_stopping(model):
    X, y = stream(model, names="abcd")
    stopped, once = model.clone(), model.clone()
    for first, names in [(0, "ab"), (50, "bcd"), (100, "d"), (150, "abcd")]:
        block, targets = X.loc[first : first + 49, list(names)], y.loc[first : first + 49]
        stopped = pickle.loads(pickle.dumps(stopped))
        stopped = stopped.clone(include_attributes=True)
        learn_rows(stopped, block, targets)
        learn_rows(once, block, targets)
    assert said(stopped, X) == said(once, X)
    kept = said(once, X)
    other = copy.deepcopy(once)
    learn_rows(other, X, y)
    assert said(once, X) == kept  # a copy is a model of its own
    assert once.clone().estimator is None


def test_what_was_learned_can_be_stored(tmp_path):
    model = pr.KRLSRegressor(gamma=1.0)
    X, y = stream(model, names="abcd")
    learn_rows(learn_rows(model, X[["a", "b"]][:50], y[:50]), X[50:], y[50:])
    model.estimator.save(tmp_path / "model.parsimon")
    again = parsimon.load(tmp_path / "model.parsimon")
    np.testing.assert_array_equal(
        again.predict(X[model.features].to_numpy()), model.predict_many(X)
    )


def test_memory_is_counted_and_held():
    X, y = stream(pr.KNLMSRegressor(), n=600)
    model = pr.KNLMSRegressor(gamma=10.0, coherence=0.9, budget=50)
    empty = model._raw_memory_usage
    learn_rows(model, X[:200], y[:200])
    used = model._raw_memory_usage
    assert used > empty + model.estimator.nbytes_
    learn_rows(model, X[200:], y[200:])
    assert model._raw_memory_usage == used
    assert model.estimator.n_centers_ == 50


# In River


@pytest.mark.parametrize(
    "cls", [c for c in CLASSES if issubclass(c, river.base.Regressor)], ids=lambda c: c.__name__
)
def test_regression_in_a_pipeline(cls):
    def error(regressor):
        model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(regressor)
        return evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()).get()

    assert error(cls()) < 0.5 * error(dummy.StatisticRegressor(stats.Mean()))


@pytest.mark.parametrize(
    "model",
    [
        pr.POLKClassifier(),
        pr.POLKClassifier(loss="hinge"),
        pr.BSGDClassifier(),
        pr.SOGSVC(),
        pr.KernelDictionaryClassifier(10, budget=20, step_size=0.1, seed=0),
    ],
    ids=str,
)
def test_classification_in_a_pipeline(model):
    for dataset, least in ((datasets.Phishing(), 0.85), (datasets.ImageSegments().take(600), 0.7)):
        pipeline = preprocessing.StandardScaler() | model.clone()
        assert evaluate.progressive_val_score(dataset, pipeline, metrics.Accuracy()).get() > least


def test_codes_in_a_pipeline():
    codes = pr.KernelDictionaryLearning(20, budget=40, step_size=0.1, seed=0)
    model = (
        preprocessing.StandardScaler()
        | (codes + compose.Select("is_popular"))
        | linear_model.LogisticRegression()
    )
    score = evaluate.progressive_val_score(
        datasets.Phishing().take(300), model, metrics.Accuracy()
    ).get()
    assert score > 0.6
    last = preprocessing.StandardScaler() | codes.clone()
    for x, _ in datasets.Phishing().take(50):
        last.learn_one(x)
    assert last.score_one(x) >= 0.0
    assert len(last.transform_one(x)) == 20


def test_frames_through_a_pipeline():
    frame = pd.DataFrame([x for x, _ in datasets.Phishing()])
    y = pd.Series([y for _, y in datasets.Phishing()])
    model = preprocessing.StandardScaler() | pr.POLKClassifier()
    model.learn_many(frame[:600], y[:600])
    assert np.mean(model.predict_many(frame[600:]).to_numpy() == y[600:].to_numpy()) > 0.85


def test_without_river_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    for name in [name for name in sys.modules if name.startswith("parsimon.river")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        ImportError, match=re.escape(f"parsimon.river needs River: {install_command('river')}")
    ):
        importlib.import_module("parsimon.river")


@pytest.mark.skipif(not DOCS.exists(), reason="no docs beside the tests")
def test_the_page_says_what_happens():
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/river.md", str(DOCS), 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


def test_intervals_of_any_regressor():
    from river import checks, conf, linear_model, preprocessing

    rng = np.random.default_rng(0)
    inner = preprocessing.StandardScaler() | linear_model.LinearRegression()
    model = pr.ConformalRegressor(inner, coverage=0.8)
    assert model.predict_one({"a": 1.0}, with_interval=True).width == np.inf
    inside = []
    for _ in range(1500):
        x = {"a": rng.normal(), "b": rng.normal()}
        y = x["a"] + 0.3 * rng.normal()
        found = model.predict_one(x, with_interval=True)
        assert isinstance(found, conf.interval.Interval)
        inside.append(y in found)
        model.learn_one(x, y)
    assert np.mean(inside[100:]) == pytest.approx(0.8, abs=0.02)
    assert model.recent_coverage == pytest.approx(np.mean(inside[-500:]))
    assert model.predict_one({"a": 1.0}) == inner.predict_one({"a": 1.0})
    with pytest.raises(TypeError, match="y"):
        model.learn_one({"a": 1.0}, "no number")
    checks.check_estimator(pr.ConformalRegressor(linear_model.LinearRegression()))
