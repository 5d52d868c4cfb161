"""Classifiers of scikit-learn for streams in which new classes can appear."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier

__all__ = ["OpenClassifier"]


class OpenClassifier:
    """A classifier of scikit-learn that can meet new classes at any time.

    Labels are numbered in their order of appearance, and the classifier learns the numbers. If all
    numbers are used, a linear model gets a further one-against-all function, which is 0 with an
    intercept of -1. Other models do not learn labels beyond the numbers they began with.

    Parameters
    ----------
    model : the classifier, with `partial_fit`.
    numbers : how many classes to begin with.
    """

    def __init__(self, model: Any, numbers: int) -> None:
        self._model, self._classes = model, np.arange(max(numbers, 2))
        self._numbers: dict[Any, int] = {}
        self._labels: list[Any] = []

    def predict(self, X: NDArray[np.float64]) -> list[Any]:
        """Predict the label of one row."""
        if not self._labels:
            raise NotFittedError
        return [self._labels[min(int(self._model.predict(X)[0]), len(self._labels) - 1)]]

    def partial_fit(self, X: NDArray[np.float64], y: list[Any]) -> None:
        """Learn one row."""
        number = self._numbers.setdefault(y[0], len(self._numbers))
        if number == len(self._labels):
            self._labels.append(y[0])
        if number >= len(self._classes):
            if not isinstance(self._model, SGDClassifier):
                return
            self._add_class()
        self._model.partial_fit(X, [number], classes=self._classes)

    def _add_class(self) -> None:
        model = self._model
        W, b = model.coef_, model.intercept_
        if len(W) == 1:  # with two classes there is one function, for the second class
            W, b = np.concatenate([-W, W]), np.concatenate([-b, b])
        self._classes = np.arange(len(W) + 1)
        model.coef_, model.intercept_ = np.vstack([W, np.zeros_like(W[:1])]), np.append(b, -1.0)
        model.classes_ = self._classes
