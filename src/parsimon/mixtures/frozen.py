"""Mixtures that do not learn, for many predictions of a few rows.

What does not depend on the row is computed once: the weights of the experts, the bounds, and the
earlier targets that experts see. The experts predict in one call of the core. Predictions have the
same bits as those of the mixture.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _core
from parsimon.mixtures.base import CLIP, Mixture
from parsimon.mixtures.classifier import MixtureClassifier
from parsimon.mixtures.regressor import LARGEST_SCALED, MixtureRegressor
from parsimon.mixtures.tasks import Scores, scaled

__all__ = ["FrozenClassifier", "FrozenRegressor", "frozen"]

Array = NDArray[np.float64]


def frozen(mixture: Any) -> Any:
    """Return a mixture for predictions only, or None if it has an expert that sleeps.

    The mixture must not learn from then on. Rows must be checked by the caller: they are arrays
    (n, d) of float64, with finite values that the mixture accepts.

    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = MixtureRegressor().partial_fit(X, X[:, 0])
    >>> bool((frozen(model).predict(X[:3]) == model.predict(X[:3])).all())
    True
    """
    if type(mixture) not in (MixtureRegressor, MixtureClassifier):
        return None
    if any(slot.present is None for slot in mixture._slots):
        return None
    make = FrozenRegressor if isinstance(mixture, MixtureRegressor) else FrozenClassifier
    return make(mixture)


class FrozenRegressor:
    """A `MixtureRegressor` for predictions only."""

    def __init__(self, mixture: MixtureRegressor) -> None:
        last = mixture._earlier(1)[0]
        self._flat = mixture._flat
        self._committee = _committee(mixture, np.vstack([last, np.zeros_like(last)]))
        means, deviations = mixture._target_moments.now()
        low, high = mixture._bounds(mixture._low, mixture._high)
        self._outputs: list[tuple[Array, Array, Array]] = []
        for c, stack in enumerate(mixture._stacks):
            limits = [
                scaled(bound[c], means[c], deviations[c], LARGEST_SCALED).item()
                for bound in (low, high)
            ]
            constants = np.array([*limits, means[c, 0], deviations[c, 0], low[c], high[c]])
            self._outputs.append((stack.weights(), stack.weights(lagged=False), constants))

    def predict(self, X: Array, *, lagged: bool = True) -> Array:
        """Predict for X (n, d), as `MixtureRegressor.predict` does."""
        return self._combined(self._committee.outputs(X), lagged)

    def predict_both(self, X: Array) -> tuple[Array, Array]:
        """Predict for X (n, d) with and without earlier targets."""
        P = self._committee.outputs(X)
        return self._combined(P, True), self._combined(P, False)

    def _combined(self, P: Array, lagged: bool) -> Array:
        each = [
            _core.weighted_sum(P, c, full if lagged else plain, constants)
            for c, (full, plain, constants) in enumerate(self._outputs)
        ]
        return each[0] if self._flat else np.column_stack(each)


class FrozenClassifier:
    """A `MixtureClassifier` for predictions only."""

    def __init__(self, mixture: MixtureClassifier) -> None:
        self._committee = _committee(mixture, mixture._history.now())
        self._pool, self._order = mixture._pool, np.argsort(mixture._met)
        self._labels = mixture.classes_
        self._probable = [
            (e, slot.present.model)
            for e, (slot, task) in enumerate(zip(mixture._slots, mixture._tasks, strict=True))
            if slot.present is not None and not isinstance(task, Scores)
        ]

    def predict_proba(self, X: Array, *, lagged: bool = True) -> Array:
        """Return the probability of each class, as `MixtureClassifier.predict_proba` does."""
        P = self._committee.outputs(X)
        for e, model in self._probable:
            columns = np.argsort(model._met)
            own = model._loss.probabilities(P[:, e, columns])
            P[:, e] = 0.0
            P[:, e, model.classes_] = own
        return self._pool.combine(P, lagged)[:, self._order]

    def predict(self, X: Array, *, lagged: bool = True) -> NDArray[Any]:
        """Predict labels for X (n, d), as `MixtureClassifier.predict` does."""
        found: NDArray[Any] = self._labels[self.predict_proba(X, lagged=lagged).argmax(axis=1)]
        return found


def _committee(mixture: Mixture, constants: Array) -> _core.Committee:
    """Return the experts of a mixture, with experts after them whose outputs are constant."""
    earlier = mixture._earlier(max(slot.expert.lags for slot in mixture._slots))
    experts = [
        (slot.present, task.next_features(np.empty((1, 0)), earlier[:, : slot.expert.lags])[0])
        for slot, task in zip(mixture._slots, mixture._tasks, strict=True)
        if slot.present is not None
    ]
    moments = None
    if mixture.standardize:
        moments = np.stack([each[:, 0] for each in mixture._moments.now()])
    return _core.Committee(
        [present.model._learner for present, _ in experts],
        [np.ascontiguousarray(first) for _, first in experts],
        [present.scale for present, _ in experts],
        moments,
        CLIP,
        mixture.n_features_in_,
        np.ascontiguousarray(constants),
    )
