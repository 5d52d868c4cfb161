"""The base class of kernels, their sums and their products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core
from parsimon._parts import numbers, part, real
from parsimon.formulas import Expression, Number

__all__ = ["Constant", "Kernel", "Product", "Sum", "as_points", "require_kernels"]

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
        left = as_points(X, "X", self.single)
        return self.core().block(left, left if Y is None else as_points(Y, "Y", self.single))

    def diagonal(self, X: ArrayLike) -> Array:
        """Evaluate k(x, x) for each row of X (n, d): (n,)."""
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
        require_kernels(left=self.left, right=self.right)

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
        require_kernels(left=self.left, right=self.right)

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.product(self.left.core(), self.right.core())

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return self.left.formula() * self.right.formula()


def require_kernels(**parts: object) -> None:
    """Raise a TypeError that names the first part that cannot be part of another kernel."""
    for name, given in parts.items():
        if not isinstance(given, Kernel):
            raise TypeError(f"{name} must be a kernel object, got {given!r}")
        if given.single:
            raise TypeError(
                f"{given!r} cannot be part of another kernel: put it around the whole, as in SinglePrecision(a + b)"
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
