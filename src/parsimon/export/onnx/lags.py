"""Earlier targets as inputs of an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsimon.export.lags import LABEL_INPUTS, LabelLag, Lag, NumberLag
from parsimon.export.onnx.graph import Graph
from parsimon.export.onnx.outputs import Value

__all__ = ["lagged"]


def lagged(lags: Sequence[Lag], names: Sequence[str], g: Graph) -> tuple[list[Value], str]:
    """Write the inputs of a function for lags, in double precision.

    Return the inputs of the graph, (n, 1) each, and the name of those of the function, (n, l).
    """
    inputs: list[Value] = []
    parts = []
    for lag, name in zip(lags, names, strict=True):
        parts += _label(lag, name, g) if isinstance(lag, LabelLag) else [_number(lag, name, g)]
        inputs.append((name, _kind(lag), [1]))
    return inputs, g("Concat", *parts, axis=1)


def _kind(lag: Lag) -> int:
    """Return the type of the input of a lag. Booleans are 0 and 1, so that one can be missing."""
    from onnx import TensorProto

    if isinstance(lag, NumberLag) or isinstance(lag.labels[0], float):
        return int(TensorProto.DOUBLE)
    return int(TensorProto.STRING if isinstance(lag.labels[0], str) else TensorProto.INT64)


def _number(lag: NumberLag, value: str, g: Graph) -> str:
    """Write a scaled target, (n, 1)."""
    known = g("Where", g("IsNaN", value), g.array([[lag.last]], "last"), value)
    centred = g("Sub", known, g.array([[lag.mean]], "mean"))
    return g("Div", centred, g.array([[lag.scale]], "scale"))


def _label(lag: LabelLag, value: str, g: Graph) -> list[str]:
    """Write the place of a label (n, 1), and its indicators (n, 16)."""
    place = _place(lag, value, g)
    most = g.constant(np.array([[LABEL_INPUTS - 1]]), "most")
    every = g.constant(np.arange(LABEL_INPUTS)[np.newaxis], "places")
    indicators = g("Equal", g("Min", place, most), every)
    return [g("Cast", part, to_type=g.kind) for part in (place, indicators)]


def _place(lag: LabelLag, value: str, g: Graph) -> str:
    """Write the place of a label as an integer, (n, 1)."""
    from onnx import TensorProto

    n = len(lag.labels)
    if isinstance(lag.labels[0], str):
        return g(
            "LabelEncoder",
            value,
            domain="ai.onnx.ml",
            keys_strings=list(lag.labels),
            values_int64s=list(range(n)),
            default_int64=lag.last,
        )
    labels = np.array([lag.labels])
    labels = labels.astype(np.int64) if labels.dtype == bool else labels
    equal = g("Equal", value, g.constant(labels, "labels"))
    found = g("Cast", equal, to_type=TensorProto.INT64)
    place = g("ArgMax", found, axis=1, keepdims=1)
    known = g("Cast", g("ReduceMax", found, axes=[1], keepdims=1), to_type=TensorProto.BOOL)
    return g("Where", known, place, g.constant(np.array([[lag.last]]), "last"))
