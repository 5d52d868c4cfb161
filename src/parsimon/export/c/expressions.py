"""Formulas as statements of C."""

from __future__ import annotations

from typing import Protocol

from parsimon.formulas import (
    Add,
    Cosine,
    Divide,
    Exp,
    Expression,
    Input,
    Log1p,
    Minimum,
    Multiply,
    Number,
    Positive,
    Power,
    Sqrt,
)

__all__ = ["Context", "Writer"]


class Context(Protocol):
    """What a formula needs from the header around it. Each method returns an expression of C."""

    @property
    def real(self) -> str:
        """The type of numbers."""

    def number(self, value: float) -> str:
        """Return a number."""

    def given(self, what: Input) -> str:
        """Return an input."""

    def library_function(self, what: str) -> str:
        """Return the name of a function of the C library."""

    def power(self, base: str, exponent: int) -> str:
        """Return a power."""

    def norms(self, inner: Expression) -> str:
        """Return sqrt(k(x, x) k(d_j, d_j))."""


class Writer:
    """Appends statements for an expression to `lines`.

    Anything used more than once gets a name, so that nothing is computed twice.
    """

    def __init__(self, context: Context, lines: list[str], prefix: str) -> None:
        self.context = context
        self.lines = lines
        self.prefix = prefix
        self.known: dict[int, str] = {}

    def name(self, e: Expression) -> str:
        """Return an expression as a name or a number."""
        if id(e) not in self.known:
            text = self._text(e)
            self.known[id(e)] = text if isinstance(e, Number | Input | Minimum) else self._let(text)
        return self.known[id(e)]

    def _let(self, text: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"const {self.context.real} {name} = {text};")
        return name

    def _operand(self, e: Expression, *bare: type[Expression]) -> str:
        """Return an expression as part of another expression, in parentheses if needed."""
        text = self._inline(e)
        simple = isinstance(e, Number | Input | Minimum | Exp | Sqrt | Log1p | Power)
        return text if simple or isinstance(e, bare) or id(e) in self.known else f"({text})"

    def _inline(self, e: Expression) -> str:
        return self.name(e) if id(e) in self.known or isinstance(e, Minimum) else self._text(e)

    def _text(self, e: Expression) -> str:
        c, operand = self.context, self._operand
        match e:
            case Number(value):
                return c.number(value)
            case Input():
                return c.given(e)
            case Multiply(Number(-1.0), Minimum() as right):
                return f"-{self.name(right)}"
            case Add(left, right):
                first = operand(left, Add, Multiply, Divide)
                return f"{first} + {operand(right, Multiply, Divide)}"
            case Multiply(left, right):
                return f"{operand(left, Multiply, Divide)} * {operand(right)}"
            case Divide(left, right):
                return f"{operand(left, Multiply, Divide)} / {operand(right)}"
            case Minimum(left, right):
                a, b = self.name(left), self.name(right)
                return self._let(f"{a} < {b} ? {a} : {b}")
            case Exp(inner) | Sqrt(inner) | Log1p(inner):
                return f"{c.library_function(type(e).__name__.lower())}({self._inline(inner)})"
            case Power(base, Number(exponent)):
                return c.power(self._inline(base), int(exponent))
            case Positive(inner):
                return f"{self.name(inner)} > {c.number(0)} ? {c.number(1)} : {c.number(0)}"
            case Cosine(inner):
                above, below = self.name(inner), self._let(c.norms(inner))
                return f"{below} > {c.number(0)} ? {above} / {below} : {c.number(0)}"
        raise TypeError(f"{e!r} cannot be written as C")
