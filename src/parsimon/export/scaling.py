"""The scaling by the steps of a Pipeline, as one shift and one factor per column.

A pair (shift, scale) means z = (x - shift) * scale. If x is near the shift, the difference has no
rounding error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

__all__ = ["SCALERS", "composed", "finite", "then"]

Array = NDArray[np.float64]
Affine = tuple[Array, Array]


def _standard(step: StandardScaler, d: int) -> Affine:
    return step.mean_ if step.with_mean else np.zeros(
        d
    ), 1.0 / step.scale_ if step.with_std else np.ones(d)


def _min_max(step: MinMaxScaler, d: int) -> Affine:
    _require_no_clipping(step)
    scale = np.asarray(step.scale_, dtype=np.float64)
    return -step.min_ / scale, scale


def _max_abs(step: MaxAbsScaler, d: int) -> Affine:
    _require_no_clipping(step)
    return np.zeros(d), 1.0 / step.scale_


def _robust(step: RobustScaler, d: int) -> Affine:
    return step.center_ if step.with_centering else np.zeros(
        d
    ), 1.0 / step.scale_ if step.with_scaling else np.ones(d)


def _function(step: FunctionTransformer, d: int) -> Affine:
    if step.func is not None or step.inverse_func is not None:
        raise TypeError("it is a Python function, and code cannot be written as data")
    return np.zeros(d), np.ones(d)


def _require_no_clipping(step: Any) -> None:
    if getattr(step, "clip", False):
        raise TypeError("it clips values outside the range, which is no scaling: use clip=False")


#: The scaling of each kind of step.
SCALERS: dict[type[Any], Callable[[Any, int], Affine]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    FunctionTransformer: _function,
}


def composed(steps: list[tuple[str, Any]], d: int) -> Affine:
    """Return the scaling of several steps over d columns, applied in order."""
    total: Affine = (np.zeros(d), np.ones(d))
    for name, step in steps:
        if step is None or step == "passthrough":
            continue
        if isinstance(step, Pipeline):
            part = composed(step.steps, d)
        elif type(step) in SCALERS:
            check_is_fitted(step)
            try:
                with np.errstate(all="ignore"):
                    part = SCALERS[type(step)](step, d)
            except TypeError as error:
                raise TypeError(f"the step {name!r} cannot be exported: {error}") from None
        else:
            known = ", ".join(cls.__name__ for cls in SCALERS)
            raise TypeError(
                f"the step {name!r} ({type(step).__name__}) cannot be exported, "
                f"only scalers of columns can ({known}): "
                "apply it to the data beforehand, and export the steps after it"
            )
        total = finite(*then(total, part), f"the scaling of the step {name!r}")
    return total


def then(first: Affine, second: Affine) -> Affine:
    """Return the scaling that applies two scalings one after the other."""
    with np.errstate(all="ignore"):
        return first[0] + second[0] / first[1], first[1] * second[1]


def finite(shift: Array, scale: Array, what: str) -> Affine:
    """Return a scaling, or raise a ValueError that calls it `what` if it is not finite."""
    if not (np.isfinite(shift).all() and np.isfinite(scale).all()):
        raise ValueError(
            f"{what} is beyond the range of double precision: "
            "scale the columns to a sensible size before"
        )
    return shift, scale
