"""Model files in which something is forged under a right digest, and what must hold of each:
`tests/test_forged.py`, `tests/soak/files.py`.

Each is refused with `ModelFileError`, or it holds a model that learns 100 more samples and is
finite then.
"""

import contextlib
import copy
import json
import os
import resource
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from test_state import MODELS, learn, stream

import parsimon
from parsimon import kernels, persistence
from parsimon.evaluation import ClassificationMetrics, IntervalMetrics, RegressionMetrics
from parsimon.mixtures import CandidateClassifier, Expert, MixtureClassifier
from parsimon.preprocessing import TableEncoder, TargetScaler
from parsimon.tables import TableModel

#: What loading may take: so many times the file, and so many bytes besides.
TIMES, BESIDES = 16, 64 << 20
#: What learning may take before it must say that there is no memory: a forged budget can be one of
#: gigabytes.
TO_LEARN = 512 << 20

X, _ = stream(MODELS[0])
NUMBERS, CLASSES = stream(MODELS[0])[1], stream(MODELS[10])[1]


def block(rows, target):
    """A table of numbers, text and times."""
    x, z = X[rows].T
    words = np.array(["red", "green", "blue"])[np.digitize(x, [-1, 1])]
    return {
        "x": x,
        "z": np.where(z > 1.9, np.nan, z),
        "word": words,
        "when": 3600.0 * np.arange(len(x)),
        "y": target[rows],
    }


def own_experts():
    """Two experts for classes, of both kinds."""
    rls = parsimon.published(parsimon.KRLSRegressor, "gaussian", ridge=0.1, penalty="norm")
    polk = parsimon.published(parsimon.POLKClassifier, "laplacian", loss="logistic")
    return [Expert(rls, "scores", lags=1, relevance=True, bias=1.0), Expert(polk, "logistic")]


def learned_models():
    """Every kind of model that a file can hold, and has learned."""
    found = [learn(copy.deepcopy(model), *stream(model)) for model in MODELS]
    found.append(parsimon.MKNLMSRegressor(gamma=1.0, budget=9).partial_fit(X, NUMBERS))
    found.append(parsimon.RFFKLMSRegressor(n_components=9).partial_fit(X, NUMBERS))
    for target in (NUMBERS, CLASSES):
        for n in (60, 150):  # in the warm-up, and after it
            table = TableModel("y", warmup=100, budget=20)
            table.learn(block(slice(0, n), target))
            found.append(table)
    found += [table.encoder_, table._scores]
    table = TableModel("y", warmup=100, budget=20, intervals=0.8)
    table.learn(block(slice(0, 150), NUMBERS))
    found += [table, table.interval_metrics_]
    found.append(parsimon.MixtureRegressor(budget=40).partial_fit(X, NUMBERS))
    found.append(parsimon.MixtureClassifier(own_experts(), budget=20).partial_fit(X, CLASSES))
    options = {"gamma": 1.0, "loss": "logistic", "budget": 20}
    candidates = [
        parsimon.published(parsimon.POLKClassifier, step_size=eta, **options) for eta in (2.0, 0.2)
    ]
    found.append(CandidateClassifier(candidates, widths=[1.0, 2.0]).partial_fit(X, CLASSES))
    found.append(
        parsimon.ConformalRegressor(
            parsimon.KRLSRegressor(gamma=1.0, budget=20), window=20
        ).partial_fit(X, NUMBERS)
    )
    found.append(
        parsimon.ConformalClassifier(
            parsimon.POLKClassifier(gamma=1.0, budget=20), window=20
        ).partial_fit(X, CLASSES)
    )
    for n in (40, 150):  # before it begins, and after
        found.append(parsimon.Forecaster(horizon=2, known=["z"], budget=40))
        table = block(slice(0, n), NUMBERS)
        found[-1].learn(table.pop("y"), table, table.pop("when"))
    found.append(TargetScaler())
    found[-1].learn_transform(NUMBERS)
    found.append(RegressionMetrics(50).update(NUMBERS, NUMBERS + 0.1))
    found.append(parsimon.KernelExpansionRegressor(kernels.Gaussian(1.0), X[:5], NUMBERS[:5], 0.5))
    found.append(
        parsimon.KernelExpansionClassifier(
            kernels.Linear(), X[:4], np.ones((4, 3)), np.zeros(3), np.array(["a", "b", "c"])
        )
    )
    return found


def go_on(model):
    """Learn 100 more samples and return what is predicted then."""
    rows = slice(0, 100)
    if isinstance(model, TableModel):
        target = (
            CLASSES if "classification" in (model.task, getattr(model, "task_", "")) else NUMBERS
        )
        held = getattr(model, "_held", None)
        if held is not None and held["y"].kind == "text":
            target = CLASSES
        model.learn(block(rows, target))
        return model.predict(block(rows, target))
    if isinstance(model, parsimon.Forecaster):
        table = block(rows, NUMBERS)
        last = getattr(model, "_last_time", 0.0)
        model.learn(table.pop("y"), table, last + 3600.0 + table.pop("when"))
        return look(model)
    if isinstance(model, TableEncoder):
        given = {name: values for name, values in block(rows, CLASSES).items() if name != "y"}
        model.learn_transform(given)
        return model.transform(given)
    if isinstance(model, CandidateClassifier):
        width = getattr(model, "candidates_", [model])[0]
        rows_of = np.zeros((100, getattr(width, "n_features_in_", 2)))
        return model.partial_fit(rows_of, CLASSES[rows]).predict_proba(rows_of)
    if isinstance(model, TargetScaler):
        model.learn_transform(NUMBERS[rows])
        return model.inverse_transform(np.zeros(3))
    if isinstance(model, RegressionMetrics):
        model.update(NUMBERS[rows], NUMBERS[rows]).total()
        return np.array(model.rolling()["rows"])
    if isinstance(model, IntervalMetrics):
        model.update(NUMBERS[rows], np.column_stack([NUMBERS[rows], NUMBERS[rows] + 1])).total()
        return np.array(model.rolling()["coverage"])
    if isinstance(model, ClassificationMetrics):
        model.update(CLASSES[rows], CLASSES[rows]).total()
        return np.array(model.rolling()["rows"])
    if hasattr(model, "partial_fit"):
        learn(
            model,
            X[rows],
            CLASSES[rows]
            if type(model).__name__.endswith(("Classifier", "SVC"))
            else NUMBERS[rows],
        )
    return look(model)


def look(model):
    """What a model predicts, in numbers."""
    if isinstance(model, parsimon.Forecaster):
        return model.forecast(X_future={"z": np.zeros(model.horizon)})
    if isinstance(model, TableModel):
        return model.predict(block(slice(0, 100), CLASSES))
    if isinstance(model, TableEncoder):
        return model.transform(
            {name: v for name, v in block(slice(0, 100), CLASSES).items() if name != "y"}
        )
    if isinstance(model, CandidateClassifier):
        return model.predict_proba(np.zeros((100, model.candidates_[0].n_features_in_)))
    if isinstance(model, MixtureClassifier):
        return model.predict_proba(X[:100])
    if isinstance(model, TargetScaler):
        return model.inverse_transform(np.zeros(3))
    if isinstance(model, IntervalMetrics):
        return np.array(model.rolling()["coverage"])
    if isinstance(model, RegressionMetrics | ClassificationMetrics):
        return np.array(model.rolling()["rows"])
    name = next(
        n
        for n in ("decision_function", "reconstruction_errors", "transform", "predict")
        if hasattr(model, n)
    )
    return getattr(model, name)(X[:100])


# Forging


def parsed(data):
    """The header of a file as JSON has it, and its arrays."""
    arrays, metadata = persistence.tensors.unpacked(data)
    return json.loads(metadata[persistence.files.KEY]), arrays


def packed(header, arrays):
    """A file with the digest that it should have."""
    text = json.dumps(header)
    return persistence.tensors.packed(
        arrays, {persistence.files.KEY: text, "digest": persistence.tensors.digest_of(text, arrays)}
    )


def places(node, path=()):
    """Every place in a JSON tree."""
    yield path
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, inner in items:
        yield from places(inner, (*path, key))


def put(node, path, value):
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value


def put_by_name(node, name, value):
    """Put a value wherever an entry of a dict has this name."""
    if isinstance(node, dict):
        for inner in node.values():
            put_by_name(inner, name, value)
    elif isinstance(node, list):
        if len(node) == 2 and node[0] == name:
            node[1] = value
        for inner in node:
            put_by_name(inner, name, value)


def has_name(node, name):
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return (isinstance(node, list) and len(node) == 2 and node[0] == name) or any(
        has_name(i, name) for i in inner
    )


#: Sizes and counters by name, and what they are said to be.
SIZES = {
    "budget": (0, 1, 2, 20_000, 10**6, 10**9, 10**12, -1, 1.5, "x"),
    "n_features_in_": (0, 1, 3, 10**8, 2**40, 2**62, -1, 2.0, None),
    "batch_size": (0, 10**4, 10**6, 10**9, 2**63, "x"),
    "n_components": (0, 1, 36, 10**6, 10**9),
    "n_init": (10**6, 10**9),
    "n_passes": (0, 10**9, 10**30),
    "window": (0, 10**9, 10**30, "x"),
    "warmup": (0, 2, 10**9),
    "max_categories": (0, 1, 33, 10**6, 10**9),
    "average": (2**62, 2**63, "x"),
    "dictionary.centres": (0, 1, 10**6, 2**31, 2**32, 2**62),
    "dictionary.next_probe": (0, 2**62),
    "dictionary.changes": (0, 2**62),
    "seen": (0, 1, 2**62, 2**64),
    "averaged": (1, 2**62),
    "alive": (0, 10**9),
    "learned": (0, 2**62),
    "update.since": (2**62,),
    "update.steps": (2**62, 127),
    "n_rows_": (0, 1, 2**62),
    "n_rows_seen_": (-1, 2**62),
    "_last": (-1, 10**9),
    "gamma": (0, 1e-320, 3.0, 1e308, "median", "x"),
    "step_size": (1e-320, 1e20, 1e308),
    "memory": (0, 1e308),
    "clip": (0, 1e-320, 1e308),
    "_closed": (True, None, 1),
    "_flat": (False, None, 0),
    "task_": ("regression", "classification", "auto"),
    "_target_kind": ("number", "text", "x"),
    "_squared": (-1.0, 1e308, {"float": "nan"}, "x"),
}  # fmt: skip
#: Numbers that arrays are filled with, or changed to in one place.
VALUES = (
    0.0,
    -1.0,
    1.0,
    1e-160,
    -1e-160,
    1e-320,
    1e60,
    1e100,
    1e130,
    1e160,
    -1e160,
    1e200,
    1.7e308,
    -1.7e308,
    np.nan,
    np.inf,
)
#: JSON values that can stand anywhere.
ANYTHING = (
    None, True, False, 0, 1, -1, 7, 20_000, 10**9, 2**62, 2**64, 10**400, 0.5, -1.0, 1e160,
    1.7e308, "", "x", "gaussian", [], {}, [[]],
    {"float": "nan"}, {"float": "inf"}, {"float": "x"}, {"tuple": []}, {"dict": []},
    {"dict": [["a", 1]]}, {"dict": [[[], 1]]},
    {"labels": ["a", "b"], "dtype": "<U1"}, {"labels": ["a"] * 1000, "dtype": "<U1024"},
    {"labels": [1.5, "a"], "dtype": "|O"},
    {"array": "nothing"}, {"part": "kernels.Function", "fields": {}},
    {"part": "kernels.Linear", "fields": {}},
    {"part": "kernels.Gaussian", "fields": {"gamma": 3.0}},
    {"part": "kernels.Gaussian", "fields": {"gamma": "x"}},
    {"part": "losses.Squared", "fields": {}},
    {"part": "updates.Schedule", "fields": {"power": 1.0, "delay": 1e-300}},
    {"model": "KNLMSRegressor", "state": {"dict": []}},
    {"model": "TargetScaler", "state": {"dict": []}}, {"random_state": {"dict": []}},
)  # fmt: skip


def named_forgeries(data):
    """Yield what is forged, and a function that makes the file: each size by each value, each array
    by each number, each attribute left out or of another type.

    Most of the time goes into making files, so tests that need some of them make only these.
    """
    header, arrays = parsed(data)

    def with_header(change, *args):
        change(forged := copy.deepcopy(header), *args)
        return packed(forged, arrays)

    def with_array(name, change, *args):
        return packed(header, {**arrays, name: np.ascontiguousarray(change(arrays[name], *args))})

    for name, values in SIZES.items():
        for value in values if has_name(header, name) else ():
            yield f"{name} = {value!r}", partial(with_header, put_by_name, name, value)
    for name, array in arrays.items():
        for value in VALUES if array.dtype.kind == "f" and array.size else ():
            yield f"{name} filled with {value}", partial(with_array, name, np.full_like, value)
            yield f"{name} with {value} in it", partial(with_array, name, _with_one, value)
        for what, change in (
            ("shorter", lambda array: array[:-1]),
            ("of integers", lambda array: np.ones(array.shape, dtype=np.int64)),
            ("2-D", lambda array: array[None]),
        ):
            yield f"{name} {what}", partial(with_array, name, change)
    for i, (name, _) in enumerate(header["state"]["dict"]):
        yield f"without {name}", partial(with_header, _without, i)
        for value in ANYTHING:
            place = ("state", "dict", i, 1)
            yield f"{name} = {value!r}"[:80], partial(with_header, put, place, value)
    for name in (
        "_rows",
        "_lock",
        "_learner",
        "_learners",
        "predict",
        "shares_",
        "_recent",
        "mine",
    ):
        yield f"with {name}", partial(with_header, _with, name)


def _with_one(array, value):
    changed = array.copy()
    changed.flat[array.size // 2] = value
    return changed


def _without(header, i):
    del header["state"]["dict"][i]


def _with(header, name):
    header["state"]["dict"].append([name, 5])


def random_forgeries(data, rng):
    """Yield without end what is forged somewhere, in the header or in the arrays, once to three
    times.
    """
    header, arrays = parsed(data)
    paths = [path for path in places(header) if path and path[0] == "state" and len(path) > 1]
    while True:
        forged, changed, told = copy.deepcopy(header), dict(arrays), []
        for _ in range(rng.integers(1, 4)):
            if arrays and rng.random() < 0.5:
                name = list(arrays)[rng.integers(len(arrays))]
                array = changed[name].copy()
                if array.dtype.kind == "f" and array.size and rng.random() < 0.9:
                    value = VALUES[rng.integers(len(VALUES))]
                    count = rng.integers(1, array.size + 1) if rng.random() < 0.5 else 1
                    where = rng.integers(array.size, size=count)
                    if rng.random() < 0.5:
                        with np.errstate(over="ignore", invalid="ignore"):
                            array.flat[where] *= value
                    else:
                        array.flat[where] = value
                else:
                    array = [array[:-1], np.concatenate([array, array]), array[::-1].copy()][
                        rng.integers(3)
                    ]
                changed[name] = np.ascontiguousarray(array)
                told.append(name)
            else:
                path = paths[rng.integers(len(paths))]
                with contextlib.suppress(KeyError, IndexError, TypeError):
                    put(forged, path, copy.deepcopy(ANYTHING[rng.integers(len(ANYTHING))]))
                    told.append(str(path))
        yield ", ".join(told), packed(forged, changed)


# What must hold


def memory(which):
    """Bytes of memory that this process holds ("VmRSS"), held at most since `forget` ("VmHWM"), or
    has addresses for ("VmSize").
    """
    try:
        return 1024 * int(Path("/proc/self/status").read_text().split(which + ":")[1].split()[0])
    except (OSError, IndexError):
        return 0


def forget():
    """Let the system measure the most memory held from now on."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@contextlib.contextmanager
def at_most(more):
    """Let allocations fail beyond so many bytes more than there are now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = memory("VmSize")
    # Which has its own way with addresses
    if now and "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (now + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def check(data):
    """Load a file and go on with it.

    Returns whether it was refused, the seconds of the processor and the bytes that loading took;
    raises AssertionError.
    """
    forget()
    before, start = memory("VmRSS"), time.process_time()
    try:
        with at_most(TIMES * len(data) + BESIDES):
            model = persistence.loads(data)
    except parsimon.ModelFileError:
        return True, time.process_time() - start, memory("VmHWM") - before
    except Exception as error:
        raise AssertionError(f"loading raised {error!r}") from error
    seconds, taken = time.process_time() - start, memory("VmHWM") - before
    with warnings.catch_warnings(), at_most(TO_LEARN):
        warnings.simplefilter("ignore")
        try:
            found = go_on(model)
        # Parameters or rows that it cannot learn with: it says so
        except (ValueError, TypeError, MemoryError):
            found = None
        except Exception as error:
            raise AssertionError(f"learning raised {error!r}") from error
        if found is None:
            try:
                found = look(model)
            # Not fitted, or of other features
            except (ValueError, TypeError, AttributeError, MemoryError) as error:
                assert "object has no attribute" not in str(error), repr(error)
                found = np.zeros(0)
    if np.asarray(found).dtype.kind == "f":
        assert np.isfinite(found).all(), "what is predicted is not finite"
    return False, max(seconds, time.process_time() - start), taken
