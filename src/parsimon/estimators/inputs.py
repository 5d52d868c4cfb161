"""Checks of the inputs of an estimator, and of its parameters and features while it learns."""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from parsimon import kernels
from parsimon._parts import numbers

__all__ = [
    "calls_python",
    "one_row",
    "plausible_weights",
    "points",
    "require_names",
    "require_unchanged",
    "require_wideable",
]

Array = NDArray[np.float64]


def points(model: BaseEstimator, X: ArrayLike, *, reset: bool) -> Array:
    """Return X as an array (n, d) for the core. The core checks it for NaN and infinity."""
    if _is_plain(X):
        if reset:
            model.n_features_in_ = X.shape[1]
            vars(model).pop("feature_names_in_", None)
            return X
        if X.shape[1] == getattr(model, "n_features_in_", 0) and not hasattr(
            model, "feature_names_in_"
        ):
            return X
    result: Array = numbers(
        X,
        "X",
        lambda X: validate_data(
            model, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False
        ),
    )
    return result


def _is_plain(X: Any) -> TypeGuard[Array]:
    """Return whether scikit-learn would return X as it is.

    Its check takes 0.1 ms, and 10 ms the first time.
    """
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.flags.c_contiguous
        and X.size > 0
    )


def require_names(model: Any) -> None:
    """Raise a ValueError if there are feature names, but not one per feature."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and (
        len(names) != model.n_features_in_ or not all(isinstance(n, str) for n in names)
    ):
        raise ValueError(f"its feature names do not fit {model.n_features_in_} features")


def require_unchanged(
    model: BaseEstimator,
    learns_with: dict[str, Any],
    but: str | None = None,
    remedy: str = "call fit to start again with it",
) -> None:
    """Raise an error if a parameter of a model was changed after learning began."""
    # Not get_params, which reads the signature of the class each time: 0.1 ms
    for name, used in learns_with.items():
        value = getattr(model, name, used)
        if name != but and value is not used and value != used:
            raise ValueError(
                f"{name} was {used!r} when learning began and is {value!r} now: {remedy}"
            )


def require_wideable(kernel: kernels.Kernel) -> None:
    """Raise an error if the kernel does not allow new feature columns in existing centres."""
    if calls_python(kernel):
        raise TypeError(
            "the kernel is a Python function, which may not support new features: "
            "give all features in the first sample"
        )


def calls_python(kernel: kernels.Kernel) -> bool:
    """Return whether a kernel is a Python function, or is made of one."""
    return isinstance(kernel, kernels.Function) or any(
        calls_python(part) for part in vars(kernel).values() if isinstance(part, kernels.Kernel)
    )


def one_row(x: ArrayLike, what: str, shape: str) -> Array:
    """Return one sample as a row of float64, or raise an error that says what is wrong."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64:
        return np.ascontiguousarray(x)
    given = numbers(x, what, np.asarray)
    if given.dtype.kind == "O" and not all(
        isinstance(value, Real) for value in given.ravel().tolist()
    ):
        raise TypeError(f"{what} must hold numbers, got {x!r}")
    if given.ndim > 1 or (what == "x" and given.ndim == 0):
        raise ValueError(f"{what} must be one sample of shape {shape}, got shape {given.shape}")
    return numbers(
        given, what, lambda row: np.atleast_1d(np.ascontiguousarray(row, dtype=np.float64))
    )


def plausible_weights(sample_weight: ArrayLike | None, n: int) -> Array | None:
    """Return the weights, or None if there are none or they are refused later."""
    if sample_weight is None:
        return None
    try:
        given = np.asarray(sample_weight)
    except (TypeError, ValueError):
        return None
    if given.dtype.kind not in "biuf" or given.shape != (n,):
        return None
    weights = given.astype(np.float64)
    return weights if np.isfinite(weights).all() and (weights >= 0.0).all() else None
