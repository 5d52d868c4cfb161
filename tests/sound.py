"""What must hold of a model whatever was done to it, and of what is done to it.

The cases come from `hostile.py`.
"""

import copy
import pickle
import re
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hostile import BLOCKS, COPIES, FORMS, ONE, READING, classifies

import parsimon
from parsimon.persistence import Storable


def frozen(value):
    """All of a value, such that equality is equality of every bit.

    What a model remembers only to save work is left out.
    """
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.random.RandomState):
        return frozen(value.get_state(legacy=False))
    if isinstance(value, dict):
        return {k: frozen(v) for k, v in value.items() if k != "_rows"}
    if isinstance(value, list | tuple | np.ndarray):
        return type(value).__name__, [frozen(v) for v in value]
    if isinstance(value, Storable):
        return frozen(value.__getstate__())
    return type(value).__name__, repr(value)


def difference(a, b, where="model"):
    """Where two frozen values differ, or None."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return f"{where}: {a.keys() ^ b.keys()}"
        return next(filter(None, (difference(v, b[k], f"{where}.{k}") for k, v in a.items())), None)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list) and len(a) == len(b):
        return next(
            filter(
                None,
                (
                    difference(v, w, f"{where}.{i}")
                    for i, (v, w) in enumerate(zip(a, b, strict=True))
                ),
            ),
            None,
        )
    if (
        isinstance(a, bytes)
        and isinstance(b, bytes)
        and len(a) == len(b)
        and len(a) % 8 == 0
        and a != b
    ):
        i = next(i for i in range(0, len(a), 8) if a[i : i + 8] != b[i : i + 8])
        a, b, where = *(np.frombuffer(v[i : i + 8]) for v in (a, b)), f"{where}[{i // 8}]"
        return f"{where}: {a} and {b}"
    return None if a == b else f"{where}: {str(a)[:200]} and {str(b)[:200]}"


def assert_same(a, b, what):
    found = difference(
        frozen(a) if isinstance(a, Storable) else a, frozen(b) if isinstance(b, Storable) else b
    )
    assert found is None, f"{what}: {found}"


def non_finite(value, where=""):
    """Where a number is that is none, or None. The noise is infinite before it is known."""
    if where.endswith(".noise_"):
        return non_finite(np.where(np.isposinf(value), 0.0, value), where + ": ")
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
        return f"{where}: {value}"
    if isinstance(value, float) and not np.isfinite(value):
        return where
    if isinstance(value, dict):
        return next(filter(None, (non_finite(v, f"{where}.{k}") for k, v in value.items())), None)
    if isinstance(value, list | tuple):
        return next(
            filter(None, (non_finite(v, f"{where}.{i}") for i, v in enumerate(value))), None
        )
    return None


def look(model, X):
    """All that a fitted model says of rows, and of itself."""
    seen = {name: getattr(model, name)(X) for name in READING if hasattr(model, name)}
    return seen | {
        name: getattr(model, name)
        for name in dir(type(model))
        if name.endswith("_") and name[0] != "_"
    }


def assert_sound(model, X=None):
    """Every number finite, the budget kept, a class for each output; at rows that were accepted
    too.
    """
    if not model.__sklearn_is_fitted__():
        return
    assert not (bad := non_finite(model.__getstate__(), "state")), bad
    if model.budget is not None:
        assert np.max(model.n_centers_, initial=0) <= model.budget
    seen = {} if X is None else look(model, X)
    assert not (bad := non_finite(seen, "seen")), bad
    if classifies(model):
        listed = model.classes_.tolist()
        assert len(set(listed)) == len(listed) > 0, f"classes_ is {listed}"
        if hasattr(model, "_learner"):
            assert model._learner.n_outputs == len(listed) == model.weights_.shape[1]
        assert X is None or set(seen["predict"].tolist()) <= set(listed)


@contextmanager
def usual_warnings():
    """Warnings are errors, but for those of scikit-learn on shapes and names, and NumPy's on
    numbers that become infinite in a double.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings(
            "ignore", "(overflow|invalid value) encountered in cast", RuntimeWarning
        )
        yield


def perform(model, method, args):
    """Make the call; return the model to go on with, and the result."""
    if method == "deepcopy":
        return copy.deepcopy(model), None
    if method == "pickle":
        return pickle.loads(pickle.dumps(model)), None
    if method == "file":
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model")
            return parsimon.load(Path(folder) / "model"), None
    return model, getattr(model, method)(**args)


def accepted(model, method, args):
    """Make the call; whether it was accepted, the model to go on with, and the result, or the
    message.
    """
    try:
        return True, *perform(model, method, args)
    except (ValueError, TypeError) as error:
        return False, model, str(error)


#: Messages of Python itself, which say nothing to someone who gave wrong data.
UNCLEAR = re.compile(
    "unhashable|not supported between|object of type|has no len|unexpected keyword|^.{0,9}$"
)


def check(case):
    """Make the calls of a case, and check after each what must hold.

    Returns how many were accepted and how many refused.
    """
    model, counts = copy.deepcopy(case.model), [0, 0]
    with usual_warnings():
        for call in case.calls:
            args = call.args if call.spoilt is None else call.spoilt
            would = (
                call.spoilt is not None
                and accepted(copy.deepcopy(model), call.method, call.args)[0]
            )
            before, given = frozen(model), frozen(args)
            fitted = model.__sklearn_is_fitted__()
            good, model, result = accepted(model, call.method, args)
            counts[not good] += 1
            assert_same(frozen(args), given, f"{call.method} changed what it was given")
            if good:
                assert call.spoilt is None, f"{call.method} took what it must refuse"
                assert not (bad := non_finite(result, "result")), bad
                assert_sound(model, args["X"][:30] if call.method in BLOCKS else None)
            else:
                assert call.method not in COPIES, result
                assert fitted == model.__sklearn_is_fitted__()
                assert not UNCLEAR.search(result), f"{call.method}: {result}"
                assert not would or re.search(call.names, result), (
                    f"{call.method} says {result!r}, not {call.names!r}"
                )
            if not good or call.method in (*READING, "predict_one", *COPIES):
                assert_same(
                    frozen(model), before, f"{call.method}, {'accepted' if good else 'refused'}"
                )
    return counts


def told(model):
    """What was learned, whatever the types that the data came in."""
    return frozen(
        [model.__getstate__()["_learned"], model.classes_.tolist() if classifies(model) else None]
    )


def check_block(model, args):
    """A block that is accepted is its rows, bit for bit; one that is refused has a row that is
    refused. Returns whether it was accepted.
    """
    rows, singly, before = copy.deepcopy(model), copy.deepcopy(model), copy.deepcopy(model)
    with usual_warnings():
        good, block, message = accepted(copy.deepcopy(model), "partial_fit", args)
        each = [
            accepted(rows, "partial_fit", {k: v[i : i + 1] for k, v in args.items()})
            for i in range(len(args["X"]))
        ]
        refused = [(i, said) for i, (row_good, _, said) in enumerate(each) if not row_good]
        assert good == (not refused), (message, refused)
        if not good:
            return False
        assert_same(block, rows, "rows, one by one")
        predictions = []
        for row in zip(*args.values(), strict=True):
            if hasattr(model, "predict_one") and singly.__sklearn_is_fitted__():
                predictions.append(singly.predict_one(row[0]))
            singly.learn_one(*row)
        assert_same(told(singly), told(block), "learn_one")
        if hasattr(model, "predict_then_learn"):
            result = before.predict_then_learn(**args)
            assert_same(before, block, "predict_then_learn")
            assert_same(
                frozen(result[1:].tolist()), frozen(np.array(predictions).tolist()), "predictions"
            )
    return True


def plain(model, name, value):
    """What the core learns from: doubles in C order. Labels are left as they are."""
    return (
        np.array(value)
        if name == "y" and classifies(model)
        else np.array(value, dtype=np.float64, order="C")
    )


def check_form(model, args, form):
    """The form changes nothing, and nothing changes it. Returns whether the block was accepted."""
    usual = {name: plain(model, name, value) for name, value in args.items()}
    formed = {name: FORMS[form](value) for name, value in args.items()}
    kept = copy.deepcopy(formed)
    with usual_warnings():
        good, expected, _ = accepted(copy.deepcopy(model), "partial_fit", usual)
        found_good, found, message = accepted(copy.deepcopy(model), "partial_fit", formed)
        assert good == found_good, message
        if good:
            rows = formed["X"], usual["X"]
            one = FORMS[form](args["X"][0]), usual["X"][0]
            rest = [usual["y"][0]] if "y" in usual else []
            assert_same(told(found), told(expected), form)
            for name in (m for m in (*READING, "predict_one", "learn_one") if hasattr(model, m)):
                more = rest if name == "learn_one" else []
                a, b = (
                    getattr(m, name)(x, *more)
                    for m, x in zip((found, expected), one if name in ONE else rows, strict=True)
                )
                if name != "learn_one":
                    assert_same(
                        frozen(np.asarray(a).tolist()), frozen(np.asarray(b).tolist()), name
                    )
            assert_same(told(found), told(expected), "learn_one")
    for name, value in formed.items():
        assert np.array_equal(np.asarray(value), np.asarray(kept[name])), f"{name} was changed"
    return good
