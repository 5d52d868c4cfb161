"""How large errors are likely to be at a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _schema
from parsimon.mixtures import Expert, MixtureRegressor
from parsimon.mixtures.combiners import RecentMean
from parsimon.mixtures.defaults import linear_expert, rls_expert

__all__ = ["Spread"]

Array = NDArray[np.float64]

#: Added to errors relative to their mean, because the logarithm of small errors says little.
FLOOR = 0.01
#: The number of centres of the experts and of a challenger.
BUDGET = 130


def experts() -> list[Expert]:
    """Return the experts for logarithms of errors, which are noisy: their ridges are large."""
    return [
        Expert(linear_expert(ridge=1.0), "linear", share=50),
        Expert(rls_expert("laplacian", 0.3, ridge=3.0), "wide", share=40),
    ]


class Spread:
    """A model of the size of errors: s(x) = r exp(g(x)).

    r is a `RecentMean` of |e|, and g a small `MixtureRegressor` that learns log(|e| / r + 0.01)
    from the features and the prediction. Where the size of errors does not depend on them, g
    becomes a constant.

    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(2000, 2))
    >>> spread = Spread()
    >>> before = spread.run(Z, np.abs(np.exp(Z[:, :1]) * rng.normal(size=(2000, 1))))
    >>> small, large = spread.now(np.array([[-1.0, 0.0], [1.0, 0.0]]))[:, 0]
    >>> bool(3 < large / small < 15)
    True
    """

    def __init__(self) -> None:
        self.model = MixtureRegressor(experts=experts(), budget=BUDGET)
        self.mean: RecentMean | None = None

    def run(self, Z: Array, sizes: Array) -> Array:
        """Learn rows Z (n, d) with sizes of errors (n, C), and return the scales before, (n, C).

        A scale is 1 as long as all errors were 0.
        """
        if self.mean is None:
            self.mean = RecentMean(sizes.shape[1])
        before = self.mean.run(sizes)
        means = np.vstack([before[1:], self.mean.now])
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(means > 0.0, sizes / means, 0.0)
        g = self.model.predict_then_learn(Z, np.log(relative + FLOOR))
        return _scales(before, g)

    def is_new(self, sizes: Array) -> Array:
        """Return which sizes of errors (n, C), before they are learned, are the first above 0.

        They are in no unit: the scale before them is not known.
        """
        some = sizes > 0.0
        found: Array = some & (np.cumsum(some, axis=0) == 1)
        return found if self.mean is None else found & (self.mean.now == 0.0)

    def now(self, Z: Array) -> Array:
        """Return the scales for rows Z, (n, C)."""
        assert self.mean is not None
        return _scales(self.mean.now, self.model.predict(Z))

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return 0 if self.mean is None else self.model.nbytes_

    def state(self) -> dict[str, Any]:
        """Return the state as plain values, arrays and models."""
        return {"model": self.model, "mean": None if self.mean is None else self.mean.state}

    @classmethod
    def restored(cls, state: Mapping[str, Any], n_inputs: int, n_outputs: int) -> Spread:
        """Return the spread with this state, or raise a ValueError."""
        spread = cls()
        model, mean = state["model"], state["mean"]
        fresh = spread.model
        sound = (
            type(model) is MixtureRegressor
            and model.get_params(deep=False) == fresh.get_params(deep=False)
            and _schema.finite_array(n_outputs + 1, least=0)(mean)
            and model.__sklearn_is_fitted__()
            and model.n_features_in_ == n_inputs
        )
        if not sound:
            raise ValueError("its model of errors is not sound")
        spread.model, spread.mean = model, RecentMean(n_outputs, mean)
        return spread


def _scales(means: Array, g: Array) -> Array:
    scales: Array = np.where(means > 0.0, means * np.exp(g), 1.0)
    return scales
