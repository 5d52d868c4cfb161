"""Nodes and constants of an ONNX graph."""

from __future__ import annotations

import copy
from collections.abc import Iterable
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

    def __init__(self, dtype: str, inputs: Iterable[str]) -> None:
        self.dtype = np.dtype(dtype)
        self.inputs = frozenset(inputs)  # names that no node may have
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._nearly: dict[str, float] = {}  # single numbers that are nearly 0 or 1

    @property
    def kind(self) -> int:
        """The type of numbers, as ONNX numbers types."""
        from onnx import helper

        return helper.np_dtype_to_tensor_dtype(self.dtype)

    def typed(self, dtype: str) -> Graph:
        """Return the same graph for writing numbers of another type."""
        other = copy.copy(self)  # with the same lists of nodes and constants
        other.dtype = np.dtype(dtype)
        return other

    def cast(self, x: str, dtype: str) -> str:
        """Write numbers of the type of the graph as another type, if it is another one."""
        other = self.typed(dtype)
        return x if other.dtype == self.dtype else self("Cast", x, to_type=other.kind)

    def __call__(
        self,
        operator: str,
        *inputs: str,
        to: str | None = None,
        to_type: int | None = None,
        **attributes: Any,
    ) -> str:
        """Add a node. Its output is called `to`, or gets a new name.

        `to_type` is the attribute "to" of the operator Cast.
        """
        from onnx import helper

        operator, inputs = self._kept(operator, inputs)
        name = to or self.name(operator)
        if to_type is not None:
            attributes["to"] = to_type
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def _kept(self, operator: str, inputs: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Return an operation that ONNX Runtime keeps, in place of one that it leaves out.

        It leaves out x * c and x / c if c is one number that rounds to 1 in single precision, and
        x + c and x - c if c rounds to 0. So x * c becomes x * (2 c) * 0.5, and x + c a Sum.
        """
        if operator not in ("Add", "Sub", "Mul", "Div"):
            return operator, inputs
        x, c = inputs
        if c not in self._nearly and operator in ("Add", "Mul"):
            x, c = c, x
        if c not in self._nearly:
            return operator, inputs
        value = self._nearly[c]
        if operator in ("Mul", "Div") and value > 0.5:
            return operator, (self(operator, x, self.array([[2.0 * value]])), self.array([[0.5]]))
        if operator in ("Add", "Sub") and value < 0.5:
            sign = 1.0 if operator == "Add" else -1.0
            return "Sum", (x, self.array([[sign * value]]))
        return operator, inputs

    def name(self, what: str) -> str:
        """Return a new name."""
        name = f"{what}_{len(self.nodes)}_{len(self.constants)}"
        while name in self.inputs:
            name += "_"
        return name

    def array(self, values: ArrayLike, what: str = "array") -> str:
        """Add real numbers. Numbers too large for the type are rejected."""
        given = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            cast = given.astype(self.dtype)
        if not np.isfinite(cast).all():
            raise ValueError(f"the model's {what} are too large for dtype={self.dtype.name!r}")
        name = self.constant(cast, what)
        if cast.size == 1:
            value = float(cast.item())
            with np.errstate(over="ignore", under="ignore"):
                nearly = float(np.float32(value))
            if nearly in (0.0, 1.0) and value != nearly:
                self._nearly[name] = value
        return name

    def minus(self, x: str, values: NDArray[np.float64], what: str) -> str:
        """Write x - values, with x (n, d) and values (d,).

        The part of the values that single precision cannot hold is subtracted in a second step.
        """
        high = values.astype(self.dtype).astype(np.float64)
        for part in (high, values - high):
            if part.any():
                x = self("Sub", x, self.array(part[np.newaxis], what))
        return x

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
