"""The base class of losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core
from parsimon.formulas import Expression

__all__ = ["Loss", "as_outputs"]

Array = NDArray[np.float64]


class Loss(ABC):
    """A convex function l(f, y) of a prediction f (C,) with C outputs, and of a target y."""

    #: What `predict` returns, as an expression in `parsimon.formulas.OUTPUT`; None: f itself. In
    #: both cases f is what is learned, merged and compressed, and what has a norm.
    inverse_link: ClassVar[Expression | None] = None

    @abstractmethod
    def core(self) -> _core.Loss:
        """Return the C++ twin."""

    def refused(self, y: Array) -> tuple[int, str] | None:
        """Return the first row of targets (n,) that the loss rejects, with the reason, or None."""
        core, f = self.core(), np.zeros((len(y), 1))
        try:
            core.values(f, np.ascontiguousarray(y, dtype=np.float64)[:, np.newaxis])
        except ValueError:
            for row, target in enumerate(y):
                try:
                    core.value(f[row], np.array([target], dtype=np.float64))
                except ValueError as error:
                    return row, str(error).removeprefix("y ")
        return None

    def value(self, f: ArrayLike, y: ArrayLike) -> float:
        """Return l(f, y) for one sample: f (C,), y (C,)."""
        f = as_outputs(f)
        return self.core().value(f, self._target(y, len(f)))

    def gradient(self, f: ArrayLike, y: ArrayLike) -> Array:
        """Return the gradient of l with respect to f, (C,)."""
        f = as_outputs(f)
        return self.core().gradient(f, self._target(y, len(f)))

    def values(self, F: ArrayLike, Y: Array) -> Array:
        """Return l for each of n samples, (n,).

        F has shape (n, C). Y has shape (n, C), or is the result of `ClassificationLoss.targets`.
        """
        F = np.ascontiguousarray(F, dtype=np.float64)
        return self.core().values(
            F if F.ndim == 2 else F[:, np.newaxis], np.ascontiguousarray(Y).reshape(len(F), -1)
        )

    def _target(self, y: ArrayLike, n_outputs: int) -> Array:
        return np.atleast_1d(np.asarray(y, dtype=np.float64))


def as_outputs(f: ArrayLike) -> Array:
    """Return the outputs f as an array (C,)."""
    return np.atleast_1d(np.asarray(f, dtype=np.float64))
