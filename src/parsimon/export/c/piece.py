"""Pieces of a C header, and the library functions that they share."""

from __future__ import annotations

from dataclasses import dataclass

from parsimon.export.c.tables import Tables

__all__ = ["EQUAL", "LARGEST_ENTRY", "Library", "Piece"]

#: Statements that return the index of the largest entry of `out`, the first of equals.
LARGEST_ENTRY = [
    "int best = 0;",
    "for (int c = 1; c < {outputs}; ++c)",
    "    if (out[c] > out[best]) best = c;",
    "return best;",
]
#: A function that compares texts.
EQUAL = """\
static inline int {name}_equal(const char *a, const char *b)
{{
    while (*a && *a == *b) {{
        ++a;
        ++b;
    }}
    return *a == *b;
}}"""


class Library:
    """The functions of the C library that a header needs. Macros stand for them.

    >>> library = Library("MODEL")
    >>> library.function("exp", "f"), library.names
    ('MODEL_EXP', ['expf'])
    """

    def __init__(self, macro: str) -> None:
        self.macro = macro
        self._needs: dict[str, str] = {}

    def function(self, what: str, suffix: str) -> str:
        """Return the macro for a function. The suffix is that of its type."""
        self._needs[what] = what + suffix
        return f"{self.macro}_{what.upper()}"

    @property
    def names(self) -> list[str]:
        """The functions that are needed, sorted."""
        return list(self.macros.values())

    @property
    def macros(self) -> dict[str, str]:
        """The function of each macro."""
        return {f"{self.macro}_{what.upper()}": self._needs[what] for what in sorted(self._needs)}


@dataclass
class Piece:
    """A part of a header: sizes, constant tables, helpers and functions, in this order."""

    tables: Tables
    sizes: dict[str, int]
    helpers: list[str]
    functions: list[str]

    @property
    def texts(self) -> list[str]:
        """The text of the piece."""
        macro = self.tables.macro
        sizes = "\n".join(f"#define {macro}_{what} {value}" for what, value in self.sizes.items())
        return [sizes, *self.tables.texts, *self.helpers, *self.functions]
