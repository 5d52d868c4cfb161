"""Kernels: small immutable objects that can be evaluated, added and multiplied.

>>> from parsimon.kernels import Gaussian, Linear
>>> k = Gaussian(gamma=0.5) + 0.1 * Linear()
>>> k([[0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]).round(4)
array([[0.3679, 1.    ]])

Calling a kernel evaluates a block of pairs. ``diagonal`` evaluates k(x, x) for each row. A value
depends only on its two points. So evaluating several rows at once or one by one gives the same
values, bit for bit. `gamma` means the same in the Gaussian, Matern and rational quadratic kernels.
Matern kernels tend to ``Gaussian(gamma)`` as their smoothness grows. Rational quadratic kernels do
so as their parameter alpha grows.

``SinglePrecision`` around any kernel halves the memory of the centres.

- `algebra`: the base class, sums and products;
- `elementary`: kernels that depend on the distance or the inner product of two points, and the
  registry `KERNELS`;
- `wrappers`: kernels around another kernel or a Python function;
- `choice`: the kernel that the parameters of an estimator select.
"""

from parsimon.kernels.algebra import Constant, Kernel, Product, Sum
from parsimon.kernels.algebra import as_points as as_points
from parsimon.kernels.algebra import require_differentiable as require_differentiable
from parsimon.kernels.choice import agrees as agrees
from parsimon.kernels.choice import has_width as has_width
from parsimon.kernels.choice import named as named
from parsimon.kernels.choice import resolve as resolve
from parsimon.kernels.choice import seen as seen
from parsimon.kernels.choice import width as width
from parsimon.kernels.elementary import (
    KERNELS,
    Cauchy,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    RationalQuadratic,
)
from parsimon.kernels.wrappers import Function, Normalized, SinglePrecision

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
