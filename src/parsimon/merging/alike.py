"""Checks that models can be merged, and the share of each model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

__all__ = ["require_alike", "require_information", "shares_of"]

#: Parameters in which models that are merged may differ.
FREE = ("n_jobs", "n_passes", "shuffle", "random_state")
#: The largest factor on a model.
LARGEST_SHARE = 1e100


def require_alike(models: list[Any], budget: int | None) -> None:
    """Raise an error unless the models can be added.

    They must be fitted, and have the same class, parameters, kernel and shape.
    """
    if not models:
        raise ValueError("there are no models to merge")
    first = models[0]
    for i, model in enumerate(models):
        if not hasattr(type(model), "_algorithm"):
            raise TypeError(
                f"models[{i}] is a {type(model).__name__}: only estimators that learn one kernel "
                "expansion can be merged"
            )
        if type(model) is not type(first):
            raise TypeError(
                f"models[0] is a {type(first).__name__}, models[{i}] a {type(model).__name__}"
            )
        check_is_fitted(model)
        model._require_unchanged()
        _require_same_parameters(first, model, i, budget)
        if model.kernel_ != first.kernel_:
            raise ValueError(
                f"the kernel of models[0] is {first.kernel_!r}, that of models[{i}] "
                f"{model.kernel_!r}: only functions of one kernel can be added (give gamma as a "
                "number)"
            )
        _require_same_shape(first, model, i)


def _require_same_parameters(first: Any, model: Any, i: int, budget: int | None) -> None:
    free = {*FREE, "kernel", "gamma"} | ({"budget"} if budget is not None else set())
    # Also what was estimated from the first block of each model
    here, there = (m._learns_with | m._options(m._learns_with) for m in (first, model))
    for name, value in there.items():
        expected = here[name]
        if name not in free and value is not expected and value != expected:
            given = [str(m._learns_with.get(name)) for m in (first, model)]
            estimated = f": give {name} as a number" if "auto" in given else ""
            raise ValueError(
                f"{name} is {expected!r} in models[0] and {value!r} in models[{i}]{estimated}"
            )


def _require_same_shape(first: Any, model: Any, i: int) -> None:
    names, others = (getattr(m, "feature_names_in_", None) for m in (first, model))
    if names is not None and others is not None and list(names) != list(others):
        raise ValueError(f"models[0] has the features {list(names)}, models[{i}] {list(others)}")
    if model.n_features_in_ != first.n_features_in_:
        raise ValueError(
            f"models[0] has {first.n_features_in_} features, models[{i}] {model.n_features_in_}"
        )
    n, expected = model._learner.n_outputs, first._learner.n_outputs
    if not hasattr(model, "_met") and n != expected:
        raise ValueError(f"models[0] has {expected} outputs, models[{i}] {n}")


def require_information(model: Any, weights: str) -> None:
    """Raise an error unless the fit to the samples of all models can be computed."""
    if weights != "information":
        raise ValueError(f"weights must be numbers, 'information' or None, got {weights!r}")
    pooling = model._recipe(model._learns_with).update.pooling
    if pooling == "climb":
        raise ValueError(
            "weights='information' is for KRLS: call ascend on the merged "
            f"{type(model).__name__} instead"
        )
    if pooling != "solve":
        raise ValueError(
            "weights='information' is for KRLS with admission='ald', which knows how all samples "
            "add up"
        )


def shares_of(seen: list[int], weights: ArrayLike | None, with_since: bool) -> NDArray[np.float64]:
    """Return the factor on each model in the weighted sum of the models.

    If `weights` is None, the factor is the model's share of all samples. `seen` are the numbers of
    samples that the models have seen. With `with_since`, the last model is the one that all other
    models were continued from.
    """
    models = seen[:-1] if with_since else seen
    before = seen[-1] if with_since else 0
    new = [n - before for n in models]
    if min(new) < 0:
        raise ValueError("the models have not seen more than the one that they went on from")
    if weights is None:
        if sum(new) == 0:
            raise ValueError("the models have not seen more than the one that they went on from")
        weights = [n / sum(new) for n in new]
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(models),):
        raise ValueError(f"weights must have shape ({len(models)},), got {shares.shape}")
    if not (np.abs(shares) <= LARGEST_SHARE).all():
        raise ValueError(f"weights must be numbers of at most 1e100, got {shares.tolist()}")
    return np.append(shares, 1.0 - shares.sum()) if with_since else shares
