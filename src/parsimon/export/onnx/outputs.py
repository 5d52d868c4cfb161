"""Outputs of an ONNX graph: labels, and targets in their own units."""

from __future__ import annotations

import numpy as np

from parsimon.export.expansion import Array
from parsimon.export.lags import Units
from parsimon.export.model_functions import ModelFunction
from parsimon.export.onnx.graph import Graph
from parsimon.export.onnx.values import Values

__all__ = ["OUTPUTS", "Value", "write_outputs"]

#: The names of outputs.
OUTPUTS = ("variable", "label", "probabilities", "scores")
#: The name, the type and the shape without n of an input or output.
Value = tuple[str, int, list[int]]


def write_outputs(
    f: ModelFunction, g: Graph, found: Values, units: Units | None, dtype: str
) -> list[Value]:
    """Write the outputs of a function, and return them. Predicted numbers have the type `dtype`."""
    if f.classes is None:
        values, other = g.cast(found.values, dtype), g.typed(dtype)
        if units is not None:
            values = _in_its_units(other, values, units)
        g("Identity", values, to="variable")
        return [("variable", other.kind, [f.n_outputs])]
    classes, kind = g.labels(f.classes)
    g("Gather", classes, g("ArgMax", found.values, axis=1, keepdims=0), to="label")
    name, values = (
        ("scores", found.values)
        if found.probabilities is None
        else ("probabilities", found.probabilities)
    )
    g("Identity", values, to=name)
    return [("label", kind, []), (name, g.kind, [f.n_outputs])]


def _in_its_units(g: Graph, f: str, units: Units) -> str:
    """Write mean + scale * f, within bounds."""

    def row(values: Array) -> str:
        return g.array(values[np.newaxis], "target")

    if units.changes:
        f = g("Add", g("Mul", f, row(units.scale)), row(units.mean))
    if units.high is not None:
        f = g("Min", f, row(units.high))
    return f if units.low is None else g("Max", f, row(units.low))
