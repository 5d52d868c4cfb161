"""How experts learn numbers, scores of classes, and probabilities of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core
from parsimon.estimators.regressor import regression_targets
from parsimon.evaluation.classification import true_class
from parsimon.evaluation.steps import stream_probabilities
from parsimon.mixtures.generation import Part, sums_of_squares
from parsimon.mixtures.recent import Recent
from parsimon.preprocessing import LARGEST

__all__ = ["Numbers", "Probabilities", "Scores", "Task", "checked_targets", "scaled"]

Array = NDArray[np.float64]
#: The number of inputs for a label: classes from this number on share the last one.
LABEL_INPUTS = 16
#: The least probability in losses.
LEAST = 1e-4


class Task:
    """What experts see of a row: lags first, so that further features can follow."""

    def expect(self, n_outputs: int) -> None:
        """Take the number of outputs of the rows that come next."""

    def features(self, recent: Recent, first: int, last: int, lags: int) -> Array:
        """Return the inputs of rows first..last-1: features, and `lags` earlier targets."""
        X = recent.features(first, last)
        return X if not lags else np.hstack([self.lagged(recent.lags(first, last, lags)), X])

    def next_features(self, X: Array, T: Array) -> Array:
        """Return the inputs of rows X, all after the same earlier targets T (1, lags, k)."""
        if not T.size:
            return X
        own = self.lagged(T)
        return np.hstack([np.broadcast_to(own, (len(X), own.shape[1])), X])

    def n_inputs(self, d: int, n_targets: int, lags: int) -> int:
        """Return the number of inputs of an expert."""
        return d + lags * n_targets

    def lagged(self, T: Array) -> Array:
        """Return earlier targets (n, lags, k) as inputs."""
        return T.reshape(len(T), -1)

    def predict(self, model: Any, X: Array) -> Array:
        """Return the predictions (n, C)."""
        found: Array = model.predict_checked(X)
        return found

    def predict_then_learn(self, model: Any, X: Array, T: Array) -> Array:
        """Learn rows X with targets T, and return the predictions before each, (n, C)."""
        raise NotImplementedError

    def learn_with_gradients(
        self, model: Any, X: Array, T: Array, parts: Sequence[Part], scale: Array
    ) -> tuple[Array, Array]:
        """As `predict_then_learn`, but also return sums of squared derivatives, (parts, d).

        A part (first, last, every) is over each `every`-th row from first to last - 1, when the
        model has learned row last - 1. Derivatives are multiplied by `scale` (d,).
        """
        found, sums, at = [], np.zeros((len(parts), X.shape[1])), 0
        for k, (first, last, every) in enumerate(parts):
            found.append(self.predict_then_learn(model, X[at:last], T[at:last]))
            each = model.gradient_checked(X[first:last:every]) * scale
            sums[k] = sums_of_squares(each)
            at = last
        if at < len(X):
            found.append(self.predict_then_learn(model, X[at:], T[at:]))
        return np.vstack(found), sums


class Numbers(Task):
    """Targets of regression, scaled."""

    def predict_then_learn(self, model: Any, X: Array, T: Array) -> Array:
        """Learn rows, and return the predictions before each, (n, C)."""
        return _learned(model, X, T)

    def learn_with_gradients(
        self, model: Any, X: Array, T: Array, parts: Sequence[Part], scale: Array
    ) -> tuple[Array, Array]:
        """As `predict_then_learn`, but also return sums of squared derivatives, (parts, d)."""
        return _learned_with_gradients(model, X, T, parts, scale)

    def losses(self, model: Any, P: Array, T: Array) -> Array:
        """Return the squared errors, (n,)."""
        found: Array = np.square(P - T).sum(axis=1)
        return found


class _Labels(Task):
    """Targets are numbers of classes, in the order in which the classes appeared."""

    def __init__(self) -> None:
        self.n_classes = 0

    def expect(self, n_outputs: int) -> None:
        """Take the number of classes of the rows that come next."""
        self.n_classes = n_outputs

    def n_inputs(self, d: int, n_targets: int, lags: int) -> int:
        """Return the number of inputs of an expert."""
        return d + lags * LABEL_INPUTS

    def lagged(self, T: Array) -> Array:
        """Return earlier labels as 0 and 1, (n, lags * LABEL_INPUTS)."""
        places = np.minimum(T[:, :, 0].astype(np.int64), LABEL_INPUTS - 1)
        return np.eye(LABEL_INPUTS)[places].reshape(len(T), -1)


class Scores(_Labels):
    """Classes by least squares: one output per class, 0 or 1."""

    def predict_then_learn(self, model: Any, X: Array, T: Array) -> Array:
        """Learn rows, and return the scores before each, (n, C)."""
        self._require_outputs(model)
        return _learned(model, X, self._indicators(T))

    def learn_with_gradients(
        self, model: Any, X: Array, T: Array, parts: Sequence[Part], scale: Array
    ) -> tuple[Array, Array]:
        """As `predict_then_learn`, but also return sums of squared derivatives, (parts, d)."""
        self._require_outputs(model)
        return _learned_with_gradients(model, X, self._indicators(T), parts, scale)

    def losses(self, model: Any, P: Array, T: Array) -> Array:
        """Return the squared errors, (n,)."""
        # In the order of the columns: further classes, which are 0, change no bit.
        found: Array = np.add.accumulate(np.square(P - self._indicators(T)), axis=1)[:, -1]
        return found

    def _require_outputs(self, model: Any) -> None:
        """Add outputs for classes that the model does not know."""
        if model.__sklearn_is_fitted__() and model.n_outputs_ < self.n_classes:
            model.add_outputs(self.n_classes - model.n_outputs_)

    def _indicators(self, T: Array) -> Array:
        Y = np.zeros((len(T), self.n_classes))
        Y[np.arange(len(T)), T[:, 0].astype(np.int64)] = 1.0
        return Y


class Probabilities(_Labels):
    """Classes by a classifier with probabilities."""

    def predict_then_learn(self, model: Any, X: Array, T: Array) -> Array:
        """Learn rows, and return the probabilities before each, (n, C)."""
        P = stream_probabilities(model, X, T[:, 0].astype(np.int64))
        return self._placed(model, P)

    def predict(self, model: Any, X: Array) -> Array:
        """Return the probabilities (n, C)."""
        return self._placed(model, model.predict_proba(X))

    def losses(self, model: Any, P: Array, T: Array) -> Array:
        """Return the logarithmic losses, (n,)."""
        own = true_class(P, np.arange(P.shape[1]), T[:, 0].astype(np.int64))
        found: Array = -np.log(np.maximum(own, LEAST))
        return found

    def _placed(self, model: Any, P: Array) -> Array:
        """Return the columns where the mixture has them. A new generation may not know a class."""
        found = np.zeros((len(P), self.n_classes))
        found[:, model.classes_] = P
        return found


def _learned(model: Any, X: Array, Y: Array) -> Array:
    """Learn rows with a regressor, and return the predictions before each, (n, C)."""
    learn = model.learn_checked if model.__sklearn_is_fitted__() else model.predict_then_learn
    found: Array = learn(np.ascontiguousarray(X), np.ascontiguousarray(Y))
    return found


def _learned_with_gradients(
    model: Any, X: Array, Y: Array, parts: Sequence[Part], scale: Array
) -> tuple[Array, Array]:
    """As `_learned`, but also return sums of squared derivatives, (parts, d)."""
    found: tuple[Array, Array] = model.learn_checked_with_gradients(
        np.ascontiguousarray(X), np.ascontiguousarray(Y), parts, scale
    )
    return found


def scaled(values: Any, means: Any, deviations: Any, largest: float = np.inf) -> Array:
    """Return values in units of deviations, at most `largest`. Without a deviation they are 0."""
    known = deviations > 0.0
    if known.all():
        found = (values - means) / deviations
    else:
        found = np.where(known, values - means, 0.0) / np.where(known, deviations, 1.0)
    result: Array = np.minimum(np.maximum(found, -largest), largest)
    return result


def checked_targets(y: ArrayLike, n: int) -> Array:
    """Return the targets of n rows as numbers, (n,) or (n, C), or raise an error."""
    Y = regression_targets(y, n)
    _core.require_finite(Y.reshape(n, -1), "y")
    if np.abs(Y).max() > LARGEST:
        raise ValueError(f"y is {Y[np.abs(Y) > LARGEST].ravel()[0]:g}, which is too large")
    return Y
