"""What readers see: a model that does not change, and facts about it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from parsimon.preprocessing import TableError
from parsimon.serving.errors import Refused
from parsimon.serving.rows import Row, block_of
from parsimon.tables import TableModel
from parsimon.tables.frozen import FrozenTable

__all__ = ["Published", "plain"]


@dataclass(frozen=True)
class Published:
    """A model as it was at a place in the log. `model` is None before the first row.

    `warm` says whether the warm-up has ended, so that the columns are settled.
    """

    target: str
    place: int
    model: TableModel | None = None
    n_rows: int = 0
    warm: bool = False
    at: float = field(default_factory=time.time)

    @classmethod
    def of(cls, model: TableModel, place: int) -> Published:
        """Publish a model that goes on learning."""
        frozen = model.frozen_copy() if model.n_rows_ else None
        return cls(model.target, place, frozen, model.n_rows_, hasattr(model, "encoder_"))

    def check(self, rows: Sequence[Row]) -> None:
        """Raise `Refused` if the model would refuse to learn rows, as far as this is known."""
        if self.model is None or not self.warm:
            return  # the learner knows, and its answer is waited for
        try:
            self.model.check(block_of(rows, self.model.column_kinds_, self.target))
        except TableError as error:
            raise Refused(422, str(error)) from None

    def predict(
        self, rows: Sequence[Row], *, intervals: bool = False, probabilities: bool = False
    ) -> list[dict[str, Any]]:
        """Return a prediction for each row, with an interval and probabilities if asked for."""
        if self.model is None:
            raise Refused(409, "nothing has been learned yet")
        block = block_of(rows, self.model.column_kinds_, self.target)
        try:
            found = self.rows.predict(block, return_intervals=intervals)
            values = (found[0] if intervals else found).tolist()
            answers: list[dict[str, Any]] = [{"prediction": value} for value in values]
            if intervals:
                for answer, each in zip(answers, found[1].tolist(), strict=True):
                    answer["interval"] = plain(each)
            if probabilities:
                self._add_probabilities(answers, block)
        except TableError as error:
            raise Refused(422, str(error)) from None
        return answers

    @cached_property
    def rows(self) -> FrozenTable:
        """The model for predictions of single rows, which is made when the first row comes."""
        assert self.model is not None
        return FrozenTable(self.model)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is known about the model: rows, metrics, centres, bytes, columns, experts."""
        model = self.model
        facts: dict[str, Any] = {"target": self.target, "rows": self.n_rows, "warm": self.warm}
        if model is None:
            return facts
        facts |= {
            "task": model.task_,
            "columns": {n: k for n, k in model.column_kinds_.items() if n != self.target},
            "centers": model.n_centers_,
            "bytes": model.nbytes_,
            "rolling": model.metrics_.rolling(),
            "total": model.metrics_.total(),
        }
        if model.interval_metrics_ is not None:
            facts["coverage"] = model.interval_metrics_.rolling()
            facts["intervals"] = model.intervals
        if model.task_ == "classification":
            facts["classes"] = model.classes_.tolist()
        try:
            facts["shares"] = model.shares_
        except AttributeError:
            facts["shares"] = {}
        found: dict[str, Any] = plain(facts)
        return found

    @cached_property
    def relevance(self) -> dict[str, float]:
        """How much predictions depend on each column."""
        found = None if self.model is None else self.model.relevance_
        return found or {}

    def _add_probabilities(self, answers: list[dict[str, Any]], block: Any) -> None:
        assert self.model is not None
        if self.model.task_ != "classification":
            raise Refused(422, "probabilities are for classes, and this model predicts numbers")
        try:
            P = self.rows.predict_proba(block)
        except AttributeError as error:
            raise Refused(422, str(error)) from None
        names = [_name(label) for label in self.model.classes_.tolist()]
        for answer, each in zip(answers, P.tolist(), strict=True):
            answer["probabilities"] = dict(zip(names, each, strict=True))


def plain(value: Any) -> Any:
    """Return a value for JSON: numbers that are not finite become None.

    >>> plain({"width": float("inf"), "ends": [1.0, float("nan")]})
    {'width': None, 'ends': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _name(label: Any) -> str:
    """Return a label as the name of a JSON object: true and false as in JSON."""
    return str(label).lower() if isinstance(label, bool) else str(label)
