"""Losses: convex functions l(f, y) of a prediction f and a target y.

Each docstring says which subgradient is taken at a kink.

>>> from parsimon.losses import Squared, MulticlassHinge
>>> Squared().value([1.0], [3.0])
2.0
>>> MulticlassHinge().gradient([0.2, 0.9, -0.3], 0)
array([-1.,  1.,  0.])
"""

from __future__ import annotations

from typing import Any

from parsimon._parts import lookup
from parsimon.losses.base import Loss
from parsimon.losses.classification import (
    CLASSIFICATION,
    ClassificationLoss,
    Hinge,
    Logistic,
    MulticlassHinge,
    MultinomialLogistic,
    SquaredHinge,
)
from parsimon.losses.regression import (
    REGRESSION,
    Absolute,
    EpsilonInsensitive,
    Huber,
    Poisson,
    Quantile,
    Squared,
)

__all__ = [
    "CLASSIFICATION",
    "LOSSES",
    "REGRESSION",
    "Absolute",
    "ClassificationLoss",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "MultinomialLogistic",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredHinge",
    "resolve",
]

#: Names of scikit-learn for the losses that have another name here.
SYNONYMS = {"squared_error": "squared", "absolute_error": "absolute", "log_loss": "logistic"}
#: All losses by name.
LOSSES: dict[str, type[Loss]] = {**REGRESSION, **CLASSIFICATION}


def resolve(loss: Any, known: dict[str, type[Any]]) -> Any:
    """Return the loss called `loss`, or `loss` itself if it is an object.

    Names of scikit-learn (`SYNONYMS`) are understood too.

    >>> resolve("huber", REGRESSION), resolve("squared_error", REGRESSION)
    (Huber(delta=1.0), Squared())
    """
    if isinstance(loss, tuple(known.values())):
        return loss
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise TypeError(f"loss must be a name or an object: write {loss.__name__}()")
    if isinstance(loss, Loss):
        names = ", ".join(cls.__name__ for cls in known.values())
        raise ValueError(f"{loss!r} cannot be used here; these can: {names}")
    if isinstance(loss, str) and SYNONYMS.get(loss) in known:
        loss = SYNONYMS[loss]
    return lookup(known, loss, "loss")()
