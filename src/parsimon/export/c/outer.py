"""Functions around a function of numbers: its inputs before it, the target in its units after it.

- `Outer`: what all of them have in common;
- `RowFunctions`: a row of numbers and lags. `table.TableFunctions` are those of columns.
"""

from __future__ import annotations

from parsimon.export.c.lags import LagInputs
from parsimon.export.c.piece import Piece
from parsimon.export.c.tables import Tables
from parsimon.export.combination import Combination
from parsimon.export.expansion import Array, Expansion
from parsimon.export.lags import Units
from parsimon.export.model_functions import ModelFunction

__all__ = ["Outer", "RowFunctions"]


class Outer:
    """Writes functions around those of `inner`, the prefix of a function f of numbers.

    A subclass says what they take (`argument`), and how the features x are set (`set_features`).
    Predicted numbers have the type `number`.
    """

    argument: str
    number = "double"

    def __init__(self, f: ModelFunction, units: Units | None, tables: Tables, inner: str) -> None:
        self.f, self.units, self.tables, self.inner = f, units, tables, inner
        self.name, self.macro, self.real = tables.name, tables.macro, tables.real
        self.helpers: dict[str, str] = {}
        lags = f.lags if isinstance(f, Combination) else ()
        self.lags = LagInputs(lags, tables, self.helpers) if lags else None

    def set_features(self) -> list[str]:
        """Return the statements that set the features."""
        raise NotImplementedError

    def definitions(self) -> list[str]:
        """Return types and functions that the others need."""
        return [] if self.lags is None else self.lags.definitions()

    def piece(self, sizes: dict[str, int]) -> Piece:
        """Return the functions, with the tables that they need."""
        f = self.f
        sizes |= {
            "N_FEATURES": f.n_features,
            "N_OUTPUTS": f.n_outputs,
            "N_CENTERS": f.n_centers,
        }
        functions = self.definitions()
        if f.classes is None:
            functions.append(self._predict())
        else:
            functions.append(self._function("int", "predict", [f"return {self.inner}_predict(x);"]))
            has_probabilities = not isinstance(f, Expansion) or f.probabilities is not None
            what = "proba" if has_probabilities else "decision"
            lines = [f"{self.inner}_{what}(x, out);"]
            functions.append(self._function("void", what, lines, out=self.real))
        return Piece(self.tables, sizes, [*self.helpers.values()], functions)

    def _predict(self) -> str:
        """Return the function that predicts the target in its own units."""
        units, several = self.units, self.f.n_outputs > 1
        if not several:
            if units is None or (not units.changes and units.low is None):
                lines = [f"return {self.inner}_predict(x);"]
                return self._function(self.number, "predict", lines)
            lines = [f"{self.number} y = {self.inner}_predict(x);"]
            lines += [line.format(y="y") for line in self._in_units(several)]
            return self._function(self.number, "predict", [*lines, "return y;"])
        each = ["    " + line.format(y="out[c]") for line in self._in_units(several)]
        loop = [f"for (int c = 0; c < {self.macro}_N_OUTPUTS; ++c) {{", *each, "}"]
        lines = [f"{self.inner}_predict(x, out);", *(loop if each else [])]
        return self._function("void", "predict", lines, out=self.number)

    def _in_units(self, several: bool) -> list[str]:
        """Return the statements that give {y} its units. c is the number of the output."""
        units, lines = self.units, []
        if units is None:
            return []

        def value(what: str, values: Array) -> str:
            if several:
                self.tables.add(what, values)
                return f"{self.name}_{what}[c]"
            only = float(values[0])
            return repr(only) if self.number == "double" else self.tables.number(only)

        if units.changes:
            mean, scale = value("target_mean", units.mean), value("target_scale", units.scale)
            lines.append(f"{{y}} = {mean} + {scale} * {{y}};")
        if units.low is not None and units.high is not None:
            low, high = value("target_low", units.low), value("target_high", units.high)
            lines.append(f"{{y}} = {{y}} < {low} ? {low} : {{y}} > {high} ? {high} : {{y}};")
        return lines

    def _function(self, kind: str, what: str, lines: list[str], *, out: str = "") -> str:
        arguments = [self.argument]
        first = [f"{self.real} x[{self.inner.upper()}_N_FEATURES];", *self.set_features()]
        if self.lags is not None:
            arguments.append(f"const {self.name}_lags *lags")
            first.append(f"{self.name}_lag_inputs(lags, x + {self.macro}_N_FEATURES);")
        if out:
            arguments.append(f"{out} out[{self.macro}_N_OUTPUTS]")
        body = "\n".join("    " + line for line in [*first, *lines])
        return f"static inline {kind} {self.name}_{what}({', '.join(arguments)})\n{{\n{body}\n}}"


class RowFunctions(Outer):
    """Writes the functions of a combination with lags: a row of features, and lags."""

    def __init__(self, f: Combination, tables: Tables, inner: str) -> None:
        super().__init__(f, f.units, tables, inner)
        self.number = self.real
        self.argument = f"const {self.real} row[{self.macro}_N_FEATURES]"

    def set_features(self) -> list[str]:
        """Return the statements that set the features."""
        return [f"for (int i = 0; i < {self.macro}_N_FEATURES; ++i) x[i] = row[i];"]
