"""Kernels of one distance or one product, and their registry."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from parsimon import _core
from parsimon._parts import part, real, whole
from parsimon.formulas import (
    ABSOLUTE_DISTANCE,
    PRODUCT,
    SQUARED_DISTANCE,
    Expression,
    exp,
    log1p,
    minimum,
    power,
    sqrt,
)
from parsimon.kernels.algebra import Kernel

__all__ = [
    "KERNELS",
    "Cauchy",
    "Gaussian",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Polynomial",
    "RationalQuadratic",
]


@part
class Gaussian(Kernel):
    r"""Gaussian kernel, k(x, y) = exp(-gamma ||x - y||^2).

    With a standard deviation sigma, ``gamma = 1 / (2 sigma^2)``. In Honeine et al. (2007),
    ``gamma = 1 / beta``.

    >>> Gaussian(gamma=2.0)([[0.0]], [[1.0]]).round(6)
    array([[0.135335]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _positive_gamma(self)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("gaussian", [self.gamma])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return exp(-self.gamma * SQUARED_DISTANCE)


@part
class Laplacian(Kernel):
    """Laplacian kernel, k(x, y) = exp(-gamma ||x - y||_1).

    The distance is the sum of absolute differences, as in scikit-learn.

    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, -1.0]]).round(6)
    array([[0.367879]])
    """

    metric: ClassVar[str] = "cityblock"
    gamma: float = 1.0

    def __post_init__(self) -> None:
        _positive_gamma(self)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("laplacian", [self.gamma])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return exp(-self.gamma * ABSOLUTE_DISTANCE)


@part
class Matern32(Kernel):
    """Matern kernel of smoothness 3/2, k(x, y) = (1 + z) exp(-z).

    Here z^2 = 6 gamma ||x - y||^2. In the usual form z = sqrt(3) ||x - y|| / l, the length scale is
    l = 1 / sqrt(2 gamma), as for ``Gaussian(gamma)``.

    >>> Matern32(gamma=0.5)([[0.0]], [[1.0]]).round(6)
    array([[0.483358]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _positive_gamma(self)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("matern32", [self.gamma])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        z = _matern(6.0, self.gamma)
        return (1.0 + z) * exp(-z)


@part
class Matern52(Kernel):
    """Matern kernel of smoothness 5/2, k(x, y) = (1 + z + z^2/3) exp(-z).

    Here z^2 = 10 gamma ||x - y||^2. In the usual form z = sqrt(5) ||x - y|| / l, the length scale
    is l = 1 / sqrt(2 gamma), as for ``Gaussian(gamma)``.

    >>> Matern52(gamma=0.5)([[0.0]], [[1.0]]).round(6)
    array([[0.523994]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _positive_gamma(self)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("matern52", [self.gamma])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        z = _matern(10.0, self.gamma)
        return (1.0 + z + z * z / 3.0) * exp(-z)


@part
class RationalQuadratic(Kernel):
    """Rational quadratic kernel, k(x, y) = (1 + gamma ||x - y||^2 / alpha)^-alpha.

    It is a mixture of Gaussian kernels of all widths.

    >>> RationalQuadratic(gamma=1.0, alpha=2.0)([[0.0]], [[2.0]]).round(6)
    array([[0.111111]])
    """

    gamma: float = 1.0
    alpha: float = 1.0

    def __post_init__(self) -> None:
        _positive_gamma(self)
        real("alpha", self.alpha, above=0)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("rational_quadratic", [self.gamma, self.alpha])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        z = self.gamma / self.alpha * SQUARED_DISTANCE
        if float(self.alpha).is_integer() and self.alpha <= 64:
            return 1.0 / power(1.0 + z, int(self.alpha))  # needs no logarithm
        return exp(-self.alpha * log1p(z))


@part
class Cauchy(Kernel):
    """Cauchy kernel, k(x, y) = 1 / (1 + gamma ||x - y||^2).

    Its tails are heavy, so distant points keep an influence. It equals ``RationalQuadratic(gamma,
    alpha=1)``, but needs neither a logarithm nor an exponential.

    >>> Cauchy(gamma=1.0)([[0.0]], [[2.0]])
    array([[0.2]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        _positive_gamma(self)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("cauchy", [self.gamma])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return 1.0 / (1.0 + self.gamma * SQUARED_DISTANCE)


@part
class Polynomial(Kernel):
    """Polynomial kernel, k(x, y) = (gamma x'y + offset)^degree, with offset >= 0.

    >>> Polynomial(degree=2, gamma=1.0, offset=1.0)([[1.0, 2.0]], [[3.0, 0.5]])
    array([[25.]])
    """

    degree: int = 3
    gamma: float = 1.0
    offset: float = 1.0

    def __post_init__(self) -> None:
        _positive_gamma(self)
        whole("degree", self.degree, at_least=1, at_most=1000)
        real("offset", self.offset, at_least=0)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("polynomial", [self.gamma, self.offset, self.degree])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return power(self.gamma * PRODUCT + self.offset, self.degree)


@part
class Linear(Kernel):
    """Linear kernel, k(x, y) = x'y.

    >>> Linear()([[1.0, 2.0]], [[3.0, 0.5]])
    array([[4.]])
    """

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.leaf("linear", [])

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return PRODUCT


#: The kernels that the parameter ``kernel`` of an estimator can name. A kernel with a ``gamma``
#: takes that of the estimator.
KERNELS: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "poly": Polynomial,
    "laplacian": Laplacian,
    "matern32": Matern32,
    "matern52": Matern52,
    "rational_quadratic": RationalQuadratic,
    "cauchy": Cauchy,
    "polynomial": Polynomial,
    "linear": Linear,
}


def _matern(factor: float, gamma: float) -> Expression:
    """Return z = sqrt(factor gamma) ||x - y||, limited to 800.

    At 800, exp(-z) and z exp(-z) are 0. Without the limit, infinity times 0 would be NaN.
    """
    return minimum(float(np.sqrt(factor) * np.sqrt(gamma)) * sqrt(SQUARED_DISTANCE), 800.0)


def _positive_gamma(kernel: Any) -> None:
    real("gamma", kernel.gamma, above=0)
