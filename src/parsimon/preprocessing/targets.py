"""Targets of regression, scaled online."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from parsimon import _core, _schema
from parsimon.persistence import Storable
from parsimon.preprocessing.moments import (
    LARGEST_STORED,
    MOMENTS,
    Array,
    Moments,
    with_moments,
    with_plain_moments,
)

__all__ = ["TargetScaler"]


class TargetScaler(Storable, BaseEstimator):  # type: ignore[misc]
    """Scale targets of regression by their running mean and standard deviation.

    Target i is scaled by the statistics of targets 1 to i. Prediction i is scaled back by the
    statistics of targets 1 to i - 1.

    >>> scaler = TargetScaler()
    >>> T, back = scaler.learn_transform([10.0, 30.0, 20.0])
    >>> T, back(np.zeros(3))
    (array([0., 1., 0.]), array([ 0., 10., 20.]))
    >>> scaler.inverse_transform([1.0]).round(4)
    array([28.165])
    """

    _moments: Moments
    _attributes = _schema.Schema({"_moments": MOMENTS}, {})

    def _require_sound(self) -> None:
        if hasattr(self, "_moments"):
            if len(self._moments.count) != 1:
                raise ValueError("its running statistics are not those of one column")
            self._moments.require_sound(LARGEST_STORED)

    def learn_transform(self, y: ArrayLike) -> tuple[Array, Any]:
        """Learn targets y (n,). Return them scaled, and a function that scales predictions back.

        The function uses the statistics before each row.
        """
        if not hasattr(self, "_moments"):
            self._moments = Moments(1)
        y = np.ascontiguousarray(y, dtype=np.float64)
        if np.ndim(y) != 1:
            raise ValueError(f"y must have shape (n,), got {np.shape(y)}")
        (means,), (deviations,) = self._moments.learn(y[np.newaxis])
        scaled = np.empty((len(y), 1))
        _core.standardise_into(
            y[np.newaxis], means[np.newaxis, 1:], deviations[np.newaxis, 1:], np.inf, scaled, [0]
        )
        return scaled[:, 0], lambda f: means[:-1] + deviations[:-1] * f

    @classmethod
    def of_nothing(cls) -> TargetScaler:
        """Return a scaler with mean 0 and standard deviation 1, which changes nothing.

        >>> TargetScaler.of_nothing().inverse_transform([0.3])
        array([0.3])
        """
        scaler = cls()
        scaler.learn_transform([-1.0, 1.0])
        return scaler

    def inverse_transform(self, f: ArrayLike) -> Array:
        """Scale predictions f (n,) back by the statistics so far."""
        mean, deviation = self.mean_, self.scale_
        return np.asarray(mean + deviation * np.asarray(f, dtype=np.float64))

    @property
    def mean_(self) -> float:
        """The mean of the targets so far."""
        return float(self._moments.now()[0][0, 0])

    @property
    def scale_(self) -> float:
        """The standard deviation of the targets so far."""
        return float(self._moments.now()[1][0, 0])

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that a file keeps."""
        return with_plain_moments(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        super().__setstate__(with_moments(state))
