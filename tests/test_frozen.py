"""Models for predictions only have the same bits as the model, for every column and estimator."""

import datetime

import numpy as np
import pytest

from parsimon import TableModel, _core
from parsimon.estimators import KRLSRegressor
from parsimon.mixtures import Expert, MixtureRegressor
from parsimon.mixtures.frozen import frozen
from parsimon.preprocessing import TableEncoder, TableError
from parsimon.preprocessing.few_rows import FewRows
from parsimon.tables import ALGORITHMS
from parsimon.tables.frozen import FrozenTable

DAY = datetime.datetime(2026, 3, 1, 12, 30)


def table(n, seed=0):
    """A table with a column of each kind, some values missing."""
    rng = np.random.default_rng(seed)
    hours = rng.integers(0, 5000, n).tolist()
    block = {
        "number": rng.normal(size=n).tolist(),
        "whole": rng.integers(0, 9, n).tolist(),
        "constant": [3.0] * n,
        "text": rng.choice(["a", "b", "c", "d"], n).tolist(),
        "flag": (rng.random(n) < 0.5).tolist(),
        "at": [DAY + datetime.timedelta(hours=h) for h in hours],
        "day": [(DAY + datetime.timedelta(hours=h)).date() for h in hours],
        "time": [(DAY + datetime.timedelta(minutes=h)).time() for h in hours],
        "took": [datetime.timedelta(seconds=h) for h in hours],
    }
    for name in ("number", "text", "at"):
        for i in range(3, n, 7):
            block[name][i] = None
    return block


def part(block, first, last):
    return {name: values[first:last] for name, values in block.items()}


def same(a, b):
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_few_rows_are_encoded_as_by_the_encoder():
    encoder = TableEncoder(max_categories=3)
    encoder.learn_transform(table(200))
    rows, block = FewRows(encoder), table(60, seed=1)
    block["text"][0] = "never seen"
    for first, last in ((0, 1), (3, 4), (0, 60), (5, 5)):
        some = part(block, first, last)
        assert same(rows.transform(some), encoder.transform(some))
    missing = {name: [None] for name in block}
    assert same(rows.transform(missing), encoder.transform(missing))


@pytest.mark.parametrize(
    "change",
    [
        {"number": ["text"]},
        {"number": [True]},
        {"number": [1e200]},
        {"number": [10**400]},
        {"number": [np.float64(1.0)]},
        {"number": np.array([1.0])},
        {"number": [1.0, 2.0]},
        {"flag": [1]},
        {"text": [1.0]},
        {"at": [datetime.date(2026, 3, 1)]},
        {"day": [DAY]},
    ],
)
def test_other_values_are_left_to_the_encoder(change):
    encoder = TableEncoder()
    encoder.learn_transform(table(50))
    row = part(table(50), 0, 1)
    assert FewRows(encoder).transform(row) is not None
    assert FewRows(encoder).transform(row | change) is None
    assert FewRows(encoder).transform({k: v for k, v in row.items() if k != "flag"}) is None


def test_missing_values_that_are_rejected():
    encoder = TableEncoder(missing="error")
    encoder.learn_transform({"x": [1.0, 2.0]})
    assert FewRows(encoder).transform({"x": [None]}) is None
    assert FewRows(encoder).transform({"x": [1.5]}) is not None


def learned(n, task, **parameters):
    block = table(n)
    rng = np.random.default_rng(2)
    y = np.array([x or 0.0 for x in block["number"]]) * 3 + rng.normal(size=n)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 1.0])]
    target = (y if task == "regression" else labels).tolist()
    model = TableModel("target", task=task, **parameters)
    model.learn(block | {"target": target})
    return model


@pytest.mark.parametrize("n", [1, 5, 20, 230, 700])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_default_model_predicts_the_same(n, task):
    model = learned(n, task)
    fast, block = FrozenTable(model.frozen_copy()), table(50, seed=3)
    for first, last in ((0, 1), (3, 4), (10, 30), (0, 50), (4, 4)):
        some = part(block, first, last)
        assert same(fast.predict(some), model.predict(some))
        if task == "classification":
            assert same(fast.predict_proba(some), model.predict_proba(some))


@pytest.mark.parametrize(
    ("task", "algorithm"), [(task, name) for name, tasks in ALGORITHMS.items() for task in tasks]
)
def test_every_algorithm_predicts_the_same(task, algorithm):
    model = learned(250, task, algorithm=algorithm)
    fast, block = FrozenTable(model), table(10, seed=3)
    assert same(fast.predict(part(block, 0, 1)), model.predict(part(block, 0, 1)))
    assert same(fast.predict(block), model.predict(block))


@pytest.mark.parametrize("algorithm", ["default", "krls"])
@pytest.mark.parametrize("n", [3, 230, 600])
def test_intervals_are_the_same(n, algorithm):
    model = learned(n, "regression", intervals=0.9, algorithm=algorithm)
    fast, block = FrozenTable(model.frozen_copy()), table(10, seed=3)
    for some in (part(block, 0, 1), block):
        for a, b in zip(
            fast.predict(some, return_intervals=True),
            model.predict(some, return_intervals=True),
            strict=True,
        ):
            assert same(a, b)


def test_what_the_model_refuses_is_refused_with_its_words():
    model = learned(230, "regression")
    fast, row = FrozenTable(model), part(table(1), 0, 1)
    for change in ({"number": ["text"]}, {"number": [float("inf")]}, {"at": [3.0]}):
        with pytest.raises(TableError) as expected:
            model.predict(row | change)
        with pytest.raises(TableError) as found:
            fast.predict(row | change)
        assert str(found.value) == str(expected.value)
    with pytest.raises(TableError, match="no intervals"):
        fast.predict(row, return_intervals=True)


def test_features_that_may_be_too_large_are_left_to_the_model():
    x = np.random.default_rng(0).normal(size=250)
    model = TableModel("y", clip=np.inf)
    model.learn({"x": x, "y": x})
    for value in (0.5, 1e9):
        assert same(FrozenTable(model).predict({"x": [value]}), model.predict({"x": [value]}))


def test_mixtures_with_several_outputs_and_experts_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    Y = np.column_stack([X[:, 0] * X[:, 1], np.sin(X[:, 2])])
    experts = [
        Expert(KRLSRegressor("laplacian", penalty="norm"), "lagged", lags=2),
        Expert(KRLSRegressor("gaussian", penalty="norm"), "plain", relevance=True),
    ]
    for options in ({}, {"standardize": False}, {"bounded": False}, {"experts": experts}):
        model = MixtureRegressor(**options).partial_fit(X, Y)
        for lagged in (True, False):
            assert same(
                frozen(model).predict(X[:40], lagged=lagged), model.predict(X[:40], lagged=lagged)
            )


def test_a_mixture_whose_experts_sleep_is_not_frozen():
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert frozen(MixtureRegressor().partial_fit(X, X[:, 0])) is None
    assert frozen(KRLSRegressor().fit(X, X[:, 0])) is None


def test_sizes_are_checked():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = KRLSRegressor(gamma=1.0).fit(X, X)
    learner, none = model._learner, np.empty(0)

    def committee(firsts=(none,), scales=(None,), moments=None, d=2, constants=None):
        given = np.zeros((1, 2)) if constants is None else constants
        return _core.Committee([learner], list(firsts), list(scales), moments, 3.0, d, given)

    P = committee().outputs(X[:3])
    assert P.shape == (3, 2, 2) and same(P[:, 0].copy(), model.predict(X[:3]))
    assert same(committee().outputs(X)[:, 0].copy(), model.predict(X))
    for wrong in ({"firsts": ()}, {"scales": (np.ones(3),)}, {"moments": np.zeros((2, 3))}):
        with pytest.raises(ValueError):
            committee(**wrong)
    with pytest.raises(ValueError, match="features"):
        committee().outputs(X[:, :1].copy())
    with pytest.raises(ValueError, match="features"):
        committee(d=1).outputs(X[:, :1].copy())
    with pytest.raises(ValueError, match="room"):
        committee(constants=np.zeros((1, 1))).outputs(X[:1])
    with pytest.raises(ValueError, match="weight"):
        _core.weighted_sum(P, 0, np.ones(3), np.zeros(6))
    with pytest.raises(ValueError, match="weight"):
        _core.weighted_sum(P, 2, np.ones(2), np.zeros(6))
