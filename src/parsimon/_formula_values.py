"""The values of formulas, in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.formulas import (
    ABSOLUTE_DISTANCE,
    OUTPUT,
    PRODUCT,
    SQUARED_DISTANCE,
    SQUARED_NORM,
    Cosine,
    Expression,
    Input,
    Number,
    Operation,
    diagonal,
    parts,
)

Array = NDArray[np.float64]


def values(formula: Expression, X: Array, Y: Array) -> Array:
    """Evaluate a kernel's formula at X (n, d) and Y (m, d): (n, m). For tests and checks.

    >>> values(1.0 / (1.0 + SQUARED_DISTANCE), np.array([[0.0]]), np.array([[0.0], [1.0]]))
    array([[1. , 0.5]])
    """
    pairs = {
        SQUARED_DISTANCE: lambda: ((X[:, None] - Y) ** 2).sum(axis=-1),
        ABSOLUTE_DISTANCE: lambda: np.abs(X[:, None] - Y).sum(axis=-1),
        PRODUCT: lambda: (X[:, None] * Y).sum(axis=-1),
    }

    def cosine(inner: Expression, value: Any) -> Any:
        norms = np.sqrt(np.outer(own_values(inner, X), own_values(inner, Y)))
        return np.divide(value, norms, out=np.zeros_like(norms), where=norms > 0)

    return np.broadcast_to(_evaluated(formula, pairs, cosine, {}), (len(X), len(Y)))


def own_values(formula: Expression, X: Array) -> Array:
    """Evaluate k(x, x) for each row of X (n, d): (n,)."""
    inputs = {SQUARED_NORM: lambda: (X**2).sum(axis=1)}
    return np.broadcast_to(_evaluated(diagonal(formula), inputs, _no_cosine, {}), len(X))


def applied(link: Expression, F: Array) -> Array:
    """Apply a formula in `OUTPUT` to values f of any shape.

    >>> from parsimon.formulas import exp
    >>> applied(exp(OUTPUT), np.array([0.0]))
    array([1.])
    """
    return np.asarray(_evaluated(link, {OUTPUT: lambda: F}, _no_cosine, {}), dtype=np.float64)


def _no_cosine(inner: Expression, value: Any) -> Any:
    raise AssertionError(inner)


def _evaluated(
    e: Expression,
    inputs: Mapping[Input, Callable[[], Any]],
    cosine: Callable[[Expression, Any], Any],
    known: dict[int, Any],
) -> Any:
    """Return the value of an expression, a number or an array."""
    if id(e) not in known:
        match e:
            case Number(value):
                found: Any = value
            case Input():
                found = inputs[e]()
            case Cosine(inner):
                found = cosine(inner, _evaluated(inner, inputs, cosine, known))
            case Operation():
                found = e.function(
                    *(_evaluated(inner, inputs, cosine, known) for inner in parts(e))
                )
            case _:
                raise TypeError(f"{e!r} is not part of a formula")
        known[id(e)] = found
    return known[id(e)]
