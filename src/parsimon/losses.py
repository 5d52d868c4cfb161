"""Losses: how far a prediction f is from a target y.

>>> from parsimon.losses import Squared
>>> Squared().value([1.0], [3.0])
2.0
>>> Squared().gradient([1.0], [3.0])
array([-2.])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core

__all__ = ["LOSSES", "Loss", "Squared"]


class Loss(ABC):
    """A convex function l(f, y) of the prediction f (C,)."""

    @abstractmethod
    def core(self) -> _core.Loss:
        """Return the C++ twin."""

    def value(self, f: ArrayLike, y: ArrayLike) -> float:
        """Return l(f, y) for one sample: f (C,), y (C,)."""
        return self.core().value(np.asarray(f, dtype=np.float64), np.asarray(y, dtype=np.float64))

    def gradient(self, f: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Return the gradient of l with respect to f, (C,)."""
        return self.core().gradient(np.asarray(f, dtype=np.float64), np.asarray(y, dtype=np.float64))


@dataclass(frozen=True)
class Squared(Loss):
    """Squared loss, l(f, y) = sum_c (f_c - y_c)^2 / 2, with gradient f - y.

    >>> Squared().value([0.0, 1.0], [1.0, 1.0])
    0.5
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.SquaredLoss()


LOSSES: dict[str, type[Loss]] = {"squared": Squared}
