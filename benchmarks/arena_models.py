"""The default of `TableModel`, the default of earlier versions, and simple baselines."""

from __future__ import annotations

import time
from contextlib import contextmanager

import numpy as np
from arena_scores import Run
from sklearn.linear_model import SGDClassifier

from parsimon.estimators import POLKClassifier, published
from parsimon.evaluation import METRICS
from parsimon.mixtures import CandidateClassifier
from parsimon.preprocessing import TableEncoder
from parsimon.tables import TableModel

__all__ = ["BASELINES", "SIMPLE", "former", "former_options", "learn_table"]

BLOCK = 1000


def former_options(task):
    """Return the arguments of `TableModel` that give the default before the mixtures."""
    if task == "regression":
        return {"algorithm": "krls"}
    candidates = [
        published(
            POLKClassifier,
            "laplacian",
            gamma="median",
            loss="logistic",
            step_size=eta,
            parsimony=0.001,
            budget=300,
        )
        for eta in (2.0, 0.5)
    ]
    return {"algorithm": CandidateClassifier(candidates, widths=[0.5, 2.0])}


def learn_table(stream, *, say=None, **options):
    """Learn a stream in blocks with `TableModel`, as `parsimon learn` does."""
    model = TableModel("y", task=stream.task, **options)
    n, wall, cpu = len(stream.y), 0.0, 0.0
    told = time.perf_counter()
    with _recorded() as kept:
        for first in range(0, n, BLOCK):
            block = stream.block(slice(first, first + BLOCK))
            begin = time.perf_counter(), time.process_time()
            model.learn(block)
            wall += time.perf_counter() - begin[0]
            cpu += time.process_time() - begin[1]
            if say is not None and time.perf_counter() - told > 15.0:
                told = time.perf_counter()
                say(f"{first + len(block['y'])} of {n} rows, {1e6 * wall / first:.0f} us per row")
        model.finish()
    run = _run(stream, kept)
    run.wall, run.cpu, run.nbytes = wall, cpu, int(model.nbytes_)
    run.hyperparameters = _parameters(model)
    return run


def former(stream, say=None):
    return learn_table(stream, say=say, **former_options(stream.task))


@contextmanager
def _recorded():
    """Yield a list to which every update of a table model's metrics is added."""
    kept, before = [], dict(METRICS)

    def recording(metrics):
        class Recording(metrics):
            def update(self, y, *found):
                kept.append((np.asarray(y), *found))
                return super().update(y, *found)

        return Recording

    METRICS.update({task: recording(metrics) for task, metrics in before.items()})
    try:
        yield kept
    finally:
        METRICS.update(before)


def _run(stream, kept):
    """Return the predictions of all rows. Before the first row nothing is known."""
    predictions = np.concatenate([np.asarray(values) for _, values, *_ in kept])
    if stream.task == "regression":
        predictions = predictions.astype(np.float64)
        predictions[0] = 0.0
        return Run(predictions)
    labels = np.unique(stream.y)
    found, first = np.zeros((len(stream.y), len(labels))), 0
    for y, values, *rest in kept:
        rows = np.arange(first, first + len(y))
        if rest and rest[0] is not None:
            found[np.ix_(rows, np.searchsorted(labels, rest[1]))] = rest[0]
        else:
            found[rows, np.searchsorted(labels, values)] = 1.0
        first += len(y)
    found[0] = 1.0 / len(labels)
    predictions[0] = labels[0]
    return Run(predictions, found)


def _parameters(model):
    """Return all parameters of a table model and its estimator, in words where need be."""
    own = {k: v for k, v in model.get_params(deep=False).items() if k != "task"}
    estimator = model.estimator_
    parts = {f"estimator__{k}": v for k, v in estimator.get_params(deep=False).items()}
    if hasattr(estimator, "_given"):
        parts["estimator__experts"] = [repr(expert) for expert in estimator._given()]
    simple = (str, int, float, bool, list, type(None))
    return {
        name: value if isinstance(value, simple) else repr(value)
        for name, value in {**own, **parts}.items()
    }


# Baselines: each takes a stream and returns a run


def frequencies(stream):
    """The running mean, or the frequencies of the labels so far."""
    y, n = stream.y, len(stream.y)
    if stream.task == "regression":
        return Run(np.append(0.0, np.cumsum(y)[:-1] / np.arange(1, n)))
    counts = _counts(y)
    return _classes(stream, np.where(counts > 0, counts + 1.0, 0.0))


def last(stream):
    """The last value. For classes: the last label, as likely as repeating was so far."""
    y = stream.y
    if stream.task == "regression":
        return Run(np.append(0.0, y[:-1]))
    n, counts = len(y), _counts(y)
    true = np.unique(y, return_inverse=True)[1]
    repeats = np.append(0.0, np.cumsum(true[1:] == true[:-1])[:-1])  # before rows 1, 2, ...
    share = (repeats + 1.0) / (np.arange(n - 1) + 2.0)
    others = np.where(counts > 0, counts + 1.0, 0.0)[1:]
    rows = np.arange(n - 1)
    others[rows, true[:-1]] = 0.0
    total = others.sum(axis=1, keepdims=True)
    found = np.divide(others, total, out=np.zeros_like(others), where=total > 0)
    found *= (1.0 - share)[:, np.newaxis]
    found[rows, true[:-1]] = share
    return _classes(stream, np.vstack([np.zeros(counts.shape[1]), found]))


def linear(stream):
    """Recursive least squares, or logistic regression by gradient steps, on standardised rows."""
    columns = {name: column for name, column in stream.block(slice(None)).items() if name != "y"}
    X = TableEncoder().learn_transform(columns)
    X = X if X.shape[1] else np.zeros((len(stream.y), 1))
    return _least_squares(X, stream.y) if stream.task == "regression" else _logistic(X, stream)


def _least_squares(X, y):
    Z = np.column_stack([X, np.ones(len(X))])
    weights = np.zeros(Z.shape[1])
    P = np.diag(np.append(np.ones(X.shape[1]), 1e6))  # ridge 1, nearly none for the constant
    found = np.empty(len(y))
    for i, z in enumerate(Z):
        found[i] = z @ weights
        Pz = P @ z
        gain = Pz / (1.0 + z @ Pz)
        weights += gain * (y[i] - found[i])
        P -= np.outer(gain, Pz)
    return Run(found)


def _logistic(X, stream):
    """A step of length 1 / (d + 1). Classes that were not seen yet get nothing."""
    labels, true = np.unique(stream.y, return_inverse=True)
    if len(labels) == 1:
        return _classes(stream, np.ones((len(X), 1)))
    model = SGDClassifier(
        loss="log_loss", learning_rate="constant", eta0=1.0 / (X.shape[1] + 1), random_state=0
    )
    found = np.zeros((len(X), len(labels)))
    for i in range(len(X)):
        row = X[i : i + 1]
        if i:
            found[i] = model.predict_proba(row)[0]
        model.partial_fit(row, true[i : i + 1], np.arange(len(labels)))
    return _classes(stream, np.where(_counts(stream.y) > 0, found + 1e-12, 0.0))


def _counts(y):
    """Return how often each label was seen before each row, (n, C)."""
    labels, true = np.unique(y, return_inverse=True)
    counts = np.cumsum(np.eye(len(labels))[true], axis=0)
    return np.vstack([np.zeros(len(labels)), counts[:-1]])


def _classes(stream, weights):
    """Return a run whose probabilities are in proportion to weights (n, C)."""
    labels = np.unique(stream.y)
    weights[0] = 1.0
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    return Run(labels[probabilities.argmax(axis=1)], probabilities)


#: Models that use no kernel.
SIMPLE = {"mean": frequencies, "last": last, "linear": linear}
#: All that stands beside the default.
BASELINES = {**SIMPLE, "former": former}
