"""Norms and distances of models, which are functions in the RKHS of their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from parsimon._parts import extended_labels
from parsimon.kernels import Kernel

__all__ = ["distance", "norm", "quadratic_forms", "squared_norm", "union"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


def norm(model: Any) -> float:
    """Return the RKHS norm of the function f of a model, with the squares summed over the outputs.

    The same as ``model.norm()``.

    >>> from parsimon import KernelExpansionRegressor, kernels
    >>> norm(KernelExpansionRegressor(kernels.Gaussian(1.0), [[0.0], [9.0]], [3.0, 4.0]))
    5.0
    """
    return float(np.sqrt(squared_norm(model)))


def squared_norm(model: Any) -> float:
    """Return sum_c ||f_c||^2 in the RKHS, over the outputs f_c of a model.

    >>> from parsimon import KernelExpansionRegressor, kernels
    >>> squared_norm(KernelExpansionRegressor(kernels.Gaussian(1.0), [[0.0], [9.0]], [3.0, 4.0]))
    25.0
    """
    return float(quadratic_forms(_kernel(model), *_expansion(model)).sum())


def distance(model: Any, other: Any) -> float:
    """Return the RKHS distance of the functions of two models.

    With several outputs, it is the square root of the sum of their squared distances. The same as
    ``model.distance(other)``. Outputs of regressors are paired in order, outputs of classifiers by
    label. A model has the output f_c = 0 for a class c that it has not seen.

    >>> from parsimon import KernelExpansionRegressor, kernels
    >>> f = KernelExpansionRegressor(kernels.Gaussian(1.0), [[0.0]], [3.0])
    >>> g = KernelExpansionRegressor(kernels.Gaussian(1.0), [[0.0]], [1.0])
    >>> distance(f, g)
    2.0
    """
    if _kernel(model) != _kernel(other):
        raise ValueError(
            f"the models have different kernels, {_kernel(model)!r} and {_kernel(other)!r}"
        )
    (A, V), (B, W) = _expansion(model), _expansion(other)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"the models have different numbers of features, {A.shape[1]} and {B.shape[1]}"
        )
    labels = [
        list(getattr(m, "_output_labels", range(w.shape[1]))) for m, w in ((model, V), (other, W))
    ]
    has_labels = [hasattr(m, "_output_labels") for m in (model, other)]
    if has_labels[0] != has_labels[1]:
        raise TypeError(
            "one of the models is a classifier, the other is not: "
            f"{type(model).__name__}, {type(other).__name__}"
        )
    if has_labels[0]:
        # Raises if the labels are of different kinds.
        extended_labels(np.array(labels[0]), np.array(labels[1]), "other")
    elif labels[0] != labels[1]:
        raise ValueError(
            f"the models have different outputs, {V.shape[1]} and {W.shape[1]} of them"
        )
    all_labels = list(dict.fromkeys([*labels[0], *labels[1]]))
    columns = [
        np.array([all_labels.index(label) for label in own], dtype=np.int64) for own in labels
    ]
    centres, (first, second) = union([A, B])
    D = np.zeros((len(centres), len(all_labels)))
    np.add.at(D, np.ix_(first, columns[0]), V)
    np.subtract.at(D, np.ix_(second, columns[1]), W)
    return float(np.sqrt(quadratic_forms(_kernel(model), centres, D).sum()))


def union(dictionaries: Sequence[Array]) -> tuple[Array, list[Indices]]:
    """Return the distinct centres of all dictionaries, and the rows of each dictionary in them.

    Centres keep the order in which they appear first.
    """
    rows = np.ascontiguousarray(np.concatenate(dictionaries)) + 0.0  # -0.0 becomes 0.0
    places: dict[bytes, int] = {}
    index = np.array(
        [places.setdefault(row.tobytes(), len(places)) for row in rows], dtype=np.int64
    )
    first = np.unique(index, return_index=True)[1]
    return rows[first], np.split(index, np.cumsum([len(d) for d in dictionaries])[:-1])


def quadratic_forms(kernel: Kernel, centres: Array, C: Array) -> Array:
    """Return c'K c for each column c of C (m, n_outputs), with K the Gram matrix of the centres.

    K is computed in blocks of rows.
    """
    used = np.flatnonzero(np.any(C != 0.0, axis=1))
    X, C = centres[used], C[used]
    total = np.zeros(C.shape[1])
    for first in range(0, len(X), 512):
        block = slice(first, first + 512)
        total += np.einsum("ic,ic->c", C[block], kernel(X[block], X) @ C)
    return np.maximum(total, 0.0)


def _kernel(model: Any) -> Kernel:
    if not hasattr(type(model), "weights_"):
        raise TypeError(f"expected a model of one kernel expansion, got {model!r}")
    if hasattr(model, "fit"):
        check_is_fitted(model)
    kernel: Kernel = model.kernel_
    return kernel


def _expansion(model: Any) -> tuple[Array, Array]:
    """Return the centres (m, d) and weights (m, C) that a model predicts with."""
    W = np.asarray(model.weights_, dtype=np.float64)
    return model.centers_, W if W.ndim == 2 else W[:, np.newaxis]
