"""Predictions and probabilities of a function as nodes of an ONNX graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsimon.export.combination import Combination, Standardisation
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


def write_values(f: ModelFunction, g: Graph, x: str, lags: str = "") -> Values:
    """Write a function of rows x (n, d), and of the inputs of lags (n, l) if it has any."""
    if isinstance(f, Combination):
        return _combined(f, g, x, lags)
    values = Function(f, g, x).predictions()
    return Values(values, None if f.probabilities is None else _probabilities(f, g, values))


def _combined(f: Combination, g: Graph, x: str, lags: str) -> Values:
    """Write all experts, and what the combiner makes of them."""
    if f.standardisation is not None:
        x = _standardised(f.standardisation, g, x)
    views: dict[tuple[int, ...] | None, str] = {tuple(range(f.n_features)): x}
    views[None] = views[tuple(range(f.n_inputs))] = g("Concat", x, lags, axis=1) if lags else x
    each = []
    for expert in f.experts:
        if expert.takes not in views:
            places = g.constant(np.array(expert.takes), "takes")
            views[expert.takes] = g("Gather", views[None], places, axis=1)
        found = write_values(expert.expansion, g, views[expert.takes])
        each.append(found.probabilities or found.values)
    result = f.combiner.onnx(g, each, lags)
    return Values(result, None if f.classes is None else result)


def _standardised(s: Standardisation, g: Graph, x: str) -> str:
    """Write features in units of deviations, clipped."""
    # Without variation the feature is 0. The largest number divides so, and is finite.
    deviations = np.where(s.deviations > 0.0, s.deviations, np.finfo(g.dtype).max)
    z = g("Div", g.minus(x, s.means, "means"), g.array(deviations[np.newaxis], "deviations"))
    return g("Max", g("Min", z, g.array([[s.clip]], "clip")), g.array([[-s.clip]], "clip"))


def _probabilities(e: Expansion, g: Graph, f: str) -> str:
    """Write probabilities of f (n, C)."""
    if e.probabilities == "one_vs_rest":  # log(1 / (1 + exp(-f))), for f of any size
        f = g(
            "Sub",
            g("Min", f, g.number(0)),
            g("Log", g("Add", g("Exp", g("Neg", g("Abs", f))), g.number(1))),
        )
    return g("Softmax", f, axis=1)
