"""`MixtureRegressor` as a combination: clipped predictions with the weights of stacking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from parsimon.export import mixture_parts as parts
from parsimon.export.combination import Combination, Statements
from parsimon.export.expansion import Array
from parsimon.export.lags import NumberLag, Units
from parsimon.mixtures import MixtureRegressor

if TYPE_CHECKING:
    from parsimon.export.onnx.graph import Graph

__all__ = ["Stacked", "mixture_regressor"]


@dataclass(frozen=True)
class Stacked:
    """offset + sum_k w_k clip(p_k) + v clip(lag_1), per output, in units of the deviation."""

    weights: Array  # (K, C)
    last_weights: Array  # (C,), v
    offset: Array  # (C,)
    bounds: tuple[Array, Array] | None  # (C,) each

    def onnx(self, g: Graph, each: Sequence[str], lags: str) -> str:
        """Write nodes, and return the name of the result (n, C)."""
        last = g("Gather", lags, g.constant(np.arange(len(self.offset)), "last"), axis=1)
        rows = [*self.weights, self.last_weights]
        terms = [g.array(self.offset[np.newaxis], "offset")]
        for p, w in zip([*each, last], rows, strict=True):
            own = p
            if self.bounds is not None:
                low, high = (g.array(bound[np.newaxis], "bounds") for bound in self.bounds)
                own = g("Max", g("Min", p, high), low)
            terms.append(g("Mul", own, g.array(w[np.newaxis], "shares")))
        return reduce(lambda total, term: g("Add", term, total), terms)

    def c(self, c: Statements) -> list[str]:
        """Return the statements that set `out[c]` from `each[k][c]`."""
        shares = c.table("shares", self.weights.ravel())
        last = c.table("last_shares", self.last_weights)
        clip = []
        if self.bounds is not None:
            low, high = c.table("lowest", self.bounds[0]), c.table("highest", self.bounds[1])
            clip = [f"        p = p < {low}[c] ? {low}[c] : p > {high}[c] ? {high}[c] : p;"]
        return [
            f"for (int c = 0; c < {c.n_outputs}; ++c) {{",
            f"    out[c] = {c.table('offset', self.offset)}[c];",
            f"    for (int k = 0; k <= {c.n_experts}; ++k) {{",
            f"        {c.real} p = k < {c.n_experts} ? each[k][c] : {c.lags}[c];",
            *clip,
            f"        out[c] += p * (k < {c.n_experts} ? {shares}[k * {c.n_outputs} + c] "
            f": {last}[c]);",
            "    }",
            "}",
        ]


def mixture_regressor(model: MixtureRegressor) -> Combination:
    """Return a fitted mixture of regressors as a combination."""
    parts.require_fitted(model)
    d, C, n_lags = model.n_features_in_, model._last.shape[1], parts.n_lags(model)
    means, deviations = (M[:, 0] for M in model._target_moments.now())
    units = np.where(deviations > 0.0, deviations, 1.0)
    last = np.vstack([model._last, np.tile(means, (n_lags, 1))])  # before the first row: the mean
    lags = tuple(
        NumberLag(
            f"lag_{lag + 1}" if model._flat else f"lag_{lag + 1}_{c + 1}",
            float(means[c]),
            float(units[c]),
            float(last[lag, c]),
        )
        for lag in range(n_lags)
        for c in range(C)
    )
    experts, places = parts.awake_experts(
        model, C, lambda lag: range(d + lag * C, d + (lag + 1) * C)
    )
    low, high = model._bounds(model._low, model._high) if model.bounded else (None, None)
    bounds = None
    if low is not None and high is not None:
        bounds = (low - means) / units, (high - means) / units
    return Combination(
        type(model).__name__,
        tuple(experts),
        _stacked(model, len(experts), places, bounds),
        d,
        C,
        lags=lags,
        feature_names=parts.feature_names(model),
        standardisation=parts.standardisation(model),
        units=Units(means, deviations, low, high),
    )


def _stacked(
    model: MixtureRegressor, n_experts: int, places: list[int], bounds: tuple[Array, Array] | None
) -> Stacked:
    """Return the combiner. Experts that sleep give their weights to the others."""
    weights = np.column_stack([stack.weights() for stack in model._stacks])
    awake = [*places, len(weights) - 2, len(weights) - 1]
    asleep = np.delete(weights, awake, axis=0).sum(axis=0)
    weights = weights[awake] + asleep / len(awake)
    own = np.zeros((n_experts, weights.shape[1]))
    own[: len(places)] = weights[: len(places)]
    # The last expert is the mean, which is 0 in these units.
    mean = np.zeros(weights.shape[1]) if bounds is None else np.clip(0.0, *bounds)
    return Stacked(own, weights[-2], weights[-1] * mean, bounds)
