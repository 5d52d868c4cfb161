"""What a mixture has learned, and how a file holds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from parsimon import _schema
from parsimon.estimators.base import require_names
from parsimon.mixtures.experts import MOST_LAGS, Expert
from parsimon.mixtures.generations import Generations
from parsimon.mixtures.recent import KEEP, PIECE, Recent
from parsimon.persistence import Storable
from parsimon.preprocessing import Moments
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
            state["_slots"] = [{**slot.state(), "budget": slot.budget} for slot in self._slots]
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
        self._recent, self._moments = Recent.restored(stored), Moments.restored(moments)
        budgets = [slot["budget"] for slot in slots]
        if len(slots) != len(experts) or not all(map(_schema.whole(1), budgets)):
            raise ValueError(f"it has {len(slots)} experts instead of {len(experts)}")
        self._build(experts, budgets, self._recent.capacity)
        d, k = self._recent.X.shape[1], self._recent.T.shape[1]
        for slot, task, own in zip(self._slots, self._tasks, slots, strict=True):
            fits = _Fits(type(slot.expert.estimator), task.n_inputs(d, k, slot.expert.lags))
            plain = {key: value for key, value in own.items() if key != "budget"}
            slot.restore(plain, fits.n_inputs, fits)

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
        if self._recent.capacity != KEEP + PIECE + MOST_LAGS:
            raise ValueError("its recent rows are not sound")


class _Fits:
    """A check whether an estimator fits an expert. A challenger may have learned nothing yet."""

    def __init__(self, kind: type[Any], n_inputs: int) -> None:
        self.kind, self.n_inputs = kind, n_inputs

    def __call__(self, model: Any) -> bool:
        if type(model) is not self.kind:
            return False
        return not model.__sklearn_is_fitted__() or model.n_features_in_ == self.n_inputs
