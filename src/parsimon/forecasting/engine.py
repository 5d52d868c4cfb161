"""The experts of a forecaster: when they learn, how they are scored, and how they are combined."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from parsimon import _schema
from parsimon.forecasting.combining import ErrorCombiner, combined
from parsimon.forecasting.experts import DirectLinear, DirectModel, Recursive
from parsimon.forecasting.history import Array, History, Rows
from parsimon.forecasting.intervals import StepIntervals
from parsimon.forecasting.structure import Structure
from parsimon.persistence import Storable

__all__ = ["BLOCK", "STRATEGIES", "Engine"]

#: Origins are scored, and rows are learned, in blocks of this many.
BLOCK = 16
#: The parts of the budget. Models with more lags need more centres.
SHARES: dict[str, Any] = {"direct": 1 / 6, "recursive": (1 / 8, 1 / 4, 11 / 24)}
#: The strategies, with the models that they use.
STRATEGIES = {
    "auto": "direct and recursive models, combined by their errors",
    "direct": "one output per step",
    "recursive": "the next step, fed with its own forecasts",
}


class Engine:
    """Experts over one series, and the weights by which they are combined.

    CONVENTION: the experts have learned rows before `learned`, and nothing later. Origins before
    `learned` are scored. When H + BLOCK further rows are there, the next BLOCK origins are forecast
    by these experts, and scored with the targets that are there now. Then the experts learn BLOCK
    rows. So no forecast that is scored comes from experts that learned its targets. But `begin`
    chooses units and widths from all rows so far, and half of them are scored then. What happens
    depends on the number of rows only, so blocks of any size give the same result.
    """

    def __init__(
        self,
        structure: Structure,
        horizon: int,
        n_times: int,
        budget: int,
        strategy: str,
        estimator: Any,
        coverage: float,
    ) -> None:
        self.structure, self.horizon = structure, horizon
        self.learned, self.low, self.high = 0, 0.0, 0.0
        self.names: list[str] = []
        self.experts: list[Any] = []
        if strategy != "recursive":
            if estimator is None:
                self.names += ["linear", "direct"]
                own = max(int(SHARES["direct"] * budget), 1)
                self.experts.append(DirectLinear(structure, horizon, n_times, own))
            else:
                self.names.append("direct")
                self.experts.append(DirectModel(structure, horizon, n_times, estimator))
        if strategy != "direct":
            each = structure.lags if estimator is None else (structure.direct_lags,)
            for lags, share in zip(each, SHARES["recursive"][-len(each) :], strict=True):
                self.names.append(f"recursive {max(lags)}")
                own = max(int(share * budget), 1)
                self.experts.append(Recursive(structure, horizon, lags, own, estimator))
        self.names += ["last value", "mean", *(f"season {s}" for s in structure.seasons)]
        fallback = len(self.names) - 1 if structure.seasons else len(self.names) - 2
        self.combiner = ErrorCombiner(horizon, len(self.names), fallback)
        self.intervals = StepIntervals(horizon, coverage)
        self.scored = np.zeros((horizon, 4))  # see `_score`
        self.mean = np.zeros(2)  # sum and number of values

    @property
    def reach(self) -> int:
        """The number of rows that an origin needs before it."""
        return int(max([1, *self.structure.seasons, *(e.view.reach for e in self.experts)]))

    def begin(self, history: History) -> None:
        """Begin with the rows so far, of which none was dropped."""
        for expert in self.experts:
            expert.begin(history)
        self._learn(history, max(history.n_rows // 2, self.reach))

    def advance(self, history: History) -> None:
        """Score origins and learn rows, as far as there are rows."""
        while history.n_rows >= self.due:
            origins = np.arange(self.learned, self.learned + BLOCK)
            each = self.of_experts(history, origins, history.future(origins, self.horizon))
            self._score(history, origins, each)
            self._learn(history, self.learned + BLOCK)

    @property
    def due(self) -> int:
        """The number of rows at which the next block is scored and learned."""
        return self.learned + BLOCK + self.horizon

    def caught_up(self, history: History) -> Engine:
        """Return a copy that has learned all rows."""
        ahead = copy.deepcopy(self)
        ahead._learn(history, history.n_rows)
        return ahead

    def of_experts(self, history: History, origins: Rows, future: Array) -> Array:
        """Return the forecasts of E experts at origins, (n, H, E).

        `future` (n, H, k) is what is known about the rows to forecast. Forecasts of models are
        limited by the range of the values before each origin. The others are values of the series.
        """
        n, H = len(origins), self.horizon
        low, high = self._limits(history, origins)
        found = [
            np.clip(F, low[:, np.newaxis], high[:, np.newaxis])
            for e in self.experts
            for F in e.forecast(history, origins, future, low, high)
        ]
        found.append(np.repeat(history.values(origins - 1)[:, np.newaxis], H, axis=1))
        found.append(np.full((n, H), self.mean[0] / max(self.mean[1], 1.0)))
        for season in self.structure.seasons:
            back = _back(season, H)
            found.append(history.values(origins[:, np.newaxis] - back))
        return np.stack(found, axis=2)

    def _limits(self, history: History, origins: Rows) -> tuple[Array, Array]:
        """Return the least and largest forecasts of models at origins, both (n,).

        This is the range of all values before the origin, and a margin.
        """
        y = history.values(np.arange(self.learned, origins[-1]))
        low = np.minimum.accumulate(np.append(self.low, y))[origins - self.learned]
        high = np.maximum.accumulate(np.append(self.high, y))[origins - self.learned]
        margin = (1.0 if self.structure.relative else 0.1) * (high - low)
        return low - margin, high + margin

    def recent_weights(self, history: History, future: Array) -> Array:
        """Return the weights (H, E) for a forecast now. They react at once when the series changes.

        They count the last BLOCK origins too, although their targets are not complete. A target
        that is not there yet is replaced by the last one that is there: after a change, experts
        that are wrong at the first steps are likely to be wrong at later steps. `future` (H, k)
        is what is known about the next rows.
        """
        n, H = history.n_rows, self.horizon
        origins = np.arange(max(self.learned, n - BLOCK), n)
        known = np.concatenate([history.known[origins[0] - history.first :], future])
        rows = origins[:, np.newaxis] + np.arange(H)
        each = self.of_experts(history, origins, known[rows - origins[0]])
        steps = np.minimum(rows, n - 1) - origins[:, np.newaxis]
        at = np.minimum(rows, n - 1) - history.first
        Y = np.where(history.seen[at] > 0.0, history.y[at], np.nan)
        errors = np.take_along_axis(each, steps[:, :, np.newaxis], axis=1) - Y[:, :, np.newaxis]
        return self.combiner.weights(errors)

    def scales(self, each: Array, weights: Array) -> Array:
        """Return how large errors of the combination of forecasts (n, H, E) can be, (n, H).

        This is sqrt(m^2 + d^2). m is the root mean square of earlier errors at this step, and d the
        root mean square difference of the experts from the combination, by their weights. NaN if no
        forecast has been scored. 0 if all forecasts were exact.
        """
        apart = np.square(each - combined(each, weights)[:, :, np.newaxis])
        own = self.combiner.mean_squares(weights)
        found: Array = np.sqrt(own + (apart * weights).sum(axis=2))
        return found

    def _score(self, history: History, origins: Rows, each: Array) -> None:
        """Learn how far off forecasts (n, H, E) at origins (n,) were.

        `scored` has the number of scored targets of each step, and the sums of absolute errors of
        the combination, of the last value and of the value one season before. Shifts of the level
        are part of these errors. They do not matter for the weights: experts have them in common.
        """
        H = self.horizon
        Y, seen = history.targets(origins, H)
        Y = np.where(seen > 0.0, Y, np.nan)
        there = np.isfinite(Y)
        weights, shifts = self.combiner.weights(), history.shifts(origins, H)
        mixed = combined(each, weights) - Y - shifts
        rows = origins[:, np.newaxis] + np.arange(H)
        last = history.raw(origins[:, np.newaxis] - 1) - history.raw(rows)
        season = last
        if self.structure.seasons:
            back = _back(self.structure.seasons[-1], H)
            season = history.raw(origins[:, np.newaxis] - back) - history.raw(rows)
        self.scored[:, 0] += there.sum(axis=0)
        for i, errors in enumerate((mixed, last, season), start=1):
            self.scored[:, i] += np.where(there, np.abs(errors), 0.0).sum(axis=0)
        self.intervals.learn(mixed, self.scales(each, weights))
        self.combiner.learn(each - Y[:, :, np.newaxis])

    @property
    def mean_errors(self) -> dict[str, Array]:
        """Mean absolute errors of scored forecasts for each step, (H,), NaN if there is none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self.scored[:, 1:] / self.scored[:, :1]
        names = ["forecast", "last value", self.names[self.combiner.fallback]]
        return dict(zip(names, means.T, strict=False))

    def _learn(self, history: History, last: int) -> None:
        """Learn rows up to `last`, exclusive."""
        for expert in self.experts:
            expert.learn(history, self.learned, last)
        rows = np.arange(self.learned, last)
        if len(rows):
            y = history.values(rows)
            begins = self.learned == 0
            self.low = float(y.min() if begins else min(self.low, y.min()))
            self.high = float(y.max() if begins else max(self.high, y.max()))
            for value in y[history.seen[rows - history.first] > 0.0]:
                self.mean += [value, 1.0]
        self.learned = last

    @property
    def nbytes(self) -> int:
        """Memory of the scores and weights in bytes, without the estimators."""
        return self.intervals.nbytes + self.combiner.nbytes + self.scored.nbytes

    @property
    def estimators(self) -> list[Any]:
        """All estimators."""
        return [model for expert in self.experts for model in expert.models.values()]

    @property
    def kernel_models(self) -> list[Any]:
        """The estimators whose centres the budget limits."""
        return [model for expert in self.experts for model in expert.kernel_models]

    # State

    def state(self) -> dict[str, Any]:
        """Return the state for files."""
        return {
            "structure": self.structure.state(),
            "learned": self.learned,
            "range": np.array([self.low, self.high]),
            "mean": self.mean,
            "scored": self.scored,
            "intervals": self.intervals.state(),
            "combiner": self.combiner.state(),
            "experts": [expert.state() for expert in self.experts],
        }

    def restore(self, state: dict[str, Any], n_inputs: tuple[int, int]) -> None:
        """Take a state, or raise a ValueError."""
        sound = _schema.whole(0, 2**53)(state["learned"])
        sound = sound and _schema.finite_array(2)(state["range"])
        sound = sound and _schema.finite_array(self.horizon, 4, least=0)(state["scored"])
        if not sound or not _schema.finite_array(2)(state["mean"]):
            raise ValueError("its progress is not sound")
        self.learned, self.mean, self.scored = (
            state[name] for name in ("learned", "mean", "scored")
        )
        self.low, self.high = state["range"].tolist()
        self.combiner = ErrorCombiner.restored(state["combiner"], self.horizon, len(self.names))
        self.intervals = StepIntervals.restored(
            state["intervals"], self.horizon, self.intervals.coverage
        )
        if len(state["experts"]) != len(self.experts):
            raise ValueError("its experts are not those of its parameters")
        for expert, own in zip(self.experts, state["experts"], strict=True):
            if not all(isinstance(model, Storable) for model in own["models"].values()):
                raise ValueError("its experts are not models")
            expert.restore(own, *n_inputs)


def _back(season: int, horizon: int) -> Rows:
    """Return how many rows before an origin the seasonal forecast of each step is, (H,)."""
    steps = np.arange(horizon)
    return season * (steps // season + 1) - steps
