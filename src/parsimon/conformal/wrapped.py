"""A model inside another one."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from parsimon import _schema
from parsimon.estimators.inputs import require_names, require_unchanged
from parsimon.estimators.shuffled import Shuffled
from parsimon.persistence import Storable

__all__ = ["Wrapped"]


class Wrapped(Shuffled, Storable, BaseEstimator):  # type: ignore[misc]
    """A model `model_` that learns, a clone of the parameter `model`."""

    model: Any
    model_: Any
    coverage_: Any  # the share of the last targets that were covered
    n_features_in_: int
    _learns_with: dict[str, Any]
    _attributes = _schema.Schema(
        {
            "model_": _schema.one_of(Storable),
            "n_features_in_": _schema.whole(1, 2**40),
            "_learns_with": _schema.one_of(dict),
        },
        {"feature_names_in_": _schema.is_labels},
    )

    @property
    def n_centers_(self) -> int:
        """Number of centres of the model."""
        m: int = self._fitted().model_.n_centers_
        return m

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learned."""
        n: int = self._fitted().model_.n_samples_seen_
        return n

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model is fitted."""
        return hasattr(self, "model_")

    def _fitted(self) -> Self:
        check_is_fitted(self)
        return self

    def _begin(self) -> None:
        self.model_ = clone(self.model)
        self._learns_with = self.get_params(deep=False) | {"model": clone(self.model)}

    def _require_unchanged(self) -> None:
        require_unchanged(self, self._learns_with, but="model")
        now, then = self.model.get_params(deep=False), self._learns_with["model"]
        if type(self.model) is not type(then) or now != then.get_params(deep=False):
            raise ValueError(
                "the parameters of the model were changed after learning began: call fit to start "
                "again with them"
            )

    def _forget(self) -> None:
        for name in [*self._attributes.needed, *self._attributes.allowed]:
            self.__dict__.pop(name, None)

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, Storable)

    def _require_sound(self) -> None:
        given = [self.model, *([self._learns_with["model"]] if hasattr(self, "model_") else [])]
        if not all(isinstance(model, Storable) for model in given):
            raise ValueError(f"its parameter model is {self.model!r}")
        if not hasattr(self, "model_"):
            return
        require_names(self)
        if type(self.model_) is not type(self._learns_with["model"]):
            raise ValueError("its model is not the one of its parameters")
        if not self.model_.__sklearn_is_fitted__():
            raise ValueError("its model has learned nothing")
        if self.model_.n_features_in_ != self.n_features_in_:
            raise ValueError(f"its model does not have {self.n_features_in_} features")
