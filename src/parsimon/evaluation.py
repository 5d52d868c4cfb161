"""Test-then-learn (prequential) evaluation: every row is predicted first and learned then, so every
row is a test row once.

>>> import numpy as np
>>> from parsimon import KNLMSRegressor
>>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
>>> trace = prequential(KNLMSRegressor(gamma=1.0), [(X, np.sin(X[:, 0]))])
>>> bool(trace.metrics.total()["relative_mse"] < 0.05), bool(trace.metrics.rolling()["r2"] > 0.99)
(True, True)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import NotFittedError

from parsimon import _schema
from parsimon._parts import lookup, whole
from parsimon._schema import Schema
from parsimon.estimators.classifier import StreamClassifier
from parsimon.persistence import Storable
from parsimon.preprocessing import MOMENTS, Moments, with_moments, with_plain_moments

__all__ = [
    "METRICS",
    "ClassificationMetrics",
    "Predictions",
    "RegressionMetrics",
    "Report",
    "Trace",
    "predict_then_learn",
    "prequential",
    "watch",
]

Array = NDArray[np.float64]
Labels = NDArray[Any]

#: The least probability that the logarithmic loss sees: no single row costs more than 13.8.
LEAST = 1e-6


class Predictions(NamedTuple):
    """What was predicted for the rows of a block, each before it was learned: (n,), and for classes
    the probabilities (n, C) with their labels (C,), where there are any.
    """

    values: Labels
    probabilities: Array | None = None
    classes: Labels | None = None


# Metrics


def _is_recent(value: Any, k: int) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim == 2
        and len(value) == k
    )


class _Metrics(Storable, BaseEstimator):  # type: ignore[misc]
    """Totals over a stream, and the same over its last `window` rows.

    The very first row is not scored: nothing could be known then.
    """

    n_rows_: int
    _recent: Array  # (k, up to window): what each of the last rows contributed

    def __init__(self, window: int = 1000) -> None:
        self.window = window

    def _begin(self) -> bool:
        """Make ready for a block; return whether it is the first."""
        whole("window", self.window, at_least=1)
        return not hasattr(self, "n_rows_")

    def _remember(self, rows: Array) -> None:
        self._recent = np.concatenate([self._recent, rows], axis=1)[:, -self.window :]

    @staticmethod
    def _sum(start: float, values: Array) -> float:
        """Return a sum in the order of the rows, so that it does not depend on how they were cut
        into blocks.
        """
        return float(np.add.accumulate(np.concatenate([[start], values]))[-1])

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return with_plain_moments(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        super().__setstate__(with_moments(state))

    def _require_sound(self) -> None:
        if hasattr(self, "n_rows_"):
            whole("window", self.window, at_least=1)
            if self._recent.shape[1] >= self.n_rows_:
                raise ValueError(f"it holds {self._recent.shape[1]} of {self.n_rows_ - 1} rows")


class RegressionMetrics(_Metrics):
    """Mean squared error, mean absolute error, R^2, and the squared error over the variance of the
    targets (`relative_mse` = 1 - R^2), in total and over the last `window` rows.

    >>> metrics = RegressionMetrics().update([1.0, 2.0, 4.0], [0.0, 2.0, 3.0])
    >>> metrics.total()
    {'rows': 2, 'mse': 0.5, 'mae': 0.5, 'r2': 0.5, 'relative_mse': 0.5}
    """

    _moments: Moments
    _squared: float
    _absolute: float
    _attributes = Schema(
        {
            "n_rows_": _schema.whole(1),
            "_squared": _schema.number(0, infinite=True),
            "_absolute": _schema.number(0, infinite=True),
            "_moments": MOMENTS,
            "_recent": lambda recent: _is_recent(recent, 3) and bool((recent[:2] >= 0).all()),
        },
        {},
    )

    def _require_sound(self) -> None:
        super()._require_sound()
        if hasattr(self, "n_rows_") and len(self._moments.count) != 1:
            raise ValueError("its running statistics are not those of one column")

    def update(self, y: ArrayLike, predictions: ArrayLike, *_: Any) -> RegressionMetrics:
        """Take the targets (n,) of a block and what was predicted for them."""
        y, f = np.asarray(y, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
        if not len(y):
            return self
        if self._begin():
            self.n_rows_, self._squared, self._absolute = 0, 0.0, 0.0
            self._moments, self._recent = Moments(1), np.empty((3, 0))
            y, f, self.n_rows_ = y[1:], f[1:], 1
        rows = np.array([(y - f) ** 2, np.abs(y - f), y])
        self._squared, self._absolute = (
            self._sum(self._squared, rows[0]),
            self._sum(self._absolute, rows[1]),
        )
        self._moments.learn(y[np.newaxis])
        self.n_rows_ += len(y)
        self._remember(rows)
        return self

    def total(self) -> dict[str, float]:
        """Return the metrics over all rows."""
        n = self.n_rows_ - 1 if hasattr(self, "n_rows_") else 0
        if n == 0:
            return _regression(0, 0.0, 0.0, 0.0)
        return _regression(
            n, self._squared / n, self._absolute / n, float(self._moments.now()[1][0, 0]) ** 2
        )

    def rolling(self) -> dict[str, float]:
        """Return the metrics over the last rows."""
        recent = getattr(self, "_recent", np.empty((3, 0)))
        if recent.shape[1] == 0:
            return _regression(0, 0.0, 0.0, 0.0)
        squared, absolute, y = recent
        return _regression(len(y), float(squared.mean()), float(absolute.mean()), float(y.var()))


def _regression(n: int, mse: float, mae: float, variance: float) -> dict[str, float]:
    relative = mse / variance if variance > 0 else np.nan
    mse, mae = (mse, mae) if n else (np.nan, np.nan)
    return {"rows": n, "mse": mse, "mae": mae, "r2": 1.0 - relative, "relative_mse": relative}


class ClassificationMetrics(_Metrics):
    """Accuracy, Cohen's kappa, kappa against repeating the last label, and the logarithmic loss
    where there are probabilities, in total and over the last `window` rows.

    ``kappa = (a - a_0) / (1 - a_0)`` for an accuracy a, where a_0 is the accuracy of guessing with
    the same frequencies; for `kappa_no_change` that of the classifier that repeats the last label
    (Bifet et al., *Pitfalls in benchmarking data stream classification and how to avoid them*, ECML
    2013): below 0, the stream is better predicted by doing nothing.

    >>> metrics = ClassificationMetrics().update(["a", "a", "b", "b", "a"], ["a", "a", "b", "b", "b"])
    >>> metrics.total()
    {'rows': 4, 'accuracy': 0.75, 'kappa': 0.5, 'kappa_no_change': 0.5, 'log_loss': nan}
    """

    _labels: list[Any]  # in the order they were met
    _table: NDArray[np.int64]  # (C, C): true by predicted
    _loss: float
    _losses: int
    _unchanged: int
    _last: int
    _attributes = Schema(
        {
            "n_rows_": _schema.whole(1),
            "_labels": _schema.listed(_schema.is_label),
            "_table": _schema.finite_array(None, None, least=0),
            "_loss": _schema.number(0),
            "_losses": _schema.whole(),
            "_unchanged": _schema.whole(),
            "_last": _schema.whole(),
            "_recent": lambda recent: _is_recent(recent, 4),
        },
        {},
    )

    def _require_sound(self) -> None:
        super()._require_sound()
        if not hasattr(self, "n_rows_"):
            return
        n, (true, predicted, losses, unchanged) = len(self._labels), self._recent
        places = np.concatenate([true, predicted, [self._last]])
        if (
            n == 0
            or len(set(self._labels)) != n
            or self._table.shape != (n, n)
            or self._table.dtype.kind != "i"
        ):
            raise ValueError("its table is not that of its labels")
        known = bool(((places >= 0) & (places < n)).all() and (places % 1 == 0).all())
        if not known or not np.isin(unchanged, (0, 1)).all():
            raise ValueError("its last rows are not those of its labels")
        if (losses < 0).any() or np.isinf(losses).any():
            raise ValueError("its losses are none")

    def update(
        self,
        y: ArrayLike,
        predictions: ArrayLike,
        probabilities: Array | None = None,
        classes: Labels | None = None,
    ) -> ClassificationMetrics:
        """Take the labels (n,) of a block, what was predicted for them, and the probabilities (n,
        C) of `classes` (C,), if there are any.
        """
        labels, found = np.asarray(y), np.asarray(predictions)
        if not len(labels):
            return self
        if self._begin():
            self.n_rows_, self._loss, self._losses, self._unchanged = 1, 0.0, 0, 0
            self._labels, self._table = labels[:1].tolist(), np.zeros((1, 1), dtype=np.int64)
            self._last, self._recent = 0, np.empty((4, 0))
            labels, found = labels[1:], found[1:]
            probabilities = None if probabilities is None else probabilities[1:]
        index = {label: i for i, label in enumerate(self._labels)}
        true = np.array(
            [index.setdefault(label, len(index)) for label in labels.tolist()], dtype=np.int64
        )
        predicted = np.array(
            [index.setdefault(label, len(index)) for label in found.tolist()], dtype=np.int64
        )
        self._labels = list(index)
        table = np.zeros((len(index), len(index)), dtype=np.int64)
        table[: len(self._table), : len(self._table)] = self._table
        np.add.at(table, (true, predicted), 1)
        self._table = table
        losses = np.full(len(true), np.nan)
        if probabilities is not None and classes is not None:
            losses = -np.log(np.clip(true_class(probabilities, classes, labels), LEAST, 1.0))
            self._loss, self._losses = self._sum(self._loss, losses), self._losses + len(losses)
        unchanged = true == np.concatenate([[self._last], true])[:-1]
        self._unchanged += int(unchanged.sum())
        self._last = int(true[-1]) if len(true) else self._last
        self.n_rows_ += len(true)
        self._remember(np.array([true, predicted, losses, unchanged], dtype=np.float64))
        return self

    @property
    def labels_(self) -> list[Any]:
        """The labels met so far, true or predicted, in the order they were met."""
        return list(getattr(self, "_labels", []))

    def total(self) -> dict[str, float]:
        """Return the metrics over all rows."""
        if not hasattr(self, "n_rows_"):
            return _classification(np.zeros((1, 1)), 0, np.nan)
        return _classification(
            self._table, self._unchanged, self._loss / self._losses if self._losses else np.nan
        )

    def rolling(self) -> dict[str, float]:
        """Return the metrics over the last rows."""
        if not hasattr(self, "n_rows_"):
            return self.total()
        true, predicted, losses, unchanged = self._recent
        table = np.zeros_like(self._table)
        np.add.at(table, (true.astype(np.int64), predicted.astype(np.int64)), 1)
        scored = losses[~np.isnan(losses)]
        return _classification(
            table, int(unchanged.sum()), float(scored.mean()) if len(scored) else np.nan
        )


def _classification(table: NDArray[Any], unchanged: int, loss: float) -> dict[str, float]:
    n = int(table.sum())
    if n == 0:
        return dict.fromkeys(
            ("rows", "accuracy", "kappa", "kappa_no_change", "log_loss"), np.nan
        ) | {"rows": 0}
    accuracy = float(np.trace(table)) / n
    chance = float((table.sum(axis=0) / n) @ (table.sum(axis=1) / n))
    kappas = [(accuracy - a) / (1.0 - a) if a < 1.0 else np.nan for a in (chance, unchanged / n)]
    return {
        "rows": n,
        "accuracy": accuracy,
        "kappa": kappas[0],
        "kappa_no_change": kappas[1],
        "log_loss": loss,
    }


def true_class(probabilities: Array, classes: Labels, labels: Labels) -> Array:
    """Return the probability (n,) that each row gave its own label; 0 for a label that it did not
    know.
    """
    column = {label: i for i, label in enumerate(classes.tolist())}
    places = np.array([column.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    padded = np.concatenate([probabilities, np.zeros((len(probabilities), 1))], axis=1)
    result: Array = padded[np.arange(len(places)), places]
    return result


#: The metrics of each task.
METRICS: dict[str, type[Any]] = {
    "regression": RegressionMetrics,
    "classification": ClassificationMetrics,
}


# Test, then learn


def predict_then_learn(
    model: Any, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
) -> Predictions:
    """Learn a block X (n, d), y (n,) with any model, and return what it predicted for each row
    before that.

    The estimators of parsimon take the block at once, which is the same as row by row. Models with
    `partial_fit` and `predict` (scikit-learn), or `learn_one` and `predict_one` (River), are given
    row after row, with `classes` in the first `partial_fit` if a classifier needs to be told. What
    a model that knows nothing predicts for its first row is the row's own target, which no metric
    counts.
    """
    labels = np.asarray(y)
    if not len(labels):
        return Predictions(labels)
    if hasattr(model, "predict_proba_then_learn"):
        P = model.predict_proba_then_learn(X, labels)
        return Predictions(
            np.where(P.any(axis=1), model.classes_[P.argmax(axis=1)], labels), P, model.classes_
        )
    if isinstance(model, StreamClassifier) and hasattr(model, "predict_proba"):
        P = stream_probabilities(model, X, labels)
        return Predictions(
            np.where(P.any(axis=1), model.classes_[P.argmax(axis=1)], labels), P, model.classes_
        )
    if hasattr(model, "predict_then_learn"):
        return Predictions(model.predict_then_learn(X, labels))
    rows = _Rows(model, classes)
    return Predictions(
        np.array(
            [rows.step(x, label) for x, label in zip(np.asarray(X), labels.tolist(), strict=True)]
        )
    )


def stream_probabilities(model: Any, X: ArrayLike, labels: Labels) -> Array:
    """Learn a block with a classifier of parsimon that has probabilities, and return those before
    each row, (n, C) as `classes_` is then; 0 for classes not known at that row.
    """
    first = model._first_rows(labels)
    known = len(getattr(model, "_index", {})) + np.searchsorted(
        first, np.arange(len(labels)), side="left"
    )
    F = model._before_and_learn(X, labels, None)
    unknown = np.arange(F.shape[1]) >= known[:, np.newaxis]
    F[unknown & (known > 0)[:, np.newaxis]] = -np.inf
    P = model._loss.probabilities(F)
    P[unknown] = 0.0
    result: Array = model._sorted(P)
    return result


class _Rows:
    """A model that takes one row at a time."""

    def __init__(self, model: Any, classes: ArrayLike | None) -> None:
        self.model, self.classes = model, classes
        if not (hasattr(model, "partial_fit") and hasattr(model, "predict")) and not hasattr(
            model, "learn_one"
        ):
            raise TypeError(
                f"{type(model).__name__} learns from no stream: it has neither partial_fit and predict nor learn_one and predict_one"
            )

    def step(self, x: Any, label: Any) -> Any:
        if not hasattr(self.model, "partial_fit"):
            features = dict(enumerate(x.tolist()))
            found = self.model.predict_one(features)
            self.model.learn_one(features, label)
            return label if found is None else found
        row = x[np.newaxis]
        try:
            found = self.model.predict(row)[0]
        except (NotFittedError, AttributeError):
            found = label
        if self.classes is None or not is_classifier(self.model):
            self.model.partial_fit(row, [label])
        else:
            self.model.partial_fit(row, [label], classes=self.classes)
        return found


@dataclass(frozen=True)
class Report:
    """How a stream stands: rows so far, seconds spent on them (reading not counted), centres,
    bytes, and the metrics in total and over the last rows.
    """

    rows: int
    seconds: float
    centers: int | None
    bytes: int | None
    total: dict[str, float]
    rolling: dict[str, float]

    @property
    def rows_per_second(self) -> float:
        """Rows predicted and learned in a second."""
        return self.rows / self.seconds if self.seconds > 0 else np.nan


@dataclass(frozen=True)
class Trace:
    """What `prequential` came to: the reports along the stream, the last of them at its end, and
    the metrics.
    """

    reports: list[Report]
    metrics: Any

    def plot(self, path: str | Path, *, title: str = "") -> Path:
        """Draw accuracy or error (rolling, and in total) and the centres against the rows; the
        suffix of `path` chooses the format.
        """
        from parsimon.plots.drawing import save
        from parsimon.plots.streams import trace_figure

        return save(trace_figure(self.reports, title), path)


def watch(
    model: Any,
    stream: Iterable[Any],
    *,
    every: int = 1000,
    window: int = 1000,
    task: str = "auto",
    classes: ArrayLike | None = None,
    metrics: Any = None,
) -> Iterator[Report]:
    """Yield a report at the end of each block in which another `every` rows became full, and one at
    the end of the stream. Parameters as in `prequential`.
    """
    whole("every", every, at_least=1)
    table = _is_table_model(model)
    if not table and metrics is None:
        metrics = METRICS[_task(model, task)](window)
    rows, seconds, told = 0, 0.0, 0
    report = _report(model, metrics, rows, seconds)
    for block in stream:
        start = time.perf_counter()
        if table:
            rows += len(model.learn(block))
        else:
            X, y = block
            metrics.update(y, *predict_then_learn(model, X, y, classes))
            rows += len(y)
        seconds += time.perf_counter() - start
        if rows // every > told:
            told = rows // every
            yield (report := _report(model, metrics, rows, seconds))
    if table:
        model.finish()
    if report.rows != rows or (table and not report.total):
        yield _report(model, metrics, rows, seconds)


def prequential(
    model: Any,
    stream: Iterable[Any],
    *,
    every: int = 1000,
    window: int = 1000,
    task: str = "auto",
    classes: ArrayLike | None = None,
    metrics: Any = None,
) -> Trace:
    """Test, then learn, over a stream of blocks, and return the trace.

    Parameters
    ----------
    model : an estimator of parsimon, a `TableModel`, or any model as `predict_then_learn` takes it.
    stream : iterable of blocks
        Pairs X (n, d), y (n,); for a `TableModel` whatever its `learn` takes. (That model scores
        itself, with its own `window`, from its first row on; at the end of the stream its `finish`
        is called.)
    every : rows between reports; they come at ends of blocks.
    window : rows over which the rolling metrics go.
    task : "regression", "classification" or "auto", which asks the model.
    classes : all labels, for models that need to be told.
    metrics : to go on with those of an earlier run.
    """
    if metrics is None and not _is_table_model(model):
        metrics = METRICS[_task(model, task)](window)
    reports = list(
        watch(
            model, stream, every=every, window=window, task=task, classes=classes, metrics=metrics
        )
    )
    return Trace(reports, metrics if metrics is not None else model.metrics_)


def _is_table_model(model: Any) -> bool:
    return hasattr(model, "learn") and hasattr(model, "finish")


def _task(model: Any, task: str) -> str:
    if task != "auto":
        lookup({**METRICS, "auto": None}, task, "task")
        return task
    return "classification" if is_classifier_like(model) else "regression"


def is_classifier_like(model: Any) -> bool:
    """Return whether a model, of scikit-learn or River, predicts classes."""
    return hasattr(model, "predict_proba_one") or (
        hasattr(model, "__sklearn_tags__") and is_classifier(model)
    )


def _report(model: Any, metrics: Any, rows: int, seconds: float) -> Report:
    held = metrics if metrics is not None else getattr(model, "metrics_", None)
    total, rolling = ({}, {}) if held is None else (held.total(), held.rolling())
    return Report(
        rows, seconds, _size(model, "n_centers_"), _size(model, "nbytes_"), total, rolling
    )


def _size(model: Any, name: str) -> int | None:
    try:
        return int(getattr(model, name))
    except (AttributeError, NotFittedError):  # it has none, or not yet
        return None
