"""Nodes and constants of an ONNX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import onnx

__all__ = ["LARGEST", "Graph"]

#: Larger coordinates are clipped, so that their squares are finite, for each dtype.
LARGEST = {"float64": 1e150, "float32": 1e16}


class Graph:
    """The nodes and constants written so far.

    A call adds a node and returns the name of its output.
    """

    def __init__(self, dtype: str, input_name: str) -> None:
        self.dtype = np.dtype(dtype)
        self.input = input_name
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def __call__(
        self, operator: str, *inputs: str, to: str | None = None, **attributes: Any
    ) -> str:
        """Add a node. Its output is called `to`, or gets a new name."""
        from onnx import helper

        name = to or self.name(operator)
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def name(self, what: str) -> str:
        """Return a new name."""
        name = f"{what}_{len(self.nodes)}_{len(self.constants)}"
        return name + "_" if name == self.input else name

    def array(self, values: ArrayLike, what: str = "array") -> str:
        """Add real numbers. Numbers too large for the type are rejected."""
        given = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            cast = given.astype(self.dtype)
        if not np.isfinite(cast).all():
            raise ValueError(f"the model's {what} are too large for dtype={self.dtype.name!r}")
        return self.constant(cast, what)

    def number(self, value: float) -> str:
        """Add one real number. A number that the type would round to zero is rejected."""
        if value != 0 and self.dtype.type(value) == 0:
            raise ValueError(
                f"the kernel's parameter {value!r} is too small for dtype={self.dtype.name!r}"
            )
        return self.array([[value]], "parameters")

    def constant(self, values: NDArray[Any], what: str) -> str:
        """Add a constant of any type."""
        from onnx import numpy_helper

        name = self.name(what)
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def labels(self, classes: tuple[Any, ...]) -> tuple[str, int]:
        """Add the labels, and return their name and type."""
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
