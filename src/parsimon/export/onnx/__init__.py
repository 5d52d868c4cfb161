"""Models as ONNX graphs.

- `graph`: nodes and constants;
- `function`: f(x) of one expansion as nodes;
- `values`: predictions and probabilities of a function, and of a combination of several;
- `encoding`: the columns of a table as features;
- `lags`: earlier targets as inputs;
- `outputs`: labels, and targets in their own units.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from parsimon import __version__
from parsimon._extras import install_command
from parsimon._files import write_whole
from parsimon._parts import lookup
from parsimon.export.combination import Combination
from parsimon.export.model_functions import ModelFunction, model_function
from parsimon.export.onnx.encoding import encoded, unique_names
from parsimon.export.onnx.graph import LARGEST, Graph
from parsimon.export.onnx.lags import lagged
from parsimon.export.onnx.outputs import OUTPUTS, Value, write_outputs
from parsimon.export.onnx.values import expansions, write_values
from parsimon.export.table import Table, table
from parsimon.tables import TableModel

if TYPE_CHECKING:
    import onnx

__all__ = ["OPSETS", "to_onnx"]

#: The operator sets. The standard one is the oldest that defines which of several equal maxima
#: ArgMax returns. The other one has LabelEncoder, which finds the category of a text.
OPSETS = {"": 12, "ai.onnx.ml": 2}


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

    The graph of a `TableModel` has one input (n, 1) for each column. Numbers are double, and NaN
    means missing. Times are seconds, as in `parsimon.preprocessing`. Texts are strings, and the
    empty string means missing, unless it is a category. The graph encodes the columns, and
    "variable" (n, 1) is the target in its own units, a double.

    `MixtureRegressor` and `MixtureClassifier` also have inputs (n, 1) for earlier targets: "lag_1"
    is the target of the row before, "lag_2" the one before that. With several outputs, "lag_1_2" is
    output 2 of the row before. Numbers are double and in their own units. Labels are strings, int64
    or double, as the classes are; booleans are int64. NaN, or a label that is not a class,
    means that the lag is not known. Then the graph uses what `predict` uses: for lag_1 the last
    target learned, for lag_2 the one before it, and so on.

    Inputs, outputs and all intermediate values have the type `dtype`. In the graph of a
    `TableModel` that is the type of the function between the encoding and the target. The graph
    does not check for NaN and infinity, which `predict` rejects. A kernel in `SinglePrecision`
    rounds its inputs, but the graph does not. In float64 this changes f by a relative error of
    about 1e-7.

    The mean of the centres is subtracted from x and from every centre d_j. Then squared distances
    are computed as ||x||^2 - 2 x'd_j + ||d_j||^2. The error is (||x||^2 + ||d_j||^2) gamma times
    the rounding unit. For standardised columns and common widths this is about 1e-15 in double and
    1e-6 in single precision. The Laplacian kernel processes one feature after the other. So every
    kernel needs memory for only a few arrays (n, m) and (n, d).

    Parameters
    ----------
    model : estimator, mixture, Pipeline, TransformedTargetRegressor or TableModel
        A fitted model of parsimon, or one with scalers. See `docs/export.md`.
    path : str or path, default=None
        The file to write. It is written completely or not at all.
    dtype : "float64" or "float32", default="float64"
        The type of all numbers, or of the function of a `TableModel`.
    input_name : str, default="X"
        The name of the input. The inputs of a `TableModel` have the names of the columns.

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
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(f"to_onnx needs ONNX: {install_command('onnx')}") from error
    lookup(LARGEST, dtype, "dtype")
    if not isinstance(input_name, str) or not input_name or input_name in OUTPUTS:
        raise ValueError(
            f"input_name must be a name, and none of {', '.join(OUTPUTS)}, got {input_name!r}"
        )
    source = table(model) if isinstance(model, TableModel) else model_function(model)
    if isinstance(source, Table):
        if input_name != "X":
            raise ValueError("input_name is not for tables: their inputs are named by the columns")
        result = _table_graph(source, dtype)
    else:
        result = _function_graph(source, dtype, input_name)
    if path is not None:
        write_whole(path, result.SerializeToString())
    return result


def _function_graph(f: ModelFunction, dtype: str, input_name: str) -> onnx.ModelProto:
    """Return the graph of a function of a row of numbers."""
    names = _lag_names(f, [input_name])
    g = Graph(dtype, [input_name, *names])
    more, lags = _lags(f, names, g)
    units = f.units if isinstance(f, Combination) else None
    outputs = write_outputs(f, g, write_values(f, g, input_name, lags), units, dtype)
    inputs: list[Value] = [(input_name, g.kind, [f.n_features]), *more]
    about = {} if f.feature_names is None else {"feature_names": json.dumps(f.feature_names)}
    return _model(g, f, inputs, outputs, f"{f.estimator} of parsimon", about | _about_lags(names))


def _table_graph(t: Table, dtype: str) -> onnx.ModelProto:
    """Return the graph of a table: encoding, function, target."""
    f, names = t.function, unique_names([column.name for column in t.encoding.columns], OUTPUTS)
    lag_names = _lag_names(f, names)
    g = Graph(dtype, [*names, *lag_names])
    inputs, x = encoded(t.encoding, names, g.typed("float64"))
    more, lags = _lags(f, lag_names, g)
    values = write_values(f, g, g.typed("float64").cast(x, dtype), lags)
    outputs = write_outputs(f, g, values, t.units, "float64")
    columns = [
        {"name": column.name, "input": name, "kind": column.kind}
        for column, name in zip(t.encoding.columns, names, strict=True)
    ]
    about = {"target": t.target, "columns": json.dumps(columns), **_about_lags(lag_names)}
    return _model(
        g, f, [*inputs, *more], outputs, f"{t.estimator} of parsimon for {t.target}", about
    )


def _lag_names(f: ModelFunction, taken: Iterable[str]) -> list[str]:
    """Return the names of the inputs for lags. Underscores follow a name that is taken."""
    lags = f.lags if isinstance(f, Combination) else ()
    return unique_names([lag.name for lag in lags], {*taken, *OUTPUTS})


def _lags(f: ModelFunction, names: list[str], g: Graph) -> tuple[list[Value], str]:
    """Write lags. Return the inputs of the graph, and the name of those of the function."""
    if not isinstance(f, Combination) or not f.lags:
        return [], ""
    double = g.typed("float64")
    inputs, lags = lagged(f.lags, names, double)
    return inputs, double.cast(lags, g.dtype.name)


def _about_lags(names: list[str]) -> dict[str, str]:
    return {"lags": json.dumps(names)} if names else {}


def _model(
    g: Graph,
    f: ModelFunction,
    inputs: list[Value],
    outputs: list[Value],
    title: str,
    about: dict[str, str],
) -> onnx.ModelProto:
    """Return the model of a graph, with its description."""
    from onnx import helper

    domains = {"", *(node.domain for node in g.nodes)}
    opsets = [helper.make_opsetid(name, OPSETS[name]) for name in sorted(domains)]
    kernels = ", ".join(repr(e.kernel) for e in expansions(f))
    given, found = (
        [helper.make_tensor_value_info(name, kind, ["n", *shape]) for name, kind, shape in values]
        for values in (inputs, outputs)
    )
    result = helper.make_model(
        helper.make_graph(g.nodes, f.estimator, given, found, g.constants),
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="parsimon",
        producer_version=__version__,
        doc_string=f"{title}: f(x) = sum_j w_j k(d_j, x), {f.n_centers} centres, k = {kernels}",
    )
    about = {
        "estimator": f.estimator,
        "kernel": kernels,
        "n_centers": str(f.n_centers),
        **({} if f.classes is None else {"classes": json.dumps(f.classes)}),
        **about,
    }
    helper.set_model_props(result, about)
    return result
