"""Models as ONNX graphs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import __version__
from parsimon._extras import install_command
from parsimon._files import write_whole
from parsimon._formula_values import own_values
from parsimon._parts import lookup
from parsimon.export.expansion import Array, Expansion, expansion
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

if TYPE_CHECKING:
    import onnx

__all__ = ["OPSET", "to_onnx"]

#: The oldest operator set in which the graph means what it should: from 12 on ArgMax says which of
#: equals it takes.
OPSET = 12

#: Coordinates beyond this are cut, so that their squares are finite, for each dtype.
LARGEST = {"float64": 1e150, "float32": 1e16}


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float64",
    input_name: str = "X",
) -> onnx.ModelProto:
    """Return a fitted model as an ONNX graph, and write it to `path` if one is given.

    The graph has one input of shape (n, d), any n, and these outputs:

    - regressors: "variable" (n, C), what `predict` gives, with C = 1 if one output was learned;
    - classifiers: "label" (n,), and "probabilities" (n, C) if the loss has them, else "scores" (n,
      C), which are f, column by column as `classes_`. Integer labels are int64, and strings,
      booleans and floats (double) are what they are.

    Inputs, outputs and all that lies between are of type `dtype`. NaN and infinity, which `predict`
    refuses, are not looked for. Inputs are not rounded, as they are by a kernel in
    `SinglePrecision`: in float64 that changes f by some 1e-7 of its size.

    Squared distances are taken as ||x||^2 - 2 x'd + ||d||^2 about the mean of the centres, which
    costs (||x||^2 + ||d||^2) gamma times the rounding unit: about 1e-15 in double and 1e-6 in
    single precision for standardised columns and common widths. The Laplacian kernel takes the
    features one after the other. So whatever the kernel, the memory needed is a few arrays (n, m)
    and (n, d).

    Parameters
    ----------
    model : a fitted estimator of parsimon, or a Pipeline or TransformedTargetRegressor of one and
    scalers; see `docs/export.md`.
    path : where to write the graph, whole or not at all.
    dtype : "float64" or "float32", default="float64"
    input_name : the name of the input, default="X"

    Examples
    --------
    >>> from parsimon import POLKClassifier
    >>> from parsimon.export import to_onnx
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 50
    >>> model = POLKClassifier(gamma=1.0, loss="logistic", random_state=0).fit(X, ["off", "on", "on", "off"] * 50)
    >>> graph = to_onnx(model)
    >>> [output.name for output in graph.graph.output]
    ['label', 'probabilities']
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> session.run(["label"], {"X": [[0.0, 0.9], [0.1, 0.0]]})
    [array(['on', 'off'], dtype=object)]

    Reference: Open Neural Network Exchange, https://onnx.ai/onnx/operators.
    """
    try:
        from onnx import helper
    except ImportError as error:
        raise ImportError(f"to_onnx needs ONNX: {install_command('onnx')}") from error
    lookup(LARGEST, dtype, "dtype")
    if not isinstance(input_name, str) or not input_name or input_name in OUTPUTS:
        raise ValueError(
            f"input_name must be a name, and none of {', '.join(OUTPUTS)}, got {input_name!r}"
        )
    e = expansion(model)
    graph = _Graph(dtype, input_name)
    outputs = _outputs(e, graph, _Function(e, graph).predictions())
    real = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    rows = "n"
    result = helper.make_model(
        helper.make_graph(
            graph.nodes,
            e.estimator,
            [helper.make_tensor_value_info(input_name, real, [rows, e.n_features])],
            [
                helper.make_tensor_value_info(name, kind or real, [rows, *shape])
                for name, kind, shape in outputs
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=helper.find_min_ir_version_for([helper.make_opsetid("", OPSET)]),
        producer_name="parsimon",
        producer_version=__version__,
        doc_string=f"{e.estimator} of parsimon: f(x) = sum_j w_j k(d_j, x), {e.n_centers} centres, k = {e.kernel!r}",
    )
    about = {"estimator": e.estimator, "kernel": repr(e.kernel), "n_centers": str(e.n_centers)}
    if e.classes is not None:
        about["classes"] = json.dumps(e.classes)
    if e.feature_names is not None:
        about["feature_names"] = json.dumps(e.feature_names)
    helper.set_model_props(result, about)
    if path is not None:
        write_whole(path, result.SerializeToString())
    return result


OUTPUTS = ("variable", "label", "probabilities", "scores")


def _outputs(e: Expansion, g: _Graph, f: str) -> list[tuple[str, int | None, list[int]]]:
    """Write the outputs, given f (n, C), and return the name, type and shape after n of each; no
    type is that of the graph.
    """
    if e.classes is None:
        g("Identity", f, to="variable")
        return [("variable", None, [e.n_outputs])]
    classes, kind = g.labels(e.classes)
    g("Gather", classes, g("ArgMax", f, axis=1, keepdims=0), to="label")
    if e.probabilities is None:
        g("Identity", f, to="scores")
        return [("label", kind, []), ("scores", None, [e.n_outputs])]
    if e.probabilities == "one_vs_rest":  # log(1 / (1 + exp(-f))), however large f is
        f = g(
            "Sub",
            g("Min", f, g.number(0)),
            g("Log", g("Add", g("Exp", g("Neg", g("Abs", f))), g.number(1))),
        )
    g("Softmax", f, to="probabilities", axis=1)
    return [("label", kind, []), ("probabilities", None, [e.n_outputs])]


class _Graph:
    """Nodes and constants as they come.

    Calling it adds a node and returns the name of its output.
    """

    def __init__(self, dtype: str, input_name: str) -> None:
        self.dtype = np.dtype(dtype)
        self.input = input_name
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def __call__(
        self, operator: str, *inputs: str, to: str | None = None, **attributes: Any
    ) -> str:
        from onnx import helper

        name = to or self.name(operator)
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def name(self, what: str) -> str:
        name = f"{what}_{len(self.nodes)}_{len(self.constants)}"
        return name + "_" if name == self.input else name

    def array(self, values: ArrayLike, what: str = "array") -> str:
        """Add real numbers; those too large for the type are refused."""
        given = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            cast = given.astype(self.dtype)
        if not np.isfinite(cast).all():
            raise ValueError(f"the model's {what} are too large for dtype={self.dtype.name!r}")
        return self.constant(cast, what)

    def number(self, value: float) -> str:
        """Add one real number, which must be as near as any to what the type has."""
        if value != 0 and self.dtype.type(value) == 0:
            raise ValueError(
                f"the kernel's parameter {value!r} is too small for dtype={self.dtype.name!r}"
            )
        return self.array([[value]], "parameters")

    def constant(self, values: NDArray[Any], what: str) -> str:
        from onnx import numpy_helper

        name = self.name(what)
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def labels(self, classes: tuple[Any, ...]) -> tuple[str, int]:
        """Add the labels; return their name and type."""
        from onnx import TensorProto, helper

        if isinstance(classes[0], str):
            name = self.name("classes")
            encoded = [label.encode() for label in classes]
            self.constants.append(
                helper.make_tensor(name, TensorProto.STRING, [len(classes)], encoded)
            )
            return name, TensorProto.STRING
        values = np.array(classes)  # bool, int64 or float64
        return self.constant(values, "classes"), helper.np_dtype_to_tensor_dtype(values.dtype)


class _Function:
    """Writes f(x), (n, C). What several kernels need is written once."""

    def __init__(self, e: Expansion, graph: _Graph) -> None:
        self.e = e
        self.g = graph
        self.known: dict[int, tuple[Expression, str]] = {}
        self.output = ""  # the name of f

    def predictions(self) -> str:
        """Write f, or what the link makes of it."""
        self.output = self.values()
        return self.output if self.e.link is None else self.write(self.e.link)

    def values(self) -> str:
        e, g = self.e, self.g
        block = self.write(e.formula)
        if not varies(e.formula):
            block = g("Expand", block, self.shape)
        f = self.multiply(block, e.weights, "weights")
        return g("Add", f, g.array(e.offset[np.newaxis], "offset")) if e.offset.any() else f

    def write(self, e: Expression) -> str:
        """Write a formula, each part once: an array that broadcasts to (n, m), or (n, 1) if of x
        alone.
        """
        if id(e) not in self.known:
            # With the expression, so that no other one has its id.
            self.known[id(e)] = (e, self.written(e))
        return self.known[id(e)][1]

    def written(self, e: Expression) -> str:
        g, write = self.g, self.write
        match e:
            case Number(value):
                return g.number(value)
            case Input():
                return self.given(e)
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
                # log(1 + z) with what rounding took from 1 + z put back: a large factor may follow.
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

    def given(self, what: Input) -> str:
        """Return the name of an input of a formula."""
        names: dict[Input, Callable[[], str]] = {
            SQUARED_DISTANCE: lambda: self.squared_distances,
            ABSOLUTE_DISTANCE: lambda: self.distances,
            PRODUCT: lambda: self.products,
            SQUARED_NORM: lambda: self.squares,
            OUTPUT: lambda: self.output,
        }
        return names[what]()

    @cached_property
    def shape(self) -> str:
        """(n, m)."""
        g = self.g
        n = g("Gather", g("Shape", g.input), g.constant(np.array([0]), "first"))
        return g("Concat", n, g.constant(np.array([self.e.n_centers]), "m"), axis=0)

    @cached_property
    def points(self) -> str:
        """z = (x - shift) * scale, (n, d)."""
        e, g = self.e, self.g
        z = self.minus(g.input, e.shift, "shift")
        return g("Mul", z, g.array(e.scale[np.newaxis], "scale")) if (e.scale != 1).any() else z

    @cached_property
    def squares(self) -> str:
        """||z||^2, (n, 1)."""
        return self.g("ReduceSumSquare", self.points, axes=[1], keepdims=1)

    @cached_property
    def products(self) -> str:
        """z'd, (n, m)."""
        return self.multiply(self.points, self.e.centers.T, "centers")

    @cached_property
    def squared_distances(self) -> str:
        """||z - d||^2 = ||z||^2 - 2 z'd + ||d||^2 about the mean of the centres, (n, m)."""
        g, mean = self.g, self.e.centers.mean(axis=0)
        centers, largest = self.e.centers - mean, LARGEST[g.dtype.name]
        z = self.minus(self.points, mean, "mean")
        z = g("Max", g("Min", z, g.number(largest)), g.number(-largest))
        own = g("ReduceSumSquare", z, axes=[1], keepdims=1)
        theirs = g.array((centers**2).sum(axis=1)[np.newaxis], "squares")
        crossed = self.multiply(z, -2.0 * centers.T, "centers")
        return g("Max", g("Add", g("Add", crossed, theirs), own), g.number(0))

    @cached_property
    def distances(self) -> str:
        """||z - d||_1, (n, m): a sum over the features, one after the other, so that no array (n,
        m, d) is needed.
        """
        from onnx import helper

        g, m = self.g, self.e.n_centers
        real = helper.np_dtype_to_tensor_dtype(g.dtype)
        x, d, before, after = (g.name(what) for what in ("x", "d", "before", "after"))
        body = _Graph(g.dtype.name, g.input)
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
        start = g("ConstantOfShape", self.shape, value=zero)
        centers = g.array(self.e.centers.T, "centers")
        return g(
            "Scan",
            start,
            self.points,
            centers,
            body=inner,
            num_scan_inputs=2,
            scan_input_axes=[1, 0],
        )

    def multiply(self, x: str, values: Array, what: str) -> str:
        # Not MatMul: ONNX Runtime merges a number by which its operands or its result are
        # multiplied into it, rounded to single precision.
        return self.g("Gemm", x, self.g.array(values, what))

    def minus(self, x: str, values: Array, what: str) -> str:
        """Write x - values.

        What single precision cannot hold of the values is subtracted in a second step.
        """
        g = self.g
        high = values.astype(g.dtype).astype(np.float64)
        for part in (high, values - high):
            if part.any():
                x = g("Sub", x, g.array(part[np.newaxis], what))
        return x
