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
    """Normalised kernel, k(x, y) = inner(x, y) / sqrt(inner(x, x) inner(y, y)).

    It is the cosine of the angle between the images of x and y in feature space. Where inner(x, x)
    is zero, k is zero too.

    >>> from parsimon.kernels import Linear, Normalized
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

    It is slow, because the function is called once per value.

    The function must be symmetric and positive definite. Only k(x, x) >= 0 and finite values are
    checked. If the function raises an exception while a model learns a block, the rows before it
    stay learned.

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
    """A kernel of points rounded to single precision, k(x, y) = kernel(r(x), r(y)).

    r(x) rounds each number to the nearest 32-bit float. Models store their centres in half the
    memory.

    Models learn in double precision. A model that sees X (n, d) equals, bit for bit, the model
    with `kernel` that sees ``X.astype(float32)``. Values beyond the range of single precision
    (3.4e38) are rejected. This wrapper must be the outermost kernel: it cannot be part of another
    kernel.

    Parameters
    ----------
    kernel : Kernel or str
        A name has the same meaning as in the parameter ``kernel`` of an estimator, and uses the
        ``gamma`` of the estimator.
    arithmetic : {"double", "single"}, default="double"
        How a model that has learned predicts. With "single", inner products of the features are
        in single precision, which takes about half the time where d is large. It concerns kernels
        of the squared distance with 32 features or more. The relative error of a kernel value is at
        most 2^-13, and usually about 1e-7. Values that could be less accurate (for points that
        nearly coincide, or that are far from the origin relative to the width of the kernel) are
        computed in double precision. Learning is the same, bit for bit, in both. So are the
        predictions of ``predict_then_learn``, gradients, and values of the kernel itself. Exports
        do not depend on it. It is part of the kernel: choose it before learning, and the same for
        models that are to be merged.

    Examples
    --------
    >>> from parsimon.kernels import Constant, Gaussian, SinglePrecision
    >>> k = SinglePrecision(Gaussian(gamma=0.5) + Constant(1.0))
    >>> k([[0.1]]) == k([[0.1 + 1e-9]], [[0.1]])
    array([[ True]])

    >>> from parsimon import KNLMSRegressor
    >>> model = KNLMSRegressor(SinglePrecision("gaussian"), gamma=0.5)
    >>> model = model.fit([[0.1, 0.2], [3.0, 4.0]], [0.0, 1.0])
    >>> model.kernel_
    SinglePrecision(kernel=Gaussian(gamma=0.5), arithmetic='double')
    >>> bool((model.centers_ == model.centers_.astype("float32")).all())
    True
    """

    kernel: Kernel | str
    arithmetic: str = "double"
    single = True

    def __post_init__(self) -> None:
        if self.arithmetic not in ("double", "single"):
            raise ValueError(f"arithmetic must be 'double' or 'single', got {self.arithmetic!r}")
        if isinstance(self.kernel, str):
            lookup(KERNELS, self.kernel, "kernel")
        else:
            require_kernels(kernel=self.kernel)

    @property
    def inner(self) -> Kernel:
        """The kernel of the rounded points. It must be an object, not a name."""
        if isinstance(self.kernel, str):
            raise TypeError(
                f"{self!r} names a kernel, which needs an estimator's gamma: give a kernel object"
            )
        return self.kernel

    def core(self) -> _core.Kernel:
        """Return the C++ twin."""
        return _core.single_precision(self.inner.core(), coarse=self.arithmetic == "single")

    def around(self, kernel: Kernel) -> SinglePrecision:
        """Return another kernel in the same precision."""
        return SinglePrecision(kernel, self.arithmetic)

    def formula(self) -> Expression:
        """Return k(x, y) as an expression."""
        return self.inner.formula()
