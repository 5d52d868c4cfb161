"""Models as C."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from parsimon import __version__
from parsimon._files import write_whole
from parsimon._formula_values import own_values
from parsimon._parts import lookup
from parsimon.export.expansion import Array, Expansion, Label, expansion
from parsimon.formulas import (
    ABSOLUTE_DISTANCE,
    OUTPUT,
    PRODUCT,
    SQUARED_DISTANCE,
    SQUARED_NORM,
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
    diagonal,
)

__all__ = ["to_c"]

#: For each type: what stands after the names of its functions and numbers, and NumPy's name.
TYPES = {"double": ("", "float64"), "float": ("f", "float32")}

#: The words of C99 that no name can be.
KEYWORDS = (
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|restrict|return|short|signed|sizeof|"
    "static|struct|switch|typedef|union|unsigned|void|volatile|while"
)


def to_c(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    name: str = "model",
    dtype: str = "double",
) -> str:
    """Return a fitted model as a C header that stands on its own, and write it to `path` if one is
    given.

    With the name "model" it defines, for `double`:

    - MODEL_N_FEATURES, MODEL_N_OUTPUTS, MODEL_N_CENTERS;
    - ``void model_decision(const double x[], double out[])``: f, an output or class after the
      other;
    - ``double model_predict(const double x[])`` for a regressor of one output, ``void
      model_predict(const double x[], double out[])`` for one of several: f, or the mean where the
      loss has a link;
    - ``int model_predict(const double x[])`` for a classifier: the index of the class, the first of
      equals, in ``model_classes[]``, a table of strings, integers (booleans are 0 and 1) or
      numbers;
    - ``void model_proba(const double x[], double out[])`` where the model has probabilities.

    All functions are ``static inline``, all tables constant; nothing is allocated, and the stack
    holds no more than an array of C numbers. It is C99, and C++11 as well. From the C library it
    needs no more than exp, sqrt and log1p, where the kernel or the probabilities ask for them, and
    macros can put others in their place (MODEL_EXP, MODEL_SQRT, MODEL_LOG1P); linear, polynomial
    and rational quadratic kernels (with a whole alpha up to 64) need nothing. Numbers are written
    in the fewest decimal digits that give them back exactly: hexadecimal ones are not C++ before
    2017.

    NaN and infinity, which `predict` refuses, are not looked for. Inputs are not rounded, as they
    are by a kernel in `SinglePrecision`: that changes f by some 1e-7 of its size.

    Parameters
    ----------
    model : a fitted estimator of parsimon, or a Pipeline or TransformedTargetRegressor of one and
    scalers; see `docs/export.md`.
    path : where to write the header, whole or not at all.
    name : what every name in it begins with: letters, digits and single underscores between them, a
    letter first, at most 40. Macros have it in capitals.
    dtype : "double" or "float", default="double"
        The type of inputs, outputs, tables and all that lies between.

    Examples
    --------
    >>> from parsimon import KNLMSRegressor
    >>> from parsimon.export import to_c
    >>> model = KNLMSRegressor("linear").fit([[1.0, 2.0]], [0.5])
    >>> print("".join(to_c(model, name="filter").partition("static inline")[1:]))
    static inline void filter_decision(const double x[FILTER_N_FEATURES], double out[FILTER_N_OUTPUTS])
    {
        for (int c = 0; c < FILTER_N_OUTPUTS; ++c) out[c] = 0.0;
        for (int j = 0; j < FILTER_N_CENTERS; ++j) {
            double product = 0.0;
            for (int i = 0; i < FILTER_N_FEATURES; ++i) {
                const double z = x[i];
                const double d = filter_centers[j][i];
                product += z * d;
            }
            for (int c = 0; c < FILTER_N_OUTPUTS; ++c) out[c] += filter_weights[j][c] * product;
        }
    }
    <BLANKLINE>
    static inline double filter_predict(const double x[FILTER_N_FEATURES])
    {
        double out[FILTER_N_OUTPUTS];
        filter_decision(x, out);
        return out[0];
    }
    <BLANKLINE>
    #endif
    """
    if (
        not isinstance(name, str)
        or not re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", name)
        or len(name) > 40
    ):
        raise ValueError(
            f"name must be letters, digits and single underscores between them, a letter first, at most 40, got {name!r}"
        )
    if re.fullmatch(KEYWORDS, name):
        raise ValueError(f"name is {name!r}, which is a keyword of C")
    lookup(TYPES, dtype, "dtype")
    text = _Header(expansion(model), name, dtype).text()
    if path is not None:
        write_whole(path, text.encode("ascii"))
    return text


class _Header:
    """Writes the parts of the header.

    What a kernel needs is noted while it is written, and written before it.
    """

    def __init__(self, e: Expansion, name: str, dtype: str) -> None:
        self.e = e
        self.name = name
        self.NAME = name.upper()
        self.real = dtype
        self.suffix, self.numpy_name = TYPES[dtype]
        self.needs: set[str] = set()  # functions of the C library
        self.sums: dict[str, str] = {}  # sums over the features for each centre: the term of each
        self.before: list[str] = []  # statements before the loop over the centres
        self.inside: list[str] = []  # statements in it
        self.tables: list[str] = []
        self.n_bytes = 0
        self.helpers: dict[str, str] = {}

    def text(self) -> str:
        # In this order: what comes later tells what must stand before it.
        functions = [self.decision(), self.predict()]
        if self.e.probabilities is not None:
            functions.append(self.proba())
        if self.e.classes is not None:
            self.classes(self.e.classes)
        sizes = {
            "N_FEATURES": self.e.n_features,
            "N_OUTPUTS": self.e.n_outputs,
            "N_CENTERS": self.e.n_centers,
        }
        parts = [
            self.comment(),
            f"#ifndef {self.NAME}_H\n#define {self.NAME}_H",
            *self.library(),
            "\n".join(f"#define {self.NAME}_{what} {value}" for what, value in sizes.items()),
            *self.tables,
            *self.helpers.values(),
            *functions,
            "#endif",
        ]
        return "\n\n".join(parts) + "\n"

    # Functions

    def decision(self) -> str:
        e, name, NAME = self.e, self.name, self.NAME
        value = self.value(e.formula)
        start = self.number(0)
        if e.offset.any():
            self.table("offset", e.offset)
            start = f"{name}_offset[c]"
        self.table("weights", e.weights)
        loop = [f"{self.real} {sum_} = {self.number(0)};" for sum_ in self.sums]
        if self.sums:
            loop += [
                f"for (int i = 0; i < {NAME}_N_FEATURES; ++i) {{",
                f"    const {self.real} z = {self.input};",
                f"    const {self.real} d = {name}_centers[j][i];",
                *(f"    {sum_} += {term};" for sum_, term in self.sums.items()),
                "}",
            ]
            self.table("centers", e.centers)
        loop += [
            *self.inside,
            f"for (int c = 0; c < {NAME}_N_OUTPUTS; ++c) out[c] += {name}_weights[j][c] * {value};",
        ]
        return self.function(
            "void",
            "decision",
            [
                *([] if self.sums else ["(void)x;"]),
                f"for (int c = 0; c < {NAME}_N_OUTPUTS; ++c) out[c] = {start};",
                *self.before,
                f"for (int j = 0; j < {NAME}_N_CENTERS; ++j) {{",
                *("    " + line for line in loop),
                "}",
            ],
            out=True,
        )

    def predict(self) -> str:
        lines = [f"{self.name}_decision(x, out);"]
        if self.e.link is not None:
            each: list[str] = []
            result = _Writer(self, each, "p").name(self.e.link)
            body = ["    " + line for line in [*each, f"out[c] = {result};"]]
            lines += [f"for (int c = 0; c < {self.NAME}_N_OUTPUTS; ++c) {{", *body, "}"]
        if self.e.classes is None and self.e.n_outputs > 1:
            return self.function("void", "predict", lines, out=True)
        start = [f"{self.real} out[{self.NAME}_N_OUTPUTS];", *lines]
        if self.e.classes is None:
            return self.function(self.real, "predict", [*start, "return out[0];"])
        largest = [
            "int best = 0;",
            f"for (int c = 1; c < {self.NAME}_N_OUTPUTS; ++c)",
            "    if (out[c] > out[best]) best = c;",
            "return best;",
        ]
        return self.function("int", "predict", [*start, *largest])

    def proba(self) -> str:
        exp, outputs, zero = self.library_function("exp"), f"{self.NAME}_N_OUTPUTS", self.number(0)
        lines = [f"{self.name}_decision(x, out);"]
        if self.e.probabilities == "one_vs_rest":  # log(1 / (1 + exp(-f))), however large f is
            log1p = self.library_function("log1p")
            small = f"{log1p}({exp}(out[c] < {zero} ? out[c] : -out[c]))"
            lines.append(
                f"for (int c = 0; c < {outputs}; ++c) out[c] = (out[c] < {zero} ? out[c] : {zero}) - {small};"
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
        return self.function("void", "proba", lines, out=True)

    def function(self, kind: str, what: str, lines: list[str], *, out: bool = False) -> str:
        arguments = f"const {self.real} x[{self.NAME}_N_FEATURES]"
        if out:
            arguments += f", {self.real} out[{self.NAME}_N_OUTPUTS]"
        body = "\n".join("    " + line for line in lines)
        return f"static inline {kind} {self.name}_{what}({arguments})\n{{\n{body}\n}}"

    # Formulas

    def value(self, formula: Expression) -> str:
        """Write k(x, d_j), and return what it is called."""
        return _Writer(self, self.inside, "k").name(formula)

    def given(self, what: Input) -> str:
        """Return what an input of a formula is called."""
        names: dict[Input, Callable[[], str]] = {
            SQUARED_DISTANCE: lambda: self.squared,
            ABSOLUTE_DISTANCE: lambda: self.absolute,
            PRODUCT: lambda: self.product,
            SQUARED_NORM: lambda: self.squares,
            OUTPUT: lambda: "out[c]",
        }
        return names[what]()

    def norms(self, inner: Expression) -> str:
        """Write sqrt(k(x, x) k(d_j, d_j)), and return an expression for it."""
        own = _Writer(self, self.before, "v").name(diagonal(inner))
        count, root = len(self.before), self.library_function("sqrt")
        self.before.append(f"const {self.real} own_{count} = {root}({own});")
        self.table(f"norms_{count}", np.sqrt(own_values(inner, self.e.centers)))
        return f"own_{count} * {self.name}_norms_{count}[j]"

    def power(self, base: str, exponent: int) -> str:
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

    @cached_property
    def squared(self) -> str:
        """||z - d_j||^2."""
        self.sums["squared"] = "(z - d) * (z - d)"
        return "squared"

    @cached_property
    def absolute(self) -> str:
        """||z - d_j||_1."""
        self.sums["absolute"] = "z < d ? d - z : z - d"
        return "absolute"

    @cached_property
    def product(self) -> str:
        """z'd_j."""
        self.sums["product"] = "z * d"
        return "product"

    @cached_property
    def squares(self) -> str:
        """||z||^2, the same for all centres."""
        loop = f"for (int i = 0; i < {self.NAME}_N_FEATURES; ++i) squares += {self.input} * {self.input};"
        self.before += [f"{self.real} squares = {self.number(0)};", loop]
        return "squares"

    @cached_property
    def input(self) -> str:
        """z_i = (x_i - shift_i) * scale_i.

        What `float` cannot hold of a shift is subtracted in a second step.
        """
        if not self.e.scaled:
            return "x[i]"
        high = self.e.shift.astype(self.numpy_name).astype(np.float64)
        terms = "x[i]"
        for what, part in (("shift", high), ("shift_rest", self.e.shift - high)):
            if part.any():
                self.table(what, part)
                terms += f" - {self.name}_{what}[i]"
        self.table("scale", self.e.scale)
        self.helpers["input"] = (
            f"static inline {self.real} {self.name}_input(const {self.real} x[{self.NAME}_N_FEATURES], int i)\n{{\n"
            f"    return ({terms}) * {self.name}_scale[i];\n}}"
        )
        return f"{self.name}_input(x, i)"

    # What stands before the functions

    def comment(self) -> str:
        e, name = self.e, self.name
        outputs = (
            "classes" if e.classes is not None else "output" if e.n_outputs == 1 else "outputs"
        )
        needs = "Nothing is needed from the C library."
        if self.needs:
            macros = " or ".join(f"{self.NAME}_{what.upper()}" for what in sorted(self.needs))
            needs = (
                f"Needed from libm: {', '.join(what + self.suffix for what in sorted(self.needs))}. "
                f"Define {macros} before including this file to use your own."
            )
        lines = [
            f"{name}.h: a {e.estimator} of parsimon {__version__} as C99, or C++11.",
            "",
            f"    f(x) = sum_j w_j k(d_j, x),    k = {e.kernel!r}",
            "",
            f"{e.n_features} inputs, {e.n_outputs} {outputs}, {e.n_centers} centres: constant tables of {self.n_bytes} bytes; nothing is allocated.",
            needs,
        ]
        if e.scaled:
            lines.append("Inputs are scaled in here: give them as they were before any scaler.")
        if e.feature_names is not None:
            lines += [
                "Inputs:",
                *(f"    x[{i}] {_plain(feature)}" for i, feature in enumerate(e.feature_names)),
            ]
        return (
            "/*\n"
            + "\n".join(f" * {line}".rstrip() for line in [*lines, "", *self.example()])
            + "\n */"
        )

    def example(self) -> list[str]:
        e, name, NAME = self.e, self.name, self.NAME
        show = [f'printf("%g\\n", {name}_predict(x));']
        if e.classes is not None:
            kind = (
                "%s"
                if isinstance(e.classes[0], str)
                else "%g"
                if isinstance(e.classes[0], float)
                else "%lld"
            )
            show = [f'printf("{kind}\\n", {name}_classes[{name}_predict(x)]);']
        elif e.n_outputs > 1:
            show = [
                f"{self.real} out[{NAME}_N_OUTPUTS];",
                f"{name}_predict(x, out);",
                'printf("%g\\n", out[0]);',
            ]
        body = [f"const {self.real} x[{NAME}_N_FEATURES] = {{0}};", *show, "return 0;"]
        return [
            "#include <stdio.h>",
            f'#include "{name}.h"',
            "int main(void)",
            "{",
            *("    " + b for b in body),
            "}",
        ]

    def library(self) -> list[str]:
        if not self.needs:
            return []
        macros = {f"{self.NAME}_{what.upper()}": what + self.suffix for what in sorted(self.needs)}
        missing = " || ".join(f"!defined({macro})" for macro in macros)
        defaults = (
            f"#ifndef {macro}\n#define {macro} {what}\n#endif" for macro, what in macros.items()
        )
        return [f"#if {missing}\n#include <math.h>\n#endif", *defaults]

    def library_function(self, what: str) -> str:
        self.needs.add(what)
        return f"{self.NAME}_{what.upper()}"

    def table(self, what: str, values: Array) -> None:
        numbers = self.cast(values, what)
        rows = [
            ", ".join(str(number) + self.suffix for number in row) for row in np.atleast_2d(numbers)
        ]
        size = f"[{len(values)}]"
        if values.ndim == 2:
            size = f"[{self.NAME}_N_CENTERS][{self.NAME}_{'N_OUTPUTS' if what == 'weights' else 'N_FEATURES'}]"
            text = ",\n".join(_wrapped(row, "    {") + "}" for row in rows)
        else:
            text = _wrapped(rows[0], "    ")
        self.tables.append(f"static const {self.real} {self.name}_{what}{size} = {{\n{text}\n}};")
        self.n_bytes += numbers.nbytes

    def classes(self, labels: tuple[Label, ...]) -> None:
        kind, texts = (
            "const char *const",
            [_string(label) for label in labels if isinstance(label, str)],
        )
        if isinstance(labels[0], float):
            kind, texts = "const double", [repr(label) for label in labels]
        elif isinstance(labels[0], int):
            kind, texts = "const long long", [_integer(int(label)) for label in labels]
        text = ",\n".join("    " + text for text in texts)
        self.tables.append(
            f"static {kind} {self.name}_classes[{self.NAME}_N_OUTPUTS] = {{\n{text}\n}};"
        )

    def number(self, value: float) -> str:
        """Return a number in the fewest digits that give it back."""
        number = self.cast(np.float64(value), "kernel parameters")
        if number == 0 and value != 0:
            raise ValueError(
                f"the kernel's parameter {value!r} is too small for dtype={self.real!r}"
            )
        return str(number) + self.suffix

    def cast(self, values: Any, what: str) -> Any:
        with np.errstate(over="ignore", under="ignore"):
            numbers = values.astype(self.numpy_name)
        if not np.isfinite(numbers).all():
            raise ValueError(f"the model's {what} are too large for dtype={self.real!r}")
        return numbers


class _Writer:
    """Writes an expression as statements after `lines`, and returns what the result is called.

    What is used more than once is a name or a number: no part of a formula is computed twice.
    """

    def __init__(self, header: _Header, lines: list[str], prefix: str) -> None:
        self.header = header
        self.lines = lines
        self.prefix = prefix
        self.known: dict[int, str] = {}

    def name(self, e: Expression) -> str:
        """Return an expression as a name or a number."""
        if id(e) not in self.known:
            text = self.text(e)
            self.known[id(e)] = text if isinstance(e, Number | Input | Minimum) else self.let(text)
        return self.known[id(e)]

    def let(self, text: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"const {self.header.real} {name} = {text};")
        return name

    def operand(self, e: Expression, *bare: type[Expression]) -> str:
        """Return an expression as part of another one, in parentheses unless it needs none."""
        text = self.inline(e)
        simple = isinstance(e, Number | Input | Minimum | Exp | Sqrt | Log1p | Power)
        return text if simple or isinstance(e, bare) or id(e) in self.known else f"({text})"

    def inline(self, e: Expression) -> str:
        return self.name(e) if id(e) in self.known or isinstance(e, Minimum) else self.text(e)

    def text(self, e: Expression) -> str:
        h = self.header
        match e:
            case Number(value):
                return h.number(value)
            case Input():
                return h.given(e)
            case Multiply(Number(-1.0), Minimum() as right):
                return f"-{self.name(right)}"
            case Add(left, right):
                return f"{self.operand(left, Add, Multiply, Divide)} + {self.operand(right, Multiply, Divide)}"
            case Multiply(left, right):
                return f"{self.operand(left, Multiply, Divide)} * {self.operand(right)}"
            case Divide(left, right):
                return f"{self.operand(left, Multiply, Divide)} / {self.operand(right)}"
            case Minimum(left, right):
                a, b = self.name(left), self.name(right)
                return self.let(f"{a} < {b} ? {a} : {b}")
            case Exp(inner) | Sqrt(inner) | Log1p(inner):
                return f"{h.library_function(type(e).__name__.lower())}({self.inline(inner)})"
            case Power(base, Number(exponent)):
                return h.power(self.inline(base), int(exponent))
            case Positive(inner):
                return f"{self.name(inner)} > {h.number(0)} ? {h.number(1)} : {h.number(0)}"
            case Cosine(inner):
                above, below = self.name(inner), self.let(h.norms(inner))
                return f"{below} > {h.number(0)} ? {above} / {below} : {h.number(0)}"
        raise TypeError(f"{e!r} cannot be written as C")


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(
        text,
        100,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _string(text: str) -> str:
    """Return a string literal in plain ASCII: UTF-8 in octal digits, and no question mark that
    could begin a trigraph.
    """
    plain = {*range(32, 127)} - {*b'"\\?'}
    return (
        '"'
        + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode())
        + '"'
    )


def _integer(value: int) -> str:
    # The least one is not a literal: its digits are beyond the range before the sign is.
    return f"{value}LL" if value > -(2**63) else f"({value + 1}LL - 1)"


def _plain(text: str) -> str:
    """Return text as it can stand in a comment."""
    return re.sub(r"(\*)(?=/)|(/)(?=\*)|(\?)(?=\?)", r"\g<0> ", json.dumps(text))
