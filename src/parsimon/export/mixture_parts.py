"""What the mixtures of numbers and of classes have in common: experts, lags, standardisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from parsimon import kernels
from parsimon.export.combination import Expert, Standardisation
from parsimon.export.expansion import Expansion, expansion
from parsimon.mixtures import Mixture
from parsimon.mixtures.base import CLIP

__all__ = ["awake_experts", "feature_names", "n_lags", "require_fitted", "standardisation"]


def require_fitted(model: Mixture) -> None:
    """Raise a NotFittedError if a mixture has learned nothing."""
    if not model.__sklearn_is_fitted__():
        raise NotFittedError(f"this {type(model).__name__} has learned nothing yet")


def n_lags(model: Mixture) -> int:
    """Return the number of earlier targets that the experts take. The last one is always taken."""
    return max(1, *(slot.expert.lags for slot in model._slots))


def awake_experts(
    model: Mixture,
    n_outputs: int,
    inputs_of_lag: Callable[[int], Sequence[int]],
    fitted: Callable[[Expansion, Any], Expansion] = lambda found, model: found,
) -> tuple[list[Expert], list[int]]:
    """Return the experts that do not sleep, and their places in the mixture.

    `inputs_of_lag` says which inputs of a row stand for lag 0, 1, ... `fitted` makes an expansion
    of an expert fit the outputs of the mixture. If all experts sleep, there is one that gives 0,
    because C does not allow empty arrays. It has no place.
    """
    features, experts, places = range(model.n_features_in_), [], []
    for e, slot in enumerate(model._slots):
        if slot.present is None:
            continue
        found = fitted(expansion(slot.present.model), slot.present.model)
        if slot.present.scale is not None:
            found = replace(found, scale=slot.present.scale)
        lags = [i for lag in range(slot.expert.lags) for i in inputs_of_lag(lag)]
        takes = (*lags, *features)
        experts.append(Expert(found, takes).taking(range(max(takes) + 1)))
        places.append(e)
    return experts or [_silent(n_outputs, model.n_features_in_)], places


def _silent(n_outputs: int, takes: int) -> Expert:
    """Return an expert over one input that gives 0."""
    nothing = Expansion(
        "nothing",
        kernels.Constant(),
        np.zeros((1, 1)),
        np.zeros((1, n_outputs)),
        np.zeros(n_outputs),
        np.zeros(1),
        np.ones(1),
    )
    return Expert(nothing, (takes,))


def standardisation(model: Mixture) -> Standardisation | None:
    """Return how a mixture standardises its features."""
    if not model.standardize:
        return None
    means, deviations = model._moments.now()
    return Standardisation(means[:, 0], deviations[:, 0], CLIP)


def feature_names(model: Mixture) -> tuple[str, ...] | None:
    """Return the names of the features, if it has them."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))
