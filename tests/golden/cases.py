"""Models whose every bit is on record: each estimator, kernel and loss, with every parameter given.

`record.py` writes what they compute and some of their files; `test_golden.py` computes it again.
The record was made once, by an earlier version. It is not to be made again to make a test pass.
"""

import hashlib

import numpy as np

import parsimon
from parsimon import kernels, losses, updates
from parsimon.persistence import dumps, loads
from parsimon.tables import TableModel

#: What the parameters on record can name.
NAMES = {
    **{name: getattr(kernels, name) for name in kernels.__all__},
    **{name: getattr(losses, name) for name in losses.__all__ if name[0].isupper()},
    "Schedule": updates.Schedule,
    "inf": np.inf,
}

KERNELS = [
    kernels.Gaussian(0.7),
    kernels.Laplacian(0.4),
    kernels.Matern32(0.6),
    kernels.Matern52(0.3),
    kernels.RationalQuadratic(1.0, alpha=0.5),
    kernels.Polynomial(3, gamma=0.2, offset=1.0),
    kernels.Linear() + kernels.Constant(0.5),
    0.3 * kernels.Gaussian(0.5) * kernels.Polynomial(2) + 1.0,
    kernels.Normalized(kernels.Polynomial(2)),
    kernels.SinglePrecision(kernels.Gaussian(0.7)),
]


def models():
    """Yield names and estimators that have learned nothing."""
    G, E = kernels.Gaussian(0.7), parsimon
    yield "knlms", E.KNLMSRegressor(kernel=G, step_size=0.4, coherence=0.6, ridge=0.01, budget=12)
    yield (
        "knlms-oldest",
        E.KNLMSRegressor(kernel=G, step_size=0.4, coherence=0.8, budget=10, compression="oldest"),
    )
    yield "klms", E.KLMSRegressor(kernel=G, step_size=0.3, budget=15)
    yield "klms-quantized", E.KLMSRegressor(kernel=G, step_size=0.3, quantization=0.3, budget=15)
    yield "norma", E.NORMARegressor(kernel=G, step_size=0.5, alpha=0.01, budget=20)
    for admission in ("ald", "coherence"):
        for forgetting, budget in ((1.0, None), (0.98, 12)):
            yield (
                f"krls-{admission}-{'budget' if budget else 'all'}",
                E.KRLSRegressor(
                    kernel=G,
                    admission=admission,
                    tolerance=0.02,
                    coherence=0.7,
                    ridge=0.05,
                    forgetting=forgetting,
                    budget=budget,
                ),
            )
    yield (
        "spl",
        E.SPLRegressor(kernel=G, step_size=0.5, admission="residual", tolerance=0.02, budget=20),
    )
    for coherence, removal in ((0.7, "older"), (0.9, "cheaper"), ("adaptive", "older")):
        yield (
            f"spl-{coherence}-{removal}",
            E.SPLRegressor(
                kernel=G,
                step_size=0.5,
                admission="coherence",
                coherence=coherence,
                budget=12,
                removal=removal,
            ),
        )
    for loss in losses.REGRESSION:
        yield (
            f"polk-{loss}",
            E.POLKRegressor(kernel=G, loss=loss, step_size=0.3, parsimony=0.1, budget=25),
        )
    for loss in losses.CLASSIFICATION:
        yield (
            f"polk-{loss}",
            E.POLKClassifier(kernel=G, loss=loss, step_size=0.8, parsimony=0.05, budget=25),
        )
    yield (
        "polk-batches-mean",
        E.POLKClassifier(
            kernel=G,
            loss="logistic",
            step_size=2.0,
            parsimony=0.05,
            alpha=1e-3,
            batch_size=8,
            average=20,
            budget=30,
        ),
    )
    for maintenance in ("merge", "projection", "removal"):
        yield (
            f"bsgd-{maintenance}",
            E.BSGDClassifier(kernel=G, step_size=0.5, budget=15, maintenance=maintenance),
        )
    for step in ("error", "dual"):
        yield f"sogsvr-{step}", E.SOGSVR(kernel=G, tolerance=0.05, epsilon=0.05, step=step)
        yield f"sogsvc-{step}", E.SOGSVC(kernel=G, tolerance=0.05, step=step, box=2.0)
    for update in ("parameter", "feature"):
        yield (
            f"atoms-{update}",
            E.KernelDictionaryLearning(
                4,
                kernel=G,
                alpha=0.05,
                update=update,
                admission="coherence",
                coherence=0.8,
                budget=15,
                random_state=0,
            ),
        )
    yield "atoms-classes", E.KernelDictionaryClassifier(3, kernel=G, budget=8, random_state=0)
    for i, kernel in enumerate(KERNELS):
        yield f"kernel-{i}", E.KRLSRegressor(kernel=kernel, tolerance=0.02, ridge=0.05, budget=20)
        yield f"kernel-{i}-klms", E.KLMSRegressor(kernel=kernel, step_size=0.01, budget=20)


def data(model, n=240):
    """Return inputs and targets."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    if (
        hasattr(model, "predict_proba")
        or "Classifier" in type(model).__name__
        or "SVC" in type(model).__name__
    ):
        return X, np.digitize(y, [-0.4, 0.4])
    if getattr(model, "loss", None) == "poisson":
        return X, np.abs(y)
    return X, y


def learn(model, X, y):
    """Go on learning."""
    return (
        model.partial_fit(X)
        if isinstance(model, parsimon.KernelDictionaryLearning)
        else model.partial_fit(X, y)
    )


def seen(model, X):
    """Return what a model says of rows, as arrays by name."""
    names = ("predict", "decision_function", "transform")
    return {name: np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)}


def digest(arrays):
    """Return a hash of arrays by name."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {value.dtype.str} {value.shape}".encode() + value.tobytes())
    return found.hexdigest()


#: Arrays that models keep since the record was made, beside those on record.
LATER = {"update.noise.means", "update.noise.counts"}


def state_digest(model):
    """Return a hash of the arrays that a model keeps, without those that came later."""
    learned = model.__getstate__()["_learned"]
    parts = learned.values() if isinstance(learned, dict) else [learned]
    found = {}
    for i, part in enumerate(parts):
        for value in part:
            if isinstance(value, dict):
                found |= {
                    f"{i}.{name}": v
                    for name, v in value.items()
                    if isinstance(v, np.ndarray) and name not in LATER
                }
    return digest(found)


def trace(model):
    """Learn a stream in two halves, the second from a file, and return what is recorded."""
    X, y = data(model)
    half = len(X) // 2
    grid = np.random.default_rng(1).uniform(-2, 2, size=(20, 2))
    learn(model, X[:half], y[:half])
    first, stored = seen(model, grid), dumps(model)
    again = loads(stored)
    learn(again, X[half:], y[half:])
    last = seen(again, grid)
    return {
        "predictions": [digest(first), digest(last)],
        "state": [state_digest(model), state_digest(again)],
        "values": start(last),
    }, stored


def start(found):
    """Return the first numbers of what a model says, for comparison where bits differ."""
    return [round(float(v), 9) for v in np.ravel(found[sorted(found)[0]].astype(np.float64))[:5]]


#: Pairs of models that were learned on halves of the data, by the name of the estimator and what
#: merging is given.
MERGES = {
    "knlms": {},
    "norma": {},
    "krls-ald-all": {"budget": 20},
    "krls-ald-budget": {"weights": "information"},
    "krls-coherence-all": {},
    "spl-0.7-older": {"tolerance": 0.1},
    "polk-logistic": {"budget": 20},
    "polk-batches-mean": {},
    "bsgd-merge": {},
    "sogsvr-error": {"budget": 15},
    "sogsvc-dual": {},
}


def merged(model, options):
    """Return what a merge of two halves predicts, and predicts after it went on learning; and its
    distance.
    """
    X, y = data(model)
    parts = [learn(loads(dumps(model)), X[i::2], y[i::2]) for i in range(2)]
    grid = np.random.default_rng(1).uniform(-2, 2, size=(20, 2))
    result = parsimon.merge(parts, **options)
    values = [result.distance, *np.ravel(function(result.model, grid))]
    learn(result.model, X[:60], y[:60])
    return [float(v) for v in (*values, *np.ravel(function(result.model, grid)))]


def function(model, X):
    """Return f."""
    return np.asarray(
        model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    )


def tables():
    """Yield names and models of tables, one of each task, with the algorithm given."""
    yield (
        "table-regression",
        TableModel("y", task="regression", algorithm="krls", budget=20, warmup=50),
    )
    yield (
        "table-classification",
        TableModel("y", task="classification", algorithm="default", budget=30, warmup=50),
    )


def table_rows(model, n=300):
    """Return columns of numbers, text and dates, with a target."""
    rng = np.random.default_rng(2)
    x, shop = rng.normal(size=n), rng.choice(["town", "village", ""], size=n)
    days = np.datetime64("2024-01-01") + np.arange(n)
    y = np.sin(2 * x) + (shop == "town") + 0.1 * rng.normal(size=n)
    if model.task == "classification":
        y = np.where(y > 0.5, "high", "low")
    return {"x": x, "shop": shop, "day": days.astype("datetime64[us]"), "y": y}


def table_trace(model):
    """Learn half of a table, and the rest from a file."""
    rows = table_rows(model)
    halves = [
        {name: column[part] for name, column in rows.items()}
        for part in (slice(150), slice(150, None))
    ]
    first = model.learn(halves[0])
    stored = dumps(model)
    again = loads(stored)
    found = {
        "first": first,
        "last": again.learn(halves[1]),
        "total": np.array(sorted(again.metrics_.total().items())),
    }
    return {"predictions": [digest(found)], "total": again.metrics_.total()}, stored
