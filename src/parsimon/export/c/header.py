"""The text of a C header."""

from __future__ import annotations

import re
import textwrap

from parsimon import __version__
from parsimon.export.c.combination import function_pieces
from parsimon.export.c.outer import RowFunctions
from parsimon.export.c.piece import Library, Piece
from parsimon.export.c.table import TableFunctions
from parsimon.export.c.tables import Tables, c_integer, comment_text
from parsimon.export.combination import Combination
from parsimon.export.expansion import Expansion
from parsimon.export.lags import Lag, NumberLag
from parsimon.export.model_functions import ModelFunction
from parsimon.export.table import Table

__all__ = ["header"]

#: Texts that need no escapes.
PLAIN = re.compile(r"[\w.-]+", re.ASCII)


def header(source: ModelFunction | Table, name: str, dtype: str) -> str:
    """Return the header of a model. Its names begin with `name`, its numbers are `dtype`."""
    macro = name.upper()
    library = Library(macro)
    if isinstance(source, Table):
        f, inner = source.function, f"{name}_function"
        pieces = function_pieces(f, inner, dtype, library)
        outer = TableFunctions(source, Tables(name, dtype), inner, library)
        pieces.append(outer.piece({"N_COLUMNS": len(source.encoding.columns)}))
    elif isinstance(source, Combination) and source.lags:
        f, inner = source, f"{name}_function"
        pieces = function_pieces(f, inner, dtype, library)
        pieces.append(RowFunctions(f, Tables(name, dtype), inner).piece({}))
    else:
        f = source
        pieces = function_pieces(f, name, dtype, library)
    if f.classes is not None:
        pieces[-1].tables.add_classes(f.classes)
    parts = [
        _comment(source, f, pieces, library),
        f"#ifndef {macro}_H\n#define {macro}_H",
        *_library(library),
        *(text for piece in pieces for text in piece.texts),
        "#endif",
    ]
    return "\n\n".join(parts) + "\n"


def _library(library: Library) -> list[str]:
    """Return the include of the C library, and the macros for its functions."""
    if not library.macros:
        return []
    missing = " || ".join(f"!defined({macro})" for macro in library.macros)
    defaults = (
        f"#ifndef {macro}\n#define {macro} {what}\n#endif" for macro, what in library.macros.items()
    )
    return [f"#if {missing}\n#include <math.h>\n#endif", *defaults]


def _comment(
    source: ModelFunction | Table, f: ModelFunction, pieces: list[Piece], library: Library
) -> str:
    """Return the comment at the top of the header."""
    tables = pieces[-1].tables
    outputs = "classes" if f.classes is not None else "output" if f.n_outputs == 1 else "outputs"
    needed = "Nothing is needed from the C library."
    if library.macros:
        needed = (
            f"Needed from libm: {', '.join(library.names)}. "
            f"Define {' or '.join(library.macros)} before including this file to use your own."
        )
    size = sum(piece.tables.n_bytes for piece in pieces)
    inputs = f"{f.n_features} inputs"
    if isinstance(source, Table):
        inputs = f"{len(source.encoding.columns)} columns, {f.n_features} features"
    lines = [
        f"{tables.name}.h: a {source.estimator} of parsimon {__version__} as C99, or C++11.",
        "",
        *_formula(f),
        "",
        f"{inputs}, {f.n_outputs} {outputs}, {f.n_centers} centres: "
        f"constant tables of {size} bytes; nothing is allocated.",
        needed,
    ]
    if isinstance(source, Table):
        lines += [
            f"It predicts {comment_text(source.target)}. Columns are encoded in here: "
            f"give them as the fields of {tables.name}_row say.",
        ]
    if isinstance(source, Expansion) and source.scaled:
        lines.append("Inputs are scaled in here: give them as they were before any scaler.")
    if isinstance(f, Combination) and f.lags:
        lines += [
            f"{tables.name}_lags has the targets of the rows before, lag_1 the latest. NULL means "
            "those that were last when the model was exported.",
        ]
    if not isinstance(source, Table) and f.feature_names is not None:
        lines += [
            "Inputs:",
            *(f"    x[{i}] {comment_text(feature)}" for i, feature in enumerate(f.feature_names)),
        ]
    return (
        "/*\n"
        + "\n".join(f" * {line}".rstrip() for line in [*lines, "", *_example(source, f, tables)])
        + "\n */"
    )


def _formula(f: ModelFunction) -> list[str]:
    """Return the formula of a function."""
    if isinstance(f, Expansion):
        return [f"    f(x) = sum_j w_j k(d_j, x),    k = {f.kernel!r}"]
    kernels = (f"    k_{i} = {expert.expansion.kernel!r}" for i, expert in enumerate(f.experts))
    return [
        f"    {type(f.combiner).__name__} of {len(f.experts)} experts, "
        "f_i(x) = sum_j w_ij k_i(d_ij, x)",
        *kernels,
    ]


def _example(source: ModelFunction | Table, f: ModelFunction, tables: Tables) -> list[str]:
    """Return a program that uses the header."""
    name, macro, real = tables.name, tables.macro, tables.real
    given = [f"const {real} x[{macro}_N_FEATURES] = {{0}};"]
    x = "x"
    if isinstance(source, Table):
        values = ", ".join(_examples(source))
        given = textwrap.wrap(
            f"const {name}_row row = {{{values}}};",
            90,
            break_long_words=False,
            break_on_hyphens=False,
        )
        x = "&row"
    if isinstance(f, Combination) and f.lags:
        fields = ", ".join(_lag_example(lag) for lag in f.lags)
        given += textwrap.wrap(f"const {name}_lags lags = {{{fields}}};", 90)
        x += ", &lags"
    show = [f'printf("%g\\n", {name}_predict({x}));']
    if f.classes is not None:
        kind = (
            "%s"
            if isinstance(f.classes[0], str)
            else "%g"
            if isinstance(f.classes[0], float)
            else "%lld"
        )
        show = [f'printf("{kind}\\n", {name}_classes[{name}_predict({x})]);']
    elif f.n_outputs > 1:
        show = [
            f"{real} out[{macro}_N_OUTPUTS];",
            f"{name}_predict({x}, out);",
            'printf("%g\\n", out[0]);',
        ]
    return [
        "#include <stdio.h>",
        f'#include "{name}.h"  // or the name of this file',
        "int main(void)",
        "{",
        *("    " + line for line in [*given, *show, "return 0;"]),
        "}",
    ]


def _lag_example(lag: Lag) -> str:
    """Return a value for a lag: the last target."""
    value = lag.last if isinstance(lag, NumberLag) else lag.labels[lag.last]
    if isinstance(value, str):
        return f'"{value}"' if PLAIN.fullmatch(value) else "0"
    return f"{value:.6g}" if isinstance(value, float) else c_integer(int(value))


def _examples(t: Table) -> list[str]:
    """Return a value for each column: the mean, or the first category."""
    found = []
    for column in t.encoding.columns:
        if column.kind != "text":
            found.append(f"{column.mean:.6g}")
        else:
            plain = [text for text in column.categories if PLAIN.fullmatch(text)]
            found.append(f'"{plain[0]}"' if plain else "0")
    return found
