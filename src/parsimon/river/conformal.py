"""Intervals for River regressors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from parsimon.conformal import Intervals
from parsimon.river.stream import Interval, base, number

__all__ = ["ConformalRegressor"]


class ConformalRegressor(base.Wrapper[Any], base.Regressor):
    """A River regressor with intervals that cover a given share of the targets.

    The width of the intervals follows what was covered (adaptive conformal inference), so coverage
    stays near its target when the stream changes. The interface is that of
    `river.conf.RegressionJackknife`.

    Parameters
    ----------
    regressor : river.base.Regressor
        The model, which can be a pipeline.
    coverage : float in (0, 1), default=0.9
        The share of targets to cover. Larger values give wider intervals.
    spread : "learned" or "constant", default="learned"
        "learned": intervals are wider for predictions whose errors are larger; the features are not
        used for it. "constant": all intervals are equally wide.
    window : int, default=500
        The number of errors that are kept. Larger windows give steadier widths, and follow changes
        more slowly.
    rate : float in [0, 1), default=0.005
        The step of the level. Larger rates follow changes faster, and make widths less steady.

    References
    ----------
    I. Gibbs, E. Candes, *Adaptive conformal inference under distribution shift*, NeurIPS 2021.

    Examples
    --------
    >>> from river import datasets
    >>> from parsimon.river import ConformalRegressor, MixtureRegressor
    >>> model = ConformalRegressor(MixtureRegressor(), coverage=0.9)
    >>> covered = []
    >>> for x, y in datasets.TrumpApproval():
    ...     covered.append(y in model.predict_one(x, with_interval=True))
    ...     model.learn_one(x, y)
    >>> round(float(np.mean(covered)), 2)
    0.9
    """

    def __init__(
        self,
        regressor: Any,
        coverage: float = 0.9,
        spread: str = "learned",
        window: int = 500,
        rate: float = 0.005,
    ) -> None:
        self.regressor = regressor
        self.coverage = coverage
        self.spread = spread
        self.window = window
        self.rate = rate
        if spread == "model":
            raise ValueError("spread must be 'learned' or 'constant', got 'model'")
        self._intervals = Intervals(coverage, spread=spread, window=window, rate=rate)

    @property
    def _wrapped_model(self) -> Any:
        return self.regressor

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, preprocessing

        yield {"regressor": preprocessing.StandardScaler() | linear_model.LinearRegression()}

    def learn_one(self, x: dict[Any, Any], y: float, **kwargs: Any) -> None:
        """Learn a sample: its features and its target."""
        target = number(y, "y")
        before = self.regressor.predict_one(x)
        self.regressor.learn_one(x, y, **kwargs)
        self._intervals.run(_NO_FEATURES, np.array([[float(before)]]), np.array([[target]]))

    def predict_one(self, x: dict[Any, Any], with_interval: bool = False, **kwargs: Any) -> Any:
        """Predict for a sample, or return a `river.conf.interval.Interval`.

        Before anything is learned, the interval is infinite.
        """
        found = float(self.regressor.predict_one(x, **kwargs))
        if not with_interval:
            return found
        if not self._intervals.calibrators:
            return Interval(-np.inf, np.inf)
        low, high = self._intervals.now(_NO_FEATURES, np.array([[found]]))[0, 0].tolist()
        return Interval(low, high)

    @property
    def recent_coverage(self) -> float:
        """The share of the last `window` targets that were covered; NaN before the first."""
        found = self._intervals.coverage
        return float(found[0]) if len(found) else float("nan")


_NO_FEATURES = np.empty((1, 0))
