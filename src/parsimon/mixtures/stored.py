"""What a mixture has learned, and how a file holds it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from parsimon import _schema
from parsimon.estimators.inputs import require_names
from parsimon.mixtures.experts import MOST_LAGS, Expert, split
from parsimon.mixtures.generations import Generations
from parsimon.mixtures.recent import KEEP, PIECE, Recent
from parsimon.persistence import Storable
from parsimon.preprocessing import LARGEST, Moments
from parsimon.preprocessing.moments import LARGEST_STORED

__all__ = ["StoredMixture"]


class StoredMixture(Storable, BaseEstimator):  # type: ignore[misc]
    """The state of a mixture: recent rows, experts and running statistics."""

    n_features_in_: int
    _recent: Recent
    _slots: list[Generations]
    _moments: Moments
    _tasks: list[Any]
    _learns_with: dict[str, Any]
    budget: int
    _given: Callable[[], list[Expert]]
    _build: Callable[[list[Expert], list[int], int], None]
    _require_whole: Callable[[], None]
    _attributes: ClassVar[_schema.Schema] = _schema.Schema(
        {
            "n_features_in_": _schema.whole(1, 2**40),
            "_learns_with": _schema.one_of(dict),
            "_recent": _schema.one_of(dict),
            "_slots": _schema.listed(_schema.one_of(dict)),
            "_moments": _schema.one_of(dict),
        },
        {"feature_names_in_": _schema.is_labels},
    )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, copy and files, with which learning continues exactly."""
        state = dict(super().__getstate__())
        self._require_whole()
        state.pop("_tasks", None)
        if "_recent" in state:
            state["_recent"] = self._recent.state()
            state["_slots"] = [slot.state() for slot in self._slots]
            state["_moments"] = self._moments.state()
        return dict(sorted(state.items()))  # one file for one model, loaded or not

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        stored, slots, moments = (state.pop(key, None) for key in ("_recent", "_slots", "_moments"))
        super().__setstate__(state)
        if stored is None:
            return
        if slots is None or moments is None:
            raise ValueError("it is not complete")
        began = type(self)(**self._learns_with)
        experts = began._given()
        self._moments = Moments.restored(moments)
        X, capacity = stored["X"], KEEP + PIECE + MOST_LAGS
        shape = (None, len(self._moments.count))
        sound = _schema.finite_array(*shape, least=-LARGEST, most=LARGEST)(X)
        if not sound or stored["capacity"] != capacity:
            raise ValueError("its recent rows are not sound")
        self._recent = Recent.restored(stored)
        if len(slots) != len(experts):
            raise ValueError(f"it has {len(slots)} experts instead of {len(experts)}")
        self._build(experts, split(began.budget, experts), capacity)
        d, k = self._recent.X.shape[1], self._recent.T.shape[1]
        for slot, task, own in zip(self._slots, self._tasks, slots, strict=True):
            fits = _Fits(type(slot.expert.estimator), task.n_inputs(d, k, slot.expert.lags))
            slot.restore(own, fits.n_inputs, fits)
            if slot.challenge is not None and slot.challenge.at > self._recent.n_rows:
                raise ValueError("a challenger is not sound")

    def __copy__(self) -> Self:
        """Return a copy that shares nothing with the model."""
        return copy.deepcopy(self)

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, Expert)

    def _require_sound(self) -> None:
        if not hasattr(self, "_recent"):
            return
        require_names(self)
        if (
            self._recent.X.shape[1] != self.n_features_in_
            or len(self._moments.count) != self.n_features_in_
        ):
            raise ValueError(f"its parts do not have {self.n_features_in_} features")
        self._moments.require_sound(LARGEST_STORED)


class _Fits:
    """A check whether an estimator fits an expert. A challenger may have learned nothing yet."""

    def __init__(self, kind: type[Any], n_inputs: int) -> None:
        self.kind, self.n_inputs = kind, n_inputs

    def __call__(self, model: Any) -> bool:
        if type(model) is not self.kind:
            return False
        return not model.__sklearn_is_fitted__() or model.n_features_in_ == self.n_inputs
