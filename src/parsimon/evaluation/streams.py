"""A stream of blocks, with reports along the way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from parsimon._parts import lookup, whole
from parsimon.evaluation.metrics import METRICS
from parsimon.evaluation.steps import is_classifier_like, predict_then_learn

__all__ = ["Report", "Trace", "prequential", "watch"]


@dataclass(frozen=True)
class Report:
    """The state of a stream: rows so far, time, size of the model, and metrics.

    `seconds` is the time for predicting and learning, without reading.
    """

    rows: int
    seconds: float
    centers: int | None
    bytes: int | None
    total: dict[str, float]
    rolling: dict[str, float]

    @property
    def rows_per_second(self) -> float:
        """Rows predicted and learned per second."""
        return self.rows / self.seconds if self.seconds > 0 else np.nan


@dataclass(frozen=True)
class Trace:
    """The result of `prequential`: metrics, and reports along the stream and at its end."""

    reports: list[Report]
    metrics: Any

    def plot(self, path: str | Path, *, title: str = "") -> Path:
        """Plot the accuracy or error, rolling and in total, and the number of centres.

        The suffix of `path` determines the format.
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
    """Yield a report after about `every` rows, and one more at the end of the stream.

    Reports always come at the end of a block. The parameters are those of `prequential`.
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
            metrics.update(y, *predict_then_learn(model, X, y, classes).scored)
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
    """Predict each row of a stream of blocks, then learn it, and return the trace.

    Parameters
    ----------
    model : estimator
        An estimator of parsimon, a `TableModel`, or any model that `predict_then_learn` accepts.
    stream : iterable of blocks
        Pairs X (n, d), y (n,). For a `TableModel`, blocks that its `learn` accepts. A `TableModel`
        scores itself, with its own `window`, and its `finish` is called at the end of the stream.
    every : int, default=1000
        The number of rows between reports. Reports always come at the end of a block.
    window : int, default=1000
        The number of rows of the rolling metrics.
    task : "regression", "classification" or "auto", default="auto"
        "auto" takes the task of the model.
    classes : array-like, default=None
        All labels, for classifiers that need them in the first `partial_fit`.
    metrics : RegressionMetrics or ClassificationMetrics, default=None
        Metrics of an earlier run, which are continued.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(1000, 1))
    >>> blocks = [(X[i : i + 100], np.sin(X[i : i + 100, 0])) for i in range(0, 1000, 100)]
    >>> trace = prequential(KRLSRegressor("gaussian", gamma=1.0), blocks, every=500)
    >>> [report.rows for report in trace.reports], trace.metrics.rolling()["r2"] > 0.9
    ([500, 1000], True)
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


def _report(model: Any, metrics: Any, rows: int, seconds: float) -> Report:
    held = metrics if metrics is not None else getattr(model, "metrics_", None)
    total, rolling = ({}, {}) if held is None else (held.total(), held.rolling())
    return Report(
        rows, seconds, _size(model, "n_centers_"), _size(model, "nbytes_"), total, rolling
    )


def _size(model: Any, name: str) -> int | None:
    try:
        return int(getattr(model, name))
    except (AttributeError, NotFittedError):  # the model has no size, or not yet
        return None
