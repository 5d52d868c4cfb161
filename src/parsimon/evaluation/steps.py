"""One block, predicted and then learned, with any model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from parsimon.estimators.classifier import StreamClassifier
from parsimon.evaluation.window import Array, Labels

__all__ = ["Predictions", "is_classifier_like", "predict_then_learn", "stream_probabilities"]


class Predictions(NamedTuple):
    """The predictions for the rows of a block, each before the row was learned.

    Classifiers may add probabilities (n, C) and the labels of their columns (C,). `plain` are the
    predictions of a mixture without the last targets.
    """

    values: Labels
    probabilities: Array | None = None
    classes: Labels | None = None
    plain: Labels | None = None

    @property
    def scored(self) -> tuple[Any, ...]:
        """What metrics take."""
        return self.values, self.probabilities, self.classes


def predict_then_learn(
    model: Any, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
) -> Predictions:
    """Learn a block X (n, d), y (n,) with any model, and return the predictions before each row.

    Estimators of parsimon take the whole block at once. This equals a loop over its rows, except
    for parameters that are computed from the first block. Other models take one row at a time. They
    have `partial_fit` and `predict` (scikit-learn), or `learn_one` and `predict_one` (River).
    `classes` is passed to `partial_fit` of classifiers.

    A model that has learned nothing cannot predict its first row. The prediction is then the target
    of the row itself, and the metrics do not count this row.

    >>> from sklearn.linear_model import SGDRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> before = predict_then_learn(SGDRegressor(random_state=0), X, X[:, 0]).values
    >>> bool(np.mean((before[-100:] - X[-100:, 0]) ** 2) < 0.5 * X[:, 0].var())
    True
    """
    labels = np.asarray(y)
    if not len(labels):
        return Predictions(labels)
    if hasattr(model, "predict_proba_then_learn"):
        P = model.predict_proba_then_learn(X, labels)
        return Predictions(
            np.where(P.any(axis=1), model.classes_[P.argmax(axis=1)], labels), P, model.classes_
        )
    if isinstance(model, StreamClassifier) and hasattr(model, "predict_proba"):
        P = stream_probabilities(model, X, labels)
        return Predictions(
            np.where(P.any(axis=1), model.classes_[P.argmax(axis=1)], labels), P, model.classes_
        )
    if hasattr(model, "predict_both_then_learn"):
        values, plain = model.predict_both_then_learn(X, labels)
        return Predictions(values, plain=plain)
    if hasattr(model, "predict_then_learn"):
        return Predictions(model.predict_then_learn(X, labels))
    rows = _Rows(model, classes)
    return Predictions(
        np.array(
            [rows.step(x, label) for x, label in zip(np.asarray(X), labels.tolist(), strict=True)]
        )
    )


def stream_probabilities(model: Any, X: ArrayLike, labels: Labels) -> Array:
    """Learn a block with a classifier of parsimon, and return the probabilities before each row.

    Probabilities have shape (n, C), with columns as in `classes_` after the block. A class that was
    not yet known at a row has probability 0 in that row.
    """
    first = model._first_rows(labels)
    known = len(getattr(model, "_index", {})) + np.searchsorted(
        first, np.arange(len(labels)), side="left"
    )
    F = model._before_and_learn(X, labels, None)
    unknown = np.arange(F.shape[1]) >= known[:, np.newaxis]
    F[unknown & (known > 0)[:, np.newaxis]] = -np.inf
    P = model._loss.probabilities(F)
    P[unknown] = 0.0
    result: Array = model._sorted(P)
    return result


class _Rows:
    """A model that takes one row at a time."""

    def __init__(self, model: Any, classes: ArrayLike | None) -> None:
        self.model, self.classes = model, classes
        if not (hasattr(model, "partial_fit") and hasattr(model, "predict")) and not hasattr(
            model, "learn_one"
        ):
            raise TypeError(
                f"{type(model).__name__} learns from no stream: it has neither partial_fit and "
                "predict nor learn_one and predict_one"
            )

    def step(self, x: Any, label: Any) -> Any:
        if not hasattr(self.model, "partial_fit"):
            features = dict(enumerate(x.tolist()))
            found = self.model.predict_one(features)
            self.model.learn_one(features, label)
            return label if found is None else found
        row = x[np.newaxis]
        try:
            found = self.model.predict(row)[0]
        except (NotFittedError, AttributeError):
            found = label
        if self.classes is None or not is_classifier(self.model):
            self.model.partial_fit(row, [label])
        else:
            self.model.partial_fit(row, [label], classes=self.classes)
        return found


def is_classifier_like(model: Any) -> bool:
    """Return whether a model of scikit-learn or River predicts classes."""
    return hasattr(model, "predict_proba_one") or (
        hasattr(model, "__sklearn_tags__") and is_classifier(model)
    )
