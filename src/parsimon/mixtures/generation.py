"""One generation of an expert: an estimator, and the relevance of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema
from parsimon.mixtures.recent import Recent

__all__ = ["Generation", "Learning", "Part", "packed", "sums_of_squares", "unpacked"]

Array = NDArray[np.float64]

#: Rows of which gradients are taken: the first, the one after the last, and a step.
Part = tuple[int, int, int]

#: The least relevance, relative to the largest.
LEAST_RELEVANCE = 1e-3


class Learning(Protocol):
    """How an estimator learns rows for a task."""

    def features(self, recent: Recent, first: int, last: int, lags: int) -> Array:
        """Return the inputs of rows first..last-1: features, and `lags` earlier targets."""

    def predict_then_learn(self, model: Any, X: Array, T: Array) -> Array:
        """Learn rows X with targets T, and return the predictions before each, (n, C)."""

    def learn_with_gradients(
        self,
        model: Any,
        X: Array,
        T: Array,
        parts: Sequence[Part],
        scale: Array,
    ) -> tuple[Array, Array]:
        """As `predict_then_learn`, but also return sums of squared derivatives, (parts, d)."""

    def losses(self, model: Any, P: Array, T: Array) -> Array:
        """Return the losses (n,) of predictions P for targets T."""


@dataclass
class Generation:
    """An estimator, the scales of its inputs, and its squared gradients so far."""

    model: Any
    scale: Array | None = None
    squares: Array | float = 0.0
    count: float = 0.0

    def learn(self, task: Learning, X: Array, T: Array, parts: list[tuple[Part, float]]) -> Array:
        """Learn scaled rows, and return the predictions before each, (n, C).

        Squared gradients are added for each of `parts`, after multiplying the sum by its number.
        """
        if not parts:
            return task.predict_then_learn(self.model, X, T)
        scale = np.ones(X.shape[1]) if self.scale is None else self.scale
        P, sums = task.learn_with_gradients(self.model, X, T, [part for part, _ in parts], scale)
        for ((first, last, every), keep), squares in zip(parts, sums, strict=True):
            self._add(squares, -(-(last - first) // every), keep)
        return P

    def add_gradients(self, X: Array, keep: float) -> None:
        """Add the squared gradients at scaled rows X, after multiplying the sum by `keep`."""
        self._add(sums_of_squares(self._gradient(X)), len(X), keep)

    def _add(self, squares: Array, n: int, keep: float) -> None:
        self.squares = keep * self.squares + squares
        self.count = keep * self.count + n

    def widen(self, more: int) -> None:
        """Add inputs that were 0 in all rows so far."""
        if self.model.__sklearn_is_fitted__():
            self.model._widen(self.model.n_features_in_ + more)
        if self.scale is not None:
            self.scale = np.append(self.scale, np.ones(more))
        if isinstance(self.squares, np.ndarray):
            self.squares = np.append(self.squares, np.zeros(more))

    def gradient(self, X: Array) -> Array:
        """Return the derivative of each output at rows X that are not scaled, (n, C, d)."""
        return self._gradient(X if self.scale is None else X * self.scale)

    def _gradient(self, X: Array) -> Array:
        """Return the derivative with respect to inputs that are not scaled, at scaled rows X."""
        found: Array = self.model.gradient_checked(X)
        return found if self.scale is None else found * self.scale

    @property
    def relevance(self) -> Array | None:
        """The root mean squared gradient of each input, or None before there are any."""
        if self.count == 0.0:
            return None
        root: Array = np.sqrt(self.squares / self.count)
        return root

    @property
    def next_scale(self) -> Array | None:
        """The scales of the inputs for the next generation."""
        relevance = self.relevance
        if relevance is None or not relevance.max() > 0.0:
            return None
        scale: Array = np.maximum(relevance / relevance.max(), LEAST_RELEVANCE)
        return scale


def sums_of_squares(derivatives: Array) -> Array:
    """Return the sum over all but the last axis, row by row, also if there is one column."""
    rows = np.square(derivatives).reshape(-1, derivatives.shape[-1])
    found: Array = np.add.accumulate(rows, axis=0)[-1]
    return found


def packed(generation: Generation | None) -> dict[str, Any] | None:
    """Return the state of a generation."""
    return None if generation is None else dict(vars(generation))


def unpacked(
    state: Mapping[str, Any] | None, n_features: int, check: Callable[[Any], bool]
) -> Generation | None:
    """Return the generation with a state, or raise a ValueError. `check` accepts estimators."""
    if state is None:
        return None
    generation = Generation(**state)
    sized = _schema.finite_array(n_features, least=0, most=1e100)
    squares = generation.squares
    if (
        not check(generation.model)
        or not (
            generation.scale is None
            or _schema.finite_array(n_features, least=0, most=1)(generation.scale)
        )
        or not (sized(squares) if isinstance(squares, np.ndarray) else squares == 0.0)
        or not _schema.number(0)(generation.count)
    ):
        raise ValueError("a generation of an expert is not sound")
    return generation
