"""What a mixture of regressors has learned, and how a file holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema
from parsimon.mixtures.base import Mixture
from parsimon.mixtures.combiners import RecentMean, StackPair
from parsimon.mixtures.experts import MOST_LAGS
from parsimon.preprocessing import LARGEST, Moments
from parsimon.preprocessing.moments import LARGEST_STORED

__all__ = ["StoredMixtureRegressor"]

Array = NDArray[np.float64]


class StoredMixtureRegressor(Mixture):
    """The state of a `MixtureRegressor`."""

    _attributes = Mixture._attributes.extended(
        {
            "_flat": _schema.one_of(bool),
            "_target_moments": _schema.one_of(dict),
            "_low": _schema.finite_array(None, least=-LARGEST, most=LARGEST),
            "_high": _schema.finite_array(None, least=-LARGEST, most=LARGEST),
            "_last": _schema.finite_array(None, None, least=-LARGEST, most=LARGEST),
            "_stacks": _schema.listed(
                _schema.listed(_schema.finite_array(None, None, least=-1e15, most=1e15))
            ),
        },
        {"_noise": _schema.finite_array(None, least=0, most=LARGEST_STORED)},
    )
    _flat: bool
    _target_moments: Moments
    _low: Array
    _high: Array
    _noise: RecentMean  # of squared errors
    _last: Array  # the last targets in their own units, the latest first, (at most 8, C)
    _stacks: list[StackPair]

    @property
    def _uses_lags(self) -> list[bool]:
        return [*(slot.expert.lags > 0 for slot in self._slots), True, False]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, copy and files."""
        state: dict[str, Any] = super().__getstate__()
        if "_stacks" in state:
            state["_stacks"] = [stack.states for stack in self._stacks]
            state["_target_moments"] = self._target_moments.state()
            state["_noise"] = self._noise.state
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        stacks, moments = state.pop("_stacks", None), state.pop("_target_moments", None)
        noise = state.pop("_noise", None)
        super().__setstate__(state)
        if stacks is not None and moments is not None:
            self._target_moments = Moments.restored(moments)
            self._stacks = [StackPair(self._uses_lags, own) for own in stacks]
            self._noise = RecentMean(len(stacks), noise)  # files of earlier versions have none

    def _require_sound(self) -> None:
        super()._require_sound()
        if not hasattr(self, "_recent"):
            return
        C = self._recent.T.shape[1]
        sized = (
            len(self._target_moments.count),
            len(self._low),
            len(self._high),
            self._last.shape[1],
            len(self._noise.now),
            len(self._stacks),
        )
        if sized != (C,) * 6 or (self._low > self._high).any():
            raise ValueError(f"its parts do not have {C} outputs")
        self._target_moments.require_sound(LARGEST_STORED)
        outside = (self._last < self._low) | (self._last > self._high)
        if len(self._last) != min(self._recent.n_rows, MOST_LAGS) or outside.any():
            raise ValueError("its last targets are not sound")
        if not all(stack.is_sound for stack in self._stacks):
            raise ValueError("its weights are not those of its experts")
        for slot in self._slots:
            if any(model.n_outputs_ != C for model in slot.models):
                raise ValueError(f"an expert does not have {C} outputs")
