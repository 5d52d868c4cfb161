"""A model of one column of a table."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from parsimon._interrupts import HeldBack
from parsimon._parts import lookup
from parsimon.evaluation.steps import is_classifier_like
from parsimon.mixtures import Mixture
from parsimon.preprocessing import (
    Column,
    TableEncoder,
    TableError,
    concatenated,
    raw_columns,
    read_table,
    require_kind,
    require_usable,
)
from parsimon.tables.algorithms import ALGORITHMS, make_estimator
from parsimon.tables.learning import Learning, Undo
from parsimon.tables.predicting import Predicting
from parsimon.tables.stored import StoredTable
from parsimon.tables.targets import (
    TASKS,
    class_labels,
    found_task,
    holds_classes,
    numeric_targets,
)
from parsimon.tables.warmup import Warmup, dates_as_text

__all__ = ["TableModel"]

Array = NDArray[np.float64]
Labels = NDArray[Any]


class TableModel(Learning, Predicting, StoredTable):
    """Learn to predict a column of a table from the other columns, in blocks and fixed memory.

    A `TableEncoder` encodes the rows. A `TargetScaler` scales the targets of regression, unless the
    loss has a link, such as "poisson". An estimator learns the rows in order.

    The first `warmup` rows, or those before `finish` is called, determine the task and the columns.
    The default algorithm learns from the first row on. Until the task is known, it predicts text
    and up to 20 different whole numbers as classes, and other targets as numbers. Other algorithms
    begin after the warm-up; during it the prediction is the target of the previous row. The model
    does not depend on how the stream is cut into blocks, nor on storing and loading, bit for bit.

    Parameters
    ----------
    target : str
        The name of the column to predict.
    task : "auto", "regression" or "classification", default="auto"
        "auto" chooses from the targets of the warm-up, and `task_reason_` says why. Text and
        booleans mean classification. Whole numbers are classes if the number of distinct values is
        at most 20, and at most a tenth of the number of rows. With ten rows or more, two distinct
        values are always classes. With fewer than ten rows, whole numbers mean regression. With 20
        rows or more, text is rejected if the number of distinct texts is above nine tenths of the
        number of rows, because such texts are not classes.
    algorithm : str or estimator, default="default"
        A name from `ALGORITHMS`, or an estimator, which is cloned. `parsimon.tables` describes the
        default.
    budget : int or None, default=None
        Maximum number of centres, for an algorithm that is given by name. None means the default of
        the algorithm: 2000 for "default", else 400.
    options : dict or None, default=None
        Further parameters of an algorithm that is given by name.
    missing : "mean" or "error", default="mean"
        Whether missing values become the mean, or are rejected. A missing target is always
        rejected.
    max_categories : int >= 1, default=32
        The number of categories of each text column.
    clip : float > 0, default=3.0
        The largest absolute standardised value.
    ignore : list of str, default=()
        The names of columns to ignore.
    warmup : int >= 2, default=200
        The number of rows that determine the task and the kinds of the columns. If the algorithm is
        not a mixture, they also determine the kernel width.
    window : int, default=1000
        The number of rows of the rolling metrics.
    intervals : float in (0, 1) or None, default=None
        The share of targets that prediction intervals shall cover, such as 0.9, for regression.
        Larger values give wider intervals. None means no intervals. See `parsimon.conformal`.

    Attributes
    ----------
    n_rows_ : int
        Number of rows so far, including the warm-up.
    metrics_ : RegressionMetrics, ClassificationMetrics or None
        Test-then-learn metrics over all rows except the first. None during the warm-up.
    interval_metrics_ : IntervalMetrics or None
        Coverage and width of the intervals. None without intervals, and during the warm-up.
    task_ : str
        "regression" or "classification", from the end of the warm-up on.
    encoder_ : TableEncoder
        The encoder of the features, from the end of the warm-up on.
    scaler_ : TargetScaler
        The scaler of the targets, only for regression.
    estimator_ : estimator
        The estimator that learns, from the end of the warm-up on.
    classes_ : array (C,)
        The labels, sorted, only for classification.
    task_reason_ : str
        With task="auto", why this task was chosen. It is not stored in files.
    reading_ : dict
        Set by the command line when data were not read in the usual way. "decimal" is the decimal
        mark, "date_formats" a list, and "skipped" the number of bad rows that were left out. The
        model does not use `reading_`.
    n_centers_ : int
        Number of centres of the estimator.
    nbytes_ : int
        Memory of the estimator in bytes.
    relevance_ : dict or None
        How much predictions depend on each column: a root mean squared gradient, the largest being
        1. None if it is not known yet, or if the estimator is not a mixture.
    shares_ : dict
        The weight of each expert by name, only for mixtures.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 1000))
    >>> model = TableModel("same").set_params(warmup=100)
    >>> predictions = model.learn({"x": x, "y": y, "same": np.where(x * y > 0, "yes", "no")})
    >>> predictions[-3:], model.predict({"y": [1.0, -1.0], "x": [1.0, 1.0]})
    (array(['no', 'yes', 'no'], dtype='<U3'), array(['yes', 'no'], dtype='<U3'))
    >>> sorted(model.metrics_.total())
    ['accuracy', 'kappa', 'kappa_no_change', 'log_loss', 'rows']
    """

    def __init__(
        self,
        target: str,
        *,
        task: str = "auto",
        algorithm: Any = "default",
        budget: int | None = None,
        options: Mapping[str, Any] | None = None,
        missing: str = "mean",
        max_categories: int = 32,
        clip: float = 3.0,
        ignore: Sequence[str] = (),
        warmup: int = 200,
        window: int = 1000,
        intervals: float | None = None,
    ) -> None:
        self.target = target
        self.task = task
        self.algorithm = algorithm
        self.budget = budget
        self.options = options
        self.missing = missing
        self.max_categories = max_categories
        self.clip = clip
        self.ignore = ignore
        self.warmup = warmup
        self.window = window
        self.intervals = intervals

    # Learning

    def learn(self, block: Any, *, return_intervals: bool = False) -> Any:
        """Learn a block, and return the prediction for each row before it was learned, (n,).

        With `return_intervals`, return the predictions and the intervals (n, 2) before each row.
        They are infinite during the warm-up. For the very first row its own target is returned, and
        the metrics do not count it. A block that is rejected changes nothing. `TableError` says in
        which row and column the problem is.
        """
        self._require_same_intervals()
        if return_intervals and self.intervals is None:
            raise TableError("the model has no intervals: give it intervals=0.9, or another share")
        columns, target = self._read(block)
        n = len(target.values)
        self._last_intervals = np.empty((0, 2))
        found = self._learn_checked(columns, target) if n else np.empty(0)
        if not return_intervals:
            return found
        before = np.full((n - len(self._last_intervals), 2), (-np.inf, np.inf))
        return found, np.vstack([before, self._last_intervals])

    def check(self, block: Any) -> None:
        """Raise the `TableError` that `learn` would raise for a block, without learning it."""
        self._read(block)

    def finish(self) -> Self:
        """End the warm-up, and learn the rows held so far, if there are any."""
        if not self._warm and self.n_rows_:
            with HeldBack(), Undo(self):
                self._begin()
        return self

    # Implementation

    def _encoder(self) -> TableEncoder:
        return TableEncoder(
            missing=self.missing,
            max_categories=self.max_categories,
            clip=self.clip,
            ignore=[self.target, *self.ignore],
        )

    def _read(self, block: Any) -> tuple[dict[str, Column], Column]:
        """Return the columns of a block, and the target, checked."""
        lookup(dict.fromkeys(TASKS), self.task, "task")
        held: dict[str, Column] | None = getattr(self, "_held", None)
        encoder = self.encoder_ if self._warm else self._encoder()
        block = raw_columns(block)
        target = read_table(block, [self.target])[self.target]
        if self._ahead is not None:
            columns = self._ahead.columns
        elif held is None:
            columns = encoder.read(block)
        else:
            columns = read_table(block, [name for name in held if name != self.target])
            for name, column in (columns | {self.target: target}).items():
                require_kind(name, column, None if held[name].kind == "empty" else held[name].kind)
        if self._ahead is None:
            encoder.check(columns)
        # Text and empty columns have codes, which are negative for a missing value.
        absent = np.isnan(target.values) | (
            (target.values < 0) & (target.kind in ("text", "empty"))
        )
        if absent.any():
            raise TableError("the target is missing", self.target, int(absent.argmax()))
        if self._warm:
            require_kind(self.target, target, self._target_kind)
        require_usable(self.target, target, "mean")
        if self._warm or self.task != "auto":
            known: list[Any] = []
            if held is not None and self.task == "classification":
                known = class_labels(held[self.target], self.target).tolist()
            self._targets(target, self.task_ if self._warm else self.task, known)
        return columns, target

    def _targets(self, target: Column, task: str, known: Iterable[Any] = ()) -> Labels:
        """Return the targets of a task. Targets that cannot be learned are rejected.

        `known` are labels so far, before there is an estimator that knows them.
        """
        if task == "classification":
            return class_labels(
                target, self.target, self.classes_.tolist() if self._warm else known
            )
        return numeric_targets(
            target, self.target, self.estimator_ if self._warm else self._make(task)
        )

    def _natural(self, target: Column) -> Labels:
        """Return targets in the form that predictions have, as far as the task is known."""
        if self.task != "auto":
            return self._targets(target, self.task)
        if holds_classes(target):
            return self._targets(target, "classification")
        return target.values

    def _make(self, task: str) -> Any:
        if isinstance(self.algorithm, str):
            return make_estimator(self.algorithm, task, self.budget, **dict(self.options or {}))
        if self.budget is not None or self.options:
            raise ValueError(
                "budget and options are for algorithms by name: set them in the estimator"
            )
        model = clone(self.algorithm)
        if is_classifier_like(model) != (task == "classification"):
            raise ValueError(f"{type(model).__name__} is not for {task}")
        return model

    def _hold(self, columns: dict[str, Column], target: Column) -> Labels:
        """Hold rows, and begin if they complete the warm-up. Return the predictions before."""
        block = columns | {self.target: target}
        held: dict[str, Column] | None = getattr(self, "_held", None)
        first = self.n_rows_
        warmup = self._trials()
        self._held = (
            block
            if held is None
            else {name: concatenated(held[name], block[name]) for name in held}
        )
        if warmup is not None:
            tried = warmup.run(self._held, first, self.n_rows_, self.warmup)
            if self.n_rows_ == self.warmup:
                self._begin()
            return tried
        shown = self._held[self.target].rows(slice(-len(target.values) - 1, None))
        if self.n_rows_ == self.warmup:
            self._begin()
        found = self._targets(shown, self.task_) if self._warm else self._natural(shown)
        return (
            found[:-1]
            if len(found) > len(target.values)
            else np.concatenate([found[:1], found[:-1]])
        )

    def _begin(self) -> None:
        """End the warm-up: choose the task, and learn the rows held."""
        held = self._held
        assert held is not None
        task, reason = (
            (self.task, None) if self.task != "auto" else found_task(held[self.target], self.target)
        )
        self._require_numbers(task)
        for name in sorted({*dates_as_text(held)} - {self.target, *self.ignore}):
            warnings.warn(
                f"column {name!r} holds dates as text, and each is learned as a name of its own. "
                "Convert the column, for example with pandas.to_datetime, or ignore it",
                stacklevel=4,
            )
        warmup = self._trials()
        if warmup is not None:
            warmup.look(held, self.n_rows_)
            self._adopt(warmup, task)
        else:
            self._learn_held(held, task)
        self._target_kind = held[self.target].kind
        self.task_, self._held = task, None
        for name in ("_warmup", "_finished"):
            self.__dict__.pop(name, None)
        if reason is not None:
            self.task_reason_ = reason

    def _trials(self) -> Warmup | None:
        """Return the trials for the rows held, or None if the algorithm needs all rows first.

        They are made from the rows again if they are not there.
        """
        params = self.get_params(deep=False)
        made_with, warmup = self.__dict__.get("_warmup", (None, None))
        if warmup is not None and warmup.n_rows == self.n_rows_ and made_with == params:
            return cast(Warmup, warmup)
        if isinstance(self.algorithm, str):
            known = tuple(lookup(ALGORITHMS, self.algorithm, "algorithm"))
        else:
            known = ("classification" if is_classifier_like(self.algorithm) else "regression",)
        tasks = known if self.task == "auto" else (self.task,)
        if not all(isinstance(self._make(task), Mixture) for task in tasks):
            return None
        warmup = Warmup(
            self.target, tasks, lambda task: (self._encoder(), self._make(task)), self._targets
        )
        if self.n_rows_:
            assert self._held is not None
            warmup.run(self._held, 0, self.n_rows_, self.warmup)
        self._warmup = (params, warmup)
        return warmup

    def _ready(self) -> TableModel:
        if self._warm:
            return self
        if not self.n_rows_:
            raise TableError("nothing has been learned yet")
        now = (self.n_rows_, self.get_params(deep=False))
        made_at, finished = self.__dict__.get("_finished", (None, self))
        if made_at != now:
            warmup, finished = self._trials(), copy.deepcopy(self)
            if warmup is not None:
                finished._warmup = (now[1], warmup.copied())
            self._finished = (now, finished.finish())
        return cast(TableModel, finished)
