"""The one form that every exporter starts from: a kernel expansion over scaled inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from parsimon import kernels, losses
from parsimon._formula_values import values
from parsimon.dictionary_learning import KernelDictionaryClassifier, KernelDictionaryLearning
from parsimon.estimators.base import StreamEstimator
from parsimon.estimators.classifier import StreamClassifier
from parsimon.estimators.fixed import KernelExpansionRegressor
from parsimon.estimators.regressor import StreamRegressor
from parsimon.formulas import Expression

__all__ = ["Expansion", "expansion"]

Array = NDArray[np.float64]
Label = bool | int | float | str
Affine = tuple[Array, Array]

#: How probabilities come from f: softmax(f), or the probabilities of each class against the rest,
#: scaled to sum to one.
PROBABILITIES: dict[type[losses.Loss], str] = {
    losses.MultinomialLogistic: "softmax",
    losses.Logistic: "one_vs_rest",
}


@dataclass(frozen=True)
class Expansion:
    """A fitted model as plain data: f(x) = offset + sum_j w_j k(d_j, z) with z = (x - shift) *
    scale, column by column.

    With `classes`, the class of the largest f is predicted, the first of equals.

    >>> from parsimon import KNLMSRegressor
    >>> model = KNLMSRegressor(gamma=1.0).fit([[0.0], [3.0]], [1.0, 2.0])
    >>> expansion(model).n_centers, expansion(model).n_outputs
    (2, 1)
    """

    estimator: str
    kernel: kernels.Kernel
    centers: Array  # (m, d), m >= 1
    weights: Array  # (m, C)
    offset: Array  # (C,)
    shift: Array  # (d,)
    scale: Array  # (d,)
    classes: tuple[Label, ...] | None = None  # C labels of one type
    probabilities: str | None = None  # a value of PROBABILITIES
    feature_names: tuple[str, ...] | None = None
    link: Expression | None = None  # what predictions are of f; without one they are f

    @cached_property
    def formula(self) -> Expression:
        """The kernel as an expression."""
        return self.kernel.formula()

    @property
    def n_centers(self) -> int:
        """How many centres there are, m."""
        return len(self.centers)

    @property
    def n_features(self) -> int:
        """How many inputs there are, d."""
        return int(self.centers.shape[1])

    @property
    def n_outputs(self) -> int:
        """How many outputs or classes there are, C."""
        return int(self.weights.shape[1])

    @property
    def scaled(self) -> bool:
        """Whether the inputs are scaled at all."""
        return bool(self.shift.any() or (self.scale != 1.0).any())


def expansion(model: Any) -> Expansion:
    """Return a fitted model as an expansion.

    `model` is an estimator of parsimon over one dictionary; or a scikit-learn `Pipeline` that ends
    in one and does nothing before it but scale columns (`StandardScaler`, `MinMaxScaler`,
    `MaxAbsScaler`, `RobustScaler`, "passthrough"); or a `TransformedTargetRegressor` around either
    whose transformer is such a scaler. All scaling becomes one shift and one factor a column.
    """
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        inner = expansion(model.steps[-1][1])
        before = _composed(model.steps[:-1], inner.n_features)
        shift, scale = _finite(*_then(before, (inner.shift, inner.scale)), "the scaling")
        return replace(
            inner, shift=shift, scale=scale, feature_names=_names(model) or inner.feature_names
        )
    if isinstance(model, TransformedTargetRegressor):
        check_is_fitted(model)
        inner = expansion(model.regressor_)
        if inner.link is not None:
            raise TypeError(
                f"a {type(model).__name__} around a {inner.estimator} whose loss has a link cannot be exported: "
                "learn from targets as they are, and export the regressor"
            )
        shift, scale = _composed([("transformer", model.transformer_)], inner.n_outputs)
        with np.errstate(all="ignore"):  # y = f / scale + shift undoes (y - shift) * scale
            weights, offset = inner.weights / scale, inner.offset / scale + shift
        weights, offset = _finite(weights, offset, "the target's scaling")
        return replace(
            inner,
            weights=weights,
            offset=offset,
            feature_names=_names(model) or inner.feature_names,
        )
    if isinstance(model, KernelDictionaryLearning | KernelDictionaryClassifier):
        raise TypeError(
            f"{type(model).__name__} cannot be exported: its codes are found by an iterative lasso, which is no sum over centres"
        )
    if isinstance(model, KernelExpansionRegressor):
        return _of_parts(
            model, model.weights_, np.broadcast_to(model.intercept, model.weights_.shape[1:])
        )
    if not isinstance(model, StreamEstimator):
        hint = "; export its best_estimator_" if hasattr(model, "best_estimator_") else ""
        raise TypeError(
            f"only estimators of parsimon, alone or behind scalers in a Pipeline, can be exported, got {type(model).__name__}{hint}"
        )
    return _of_estimator(model)


def _of_estimator(model: StreamEstimator) -> Expansion:
    check_is_fitted(model)
    weights = model.weights_
    weights = (
        weights.reshape(len(weights), -1)
        if weights.size
        else np.zeros((0, model._learner.n_outputs))
    )
    found = _of_parts(model, weights, np.zeros(weights.shape[1]))
    if isinstance(model, StreamRegressor):
        return replace(found, link=model._inverse_link)
    if not isinstance(model, StreamClassifier):
        return found
    return replace(
        found, classes=_labels(model.classes_), probabilities=PROBABILITIES.get(type(model._loss))
    )


def _of_parts(
    model: StreamEstimator | KernelExpansionRegressor, weights: Array, offset: Array
) -> Expansion:
    kernel, centers = model.kernel_, model.centers_
    if isinstance(kernel, kernels.SinglePrecision):
        kernel = kernel.inner
    _require_formula(kernel, centers)
    if len(centers) == 0:
        # Zero is written as one centre without weight: neither C nor ONNX is fond of empty arrays.
        kernel, centers, weights = (
            kernels.Constant(),
            np.zeros((1, centers.shape[1])),
            np.zeros((1, weights.shape[1])),
        )
    d = centers.shape[1]
    return Expansion(
        type(model).__name__,
        kernel,
        centers,
        weights,
        np.array(offset, dtype=np.float64),
        np.zeros(d),
        np.ones(d),
        feature_names=_names(model),
    )


def _require_formula(kernel: kernels.Kernel, centers: Array) -> None:
    """Refuse a kernel that has no formula, or one that it inherited and that is not its own."""
    try:
        formula = kernel.formula()
    except TypeError as error:
        raise TypeError(f"the model cannot be exported: {error}") from None
    some = centers[:10]
    with np.errstate(all="ignore"):
        found, norms = values(formula, some, some), np.sqrt(kernel.diagonal(some))
        wrong = np.abs(kernel(some) - found) > 1e-6 * np.outer(norms, norms)
    if wrong.any():
        raise TypeError(
            f"the model cannot be exported: the formula of {kernel!r} does not give its values"
        )


def _labels(classes: NDArray[Any]) -> tuple[Label, ...]:
    labels = tuple(
        label.item() if isinstance(label, np.generic) else label for label in classes.tolist()
    )
    if any(type(label) is int and not -(2**63) <= label < 2**63 for label in labels):
        raise ValueError(f"labels must fit in 64 bits, got {list(labels)!r}")
    for kind in (bool, int, float, str):
        if all(type(label) is kind for label in labels):
            return labels
    raise TypeError(
        f"labels must be all strings, all integers, all numbers or all booleans, got {list(labels)!r}"
    )


def _names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


# Scaling. A pair (shift, scale) means z = (x - shift) * scale: near the shift, the difference has
# no rounding error.


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
        raise TypeError("it clips what lies outside the range, which is no scaling: use clip=False")


#: What each kind of step does to the columns.
SCALERS: dict[type[Any], Callable[[Any, int], Affine]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    FunctionTransformer: _function,
}


def _composed(steps: list[tuple[str, Any]], d: int) -> Affine:
    """Return the scaling that steps over d columns do one after the other."""
    total: Affine = (np.zeros(d), np.ones(d))
    for name, step in steps:
        if step is None or step == "passthrough":
            continue
        if isinstance(step, Pipeline):
            part = _composed(step.steps, d)
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
                f"the step {name!r} ({type(step).__name__}) cannot be exported, only scalers of columns can ({known}): "
                f"apply it to the data beforehand, and export the steps after it"
            )
        total = _finite(*_then(total, part), f"the scaling of the step {name!r}")
    return total


def _then(first: Affine, second: Affine) -> Affine:
    with np.errstate(all="ignore"):
        return first[0] + second[0] / first[1], first[1] * second[1]


def _finite(shift: Array, scale: Array, what: str) -> Affine:
    if not (np.isfinite(shift).all() and np.isfinite(scale).all()):
        raise ValueError(
            f"{what} is beyond the range of double precision: scale the columns to a sensible size before"
        )
    return shift, scale
