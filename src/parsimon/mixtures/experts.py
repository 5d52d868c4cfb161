"""What an expert of a mixture is: an estimator, what it sees of a row, and its share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parsimon import kernels
from parsimon._parts import real, whole

__all__ = ["MOST_LAGS", "Expert", "has_link", "split"]

#: The largest number of lags.
MOST_LAGS = 8


@dataclass(frozen=True, eq=False)
class Expert:
    """One expert of a mixture.

    The mixture clones the estimator. A kernel given by name gets gamma = `width` times the value of
    gamma="median", measured on recent rows as the expert sees them.

    Parameters
    ----------
    estimator : estimator
        A `KRLSRegressor`, or another regressor of parsimon. For classes also a `POLKClassifier`
        with a logistic loss. A regressor then learns one output per class, 0 or 1.
    name : str, default="expert"
        The name in tables and plots.
    width : float > 0, default=1.0
        The factor of gamma.
    lags : int from 0 to 8, default=0
        The number of earlier targets that are further inputs. For classes, each earlier
        target becomes one input per class: 1 for its class, and 0 for the others.
    relevance : bool, default=False
        Whether inputs are scaled by their relevance, the root mean squared derivative of the
        expert's function with respect to the input. The estimator needs a differentiable kernel for
        that.
    share : float > 0, default=1.0
        The share of the budget, relative to those of the other experts.
    bias : float >= 0, default=0.0
        A constant that is added to the kernel, so that f can have an offset.

    Examples
    --------
    >>> from parsimon import KRLSRegressor
    >>> Expert(KRLSRegressor("laplacian", ridge=0.1, penalty="norm"), "lagged", lags=3).lags
    3
    """

    estimator: Any
    name: str = "expert"
    width: float = 1.0
    lags: int = 0
    relevance: bool = False
    share: float = 1.0
    bias: float = 0.0

    def __post_init__(self) -> None:
        real("width", self.width, above=0)
        whole("lags", self.lags, at_least=0, at_most=MOST_LAGS)
        real("share", self.share, above=0)
        real("bias", self.bias, at_least=0)
        if not self.is_measured and (self.width != 1.0 or self.bias):
            raise ValueError("width and bias are for kernels that are given by name")
        if not isinstance(self.name, str) or not isinstance(self.relevance, bool):
            raise TypeError("name must be a text, and relevance True or False")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expert) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self.name)

    def _values(self) -> tuple[Any, ...]:
        own = {key: value for key, value in vars(self).items() if key != "estimator"}
        return type(self.estimator), self.estimator.get_params(deep=False), own

    @property
    def is_measured(self) -> bool:
        """Whether the kernel has a width that is measured on the first rows."""
        name = kernels.named(getattr(self.estimator, "kernel", None))
        return name is not None and kernels.has_width(kernels.KERNELS[name])


def has_link(estimator: Any) -> bool:
    """Return whether predictions of an estimator differ from f, because its loss has a link."""
    loss = getattr(estimator, "_target_loss", None)
    return loss is not None and loss.inverse_link is not None


def split(budget: int, experts: Sequence[Expert]) -> list[int]:
    """Return the number of centres of each expert.

    An expert with relevance needs room for a challenger. Of the others with a width, one at a time
    has a challenger.

    >>> from parsimon import KRLSRegressor
    >>> model = KRLSRegressor("laplacian")
    >>> split(100, [Expert(model, "a", relevance=True), Expert(model, "b", share=2.0)])
    [16, 33]
    """
    once = [e.share for e in experts if e.is_measured and not e.relevance]
    total = sum(e.share * (1 + e.relevance) for e in experts) + max(once, default=0.0)
    found = [int(budget * e.share / total) for e in experts]
    if min(found) < 1:
        least = math.ceil(total / min(e.share for e in experts))
        raise ValueError(
            f"budget={budget} is too small for {len(experts)} experts: {least} is enough"
        )
    return found
