"""How the forecasts of several experts become one, for each step of the horizon."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema

__all__ = ["ErrorCombiner", "combined"]

Array = NDArray[np.float64]

#: Errors are averaged over this many origins.
MEMORY = 500.0
#: The part by which variances are increased, so that weights of similar experts do not differ much.
SHRINKAGE = 0.03
#: Below this number of scored origins, the fallback expert is used alone.
LEAST = 8.0


class ErrorCombiner:
    """Weights of E experts for each of H steps, from the covariance of their errors.

    R_h is the discounted sum of e e' over origins, where e (E,) are the errors of the experts at
    step h. The weights minimise w'(R_h + c diag R_h) w subject to sum w = 1, with c = 0.03. An
    expert whose weight is negative is left out. So weights do not depend on the unit of the series,
    and an expert with much smaller errors than the others gets nearly all the weight.

    Reference: J. M. Bates, C. W. J. Granger, *The combination of forecasts*, Operational Research
    Quarterly 1969.

    >>> combiner = ErrorCombiner(1, 2, fallback=0)
    >>> errors = np.random.default_rng(0).normal(size=(500, 1, 2)) * [1.0, 2.0]
    >>> combiner.learn(errors)
    >>> combiner.weights().round(1)
    array([[0.8, 0.2]])
    """

    def __init__(self, horizon: int, n_experts: int, fallback: int) -> None:
        self.fallback = fallback
        self.R = np.zeros((horizon, n_experts, n_experts))
        self.count = np.zeros(horizon)

    def learn(self, errors: Array) -> None:
        """Learn errors (n, H, E) of n origins in order. NaN means that a target was missing."""
        keep = np.exp(-1.0 / MEMORY)
        for row in errors:
            there = np.isfinite(row[:, 0])
            e = row[there]
            self.R[there] = keep * self.R[there] + e[:, :, np.newaxis] * e[:, np.newaxis, :]
            self.count[there] = keep * self.count[there] + 1.0

    def weights(self, more: Array | None = None) -> Array:
        """Return the weights (H, E). They are not negative, and the sum over experts is 1.

        `more` (n, H, E) are errors that count too, but are not learned. NaN is left out.
        """
        H, E, _ = self.R.shape
        R = self.R
        if more is not None:
            e = np.nan_to_num(more)
            R = R + np.einsum("nhe,nhf->hef", e, e)
        out = np.zeros((H, E))
        for h in range(H):
            out[h] = _weights(R[h], self.fallback if self.count[h] < LEAST else None)
        return out

    def mean_squares(self, weights: Array) -> Array:
        """Return the mean squared error of the combination with these weights, (H,).

        It is NaN while the fallback is used alone.
        """
        totals = np.einsum("he,hef,hf->h", weights, self.R, weights)
        found: Array = np.maximum(totals, 0.0) / np.maximum(self.count, LEAST)
        return np.where(self.count < LEAST, np.nan, found)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.R.nbytes + self.count.nbytes

    def state(self) -> dict[str, Any]:
        """Return the state."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: dict[str, Any], horizon: int, n_experts: int) -> ErrorCombiner:
        """Return the combiner with this state, or raise a ValueError."""
        combiner = cls(horizon, n_experts, 0)
        sound = _schema.finite_array(horizon, n_experts, n_experts)(state["R"])
        sound = sound and _schema.finite_array(horizon, least=0)(state["count"])
        if not sound or not _schema.whole(0, n_experts - 1)(state["fallback"]):
            raise ValueError("the errors of its experts are not sound")
        combiner.fallback, combiner.R, combiner.count = (
            state[name] for name in ("fallback", "R", "count")
        )
        return combiner


def combined(each: Array, weights: Array) -> Array:
    """Return the combination (n, H) of forecasts (n, H, E) of experts with weights (H, E)."""
    found: Array = (each * weights).sum(axis=2)
    return found


def _weights(R: Array, fallback: int | None) -> Array:
    """Return the weights for one step."""
    E = len(R)
    out = np.zeros(E)
    own = np.diagonal(R)
    if fallback is not None or not own.max() > 0.0:
        out[E - 1 if fallback is None else fallback] = 1.0
        return out
    unit = np.sqrt(np.maximum(own, 1e-30 * own.max()))
    C = R / unit[:, np.newaxis] / unit
    np.fill_diagonal(C, 1.0 + SHRINKAGE)
    left = np.arange(E)
    while True:
        # In units of each expert's own error, so that the system is well conditioned
        w = np.linalg.solve(C[np.ix_(left, left)], 1.0 / unit[left] * unit.min()) / unit[left]
        if (w >= 0.0).all():
            break
        left = left[w > w.min()]
    out[left] = w / w.sum()
    return out
