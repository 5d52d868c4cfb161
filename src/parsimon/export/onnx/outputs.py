"""Outputs of an ONNX graph: labels, and targets in their own units."""

from __future__ import annotations

from parsimon.export.model_functions import ModelFunction
from parsimon.export.onnx.graph import Graph
from parsimon.export.onnx.values import Values

__all__ = ["OUTPUTS", "Value", "write_outputs"]

#: The names of outputs.
OUTPUTS = ("variable", "label", "probabilities", "scores")
#: The name, the type and the shape without n of an input or output.
Value = tuple[str, int, list[int]]


def write_outputs(
    f: ModelFunction, g: Graph, found: Values, target: tuple[float, float] | None = None
) -> list[Value]:
    """Write the outputs of a function, and return them.

    `target` has the mean and the scale of the target of a table. Then predictions are double.
    """
    if f.classes is None:
        values, kind = found.values, g.kind
        if target is not None:
            values, kind = _in_its_units(g, values, *target), g.typed("float64").kind
        g("Identity", values, to="variable")
        return [("variable", kind, [f.n_outputs])]
    classes, kind = g.labels(f.classes)
    g("Gather", classes, g("ArgMax", found.values, axis=1, keepdims=0), to="label")
    name, values = (
        ("scores", found.values)
        if found.probabilities is None
        else ("probabilities", found.probabilities)
    )
    g("Identity", values, to=name)
    return [("label", kind, []), (name, g.kind, [f.n_outputs])]


def _in_its_units(g: Graph, f: str, mean: float, scale: float) -> str:
    """Write mean + scale * f in double precision."""
    double = g.typed("float64")
    f = g.cast(f, "float64")
    if (mean, scale) == (0.0, 1.0):
        return f
    scaled = double("Mul", f, double.array([[scale]], "target"))
    return double("Add", scaled, double.array([[mean]], "target"))
