"""The functions of a combination of expansions."""

from __future__ import annotations

import numpy as np

from parsimon.export.c.functions import expansion_piece
from parsimon.export.c.piece import LARGEST_ENTRY, Library, Piece
from parsimon.export.c.tables import Tables
from parsimon.export.combination import Combination
from parsimon.export.expansion import Array, Expansion
from parsimon.export.model_functions import ModelFunction

__all__ = ["function_pieces"]


def function_pieces(f: ModelFunction, name: str, dtype: str, library: Library) -> list[Piece]:
    """Return the functions of a model on a row of numbers. Their names begin with `name`."""
    if isinstance(f, Expansion):
        return [expansion_piece(f, name, dtype, library)]
    experts = [
        expansion_piece(expert.expansion, f"{name}_expert_{k}", dtype, library)
        for k, expert in enumerate(f.experts)
    ]
    return [*experts, _Combined(f, Tables(name, dtype), library).piece()]


class _Combined:
    """Writes the functions of a combination. It is also the `Statements` of its combiner."""

    def __init__(self, f: Combination, tables: Tables, library: Library) -> None:
        self.f = f
        self.tables = tables
        self.library = library
        self.name, self.real = tables.name, tables.real
        self.n_experts, self.n_outputs, self.n_features = (
            f"{tables.macro}_N_{what}" for what in ("EXPERTS", "OUTPUTS", "FEATURES")
        )

    def piece(self) -> Piece:
        """Return the functions, with the tables that they need."""
        f = self.f
        sizes = {
            "N_FEATURES": f.n_inputs,
            "N_OUTPUTS": f.n_outputs,
            "N_CENTERS": f.n_centers,
            "N_EXPERTS": len(f.experts),
        }
        lines = [
            *self._standardised(),
            f"{self.real} each[{self.n_experts}][{self.n_outputs}];",
            *(line for k in range(len(f.experts)) for line in self._expert(k)),
            *f.combiner.c(self),
        ]
        if f.classes is None and f.n_outputs > 1:
            return Piece(
                self.tables, sizes, [], [self._function("void", "predict", lines, out=True)]
            )
        what, kind, last = "combined", self.real, ["return out[0];"]
        if f.classes is not None:
            what, kind = "proba", "int"
            last = [line.format(outputs=self.n_outputs) for line in LARGEST_ENTRY]
        first = [f"{self.real} out[{self.n_outputs}];", f"{self.name}_{what}(x, out);"]
        texts = [
            self._function("void", what, lines, out=True),
            self._function(kind, "predict", [*first, *last]),
        ]
        return Piece(self.tables, sizes, [], texts)

    def _expert(self, k: int) -> list[str]:
        """Return the statements that set each[k][c]."""
        expert, name = self.f.experts[k], f"{self.name}_expert_{k}"
        e, row, before = expert.expansion, self._row, []
        if expert.takes is not None and not expert.takes_first:
            row, size = f"x_{k}", len(expert.takes)
            self.tables.add_integers(f"expert_{k}_takes", expert.takes)
            before = [
                f"{self.real} {row}[{size}];",
                f"for (int i = 0; i < {size}; ++i) {row}[i] = {self._row}[{name}_takes[i]];",
            ]
        if e.probabilities is not None:
            return [*before, f"{name}_proba({row}, each[{k}]);"]
        if e.n_outputs > 1:
            return [*before, f"{name}_predict({row}, each[{k}]);"]
        return [*before, f"each[{k}][0] = {name}_predict({row});"]

    @property
    def _row(self) -> str:
        """The inputs of experts."""
        return "x" if self.f.standardisation is None else "z"

    def _standardised(self) -> list[str]:
        """Return the statements that set z, the inputs with standardised features."""
        s, zero = self.f.standardisation, self.number(0)
        if s is None:
            return []
        self.tables.add("deviations", s.deviations)
        high = s.means.astype(self.tables.numpy_name).astype(np.float64)
        terms, low, clip = "x[i]", self.number(-s.clip), self.number(s.clip)
        for what, part in (("means", high), ("means_rest", s.means - high)):
            if part.any():
                terms += f" - {self.table(what, part)}[i]"
        divisor = f"{self.name}_deviations[i]"
        return [
            f"{self.real} z[{self.n_features}];",
            f"for (int i = 0; i < {self.n_features}; ++i) {{",
            "    z[i] = x[i];",
            f"    if (i >= {self.f.n_features}) continue; /* a lag */",
            f"    z[i] = {divisor} > {zero} ? ({terms}) / {divisor} : {zero};",
            f"    z[i] = z[i] < {low} ? {low} : z[i] > {clip} ? {clip} : z[i];",
            "}",
        ]

    def _function(self, kind: str, what: str, lines: list[str], *, out: bool = False) -> str:
        arguments = f"const {self.real} x[{self.n_features}]"
        if out:
            arguments += f", {self.real} out[{self.n_outputs}]"
        body = "\n".join("    " + line for line in lines)
        return f"static inline {kind} {self.name}_{what}({arguments})\n{{\n{body}\n}}"

    # The context of combiners

    def number(self, value: float) -> str:
        """Return a number."""
        return self.tables.number(value)

    def table(self, what: str, values: Array) -> str:
        """Add a constant table (n,), and return its name."""
        self.tables.add(what, values)
        return f"{self.name}_{what}"

    def library_function(self, what: str) -> str:
        """Return the macro that stands for a function of the C library."""
        return self.library.function(what, self.tables.suffix)

    @property
    def lags(self) -> str:
        """The array of the inputs of lags."""
        return f"(x + {self.f.n_features})"
