"""Earlier targets as a struct, and the inputs that are computed from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsimon.export.c.piece import EQUAL
from parsimon.export.c.tables import Tables
from parsimon.export.lags import LABEL_INPUTS, LabelLag, Lag, NumberLag

__all__ = ["LagInputs"]


class LagInputs:
    """Writes the struct of lags, and the function that computes their inputs.

    Numbers are double. Labels have the type of the table of classes.
    """

    def __init__(self, lags: Sequence[Lag], tables: Tables, helpers: dict[str, str]) -> None:
        self.lags = lags
        self.tables = tables
        self.helpers = helpers
        self.name, self.real = tables.name, tables.real

    def definitions(self) -> list[str]:
        """Return the struct and the function."""
        fields = "\n".join(f"    {self._kind(lag)}{lag.name};" for lag in self.lags)
        struct = (
            "/* Earlier targets, the latest first. "
            f"{self._missing}: the last one that was learned. */\n"
            f"typedef struct {{\n{fields}\n}} {self.name}_lags;"
        )
        lines, at = [], 0
        for lag in self.lags:
            lines.append(self._label(lag, at) if isinstance(lag, LabelLag) else _number(lag, at))
            at += lag.n_inputs
        cast = "" if self.real == "double" else f"({self.real})"
        body = "\n".join("    " + line.format(cast=cast) for line in lines)
        arguments = f"const {self.name}_lags *lags, {self.real} x[{at}]"
        function = f"static inline void {self.name}_lag_inputs({arguments})\n{{\n{body}\n}}"
        return [struct, function]

    @property
    def _missing(self) -> str:
        if isinstance(self.lags[0], NumberLag):
            return "NaN"
        text = isinstance(self.lags[0].labels[0], str)
        return "NULL, or a label that is not known" if text else "A label that is not known"

    def _kind(self, lag: Lag) -> str:
        if isinstance(lag, NumberLag) or isinstance(lag.labels[0], float):
            return "double "
        return "const char *" if isinstance(lag.labels[0], str) else "long long "

    def _label(self, lag: LabelLag, at: int) -> str:
        """Return the statement that sets the inputs of a label."""
        name, zero, one = self.name, self.tables.number(0), self.tables.number(1)
        if "place" not in self.helpers:
            order = np.argsort(np.array(lag.labels))
            self.tables.add_integers("places", order.tolist())
            same = f"label == {name}_classes[c]"
            if isinstance(lag.labels[0], str):
                self.helpers["equal"] = EQUAL.format(name=name)
                same = f"label && {name}_equal(label, {name}_classes[c])"
            self.helpers["place"] = (
                f"static inline int {name}_place({self._kind(lag)}label, int last)\n{{\n"
                f"    for (int c = 0; c < {self.tables.macro}_N_OUTPUTS; ++c)\n"
                f"        if ({same}) return {name}_places[c];\n"
                "    return last;\n}"
            )
            self.helpers["lag_input"] = (
                f"static inline void {name}_lag_input(int place, {self.real} x[])\n{{\n"
                f"    for (int i = 0; i < {LABEL_INPUTS}; ++i) x[1 + i] = {zero};\n"
                f"    x[0] = ({self.real})place;\n"
                f"    x[place < {LABEL_INPUTS - 1} ? 1 + place : {LABEL_INPUTS}] = {one};\n}}"
            )
        place = f"lags ? {name}_place(lags->{lag.name}, {lag.last}) : {lag.last}"
        return f"{name}_lag_input({place}, x + {at});"


def _number(lag: NumberLag, at: int) -> str:
    """Return the statement that sets the input of a number."""
    given = f"lags->{lag.name}"
    value = f"(lags && {given} == {given} ? {given} : {lag.last!r})"
    return f"x[{at}] = {{cast}}(({value} - {lag.mean!r}) / {lag.scale!r});"
