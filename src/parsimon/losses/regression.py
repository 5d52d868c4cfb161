"""Losses of regression: each output and its target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsimon import _core
from parsimon._parts import part, real
from parsimon.formulas import OUTPUT, exp, minimum
from parsimon.losses.base import Loss

__all__ = [
    "REGRESSION",
    "Absolute",
    "EpsilonInsensitive",
    "Huber",
    "Poisson",
    "Quantile",
    "Squared",
]

Array = NDArray[np.float64]


@part
class Squared(Loss):
    """Squared loss, l(f, y) = sum_c (f_c - y_c)^2 / 2.

    The gradient is f - y.

    >>> Squared().value([0.0, 1.0], [1.0, 1.0])
    0.5
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("squared", [])


@part
class Absolute(Loss):
    """Absolute loss, l(f, y) = sum_c |f_c - y_c|.

    The subgradient is sign(f - y), which is 0 at f = y.

    >>> Absolute().value([3.0], [1.0])
    2.0
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("epsilon_insensitive", [0.0])


@part
class Huber(Loss):
    """Huber loss: squared for small residuals, linear for large ones.

    With r = f - y, it is r^2 / 2 for |r| <= delta, and delta (|r| - delta / 2) otherwise, summed
    over the outputs. The gradient is r clipped to [-delta, delta].

    Reference: Huber, *Robust estimation of a location parameter*, Annals of Mathematical Statistics
    1964.

    >>> Huber(delta=1.0).value([3.0], [0.0])
    2.5
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        real("delta", self.delta, above=0, at_most=1e20)

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("huber", [self.delta])


@part
class EpsilonInsensitive(Loss):
    """Epsilon-insensitive loss, l(f, y) = sum_c max(0, |f_c - y_c| - epsilon).

    The subgradient is sign(f_c - y_c) if |f_c - y_c| > epsilon, and 0 otherwise.

    >>> EpsilonInsensitive(epsilon=0.5).value([2.0], [0.0])
    1.5
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        real("epsilon", self.epsilon, at_least=0)

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("epsilon_insensitive", [self.epsilon])


@part
class Quantile(Loss):
    """Pinball loss, whose minimiser is the q-quantile of y (q is `quantile`).

    It is q (y - f) for y > f and (1 - q) (f - y) otherwise, summed over the outputs. The
    subgradient is -q for f < y, 1 - q for f > y, and 0 at f = y.

    Reference: Koenker & Bassett, *Regression quantiles*, Econometrica 1978.

    >>> Quantile(quantile=0.9).value([0.0], [2.0])
    1.8
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        real("quantile", self.quantile, above=0, below=1)

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("quantile", [self.quantile])


@part
class Poisson(Loss):
    """Poisson loss for counts y >= 0, l(f, y) = sum_c exp(f_c) - y_c f_c.

    f is the logarithm of the mean, and `predict` returns the mean exp(f). The gradient is exp(f) -
    y. Up to a constant the loss is half the Poisson deviance. Targets need not be whole. Negative
    targets raise an error. Above f = 231, the mean is constant and the loss continues as its
    tangent. This bound is beyond the logarithm of the largest target that models accept.

    The second derivative exp(f) is unbounded, so no step size is safe for plain gradient steps.
    Therefore each step is limited. Let s be the product of step_size, sample weight and k(x, x). A
    plain step moves f(x) by -s (exp(f) - y). Here the step is limited in both directions:

    - Upwards, f(x) moves at most to log y, which minimises the loss.
    - Downwards, f(x) moves by at most Newton's step, 1 - y exp(-f). With t = f - log y, this is 1 -
      exp(-t) <= t. So f(x) does not pass log y in this direction either.

    So a step never increases the loss of its own sample, for any step size. The new f lies between
    f and its projection onto the set of functions with the value log y at x. Hence, if y > 0,
    ||f||^2 grows by at most (log y)^2 / k(x, x), and nothing overflows. Short steps are plain
    gradient steps: downwards if s exp(f) < 1, and upwards if s y < 1. For means far above 1 use a
    `step_size` below 1 / mean. Then f averages many samples. With larger steps f follows each
    sample.

    >>> Poisson().value([0.0], [3.0])
    1.0
    >>> Poisson().gradient([0.0], [3.0])
    array([-2.])

    Reference: Nelder & Wedderburn, *Generalized linear models*, Journal of the Royal Statistical
    Society A 1972.
    """

    inverse_link = exp(minimum(OUTPUT, 231.0))

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("poisson", [])


#: Names for the ``loss`` parameter of a regressor.
REGRESSION: dict[str, type[Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "epsilon_insensitive": EpsilonInsensitive,
    "quantile": Quantile,
    "poisson": Poisson,
}
