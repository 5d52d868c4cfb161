"""Updates: how a sample changes the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from parsimon import _core
from parsimon._parts import real

__all__ = ["NLMS", "UPDATES", "Update"]


class Update(ABC):
    """A rule by which one sample changes the weights."""

    @abstractmethod
    def core(self) -> _core.Update:
        """Return the C++ twin."""


@dataclass(frozen=True)
class NLMS(Update):
    """Normalised least mean squares over all weights.

    With h = (k(x, d_1), ..., k(x, d_m)) after x, if admitted, has become a centre of weight 0, and e = y - f(x),

        w <- w + step_size / (ridge + ||h||^2) h e.

    Stable for 0 < step_size (rho) < 2. A row with ridge + ||h||^2 < 1e-200 changes nothing.

    Reference: Honeine, Richard & Bermudez, *On-line nonlinear sparse approximation of functions*, ISIT 2007, equation (8); the ridge (eps) is
    that of Richard, Bermudez & Honeine, *Online prediction of time series data with kernels*, IEEE Transactions on Signal Processing 2009.

    >>> NLMS(step_size=0.1)
    NLMS(step_size=0.1, ridge=0.0)
    """

    step_size: float
    ridge: float = 0.0

    def __post_init__(self) -> None:
        real("step_size", self.step_size, above=0, below=2)
        real("ridge", self.ridge, at_least=0)

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.NLMSUpdate(self.step_size, self.ridge)


UPDATES: dict[str, type[Update]] = {"nlms": NLMS}
