"""Tables in, predictions out: the same whatever the blocks, and whenever it is stored."""

import copy

import numpy as np
import pandas as pd
import pytest

import parsimon
from parsimon import POLKClassifier, persistence, published
from parsimon.estimators import ESTIMATORS
from parsimon.mixtures import CandidateClassifier, MixtureClassifier, MixtureRegressor
from parsimon.preprocessing import TableError
from parsimon.tables import ALGORITHMS, TableModel, make_estimator

N = 400


def table(task="regression", n=N):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, n))
    shop = rng.choice(["town", "village", "hamlet"], size=n)
    y = 1000.0 + 50.0 * np.sin(2 * x) * z + 30.0 * (shop == "town")
    x[::17] = np.nan
    if task == "classification":
        y = np.array(["low", "middle", "high"])[np.digitize(y, [990.0, 1020.0])]
        y[: n // 4] = np.where(y[: n // 4] == "high", "low", y[: n // 4])  # a class met late
    return {"x": x, "z": z, "shop": shop, "y": y}


def rows(block, first, last):
    return {name: values[first:last] for name, values in block.items()}


def learn(model, block, cuts):
    found = [model.learn(rows(block, a, b)) for a, b in zip([0, *cuts], [*cuts, N], strict=True)]
    return np.concatenate(found)


def content(model):
    """All that a file would hold, in an order of its own."""
    arrays = {}
    state = persistence.values.encode(persistence.models.state_of(model), arrays, "state")

    def ordered(value):
        if isinstance(value, dict):
            value = {k: ordered(v) for k, v in value.items()}
            return {"dict": sorted(value["dict"], key=repr)} if "dict" in value else value
        return [ordered(v) for v in value] if isinstance(value, list) else value

    return repr(ordered(state)), {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize(
    "cuts", [[1, 2, 3, 50, 99], [99, 100, 101], [100], [250], list(range(1, N))], ids=len
)
def test_blocks_make_no_difference(task, cuts):
    block = table(task)
    whole, cut = TableModel("y", warmup=100), TableModel("y", warmup=100)
    expected = whole.learn(block)
    np.testing.assert_array_equal(learn(cut, block, cuts), expected)
    np.testing.assert_array_equal(cut.predict(block), whole.predict(block))
    assert cut.task_ == task and cut.n_rows_ == N
    assert repr(cut.metrics_.total()) == repr(whole.metrics_.total())
    assert repr(cut.metrics_.rolling()) == repr(whole.metrics_.rolling())


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("at", [0, 30, 99, 100, 250])
def test_stored_at_any_row_it_goes_on(task, at, tmp_path):
    block = table(task)
    model = TableModel("y", warmup=100)
    once = TableModel("y", warmup=100)
    expected = once.learn(block)
    found = [model.learn(rows(block, 0, at))]
    model.save(tmp_path / "model.parsimon")
    again = parsimon.load(tmp_path / "model.parsimon")
    assert again.n_rows_ == at
    found.append(again.learn(rows(block, at, N)))
    np.testing.assert_array_equal(np.concatenate([f for f in found if len(f)]), expected)
    assert content(again) == content(once)
    assert model.n_rows_ == at


def test_dates_as_text_are_pointed_out():
    block = table()
    days = np.datetime64("2026-01-01") + np.arange(N)
    with pytest.warns(UserWarning, match=r"column 'day' holds dates as text.*pandas\.to_datetime"):
        TableModel("y", algorithm="krls").learn({**block, "day": days.astype(str)})
    TableModel("y", algorithm="krls", ignore=["day"]).learn({**block, "day": days.astype(str)})
    TableModel("y", algorithm="krls").learn({**block, "day": days})


def test_every_estimator_has_a_name():
    made = {type(make_estimator(name, task)) for name in ALGORITHMS for task in ALGORITHMS[name]}
    assert made == {*ESTIMATORS, MixtureClassifier, MixtureRegressor}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_learns_and_is_stored(algorithm):
    for task in ALGORITHMS[algorithm]:
        block = table(task)
        model = TableModel("y", task=task, algorithm=algorithm, budget=20, warmup=50)
        model.learn(rows(block, 0, 200))
        again = persistence.loads(persistence.dumps(model))
        np.testing.assert_array_equal(
            again.learn(rows(block, 200, N)), model.learn(rows(block, 200, N))
        )
        np.testing.assert_array_equal(again.predict(block), model.predict(block))
        assert model.n_centers_ <= 20 and model.nbytes_ > 0


def test_it_learns_what_the_target_is_in_its_own_units():
    block = table(n=3000)
    model = TableModel("y")
    predictions = model.learn(block)
    assert model.metrics_.rolling()["r2"] > 0.6
    error = np.mean((predictions[1:] - block["y"][1:]) ** 2)
    assert model.metrics_.total()["mse"] == pytest.approx(error)
    assert 800 < model.predict(block).mean() < 1200


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (np.arange(N) % 7, "classification"),
        (np.arange(N) % 2.0, "classification"),
        (np.arange(N) % 100, "regression"),
        (np.arange(N) % 7 + 0.5, "regression"),
        (np.arange(N) % 2 == 0, "classification"),
        ([str(i % 50) for i in range(N)], "classification"),
    ],
)
def test_auto_finds_the_task(target, task):
    model = TableModel("y")
    predictions = model.learn({"x": np.arange(N) % 13, "y": target})
    assert model.task_ == task
    assert (
        predictions.dtype.kind == np.asarray(target).dtype.kind
        or np.asarray(target).dtype.kind in "if"
    )


def test_algorithms_that_measure_a_width_predict_the_last_target_during_the_warm_up():
    block = table()
    model = TableModel("y", algorithm="krls", warmup=100)
    assert model.learn(rows(block, 0, 0)).size == 0
    np.testing.assert_array_equal(model.learn(rows(block, 0, 60))[1:], block["y"][:59])
    assert model.learn(rows(block, 60, 61))[0] == block["y"][59]
    assert model.metrics_ is None
    guess = model.predict(rows(block, 61, 70))
    assert model.n_rows_ == 61 and not hasattr(model, "estimator_")  # predicting changes nothing
    np.testing.assert_array_equal(model.finish().predict(rows(block, 61, 70)), guess)
    assert model.metrics_.total()["rows"] == 60


def test_target_need_not_be_there_to_predict():
    block = table("classification")
    model = TableModel("y")
    model.learn(pd.DataFrame(block))
    del block["y"]
    P = model.predict_proba(block)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(block))
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


@pytest.mark.parametrize("learned", [0, 50, 300])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "column 'y': the rows have no such column"),
        ({"y": [np.nan]}, "column 'y', row 0: the target is missing"),
        ({"y": [np.inf]}, "column 'y', row 0: inf is infinite"),
        ({"y": ["a"]}, "column 'y'"),
        ({"x": [np.inf]}, "column 'x', row 0: inf is infinite"),
    ],
)
def test_what_is_refused_changes_nothing(learned, change, message):
    block = table()
    model = TableModel("y", warmup=100, task="regression")
    model.learn(rows(block, 0, learned))
    before = content(model)
    bad = {k: list(v[:1]) for k, v in block.items()} | change
    with pytest.raises(TableError, match=message):
        model.learn({k: v for k, v in bad.items() if v is not None})
    assert content(model) == before


def test_a_block_refused_beyond_the_warm_up_leaves_it():
    model = TableModel("y", warmup=100)
    y = np.arange(N) % 3.0
    y[-1] = 0.5  # no class
    before = content(model)
    with pytest.raises(TableError, match=r"row 399: 0\.5 is no class"):
        model.learn({"x": np.arange(N) % 13, "y": y})
    assert content(model) == before


def test_wrong_parameters():
    block = table()
    for parameters, message in [
        ({"task": "ranking"}, "unknown task 'ranking'"),
        ({"algorithm": "svm"}, "unknown algorithm 'svm'; known are 'default'"),
        (
            {"algorithm": "bsgd"},
            "bsgd is not for regression; for that there are default, polk, krls",
        ),
        ({"algorithm": published(POLKClassifier)}, "POLKClassifier is not for regression"),
        ({"budget": 0}, "budget must be >= 1"),
        ({"options": {"speed": 1}}, "default cannot be made so"),
        ({"warmup": 1}, "warmup must be >= 2"),
    ]:
        model = TableModel("y").set_params(**parameters)
        with pytest.raises(ValueError, match=message):
            model.learn(block)
        assert model.n_rows_ == 0
    with pytest.raises(TableError, match="nothing has been learned"):
        TableModel("y").predict(block)
    with pytest.raises(TableError, match=r"column 'shup': .* did you mean 'shop'"):
        TableModel("shup").learn(block)


def test_an_estimator_of_ones_own():
    model = TableModel(
        "y", algorithm=parsimon.published(parsimon.KNLMSRegressor, gamma="median", budget=30)
    )
    model.learn(table())
    assert model.n_centers_ <= 30 and 0 < model.estimator_.kernel_.gamma < 1
    again = persistence.loads(persistence.dumps(model))
    assert again.get_params()["algorithm__budget"] == 30


def test_copies_are_models_of_their_own():
    block = table()
    model = TableModel("y", warmup=50)
    model.learn(rows(block, 0, 200))
    before = content(model)
    for other in (copy.copy(model), copy.deepcopy(model)):
        other.learn(rows(block, 200, N))
    assert content(model) == before


def test_a_mixture_follows_the_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    good = published(POLKClassifier, gamma="median", loss="logistic", budget=60)
    bad = published(POLKClassifier, kernel="linear", loss="logistic", budget=60)
    model = CandidateClassifier([bad, good])
    found = model.predict_then_learn(X, y)
    assert model.shares_[1] > 0.99 and model.shares_.sum() == pytest.approx(1.0)
    alone = make_estimator("polk", "classification", kernel="gaussian", parsimony=0.05, budget=60)
    expected = alone.predict_then_learn(X, y)
    assert (found == y).mean() > (expected == y).mean() - 0.03
    rowwise = CandidateClassifier([bad, good])
    rowwise.partial_fit(X[:100], y[:100])
    whole = CandidateClassifier([bad, good]).partial_fit(X[:100], y[:100])
    each = np.concatenate(
        [rowwise.predict_proba_then_learn(X[i : i + 1], y[i : i + 1]) for i in range(100, 300)]
    )
    np.testing.assert_array_equal(each, whole.predict_proba_then_learn(X[100:300], y[100:300]))
    with pytest.raises(TypeError, match="candidates must be"):
        CandidateClassifier([published(POLKClassifier)]).partial_fit(X, y)
    with pytest.raises(ValueError, match="1 candidates and 2 widths"):
        CandidateClassifier([good], widths=[1.0, 2.0]).partial_fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ignore", 2**63),
        ("warmup", "many"),
        ("max_categories", [[]]),
        ("target", "\ud800"),
        ("window", 0),
        ("budget", -1),
    ],
)
def test_parameters_of_a_stored_model_are_checked(name, value):
    model = TableModel("y")
    persistence.loads(persistence.dumps(model))
    setattr(model, name, value)
    with pytest.raises(ValueError, match=f"its parameter {name}"):
        model._require_sound()


def test_one_row_at_a_time_equals_a_block():
    block = table("classification")
    model, other = TableModel("y", warmup=50), TableModel("y", warmup=50)
    other.learn(rows(block, 0, 120))
    for i in range(120):
        model.learn_one({name: values[i] for name, values in block.items()})
    new = {name: values[120] for name, values in block.items() if name != "y"}
    assert model.predict_one(new) == other.predict(rows(block, 120, 121))[0]
    probabilities = model.predict_proba_one(new)
    assert list(probabilities) == model.classes_.tolist()
    assert abs(sum(probabilities.values()) - 1.0) < 1e-12
    with pytest.raises(parsimon.preprocessing.TableError, match="must be a dict"):
        model.learn_one([1.0])


@pytest.mark.parametrize("missing", ["x", "late text"])
def test_columns_that_fill_during_the_warm_up(missing):
    """Which features a column has can change with each row. Blocks make no difference."""
    rng = np.random.default_rng(0)
    x, late = rng.normal(size=300), np.array([None] * 30 + ["a", "b", None] * 90, dtype=object)
    block = {"x": x, "late": late, "y": x**2}
    if missing == "x":
        block["x"] = np.where(np.arange(300) == 40, np.nan, x)
    whole, parts = TableModel("y"), TableModel("y")
    expected = whole.learn(block)
    found = [parts.learn(rows(block, at, at + 7)) for at in range(0, 300, 7)]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert content(whole) == content(parts)
    assert np.square(expected - x**2)[100:].mean() < 0.2 * np.var(x**2)


def test_numbers_and_classes_are_both_tried_until_the_task_is_known():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    few, many = np.digitize(x, [-1.0, 0.0, 1.0]), np.round(100 * x).astype(int)
    model = TableModel("y")
    found = model.learn({"x": x, "y": few})
    assert model.task_ == "classification" and set(found.tolist()) <= {0, 1, 2, 3}
    assert model.metrics_.total()["accuracy"] > 0.8 and model.metrics_.total()["rows"] == 299
    model = TableModel("y")
    found = model.learn({"x": x, "y": many})
    assert model.task_ == "regression" and (found[50:] % 1).any()
    assert model.metrics_.total()["relative_mse"] < 0.2


def test_a_fraction_ends_the_trial_of_classes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    y = np.round(x)
    y[40] = 0.5
    block, model, parts = {"x": x, "y": y}, TableModel("y", warmup=100), TableModel("y", warmup=100)
    expected = model.learn(block)
    found = [parts.learn(rows(block, at, at + 11)) for at in range(0, 150, 11)]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert model.task_ == "regression" and set(expected[:40]) <= {
        -3.0,
        -2.0,
        -1.0,
        0.0,
        1.0,
        2.0,
        3.0,
    }
