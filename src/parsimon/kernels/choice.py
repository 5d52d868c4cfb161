"""The kernel that the parameters `kernel` and `gamma` of an estimator mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from parsimon import _core
from parsimon._parts import lookup, real
from parsimon.kernels.algebra import Array, Kernel, Sum
from parsimon.kernels.elementary import KERNELS
from parsimon.kernels.wrappers import Function, SinglePrecision

__all__ = ["agrees", "has_width", "named", "resolve", "seen", "width"]


def resolve(
    kernel: str | Kernel | Callable[[Array, Array], float], gamma: float | str, X: Array
) -> Kernel:
    """Return the kernel that `kernel` and `gamma` of an estimator mean.

    X (n, d) is the first block, from which "scale" and "median" are computed.
    """
    if isinstance(kernel, SinglePrecision) and isinstance(kernel.kernel, str):
        return kernel.around(resolve(kernel.kernel, gamma, seen(kernel, X)))
    if isinstance(kernel, str):
        cls = lookup(KERNELS, kernel, "kernel")
        if not has_width(cls):
            width(gamma, X[:1])  # an invalid gamma is an error even if it is not used
            return cls()
        return cls(gamma=width(gamma, X, cls.metric))  # type: ignore[call-arg]
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(
            f"kernel must be an object, got the class {kernel.__name__}: write {kernel.__name__}()"
        )
    if not isinstance(gamma, str):
        raise ValueError(
            f"gamma={gamma!r} has no effect on a kernel given as an object: set it there"
        )
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Function(kernel)  # type: ignore[arg-type]
    raise TypeError(
        f"kernel must be a name, a kernel object or a function of two points, got {kernel!r}"
    )


def has_width(cls: type[Kernel]) -> bool:
    """Return whether a kernel takes the gamma of an estimator."""
    return "gamma" in getattr(cls, "__match_args__", ())


def named(kernel: Any) -> str | None:
    """Return the name of a kernel that was given by name (or its single precision), or None."""
    name = kernel.kernel if isinstance(kernel, SinglePrecision) else kernel
    return name if isinstance(name, str) else None


def agrees(
    kernel: Kernel, given: Any, gamma: float | str, settled: Callable[[Any, float | str], Kernel]
) -> bool:
    """Return whether the parameters `given` and `gamma` could have produced `kernel`.

    `settled(given, gamma)` returns the kernel that the parameters produce if gamma is a number. If
    `gamma` is a name, the gamma of `kernel` can be any number.
    """
    if named(given) is not None and isinstance(gamma, str):
        lookup({"scale": None, "median": None, "auto": None}, gamma, "gamma")
        inner: Any = kernel
        while isinstance(inner, Sum | SinglePrecision):
            inner = inner.left if isinstance(inner, Sum) else inner.kernel
        gamma = getattr(inner, "gamma", gamma)
    return settled(given, gamma) == kernel


def seen(kernel: Any, X: Array, what: str = "X") -> Array:
    """Return X (n, d) as a kernel sees it: rounded, if the kernel is in single precision."""
    if not isinstance(kernel, SinglePrecision):
        return X
    _core.require_finite(X, what, True)
    return X.astype(np.float32).astype(np.float64)


def width(gamma: float | str, X: Array, metric: str = "sqeuclidean") -> float:
    """Return gamma as a number.

    | gamma | metric "sqeuclidean" | metric "cityblock" (Laplacian kernel) |
    |---|---|---|
    | "scale" | 1 / (d Var[X]), as in scikit-learn | 1 / (d std[X]) |
    | "median" | 1 / (2 median ||x_i - x_j||^2) | 1 / median ||x_i - x_j||_1 |
    | "auto" | 1 / d, as in scikit-learn | 1 / d |

    d is the number of features of X (n, d), and x_i are its rows. Medians are over at most 300
    evenly spaced rows. If all rows are equal, gamma is 1. A block of one row has no spread to
    measure. Then gamma is what suits standardised features: 1 / d, or 1 / (4 d) for "median" with
    squared distances.

    >>> width("scale", np.array([[0.0, 0.0], [2.0, 2.0]]))
    0.5
    """
    if not isinstance(gamma, str):
        return real("gamma", gamma, above=0)
    measure = lookup({"scale": _scale, "median": _median, "auto": _auto}, gamma, "gamma")
    if len(X) == 1:  # what it is for standardised features that do not depend on each other
        far = gamma == "median" and metric == "sqeuclidean"
        return 1.0 / ((4.0 if far else 1.0) * int(X.shape[1]))
    value = measure(X, metric)
    if not 0.0 < value < np.inf:
        raise ValueError(
            f"gamma={gamma!r} gives {value} on the first block: "
            "scale the columns of X, or give a number"
        )
    return value


def _auto(X: Array, metric: str) -> float:
    return 1.0 / int(X.shape[1])


def _scale(X: Array, metric: str) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(X.var() if metric == "sqeuclidean" else X.std())
        return 1.0 / (X.shape[1] * spread) if spread != 0 else 1.0


def _median(X: Array, metric: str) -> float:
    from scipy.spatial.distance import pdist

    rows = X[np.linspace(0, len(X) - 1, min(len(X), 300)).astype(int)]
    distances = pdist(rows, metric)
    distances = distances[distances > 0]
    with np.errstate(over="ignore"):
        median = float(np.median(distances)) if len(distances) else 1.0
    return 1.0 / ((2.0 if metric == "sqeuclidean" else 1.0) * median) if len(distances) else 1.0
