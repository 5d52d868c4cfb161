"""Kernels: small immutable objects that evaluate and compose.

>>> from parsimon.kernels import Gaussian, Linear
>>> k = Gaussian(gamma=0.5) + 0.1 * Linear()
>>> k([[0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]).round(4)
array([[0.3679, 1.    ]])

Calling a kernel gives a block, ``diagonal`` gives k(x, x) for each row. A value depends on its two
points alone: the block of several rows equals the blocks of the rows, bit for bit. Gaussian, Matern
and rational quadratic kernels share the meaning of `gamma`: the others tend to ``Gaussian(gamma)``
as they become smoother.

``SinglePrecision`` around any of them halves the memory of a model's centres.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core
from parsimon._parts import lookup, numbers, part, real, whole
from parsimon.formulas import (
    ABSOLUTE_DISTANCE,
    PRODUCT,
    SQUARED_DISTANCE,
    Cosine,
    Expression,
    Number,
    exp,
    log1p,
    minimum,
    power,
    sqrt,
)

__all__ = [
    "KERNELS",
    "Cauchy",
    "Constant",
    "Function",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Normalized",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "SinglePrecision",
    "Sum",
]

Array = NDArray[np.float64]


class Kernel(ABC):
    """A positive definite function k(x, y) of two points in R^d."""

    #: The distance in which the kernel's width is measured, as SciPy calls it.
    metric: ClassVar[str] = "sqeuclidean"
    #: Whether points are rounded to single precision.
    single: ClassVar[bool] = False

    @abstractmethod
    def core(self) -> _core.Kernel:
        """Return the C++ twin."""

    def formula(self) -> Expression:
        """Return k(x, y) as an expression of `parsimon.formulas`, from which models are exported.

        A kernel without one works as any other, but a model with it cannot be exported.
        """
        raise TypeError(
            f"the kernel {self!r} has no formula that could be exported: give its class a method formula()"
        )

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Evaluate a block: X (n, d) and Y (m, d) give (n, m); without Y, X against itself."""
        left = _points(X, "X", self.single)
        return self.core().block(left, left if Y is None else _points(Y, "Y", self.single))

    def diagonal(self, X: ArrayLike) -> Array:
        """Evaluate k(x, x) for each row of X (n, d): (n,)."""
        return self.core().diagonal(_points(X, "X", self.single))

    def __add__(self, other: Kernel | float) -> Kernel:
        """Add a kernel, or a constant."""
        return Sum(self, _kernel(other))

    def __radd__(self, other: Kernel | float) -> Kernel:
        """Add a kernel, or a constant."""
        return Sum(_kernel(other), self)

    def __mul__(self, other: Kernel | float) -> Kernel:
        """Multiply by a kernel, or a constant."""
        return Product(self, _kernel(other))

    def __rmul__(self, other: Kernel | float) -> Kernel:
        """Multiply by a kernel, or a constant."""
        return Product(_kernel(other), self)


@part
class Gaussian(Kernel):
    r"""Gaussian kernel, k(x, y) = exp(-gamma ||x - y||^2).

    The papers' other parameters: ``gamma = 1 / (2 sigma^2)`` for a standard deviation sigma, ``1 /
    beta`` in Honeine et al. 2007.

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
    """Laplacian kernel, k(x, y) = exp(-gamma ||x - y||_1), with the sum of absolute differences as
    in scikit-learn.

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
    """Matern kernel of smoothness 3/2, k(x, y) = (1 + z) exp(-z) with z^2 = 6 gamma ||x - y||^2.

    In the usual form z = sqrt(3) r / l the length scale is l = 1 / sqrt(2 gamma), that of
    ``Gaussian(gamma)``.

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
    """Matern kernel of smoothness 5/2, k(x, y) = (1 + z + z^2/3) exp(-z) with z^2 = 10 gamma ||x -
    y||^2.

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
    """Rational quadratic kernel, k(x, y) = (1 + gamma ||x - y||^2 / alpha)^-alpha: a mixture of
    Gaussians of all widths.

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
    """Cauchy kernel, k(x, y) = 1 / (1 + gamma ||x - y||^2). Its tails are heavy: far points count.

    It equals ``RationalQuadratic(gamma, alpha=1)``, without a logarithm and an exponential.

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


@part
class Constant(Kernel):
    """Constant kernel, k(x, y) = value: added to another kernel, it gives the model a (regularised)
    offset.

    Mind that it also makes all points more coherent: with a value c added to a kernel of k(x, x) =
    1 no coherence is below c / (1 + c), so a coherence threshold must lie above that, or nothing is
    admitted after the first sample. To centre the targets is often the better way.

    >>> (Linear() + Constant(0.5))([[1.0]], [[2.0]])
    array([[2.5]])
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        real("value", self.value, at_least=0)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.constant(self.value)

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return Number(float(self.value))


@part
class Sum(Kernel):
    """Sum of two kernels, k(x, y) = left(x, y) + right(x, y); written ``left + right``.

    >>> Sum(Constant(1.0), Constant(2.0))([[0.0]], [[1.0]])
    array([[3.]])
    """

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        _require_kernels(left=self.left, right=self.right)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.sum(self.left.core(), self.right.core())

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return self.left.formula() + self.right.formula()


@part
class Product(Kernel):
    """Product of two kernels, k(x, y) = left(x, y) right(x, y); written ``left * right``.

    >>> Product(Constant(3.0), Linear())([[1.0]], [[2.0]])
    array([[6.]])
    """

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        _require_kernels(left=self.left, right=self.right)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.product(self.left.core(), self.right.core())

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return self.left.formula() * self.right.formula()


@part
class Normalized(Kernel):
    """Normalised kernel, k(x, y) = inner(x, y) / sqrt(inner(x, x) inner(y, y)): the cosine between
    the feature maps.

    Zero where inner(x, x) is zero.

    >>> Normalized(Linear())([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0], [0.0, 0.0]])
    array([[1., 0., 0.]])
    """

    inner: Kernel

    def __post_init__(self) -> None:
        _require_kernels(inner=self.inner)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.normalized(self.inner.core())

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return Cosine(self.inner.formula())


@part
class Function(Kernel):
    """A Python function ``function(x, y) -> float`` of two points (d,) as a kernel.

    Slow: one call a value.

    The function must be symmetric and positive definite; nothing checks that beyond k(x, x) >= 0
    and finite values. An exception that it raises while a model learns a block leaves the model
    with the rows before it learned.

    >>> k = Function(lambda x, y: float(min(x[0], y[0])))
    >>> k([[1.0]], [[2.0], [0.5]])
    array([[1. , 0.5]])
    """

    function: Callable[[Array, Array], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.callable(self.function)

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        raise TypeError(
            f"the kernel {self!r} is a Python function, and code cannot be exported as data"
        )


@part
class SinglePrecision(Kernel):
    """Any kernel of points rounded to single precision, k(x, y) = kernel(r(x), r(y)), r(x) the
    nearest floats of 32 bits: models store their centres in half the memory.

    A kernel like any other, of the features r(x): all that is computed is computed in double
    precision, and a model that sees X (n, d) is bit for bit the model with `kernel` that sees
    ``X.astype(float32)``. Values beyond the range of floats, 3.4e38, are refused. It is put around
    a whole kernel, and is no part of another one.

    Parameters
    ----------
    kernel : Kernel or str
        A name is that of an estimator's ``kernel`` parameter, to be used with its ``gamma``.

    Examples
    --------
    >>> k = SinglePrecision(Gaussian(gamma=0.5) + Constant(1.0))
    >>> k([[0.1]]) == k([[0.1 + 1e-9]], [[0.1]])
    array([[ True]])

    >>> from parsimon import KNLMSRegressor
    >>> model = KNLMSRegressor(SinglePrecision("gaussian"), gamma=0.5).fit([[0.1, 0.2], [3.0, 4.0]], [0.0, 1.0])
    >>> model.kernel_
    SinglePrecision(kernel=Gaussian(gamma=0.5))
    >>> bool((model.centers_ == model.centers_.astype("float32")).all())
    True
    """

    kernel: Kernel | str
    single = True

    def __post_init__(self) -> None:
        if isinstance(self.kernel, str):
            lookup(KERNELS, self.kernel, "kernel")
        else:
            _require_kernels(kernel=self.kernel)

    @property
    def inner(self) -> Kernel:
        """The kernel of the rounded points, which must not be a name any more."""
        if isinstance(self.kernel, str):
            raise TypeError(
                f"{self!r} names a kernel, which needs an estimator's gamma: give a kernel object"
            )
        return self.kernel

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.single_precision(self.inner.core())

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return self.inner.formula()


#: Kernels that an estimator's ``kernel`` parameter can name, a line for each. One that has a
#: ``gamma`` takes the estimator's.
KERNELS: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplacian": Laplacian,
    "matern32": Matern32,
    "matern52": Matern52,
    "rational_quadratic": RationalQuadratic,
    "cauchy": Cauchy,
    "polynomial": Polynomial,
    "linear": Linear,
}


def resolve(
    kernel: str | Kernel | Callable[[Array, Array], float], gamma: float | str, X: Array
) -> Kernel:
    """Return the kernel that an estimator's `kernel` and `gamma` mean, given its first block X (n,
    d).
    """
    if isinstance(kernel, SinglePrecision) and isinstance(kernel.kernel, str):
        return SinglePrecision(resolve(kernel.kernel, gamma, seen(kernel, X)))
    if isinstance(kernel, str):
        cls = lookup(KERNELS, kernel, "kernel")
        if not has_width(cls):
            width(gamma, X[:1])  # a wrong one is still wrong
            return cls()
        return cls(gamma=width(gamma, X, cls.metric))  # type: ignore[call-arg]
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(
            f"kernel must be an object, got the class {kernel.__name__}: write {kernel.__name__}()"
        )
    if not (isinstance(gamma, str) and gamma == "scale"):
        raise ValueError(
            f"gamma={gamma!r} has no effect on a kernel given as an object: set it there"
        )
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Function(kernel)  # type: ignore[arg-type]
    raise TypeError(
        f"kernel must be a name, a kernel object or a function of two points, got {kernel!r}"
    )


def has_width(cls: type[Kernel]) -> bool:
    """Tell whether a kernel takes an estimator's gamma."""
    return "gamma" in getattr(cls, "__match_args__", ())


def named(kernel: Any) -> str | None:
    """Return the name by which a kernel is given, alone or in single precision; None if it is not."""
    name = kernel.kernel if isinstance(kernel, SinglePrecision) else kernel
    return name if isinstance(name, str) else None


def agrees(
    kernel: Kernel, given: Any, gamma: float | str, settled: Callable[[Any, float | str], Kernel]
) -> bool:
    """Return whether `kernel` is what `settled(given, gamma)` can be.

    A `gamma` that is measured can be any number.
    """
    if named(given) is not None and isinstance(gamma, str):
        lookup({"scale": None, "median": None}, gamma, "gamma")
        inner: Any = kernel
        while isinstance(inner, Sum | SinglePrecision):
            inner = inner.left if isinstance(inner, Sum) else inner.kernel
        gamma = getattr(inner, "gamma", gamma)
    return settled(given, gamma) == kernel


def seen(kernel: Any, X: Array, what: str = "X") -> Array:
    """Return X (n, d) as a kernel sees it: rounded, if that is to single precision."""
    if not isinstance(kernel, SinglePrecision):
        return X
    _core.require_finite(X, what, True)
    return X.astype(np.float32).astype(np.float64)


def width(gamma: float | str, X: Array, metric: str = "sqeuclidean") -> float:
    """Return gamma as a number.

    "scale" is 1 / (d Var[X]), as in scikit-learn (1 where the variance is 0); "median" is 1 / (2
    median ||x_i - x_j||^2) over at most 1000 rows of X (n, d), evenly spaced. For the Laplacian
    kernel (metric "cityblock") they are 1 / (d std[X]) and 1 / median ||x_i - x_j||_1. A first
    block of one row has no spread to measure: both are 1 / d then, which suits standardised
    features.

    >>> width("scale", np.array([[0.0, 0.0], [2.0, 2.0]]))
    0.5
    """
    if not isinstance(gamma, str):
        return real("gamma", gamma, above=0)
    measure = lookup({"scale": _scale, "median": _median}, gamma, "gamma")
    value = 1.0 / X.shape[1] if len(X) == 1 else measure(X, metric)
    if not 0.0 < value < np.inf:
        raise ValueError(
            f"gamma={gamma!r} gives {value} on the first block: scale the columns of X, or give a number"
        )
    return value


def _scale(X: Array, metric: str) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(X.var() if metric == "sqeuclidean" else X.std())
        return 1.0 / (X.shape[1] * spread) if spread != 0 else 1.0


def _median(X: Array, metric: str) -> float:
    from scipy.spatial.distance import pdist

    rows = X[np.linspace(0, len(X) - 1, min(len(X), 1000)).astype(int)]
    distances = pdist(rows, metric)
    distances = distances[distances > 0]
    with np.errstate(over="ignore"):
        median = float(np.median(distances)) if len(distances) else 1.0
    return 1.0 / ((2.0 if metric == "sqeuclidean" else 1.0) * median) if len(distances) else 1.0


def _matern(factor: float, gamma: float) -> Expression:
    """Return z = sqrt(factor gamma) ||x - y||, up to 800.

    There exp(-z) is 0, and so is z exp(-z); infinity times 0 would not be.
    """
    return minimum(float(np.sqrt(factor) * np.sqrt(gamma)) * sqrt(SQUARED_DISTANCE), 800.0)


def _positive_gamma(kernel: Any) -> None:
    real("gamma", kernel.gamma, above=0)


def _require_kernels(**parts: object) -> None:
    for name, given in parts.items():
        if not isinstance(given, Kernel):
            raise TypeError(f"{name} must be a kernel object, got {given!r}")
        if given.single:
            raise TypeError(
                f"{given!r} cannot be part of another kernel: put it around the whole, as in SinglePrecision(a + b)"
            )


def _kernel(value: Kernel | float) -> Kernel:
    return value if isinstance(value, Kernel) else Constant(value)


def _points(X: ArrayLike, what: str, single: bool = False) -> Array:
    points: Array = numbers(X, what, lambda X: np.ascontiguousarray(X, dtype=np.float64))
    if points.ndim != 2:
        raise ValueError(
            f"{what} must have two dimensions (points, features), got shape {points.shape}"
        )
    _core.require_finite(points, what, single)
    return points
