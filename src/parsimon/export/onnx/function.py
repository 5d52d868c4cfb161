"""f(x) as nodes of an ONNX graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from parsimon._formula_values import own_values
from parsimon.export.expansion import Array, Expansion
from parsimon.export.onnx.graph import LARGEST, Graph
from parsimon.formulas import (
    ABSOLUTE_DISTANCE,
    OUTPUT,
    PRODUCT,
    SQUARED_DISTANCE,
    SQUARED_NORM,
    Add,
    Cosine,
    Divide,
    Exp,
    Expression,
    Input,
    Log1p,
    Minimum,
    Multiply,
    Number,
    Positive,
    Power,
    Sqrt,
    diagonal,
    varies,
)

__all__ = ["Function"]


class Function:
    """Writes f(x), (n, C), for rows x (n, d) of that name. Shared parts are written once."""

    def __init__(self, e: Expansion, graph: Graph, x: str) -> None:
        self.e = e
        self.g = graph
        self.x = x
        self._known: dict[int, tuple[Expression, str]] = {}
        self._output = ""  # the name of f

    def predictions(self) -> str:
        """Write f, or the link of f, and return its name."""
        self._output = self._values()
        return self._output if self.e.link is None else self._write(self.e.link)

    def _values(self) -> str:
        e, g = self.e, self.g
        block = self._write(e.formula)
        if not varies(e.formula):
            block = g("Expand", block, self._shape)
        f = self._multiply(block, e.weights, "weights")
        return g("Add", f, g.array(e.offset[np.newaxis], "offset")) if e.offset.any() else f

    def _write(self, e: Expression) -> str:
        """Write a formula, each part once.

        The result broadcasts to (n, m), or is (n, 1) if it depends only on x.
        """
        if id(e) not in self._known:
            # Keep the expression, so that no other one gets its id.
            self._known[id(e)] = (e, self._written(e))
        return self._known[id(e)][1]

    def _written(self, e: Expression) -> str:
        g, write = self.g, self._write
        match e:
            case Number(value):
                return g.number(value)
            case Input():
                return self._given(e)
            case Add(left, right):
                return g("Add", write(left), write(right))
            case Multiply(left, right):
                return g("Mul", write(left), write(right))
            case Divide(left, right):
                return g("Div", write(left), write(right))
            case Minimum(left, right):
                return g("Min", write(left), write(right))
            case Power(base, exponent):
                return g("Pow", write(base), write(exponent))
            case Exp(inner):
                return g("Exp", write(inner))
            case Sqrt(inner):
                return g("Sqrt", write(inner))
            case Log1p(inner):
                # log(1 + z), corrected for the rounding of 1 + z: a large factor may follow.
                z, one = g("Min", write(inner), g.number(LARGEST[g.dtype.name] ** 2)), g.number(1)
                more = g("Add", z, one)
                lost = g("Div", g("Sub", z, g("Sub", more, one)), more)
                return g("Add", g("Log", more), lost)
            case Positive(inner):
                return g("Where", g("Greater", write(inner), g.number(0)), g.number(1), g.number(0))
            case Cosine(inner):
                theirs = g.array(np.sqrt(own_values(inner, self.e.centers))[np.newaxis], "norms")
                norms = g("Mul", g("Sqrt", write(diagonal(inner))), theirs)
                zero = g.number(0)
                return g("Where", g("Greater", norms, zero), g("Div", write(inner), norms), zero)
        raise TypeError(f"{e!r} cannot be written as ONNX")

    def _given(self, what: Input) -> str:
        """Return the name of an input of a formula."""
        names: dict[Input, Callable[[], str]] = {
            SQUARED_DISTANCE: lambda: self._squared_distances,
            ABSOLUTE_DISTANCE: lambda: self._distances,
            PRODUCT: lambda: self._products,
            SQUARED_NORM: lambda: self._squares,
            OUTPUT: lambda: self._output,
        }
        return names[what]()

    @cached_property
    def _shape(self) -> str:
        """(n, m)."""
        g = self.g
        n = g("Gather", g("Shape", self.x), g.constant(np.array([0]), "first"))
        return g("Concat", n, g.constant(np.array([self.e.n_centers]), "m"), axis=0)

    @cached_property
    def _points(self) -> str:
        """z = (x - shift) * scale, (n, d)."""
        e, g = self.e, self.g
        z = self.g.minus(self.x, e.shift, "shift")
        return g("Mul", z, g.array(e.scale[np.newaxis], "scale")) if (e.scale != 1).any() else z

    @cached_property
    def _squares(self) -> str:
        """||z||^2, (n, 1)."""
        return self.g("ReduceSumSquare", self._points, axes=[1], keepdims=1)

    @cached_property
    def _products(self) -> str:
        """z'd, (n, m)."""
        return self._multiply(self._points, self.e.centers.T, "centers")

    @cached_property
    def _squared_distances(self) -> str:
        """||z - d||^2 = ||z||^2 - 2 z'd + ||d||^2 around the mean of the centres, (n, m)."""
        g, mean = self.g, self.e.centers.mean(axis=0)
        centers, largest = self.e.centers - mean, LARGEST[g.dtype.name]
        z = self.g.minus(self._points, mean, "mean")
        z = g("Max", g("Min", z, g.number(largest)), g.number(-largest))
        own = g("ReduceSumSquare", z, axes=[1], keepdims=1)
        theirs = g.array((centers**2).sum(axis=1)[np.newaxis], "squares")
        crossed = self._multiply(z, -2.0 * centers.T, "centers")
        return g("Max", g("Add", g("Add", crossed, theirs), own), g.number(0))

    @cached_property
    def _distances(self) -> str:
        """||z - d||_1, (n, m).

        A sum over the features, one after the other, so that no array (n, m, d) is needed.
        """
        from onnx import helper

        g, m = self.g, self.e.n_centers
        real = helper.np_dtype_to_tensor_dtype(g.dtype)
        x, d, before, after = (g.name(what) for what in ("x", "d", "before", "after"))
        body = Graph(g.dtype.name, g.inputs)
        difference = body(
            "Sub", body("Unsqueeze", x, axes=[1], to=x + "_column"), d, to=x + "_difference"
        )
        body("Add", before, body("Abs", difference, to=x + "_distance"), to=after)
        inner = helper.make_graph(
            body.nodes,
            "feature",
            [
                helper.make_tensor_value_info(before, real, ["n", m]),
                helper.make_tensor_value_info(x, real, ["n"]),
                helper.make_tensor_value_info(d, real, [m]),
            ],
            [helper.make_tensor_value_info(after, real, ["n", m])],
        )
        zero = helper.make_tensor("zero", real, [1], [0.0])
        start = g("ConstantOfShape", self._shape, value=zero)
        centers = g.array(self.e.centers.T, "centers")
        return g(
            "Scan",
            start,
            self._points,
            centers,
            body=inner,
            num_scan_inputs=2,
            scan_input_axes=[1, 0],
        )

    def _multiply(self, x: str, values: Array, what: str) -> str:
        # Not MatMul: ONNX Runtime merges factors of its operands or its result into it, and rounds
        # them to single precision.
        return self.g("Gemm", x, self.g.array(values, what))
