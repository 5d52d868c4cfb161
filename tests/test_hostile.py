"""Whatever arrives: every call succeeds or says what is wrong, and the model stays sound.

`soak/hostile_input.py` runs the same for longer.
"""

import copy

import hostile
import numpy as np
import pytest
import sound
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import parsimon
from parsimon import KNLMSRegressor, POLKClassifier, kernels, published

#: The same cases in every run.
settings.register_profile(
    "hostile",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
HOSTILE = settings.get_profile("hostile")

every_estimator = pytest.mark.parametrize("cls", hostile.ALL, ids=lambda cls: cls.__name__)


def test_every_estimator_is_here():
    assert hostile.PARAMETERS.keys() == set(hostile.ALL)


@every_estimator
@settings(HOSTILE, max_examples=40)
@given(data=st.data())
def test_whatever_is_called_is_answered_and_leaves_a_sound_model(cls, data):
    sound.check(data.draw(hostile.cases(cls)))


@every_estimator
@settings(HOSTILE, max_examples=20)
@given(data=st.data())
def test_a_block_is_its_rows(cls, data):
    sound.check_block(*data.draw(hostile.blocks(cls)))


@every_estimator
@settings(HOSTILE, max_examples=40)
@given(data=st.data())
def test_the_form_of_the_data_changes_nothing(cls, data):
    sound.check_form(*data.draw(hostile.forms(cls)))


def usual(cls, **options):
    """A model of usual parameters, with something to remember for each kind."""
    small = (
        {"n_components": 4, "random_state": 0} if "n_components" in cls._get_param_names() else {}
    )
    return cls(**{"gamma": 1.0, "budget": 10} | small | options)


def given_to(model, X, seed=0):
    """The arguments with which a model learns rows."""
    rng = np.random.default_rng(seed)
    if isinstance(model, parsimon.KernelDictionaryLearning):
        return {"X": X}
    return {
        "X": X,
        "y": rng.integers(3, size=len(X)) if hostile.classifies(model) else rng.normal(size=len(X)),
    }


@every_estimator
@pytest.mark.parametrize("pattern", ["copies", "ulps", "bisected", "far clusters", "geometric"])
def test_thousands_of_one_kind(cls, pattern):
    model = usual(cls)
    X = hostile.PATTERNS[pattern](np.random.default_rng(0), 2000, 2)
    model.partial_fit(**given_to(model, X))
    sound.assert_sound(model, X[:50])


@every_estimator
@pytest.mark.parametrize(
    "kernel", ["gaussian", "laplacian", kernels.Normalized(kernels.Polynomial(2))], ids=str
)
def test_ten_thousand_features(cls, kernel):
    options = {"kernel": kernel, "gamma": "scale"} | (
        {"maintenance": "removal"} if cls is parsimon.BSGDClassifier else {}
    )
    model = usual(cls, **options)
    X = np.random.default_rng(0).normal(size=(12, 10_000))
    model.fit(**given_to(model, X))
    sound.assert_sound(model, X)


@every_estimator
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_kernel_value_that_overflows_is_refused_by_row(cls, method):
    options = {"kernel": "polynomial", "gamma": 0.01} | (
        {"maintenance": "removal"} if cls is parsimon.BSGDClassifier else {}
    )
    X = np.random.default_rng(0).uniform(-1, 1, size=(20, 3))
    for begun in (False, True):
        for row in (0, 7, 19):
            model = usual(cls, **options)
            args = given_to(model, X)
            if begun:
                model.partial_fit(**args)
            before = sound.frozen(model)
            spoilt = args | {"X": np.where(np.arange(20)[:, np.newaxis] == row, 1e200, X)}
            with pytest.raises(ValueError, match=rf"row {row}\b"):
                getattr(model, method)(**spoilt)
            sound.assert_same(sound.frozen(model), before, "refused")


@every_estimator
def test_what_a_refused_block_drew_is_put_back(cls):
    if "random_state" not in cls._get_param_names():
        pytest.skip("draws nothing")
    options = {"kernel": "polynomial", "gamma": 0.01} | (
        {"maintenance": "removal"} if cls is parsimon.BSGDClassifier else {}
    )
    model = usual(cls, **options | {"random_state": np.random.RandomState(0)})
    before, args = sound.frozen(model), given_to(model, np.full((9, 2), 1e200))
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="row 0"):
            getattr(model, method)(**args)
        sound.assert_same(sound.frozen(model), before, method)


CLASSIFIERS = [cls for cls in hostile.ALL if hostile.classifies(cls())]


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
@settings(HOSTILE, max_examples=60)
@given(
    first=st.sampled_from(hostile.LABELS),
    second=st.sampled_from(hostile.LABELS),
    one_by_one=st.booleans(),
)
def test_labels_of_two_kinds_stay_apart_or_are_refused(cls, first, second, one_by_one):
    model = usual(cls)
    model.partial_fit(np.arange(len(first), dtype=float)[:, np.newaxis], first)
    X = np.arange(len(second), dtype=float)[:, np.newaxis]
    before = sound.frozen(model)
    try:
        for x, label in zip(X, second, strict=True) if one_by_one else ():
            before = sound.frozen(model)
            model.learn_one(x, label)
        if not one_by_one:
            model.partial_fit(X, second)
    except (ValueError, TypeError):
        sound.assert_same(sound.frozen(model), before, "refused")
    else:
        assert set(model.classes_.tolist()) == set(first.tolist()) | set(second.tolist())
    sound.assert_sound(model, X)
    copy.deepcopy(model)


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_given_classes_are_kept(cls):
    model = usual(cls)
    X = np.arange(3.0)[:, np.newaxis]
    unfitted = sound.frozen(model)
    for classes, y in [
        ([0, 1], [0, 1, 2]),
        ([], [0, 0, 0]),
        (["a", "b"], [0, 1, 0]),
        ([0, np.nan], [0, 0, 0]),
    ]:
        with pytest.raises((ValueError, TypeError), match=r"class|label"):
            model.partial_fit(X, y, classes=classes)
        sound.assert_same(sound.frozen(model), unfitted, "refused")
    model.partial_fit(X, [0, 1, 0], classes=[0, 1])
    before = sound.frozen(model)
    for call in (
        lambda: model.partial_fit(X, [0, 1, 2]),
        lambda: model.partial_fit(X, [0, 1, 0], classes=[0, 1, 2]),
        lambda: model.learn_one(X[0], 2),
        lambda: model.learn_one(X[0], "b"),
    ):
        with pytest.raises((ValueError, TypeError), match=r"class|label"):
            call()
        sound.assert_same(sound.frozen(model), before, "refused")


@every_estimator
@pytest.mark.parametrize("named", [False, True])
def test_features_by_another_name_are_refused(cls, named):
    import pandas as pd

    model = usual(cls)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 2)), columns=["a", "b"])
    args = given_to(model, X)
    model.partial_fit(**args)
    before = sound.frozen(model)
    with sound.usual_warnings(), pytest.raises(ValueError, match="feature"):
        model.partial_fit(
            **args | {"X": X.rename(columns={"a": "c"}) if named else X.to_numpy()[:, :1]}
        )
    sound.assert_same(sound.frozen(model), before, "refused")


# What once went wrong

ROWS, LABELS, MASK = np.arange(6.0).reshape(3, 2), [0, 1, 0], np.array([False, True, False])
classifiers = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ({"X": [[10**400, 1.0]] * 3}, "X holds a whole number beyond"),
        ({"y": [10**400] * 3}, "y holds a whole number beyond"),
        ({"sample_weight": [10**400] * 3}, "sample_weight holds a whole number beyond"),
        ({"X": np.ma.masked_array(ROWS, mask=ROWS == 3)}, "X has masked"),
        ({"X": list(np.ma.masked_array(ROWS, mask=ROWS == 3))}, "X has masked"),
        ({"y": np.ma.masked_array(np.ones(3), mask=MASK)}, "y has masked"),
        ({"sample_weight": np.ma.masked_array(np.ones(3), mask=MASK)}, "sample_weight has masked"),
        ({"sample_weight": np.ones(3) * 1j}, "Complex data not supported: sample_weight"),
        ({"X": np.full((3, 2), "2020", dtype="M8[Y]")}, "X must hold numbers, got datetime64"),
        (
            {"sample_weight": np.full(3, "2020", dtype="M8[Y]")},
            "sample_weight must hold numbers, got datetime64",
        ),
        ({"y": ["1", "2", "3"]}, "y must hold numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_number_is_not_read_as_one(spoilt, message):
    for begun in (False, True):
        model = published(KNLMSRegressor, gamma=1.0)
        if begun:
            model.partial_fit(ROWS, np.ones(3))
        with pytest.raises((ValueError, TypeError), match=message):
            model.partial_fit(**{"X": ROWS, "y": np.ones(3)} | spoilt)


@pytest.mark.parametrize(
    "x", [np.ma.masked_array(ROWS[0], mask=[True, False]), [10**400, 0.0], ["1", "2"]], ids=repr
)
def test_one_row_that_is_none(x):
    for model in (
        published(KNLMSRegressor, gamma=1.0),
        published(KNLMSRegressor, gamma=1.0).partial_fit(ROWS, np.ones(3)),
    ):
        with pytest.raises(
            (ValueError, TypeError), match=r"x (has masked|holds a whole|must hold)"
        ):
            model.learn_one(x, 1.0)
        if hasattr(model, "_learner"):
            with pytest.raises(
                (ValueError, TypeError), match=r"x (has masked|holds a whole|must hold)"
            ):
                model.predict_one(x)
        with pytest.raises((ValueError, TypeError), match=r"y (has masked|must hold)"):
            model.learn_one(ROWS[0], "1")
        with pytest.raises((ValueError, TypeError), match=r"y (has masked|must hold)"):
            model.learn_one(ROWS[0], np.ma.masked_array([1.0], mask=[True]))


@classifiers
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, np.nan, 1.0], "nan at row 1"),
        ([0.0, 1.0, np.inf], "inf at row 2"),
        (["a", None, "b"], "None at row 1"),
        ([0, 1, 10**30], "10{30} at row 2"),
        ([0.0, 1.0, 1e300], "Unknown label type"),
        (["a", 1, "b"], "1 at row 1"),
        (np.array(["a", 1, "b"], dtype=object), "1 at row 1"),
        ([2**53 + 1, 1.0, 0], "several kinds: 9007199254740993 at row 0"),
        (np.ma.masked_array([0, 1, 2], mask=MASK), "y has masked"),
        (np.array(["2020", "2021", "2020"], dtype="M8[Y]"), "labels are bools"),
        (np.array([0, 1, 0], dtype=np.longdouble), "labels are bools"),
        (np.zeros(3, dtype=[("a", int)]), "labels are bools"),
    ],
    ids=str,
)
def test_what_is_no_label_is_refused(cls, y, message):
    for begun in (False, True):
        model = usual(cls)
        if begun:
            model.partial_fit(ROWS, LABELS)
        with pytest.raises((ValueError, TypeError), match=message):
            model.partial_fit(ROWS, y)


@classifiers
@pytest.mark.parametrize("label", [[1], (1,), np.array([1]), {1}, np.ma.masked], ids=str)
def test_one_label_that_is_none(cls, label):
    for model in (usual(cls), usual(cls).partial_fit(ROWS, LABELS)):
        with pytest.raises((TypeError, ValueError), match=r"one label|masked"):
            model.learn_one(ROWS[0], label)


@classifiers
def test_labels_are_kept_exactly(cls):
    model = usual(cls).partial_fit(ROWS, np.array([0, 1, 1], dtype=np.int8))
    model.partial_fit(ROWS[:1], np.array([2**64 - 1], dtype=np.uint64))
    assert model.classes_.tolist() == [0, 1, 2**64 - 1]
    with pytest.raises(TypeError, match="no type of integers has both"):
        model.partial_fit(ROWS[:1], [-1])
    near = usual(cls).partial_fit(ROWS, [2**53, 2**53 + 1, 2**53])
    with pytest.raises(TypeError, match="labels so far are int64, y holds float64"):
        near.partial_fit(ROWS[:1], [0.0])
    # Equal to a label: it is that one
    near.partial_fit(ROWS[:1], [2.0**53]).learn_one(ROWS[1], 2.0**53)
    assert near.classes_.dtype == np.int64
    assert near.classes_.tolist() == [2**53, 2**53 + 1]


def test_probabilities_of_a_model_that_has_learned_nothing():
    with pytest.raises(NotFittedError):
        published(POLKClassifier, loss="logistic").predict_proba(ROWS)


def test_parameters_beyond_all_doubles():
    with pytest.raises(ValueError, match="gamma must be finite"):
        published(KNLMSRegressor, gamma=10**400).fit(ROWS, np.ones(3))
    with pytest.raises(ValueError, match="gamma='median' gives 0"):
        published(KNLMSRegressor, gamma="median").fit([[1e154], [0.0], [0.0]], np.ones(3))


@pytest.mark.parametrize("weight", [np.inf, -1.0, np.nan])
def test_a_class_of_weight_zero_hides_no_bad_weight(weight):
    model = published(POLKClassifier, gamma=1.0, class_weight={0: 0.0}).partial_fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=f"sample_weight is {weight:g} at row 2"):
        model.partial_fit(ROWS, LABELS, sample_weight=[1.0, 1.0, weight])
    with pytest.raises(ValueError, match="sample_weight"):
        model.learn_one(ROWS[0], 0, weight)
