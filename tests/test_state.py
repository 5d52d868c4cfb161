"""Going on where one stopped: pickle, copies, files."""

import contextlib
import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
import safetensors.numpy
from sklearn.linear_model import LinearRegression

import parsimon
from parsimon import kernels, persistence, published
from parsimon.estimators import ESTIMATORS
from parsimon.updates import Schedule

#: Estimators in all their ways, each with something to remember that another has not.
# New models come last: tests of forged files take models by their place.
MODELS = [
    published(parsimon.KNLMSRegressor, gamma=1.0),
    published(parsimon.KNLMSRegressor, gamma=1.0, coherence=0.9, budget=12),
    published(
        parsimon.KNLMSRegressor,
        kernels.Gaussian(1.0) + kernels.Normalized(kernels.Polynomial(2)),
        budget=12,
        compression="oldest",
    ),
    published(parsimon.KLMSRegressor, gamma=1.0, quantization=0.2),
    published(parsimon.NORMARegressor, gamma=1.0, budget=20),
    published(parsimon.KRLSRegressor, gamma=1.0, forgetting=0.99),
    published(
        parsimon.KRLSRegressor,
        gamma=1.0,
        admission="coherence",
        ridge=0.1,
        forgetting=0.99,
        budget=10,
    ),
    published(parsimon.SPLRegressor, gamma=1.0),
    published(
        parsimon.SPLRegressor, gamma=1.0, admission="coherence", coherence="adaptive", budget=10
    ),
    published(parsimon.POLKRegressor, gamma=1.0, schedule="diminishing", budget=15, average=50),
    published(
        parsimon.POLKClassifier,
        gamma=1.0,
        loss="logistic",
        batch_size=4,
        schedule=Schedule(0.5, 10),
        budget=20,
        average=True,
    ),
    published(parsimon.BSGDClassifier, gamma=1.0, budget=15),
    published(parsimon.SOGSVR, gamma=1.0, tolerance=0.1, ridge=0.01, epsilon=0.05),
    published(parsimon.SOGSVR, gamma=1.0, tolerance=0.1, box=0.5),
    published(parsimon.SOGSVC, gamma=1.0),
    parsimon.KernelDictionaryLearning(6, gamma=1.0, budget=15, random_state=0),
    parsimon.KernelDictionaryLearning(
        6, gamma=1.0, budget=15, update="feature", admission="reconstruction", random_state=0
    ),
    parsimon.KernelDictionaryClassifier(6, gamma=1.0, budget=15, random_state=0),
    published(parsimon.KAPRegressor, gamma=1.0, order=4, budget=12),
    published(
        parsimon.KRLSRegressor, gamma=1.0, ridge=0.1, penalty="norm", forgetting=0.99, budget=9
    ),
    published(
        parsimon.POLKRegressor, gamma=1.0, fit_intercept=True, target_scale="auto", average=20
    ),
    published(
        parsimon.POLKClassifier, gamma=1.0, loss="logistic", fit_intercept=True, average=True
    ),
    published(
        parsimon.KRLSRegressor,
        gamma=1.0,
        tolerance=1e-3,
        ridge=0.1,
        penalty="norm",
        budget=10,
        eviction="project",
    ),
    published(parsimon.KRLSTRegressor, gamma=1.0, forgetting=0.9, budget=9),
    published(parsimon.KRLSTRegressor, gamma=1e-4, forgetting=0.99, jitter=1e-8),
    published(parsimon.SWKRLSRegressor, gamma=1.0, budget=9),
    published(parsimon.FBKRLSRegressor, gamma=1.0, budget=9, fit_intercept=True),
    published(parsimon.EXKRLSRegressor, gamma=1.0, forgetting=0.99, budget=9),
    published(
        parsimon.POLKClassifier, gamma=1.0, budget=15, average=20, batch_size=4, maintenance="merge"
    ),
    published(
        parsimon.POLKRegressor, gamma=1.0, budget=15, average=20, maintenance="merge", neighbors=6
    ),
]


def stream(model, n=240):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    if hasattr(model, "predict_proba") or type(model).__name__.endswith(("Classifier", "SVC")):
        y = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
        y[: n // 3] = np.where(y[: n // 3] == "high", "low", y[: n // 3])  # a class met late
    return X, y


def learn(model, X, y):
    return (
        model.partial_fit(X)
        if isinstance(model, parsimon.KernelDictionaryLearning)
        else model.partial_fit(X, y)
    )


#: Methods of one argument X, of whatever model has them.
ANSWERS = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "reconstruction_error",
)


def look(model, X):
    """All that can be seen of a model."""
    seen = {}
    for name in ANSWERS:
        if hasattr(model, name):
            seen[name] = getattr(model, name)(X)
    for name in sorted(set(dir(type(model)))):
        if name.endswith("_") and not name.startswith("_"):
            seen[name] = getattr(model, name)
    return seen


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        if name != "nbytes_":  # room for growth is taken anew
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_every_estimator_is_here():
    missing = {
        *ESTIMATORS,
        parsimon.KernelDictionaryLearning,
        parsimon.KernelDictionaryClassifier,
    } - set(map(type, MODELS))
    assert not missing


@pytest.mark.parametrize(
    "again",
    [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_going_on_is_the_same_as_never_stopping(model, again):
    X, y = stream(model)
    stopped = copy.deepcopy(model)
    for first in range(0, 240, 12):  # whole batches
        stopped = again(stopped)
        learn(stopped, X[first : first + 12], y[first : first + 12])
    once = learn(learn(copy.deepcopy(model), X[:12], y[:12]), X[12:], y[12:])
    assert_same(look(stopped, X), look(once, X))
    other = again(stopped)
    before = look(stopped, X)
    learn(other, X, y)
    assert_same(look(stopped, X), before)  # a copy is a model of its own


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_damaged_state_is_refused(model):
    X, y = stream(model)
    learn(model := copy.deepcopy(model), X, y)
    state = model.__getstate__()
    kept = state["_learned"]
    arrays, counts = (
        next(iter(kept.values()))
        if isinstance(model, parsimon.KernelDictionaryClassifier)
        else kept[-2:]
    )
    for name, values in list(arrays.items()):
        for bad in (values[:-1], np.append(values, 0.0), np.full_like(values, np.nan)):
            if len(bad) == len(values) and not len(values):
                continue
            arrays[name] = bad
            with pytest.raises(ValueError, match="state"):
                copy.deepcopy(model).__setstate__(state)
        del arrays[name]
        with pytest.raises((ValueError, KeyError)):
            copy.deepcopy(model).__setstate__(state)
        arrays[name] = values
    for name, value in list(counts.items()):
        if name in ("update.next", "update.end", "update.noise.known"):  # 0 if missing
            continue
        del counts[name]
        with pytest.raises(ValueError, match="state lacks"):
            copy.deepcopy(model).__setstate__(state)
        counts[name] = value
    copy.deepcopy(model).__setstate__(state)


@pytest.fixture(params=MODELS, ids=str)
def learned(request):
    model = copy.deepcopy(request.param)
    X, y = stream(model)
    return learn(model, X[:100], y[:100]), X, y


def test_a_file_holds_all_of_it(learned, tmp_path):
    model, X, y = learned
    path = tmp_path / "model.parsimon"
    model.save(path)
    again = parsimon.load(path)
    assert_same(look(again, X), look(model, X))
    assert again.get_params() == model.get_params()
    learn(model, X[100:], y[100:])
    learn(again, X[100:], y[100:])
    assert_same(look(again, X), look(model, X))
    assert [p.name for p in tmp_path.iterdir()] == ["model.parsimon"]


def test_another_process_goes_on(tmp_path):
    path = tmp_path / "model.parsimon"
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.sin(X[:, 0])
    np.savez(tmp_path / "data.npz", X=X, y=y)
    model = published(parsimon.KRLSRegressor, gamma=1.0, forgetting=0.99).partial_fit(
        X[:100], y[:100]
    )
    model.save(path)
    script = (
        "import sys, numpy as np, parsimon; d = np.load(sys.argv[2]); m = "
        "parsimon.load(sys.argv[1]);"
        "m.partial_fit(d['X'][100:], d['y'][100:]).save(sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", script, path, tmp_path / "data.npz"], check=True)
    np.testing.assert_array_equal(
        parsimon.load(path).weights_, model.partial_fit(X[100:], y[100:]).weights_
    )


def test_unfitted_and_named_features(tmp_path):
    path = tmp_path / "model.parsimon"
    published(parsimon.POLKClassifier, gamma=2.0, budget=7).save(path)
    again = parsimon.load(path)
    assert again.budget == 7
    assert not again.__sklearn_is_fitted__()
    model = published(parsimon.KNLMSRegressor).fit([[0.0, 1.0]], [1.0])
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    model.save(path)
    assert parsimon.load(path).feature_names_in_.tolist() == ["a", "b"]


def test_code_is_not_stored(tmp_path):
    path = tmp_path / "model.parsimon"
    published(parsimon.KNLMSRegressor, gamma=1.0).fit([[0.0]], [1.0]).save(path)
    before = path.read_bytes()
    for kernel in (lambda x, z: 1.0, kernels.Function(lambda x, z: 1.0) + kernels.Gaussian(1.0)):
        with pytest.raises(TypeError, match="Python function"):
            published(parsimon.KNLMSRegressor, kernel).fit([[0.0]], [1.0]).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.parsimon"]


def test_what_is_wrong_with_a_file_is_said(tmp_path):
    path = tmp_path / "model.parsimon"
    published(parsimon.POLKClassifier, gamma=1.0).fit([[0.0], [1.0]], ["a", "b"]).save(path)
    good = path.read_bytes()
    with pytest.raises(FileNotFoundError, match="there is no file"):
        parsimon.load(tmp_path / "nothing")
    cases = {
        "damaged or not a model file": [b"", good[:20], good[:-8], b"\x00" * 100, b"PK" + good],
        "not a parsimon model file": [safetensors.numpy.save({"x": np.zeros(3)})],
        "of format 2": [good.replace(b'\\"format\\":1', b'\\"format\\":2')],
        "do not agree with its digest": [
            good[:-1] + bytes([good[-1] ^ 1]),
            good.replace(b"POLKClassifier", b"BSGDClassifier"),
        ],
    }
    for message, files in cases.items():
        for data in files:
            path.write_bytes(data)
            with pytest.raises(parsimon.ModelFileError, match=message):
                parsimon.load(path)


@pytest.mark.parametrize("compress", [0, 1, 3, 6, 9])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_named(tmp_path, compress, protocol):
    path = tmp_path / "pipe.joblib"
    joblib.dump({"weights": np.arange(50.0)}, path, compress=compress, protocol=protocol)
    with pytest.raises(parsimon.ModelFileError, match="looks like a pickle or joblib file"):
        parsimon.load(path)


def test_a_damaged_model_is_not_taken_for_a_pickle():
    for start in (b"\x80\x04", b"x\x9c"):
        with pytest.raises(parsimon.ModelFileError, match="damaged or not a model file"):
            persistence.loads(start + bytes(6) + b'{"__metadata__": ')


def test_files_of_every_format_stay_readable():
    for path in sorted((Path(__file__).parent / "data").glob("format-*.parsimon")):
        model = parsimon.load(path)
        expected = json.loads(path.with_suffix(".json").read_text())
        np.testing.assert_allclose(
            model._evaluate(np.array(expected["X"])), expected["f"], rtol=1e-12
        )
        assert model.classes_.tolist() == expected["classes"]


def mutations(data, n, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        bad = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            kind, at = rng.integers(5), int(rng.integers(len(bad) or 1))
            if kind == 0 and bad:
                bad[at] = rng.integers(256)
            elif kind == 1:
                del bad[at : at + int(rng.integers(1, 40))]
            elif kind == 2:
                bad[at:at] = rng.bytes(int(rng.integers(1, 40)))
            elif kind == 3:
                bad = bad[:at]
            else:
                bad[at:at] = bad[: int(rng.integers(1, 200))]
        yield bytes(bad)


@pytest.mark.parametrize("model", [MODELS[7], MODELS[10], MODELS[12], MODELS[17]], ids=str)
def test_mutated_files_are_refused_or_sound(model, tmp_path):
    path = tmp_path / "model.parsimon"
    X, y = stream(model)
    model = learn(copy.deepcopy(model), X, y)
    model.save(path)
    for data in mutations(path.read_bytes(), 300, 0):
        path.write_bytes(data)
        try:
            again = parsimon.load(path)
        except parsimon.ModelFileError:
            continue
        assert_same(look(again, X), look(model, X))


def forged(path, state, estimator):
    """Write a file of any state, with the digest it should have."""
    arrays = {}
    header = {
        "format": 1,
        "estimator": estimator,
        "state": persistence.values.encode(state, arrays, "state"),
    }
    text = json.dumps(header)
    metadata = {"parsimon": text, "digest": persistence.tensors.digest_of(text, arrays)}
    path.write_bytes(safetensors.numpy.save(arrays, metadata=metadata))


def spoiled(value, rng):
    """Another value in the place of one."""
    if isinstance(value, np.ndarray):
        return [
            value[:-1],
            np.append(value, 1.0),
            -value,
            value * 1e300,
            np.zeros(0),
            5,
            None,
            "x",
        ][rng.integers(8)]
    if isinstance(value, bool | int):
        return [0, 1, 7, 2**40, 2**62, 2**64, -1, 0.5, "x", None][rng.integers(10)]
    return [None, 5, "x", [], {}, np.zeros(3), -1.0, 1e308][rng.integers(8)]


def spoil(state, rng):
    """Spoil one thing somewhere in a state, in place of nothing else."""
    if isinstance(state, dict) and state:
        key = list(state)[rng.integers(len(state))]
        inner = state[key]
        return {
            **state,
            key: spoil(inner, rng)
            if isinstance(inner, dict | tuple) and inner
            else spoiled(inner, rng),
        }
    items = list(state)
    i = rng.integers(len(items))
    items[i] = (
        spoil(items[i], rng)
        if isinstance(items[i], dict | tuple) and items[i]
        else spoiled(items[i], rng)
    )
    return tuple(items)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_forged_files_are_refused_or_harmless(model, tmp_path):
    path, rng = tmp_path / "model.parsimon", np.random.default_rng(0)
    X, y = stream(model)
    good = learn(copy.deepcopy(model), X, y).__getstate__()
    good.pop("_sklearn_version", None)
    for _ in range(75):
        try:
            forged(path, spoil(good, rng), type(model).__name__)
        except (TypeError, ValueError, OverflowError):
            continue  # not even a file
        try:
            again = parsimon.load(path)
        except parsimon.ModelFileError:
            continue
        with contextlib.suppress(
            ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RuntimeError
        ):
            learn(again, X, y)
            look(again, X)


def test_the_store_cannot_be_made_larger_than_its_room(tmp_path):
    path = tmp_path / "model.parsimon"
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = parsimon.KernelDictionaryLearning(4, gamma=1.0, budget=6, random_state=0).partial_fit(X)
    for seen, first in (
        (0, np.ones(16)),
        (0, np.ones(1200)),
        (2**63, np.ones(16)),
        (3, np.ones(16)),
    ):
        state = model.__getstate__()
        arrays, counts = state["_learned"]
        arrays["first"], counts["seen"], counts["learned"] = first, seen, 0
        state.pop("_sklearn_version", None)
        forged(path, state, "KernelDictionaryLearning")
        with pytest.raises(parsimon.ModelFileError):
            parsimon.load(path)


def test_random_states_come_back(tmp_path):
    path = tmp_path / "model.parsimon"
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    model = parsimon.KernelDictionaryClassifier(
        3, gamma=1.0, budget=8, random_state=np.random.RandomState(3)
    ).partial_fit(X, y)
    model.save(path)
    again = parsimon.load(path)
    shallow = copy.copy(model)
    for m in (shallow, again, model):  # a third class draws anew
        m.partial_fit(X, np.full(60, 2))
    np.testing.assert_array_equal(again.reconstruction_errors(X), model.reconstruction_errors(X))
    np.testing.assert_array_equal(shallow.reconstruction_errors(X), model.reconstruction_errors(X))
    state = np.random.RandomState(0).get_state(legacy=False)
    state["state"]["pos"] = 10**9
    with pytest.raises(ValueError, match="random state"):
        persistence.values.random_state(state)


def test_foreign_models_are_not_stored(tmp_path):
    class Mine(parsimon.KNLMSRegressor):
        pass

    for model in (Mine(), LinearRegression()):
        with pytest.raises(TypeError, match="estimators of parsimon"):
            persistence.save(model, tmp_path / "model.parsimon")
    assert not list(tmp_path.iterdir())
    with pytest.raises(IsADirectoryError, match="folder"):
        parsimon.load(tmp_path)


def test_labels_that_are_no_text_are_refused(tmp_path):
    model = published(parsimon.POLKClassifier, gamma=1.0).fit([[0.0], [1.0]], ["a", "\ud800"])
    with pytest.raises(TypeError, match=r"no text that a file can hold: '\\ud800'"):
        model.save(tmp_path / "model.parsimon")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_same_model_is_the_same_bytes(model):
    X, y = stream(model)
    model = learn(copy.deepcopy(model), X, y)
    data = persistence.dumps(model)
    assert persistence.dumps(model) == data
    assert persistence.dumps(persistence.loads(data)) == data
    if type(model) in ESTIMATORS:
        assert safetensors.numpy.load(data).keys() >= {"state._learned.2.dictionary.points"}


def test_what_can_be_stored_can_be_loaded(tmp_path):
    labels = ["a" * 2000, "b"] * 10
    model = published(parsimon.POLKClassifier, gamma=1.0).fit(
        np.arange(20.0)[:, np.newaxis], labels
    )
    assert persistence.loads(persistence.dumps(model)).classes_.tolist() == ["a" * 2000, "b"]
    deep = kernels.Gaussian(1.0)
    for i in range(450):
        deep = deep + kernels.Gaussian(1.0 + i)
    with pytest.raises(TypeError, match="nested too deeply"):
        persistence.dumps(published(parsimon.KNLMSRegressor, deep).fit([[0.0]], [1.0]))


def test_a_refused_sample_leaves_the_file_as_it_was():
    X, y = stream(published(parsimon.POLKClassifier))
    model = published(parsimon.POLKClassifier, gamma=1.0).partial_fit(X, y)
    before = persistence.dumps(model)
    for x, weight in ((X[0], -1.0), ([np.nan, 1.0], 1.0)):
        with pytest.raises(ValueError, match=r"weight|NaN"):
            model.learn_one(x, y[0], sample_weight=weight)
    assert persistence.dumps(model) == before
    rng = np.random.RandomState(1)
    model = parsimon.KernelDictionaryClassifier(
        5, gamma=1.0, budget=8, random_state=rng
    ).partial_fit(X[:1], y[:1])
    again = persistence.loads(persistence.dumps(model))
    assert persistence.dumps(model.partial_fit(X, y)) == persistence.dumps(again.partial_fit(X, y))


@pytest.mark.parametrize(
    "part", ["", "update.", "update.covariance.", "dictionary.", "dictionary.factor."]
)
def test_a_part_of_a_newer_version_is_refused(part):
    model = published(parsimon.KRLSRegressor, kernels.Gaussian(1.0)).fit(np.eye(4), np.arange(4.0))
    arrays, counts = model._learner.state()
    assert not any(name.endswith("version") for name in counts)  # version 0 is not written
    fresh = model._recipe(model._learns_with).build(4, 1)
    with pytest.raises(ValueError, match=r"version 1, and versions up to 0 .* update parsimon"):
        fresh.restore(arrays, counts | {f"{part}version": 1})


def test_an_update_without_state_has_a_version_too():
    model = published(parsimon.KNLMSRegressor, kernels.Gaussian(1.0)).fit(np.eye(4), np.arange(4.0))
    arrays, counts = model._learner.state()
    fresh = model._recipe(model._learns_with).build(4, 1)
    with pytest.raises(ValueError, match="version 1"):
        fresh.restore(arrays, counts | {"update.version": 1})
