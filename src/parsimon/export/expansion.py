"""The one form that every exporter starts from: a kernel expansion over scaled inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from parsimon import kernels, losses
from parsimon._formula_values import values
from parsimon.dictionary_learning import KernelDictionaryClassifier, KernelDictionaryLearning
from parsimon.estimators.base import StreamEstimator
from parsimon.estimators.classifier import StreamClassifier
from parsimon.estimators.filters import FilterRegressor
from parsimon.estimators.fixed import KernelExpansionRegressor
from parsimon.estimators.regressor import StreamRegressor
from parsimon.export.scaling import composed, finite, then
from parsimon.formulas import Expression

__all__ = ["Array", "Expansion", "Label", "expansion", "plain_labels"]

Array = NDArray[np.float64]
Label = bool | int | float | str

#: How probabilities are computed from f: softmax(f), or the probability of each class against the
#: rest, scaled to sum to one.
PROBABILITIES: dict[type[losses.Loss], str] = {
    losses.MultinomialLogistic: "softmax",
    losses.Logistic: "one_vs_rest",
}


@dataclass(frozen=True)
class Expansion:
    """A fitted model as plain data: f(x) = offset + sum_j w_j k(d_j, z).

    Here z = (x - shift) * scale, column by column. With `classes`, the prediction is the class of
    the largest f. In a tie, it is the first of these classes.

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
    link: Expression | None = None  # predictions as a function of f, if they are not f

    @cached_property
    def formula(self) -> Expression:
        """The kernel as an expression."""
        return self.kernel.formula()

    @property
    def n_centers(self) -> int:
        """The number of centres, m."""
        return len(self.centers)

    @property
    def n_features(self) -> int:
        """The number of inputs, d."""
        return int(self.centers.shape[1])

    @property
    def n_outputs(self) -> int:
        """The number of outputs or classes, C."""
        return int(self.weights.shape[1])

    @property
    def scaled(self) -> bool:
        """Whether any input is scaled."""
        return bool(self.shift.any() or (self.scale != 1.0).any())

    def taking(self, inputs: Sequence[int]) -> Expansion:
        """Return it over some of the inputs, in this order. The others are 0 in every row."""
        rest, at = sorted({*range(self.n_features)}.difference(inputs)), list(inputs)
        if self.centers[:, rest].any() or self.shift[rest].any():
            raise ValueError("the model's centres have values in features that are always 0")
        return replace(
            self,
            centers=self.centers[:, at],
            shift=self.shift[at],
            scale=self.scale[at],
            feature_names=self.feature_names and tuple(self.feature_names[i] for i in at),
        )


def expansion(model: Any) -> Expansion:
    """Return a fitted model as an expansion.

    `model` is one of:

    - an estimator of parsimon over one dictionary;
    - a scikit-learn `Pipeline` that ends in such an estimator, and otherwise only scales columns
      (`StandardScaler`, `MinMaxScaler`, `MaxAbsScaler`, `RobustScaler`, "passthrough");
    - a `TransformedTargetRegressor` around either of these, whose transformer is such a scaler.

    All scaling becomes one shift and one factor per column.
    """
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        inner = expansion(model.steps[-1][1])
        before = composed(model.steps[:-1], inner.n_features)
        shift, scale = finite(*then(before, (inner.shift, inner.scale)), "the scaling")
        return replace(
            inner, shift=shift, scale=scale, feature_names=_names(model) or inner.feature_names
        )
    if isinstance(model, TransformedTargetRegressor):
        check_is_fitted(model)
        inner = expansion(model.regressor_)
        if inner.link is not None:
            raise TypeError(
                f"a {type(model).__name__} around a {inner.estimator} whose loss has a link "
                "cannot be exported: learn from targets as they are, and export the regressor"
            )
        shift, scale = composed([("transformer", model.transformer_)], inner.n_outputs)
        with np.errstate(all="ignore"):  # y = f / scale + shift undoes (y - shift) * scale
            weights, offset = inner.weights / scale, inner.offset / scale + shift
        weights, offset = finite(weights, offset, "the target's scaling")
        return replace(
            inner,
            weights=weights,
            offset=offset,
            feature_names=_names(model) or inner.feature_names,
        )
    if isinstance(model, KernelDictionaryLearning | KernelDictionaryClassifier):
        raise TypeError(
            f"{type(model).__name__} cannot be exported: "
            "its codes are found by an iterative lasso, which is no sum over centres"
        )
    if isinstance(model, KernelExpansionRegressor):
        return _of_parts(
            model, model.weights_, np.broadcast_to(model.intercept, model.weights_.shape[1:])
        )
    if not isinstance(model, StreamEstimator):
        hint = "; export its best_estimator_" if hasattr(model, "best_estimator_") else ""
        if hasattr(model, "expert_names_"):
            hint = "; a mixture scales its inputs and is exported without a Pipeline"
        if isinstance(model, FilterRegressor):
            what = f"{type(model).__name__} cannot be exported: it has several kernels, or none"
            raise TypeError(what)
        raise TypeError(
            "only estimators of parsimon, alone or behind scalers in a Pipeline, "
            f"can be exported, got {type(model).__name__}{hint}"
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
    found = _of_parts(model, weights, np.reshape(model.intercept_, -1))
    if isinstance(model, StreamRegressor):
        return replace(found, link=model._inverse_link)
    if not isinstance(model, StreamClassifier):
        return found
    kind = PROBABILITIES.get(type(model._loss))
    return replace(found, classes=plain_labels(model.classes_), probabilities=kind)


def _of_parts(
    model: StreamEstimator | KernelExpansionRegressor, weights: Array, offset: Array
) -> Expansion:
    kernel, centers = model.kernel_, model.centers_
    if isinstance(kernel, kernels.SinglePrecision):
        kernel = kernel.inner
    _require_formula(kernel, centers)
    if len(centers) == 0:
        # One centre of weight zero, because C does not allow empty arrays.
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
    """Raise a TypeError if a kernel has no formula, or if the formula gives other values."""
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


def plain_labels(classes: NDArray[Any]) -> tuple[Label, ...]:
    """Return labels as values of Python, all of one type."""
    labels = tuple(
        label.item() if isinstance(label, np.generic) else label for label in classes.tolist()
    )
    if any(type(label) is int and not -(2**63) <= label < 2**63 for label in labels):
        raise ValueError(f"labels must fit in 64 bits, got {list(labels)!r}")
    for kind in (bool, int, float, str):
        if all(type(label) is kind for label in labels):
            return labels
    raise TypeError(
        "labels must be all strings, all integers, all numbers or all booleans, "
        f"got {list(labels)!r}"
    )


def _names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))
