"""How a table model learns rows once its task and its columns are known."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon._interrupts import HeldBack
from parsimon._parts import real, whole
from parsimon.conformal import Intervals
from parsimon.estimators import ESTIMATORS
from parsimon.evaluation import METRICS, IntervalMetrics, Predictions, predict_then_learn
from parsimon.mixtures import Mixture
from parsimon.preprocessing import Column, TableEncoder, TableError, TargetScaler
from parsimon.tables.ahead import EncodedBlock, EncodedRows
from parsimon.tables.targets import takes_raw_targets
from parsimon.tables.warmup import Warmup, rows_of

__all__ = ["Learning", "Undo"]

Array = NDArray[np.float64]
Labels = NDArray[Any]

#: The least rows of a piece, and about how many seconds larger pieces take.
PIECE, SOON = 64, 0.1


class Learning:
    """The rows of the warm-up, then all others."""

    target: str
    window: int
    warmup: int
    n_rows_: int
    intervals: float | None
    task_: str
    encoder_: TableEncoder
    estimator_: Any
    scaler_: TargetScaler
    learn: Callable[..., Any]
    _scores: Any
    _encoder: Callable[[], TableEncoder]
    _make: Callable[[str], Any]
    _warm: bool
    _begin: Callable[[], None]
    _hold: Callable[[dict[str, Column], Column], Labels]
    _targets: Callable[[Column, str], Labels]
    _intervals: Intervals
    _interval_scores: IntervalMetrics
    _last_intervals: Array  # of the rows of the last block, after the warm-up
    _ahead: EncodedRows | None = None  # the rows that are learned now, if they are encoded
    _rows_per_second: float = 0.0  # of the last piece

    def learn_encoded(
        self, table: Any, encoded: EncodedBlock | None, at: int, **options: Any
    ) -> Any:
        """Call `learn` with rows of a pyarrow table, which are perhaps encoded already.

        They are those from row `at` of the encoded block on. The result has the same bits.
        """
        if encoded is not None and hasattr(self, "encoder_"):
            self._ahead = encoded.rows(self.encoder_, at, table.num_rows)
        try:
            return self.learn(table, **options)
        finally:
            self.__dict__.pop("_ahead", None)

    def _adopt(self, warmup: Warmup, task: str) -> None:
        """Go on with a trial of the warm-up."""
        trial = warmup.trials[task]
        if task == "regression":
            self.scaler_ = TargetScaler.of_nothing()
        self._scores = METRICS[task](self.window)
        for y, found in warmup.found[task]:
            self._scores.update(y, *found.scored)
        self.encoder_, self.estimator_ = trial.encoder, trial.estimator
        self._begin_intervals()
        if self.intervals is None:
            return
        rows = [(y, _both(found)) for y, found in warmup.found[task]]
        y, both = (np.concatenate(each) for each in zip(*rows, strict=True))
        # What was said of the very first row is its own target.
        self._learn_intervals(np.vstack(trial.features)[1:], both[1:], y[1:])

    def _learn_held(self, held: dict[str, Column], task: str) -> None:
        """Learn the rows of the warm-up at once."""
        columns = {name: column for name, column in held.items() if name != self.target}
        encoder, estimator = self._encoder(), self._make(task)
        encoder.check(columns)
        X = encoder.learn_columns(columns)
        y = self._targets(held[self.target], task)
        if task == "regression":
            scaled = not takes_raw_targets(estimator)
            self.scaler_ = TargetScaler() if scaled else TargetScaler.of_nothing()
            estimator.partial_fit(X, self.scaler_.learn_transform(y)[0] if scaled else y)
        else:
            estimator.partial_fit(X, y)
        self._scores = METRICS[task](self.window).update(y, np.concatenate([y[:1], y[:-1]]))
        self.encoder_, self.estimator_ = encoder, estimator
        self._begin_intervals()

    def _learn_checked(self, columns: dict[str, Column], target: Column) -> Labels:
        """Learn rows that were checked, and return the predictions before."""
        if self._warm:
            return self._learn_in_pieces(columns, self._targets(target, self.task_), nullcontext())
        n, first, found, undo = len(target.values), 0, [], Undo(self)
        with HeldBack(), undo:
            # The parameter may be smaller than it was when the rows were taken.
            if self.n_rows_ >= whole("warmup", self.warmup, at_least=2):
                self._begin()
            else:
                first = min(n, self.warmup - self.n_rows_)
                rows = slice(0, first)
                found.append(self._hold(rows_of(columns, rows), target.rows(rows)))
            if first == n:
                return found[0]
            y = self._targets(target, self.task_)[first:]
        found.append(self._learn_in_pieces(rows_of(columns, slice(first, n)), y, undo))
        return np.concatenate(found)

    def _learn_in_pieces(
        self, columns: dict[str, Column], y: Labels, undo: AbstractContextManager[Any]
    ) -> Labels:
        """Learn rows, and return the predictions before. An error is raised within `undo`.

        An interrupt (Ctrl-C) takes effect after a piece, when all parts of the model have learned
        it. The result does not depend on the pieces.
        """
        n, at, found, intervals = len(y), 0, [], []
        least = n
        if n > PIECE and self._ahead is None:
            least = _rows_of_a_piece(self.estimator_) or n
        while at < n:
            size = max(least, int(self._rows_per_second * SOON) // least * least)
            rows, began = slice(at, min(at + size, n)), time.monotonic()
            with HeldBack(), undo:
                found.append(self._learn(rows_of(columns, rows), y[rows]))
            intervals.append(self._last_intervals)
            self._rows_per_second = (rows.stop - at) / max(time.monotonic() - began, 1e-9)
            at = rows.stop
        self._last_intervals = np.concatenate(intervals)
        return np.concatenate(found)

    def _learn(self, columns: dict[str, Column], y: Labels) -> Labels:
        if self._ahead is None:
            X = self.encoder_.learn_columns(columns)
        else:
            X = self._ahead.learn(self.encoder_)
        if self.task_ == "classification" or takes_raw_targets(self.estimator_):
            found = predict_then_learn(self.estimator_, X, y)
        else:
            scaled, back = self.scaler_.learn_transform(y)
            found = Predictions(back(predict_then_learn(self.estimator_, X, scaled).values))
        self._scores.update(y, *found.scored)
        self._last_intervals = self._learn_intervals(X, _both(found), y)
        return found.values

    def _require_numbers(self, task: str) -> None:
        """Raise an error if there shall be intervals for classes."""
        if self.intervals is not None and task != "regression":
            raise TableError(
                "intervals are for numbers, and the target holds classes: learn without intervals, "
                "or use parsimon.ConformalClassifier for sets of labels"
            )

    def _begin_intervals(self) -> None:
        if self.intervals is None:
            return
        self._intervals = self._made_intervals()
        self._interval_scores = IntervalMetrics(self.window)

    def _require_same_intervals(self) -> None:
        """Raise an error if the parameter was changed after learning began."""
        learned = getattr(self, "_intervals", None)
        used = None if learned is None else learned.target_coverage
        if hasattr(self, "estimator_") and used != self.intervals:
            raise TableError(
                f"intervals was {used} when learning began and is {self.intervals} now: "
                "set it back, or learn a new model"
            )

    def _made_intervals(self) -> Intervals:
        assert self.intervals is not None
        return Intervals(real("intervals", self.intervals, above=0, below=1))

    def _learn_intervals(self, X: Array, both: Array, y: Labels) -> Array:
        """Return the intervals (n, 2) before each row, and learn the rows."""
        intervals: Intervals | None = getattr(self, "_intervals", None)
        if intervals is None:
            return np.empty((0, 2))
        found = intervals.run(X, both, np.broadcast_to(y[:, np.newaxis], both.shape))[:, 0]
        self._interval_scores.update(y, found)
        return found


class Undo:
    """Restore a model that is not warm after an error within a ``with`` block."""

    def __init__(self, model: Any) -> None:
        self._model, self._before = model, model.__dict__.copy()

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            # Every object that the rows changed is new, but for the trials.
            self._before.pop("_warmup", None)
            self._model.__dict__ = self._before


def _rows_of_a_piece(estimator: Any) -> int:
    """Return the least rows of a piece, or 0 if blocks must not be cut.

    Blocks can be cut between the batches of an estimator, and anywhere for a mixture. So they can
    for a model of another library, because `evaluation.predict_then_learn` gives it single rows.
    """
    if type(estimator) in ESTIMATORS:
        batch = max(1, int(getattr(estimator, "batch_size", 1)))
        return -(-PIECE // batch) * batch
    at_once = ("predict_then_learn", "predict_proba_then_learn")
    single = not any(hasattr(estimator, name) for name in at_once)
    return PIECE if single or isinstance(estimator, Mixture) else 0


def _both(found: Predictions) -> Array:
    """Return the predictions (n, 1), or with and without the last targets, (n, 2)."""
    if found.plain is None:
        return found.values[:, np.newaxis]
    return np.column_stack([found.values, found.plain])
