"""Models as ONNX graphs.

- `graph`: nodes and constants;
- `function`: f(x) as nodes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon import __version__
from parsimon._extras import install_command
from parsimon._files import write_whole
from parsimon._parts import lookup
from parsimon.export.expansion import Expansion, expansion
from parsimon.export.onnx.function import Function
from parsimon.export.onnx.graph import LARGEST, Graph

if TYPE_CHECKING:
    import onnx

__all__ = ["OPSET", "to_onnx"]

#: The oldest operator set that defines which of several equal maxima ArgMax returns.
OPSET = 12
#: The names of outputs.
OUTPUTS = ("variable", "label", "probabilities", "scores")


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float64",
    input_name: str = "X",
) -> onnx.ModelProto:
    """Return a fitted model as an ONNX graph. Write it to `path` if given.

    The graph has one input of shape (n, d), for any n, and these outputs:

    - regressors: "variable" (n, C), the result of `predict`, with C = 1 for one output;
    - classifiers: "label" (n,), and "probabilities" (n, C) if the loss has probabilities. Otherwise
      "scores" (n, C), which are f. Columns are in the order of `classes_`. Integer labels are
      int64. Strings, booleans and floats (double) keep their type.

    Inputs, outputs and all intermediate values have the type `dtype`. The graph does not check for
    NaN and infinity, which `predict` rejects. A kernel in `SinglePrecision` rounds its inputs, but
    the graph does not. In float64 this changes f by about 1e-7 of its size.

    Squared distances are computed as ||x||^2 - 2 x'd + ||d||^2 around the mean of the centres. The
    error is (||x||^2 + ||d||^2) gamma times the rounding unit. For standardised columns and common
    widths this is about 1e-15 in double and 1e-6 in single precision. The Laplacian kernel
    processes one feature after the other. So every kernel needs memory for only a few arrays (n, m)
    and (n, d).

    Parameters
    ----------
    model : estimator, Pipeline or TransformedTargetRegressor
        A fitted estimator of parsimon, alone or with scalers. See `docs/export.md`.
    path : str or path, default=None
        The file to write. It is written completely or not at all.
    dtype : "float64" or "float32", default="float64"
        The type of all numbers.
    input_name : str, default="X"
        The name of the input.

    Examples
    --------
    >>> from parsimon import POLKClassifier
    >>> from parsimon.export import to_onnx
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 50
    >>> model = POLKClassifier(gamma=1.0, loss="logistic", random_state=0)
    >>> graph = to_onnx(model.fit(X, ["off", "on", "on", "off"] * 50))
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
    graph = Graph(dtype, input_name)
    outputs = _outputs(e, graph, Function(e, graph).predictions())
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
        doc_string=(
            f"{e.estimator} of parsimon: f(x) = sum_j w_j k(d_j, x), {e.n_centers} centres, "
            f"k = {e.kernel!r}"
        ),
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


def _outputs(e: Expansion, g: Graph, f: str) -> list[tuple[str, int | None, list[int]]]:
    """Write the outputs, given f (n, C), and return the name, type and shape of each.

    The type None means the type of the graph. Shapes are without n.
    """
    if e.classes is None:
        g("Identity", f, to="variable")
        return [("variable", None, [e.n_outputs])]
    classes, kind = g.labels(e.classes)
    g("Gather", classes, g("ArgMax", f, axis=1, keepdims=0), to="label")
    if e.probabilities is None:
        g("Identity", f, to="scores")
        return [("label", kind, []), ("scores", None, [e.n_outputs])]
    if e.probabilities == "one_vs_rest":  # log(1 / (1 + exp(-f))), for f of any size
        f = g(
            "Sub",
            g("Min", f, g.number(0)),
            g("Log", g("Add", g("Exp", g("Neg", g("Abs", f))), g.number(1))),
        )
    g("Softmax", f, to="probabilities", axis=1)
    return [("label", kind, []), ("probabilities", None, [e.n_outputs])]
