"""Hostile models, streams and calls, for `test_hostile.py` and `soak/hostile_input.py`; `sound.py`
says what must hold whatever they are.

A case is a model and the calls made on it, drawn by hypothesis before any of them is made, so that
a failing one shrinks. Large blocks come from named patterns with a few numbers to draw, small ones
are drawn value by value.
"""

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

import parsimon
from parsimon import kernels, losses, updates
from parsimon.estimators import ESTIMATORS

ALL = (*ESTIMATORS, parsimon.KernelDictionaryLearning, parsimon.KernelDictionaryClassifier)
LARGEST = np.finfo(np.float64).max

# Models

GAMMAS = st.sampled_from([1.0, 0.01, 50.0, 1e-12, 1e12, 1e-300, 1e300])
MEASURED = st.sampled_from(["scale", "median"])
OBJECTS = st.sampled_from(
    [
        0.1 * kernels.Linear() * (kernels.Gaussian(0.5) + 1.0),
        kernels.Gaussian(1.0) * kernels.Polynomial(2),
        kernels.Matern52(0.3) * kernels.Laplacian(2.0) + 1.0,
        kernels.Normalized(kernels.Polynomial(3, offset=0.0)),
        kernels.Normalized(kernels.Linear()),
        kernels.Normalized(kernels.Gaussian(1.0) + kernels.Normalized(kernels.Polynomial(2))),
        kernels.RationalQuadratic(1.0, alpha=0.5),
        kernels.Polynomial(degree=7, gamma=0.1, offset=0.0),
        kernels.Linear(),
        kernels.Constant(1.0),
        kernels.SinglePrecision(kernels.Matern52(0.3)),
        kernels.SinglePrecision(kernels.Normalized(kernels.Polynomial(2)) + 1.0),
    ]
)
SMALL_STEPS = st.sampled_from([0.2, 0.5, 1.0, 1.9, 1e-3, 1e-300])
# Where the loss is not curved every step is stable
STEPS = SMALL_STEPS | st.sampled_from([6.0, 1e6, 1e30, 1e300])
BUDGETS = st.integers(1, 20)
MAYBE = st.none() | BUDGETS
ALPHAS = st.sampled_from([0.0, 1e-300, 1e-6, 0.01, 0.3])
COHERENCES = st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])
TOLERANCES = st.sampled_from([0.0, 1e-300, 1e-12, 1e-3, 0.01, 0.1, 1e3, 1e300])
RIDGES = st.sampled_from([0.0, 1e-300, 1e-6, 0.1, 10.0, 1e80])
WINDOW_RIDGES = st.sampled_from([1e-6, 0.1, 10.0, 1e20])
SCHEDULES = st.sampled_from(["constant", "diminishing", updates.Schedule(1.0, 3.0)])
RULES = {"budget": MAYBE, "compression": st.sampled_from(["least_cost", "oldest"])}
POLK = {
    "alpha": ALPHAS,
    "parsimony": st.sampled_from([0.0, 0.01, 0.05, 1.0, 1e10, 1e300]),
    "schedule": SCHEDULES,
    "batch_size": st.sampled_from([1, 1, 2, 7]),
    "budget": MAYBE,
    "average": st.sampled_from([False, True, 5]),
    "maintenance": st.sampled_from(["merge", "projection"]),
    "neighbors": st.sampled_from([0, 0, 5]),
}
ATOMS = {
    "n_components": st.integers(1, 6),
    "alpha": st.sampled_from([0.0, 1e-300, 1e-6, 0.05, 1.0, 1e300]),
    "penalty": st.sampled_from([0.0, 1e-300, 0.1, 1e10]),
    "step_size": st.sampled_from([1e-300, 0.01, 0.5, 1e10]),
    "schedule": SCHEDULES | st.just("held"),
    "update": st.sampled_from(["parameter", "feature"]),
    "admission": st.sampled_from(["coherence", "reconstruction", "always", "never"]),
    "coherence": COHERENCES,
    "tolerance": TOLERANCES,
    "budget": BUDGETS,
    "init_scale": st.sampled_from([0.0, 1e-300, 0.1, 1e10]),
}
PARAMETERS = {
    parsimon.KNLMSRegressor: {"step_size": st.sampled_from([0.2, 1.0, 1.9]),
        "coherence": COHERENCES, "ridge": RIDGES, **RULES},
    parsimon.KAPRegressor: {"step_size": st.sampled_from([0.2, 1.0, 1.9]),
        "order": st.sampled_from([1, 2, 7]), "coherence": COHERENCES, "ridge": RIDGES, **RULES},
    parsimon.KLMSRegressor: {"step_size": SMALL_STEPS,
        "quantization": st.sampled_from([0.0, 0.3, 1e200]), **RULES},
    parsimon.NORMARegressor: {"step_size": SMALL_STEPS, "alpha": ALPHAS, **RULES},
    parsimon.KRLSRegressor: {
        "admission": st.sampled_from(["ald", "coherence"]),
        "tolerance": TOLERANCES,
        "coherence": COHERENCES,
        "ridge": RIDGES,
        "forgetting": st.sampled_from([1.0, 0.99, 0.1]),
        "penalty": st.sampled_from(["values", "values", "norm"]),
        "budget": MAYBE,
        "eviction": st.sampled_from(["refit", "project"]),
    },
    parsimon.KRLSTRegressor: {
        "forgetting": st.sampled_from([1.0, 0.99, 0.1]),
        "noise": st.sampled_from([1e-6, 0.1, 10.0, 1e20]),
        "jitter": st.sampled_from([1e-8, 1e-6, 0.1, 1e20]),
        "budget": MAYBE,
    },
    parsimon.SWKRLSRegressor: {"ridge": WINDOW_RIDGES, "budget": MAYBE},
    parsimon.FBKRLSRegressor: {"ridge": WINDOW_RIDGES, "budget": MAYBE},
    parsimon.EXKRLSRegressor: {
        "transition": st.sampled_from([1.0, 0.9, 0.1]),
        "forgetting": st.sampled_from([1.0, 0.99, 0.1]),
        "ridge": WINDOW_RIDGES,
        "state_noise": st.sampled_from([0.0, 1e-300, 1e-3, 1.0, 1e20]),
        "budget": MAYBE,
    },
    parsimon.SPLRegressor: {
        "step_size": SMALL_STEPS,
        "admission": st.sampled_from(["residual", "coherence"]),
        "tolerance": TOLERANCES,
        "coherence": COHERENCES | st.just("adaptive"),
        "budget": MAYBE,
        "removal": st.sampled_from(["older", "cheaper"]),
    },
    parsimon.POLKRegressor: {
        "loss": st.sampled_from([*losses.REGRESSION, losses.Quantile(0.9), losses.Huber(1e-300),
            losses.Huber(1e20)]),
        "step_size": STEPS,
        **POLK,
    },
    parsimon.POLKClassifier: {"loss": st.sampled_from(sorted(losses.CLASSIFICATION)),
        "step_size": STEPS, **POLK},
    parsimon.BSGDClassifier: {
        "step_size": STEPS,
        "alpha": ALPHAS,
        "schedule": st.sampled_from(["constant", "pegasos"]),
        "budget": BUDGETS,
        "maintenance": st.sampled_from(["merge", "projection", "removal"]),
        "batch_size": st.sampled_from([1, 1, 2, 7]),
    },
    parsimon.SOGSVR: {
        "bias": st.sampled_from([0.0, 1e-200, 0.1, 1e3, 1e40]),
        "epsilon": st.sampled_from([0.0, 0.1, 1e3, 1e300]),
        "tolerance": TOLERANCES,
        "step": st.sampled_from(["error", "dual"]),
        "ridge": RIDGES,
        "box": st.sampled_from([None, 0.5, 1e-300, 1e200]),
        "budget": MAYBE,
    },
    parsimon.SOGSVC: {
        "bias": st.sampled_from([0.0, 1e-200, 0.1, 1e3, 1e40]),
        "tolerance": TOLERANCES,
        "step": st.sampled_from(["error", "dual"]),
        "ridge": RIDGES,
        "box": st.sampled_from([None, 0.5, 1e-300, 1e200]),
        "budget": MAYBE,
    },
    parsimon.KernelDictionaryLearning: ATOMS,
    parsimon.KernelDictionaryClassifier: ATOMS,
}  # fmt: skip


@st.composite
def models(draw, cls, row_by_row=False):
    """An estimator that has learned nothing.

    Some parameters do not go together, and the first block is refused then. `row_by_row`: nothing
    depends on how rows are cut into blocks.
    """
    options = {name: draw(values) for name, values in PARAMETERS[cls].items()}
    if draw(st.booleans()):
        options["kernel"] = draw(OBJECTS)
    else:
        options["kernel"] = draw(st.sampled_from(sorted(kernels.KERNELS)))
        options["gamma"] = draw(GAMMAS if row_by_row else GAMMAS | MEASURED)
    if row_by_row:
        options.pop("batch_size", None)
    if "random_state" in cls._get_param_names():
        options["random_state"] = 0
    if "class_weight" in cls._get_param_names():
        options["class_weight"] = draw(
            st.sampled_from([None, None, "balanced", {0: 3.0, "a": 1e-3}, {0: 0.0, True: 1e20}])
        )
    return cls(**options)


def classifies(model):
    return bool(is_classifier(model))


def takes_weights(model):
    return has_fit_parameter(model, "sample_weight")


def unbounded(model):
    """Whether the kernel's values overflow at the ends of the range of numbers."""
    # The sum is one of bounded kernels
    bounded = (str, kernels.RationalQuadratic, kernels.Constant, kernels.Sum)
    return model.kernel in ("linear", "polynomial") or not isinstance(model.kernel, bounded)


# Streams

# Fmt: skip
SPECIAL = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.3e-308,
    1e-300,
    1e-162,
    1e-101,
    1e-50,
    1e-20,
    1e-8,
    1.0,
    -1.0,
    1 + 2.3e-16,
    3.0,
    1e4,
    1e13,
    1e20,
    9e39,
    1e41,
    1e77,
    1e154,
    -1e155,
    1e300,
    LARGEST,
    -LARGEST,
]
NUMBERS = (
    st.sampled_from(SPECIAL) | st.floats(-4, 4) | st.floats(allow_nan=False, allow_infinity=False)
)
TARGETS = (
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e50, -1e50, 1e100, -1e100])
    | st.floats(-4, 4)
    | NUMBERS
)
WEIGHTS = st.sampled_from([1.0, 0.0, 0.5, 3.0, 1e-20, 1e20, 1e-5, 1e5])


def spiral(rng, n, d):
    angle = 0.5 * np.arange(n)
    X = np.zeros((n, d))
    X[:, 0], X[:, -1] = 1.05**angle * np.cos(angle), 1.05**angle * np.sin(angle)
    return X


def bisected(rng, n, d):
    """A point approached again and again, by half the distance that is left: Gram matrices as near
    to singular as there are.
    """
    return rng.normal(size=d) + 0.5 ** (np.arange(n) % 60)[:, np.newaxis]


def ulps(rng, n, d):
    x = rng.normal(size=d)
    return np.where(rng.random((n, d)) < 0.5, x, np.nextafter(x, np.inf))


def constant_features(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:, 1:] = 7.0
    return X


#: name: rows (n, d) around the size of 1. They are scaled afterwards.
PATTERNS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "copies": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "ulps": ulps,
    "few": lambda rng, n, d: rng.normal(size=(4, d))[rng.integers(4, size=n)],
    "constant features": constant_features,
    "zeros": lambda rng, n, d: np.where(rng.random((n, d)) < 0.5, 0.0, -0.0),
    "sorted": lambda rng, n, d: np.sort(rng.normal(size=(n, d)), axis=0),
    "spiral": spiral,
    "geometric": lambda rng, n, d: 2.0 ** (np.arange(n) % 900 - 450.0)[:, np.newaxis] * np.ones(d),
    "bisected": bisected,
    "far clusters": lambda rng, n, d: (
        rng.normal(size=(n, d)) + 1e6 * (np.arange(n) % 2)[:, np.newaxis]
    ),
    "collinear": lambda rng, n, d: rng.normal(size=(n, 1)) * rng.normal(size=d),
    "lattice": lambda rng, n, d: rng.integers(-2, 3, size=(n, d)).astype(float),
    "all scales": lambda rng, n, d: (
        rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-300, 300, size=(n, d))
    ),
    "denormal": lambda rng, n, d: rng.integers(-3, 4, size=(n, d)) * 5e-324,
}
SCALES = st.sampled_from(
    [1.0] * 6 + [1e-300, 1e-160, 1e-60, 1e-20, 1e-3, 1e3, 1e12, 1e30, 1e70, 1e150, 1e300]
)


def finite(X):
    return np.clip(np.nan_to_num(X, nan=0.0), -LARGEST, LARGEST)


@st.composite
def points(draw, d, most=60):
    """Finite rows (n, d)."""
    if d <= 4 and draw(st.booleans()):
        return draw(arrays(np.float64, (draw(st.integers(1, 6)), d), elements=NUMBERS))
    make = PATTERNS[draw(st.sampled_from(sorted(PATTERNS)))]
    n, scale = draw(st.integers(1, most)), draw(SCALES)
    with np.errstate(over="ignore", under="ignore"):
        return finite(scale * make(np.random.default_rng(draw(st.integers(0, 99))), n, d))


@st.composite
def targets(draw, n):
    kind = draw(st.sampled_from(["each", "one", "signs", "normal", "outputs"]))
    if kind == "each":
        return draw(arrays(np.float64, n, elements=TARGETS, fill=TARGETS))
    size = draw(st.sampled_from([0.0, 1.0, 1e-300, 1e30, 1e99]))
    noise = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n, 2))
    return {
        "one": np.full(n, size),
        "signs": size * (-1.0) ** np.arange(n),
        "normal": size * noise[:, 0],
        "outputs": size * noise,
    }[kind]


#: Labels of one kind each; a model meets one kind.
LABELS = [
    np.array([False, True]),
    np.array([-128, 0, 127], dtype=np.int8),
    np.array([0, 255], dtype=np.uint8),
    np.array([-(2**63), -1, 2**63 - 1]),
    np.array([0, 2**64 - 1], dtype=np.uint64),
    np.array([0, 1, 2, 3]),
    np.array([7]),
    np.array([-1.0, -0.0, 1e15]),
    np.array([0.0, 2.0], dtype=np.float32),
    np.array(["", "a", "dünn", "日本", "a b\n"]),
    np.array(["no", "yes"], dtype=object),
]


@st.composite
def labels(draw, n, kind):
    """Labels (n,) of one kind; classes may be met late, or be one only."""
    few = draw(st.integers(1, len(kind)))
    return kind[:few][np.random.default_rng(draw(st.integers(0, 99))).integers(few, size=n)]


# What spoils a call

#: What makes of rows (n, d), of numbers (n,) and of labels (n,) something that is none.
BAD_POINTS = {
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: X[:, :, np.newaxis],
    "a number": lambda X: 3.0,
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "ragged": lambda X: [[1.0], [2.0, 3.0]],
    "complex": lambda X: X + 1j,
    "words": lambda X: [["word"] * X.shape[1]] * len(X),
    "sparse": lambda X: csr_array(np.ones(X.shape)),
    "nothing": lambda X: None,
    "a dict": lambda X: {"a": 1.0},
    "masked": lambda X: np.ma.masked_array(X, mask=np.ones(X.shape, dtype=bool)),
    "dates": lambda X: np.full(X.shape, "2020-01-01", dtype="M8[D]"),
    "beyond all doubles": lambda X: [[10**400] * X.shape[1]] * len(X),
}
BAD_NUMBERS = {
    "one too few": lambda y: y[1:],
    "three dimensions": lambda y: np.zeros((len(y), 1, 1)),
    "ragged": lambda y: [[1.0], [2.0, 3.0]],
    "complex": lambda y: np.ones(len(y)) + 1j,
    "words": lambda y: ["word"] * len(y),
    "a dict": lambda y: {"a": 1.0},
    "sparse": lambda y: csr_array(np.ones((len(y), 1))),
    "masked": lambda y: np.ma.masked_array(np.ones(len(y)), mask=np.ones(len(y), dtype=bool)),
    "dates": lambda y: np.full(len(y), "2020-01-01", dtype="M8[D]"),
    "beyond all doubles": lambda y: [10**400] * len(y),
}
BAD_LABELS = {
    "one too few": lambda y: y[1:],
    "nothing": lambda y: None,
    "two columns": lambda y: np.zeros((len(y), 2), dtype=int),
    "ragged": lambda y: [[1.0], [2.0, 3.0]],
    "complex": lambda y: np.ones(len(y)) + 1j,
    "fractions": lambda y: np.arange(len(y)) + 0.5,
    "None": lambda y: [None] * len(y),
    "bytes": lambda y: [b"a"] * len(y),
    "mixed": lambda y: np.array([None, 1, "a"] * len(y), dtype=object)[: len(y)],
    "sets": lambda y: [{1}] * len(y),
    "dates": lambda y: np.full(len(y), "2020-01-01", dtype="M8[D]"),
    "long doubles": lambda y: np.ones(len(y), dtype=np.longdouble),
    "records": lambda y: np.zeros(len(y), dtype=[("a", int)]),
    "masked": lambda y: np.ma.masked_array(
        np.ones(len(y), dtype=int), mask=np.ones(len(y), dtype=bool)
    ),
}
#: And of one row (d,), one target, one label.
BAD_ROWS = {
    "two dimensions": lambda x: x[np.newaxis],
    "complex": lambda x: x + 1j,
    "words": lambda x: ["word"] * len(x),
    "a number": lambda x: 3.0,
    "nothing": lambda x: None,
    "masked": lambda x: np.ma.masked_array(x, mask=np.ones(x.shape, dtype=bool)),
    "beyond all doubles": lambda x: [10**400] * len(x),
}
BAD_TARGETS = {
    "a matrix": lambda y: np.zeros((1, 1, 1)),
    "complex": lambda y: 1j,
    "a word": lambda y: "word",
    "nothing": lambda y: None,
    "beyond all doubles": lambda y: 10**400,
}
BAD_LABEL = {
    "a list": lambda y: [1, 2],
    "complex": lambda y: 1j,
    "a fraction": lambda y: 0.5,
    "NaN": lambda y: np.nan,
    "nothing": lambda y: None,
    "bytes": lambda y: b"a",
}


# Calls

BLOCKS = (
    "partial_fit",
    "partial_fit",
    "partial_fit",
    "fit",
    "predict_then_learn",
    "learning_costs",
)
READING = (
    "predict",
    "decision_function",
    "predict_proba",
    "transform",
    "score_samples",
    "reconstruction_errors",
)
ONE = ("learn_one", "predict_one")
OTHER = ("set_budget", "ascend", "compress")
COPIES = ("deepcopy", "pickle", "file")


@dataclass
class Call:
    """A method and its arguments.

    A call may be refused; one that was `spoilt` must be, and if it would have been accepted as it
    was, its message must have the pattern `names` in it.
    """

    method: str
    args: dict[str, Any]
    spoilt: dict[str, Any] | None = None
    names: str = ""


@st.composite
def calls(draw, model, d, kind, most, methods=(*BLOCKS, *READING, *ONE, *OTHER, *COPIES)):
    """One call of a method that a model of d features has."""
    method = draw(st.sampled_from([m for m in methods if m in COPIES or hasattr(model, m)]))
    if method in OTHER:
        return Call(method, {"n_steps" if method == "ascend" else "budget": draw(BUDGETS)})
    if method in COPIES:
        return Call(method, {})
    X = draw(points(d, most))
    learns = method in BLOCKS or method == "learn_one"
    args = {"X": X}
    if learns and not isinstance(model, parsimon.KernelDictionaryLearning):
        if classifies(model) and draw(st.integers(0, 9)) == 0:
            kind = draw(st.sampled_from(LABELS))
        args["y"] = draw(labels(len(X), kind) if classifies(model) else targets(len(X)))
    if learns and takes_weights(model) and draw(st.integers(0, 3)) == 0:
        args["sample_weight"] = draw(arrays(np.float64, len(X), elements=WEIGHTS, fill=WEIGHTS))
    if method == "partial_fit" and classifies(model) and draw(st.integers(0, 9)) == 0:
        args["classes"] = kind
    if method in ONE:
        args = {{"X": "x"}.get(name, name): value[0] for name, value in args.items()}
    return (
        spoil(draw, model, Call(method, args))
        if draw(st.integers(0, 3)) == 0
        else Call(method, args)
    )


def spoil(draw, model, call):
    """The same call, such that it must be refused."""
    name = draw(st.sampled_from(sorted(call.args.keys() - {"classes"})))
    value, block = call.args[name], call.method not in ONE
    if (
        isinstance(value, float | np.ndarray)
        and np.asarray(value).dtype == np.float64
        and draw(st.booleans())
    ):
        bad = np.array(value)
        at = tuple(draw(st.integers(0, size - 1)) for size in bad.shape)
        bad[at] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
        row, column = (at[0] if block else 0), (at[-1] if len(at) == (2 if block else 1) else None)
        names = rf"row {row}\b" + (rf", column {column}\b" if name in ("X", "x") else "")
        if name == "sample_weight" and not block:
            names = "sample_weight"
        return Call(
            call.method, call.args, {**call.args, name: bad if bad.ndim else float(bad)}, names
        )
    if name == "X" and unbounded(model) and draw(st.booleans()):
        bad, row = np.array(value), draw(st.integers(0, len(value) - 1))
        bad[row] = LARGEST
        return Call(call.method, call.args, {**call.args, name: bad}, rf"row {row}\b|gamma=")
    made = {
        "X": BAD_POINTS,
        "x": BAD_ROWS,
        "y": (BAD_LABELS if block else BAD_LABEL)
        if classifies(model)
        else (BAD_NUMBERS if block else BAD_TARGETS),
        "sample_weight": BAD_NUMBERS if block else BAD_TARGETS,
    }[name]
    return Call(
        call.method,
        call.args,
        {**call.args, name: made[draw(st.sampled_from(sorted(made)))](value)},
    )


@dataclass
class Case:
    model: Any
    calls: list[Call]


@st.composite
def cases(draw, cls, most=60, length=8):
    model, d = draw(models(cls)), draw(st.sampled_from([1, 2, 3, 9]))
    kind = draw(st.sampled_from(LABELS))
    first = draw(st.lists(calls(model, d, kind, most, BLOCKS), max_size=1))
    one = st.sampled_from([d] * 9 + [d + 1]).flatmap(lambda d: calls(model, d, kind, most))
    return Case(model, first + draw(st.lists(one, min_size=1, max_size=length)))


# A block is its rows


@st.composite
def blocks(draw, cls, most=60):
    """A model and the arguments of its first `partial_fit`."""
    model, X = (
        draw(models(cls, row_by_row=True)),
        draw(points(draw(st.sampled_from([1, 2, 3, 9])), most)),
    )
    args = {"X": X}
    if not isinstance(model, parsimon.KernelDictionaryLearning):
        args["y"] = draw(
            labels(len(X), draw(st.sampled_from(LABELS))) if classifies(model) else targets(len(X))
        )
    if takes_weights(model) and draw(st.integers(0, 3)) == 0:
        args["sample_weight"] = draw(arrays(np.float64, len(X), elements=WEIGHTS, fill=WEIGHTS))
    return model, args


# The same values in another form


def strided(A):
    room = np.zeros([2 * size for size in A.shape], dtype=A.dtype)
    view = room[tuple(slice(None, None, 2) for _ in A.shape)]
    view[...] = A
    return view


def read_only(A):
    A = A.copy()
    A.setflags(write=False)
    return A


def mapped(A):
    with tempfile.NamedTemporaryFile() as file:
        result = np.memmap(file.name, dtype=A.dtype, mode="w+", shape=A.shape)
    result[...] = A
    return result


FORMS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda A: np.flip(np.flip(A).copy()),
    "transposed": lambda A: A.T.copy().T,
    "read-only": read_only,
    "mapped": mapped,
    "list": lambda A: A.tolist(),
    "tuple of rows": tuple,
    "swapped bytes": lambda A: A.astype(A.dtype.newbyteorder()),
    "nothing masked": np.ma.masked_array,
    "pandas": lambda A: (pd.DataFrame if A.ndim == 2 else pd.Series)(A),
    "pandas, named": lambda A: pd.DataFrame(A,
        columns=[f"x{i}" for i in range(A.shape[1])]) if A.ndim == 2 else pd.Series(A),
    "polars": lambda A: pl.from_numpy(A.copy()) if A.ndim == 2 else pl.Series(A.tolist()),
}  # fmt: skip
DTYPES = [np.float64, np.float32, np.float16, np.longdouble, np.int64, np.int8, np.uint8, np.bool_]


def narrowed(A, dtype):
    """Values of a type, near those of A."""
    if dtype == np.bool_:
        return A > 0
    room = np.finfo(dtype) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype)
    largest = min(float(room.max), LARGEST if np.issubdtype(dtype, np.floating) else 2.0**62)
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(A, max(float(room.min), -largest), largest).astype(dtype)


@st.composite
def forms(draw, cls):
    """A model, a block of some type, and the name of a form."""
    model, args = draw(blocks(cls, most=12))
    if classifies(model) and np.asarray(args["y"].tolist()).dtype.kind not in (
        args["y"].dtype.kind,
        "U",
    ):
        args["y"] = np.arange(len(args["y"])) % 3  # a list of those is something else to NumPy
    dtype = draw(st.sampled_from(DTYPES))
    numbers = ["X"] if classifies(model) else sorted(args.keys() - {"sample_weight"})
    form = draw(st.sampled_from(sorted(FORMS)))
    if dtype == np.longdouble and form == "polars":
        form = "list"
    return model, args | {name: narrowed(args[name], dtype) for name in numbers}, form
