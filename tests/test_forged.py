"""Files that someone made by hand: each is refused, or holds a model that goes on and stays finite.

The whole list is run by ``make soak``.
"""

import copy
import itertools
import json
import re

import numpy as np
import pytest

pytest.importorskip("resource")

import forgeries
from test_state import MODELS, learn, stream

import parsimon
from parsimon import kernels, persistence
from parsimon.tables import TableModel

LEARNED = forgeries.learned_models()
every_kind = pytest.mark.parametrize(
    "model", LEARNED, ids=lambda model: f"{type(model).__name__}{LEARNED.index(model)}"
)


def assert_harmless(files, model):
    for what, data in files:
        try:
            _, _, taken = forgeries.check(data)
        except AssertionError as error:
            pytest.fail(f"{type(model).__name__}, {what}: {error}")
        assert taken <= forgeries.TIMES * len(data) + forgeries.BESIDES, what


def some(files, n):
    """About n of them, evenly spaced. The others are not made."""
    listed = list(files)
    return ((what, make()) for what, make in listed[:: max(1, len(listed) // n)])


@every_kind
def test_every_kind_of_model_is_loaded_as_it_was(model):
    data = persistence.dumps(model)
    assert persistence.dumps(persistence.loads(data)) == data
    assert not forgeries.check(data)[0]


def test_every_kind_is_here():
    assert {type(model).__name__ for model in LEARNED} == set(persistence.models.stored_names())


@every_kind
def test_forged_arrays(model):
    files = (
        f for f in forgeries.named_forgeries(persistence.dumps(model)) if f[0].startswith("state")
    )
    assert_harmless(some(files, 25), model)


@every_kind
def test_forged_headers(model):
    files = (
        f
        for f in forgeries.named_forgeries(persistence.dumps(model))
        if not f[0].startswith("state")
    )
    assert_harmless(some(files, 25), model)


@every_kind
def test_several_things_forged(model):
    files = forgeries.random_forgeries(persistence.dumps(model), np.random.default_rng(0))
    assert_harmless(itertools.islice(files, 10), model)


# What must be refused


def state_of(model):
    learned = learn(copy.deepcopy(model), *stream(model))
    header, arrays = forgeries.parsed(persistence.dumps(learned))
    return header, arrays, dict(header["state"]["dict"])


def refusal(header, arrays):
    with pytest.raises(parsimon.ModelFileError) as refused:
        persistence.loads(forgeries.packed(header, arrays))
    return str(refused.value)


@pytest.mark.parametrize(
    ("model", "name", "value", "says"),
    [
        (MODELS[0], "dictionary.weights", 1.7e308, "weights hold 1.7e\\+308"),
        (MODELS[0], "dictionary.weights", 1e200, "norms sum to"),
        (MODELS[0], "dictionary.diagonal", 0.5, "not those of its kernel"),
        (MODELS[1], "dictionary.factor.rows", 1.0, "factor"),
        (MODELS[5], "update.covariance.factor.rows", 1e160, "factors hold 1e\\+160"),
        (MODELS[5], "update.covariance.factor.rows", 1e-160, "diagonal holds 1e-160"),
        (MODELS[5], "update.covariance.factor.diagonal", 1e10, "variances"),
        (MODELS[5], "update.covariance.scale", 0.0, "scale 0"),
        (MODELS[5], "update.covariance.scale", 100.0, "scale 100"),
        (MODELS[8], "dictionary.coherences", 7.0, "coherences"),
        (MODELS[12], "update.gram.rows", 0.1, "Gram matrix"),
        (MODELS[12], "update.counts.rows", -1.0, "counts"),
        (MODELS[12], "update.kept", 1e300, "dual variables"),
        (MODELS[15], "gram", -1.0, "products of atoms"),
        (MODELS[15], "images", 9.0, "images"),
        (MODELS[15], "stored.rows", 9.0, "Gram matrix"),
        (MODELS[0], "spent", -1.0, "spent"),
    ],
)
def test_numbers_that_learning_does_not_lead_to(model, name, value, says):
    header, arrays, _ = state_of(model)
    (key,) = (key for key in arrays if key.endswith("." + name) and "_learned" in key)
    arrays[key] = np.full_like(arrays[key], value)
    assert re.search(says, refusal(header, arrays))


@pytest.mark.parametrize(
    "model",
    [MODELS[0], MODELS[5], MODELS[12], MODELS[15], MODELS[17]],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize(
    "kernel", [kernels.Gaussian(3.0), kernels.Linear(), kernels.Laplacian(1.0)], ids=repr
)
def test_a_kernel_that_contradicts_the_parameters(model, kernel):
    header, arrays, _ = state_of(model)
    forgeries.put_by_name(header, "kernel_", persistence.values.encode(kernel, {}, "kernel_"))
    assert "its parameters" in refusal(header, arrays)


def test_measured_widths_and_named_kernels_are_believed():
    X, y = stream(MODELS[0])
    for cls, kernel, gamma in itertools.product(
        (parsimon.KNLMSRegressor, parsimon.SOGSVR),
        (
            "gaussian",
            "laplacian",
            "matern52",
            "linear",
            kernels.SinglePrecision("gaussian"),
            kernels.Gaussian(0.3) + 0.1,
        ),
        ("scale", "median", 0.7),
    ):
        if isinstance(kernel, kernels.Sum) and gamma != "scale":
            continue
        model = cls(kernel, gamma=gamma).partial_fit(X, y)
        assert persistence.loads(persistence.dumps(model)).kernel_ == model.kernel_


@pytest.mark.parametrize(
    ("model", "name"),
    [(MODELS[0], "_flat"), (MODELS[10], "_met"), (MODELS[10], "_index"), (MODELS[10], "_loss"),
        (MODELS[10], "_closed"),
     (MODELS[10], "classes_"), (MODELS[10], "_factors"), (MODELS[0], "kernel_"),
     (MODELS[0], "n_features_in_"),
     (MODELS[17], "_rng"), (MODELS[17], "classes_"), (MODELS[0], "_learns_with")],
)  # fmt: skip
def test_private_attributes_of_another_type(model, name):
    header, arrays, state = state_of(model)
    assert name in state
    for value in (5, "x", None, [], {"dict": [["a", "b"]]}, {"labels": ["q"], "dtype": "<U1"}):
        forged = copy.deepcopy(header)
        next(pair for pair in forged["state"]["dict"] if pair[0] == name)[1] = value
        refusal(forged, arrays)


def test_deep_and_wide_headers():
    header, arrays, _ = state_of(MODELS[0])
    deep = {"part": "kernels.Gaussian", "fields": {"gamma": 1.0}}
    for _ in range(150):
        deep = {"part": "kernels.Normalized", "fields": {"inner": deep}}
    wide = {"labels": ["a"] * 10**5, "dtype": "<U1024"}  # 400 MB
    many = [[]] * 10**6  # 3 MB of text, 120 MB of lists
    for value in (deep, wide, many, {"array": next(iter(arrays))}):
        forged = copy.deepcopy(header)
        forged["state"]["dict"].append(["mine", value])
        data = forgeries.packed(forged, arrays)
        refused, _, taken = forgeries.check(data)
        assert refused and taken <= forgeries.TIMES * len(data) + forgeries.BESIDES
    with pytest.raises(parsimon.ModelFileError, match="header cannot be read"):
        text = json.dumps({"format": 1, "estimator": "KNLMSRegressor", "state": float("nan")})
        persistence.loads(
            persistence.tensors.packed(
                {}, {"parsimon": text, "digest": persistence.tensors.digest_of(text, {})}
            )
        )


# Memory


@pytest.mark.parametrize("budget", [20_000, 10**6, 10**9])
def test_memory_for_the_budget_is_taken_by_the_next_sample(budget):
    X, y = stream(MODELS[1])
    header, arrays, _ = state_of(MODELS[1])
    forgeries.put_by_name(header, "budget", budget)
    model = persistence.loads(forgeries.packed(header, arrays))
    assert model.nbytes_ < 10**6
    before, held = persistence.dumps(model), model.predict(X)
    with forgeries.at_most(10**8), pytest.raises(MemoryError, match=f"budget of {budget} centres"):
        model.partial_fit(X, y)
    assert persistence.dumps(model) == before
    np.testing.assert_array_equal(model.predict(X), held)
    model.set_budget(10).partial_fit(X, y)  # what there is memory for
    assert model.n_centers_ <= 10 and model.nbytes_ < 10**6


@pytest.mark.parametrize("model", [m for m in MODELS if m.budget is not None], ids=str)
def test_a_model_that_was_loaded_comes_to_hold_what_it_held(model):
    X, y = stream(model)
    model = learn(copy.deepcopy(model), X, y)
    again = persistence.loads(persistence.dumps(model))
    assert np.max(again.nbytes_) <= np.max(model.nbytes_)
    learn(model, X, y)
    learn(again, X, y)
    # Scratch is taken as it is needed
    assert again.nbytes_ == pytest.approx(model.nbytes_, rel=0.03)


def test_sizes_that_no_array_shows():
    header, arrays, _ = state_of(MODELS[0])
    empty = {name: array if name.endswith("spent") else array[:0] for name, array in arrays.items()}
    forgeries.put_by_name(header, "dictionary.centres", 0)
    for n_features, n_outputs, good in (
        (2, 1, True),
        (10**8, 1, True),
        (2, 10**9, False),
        (2, 2**62, False),
        (2**62, 1, False),
    ):
        forged = copy.deepcopy(header)
        forgeries.put_by_name(forged, "n_features_in_", n_features)
        forgeries.put_by_name(forged, "_flat", n_outputs == 1)
        learned = dict(forged["state"]["dict"])["_learned"]["tuple"]
        learned[:2] = n_features, n_outputs
        data = forgeries.packed(forged, empty)
        refused, _, taken = forgeries.check(data)
        assert refused != good and taken < 1 << 22


def test_a_warm_up_made_shorter_ends_at_the_next_rows():
    table = TableModel("y", warmup=100)
    table.learn(forgeries.block(slice(0, 60), forgeries.NUMBERS))
    table.warmup = 50
    assert len(table.learn(forgeries.block(slice(60, 70), forgeries.NUMBERS))) == 10
    assert table.n_rows_ == 70


SHRUNK = {
    "gaussian": {
        "kernel": "gaussian",
        "gamma": 1.0,
        "alpha": 0.05,
        "step_size": 0.1,
        "schedule": "constant",
    },
    "linear": {"kernel": "linear", "alpha": 0.5, "step_size": 0.1, "schedule": "constant"},
    "tiny": {"kernel": "gaussian", "alpha": 0.5, "step_size": 0.5, "update": "feature"},
}


@pytest.mark.parametrize("name", SHRUNK)
def test_atoms_that_have_shrunk_can_be_stored(name):
    """Images of such atoms hold rounding errors of what they were."""
    X = np.random.default_rng(0).normal(size=(1000, 10 if name == "gaussian" else 50))
    options = {"n_components": 3, "penalty": 1.0, "budget": 10, "random_state": 0, **SHRUNK[name]}
    model = parsimon.KernelDictionaryLearning(**options).partial_fit(X)
    again = persistence.loads(persistence.dumps(model))
    np.testing.assert_array_equal(again.transform(X[:5]), model.transform(X[:5]))


@pytest.mark.parametrize("value", [5, None, True, {}])
def test_metadata_that_is_no_text(value):
    header = json.dumps({"__metadata__": {persistence.files.KEY: value, "digest": "0"}}).encode()
    with pytest.raises(parsimon.ModelFileError):
        persistence.loads(len(header).to_bytes(8, "little") + header)


def test_what_could_not_be_loaded_is_not_stored():
    model = parsimon.published(parsimon.KNLMSRegressor, gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0])
    model.note_ = "of a user"
    assert persistence.loads(persistence.dumps(model)).note_ == "of a user"
    for name, value in {"extra_": np.array([1.0]), "_note": "private"}.items():
        other = copy.deepcopy(model)
        setattr(other, name, value)
        with pytest.raises(TypeError, match=name):
            persistence.dumps(other)
