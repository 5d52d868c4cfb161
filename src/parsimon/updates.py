"""Updates: how a sample changes the weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from parsimon import _core
from parsimon._parts import lookup, part, real

__all__ = [
    "NLMS",
    "SCHEDULES",
    "UPDATES",
    "DualAscent",
    "Gradient",
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

        "solve": the least-squares fit is solved for. "climb": `ascend` leads to it. "none": the
        weighted sum is all there is.
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

    With h = (k(x, d_1), ..., k(x, d_m)) after x, if admitted, has become a centre of weight 0, and
    e = y - f(x),

        w <- w + step_size / (ridge + ||h||^2) h e.

    Stable for 0 < step_size (rho) < 2. A row with ridge + ||h||^2 < 1e-200 changes nothing.

    Reference: Honeine, Richard & Bermudez, *On-line nonlinear sparse approximation of functions*,
    ISIT 2007, equation (8); the ridge (eps) is that of Richard, Bermudez & Honeine, *Online
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
        return _core.NLMSUpdate(self.step_size, self.ridge)


@part
class Schedule:
    """How the rate falls: eta_t = step_size / (1 + (t - 1) / delay)^power at the t-th step.

    A power of 0 is a constant rate.

    With a power in (1/2, 1] the sum of eta_t is infinite and that of eta_t^2 finite: the conditions
    of Theorem 1 of Koppel et al. 2019.

    >>> Schedule(power=0.75, delay=100)
    Schedule(power=0.75, delay=100)
    """

    power: float = 0.0
    delay: float = 1.0

    def __post_init__(self) -> None:
        real("power", self.power, at_least=0, at_most=1)
        real("delay", self.delay, above=0)


#: Schedules that an estimator's ``schedule`` parameter can name.
SCHEDULES: dict[str, Schedule] = {"constant": Schedule(), "diminishing": Schedule(0.75, delay=100)}


@part
class Gradient(Update):
    """Gradient step in function space; a sample that is not admitted is left out.

        f <- (1 - eta_t alpha) f - (eta_t / b) sum_i weight_i l'(f(x_i), y_i) k(x_i, .)

    for a batch of b samples (a short one of s takes a step of eta_t s / b), with eta_t as the
    `schedule` has it. Where the gradient of the loss is unbounded (squared loss, squared hinge)
    that is stable while step_size < 2 / (L k(x, x)), L the largest second derivative, which is
    checked.

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
        # eta < 1 / lambda; a first step that forgets everything (Pegasos) forgets nothing, for
        # there is nothing yet.
        product = self.step_size * self.alpha
        if product >= 1 and not (self.schedule.power == 1 and product <= 1 + 1e-12):
            raise ValueError(
                f"step_size * alpha must be < 1, got {self.step_size!r} * {self.alpha!r}"
            )

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.PlainGradientUpdate(
            self.step_size, self.alpha, self.schedule.power, self.schedule.delay
        )


@part
class ProjectedGradient(Gradient):
    """Gradient step in function space; that of a sample that is not admitted is projected onto the
    span of the centres.

    With c the coefficient of k(x, .): w <- w + K^-1 h c, equation (12) of Pothin & Richard 2006.

    >>> ProjectedGradient(step_size=0.5)
    ProjectedGradient(step_size=0.5, alpha=0.0, schedule=Schedule(power=0.0, delay=1.0))
    """

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.ProjectedGradientUpdate(
            self.step_size, self.alpha, self.schedule.power, self.schedule.delay
        )


@part
class QuantizedGradient(Gradient):
    """Gradient step in function space; that of a sample that is not admitted goes to the weight of
    the nearest centre.

    Reference: Chen, Zhao, Zhu & Principe, *Quantized kernel least mean square algorithm*, IEEE
    Transactions on Neural Networks and Learning Systems 2012.

    >>> QuantizedGradient(step_size=0.5)
    QuantizedGradient(step_size=0.5, alpha=0.0, schedule=Schedule(power=0.0, delay=1.0))
    """

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.QuantizedGradientUpdate(
            self.step_size, self.alpha, self.schedule.power, self.schedule.delay
        )


@part
class SpanRLS(Update):
    """Recursive least squares in the span of the centres.

    With a = K^-1 h and v the values at the centres, v = K w, it minimises sum_t forgetting^(n-t)
    weight_t (y_t - a_t'v)^2 + ridge ||v||^2 (the penalty is forgotten with the data):

    - admitted: P <- diag(P, 1/(ridge + weight)), and w so that f takes the value weight y / (ridge
      + weight) at x;
    - else: q = P a / (1/weight + a'P a), P <- P - q a'P, w <- w + K^-1 q e.

    Forgetting first inflates P by 1/forgetting. Anti-windup: a value whose variance P_ii has grown
    beyond 1000 times that of the noise (of a sample of weight 1) is observed once more as it is,
    with as much noise as takes its variance to 500. That changes no weight, and P stays bounded
    where nothing excites it (below 2000: the variances are looked at before forgetting can have
    doubled them, at most every m samples).

    What is held is the covariance of the weights, K^-1 P K^-1, since K^-1 P a is its product with
    the kernel row and spares one with K^-1; and as a triangular factor: it cannot lose symmetry or
    definiteness.

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
        return _core.SpanRLSUpdate(self.ridge, self.forgetting)


@part
class RowRLS(SpanRLS):
    """Recursive least squares on kernel rows.

    It minimises sum_t forgetting^(n-t) weight_t (y_t - h_t'w)^2 + ridge ||w||^2, where rows seen
    before a centre entered count as zero in its column:

    - admitted, ridge 0: w <- (w, e/h0), P <- [[P, -k/h0], [-k'/h0, alpha/h0^2]] with k = P h, alpha
      = 1/weight + h'P h, h0 = k(x, x);
    - else: q = P h / (1/weight + h'P h), P <- P - q h'P, w <- w + q e (an admitted centre enters
      with weight 0 and P_jj = 1/ridge before that).

    Forgetting and anti-windup as in `SpanRLS`, at a variance of 1e6 / ridge, or 1e6 / k(x, x)^2
    without a ridge: weights of coherent centres have large variances for no other reason than that.

    Reference: Richard, Bermudez & Honeine, *Online prediction of time series data with kernels*,
    IEEE Transactions on Signal Processing 2009.

    >>> RowRLS(forgetting=0.99)
    RowRLS(ridge=0.0, forgetting=0.99)
    """

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.RowRLSUpdate(self.ridge, self.forgetting)


#: What the steps of `DualAscent` can be best for, and whether that is the longer one.
STEPS = {"dual": True, "error": False}


@part
class DualAscent(Update):
    """Ascent on the reduced dual of support vector regression.

    Every sample is written as a combination a_i of the centres, and of the matrix A of these rows
    only A'A, A'y and A'e are kept. With w = alpha* - alpha, s = alpha* + alpha and f = K w the
    reduced dual (4.18) is L = -w'K w / 2 + w'Q A'y - epsilon s'Q A'e, Q = (A'A)^-1; each sample,
    once it is counted in, moves both vectors by

        w <- w + eta r,   s <- s - eta epsilon A'e,   r = A'(y - A f),

    (4.12) with one step for both, whose length the paper leaves open. `step` says what it is best
    for:

    - "dual": L is largest, eta = r'Q r / r'K r;
    - "error": ||y - A f||^2 is least, eta = r'K r / (K r)'A'A K r. Never the longer one of the two,
      so that L rises too. On real data it fits far better; where samples have very different
      weights, or some region far more of them, "dual" comes to rest sooner.

    L never falls while nothing new is seen. The insensitive zone acts on s alone: without a box f
    does not depend on epsilon, and comes to rest where A'(y - A f) = 0, which is least squares.
    With a `box` (4.22), -box <= alpha, alpha* <= box, the step is that of "dual", and what leaves
    the box is cut off; the gradient's own step, cut off too, is tried beside it, and the better one
    goes as far as L rises: the fixed point is the maximum of L in the box.

    The target y of a sample is f - l'(f) / L with L the loss's curvature: y itself for the squared
    loss; for the squared hinge y while its margin is violated, and else f. A sample's weight is a
    factor on its row of A'A, A'y and A'e. Centres never leave. O(m^2) for each sample and output.

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
        return _core.DualAscentUpdate(self.epsilon, box, STEPS[self.step])


UPDATES: dict[str, type[Update]] = {
    "nlms": NLMS,
    "gradient": Gradient,
    "projected_gradient": ProjectedGradient,
    "quantized_gradient": QuantizedGradient,
    "span_rls": SpanRLS,
    "row_rls": RowRLS,
    "dual_ascent": DualAscent,
}
