"""The text of a C header."""

from __future__ import annotations

from parsimon import __version__
from parsimon.export.c.functions import Functions
from parsimon.export.c.tables import Tables, comment_text
from parsimon.export.expansion import Expansion

__all__ = ["header"]


def header(e: Expansion, name: str, dtype: str) -> str:
    """Return the header of an expansion. Its names begin with `name`, its numbers are `dtype`."""
    tables = Tables(name, dtype)
    macro, functions = tables.macro, Functions(e, tables)
    # First the functions: they say which tables, helpers and library functions stand before them.
    texts = [functions.decision(), functions.predict()]
    if e.probabilities is not None:
        texts.append(functions.proba())
    if e.classes is not None:
        tables.add_classes(e.classes)
    sizes = {"N_FEATURES": e.n_features, "N_OUTPUTS": e.n_outputs, "N_CENTERS": e.n_centers}
    parts = [
        _comment(e, tables, sorted(functions.needs)),
        f"#ifndef {macro}_H\n#define {macro}_H",
        *_library(tables, sorted(functions.needs)),
        "\n".join(f"#define {macro}_{what} {value}" for what, value in sizes.items()),
        *tables.texts,
        *functions.helpers.values(),
        *texts,
        "#endif",
    ]
    return "\n\n".join(parts) + "\n"


def _library(tables: Tables, needs: list[str]) -> list[str]:
    """Return the include of the C library, and the macros for its functions."""
    if not needs:
        return []
    macros = {f"{tables.macro}_{what.upper()}": what + tables.suffix for what in needs}
    missing = " || ".join(f"!defined({macro})" for macro in macros)
    defaults = (
        f"#ifndef {macro}\n#define {macro} {what}\n#endif" for macro, what in macros.items()
    )
    return [f"#if {missing}\n#include <math.h>\n#endif", *defaults]


def _comment(e: Expansion, tables: Tables, needs: list[str]) -> str:
    """Return the comment at the top of the header."""
    outputs = "classes" if e.classes is not None else "output" if e.n_outputs == 1 else "outputs"
    needed = "Nothing is needed from the C library."
    if needs:
        macros = " or ".join(f"{tables.macro}_{what.upper()}" for what in needs)
        needed = (
            f"Needed from libm: {', '.join(what + tables.suffix for what in needs)}. "
            f"Define {macros} before including this file to use your own."
        )
    lines = [
        f"{tables.name}.h: a {e.estimator} of parsimon {__version__} as C99, or C++11.",
        "",
        f"    f(x) = sum_j w_j k(d_j, x),    k = {e.kernel!r}",
        "",
        f"{e.n_features} inputs, {e.n_outputs} {outputs}, {e.n_centers} centres: "
        f"constant tables of {tables.n_bytes} bytes; nothing is allocated.",
        needed,
    ]
    if e.scaled:
        lines.append("Inputs are scaled in here: give them as they were before any scaler.")
    if e.feature_names is not None:
        lines += [
            "Inputs:",
            *(f"    x[{i}] {comment_text(feature)}" for i, feature in enumerate(e.feature_names)),
        ]
    return (
        "/*\n"
        + "\n".join(f" * {line}".rstrip() for line in [*lines, "", *_example(e, tables)])
        + "\n */"
    )


def _example(e: Expansion, tables: Tables) -> list[str]:
    """Return a program that uses the header."""
    name, macro, real = tables.name, tables.macro, tables.real
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
            f"{real} out[{macro}_N_OUTPUTS];",
            f"{name}_predict(x, out);",
            'printf("%g\\n", out[0]);',
        ]
    body = [f"const {real} x[{macro}_N_FEATURES] = {{0}};", *show, "return 0;"]
    return [
        "#include <stdio.h>",
        f'#include "{name}.h"',
        "int main(void)",
        "{",
        *("    " + line for line in body),
        "}",
    ]
