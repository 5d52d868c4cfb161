"""The first rows of a table: models that predict before the task and the columns are settled.

Until the end of the warm-up, the rows are held. Whole numbers can be quantities or classes, so both
are tried side by side. A trial is an encoder and an estimator for one task. Its features are those
of the columns so far. After 1, 16 and 64 rows, and at the end, the columns are looked at again. If
they have other features by then, for example an indicator of missing values, the trial begins
again with all rows held.

Everything depends on the rows alone, so blocks equal loops. A file holds the rows. Trials are made
from them again.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.evaluation import Predictions, predict_then_learn
from parsimon.preprocessing import Column, TableEncoder
from parsimon.tables.targets import class_rows

__all__ = ["Trial", "Warmup", "dates_as_text", "rows_of"]

Array = NDArray[np.float64]
Labels = NDArray[Any]

#: The numbers of rows after which the columns are looked at again.
LOOKS = (1, 16, 64)
#: How a date of ISO 8601 begins.
DATE = re.compile(r"\d{4}-(0\d|1[0-2])-[0-3]\d($|[T ])")


@dataclass
class Trial:
    """An encoder and an estimator for one task."""

    encoder: TableEncoder
    estimator: Any
    features: list[Array] = field(default_factory=list)  # of all rows, as they were learned

    def learn(self, columns: dict[str, Column], y: Labels) -> Predictions:
        """Learn rows, and return the predictions before."""
        fitting = {name: _as(columns[name], kind) for name, kind in self.encoder.columns_.items()}
        X = self.encoder.learn_columns(fitting)
        self.features.append(X)
        return predict_then_learn(self.estimator, X, y)


class Warmup:
    """The trials of a table model.

    `made(task)` returns an encoder and an estimator. `targets(column, task)` returns targets.
    """

    def __init__(
        self,
        target: str,
        tasks: tuple[str, ...],
        made: Callable[[str], tuple[TableEncoder, Any]],
        targets: Callable[[Column, str], Labels],
    ) -> None:
        self.target, self.tasks, self.made, self.targets = target, tasks, made, targets
        self.trials: dict[str, Trial] = {}
        self.found: dict[str, list[tuple[Labels, Predictions]]] = {}
        self.n_rows = 0

    def run(self, held: dict[str, Column], first: int, last: int, end: int) -> Labels:
        """Learn rows first..last-1 of those held. Return the predictions before each.

        `end` is the number of rows of the warm-up.
        """
        shown: list[Labels] = []
        at = first
        while at < last:
            stop = min([last, *(look for look in (*LOOKS, end) if look > at)])
            stop = self._cut(held[self.target], at, stop)
            shown.append(self._learn(held, at, stop))
            if stop in LOOKS or stop == end:
                self.look(held, stop)
            at = stop
        return np.concatenate(shown) if shown else np.empty(0)

    def look(self, held: dict[str, Column], n: int) -> None:
        """Begin trials again whose columns have other features in the first n rows."""
        columns = {
            name: _alone(column.rows(slice(0, n)))
            for name, column in held.items()
            if name != self.target
        }
        for task in self._possible(held[self.target].rows(slice(0, n))):
            encoder, estimator = self.made(task)
            encoder.settle(columns)
            trial = self.trials.get(task)
            if trial is None or encoder.structure != trial.encoder.structure:
                self.trials[task] = trial = Trial(encoder, estimator)
                trial.learn(columns, self.targets(held[self.target].rows(slice(0, n)), task))

    def copied(self) -> Warmup:
        """Return trials that go on by themselves."""
        other = copy.copy(self)
        other.trials, other.found = copy.deepcopy(self.trials), copy.deepcopy(self.found)
        return other

    # Implementation

    def _possible(self, target: Column) -> list[str]:
        """Return the tasks that targets allow, the one to show first."""
        if len(self.tasks) == 1:
            return list(self.tasks)
        possible = ["classification"] if class_rows(target)[-1] else []
        numeric = target.kind in ("number", "duration")
        return [*possible, "regression"] if numeric or not possible else possible

    def _cut(self, target: Column, first: int, last: int) -> int:
        """Return where rows first..last-1 end if no row may be the first that is not a class."""
        fits = class_rows(target.rows(slice(0, last)))[first:]
        return last if fits.all() or not fits[0] else first + int((~fits).argmax())

    def _learn(self, held: dict[str, Column], first: int, last: int) -> Labels:
        target = held[self.target].rows(slice(0, last))
        rows = rows_of(held, slice(first, last))
        possible = self._possible(target)
        for task in self.trials.keys() - set(possible):
            del self.trials[task], self.found[task]
        for task in possible:
            y = self.targets(rows[self.target], task)
            trial = self.trials.get(task)
            # There is none for the very first row only, of which nothing is known.
            found = Predictions(y, plain=y) if trial is None else trial.learn(rows, y)
            self.found.setdefault(task, []).append((y, found))
        self.n_rows = last
        return self.found[possible[0]][-1][1].values


def rows_of(columns: dict[str, Column], rows: slice) -> dict[str, Column]:
    """Return some of the rows of columns."""
    return {name: column.rows(rows) for name, column in columns.items()}


def _alone(column: Column) -> Column:
    """Return a column as it would be read without the rows after it."""
    absent = column.values < 0 if column.kind == "text" else np.isnan(column.values)
    return Column("empty", np.full(len(absent), np.nan), []) if absent.all() else column


def _as(column: Column, kind: str) -> Column:
    """Return a column of this kind. A column of another kind counts as missing."""
    alone = _alone(column)
    if alone.kind in (kind, "empty"):
        return alone
    return Column("empty", np.full(len(column.values), np.nan), [])


def dates_as_text(columns: dict[str, Column]) -> list[str]:
    """Return the names of the text columns that hold dates, more than one.

    >>> times = Column("text", np.array([0.0, 1.0]), ["2026-01-01 10:00", "2026-01-01 11:00"])
    >>> dates_as_text({"time": times, "name": Column("text", np.array([0.0]), ["May"])})
    ['time']
    """
    return [
        name
        for name, column in columns.items()
        if column.kind == "text"
        and len(column.categories) > 1
        and all(map(DATE.match, column.categories))
    ]
