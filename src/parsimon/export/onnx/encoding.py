"""The columns of a table as features, in an ONNX graph."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from parsimon.export.onnx.graph import Graph
from parsimon.export.onnx.outputs import Value
from parsimon.export.table import Encoding

__all__ = ["encoded", "unique_names"]


def unique_names(given: Sequence[str], taken: Collection[str]) -> list[str]:
    """Return a name for each input.

    It is the name that is given. Underscores follow it if it is empty or taken.
    """
    names: list[str] = []
    for own in given:
        name = own
        while not name or name in taken or name in names or name in {*given} - {own}:
            name += "_"
        names.append(name)
    return names


def encoded(encoding: Encoding, names: list[str], g: Graph) -> tuple[list[Value], str]:
    """Write the features of columns, in double precision.

    Return the inputs, and the name of the features (n, d).
    """
    from onnx import TensorProto

    kinds = [column.kind for column in encoding.columns]
    numbers = [name for name, kind in zip(names, kinds, strict=True) if kind != "text"]
    texts = [name for name, kind in zip(names, kinds, strict=True) if kind == "text"]
    parts = _number_features(encoding, numbers, g) if numbers else []
    for name, column in zip(texts, encoding.texts, strict=True):
        parts.append(_one_hot(name, column.categories, g))
    inputs = [
        (name, TensorProto.STRING if kind == "text" else g.kind, [1])
        for name, kind in zip(names, kinds, strict=True)
    ]
    return inputs, g("Concat", *parts, axis=1)


def _number_features(encoding: Encoding, names: list[str], g: Graph) -> list[str]:
    """Write the features of the columns of numbers."""
    largest = np.finfo(np.float64).max
    columns = encoding.numbers
    clip = np.array([[min(column.clip, largest) for column in columns]])
    # Without variation the feature is 0. The largest number divides so, and is finite.
    deviations = [[column.deviation or largest for column in columns]]
    zero = g.array([[0.0]], "zero")
    v = g("Concat", *names, axis=1)
    missing = g("IsNaN", v)
    z = g("Sub", v, g.array([[column.mean for column in columns]], "means"))
    z = g("Div", z, g.array(deviations, "deviations"))
    z = g("Max", g("Min", z, g.array(clip, "clip")), g.array(-clip, "clip"))
    parts = [g("Where", missing, zero, z)]
    if encoding.waves:
        places = g.constant(np.array([i for i, _ in encoding.waves]), "waves")
        periods = np.array([[period for _, period in encoding.waves]])
        period = g.array(periods, "periods")
        absent = g("Gather", missing, places, axis=1)
        seconds = g("Where", absent, zero, g("Gather", v, places, axis=1))
        rest = g("Mod", seconds, period, fmod=1)
        rest = g("Where", g("Less", rest, zero), g("Add", rest, period), rest)
        angle = g("Mul", rest, g.array(2 * np.pi / periods, "frequencies"))
        for wave in ("Sin", "Cos"):
            scaled = g("Mul", g(wave, angle), g.array([[np.sqrt(2.0)]], "amplitude"))
            parts.append(g("Where", absent, zero, scaled))
    if encoding.indicators:
        places = g.constant(np.array(encoding.indicators), "indicators")
        parts.append(g("Cast", g("Gather", missing, places, axis=1), to_type=g.kind))
    return parts


def _one_hot(name: str, categories: tuple[str, ...], g: Graph) -> str:
    """Write the features of a column of text: its categories, other, missing."""
    n = len(categories)
    places = dict(zip(categories, range(n), strict=True))
    places.setdefault("", n + 1)
    place = g(
        "LabelEncoder",
        name,
        domain="ai.onnx.ml",
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=n,
    )
    every = g.constant(np.arange(n + 2)[np.newaxis], "places")
    return g("Cast", g("Equal", place, every), to_type=g.kind)
