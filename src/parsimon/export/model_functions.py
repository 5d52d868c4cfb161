"""The function of a model on a row of numbers: an expansion, or a combination of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parsimon.export.candidate_classifier import candidate_classifier
from parsimon.export.combination import Combination
from parsimon.export.expansion import Expansion, expansion
from parsimon.export.mixture_classifier import mixture_classifier
from parsimon.export.mixture_regressor import mixture_regressor
from parsimon.mixtures import CandidateClassifier, MixtureClassifier, MixtureRegressor

__all__ = ["MIXTURES", "ModelFunction", "model_function"]

ModelFunction = Expansion | Combination

#: Functions that return a fitted mixture as a combination. A new mixture needs a line here, and a
#: module with that function and its combiner.
MIXTURES: dict[type[Any], Callable[[Any], Combination]] = {
    MixtureRegressor: mixture_regressor,
    MixtureClassifier: mixture_classifier,
    CandidateClassifier: candidate_classifier,
}


def model_function(model: Any) -> ModelFunction:
    """Return a fitted model as a function of a row of numbers.

    `model` is a mixture in `MIXTURES`, or anything that `expansion` accepts.
    """
    for mixture, combination in MIXTURES.items():
        if isinstance(model, mixture):
            return combination(model)
    return expansion(model)
