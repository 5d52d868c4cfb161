"""Normalised least mean squares, and affine projection."""

from __future__ import annotations

from parsimon import _core
from parsimon._parts import part, real, whole
from parsimon.updates.base import Update

__all__ = ["NLMS", "AffineProjection"]


@part
class NLMS(Update):
    """Normalised least mean squares over all weights.

    If x is admitted, it first becomes a centre with weight 0. Let w be the weights of the centres
    d_1, ..., d_m, h = (k(x, d_1), ..., k(x, d_m)) and e = y - f(x). Then the step is

        w <- w + step_size / (ridge + ||h||^2) h e.

    It is stable for 0 < step_size < 2 (rho in the 2007 paper). A sample of weight 2 takes this step
    twice, and so on for any weight. A sample with ridge + ||h||^2 < 1e-200 changes nothing.

    References: Honeine, Richard & Bermudez, *On-line nonlinear sparse approximation of functions*,
    ISIT 2007, equation (8). The ridge (eps) is that of Richard, Bermudez & Honeine, *Online
    prediction of time series data with kernels*, IEEE Transactions on Signal Processing 2009.

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
        return _core.update("nlms", [self.step_size, self.ridge])


@part
class AffineProjection(Update):
    """Affine projection: a normalised step for the last samples together.

    If the new sample is admitted, it first becomes a centre with weight 0. Let w be the weights of
    the m centres. Let H (p, m) be the kernel values of the last p = `order` samples with the
    centres, y (p,) the targets of these samples, and I the identity. Then the step is

        w <- w + step_size H'(ridge I + H H')^-1 (y - H w).

    order = 1 is `NLMS`. A row of H is left out if it is a combination of the rows of newer samples,
    up to rounding. The step is stable for 0 < step_size < 2 (eta in the paper). A sample of weight
    v removes the share 1 - (1 - step_size)^v of the errors instead of step_size.

    Reference: Richard, Bermudez & Honeine, *Online prediction of time series data with kernels*,
    IEEE Transactions on Signal Processing 2009.

    >>> AffineProjection(step_size=0.1, order=3)
    AffineProjection(step_size=0.1, order=3, ridge=0.0)
    """

    step_size: float
    order: int = 2
    ridge: float = 0.0

    def __post_init__(self) -> None:
        real("step_size", self.step_size, above=0, below=2)
        whole("order", self.order, at_least=1, at_most=64)
        real("ridge", self.ridge, at_least=0)

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("affine_projection", [self.step_size, self.order, self.ridge])
