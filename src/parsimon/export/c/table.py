"""The functions of a table: a row as a struct, its encoding, and the target in its own units."""

from __future__ import annotations

import numpy as np

from parsimon.export.c.identifiers import identifiers
from parsimon.export.c.outer import Outer
from parsimon.export.c.piece import EQUAL, Library
from parsimon.export.c.tables import Tables, comment_text
from parsimon.export.table import UNITS, Table
from parsimon.preprocessing import EncodedColumn

__all__ = ["TableFunctions"]


class TableFunctions(Outer):
    """Writes the functions of a table around those of `inner`, the prefix of its function.

    Columns and targets are double. The features have the type of `tables`.
    """

    def __init__(self, t: Table, tables: Tables, inner: str, library: Library) -> None:
        super().__init__(t.function, t.units, tables, inner)
        self.t = t
        self.library = library
        self.argument = f"const {self.name}_row *row"
        self.fields = identifiers(column.name for column in t.encoding.columns)

    def set_features(self) -> list[str]:
        """Return the statements that set the features."""
        return [f"{self.name}_encode(row, x);"]

    def definitions(self) -> list[str]:
        """Return types and functions that the others need."""
        return [self._struct(), self._encode(), *super().definitions()]

    def _struct(self) -> str:
        """Return the type of a row."""
        lines = []
        for column, field in zip(self.t.encoding.columns, self.fields, strict=True):
            kind, missing = (
                ("const char *", "NULL") if column.kind == "text" else ("double ", "NaN")
            )
            what = f"{comment_text(column.name)}: {UNITS[column.kind]}; {missing} if missing"
            lines.append(f"    {kind}{field}; /* {what} */")
        return "typedef struct {\n" + "\n".join(lines) + f"\n}} {self.name}_row;"

    def _encode(self) -> str:
        """Return the function that computes the features of a row."""
        encoding = self.t.encoding
        pairs = [*zip(encoding.columns, self.fields, strict=True)]
        values = [f"row->{field}" for column, field in pairs if column.kind != "text"]
        texts = [f"row->{field}" for column, field in pairs if column.kind == "text"]
        lines = [
            f"x[{i}] = {self._standardised(value, column)};"
            for i, (value, column) in enumerate(zip(values, encoding.numbers, strict=True))
        ]
        at = len(values)
        for wave in ("sin", "cos"):
            for i, period in encoding.waves:
                lines.append(f"x[{at}] = {self._wave(wave, values[i], period)};")
                at += 1
        for i in encoding.indicators:
            one, zero = self.tables.number(1), self.tables.number(0)
            lines.append(f"x[{at}] = {values[i]} != {values[i]} ? {one} : {zero};")
            at += 1
        for i, (text, column) in enumerate(zip(texts, encoding.texts, strict=True)):
            self._category()
            self.tables.add_strings(f"categories_{i}", column.categories)
            size = len(column.categories)
            lines.append(
                f"{self.name}_category({text}, {self.name}_categories_{i}, {size}, x + {at});"
            )
            at += size + 2
        body = "\n".join("    " + line for line in lines)
        arguments = f"const {self.name}_row *row, {self.real} x[{self.macro}_N_FEATURES]"
        return f"static inline void {self.name}_encode({arguments})\n{{\n{body}\n}}"

    # Helpers

    def _standardised(self, value: str, column: EncodedColumn) -> str:
        """Return a standardised number."""
        largest = float(np.finfo(np.float64).max)
        self.helpers["standardised"] = (
            f"static inline {self.real} {self.name}_standardised("
            "double value, double mean, double deviation, double clip)\n{\n"
            "    const double z = (value - mean) / deviation;\n"
            f"    if (z != z) return {self.tables.number(0)}; /* missing */\n"
            f"    return {self._cast}(z < -clip ? -clip : z > clip ? clip : z);\n}}"
        )
        # Without variation the feature is 0. The largest number divides so, and is finite.
        deviation, clip = column.deviation or largest, min(column.clip, largest)
        return f"{self.name}_standardised({value}, {column.mean!r}, {deviation!r}, {clip!r})"

    def _wave(self, wave: str, value: str, period: float) -> str:
        """Return a sine or cosine of a time in seconds."""
        name = {"sin": "sine", "cos": "cosine"}[wave]
        fmod, function = self.library.function("fmod", ""), self.library.function(wave, "")
        self.helpers["angle"] = (
            f"static inline double {self.name}_angle(double value, double period)\n{{\n"
            f"    const double rest = {fmod}(value, period);\n"
            "    return (rest < 0.0 ? rest + period : rest) "
            f"* ({2 * np.pi!r} / period);\n}}"
        )
        self.helpers[wave] = (
            f"static inline {self.real} {self.name}_{name}(double value, double period)\n{{\n"
            f"    if (value != value) return {self.tables.number(0)}; /* missing */\n"
            f"    return {self._cast}({float(np.sqrt(2.0))!r} * "
            f"{function}({self.name}_angle(value, period)));\n}}"
        )
        return f"{self.name}_{name}({value}, {period!r})"

    def _category(self) -> None:
        """Add the helper that sets the features of a text: its categories, other, missing."""
        self.helpers["equal"] = EQUAL.format(name=self.name)
        self.helpers["category"] = (
            f"static inline void {self.name}_category("
            f"const char *text, const char *const known[], int n, {self.real} x[])\n{{\n"
            "    int place = text ? 0 : n + 1;\n"
            f"    while (place < n && !{self.name}_equal(text, known[place])) ++place;\n"
            f"    for (int i = 0; i < n + 2; ++i) x[i] = {self.tables.number(0)};\n"
            f"    x[place] = {self.tables.number(1)};\n}}"
        )

    @property
    def _cast(self) -> str:
        return "" if self.real == "double" else f"({self.real})"
