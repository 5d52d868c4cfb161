"""Kernels around another kernel, or around a Python function."""

from __future__ import annotations

from collections.abc import Callable

from parsimon import _core
from parsimon._parts import lookup, part
from parsimon.formulas import Cosine, Expression
from parsimon.kernels.algebra import Array, Kernel, require_kernels
from parsimon.kernels.elementary import KERNELS

__all__ = ["Function", "Normalized", "SinglePrecision"]


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
        require_kernels(inner=self.inner)

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
            require_kernels(kernel=self.kernel)

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
