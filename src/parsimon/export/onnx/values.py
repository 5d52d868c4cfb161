"""Predictions and probabilities of a function as nodes of an ONNX graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsimon.export.combination import Combination
from parsimon.export.expansion import Expansion
from parsimon.export.model_functions import ModelFunction
from parsimon.export.onnx.function import Function
from parsimon.export.onnx.graph import Graph

__all__ = ["Values", "expansions", "write_values"]


class Values(NamedTuple):
    """The names of what a function gives.

    `values` (n, C) are predictions, or scores whose largest one is the class. `probabilities`
    (n, C) is None if there are none.
    """

    values: str
    probabilities: str | None = None


def expansions(f: ModelFunction) -> list[Expansion]:
    """Return the expansions of a function."""
    if isinstance(f, Combination):
        return [expert.expansion for expert in f.experts]
    return [f]


def write_values(f: ModelFunction, g: Graph, x: str) -> Values:
    """Write a function of rows x (n, d)."""
    if isinstance(f, Combination):
        return _combined(f, g, x)
    values = Function(f, g, x).predictions()
    return Values(values, None if f.probabilities is None else _probabilities(f, g, values))


def _combined(f: Combination, g: Graph, x: str) -> Values:
    """Write all experts, and what the combiner makes of them."""
    each = []
    for expert in f.experts:
        own = x
        if expert.takes is not None:
            own = g("Gather", x, g.constant(np.array(expert.takes), "takes"), axis=1)
        found = write_values(expert.expansion, g, own)
        each.append(found.probabilities or found.values)
    result = f.combiner.onnx(g, each)
    return Values(result, None if f.classes is None else result)


def _probabilities(e: Expansion, g: Graph, f: str) -> str:
    """Write probabilities of f (n, C)."""
    if e.probabilities == "one_vs_rest":  # log(1 / (1 + exp(-f))), for f of any size
        f = g(
            "Sub",
            g("Min", f, g.number(0)),
            g("Log", g("Add", g("Exp", g("Neg", g("Abs", f))), g.number(1))),
        )
    return g("Softmax", f, axis=1)
