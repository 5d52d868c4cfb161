"""Updates: how a sample changes the weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from parsimon import _core
from parsimon._parts import lookup, part, real, whole

__all__ = [
    "NLMS",
    "SCHEDULES",
    "UPDATES",
    "AffineProjection",
    "DualAscent",
    "Gradient",
    "NormRLS",
    "ProjectedGradient",
    "QuantizedGradient",
    "RowRLS",
    "Schedule",
    "SpanRLS",
    "Update",
]


class Update(ABC):
    """A rule by which one sample changes the weights."""

    @property
    def pooling(self) -> str:
        """How a merged model reaches the fit to the samples of all models.

        "solve": the least-squares fit is computed directly. "climb": `ascend` takes steps towards
        it. "none": there is no such fit, and the merged model is the weighted sum.
        """
        return self.core().pooling

    @property
    def forgets(self) -> bool:
        """Whether old samples count less than new ones."""
        return self.core().forgets

    @abstractmethod
    def core(self) -> _core.Update:
        """Return the C++ twin."""


@part
class NLMS(Update):
    """Normalised least mean squares over all weights.

    If x is admitted, it first becomes a centre with weight 0. Let h = (k(x, d_1), ..., k(x, d_m))
    and e = y - f(x). Then the step is

        w <- w + step_size / (ridge + ||h||^2) h e.

    It is stable for 0 < step_size (rho) < 2. A sample with ridge + ||h||^2 < 1e-200 changes
    nothing.

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

    Let H (p, m) be the kernel rows of the last p = `order` samples, y their targets, and I the
    identity. If the new sample x is admitted, it first becomes a centre with weight 0. Then

        w <- w + step_size H'(ridge I + H H')^-1 (y - H w).

    order = 1 is `NLMS`. A row of H is left out if it is a combination of newer rows, up to
    rounding. The step is stable for 0 < step_size (eta) < 2.

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


@part
class Schedule:
    """Learning rates eta_t = step_size / (1 + (t - 1) / delay)^power at step t.

    With power 0 the rate is constant. With a power in (1/2, 1], the sum of eta_t is infinite and
    the sum of eta_t^2 is finite. These are the conditions of Theorem 1 of Koppel et al. 2019.

    >>> Schedule(power=0.75, delay=100)
    Schedule(power=0.75, delay=100)
    """

    power: float = 0.0
    delay: float = 1.0

    def __post_init__(self) -> None:
        real("power", self.power, at_least=0, at_most=1)
        real("delay", self.delay, above=0)


#: Names for the ``schedule`` parameter of an estimator.
SCHEDULES: dict[str, Schedule] = {"constant": Schedule(), "diminishing": Schedule(0.75, delay=100)}


@part
class Gradient(Update):
    """Gradient step in function space. A sample that is not admitted is ignored.

    For a batch of b samples, with eta_t from the `schedule`, the step is

        f <- (1 - eta_t alpha) f - (eta_t / b) sum_i weight_i l'(f(x_i), y_i) k(x_i, .).

    An incomplete batch of s samples takes a step of rate eta_t s / b. If the gradient of the loss
    is unbounded (squared loss, squared hinge), the step is stable for step_size < 2 / (L k(x, x)),
    with L the largest second derivative. This is checked.

    Reference: Kivinen, Smola & Williamson, *Online learning with kernels*, IEEE Transactions on
    Signal Processing 2004.

    >>> Gradient(step_size=0.2)
    Gradient(step_size=0.2, alpha=0.0, schedule=Schedule(power=0.0, delay=1.0))
    """

    step_size: float
    alpha: float = 0.0
    schedule: Schedule = Schedule()

    def __post_init__(self) -> None:
        real("step_size", self.step_size, above=0, at_most=1e20)
        real("alpha", self.alpha, at_least=0)
        # eta < 1 / lambda. The first step of Pegasos has eta = 1 / lambda and sets f to 0, which
        # is harmless, because f is 0 then.
        product = self.step_size * self.alpha
        if product >= 1 and not (self.schedule.power == 1 and product <= 1 + 1e-12):
            raise ValueError(
                f"step_size * alpha must be < 1, got {self.step_size!r} * {self.alpha!r}"
            )

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update(
            "gradient", [self.step_size, self.alpha, self.schedule.power, self.schedule.delay]
        )


@part
class ProjectedGradient(Gradient):
    """Gradient step in function space. A sample that is not admitted is projected onto the centres.

    Let c be the coefficient of k(x, .) in the step. Then w <- w + K^-1 h c, which is equation (12)
    of Pothin & Richard 2006.

    >>> ProjectedGradient(step_size=0.5)
    ProjectedGradient(step_size=0.5, alpha=0.0, schedule=Schedule(power=0.0, delay=1.0))
    """

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update(
            "projected_gradient",
            [self.step_size, self.alpha, self.schedule.power, self.schedule.delay],
        )


@part
class QuantizedGradient(Gradient):
    """Gradient step in function space. A sample that is not admitted changes the nearest centre.

    The coefficient of k(x, .) is added to the weight of that centre.

    Reference: Chen, Zhao, Zhu & Principe, *Quantized kernel least mean square algorithm*, IEEE
    Transactions on Neural Networks and Learning Systems 2012.

    >>> QuantizedGradient(step_size=0.5)
    QuantizedGradient(step_size=0.5, alpha=0.0, schedule=Schedule(power=0.0, delay=1.0))
    """

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update(
            "quantized_gradient",
            [self.step_size, self.alpha, self.schedule.power, self.schedule.delay],
        )


@part
class SpanRLS(Update):
    """Recursive least squares in the span of the centres.

    Let a = K^-1 h, and let v = K w be the values at the centres. After n samples it minimises

        sum_t forgetting^(n-t) weight_t (y_t - a_t'v)^2 + ridge ||v||^2,

    where forgetting decreases the ridge like the weights of old samples. For each sample:

    - if it is admitted, P <- diag(P, 1/(ridge + weight)), and w changes such that f(x) = weight y /
      (ridge + weight);
    - otherwise, with e = y - f(x), q = P a / (1/weight + a'P a), P <- P - q a'P, w <- w + K^-1 q e.

    Forgetting first multiplies P by 1/forgetting. Where no samples arrive, P would grow without
    bound. The following anti-windup rule prevents this. Variances are in units of the noise
    variance of a sample of weight 1. When the variance P_ii of a value exceeds 1000, the current
    value is observed once more. Its noise is such that the variance becomes 500. No weight changes.
    The variances are checked every m samples, or more often if forgetting could double them in that
    time. So they stay below 2000.

    The covariance of the weights, K^-1 P K^-1, is stored instead of P. Its product with the kernel
    row is K^-1 P a, which saves a product with K^-1. It is stored as a triangular factor, so it
    stays symmetric and positive definite.

    Reference: Engel, Mannor & Meir, *The kernel recursive least-squares algorithm*, IEEE
    Transactions on Signal Processing 2004 (ridge 0, forgetting 1).

    >>> SpanRLS()
    SpanRLS(ridge=0.0, forgetting=1.0)
    """

    ridge: float = 0.0
    forgetting: float = 1.0

    def __post_init__(self) -> None:
        if self.ridge != 0:
            real("ridge, if not 0,", self.ridge, at_least=1e-20, at_most=1e20)
        real("forgetting", self.forgetting, at_least=0.1, at_most=1)

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("span_rls", [self.ridge, self.forgetting])


@part
class NormRLS(SpanRLS):
    """Recursive least squares in the span of the centres, with a penalty on ||f||^2.

    It minimises

        sum_t forgetting^(n-t) weight_t (y_t - a_t'v)^2 + ridge ||f||^2,    ||f||^2 = v'K^-1 v,

    with a and v as in `SpanRLS`. This is the posterior mean of a Gaussian process with covariance
    k / ridge and noise of variance 1. An admitted sample gets a new value with mean f(x) and
    variance (k(x, x) - h'K^-1 h) / ridge. Then it is learned as any other sample. So, unlike
    `SpanRLS`, it does not fit the noise of admitted samples.

    Forgetting works as in `SpanRLS`. The limit for the variance of a value is its prior variance,
    k(d_j, d_j) / ridge, but at most 1000.

    Reference: Csato & Opper, *Sparse on-line Gaussian processes*, Neural Computation 2002 (without
    forgetting).

    >>> NormRLS(ridge=0.1)
    NormRLS(ridge=0.1, forgetting=1.0)
    """

    ridge: float = 1.0

    def __post_init__(self) -> None:
        real("ridge", self.ridge, at_least=1e-20, at_most=1e20)
        super().__post_init__()

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("norm_rls", [self.ridge, self.forgetting])


@part
class RowRLS(SpanRLS):
    """Recursive least squares on kernel rows.

    It minimises

        sum_t forgetting^(n-t) weight_t (y_t - h_t'w)^2 + ridge ||w||^2,

    where samples older than a centre count as zero in the column of this centre. For each sample:

    - if it is admitted and ridge is 0, w <- (w, e/h0), P <- [[P, -g/h0], [-g'/h0, c/h0^2]] with g =
      P h, c = 1/weight + h'P h, h0 = k(x, x);
    - otherwise, q = P h / (1/weight + h'P h), P <- P - q h'P, w <- w + q e. With a ridge > 0, a new
      centre first gets weight 0 and P_jj = 1/ridge.

    Forgetting and anti-windup work as in `SpanRLS`. The limit of the variance is 1e6 / ridge, or
    1e6 / k(x, x)^2 without a ridge. This limit is higher than that of `SpanRLS`, because weights of
    coherent centres always have large variances.

    Reference: Richard, Bermudez & Honeine, *Online prediction of time series data with kernels*,
    IEEE Transactions on Signal Processing 2009.

    >>> RowRLS(forgetting=0.99)
    RowRLS(ridge=0.0, forgetting=0.99)
    """

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("row_rls", [self.ridge, self.forgetting])


#: Step lengths of `DualAscent`, and whether each is the longer one.
STEPS = {"dual": True, "error": False}


@part
class DualAscent(Update):
    """Ascent on the reduced dual of support vector regression.

    Every sample is written as a combination a_i of the centres. Let A be the matrix of these rows,
    y the targets and e a vector of ones. Only A'A, A'y and A'e are stored. Let w = alpha* - alpha,
    s = alpha* + alpha, Q = (A'A)^-1, and f = K w the values at the centres. The reduced dual (4.18)
    is

        L = -w'K w / 2 + w'Q A'y - epsilon s'Q A'e.

    Each sample is first added to A'A, A'y and A'e. Then both vectors move by (4.12),

        w <- w + eta r,   s <- s - eta epsilon A'e,   r = A'(y - A f),

    with one step length eta, which the paper leaves open. `step` chooses it:

    - "dual" maximises L: eta = r'Q r / r'K r.
    - "error" minimises ||y - A f||^2: eta = r'K r / (K r)'A'A K r. This step is never longer than
      that of "dual", so L increases too. It fits much better on real data. "dual" converges faster
      if samples have very different weights or densities.

    L never decreases while no new samples are learned. Epsilon acts only on s: without a box, f
    does not depend on it, and converges to the least-squares solution A'(y - A f) = 0.

    With a `box` (4.22), -box <= alpha, alpha* <= box. The step is then that of "dual", clipped to
    the box. The plain gradient step, also clipped, is tried as well. The step that increases L more
    is followed until L stops increasing. So the fixed point is the maximum of L in the box.

    For a loss l with curvature c, the y above is the working target f - l'(f) / c. For the squared
    loss this is the target of the sample. For the squared hinge it is the target if the margin is
    violated, and f otherwise. The weight of a sample is a factor on its row of A'A, A'y and A'e.
    Centres are never removed. The cost is O(m^2) per sample and output.

    Reference: Engel, Mannor & Meir, *Sparse online greedy support vector regression*, ECML 2002.

    >>> DualAscent(epsilon=0.1)
    DualAscent(epsilon=0.1, box=None, step='error')
    """

    epsilon: float = 0.0
    box: float | None = None
    step: str = "error"

    def __post_init__(self) -> None:
        real("epsilon", self.epsilon, at_least=0, at_most=1e100)
        if self.box is not None:
            real("box", self.box, above=0, at_most=1e100)
        lookup(STEPS, self.step, "step")

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        box = math.inf if self.box is None else self.box
        return _core.update("dual_ascent", [self.epsilon, box, STEPS[self.step]])


UPDATES: dict[str, type[Update]] = {
    "nlms": NLMS,
    "affine_projection": AffineProjection,
    "gradient": Gradient,
    "projected_gradient": ProjectedGradient,
    "quantized_gradient": QuantizedGradient,
    "span_rls": SpanRLS,
    "norm_rls": NormRLS,
    "row_rls": RowRLS,
    "dual_ascent": DualAscent,
}
