"""The state of a forecaster, and how a file holds it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from parsimon import _schema
from parsimon._parts import lookup, real, whole
from parsimon.estimators.filters import FilterRegressor
from parsimon.estimators.regressor import StreamRegressor
from parsimon.forecasting.clock import KINDS, Clock
from parsimon.forecasting.engine import STRATEGIES, Engine
from parsimon.forecasting.history import Array, History
from parsimon.forecasting.levels import Levels
from parsimon.forecasting.rows import Columns, Rows, is_reading, lag_list
from parsimon.forecasting.structure import STARTS, Structure
from parsimon.mixtures import MixtureRegressor
from parsimon.persistence import Storable, dumps

__all__ = ["StoredForecaster"]

#: The longest horizon, and the longest lag.
LONGEST_HORIZON, LONGEST_LAG = 1000, 1000
#: The classes of estimators that take the place of the experts.
REGRESSORS = (StreamRegressor, FilterRegressor, MixtureRegressor)


class StoredForecaster(Storable, BaseEstimator):  # type: ignore[misc]
    """The state of a forecaster: the first rows, later the last rows and the experts."""

    estimator: Any
    horizon: int
    lags: int | Sequence[int] | None
    seasons: int | Sequence[int] | None
    strategy: str
    known: Sequence[str] | str
    coverage: float
    budget: int
    _learns_with: dict[str, Any]
    _columns: Columns
    _time_kind: str | None
    _last_time: float
    _clock: Clock | None
    _history: History | None
    _engine: Engine | None
    _levels: Levels
    _n_filled: int
    _first: Any
    _interrupted: bool
    reading_: dict[str, Any]
    _attributes = _schema.Schema(
        {
            "_learns_with": _schema.one_of(dict),
            "_columns": _schema.one_of(dict),
            "_time_kind": lambda kind: kind is None or kind in KINDS,
            "_last_time": _schema.number(-1e150, 1e150),
            "_clock": lambda state: state is None or isinstance(state, dict),
            "_history": lambda state: state is None or isinstance(state, dict),
            "_engine": lambda state: state is None or isinstance(state, dict),
            "_levels": lambda state: state is None or isinstance(state, dict),
            "_n_filled": _schema.whole(),
            "_first": lambda rows: rows is None or isinstance(rows, list | tuple),
        },
        {"reading_": is_reading},
    )

    @property
    def _is_begun(self) -> bool:
        """Whether there is a row."""
        return hasattr(self, "_learns_with")

    @property
    def n_rows_(self) -> int:
        """Number of rows so far."""
        if not self._is_begun:
            return 0
        if self._history is not None:
            return self._history.n_rows
        return 0 if self._first is None else len(self._first.y)

    @property
    def column_kinds_(self) -> dict[str, str]:
        """The kind of each further column, "empty" if it has had no value so far."""
        return self._columns.kinds if self._is_begun else {}

    @property
    def seasons_(self) -> list[int]:
        """The lengths of the seasons in use: before the models begin, given ones that are over."""
        engine = getattr(self, "_engine", None)
        if engine is None:
            return [s for s in self._given_seasons() if s <= self.n_rows_]
        return list(engine.structure.seasons)

    @property
    def expert_names_(self) -> list[str]:
        """The names of the experts."""
        engine = getattr(self, "_engine", None)
        return [] if engine is None else list(engine.names)

    @property
    def weights_(self) -> Array:
        """The weight of each expert at each step, (H, E)."""
        engine = getattr(self, "_engine", None)
        return np.empty((self.horizon, 0)) if engine is None else engine.combiner.weights()

    @property
    def errors_(self) -> dict[str, Array]:
        """Mean absolute error of scored forecasts for each step, (H,), by the name of the model."""
        engine = getattr(self, "_engine", None)
        return {} if engine is None else engine.mean_errors

    @property
    def n_centers_(self) -> int:
        """Number of centres of all kernel models."""
        engine = getattr(self, "_engine", None)
        models = [] if engine is None else engine.kernel_models
        return sum(
            int(getattr(model, "n_centers_", 0))
            for model in models
            if model.__sklearn_is_fitted__()
        )

    @property
    def nbytes_(self) -> int:
        """Memory in bytes."""
        history: History | None = getattr(self, "_history", None)
        engine: Engine | None = getattr(self, "_engine", None)
        rows = 0 if history is None else history.nbytes
        scores = 0 if engine is None else engine.nbytes
        return rows + scores + sum(int(model.nbytes_) for model in self._fitted_estimators())

    def _fitted_estimators(self) -> list[Any]:
        engine = getattr(self, "_engine", None)
        models = [] if engine is None else engine.estimators
        return [model for model in models if model.__sklearn_is_fitted__()]

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model has learned."""
        return self._is_begun

    # Parameters

    def _checked_parameters(self) -> None:
        """Raise an error for invalid parameters."""
        lookup(STRATEGIES, self.strategy, "strategy")
        whole("horizon", self.horizon, at_least=1, at_most=LONGEST_HORIZON)
        whole("budget", self.budget, at_least=8, at_most=10**6)
        real("coverage", self.coverage, above=0, below=1)
        self._given_lags()
        if isinstance(self.known, str):
            named = self.known == "all"
        else:
            named = isinstance(self.known, Sequence) and all(
                isinstance(name, str) for name in self.known
            )
        if not named:
            raise ValueError(f"known must be a list of names or 'all', got {self.known!r}")
        given = self.estimator
        if given is not None and not isinstance(given, REGRESSORS):
            raise TypeError(
                f"estimator must be a regressor of parsimon, got {type(given).__name__}"
            )

    def _given_lags(self) -> tuple[list[int] | None, list[int] | None]:
        return (
            lag_list("lags", self.lags, LONGEST_LAG),
            lag_list("seasons", self.seasons, LONGEST_LAG),
        )

    def _given_seasons(self) -> list[int]:
        return lag_list("seasons", self.seasons, LONGEST_LAG) or []

    def _make_engine(self, structure: Structure) -> Engine:
        return Engine(
            structure,
            self.horizon,
            0 if self._clock is None else self._clock.n_features,
            self.budget,
            self.strategy,
            self.estimator,
            self.coverage,
        )

    # State

    def __copy__(self) -> Self:
        """Return a copy that shares nothing with the model."""
        return copy.deepcopy(self)

    def _require_whole(self) -> None:
        """Raise an error if learning was interrupted, so that parts have learned other rows."""
        if getattr(self, "_interrupted", False):
            raise RuntimeError(
                "learning was interrupted, so the experts differ in what they have learned: "
                "load the model from a file, or learn with a new one"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that a file keeps."""
        self._require_whole()
        state = dict(super().__getstate__())
        state.pop("_ahead", None)
        if self._is_begun:
            state["_columns"] = self._columns.state()
            for name in ("_clock", "_history", "_engine"):
                state[name] = None if state[name] is None else state[name].state()
            state["_levels"] = None if self._engine is None else self._levels.state()
            state["_first"] = None if self._first is None else self._first.state()
        return dict(sorted(state.items()))  # one file for one model, loaded or not

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        if "_learns_with" not in state:
            super().__setstate__(state)
            return
        columns, clock, history, engine, levels, first = (
            state.pop(name)
            for name in ("_columns", "_clock", "_history", "_engine", "_levels", "_first")
        )
        super().__setstate__(state)
        used = self._learns_with.get("estimator")
        if (
            used is not self.estimator
            and isinstance(used, Storable)
            and isinstance(self.estimator, Storable)
            and dumps(used) == dumps(self.estimator)
        ):
            # A file holds the estimator twice. It has not been changed since learning began.
            self._learns_with = {**self._learns_with, "estimator": self.estimator}
        self._columns = Columns.restored(columns)
        self._clock = None if clock is None else Clock.restored(clock)
        self._history = None if history is None else History.restored(history)
        self._first = None if first is None else Rows.restored(first)
        self._engine, self._levels = None, Levels()
        if (engine is None) != (levels is None):
            raise ValueError("its levels are not complete")
        if engine is not None:
            if self._history is None:
                raise ValueError("it has no rows")
            self._levels = Levels.restored(levels, self._history)
            began = type(self)(**self._learns_with)
            began._clock = self._clock
            self._engine = began._make_engine(Structure.restored(engine["structure"]))
            sizes = self._history.known.shape[1], self._history.other.shape[1]
            self._engine.restore(engine, sizes)

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, Storable)

    def _require_sound(self) -> None:
        if not self._is_begun:
            return
        began = type(self)(**self._learns_with)
        began._checked_parameters()
        if (self._history is None) == (self._first is None):
            raise ValueError("its rows are not complete")
        if (self._time_kind is not None and self._history is not None) != (self._clock is not None):
            raise ValueError("its times are not complete")
        n_times = 0 if self._clock is None else self._clock.n_features
        sizes = [self._columns.n_features(0), self._columns.n_features(1)]
        if self._first is not None:
            held = [self._first.known.shape[1], self._first.other.shape[1]]
            n = len(self._first.y)
            if held != sizes or not 0 < n < STARTS[0] or not self._columns.are_held(n):
                raise ValueError("its first rows are not sound")
            if np.isnan(self._first.y).all():
                raise ValueError("its first rows have no value")
            return
        assert self._history is not None
        capacity = STARTS[-1] + 2 * began.horizon + 64
        held = [self._history.known.shape[1] - n_times, self._history.other.shape[1]]
        if held != sizes or self._history.capacity != capacity or not self._columns.are_held(0):
            raise ValueError("its last rows are not sound")
        if self._engine is not None:
            _require_progress(self._engine, self._history)


def _require_progress(engine: Engine, history: History) -> None:
    """Raise a ValueError unless the experts have learned what the rows allow."""
    needed = engine.reach + 2 * engine.horizon + 16
    held = history.n_rows - max(history.first, 0)
    if not engine.learned <= history.n_rows < engine.due or (history.first and held < needed):
        raise ValueError("its progress does not fit its rows")
