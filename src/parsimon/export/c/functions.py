"""The functions of an expansion: f, predictions and probabilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from parsimon._formula_values import own_values
from parsimon.export.c.expressions import Writer
from parsimon.export.c.piece import LARGEST_ENTRY, Library, Piece
from parsimon.export.c.tables import Tables
from parsimon.export.expansion import Expansion
from parsimon.formulas import (
    ABSOLUTE_DISTANCE,
    OUTPUT,
    PRODUCT,
    SQUARED_DISTANCE,
    SQUARED_NORM,
    Expression,
    Input,
    diagonal,
)

__all__ = ["Functions", "expansion_piece"]


class Functions:
    """Writes functions, and notes the tables, helpers and library functions that they need."""

    def __init__(self, e: Expansion, tables: Tables, library: Library) -> None:
        self.e = e
        self.tables = tables
        self.library = library
        self.name, self.macro, self.real = tables.name, tables.macro, tables.real
        self.helpers: dict[str, str] = {}  # functions of the header that stand before the others
        self._sums: dict[str, str] = {}  # sums over the features for each centre: their terms
        self._before: list[str] = []  # statements before the loop over the centres
        self._inside: list[str] = []  # statements in the loop

    def decision(self) -> str:
        """Return the function that computes f."""
        e, name, macro = self.e, self.name, self.macro
        value = Writer(self, self._inside, "k").name(e.formula)
        start = self.number(0)
        if e.offset.any():
            self.tables.add("offset", e.offset)
            start = f"{name}_offset[c]"
        self.tables.add("weights", e.weights)
        loop = [f"{self.real} {sum_} = {self.number(0)};" for sum_ in self._sums]
        if self._sums:
            loop += [
                f"for (int i = 0; i < {macro}_N_FEATURES; ++i) {{",
                f"    const {self.real} z = {self._input};",
                f"    const {self.real} d = {name}_centers[j][i];",
                *(f"    {sum_} += {term};" for sum_, term in self._sums.items()),
                "}",
            ]
            self.tables.add("centers", e.centers)
        loop += [
            *self._inside,
            f"for (int c = 0; c < {macro}_N_OUTPUTS; ++c) "
            f"out[c] += {name}_weights[j][c] * {value};",
        ]
        return self._function(
            "void",
            "decision",
            [
                *([] if self._sums else ["(void)x;"]),
                f"for (int c = 0; c < {macro}_N_OUTPUTS; ++c) out[c] = {start};",
                *self._before,
                f"for (int j = 0; j < {macro}_N_CENTERS; ++j) {{",
                *("    " + line for line in loop),
                "}",
            ],
            out=True,
        )

    def predict(self) -> str:
        """Return the function that predicts."""
        lines = [f"{self.name}_decision(x, out);"]
        if self.e.link is not None:
            each: list[str] = []
            result = Writer(self, each, "p").name(self.e.link)
            body = ["    " + line for line in [*each, f"out[c] = {result};"]]
            lines += [f"for (int c = 0; c < {self.macro}_N_OUTPUTS; ++c) {{", *body, "}"]
        if self.e.classes is None and self.e.n_outputs > 1:
            return self._function("void", "predict", lines, out=True)
        start = [f"{self.real} out[{self.macro}_N_OUTPUTS];", *lines]
        if self.e.classes is None:
            return self._function(self.real, "predict", [*start, "return out[0];"])
        largest = [line.format(outputs=f"{self.macro}_N_OUTPUTS") for line in LARGEST_ENTRY]
        return self._function("int", "predict", [*start, *largest])

    def proba(self) -> str:
        """Return the function that computes probabilities."""
        exp, outputs, zero = self.library_function("exp"), f"{self.macro}_N_OUTPUTS", self.number(0)
        lines = [f"{self.name}_decision(x, out);"]
        if self.e.probabilities == "one_vs_rest":  # log(1 / (1 + exp(-f))), for f of any size
            log1p = self.library_function("log1p")
            small = f"{log1p}({exp}(out[c] < {zero} ? out[c] : -out[c]))"
            lines.append(
                f"for (int c = 0; c < {outputs}; ++c) "
                f"out[c] = (out[c] < {zero} ? out[c] : {zero}) - {small};"
            )
        lines += [
            f"{self.real} largest = out[0], total = {zero};",
            f"for (int c = 1; c < {outputs}; ++c)",
            "    if (out[c] > largest) largest = out[c];",
            f"for (int c = 0; c < {outputs}; ++c) {{",
            f"    out[c] = {exp}(out[c] - largest);",
            "    total += out[c];",
            "}",
            f"for (int c = 0; c < {outputs}; ++c) out[c] /= total;",
        ]
        return self._function("void", "proba", lines, out=True)

    def _function(self, kind: str, what: str, lines: list[str], *, out: bool = False) -> str:
        arguments = f"const {self.real} x[{self.macro}_N_FEATURES]"
        if out:
            arguments += f", {self.real} out[{self.macro}_N_OUTPUTS]"
        body = "\n".join("    " + line for line in lines)
        return f"static inline {kind} {self.name}_{what}({arguments})\n{{\n{body}\n}}"

    # The context of formulas

    def number(self, value: float) -> str:
        """Return a number."""
        return self.tables.number(value)

    def library_function(self, what: str) -> str:
        """Return the macro that stands for a function of the C library."""
        return self.library.function(what, self.tables.suffix)

    def given(self, what: Input) -> str:
        """Return an input of a formula."""
        names: dict[Input, Callable[[], str]] = {
            SQUARED_DISTANCE: lambda: self._sum("squared", "(z - d) * (z - d)"),
            ABSOLUTE_DISTANCE: lambda: self._sum("absolute", "z < d ? d - z : z - d"),
            PRODUCT: lambda: self._sum("product", "z * d"),
            SQUARED_NORM: lambda: self._squares,
            OUTPUT: lambda: "out[c]",
        }
        return names[what]()

    def norms(self, inner: Expression) -> str:
        """Return sqrt(k(x, x) k(d_j, d_j))."""
        own = Writer(self, self._before, "v").name(diagonal(inner))
        count, root = len(self._before), self.library_function("sqrt")
        self._before.append(f"const {self.real} own_{count} = {root}({own});")
        self.tables.add(f"norms_{count}", np.sqrt(own_values(inner, self.e.centers)))
        return f"own_{count} * {self.name}_norms_{count}[j]"

    def power(self, base: str, exponent: int) -> str:
        """Return a power, computed by a helper that multiplies."""
        real, one = self.real, self.number(1)
        self.helpers["power"] = (
            f"static inline {real} {self.name}_power({real} base, int exponent)\n{{\n"
            f"    {real} result = {one};\n"
            "    for (; exponent > 0; exponent >>= 1) {\n"
            "        if (exponent & 1) result *= base;\n"
            "        base *= base;\n"
            "    }\n"
            "    return result;\n}"
        )
        return f"{self.name}_power({base}, {exponent})"

    def _sum(self, name: str, term: str) -> str:
        """Return a sum over the features, given its term for z_i and d_ji."""
        self._sums[name] = term
        return name

    @cached_property
    def _squares(self) -> str:
        """||z||^2, the same for all centres."""
        self._before += [
            f"{self.real} squares = {self.number(0)};",
            f"for (int i = 0; i < {self.macro}_N_FEATURES; ++i) "
            f"squares += {self._input} * {self._input};",
        ]
        return "squares"

    @cached_property
    def _input(self) -> str:
        """z_i = (x_i - shift_i) * scale_i.

        The part of a shift that `float` cannot hold is subtracted in a second step.
        """
        if not self.e.scaled:
            return "x[i]"
        high = self.e.shift.astype(self.tables.numpy_name).astype(np.float64)
        terms = "x[i]"
        for what, part in (("shift", high), ("shift_rest", self.e.shift - high)):
            if part.any():
                self.tables.add(what, part)
                terms += f" - {self.name}_{what}[i]"
        self.tables.add("scale", self.e.scale)
        self.helpers["input"] = (
            f"static inline {self.real} {self.name}_input("
            f"const {self.real} x[{self.macro}_N_FEATURES], int i)\n{{\n"
            f"    return ({terms}) * {self.name}_scale[i];\n}}"
        )
        return f"{self.name}_input(x, i)"


def expansion_piece(e: Expansion, name: str, dtype: str, library: Library) -> Piece:
    """Return the functions of an expansion. Their names begin with `name`."""
    tables = Tables(name, dtype)
    functions = Functions(e, tables, library)
    # First the functions: they say which tables and helpers stand before them.
    texts = [functions.decision(), functions.predict()]
    if e.probabilities is not None:
        texts.append(functions.proba())
    sizes = {"N_FEATURES": e.n_features, "N_OUTPUTS": e.n_outputs, "N_CENTERS": e.n_centers}
    return Piece(tables, sizes, [*functions.helpers.values()], texts)
