"""The base class of kernels, their sums and their products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core
from parsimon._parts import numbers, part, real
from parsimon.formulas import Expression, Number

__all__ = [
    "Constant",
    "Kernel",
    "Product",
    "Sum",
    "as_points",
    "require_differentiable",
    "require_kernels",
]

Array = NDArray[np.float64]


class Kernel(ABC):
    """A positive definite function k(x, y) of two points in R^d.

    Values are computed in C++. A subclass in Python has no C++ twin, so it cannot add a kernel.
    `Function` makes a kernel of a Python function, which is slow. Sums and products of kernels are
    kernels too. CONTRIBUTING.md lists the files to touch for a new kernel in C++.
    """

    #: The distance for the width of the kernel, by its name in SciPy.
    metric: ClassVar[str] = "sqeuclidean"
    #: Whether the kernel rounds points to single precision.
    single: ClassVar[bool] = False

    @abstractmethod
    def core(self) -> _core.Kernel:
        """Return the C++ twin."""

    def formula(self) -> Expression:
        """Return k(x, y) as an expression of `parsimon.formulas`, which exports translate.

        A kernel without a formula works in models, but these models cannot be exported.
        """
        raise TypeError(
            f"the kernel {self!r} has no formula that could be exported: "
            "give its class a method formula()"
        )

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return the values (n, m) of k for all rows of X (n, d) and Y (m, d).

        Without Y, Y is X.
        """
        left = as_points(X, "X", self.single)
        return self.core().block(left, left if Y is None else as_points(Y, "Y", self.single))

    def diagonal(self, X: ArrayLike) -> Array:
        """Return k(x, x) for each row of X (n, d), an array (n,)."""
        return self.core().diagonal(as_points(X, "X", self.single))

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
class Constant(Kernel):
    """Constant kernel, k(x, y) = value.

    Added to another kernel, it gives the model a regularised offset.

    It also makes all points more coherent. The coherence of two points is their normalised kernel
    value |k(x, y)| / sqrt(k(x, x) k(y, y)). Suppose that c is added to a kernel with k(x, x) = 1
    and k(x, y) >= 0. Then every coherence is at least c / (1 + c). A coherence threshold must be
    above this value. Otherwise nothing is admitted after the first sample. Often it is better to
    use ``fit_intercept=True``.

    >>> from parsimon.kernels import Constant, Linear
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
    """Sum of two kernels, k(x, y) = left(x, y) + right(x, y). Also written ``left + right``.

    >>> Sum(Constant(1.0), Constant(2.0))([[0.0]], [[1.0]])
    array([[3.]])
    """

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        require_kernels(left=self.left, right=self.right)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.sum(self.left.core(), self.right.core())

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return self.left.formula() + self.right.formula()


@part
class Product(Kernel):
    """Product of two kernels, k(x, y) = left(x, y) right(x, y). Also written ``left * right``.

    >>> from parsimon.kernels import Constant, Linear, Product
    >>> Product(Constant(3.0), Linear())([[1.0]], [[2.0]])
    array([[6.]])
    """

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        require_kernels(left=self.left, right=self.right)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.product(self.left.core(), self.right.core())

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return self.left.formula() * self.right.formula()


def require_kernels(**parts: object) -> None:
    """Raise a TypeError that names the first argument that cannot be part of another kernel."""
    for name, given in parts.items():
        if not isinstance(given, Kernel):
            raise TypeError(f"{name} must be a kernel object, got {given!r}")
        if given.single:
            raise TypeError(
                f"{given!r} cannot be part of another kernel: "
                "put it around the whole, as in SinglePrecision(a + b)"
            )


def require_differentiable(kernel: Kernel) -> None:
    """Raise a TypeError that names the part of a kernel that has no derivative."""
    if kernel.core().differentiable:
        return
    for inner in vars(kernel).values():
        if isinstance(inner, Kernel):
            require_differentiable(inner)
    raise TypeError(
        f"the kernel {kernel!r} has no derivative, so a model with it has no gradient: "
        "use other kernels of parsimon.kernels, not a Python function"
    )


def _kernel(value: Kernel | float) -> Kernel:
    return value if isinstance(value, Kernel) else Constant(value)


def as_points(X: ArrayLike, what: str, single: bool = False) -> Array:
    """Return points (n, d) as finite doubles, or raise an error that calls them `what`."""
    points: Array = numbers(X, what, lambda X: np.ascontiguousarray(X, dtype=np.float64))
    if points.ndim != 2:
        raise ValueError(
            f"{what} must have two dimensions (points, features), got shape {points.shape}"
        )
    _core.require_finite(points, what, single)
    return points
