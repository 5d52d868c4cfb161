"""The state of a table model, and how a file holds it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from parsimon import _schema
from parsimon.conformal import Intervals
from parsimon.evaluation import METRICS, IntervalMetrics
from parsimon.evaluation.steps import is_classifier_like
from parsimon.mixtures import CandidateClassifier, Mixture
from parsimon.persistence import Storable
from parsimon.preprocessing import (
    KINDS,
    LARGEST,
    Column,
    TableEncoder,
    TargetScaler,
    feature_count,
)
from parsimon.tables.targets import TASKS

__all__ = ["StoredTable"]

Labels = NDArray[Any]

#: Attributes that exist from the end of the warm-up on, all of them or none.
LEARNED = ("task_", "encoder_", "_scores", "_target_kind")


def _is_text(value: Any) -> bool:
    """Return whether this is text that can be written, so without lone surrogates."""
    return isinstance(value, str) and value == value.encode(errors="replace").decode()


#: What the parameters of a stored model must be.
PARAMETERS: dict[str, _schema.Check] = {
    "target": _is_text,
    "task": _schema.one_of(str),
    "missing": _schema.one_of(str),
    "max_categories": _schema.whole(1),
    "clip": lambda value: isinstance(value, int | float) and value > 0,
    "ignore": lambda value: isinstance(value, list | tuple) and all(map(_is_text, value)),
    "warmup": _schema.whole(2),
    "window": _schema.whole(1),
    "budget": lambda value: value is None or _schema.whole(1)(value),
    "options": lambda value: value is None or isinstance(value, dict),
    "intervals": lambda value: value is None or (_schema.number(0, 1)(value) and 0 < value < 1),
}


class StoredTable(Storable, BaseEstimator):  # type: ignore[misc]
    """The state of a table model: the rows held during the warm-up, later the learned model."""

    target: str
    task_: str
    encoder_: TableEncoder
    scaler_: TargetScaler
    estimator_: Any
    task_reason_: str
    reading_: dict[str, Any]
    _scores: Any
    _target_kind: str
    _held: dict[str, Column] | None  # the rows of the warm-up
    intervals: float | None
    _intervals: Intervals
    _made_intervals: Callable[[], Intervals]
    _require_same_intervals: Callable[[], None]
    _attributes = _schema.Schema(
        {},
        {
            "task_": lambda task: task in TASKS[1:],
            "encoder_": _schema.one_of(TableEncoder),
            "scaler_": _schema.one_of(TargetScaler),
            "estimator_": _schema.one_of(Storable),
            "_scores": _schema.one_of(*METRICS.values()),
            "_target_kind": lambda kind: kind in KINDS,
            "_intervals": _schema.one_of(dict),
            "_interval_scores": _schema.one_of(IntervalMetrics),
            "_held": lambda held: held is None or _schema.listed(_is_held)(held),
        },
    )

    @property
    def _warm(self) -> bool:
        return hasattr(self, "estimator_")

    @property
    def n_rows_(self) -> int:
        """Number of rows so far."""
        if self._warm:
            return self.encoder_.n_rows_seen_
        held: dict[str, Column] | None = getattr(self, "_held", None)
        return 0 if held is None else len(held[self.target].values)

    @property
    def column_kinds_(self) -> dict[str, str]:
        """The kind of each column so far, with the target. Columns without values are left out."""
        if self._warm:
            return {**self.encoder_.columns_, self.target: self._target_kind}
        held = getattr(self, "_held", None) or {}
        return {name: column.kind for name, column in held.items() if column.kind != "empty"}

    @property
    def metrics_(self) -> Any:
        """The test-then-learn metrics, or None during the warm-up."""
        return getattr(self, "_scores", None)

    @property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        labels: Labels = self.estimator_.classes_
        return labels

    @property
    def n_centers_(self) -> int:
        """The number of centres."""
        m: int = self.estimator_.n_centers_
        return m

    @property
    def nbytes_(self) -> int:
        """The size of the estimator in bytes."""
        size: int = self.estimator_.nbytes_
        intervals: Intervals | None = getattr(self, "_intervals", None)
        return size + (0 if intervals is None else intervals.nbytes)

    @property
    def interval_metrics_(self) -> IntervalMetrics | None:
        """Coverage and width of the intervals, or None."""
        return getattr(self, "_interval_scores", None)

    @property
    def relevance_(self) -> dict[str, float] | None:
        """The relevance of each column, the largest being 1, or None if it is not known.

        A column can have several features. Its relevance is the largest of theirs.
        """
        model = getattr(self, "estimator_", None)
        found = model.relevance_ if isinstance(model, Mixture) else None
        if found is None:
            return None
        columns = self.encoder_.encoded_columns_
        sizes = [
            feature_count(column.kind, self.encoder_.max_categories) + column.indicator
            for column in columns
        ]
        largest = np.maximum.reduceat(found, np.cumsum([0, *sizes[:-1]]))
        return dict(zip((column.name for column in columns), largest.tolist(), strict=True))

    @property
    def shares_(self) -> dict[str, float]:
        """The weight of each expert by name, if the estimator is a mixture."""
        model = getattr(self, "estimator_", None)
        if not isinstance(model, Mixture):
            what = "this model has no estimator yet"
            if model is not None:
                what = f"the estimator is a {type(model).__name__}"
            raise AttributeError(f"only mixtures have shares, and {what}")
        return dict(zip(model.expert_names_, model.shares_.tolist(), strict=True))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `parsimon.load` reads.

        The file holds data, never code. It is written completely or not at all.
        """
        self._require_same_intervals()
        super().save(path)

    def __copy__(self) -> Self:
        """Return a copy that shares nothing with the model."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that a file keeps."""
        state = dict(super().__getstate__())
        state.pop("task_reason_", None)
        for name in ("_warmup", "_finished", "_last_intervals", "_rows_per_second"):
            state.pop(name, None)
        if "_intervals" in state:
            state["_intervals"] = state.pop("_intervals").state()  # last, as after loading
        if state.get("_held") is not None:
            state["_held"] = _packed(state["_held"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        if state.get("_held") is not None:
            state["_held"] = _unpacked(state["_held"], state["target"])
        if "estimator_" in state and not set(LEARNED) <= state.keys():
            raise ValueError("it is not complete")
        stored = state.pop("_intervals", None)
        if not _is_reading(state.get("reading_", {})):
            raise ValueError("what it says about its data is not sound")
        super().__setstate__(state)
        if stored is not None:
            if self.intervals is None or not hasattr(self, "encoder_"):
                raise ValueError("it has intervals that it should not have")
            self._intervals = self._made_intervals()
            # A mixture has intervals with and without the last targets.
            n = 2 if isinstance(self.estimator_, Mixture) else 1
            self._intervals.restore(stored, self.encoder_.n_features_, n)

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, Storable)

    def _require_sound(self) -> None:
        for name, check in PARAMETERS.items():
            if not check(getattr(self, name)):
                raise ValueError(f"its parameter {name} is {getattr(self, name)!r}")
        if not self._warm:
            if any(hasattr(self, name) for name in (*LEARNED, "scaler_")):
                raise ValueError("it has no estimator")
            return
        model, task = self.estimator_, self.task_
        if not isinstance(self._scores, METRICS[task]) or not hasattr(self._scores, "n_rows_"):
            raise ValueError("its metrics are not those of its task")
        if (task == "regression") != hasattr(self, "scaler_") or not hasattr(
            self.encoder_, "columns_"
        ):
            raise ValueError("it is not complete")
        if task == "regression" and not hasattr(self.scaler_, "_moments"):
            raise ValueError("its scaler has seen nothing")
        if not hasattr(model, "partial_fit") or is_classifier_like(model) != (
            task == "classification"
        ):
            raise ValueError(f"its estimator is not for {task}")
        if isinstance(model, CandidateClassifier):
            model = model._learned()[0]
        both = hasattr(self, "_intervals"), hasattr(self, "_interval_scores")
        if both != ((self.intervals is not None),) * 2 or (any(both) and task != "regression"):
            raise ValueError("its intervals are not those of its parameters")
        if not model.__sklearn_is_fitted__() or model.n_features_in_ != self.encoder_.n_features_:
            raise ValueError("its estimator does not fit its encoder")


def _packed(held: dict[str, Column]) -> list[Any]:
    """Return the rows of the warm-up as a file holds them."""
    return [[name, *column] for name, column in held.items()]


def _unpacked(columns: list[Any], target: str) -> dict[str, Column]:
    """Return the rows of the warm-up, or raise a ValueError."""
    held = {name: Column(kind, values, categories) for name, kind, values, categories in columns}
    if target not in held or len({len(column.values) for column in held.values()}) != 1:
        raise ValueError("the rows that it holds are not sound")
    if len(held) != len(columns) or len(held) < 2:
        raise ValueError("the columns that it holds are not sound")
    return held


def _is_held(column: Any) -> bool:
    """Return whether this is a column of the warm-up, as a file holds it."""
    if not isinstance(column, list | tuple) or len(column) != 4:
        return False
    name, kind, values, categories = column
    if not _is_text(name):
        return False
    plain = (
        isinstance(name, str)
        and kind in (*KINDS, "empty")
        and _schema.listed(_schema.one_of(str))(categories)
    )
    if (
        not plain
        or not isinstance(values, np.ndarray)
        or values.dtype != np.float64
        or values.ndim != 1
    ):
        return False
    if kind != "text":
        return not (np.abs(values) > LARGEST).any()
    return bool(((values >= -1) & (values < len(categories))).all() and (values % 1 == 0).all())


def _is_reading(value: Any) -> bool:
    """Return whether this can be the attribute `reading_`, which says how data were read."""
    if not isinstance(value, dict) or not value.keys() <= {"decimal", "date_formats", "skipped"}:
        return False
    formats, skipped = value.get("date_formats", []), value.get("skipped", 0)
    sound = isinstance(skipped, int) and not isinstance(skipped, bool) and skipped >= 0
    sound = sound and isinstance(formats, list) and all(isinstance(form, str) for form in formats)
    return sound and value.get("decimal", ".") in (".", ",")
