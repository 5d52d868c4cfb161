"""Base class of the estimators that learn a kernel expansion from a stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from parsimon import _core, merging
from parsimon._parts import lookup, whole
from parsimon.estimators.learning import LearningEstimator
from parsimon.estimators.state import OneDictionary

if TYPE_CHECKING:
    from parsimon.algorithms import Recipe

Array = NDArray[np.float64]


#: Parameters of an estimator that are not parameters of its algorithm.
NOT_THE_ALGORITHMS = (
    "kernel",
    "gamma",
    "bias",
    "class_weight",
    "fit_intercept",
    "n_jobs",
    "n_passes",
    "shuffle",
    "random_state",
    "target_scale",
)


class StreamEstimator(OneDictionary[_core.Learner], LearningEstimator[_core.Learner]):
    """An estimator over one learner with a dictionary.

    A subclass sets its algorithm and its parameters: `kernel`, `gamma`, `n_passes` and the
    parameters of the algorithm, under the same names.
    """

    budget: int | None
    _algorithm: Callable[..., Recipe]

    # The learned model

    @property
    def weights_(self) -> Array:
        """Weights of the centres, (m,) or (m, C)."""
        return self._fitted().weights()

    # The model as a function

    def gradient_checked(self, X: Array) -> Array:
        """Return the derivatives of all outputs for an array X (n, d) of float64, (n, C, d).

        Outputs are in the order of the learner. This is for callers that have checked the shapes,
        and the kernel.
        """
        return self._learner.gradient(np.ascontiguousarray(X), 1)

    def norm(self) -> float:
        """Return the RKHS norm of f without the intercept, the squares summed over the outputs."""
        return merging.norm(self)

    def distance(self, other: Any) -> float:
        """Return the RKHS distance of f from the function g of another model.

        With several outputs, the squares are summed over the outputs. |f(x) - g(x)| is at most this
        distance times sqrt(k(x, x)). Intercepts are left out. The distance from an earlier copy
        measures drift.
        """
        return merging.distance(self, other)

    def compress(
        self,
        budget: int | None = None,
        *,
        tolerance: float | None = None,
        n_jobs: int | None = None,
    ) -> merging.Merged:
        """Project out centres, and return the resulting distance and sizes.

        The centre whose removal changes f least is projected out first. This is repeated while
        there are more than `budget` centres, or while the RKHS distance from the original f is at
        most `tolerance`. State other than f is carried over as by `parsimon.merge`. `n_jobs`
        threads are used (-1: one per core).

        This works for every estimator. It does not limit the number of centres in later learning:
        use `set_budget` for that. Memory that was reserved stays reserved, so `nbytes_` does not
        become smaller. A model that is saved and loaded again has only what it needs.
        """
        done = merging.compress(self, budget, tolerance, n_jobs)
        self._learner = done.model._learner
        return replace(done, model=self)

    # Budget

    def set_budget(self, budget: int) -> Self:
        """Set the maximum number of centres, and evict centres beyond it at once.

        The estimator's own rule selects the centres to evict. The parameter `budget` is set too, so
        it also holds for later calls of `fit`. Memory that was reserved stays reserved, so
        `nbytes_` does not become smaller. A model that is saved and loaded again has only what it
        needs.

        A model can learn with a large budget first, and then be reduced to the available memory, at
        once or in steps. The result is usually better than that of a small budget from the start.

        Two kinds of models raise an error. The first kind started without a budget and does not
        track the cost of a removal. The second kind never removes centres: when the budget is full,
        it admits no more samples.
        """
        learner, budget = self._fitted(), whole("budget", budget, at_least=1)
        if "budget" not in self._learns_with:
            raise TypeError(f"{type(self).__name__} has no budget")
        self._require_unchanged(but="budget")
        before, after = (
            self._recipe({**self._learns_with, "budget": b})
            for b in (self._learns_with["budget"], budget)
        )
        if (
            after.compression.budget is None
            or replace(
                after,
                compression=before.compression,
                update=after.update.limited(before.update.limit),
            )
            != before
        ):
            raise ValueError(
                f"{type(self).__name__} cannot be given budget={budget!r} after learning began, "
                "because it does not evict centres: call fit to start again"
            )
        learner.compress_by(after.compression.core(), after.reserve, after.update.limit or 0)
        self.budget = budget
        self._learns_with = {**self._learns_with, "budget": budget}
        return self

    # Implementation

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the algorithm, from those of the estimator."""
        return {k: v for k, v in params.items() if k not in NOT_THE_ALGORITHMS}

    def _recipe(self, params: dict[str, Any]) -> Recipe:
        recipe = self._algorithm(self.kernel_, **self._options(params))
        intercept, unit = self._has_intercept(params), params.get("target_scale", 1.0)
        if isinstance(unit, str):
            unit = lookup({"auto": None}, unit, "target_scale")
        elif unit is None:
            raise TypeError("target_scale must be a number or 'auto', got None")
        return replace(recipe, intercept=intercept, target_scale=unit)

    def _build(
        self, params: dict[str, Any], n_features: int, n_outputs: int, *, at_once: bool = True
    ) -> _core.Learner:
        return self._recipe(params).build(n_features, n_outputs, at_once=at_once)
