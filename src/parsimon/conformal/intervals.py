"""Intervals from the predictions of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon._parts import lookup
from parsimon.conformal.calibrator import LARGEST_SCORE, Calibrator, calibrators
from parsimon.conformal.spread import Spread
from parsimon.preprocessing import LARGEST

__all__ = ["SPREADS", "Intervals"]

Array = NDArray[np.float64]

#: What intervals are proportional to.
SPREADS = ("learned", "model", "constant")


class Intervals:
    """Intervals for the predictions of a model with C outputs, learned row by row.

    The interval of an output is f(x) +- q s(x). The width q is that of a `Calibrator`. The scale
    s(x) depends on `spread`:

    - "learned": the standard deviation of the model, if it gives one, times a learned factor;
    - "model": the standard deviation of the model;
    - "constant": 1.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 1))
    >>> f, y = X, X + rng.normal(size=(1000, 1))
    >>> intervals = Intervals(0.9)
    >>> low, high = intervals.run(X, f, y)[-1, 0]
    >>> bool(2.8 < high - low < 3.8)
    True
    """

    def __init__(
        self,
        coverage: float = 0.9,
        *,
        spread: str = "learned",
        window: int = 500,
        rate: float = 0.005,
    ) -> None:
        lookup(dict.fromkeys(SPREADS), spread, "spread")
        self.kind, self._made = spread, Calibrator(coverage, window, rate)
        self.calibrators: list[Calibrator] = []
        self.spread = Spread() if spread == "learned" else None

    def run(
        self,
        X: Array,
        predictions: Array,
        targets: Array,
        deviations: Array | None = None,
        issued: Array | None = None,
    ) -> Array:
        """Learn rows, and return the intervals before each, (n, C, 2).

        X (n, d) are features, predictions and targets are (n, C). `deviations` (n, C) are the
        standard deviations that the model gave. `issued` (n, C, 2) are intervals that were given
        for these rows earlier; what they covered sets the width then.
        """
        n, C = predictions.shape
        ends = np.full((n, C, 2), (-np.inf, np.inf))
        # Only models that are not ours can predict NaN. Such rows tell nothing.
        known = np.isfinite(predictions).all(axis=1)
        if not known.all():
            if known.any():
                given = (deviations, issued)
                some = (None if each is None else each[known] for each in given)
                ends[known] = self.run(X[known], predictions[known], targets[known], *some)
            return ends
        if n == 0:
            return ends
        if not self.calibrators:
            made = self._made
            self.calibrators = [Calibrator(made.coverage, made.window, made.rate) for _ in range(C)]
        units = self._units(predictions, deviations)
        errors = np.abs(targets - predictions)
        scales, new = units, np.zeros((n, C), dtype=bool)
        if self.spread is not None:
            new = self.spread.is_new(errors / units)
            scales = units * self.spread.run(_seen(X, predictions), errors / units)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.where(errors > 0.0, errors / scales, 0.0)
        scores = np.minimum(scores, LARGEST_SCORE)
        for c, calibrator in enumerate(self.calibrators):
            missed = None
            if issued is not None:
                low, high = issued[:, c].T
                missed = np.where((targets[:, c] < low) | (targets[:, c] > high), 1.0, 0.0)
            # A score in no unit would stay the largest for a whole window.
            at = int(new[:, c].argmax()) if new[:, c].any() else n
            for part in (slice(0, at), slice(at + 1, n)):
                ends[part, c, 0], ends[part, c, 1] = calibrator.run_ends(
                    predictions[part, c],
                    scales[part, c],
                    targets[part, c],
                    scores[part, c],
                    None if missed is None else missed[part],
                )
                if part.stop == at < n:
                    ends[at, c] = predictions[at, c] + np.array([-1.0, 1.0]) * calibrator.width
        return ends

    def now(self, X: Array, predictions: Array, deviations: Array | None = None) -> Array:
        """Return the intervals for rows X (n, d) with predictions (n, C), (n, C, 2).

        They are infinite before the first row is learned.
        """
        if not self.calibrators:
            return _around(predictions, np.full_like(predictions, np.inf))
        scales = self._units(predictions, deviations)
        if self.spread is not None:
            scales = scales * self.spread.now(_seen(X, predictions))
        widths = np.array([calibrator.width for calibrator in self.calibrators])
        known = np.isfinite(predictions)
        reach = np.where(known, widths * scales, np.inf)
        return _around(np.where(known, predictions, 0.0), reach)

    def _units(self, predictions: Array, deviations: Array | None) -> Array:
        if deviations is None or self.kind == "constant":
            return np.ones_like(predictions)
        # A deviation is infinite or 0 as long as a model knows nothing about its noise.
        known = np.isfinite(deviations) & (deviations > 0.0)
        units: Array = np.where(known, deviations, 1.0)
        return units

    @property
    def target_coverage(self) -> float:
        """The share of targets to cover."""
        return self._made.coverage

    @property
    def coverage(self) -> Array:
        """The share of the last targets that were covered, (C,). Empty before the first score."""
        return np.array([calibrator.recent_coverage for calibrator in self.calibrators])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        own = sum(calibrator.state.nbytes for calibrator in self.calibrators)
        return own + (self.spread.nbytes if self.spread is not None else 0)

    def state(self) -> dict[str, Any]:
        """Return the state as plain values, arrays and models. It is empty before the first row."""
        spread = self.spread if self.calibrators else None
        return {
            "scores": [calibrator.state for calibrator in self.calibrators],
            "spread": None if spread is None else spread.state(),
        }

    def restore(self, state: Mapping[str, Any], n_features: int, n_outputs: int) -> None:
        """Take a state from a file, or raise a ValueError."""
        made, scores = self._made, state["scores"]
        if isinstance(scores, list) and not scores and state["spread"] is None:
            return  # no row was learned
        self.calibrators = calibrators(scores, made.coverage, made.window, made.rate)
        if len(self.calibrators) != n_outputs:
            raise ValueError(f"it does not have intervals for {n_outputs} outputs")
        if (state["spread"] is None) != (self.spread is None):
            raise ValueError("its spread is not that of its parameters")
        if self.spread is not None:
            n_inputs = n_features + n_outputs
            self.spread = Spread.restored(state["spread"], n_inputs, n_outputs)


def _seen(X: Array, predictions: Array) -> Array:
    inputs: Array = np.column_stack([X, predictions])
    return np.clip(np.nan_to_num(inputs, nan=0.0), -LARGEST, LARGEST)


def _around(predictions: Array, reach: Array) -> Array:
    # The width can be infinite where the scale is 0.
    reach = np.where(np.isnan(reach), np.inf, reach)
    found: Array = np.stack([predictions - reach, predictions + reach], axis=2)
    return found
