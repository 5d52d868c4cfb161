"""Formulas of kernels and links, as expressions that exporters translate.

>>> from parsimon.formulas import SQUARED_DISTANCE, diagonal, exp
>>> gaussian = exp(-0.5 * SQUARED_DISTANCE)
>>> gaussian
Exp(inner=Multiply(left=Number(value=-0.5), right=Input(name='squared_distance')))

The diagonal k(x, x) is found by substitution: distances are 0, and the product is the squared norm.

>>> diagonal(gaussian)
Number(value=1.0)
>>> diagonal(2.0 * PRODUCT)
Multiply(left=Number(value=2.0), right=Input(name='squared_norm'))

Expressions are built with +, *, /, `exp`, `sqrt`, `log1p`, `power`, `minimum` and `Cosine`.
Operations on numbers alone are evaluated at once. `_formula_values` evaluates expressions in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from parsimon._parts import part, whole

__all__ = [
    "ABSOLUTE_DISTANCE",
    "OUTPUT",
    "PRODUCT",
    "SQUARED_DISTANCE",
    "SQUARED_NORM",
    "Cosine",
    "Expression",
    "diagonal",
    "exp",
    "log1p",
    "minimum",
    "power",
    "sqrt",
]


class Expression:
    """A formula, or a part of one."""

    def __add__(self, other: Expression | float) -> Expression:
        """Add an expression or a number."""
        return _made(Add, self, other)

    def __radd__(self, other: float) -> Expression:
        """Add to a number."""
        return _made(Add, other, self)

    def __mul__(self, other: Expression | float) -> Expression:
        """Multiply by an expression or a number."""
        return _made(Multiply, self, other)

    def __rmul__(self, other: float) -> Expression:
        """Multiply a number."""
        return _made(Multiply, other, self)

    def __truediv__(self, other: Expression | float) -> Expression:
        """Divide by an expression or a number."""
        return _made(Divide, self, other)

    def __rtruediv__(self, other: float) -> Expression:
        """Divide a number."""
        return _made(Divide, other, self)

    def __neg__(self) -> Expression:
        """Return -1 times the expression."""
        return -1.0 * self


@part
class Number(Expression):
    """A number."""

    value: float


@part
class Input(Expression):
    """A given quantity: one of the five below."""

    name: str


#: ||x - y||^2, ||x - y||_1 and x'y of two points.
SQUARED_DISTANCE, ABSOLUTE_DISTANCE, PRODUCT = map(
    Input, ("squared_distance", "absolute_distance", "product")
)
#: ||x||^2 of one point, which is the product on the diagonal.
SQUARED_NORM = Input("squared_norm")
#: The value f of the model, for links.
OUTPUT = Input("output")


class Operation(Expression):
    """An operation on expressions, with its meaning in NumPy."""

    function: ClassVar[Callable[..., Any]]


@part
class Binary(Operation):
    """An operation on two expressions."""

    left: Expression
    right: Expression


@part
class Unary(Operation):
    """An operation on one expression."""

    inner: Expression


@part
class Add(Binary):
    """left + right."""

    function = np.add


@part
class Multiply(Binary):
    """left right."""

    function = np.multiply


@part
class Divide(Binary):
    """left / right."""

    function = np.divide


@part
class Minimum(Binary):
    """The smaller of two expressions."""

    function = np.minimum


@part
class Exp(Unary):
    """exp(inner)."""

    function = np.exp


@part
class Sqrt(Unary):
    """The square root."""

    function = np.sqrt


@part
class Log1p(Unary):
    """log(1 + inner), accurate where inner is small."""

    function = np.log1p


@part
class Positive(Unary):
    """1 where inner > 0, else 0."""

    @staticmethod
    def function(inner: Any) -> Any:
        """Return the function for numbers."""
        return np.where(inner > 0.0, 1.0, 0.0)


@part
class Power(Operation):
    """base^exponent for a whole exponent >= 2. The exponent is a `Number`."""

    base: Expression
    exponent: Expression
    function = np.power


@part
class Cosine(Expression):
    """k(x, y) / sqrt(k(x, x) k(y, y)) of an expression k; 0 where this is 0 / 0."""

    inner: Expression


def exp(inner: Expression) -> Expression:
    """Return exp(inner)."""
    return _made(Exp, inner)


def sqrt(inner: Expression) -> Expression:
    """Return the square root."""
    return _made(Sqrt, inner)


def log1p(inner: Expression) -> Expression:
    """Return log(1 + inner)."""
    return _made(Log1p, inner)


def minimum(left: Expression, right: Expression | float) -> Expression:
    """Return the smaller of two expressions."""
    return _made(Minimum, left, right)


def power(base: Expression, exponent: int) -> Expression:
    """Return base^exponent for a whole exponent >= 1."""
    return base if whole("exponent", exponent, at_least=1) == 1 else _made(Power, base, exponent)


def diagonal(formula: Expression) -> Expression:
    """Return the expression for k(x, x). Its only input is `SQUARED_NORM`."""
    zero = Number(0.0)
    on_it: dict[Expression, Expression] = {
        SQUARED_DISTANCE: zero,
        ABSOLUTE_DISTANCE: zero,
        PRODUCT: SQUARED_NORM,
    }
    return _substituted(formula, on_it, {})


def varies(formula: Expression) -> bool:
    """Return whether a formula depends on any input."""
    return isinstance(formula, Input) or any(varies(inner) for inner in parts(formula))


def _made(cls: type[Any], *operands: Expression | float) -> Expression:
    """Return the operation, or its value if all operands are numbers."""
    given = [e if isinstance(e, Expression) else Number(float(e)) for e in operands]
    if all(isinstance(e, Number) for e in given):
        with np.errstate(all="ignore"):
            return Number(float(cls.function(*(e.value for e in given if isinstance(e, Number)))))
    made: Expression = cls(*given)
    return made


def parts(formula: Expression) -> list[Expression]:
    """Return the operands of an operation."""
    return [inner for inner in vars(formula).values() if isinstance(inner, Expression)]


def _substituted(
    e: Expression, inputs: Mapping[Expression, Expression], known: dict[int, Expression]
) -> Expression:
    """Return an expression on the diagonal. A shared part stays one object."""
    if id(e) not in known:
        match e:
            case Input():
                known[id(e)] = inputs[e]
            case Cosine(inner):
                known[id(e)] = _made(Positive, _substituted(inner, inputs, known))
            case Operation():
                known[id(e)] = _made(
                    type(e), *(_substituted(inner, inputs, known) for inner in parts(e))
                )
            case _:
                known[id(e)] = e
    return known[id(e)]
