"""Shared by the experiments: objectives, learning curves, BSGD's step size, and table rows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import BSGDClassifier, diagnostics, losses, published
from parsimon.datasets import Split

Array = NDArray[np.float64]

HEADER = ["task", "method", "objective", "test error", "centres", "fit (s)", "predict (s)"]
TASKS = {"hinge": "Multi-KSVM", "logistic": "Multi-KLR"}
STEPS = (0.03, 0.1, 0.3, 1.0, 3.0)
NARROWED = 0.7


@dataclass
class Curve:
    """Objective, test error and number of centres against samples seen."""

    samples: list[int] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    order: list[int] = field(default_factory=list)


def mean_loss(loss: str, F: Array, y: NDArray[np.int64]) -> float:
    """Return the mean loss of f (n, C) for classes y: multi-class hinge or multinomial logistic."""
    part = losses.resolve(loss, losses.CLASSIFICATION)
    return float(part.values(F, part.targets(y, np.full(len(y), F.shape[1]), F.shape[1])).mean())


def objective(model: Any, F: Array, y: NDArray[np.int64], loss: str, alpha: float) -> float:
    """Return the regularised risk of a classifier, given its f (n, C) at the data."""
    return mean_loss(loss, F, y) + 0.5 * alpha * diagnostics.squared_norm(model)


def _whole_batches(n: float, model: Any) -> int:
    batch: int = model.batch_size
    return max(1, int(n) // batch) * batch


def pass_over(
    model: Any, data: Split, *, begin_with: int | None = None, stops: Iterable[int] = ()
) -> Iterator[int]:
    """Learn the training data in order, once, and yield the number of samples after each block.

    Blocks end at least at `stops`. With `begin_with`, the model starts with this budget. The budget
    then decreases geometrically, every ten batches. It reaches the model's own budget after the
    share `NARROWED` of the data. From then on, predictions use the mean of f over the steps.
    """
    n, begin, stops = len(data.X_train), 0, {*stops}
    classes, budget = np.unique(data.y_train), model.budget
    if begin_with is not None:
        model.set_params(budget=begin_with, average=int(NARROWED * n))
        stops |= set(range(10 * model.batch_size, n, 10 * model.batch_size))
    for last in sorted(stops | {n}):
        model.partial_fit(data.X_train[begin:last], data.y_train[begin:last], classes=classes)
        if begin_with is not None and model.budget > budget:
            model.set_budget(
                max(budget, round(begin_with * (budget / begin_with) ** (last / (NARROWED * n))))
            )
        begin = last
        yield last


def trace(
    model: Any,
    data: Split,
    *,
    loss: str,
    alpha: float,
    points: int = 20,
    begin_with: int | None = None,
) -> Curve:
    """Learn the training data as `pass_over` does, and evaluate the test data `points` times."""
    curve, n = Curve(), len(data.X_train)
    stops = {_whole_batches(stop, model) for stop in np.geomspace(n / 200, n, points)} | {n}
    for last in pass_over(model, data, begin_with=begin_with, stops=stops):
        if last not in stops:
            continue
        F = model._evaluate(data.X_test)
        curve.samples.append(last)
        curve.objective.append(objective(model, F, data.y_test, loss, alpha))
        curve.error.append(float(np.mean(F.argmax(axis=1) != data.y_test)))
        curve.order.append(model.n_centers_)
    return curve


def first(data: Split, n: int) -> Split:
    """Return the first n training samples, and at most n test samples."""
    return Split(data.X_train[:n], data.y_train[:n], data.X_test[:n], data.y_test[:n])


def best_step(make: Callable[[float], Any], data: Split, steps: Sequence[float] = STEPS) -> float:
    """Return the step size with the smallest validation error.

    The last fifth of the training data is used for validation.
    """
    cut = len(data.X_train) * 4 // 5

    def error(step: float) -> float:
        model = make(step).fit(data.X_train[:cut], data.y_train[:cut])
        return float(np.mean(model.predict(data.X_train[cut:]) != data.y_train[cut:]))

    return min(steps, key=error)


def row(
    task: str,
    name: str,
    model: Any,
    data: Split,
    *,
    objective: Callable[[Any], float] | None,
    order: Callable[[Any], int],
    begin_with: int | None = None,
) -> tuple[list[str], float, Any]:
    """Fit, time and test a model; return its table row, its error and the model."""
    start = time.perf_counter()
    if begin_with is None:
        model.fit(data.X_train, data.y_train)
    else:
        deque(pass_over(model, data, begin_with=begin_with), maxlen=0)
    fitted = time.perf_counter()
    error = float(np.mean(model.predict(data.X_test) != data.y_test))
    done = time.perf_counter()
    shown = "" if objective is None else f"{objective(model):.4f}"
    cells = [
        task,
        name,
        shown,
        f"{error:.2%}",
        str(order(model)),
        f"{fitted - start:.1f}",
        f"{done - fitted:.2f}",
    ]
    return cells, error, model


def stream_row(
    loss: str, name: str, model: Any, data: Split, alpha: float, *, begin_with: int | None = None
) -> tuple[list[str], float, Any]:
    """Return `row` for one of our classifiers, with its regularised risk on the test data."""
    return row(
        TASKS[loss],
        name,
        model,
        data,
        objective=lambda m: objective(m, m._evaluate(data.X_test), data.y_test, loss, alpha),
        order=lambda m: m.n_centers_,
        begin_with=begin_with,
    )


def bsgd_row(
    data: Split,
    *,
    gamma: float,
    alpha: float,
    budget: int,
    steps: Sequence[float] = STEPS,
    choose_on: int | None = None,
) -> tuple[list[str], float, Any]:
    """Return the row of BSGD with merging at a budget.

    Its step size is chosen on a validation part of the first `choose_on` training samples.
    """

    def make(step: float) -> BSGDClassifier:
        return published(
            BSGDClassifier, shuffle=False, gamma=gamma, alpha=alpha, step_size=step, budget=budget
        )

    step = best_step(make, first(data, choose_on or len(data.X_train)), steps)
    return stream_row("hinge", f"BSGD, merging, step {step:g}", make(step), data, alpha)
