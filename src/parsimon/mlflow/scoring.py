"""Predictions for data frames, as MLflow asks for them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from parsimon.persistence import load
from parsimon.tables import TableModel

__all__ = ["Scorer", "load_scorer", "require_scorable"]


class Scorer:
    """A model as a Python function of MLflow.

    Parameters
    ----------
    model : TableModel or estimator
        A model that has learned.

    Examples
    --------
    >>> model = TableModel("y").learn_one({"x": 1.0, "y": 2.0})
    >>> Scorer(model).predict(pd.DataFrame({"x": [3.0]}))
    array([2.])
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_raw_model(self) -> Any:
        """Return the model."""
        return self.model

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Return predictions (n,), or a frame with what `params` ask for.

        `params` may have "intervals" (columns lower and upper), "probabilities" (a column for each
        class) and "lagged", as in `TableModel.predict`.
        """
        given = dict(params or {})
        options = {name: bool(given.pop(name)) for name in tuple(given) if name in PARAMS}
        if given:
            raise ValueError(f"unknown parameters {sorted(given)}; known are {', '.join(PARAMS)}")
        if not isinstance(self.model, TableModel):
            return self._of_estimator(model_input, options)
        block = _block(model_input, self.model)
        lagged, intervals = options.get("lagged", True), options.get("intervals", False)
        found = self.model.predict(block, lagged=lagged, return_intervals=intervals)
        columns = {"prediction": found[0] if intervals else found}
        if intervals:
            columns |= {"lower": found[1][:, 0], "upper": found[1][:, 1]}
        if options.get("probabilities"):
            if self.model.task_ != "classification":
                raise ValueError("probabilities are for classes, and this model predicts numbers")
            P = self.model.predict_proba(block, lagged=lagged)
            columns |= _by_class(self.model, P)
        return found if len(columns) == 1 else pd.DataFrame(columns)

    def _of_estimator(self, model_input: Any, options: Mapping[str, bool]) -> Any:
        if options.get("intervals") or not options.get("lagged", True):
            raise ValueError("intervals and lagged are parameters of table models")
        X = np.asarray(model_input, float)
        found = self.model.predict(X)
        if not options.get("probabilities"):
            return found
        return pd.DataFrame(
            {"prediction": found, **_by_class(self.model, self.model.predict_proba(X))}
        )


#: The parameters of predictions, with their defaults.
PARAMS = {"intervals": False, "probabilities": False, "lagged": True}


def load_scorer(path: str) -> Scorer:
    """Return the model of a file as a Python function."""
    return Scorer(load(path))


def require_scorable(model: Any) -> None:
    """Raise an error unless a model has learned, and predicts rows."""
    if isinstance(model, TableModel):
        if not model.n_rows_:
            raise ValueError("nothing has been learned yet")
    elif not (hasattr(model, "predict") and hasattr(model, "n_features_in_")):
        raise TypeError(
            f"a {type(model).__name__} cannot be scored: give a TableModel, or an estimator that "
            "has learned"
        )


def _by_class(model: Any, P: Any) -> dict[str, Any]:
    return {f"probability_{label}": P[:, j] for j, label in enumerate(model.classes_.tolist())}


def _block(model_input: Any, model: TableModel) -> dict[str, Any]:
    """Return the columns of a frame. Values that MLflow cannot hold are converted."""
    frame = model_input if isinstance(model_input, pd.DataFrame) else pd.DataFrame(model_input)
    kinds = model.column_kinds_
    return {str(name): _converted(frame[name], kinds.get(str(name), "")) for name in frame.columns}


def _converted(values: pd.Series, kind: str) -> Any:
    convert = CONVERSIONS.get(kind)
    if convert is None:
        return values
    return [None if pd.isna(value) else convert(value) for value in values]


def _date(value: Any) -> Any:
    if isinstance(value, str):
        return datetime.date.fromisoformat(value)
    return value.date() if isinstance(value, datetime.datetime) else value


def _time(value: Any) -> Any:
    return datetime.time.fromisoformat(value) if isinstance(value, str) else value


def _duration(value: Any) -> Any:
    number = isinstance(value, int | float | np.number)
    return datetime.timedelta(seconds=float(value)) if number else value


#: MLflow has times with a date only, and no durations: these are texts and seconds.
CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "date": _date,
    "time": _time,
    "duration": _duration,
}
