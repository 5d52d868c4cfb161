"""Base classes of the River regressors and classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon import losses
from parsimon._formula_values import applied
from parsimon.river.stream import Array, Sample, Stream, base, dataframe, number, numbers

__all__ = ["Classifier", "Regressor"]


class Regressor(Stream, base.MiniBatchRegressor):
    """A regressor with one target."""

    def learn_one(self, x: Sample, y: float, w: float = 1.0) -> None:
        """Learn a sample: its features, its target and its weight."""
        if type(y) is not float:
            y = number(y, "y")
        if w == 1.0:
            self._learn_one(x, y)
        else:
            self._learn_one(x, y, self._weight(w))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn a frame of samples; this equals `learn_one` for each row.

        `w` is one weight for all rows, or a series of weights.
        """
        series = dataframe.into_series(y)
        self._learn_many(X, numbers(series, "y"), w=w)
        self._y_name = series.name

    def predict_one(self, x: Sample) -> float:
        """Predict for a sample. Before anything is learned, f is 0.

        The prediction is then 0, or exp(0) = 1 with the Poisson loss.
        """
        value = self._ask_one(x, self._of.predict_one)
        return self._unlearned() if value is None else float(value)

    def predict_many(self, X: Any) -> Any:
        """Predict for a frame of samples, and return a series."""
        frame = dataframe.into_frame(X)
        values = self._ask_many(frame, self._of.predict)
        return dataframe.to_native_series(
            np.full(len(frame), self._unlearned()) if values is None else values,
            name=self._y_name,
            like=frame,
        )

    def _unlearned(self) -> float:
        """Return the prediction for f = 0."""
        loss = getattr(self, "loss", None)
        link = None if loss is None else losses.resolve(loss, losses.REGRESSION).inverse_link
        return 0.0 if link is None else float(applied(link, np.zeros(1))[0])


class Classifier(Stream, base.MiniBatchClassifier):
    """A classifier. New classes can appear at any time."""

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Sample, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        """Learn a sample: its features, its label and its weight."""
        if type(y) not in _PLAIN_LABELS:
            y = _label(y)
        if w == 1.0:
            self._learn_one(x, y)
        else:
            self._learn_one(x, y, self._weight(w))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn a frame of samples; this equals `learn_one` for each row.

        `w` is one weight for all rows, or a series of weights.
        """
        series = dataframe.into_series(y)
        labels = [_label(label) for label in series.to_list()]
        if len({isinstance(label, str) for label in labels}) > 1:
            raise TypeError("y holds both strings and other labels")
        self._learn_many(X, labels, w=w)
        self._y_name = series.name

    def predict_one(self, x: Sample, **kwargs: Any) -> base.typing.ClfTarget | None:
        """Predict the label of a sample; None before anything is learned."""
        label = self._ask_one(x, self._of.predict_one)
        return None if label is None else label.item()

    def predict_many(self, X: Any) -> Any:
        """Predict the labels of a frame of samples, and return a series."""
        frame = dataframe.into_frame(X)
        labels = self._ask_many(frame, self._of.predict)
        return dataframe.to_native_series(
            [None] * len(frame) if labels is None else labels.tolist(),
            name=self._y_name,
            like=frame,
        )

    def predict_proba_one(self, x: Sample, **kwargs: Any) -> dict[base.typing.ClfTarget, float]:
        """Return the probability of each label seen.

        Models without a logistic loss have no probabilities and raise NotImplementedError.
        """
        self._require_probabilities()
        return self._ask_one(x, _probabilities) or {}

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities for a frame of samples: a frame with one column per label.

        Models without a logistic loss have no probabilities and raise NotImplementedError.
        """
        self._require_probabilities()
        frame = dataframe.into_frame(X)
        values = self._ask_many(frame, lambda estimator, block: estimator.predict_proba(block))
        if values is None:
            return dataframe.to_native_frame(np.zeros((len(frame), 0)), columns=[], like=frame)
        columns = dict(zip(self._estimator.classes_.tolist(), values.T, strict=True))
        return dataframe.to_native_frame(columns, like=frame)

    def _require_probabilities(self) -> None:
        loss = getattr(self, "loss", None)
        if loss is None or not losses.resolve(loss, losses.CLASSIFICATION).has_probabilities:
            given = "" if loss is None else f" with loss={loss!r}"
            raise NotImplementedError(f"{type(self).__name__} gives no probabilities{given}")


#: Types of labels that need no conversion.
_PLAIN_LABELS = frozenset({str, bool, int})


def _probabilities(estimator: Any, row: Array) -> dict[Any, float]:
    """Return the probabilities for one row, without the overhead of `predict_proba`."""
    F = estimator._learner.predict(row[np.newaxis])
    return dict(
        zip(estimator._met.tolist(), estimator._loss.probabilities(F)[0].tolist(), strict=False)
    )


def _label(y: Any) -> Any:
    """Return a label as a plain Python object."""
    plain = y.item() if isinstance(y, np.generic) else y
    if not isinstance(plain, str | int | float):
        raise TypeError(f"y must be one label (a string, a whole number or a bool), got {y!r}")
    return plain
