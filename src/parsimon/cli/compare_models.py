"""The models that `compare` runs: parsimon's algorithms, baselines, and models of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from parsimon.cli.errors import Failure
from parsimon.cli.open_classes import OpenClassifier
from parsimon.cli.peers import LINEAR, PEERS
from parsimon.cli.scores import guessed_rows, meaningful_scores, model_scores, why_no_scores
from parsimon.evaluation import METRICS, predict_then_learn
from parsimon.preprocessing import TableEncoder, TargetScaler, read_table
from parsimon.tables import ALGORITHMS, TableModel

if TYPE_CHECKING:
    from parsimon.cli.compare import Options

__all__ = ["WARMUP", "Encoding", "Model", "OwnModel", "make_models"]

Array = NDArray[np.float64]
Labels = NDArray[Any]

#: Rows that an algorithm of parsimon needs before it predicts.
WARMUP = TableModel("").warmup
#: Rows over which the rolling metrics are.
WINDOW = 1000
#: Rows that a peer learns between two looks at the clock.
PIECE = 16


def _nothing() -> None:
    """Show nothing."""


def make_models(options: Options, task: str, classes: int) -> dict[str, Model]:
    """Return the models for a task, by name. `classes` is the number of classes so far."""
    asked = options.algorithms or list(ALGORITHMS)
    names = [name for name in asked if task in ALGORITHMS[name]]
    if not options.algorithms:  # an algorithm with two names runs once
        first = {ALGORITHMS[name][task]: name for name in reversed(names)}
        names = [name for name in names if name in first.values()]
    if not names:
        suited = ", ".join(name for name, tasks in ALGORITHMS.items() if task in tasks)
        raise Failure(
            f"--algorithm {', '.join(asked)} is not for {task}, for which there are {suited}"
        )
    models: dict[str, Model] = {name: OwnModel(options, task, name) for name in names}
    models["mean so far" if task == "regression" else "majority so far"] = UsualTarget(task)
    models["no change"] = LastTarget(task)
    for name in ("linear SGD", *options.peers):
        models[name] = PeerModel(task, PEERS.get(name, LINEAR).make[task](), classes)
    return models


# Rows for all models but ours


class EncodedRows(NamedTuple):
    """Rows as models of other libraries take them.

    Attributes
    ----------
    y : targets, (n,).
    X : encoded rows, (n, d).
    scaled : scaled targets, (n,); None for classes.
    unscale : converts scaled predictions to those of the target; None for classes.
    seconds : the time that encoding took.
    """

    y: Labels
    X: Array
    scaled: Array | None
    unscale: Callable[[Array], Array] | None
    seconds: float


class Encoding:
    """Encodes tables in the same way as the models of parsimon."""

    def __init__(self, target: str, ignore: Sequence[str], task: str) -> None:
        self._reader = TableModel(target, task=task)
        self._encoder = TableEncoder(ignore=[target, *ignore])
        self._scaler = TargetScaler()

    def encode(self, table: Any) -> EncodedRows:
        """Return the rows of a table, encoded."""
        start = time.perf_counter()
        target, task = self._reader.target, self._reader.task
        y = self._reader._targets(read_table(table, [target])[target], task)
        X = self._encoder.learn_transform(table)
        scaled, unscale = self._scaler.learn_transform(y) if task == "regression" else (None, None)
        return EncodedRows(y, X, scaled, unscale, time.perf_counter() - start)


# Models


class Model:
    """A model that takes part.

    Attributes
    ----------
    rows, seconds : what it has learned, and the time that took.
    failed : the rows at which it failed and why, or None.
    metrics : its metrics, or None if it has none yet.
    warmup : first rows that it does not predict itself.
    intervals : the share of targets that its intervals are for, or None if it has none.
    """

    rows = 0
    seconds = 0.0
    failed: str | None = None
    metrics: Any
    warmup = 0
    intervals: float | None = None

    @property
    def centres(self) -> int | None:
        """How many centres it has, if it has any."""
        return None

    @property
    def microseconds_per_row(self) -> float:
        """Time per row, in microseconds."""
        return 1e6 * self.seconds / self.rows if self.rows else np.nan

    def learn(self, rows: Any, show: Callable[[], None] = _nothing) -> None:
        """Predict rows, and learn them. `show` is called now and then."""
        raise NotImplementedError

    def finish(self) -> None:
        """Learn the rows of an incomplete warm-up."""

    def scores(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the metrics over all rows and over the last rows."""
        return ({}, {}) if self.metrics is None else meaningful_scores(self.metrics, self.warmup)

    def why_no_scores(self) -> str | None:
        """Return why there are no scores, or None if there are."""
        if self.failed is not None or self.metrics is None:
            return None
        return why_no_scores(self.metrics, self.warmup)


class OwnModel(Model):
    """An algorithm of parsimon. It learns tables."""

    def __init__(self, options: Options, task: str, name: str) -> None:
        self._model = TableModel(
            options.target,
            task=task,
            algorithm=name,
            budget=options.budget,
            ignore=options.ignore,
            window=WINDOW,
            intervals=options.intervals,
        )
        self.intervals = options.intervals

    def learn(self, rows: Any, show: Callable[[], None] = _nothing) -> None:
        """Predict the rows of a table, and learn them."""
        start = time.perf_counter()
        self._model.learn(rows)
        self.seconds += time.perf_counter() - start
        self.rows = self._model.n_rows_

    def finish(self) -> None:
        """Learn the rows of an incomplete warm-up."""
        start = time.perf_counter()
        self._model.finish()
        self.seconds += time.perf_counter() - start

    @property
    def warmup(self) -> int:  # type: ignore[override]
        """The number of first rows that it does not predict itself."""
        return guessed_rows(self._model)

    @property
    def metrics(self) -> Any:
        """The metrics of the model, or None during the warm-up."""
        return self._model.metrics_

    def scores(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the metrics over all rows and over the last rows."""
        return ({}, {}) if self.metrics is None else model_scores(self._model)

    @property
    def centres(self) -> int | None:
        """How many centres it has, or None during the warm-up."""
        return None if self.metrics is None else self._model.n_centers_


class ScoredModel(Model):
    """Any other model. It learns encoded rows and returns its predictions."""

    def __init__(self, task: str) -> None:
        self.task, self.metrics = task, METRICS[task](WINDOW)

    def learn(self, rows: EncodedRows, show: Callable[[], None] = _nothing) -> None:
        """Predict rows, learn them, and score the predictions."""
        if self.failed is not None:
            return
        start = time.perf_counter()
        found = self.predict_then_learn(rows, show)
        if found is not None:
            self.metrics.update(rows.y, found)
            self.rows += len(rows.y)
        self.seconds += time.perf_counter() - start

    def predict_then_learn(self, rows: EncodedRows, show: Callable[[], None]) -> Labels | None:
        """Return the prediction for each row before it was learned, (n,); None if it failed."""
        raise NotImplementedError


class LastTarget(ScoredModel):
    """Predicts the last target."""

    _last: Labels | None = None

    def predict_then_learn(self, rows: EncodedRows, show: Callable[[], None]) -> Labels:
        """Return the target of the row before each row, (n,)."""
        before = np.concatenate([rows.y[:1] if self._last is None else self._last, rows.y[:-1]])
        self._last = rows.y[-1:]
        return before


class UsualTarget(ScoredModel):
    """Predicts the mean of the targets so far, or the most frequent label."""

    def __init__(self, task: str) -> None:
        super().__init__(task)
        self._sum = 0.0
        self._counts: dict[Any, int] = {}

    def predict_then_learn(self, rows: EncodedRows, show: Callable[[], None]) -> Labels:
        """Return the mean or the most frequent label before each row, (n,)."""
        y = rows.y
        if self.task == "regression":
            sums = np.add.accumulate(np.concatenate([[self._sum], y]))
            self._sum = sums[-1]
            means: Labels = sums[:-1] / np.maximum(self.rows + np.arange(len(y)), 1)
            return means
        found, best = [], max(self._counts, key=self._counts.__getitem__, default=y[0].item())
        for label in y.tolist():
            found.append(best)
            self._counts[label] = self._counts.get(label, 0) + 1
            best = label if self._counts[label] > self._counts.get(best, 0) else best
        return np.array(found)


class PeerModel(ScoredModel):
    """A model of scikit-learn or River.

    It gets one encoded row at a time, and scaled targets for regression. The time of encoding is
    part of its time, as it is for the algorithms of parsimon.
    """

    def __init__(self, task: str, model: Any, classes: int) -> None:
        super().__init__(task)
        self._model = model
        if task == "classification" and hasattr(model, "partial_fit"):
            self._model = OpenClassifier(model, 2 if isinstance(model, SGDClassifier) else classes)

    def predict_then_learn(self, rows: EncodedRows, show: Callable[[], None]) -> Labels | None:
        """Return the prediction for each row before it was learned, (n,); None if it failed."""
        self.seconds += rows.seconds
        targets = rows.y if rows.scaled is None else rows.scaled
        found = []
        for first in range(0, len(targets), PIECE):
            piece = slice(first, first + PIECE)
            try:
                found.append(predict_then_learn(self._model, rows.X[piece], targets[piece]).values)
            except (ArithmeticError, ValueError) as error:  # numbers that grow without bound
                begin, end = self.rows + first + 1, self.rows + first + PIECE
                self.failed = f"failed in rows {begin:,} to {end:,}: {error}"
                return None
            start = time.perf_counter()
            show()
            self.seconds -= time.perf_counter() - start  # showing is not part of its time
        together = np.concatenate(found)
        return together if rows.unscale is None else rows.unscale(together)
