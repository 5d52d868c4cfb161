"""Recursive filters in which every sample becomes a centre."""

from __future__ import annotations

from parsimon import _core
from parsimon._parts import lookup, part, real
from parsimon.updates.base import Update

__all__ = ["ExtendedRLS", "Growing", "Tracker", "Window"]

#: Which pair `Window` removes, and whether it is the oldest.
REMOVALS = {"oldest": True, "least_error": False}


class Growing(Update):
    """An update that makes every sample a centre.

    It needs the admission `Always`, the compression `LeastNeeded` or `Nothing`, and batches of one
    sample.
    """


@part
class Window(Growing):
    """Kernel ridge regression on a window of samples.

    Each centre d_i is a sample in the window, with its target y_i and its weight v_i. With the Gram
    matrix K of the centres, the weights are

        w = (K + G)^-1 y,    G = diag(ridge / v_1, ..., ridge / v_m).

    They minimise sum_i v_i (y_i - f(d_i))^2 + ridge ||f||^2. A new sample with error e = y - f(x)
    and kernel row h = (k(x, d_1), ..., k(x, d_m)) changes them to (w - a e / r, e / r), with a =
    (K + G)^-1 h and r = k(x, x) + ridge / v - h'a. A triangular factor of (K + G)^-1 is stored.
    A copy of a centre is a sample like any other. A sample is left out only if r is rounding error,
    which needs a ridge below 2e-5 k(x, x).

    When the compression `LeastNeeded` removes a pair (d_j, y_j), the weights become those of the
    other pairs. `removal` selects the pair:

    - "oldest": the oldest pair. Then the window holds the last samples.
    - "least_error": the pair that the others predict best. Their fit has the error w_j / P_jj at
      d_j, with P = (K + G)^-1.

    References: van Vaerenbergh, Via & Santamaria, *A sliding-window kernel RLS algorithm and its
    application to nonlinear channel identification*, ICASSP 2006 ("oldest"). Van Vaerenbergh,
    Santamaria, Liu & Principe, *Fixed-budget kernel recursive least-squares*, ICASSP 2010
    ("least_error", without the adaptation of stored targets).

    >>> Window(ridge=0.1)
    Window(ridge=0.1, removal='oldest')
    """

    ridge: float
    removal: str = "oldest"

    def __post_init__(self) -> None:
        real("ridge", self.ridge, at_least=1e-6, at_most=1e20)
        lookup(REMOVALS, self.removal, "removal")

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("window", [self.ridge, float(REMOVALS[self.removal])])


@part
class Tracker(Growing):
    """The kernel recursive least-squares tracker: a Gaussian process that forgets.

    The values of f at the centres have the mean mu and the covariance Sigma, in units of the signal
    power. Let K be the Gram matrix of the centres, j the `jitter`, s the `noise`, Q = (K + j I)^-1
    and h the kernel row of a sample x. The paper's recursion first forgets, which moves f back to
    its prior:

        Sigma <- forgetting Sigma + (1 - forgetting) (K + j I),    mu <- sqrt(forgetting) mu.

    Then x becomes a centre, its value is predicted and its target is observed with the noise s. If
    there are too many centres, the entries of the centre with the least |(Q mu)_i| / Q_ii leave mu
    and Sigma.

    Here, w = Q mu are the weights, and E = Q - Q Sigma Q is stored as a triangular factor. With z =
    E h, r = s / weight + k(x, x) + j - h'z, e = y - f(x) and t = (-z, 1),

        w <- (w, 0) + t e / r,    E <- [[E, 0], [0, 0]] + t t' / r,

    which gives the same mean and variance. If gamma = k(x, x) + j - h'Q h is below j, x is learned
    without becoming a centre. The variance of a new target y is sigma^2 (s + k(x, x) + j - h'E h).
    The signal power sigma^2 is the mean of e^2 / r over the samples. In the paper all samples count
    equally. Here the mean forgets: sample t has at least the share 1 - forgetting when it is
    learned.

    Reference: van Vaerenbergh, Lazaro-Gredilla & Santamaria, *Kernel recursive least-squares
    tracker for time-varying regression*, IEEE Transactions on Neural Networks and Learning Systems
    2012.

    >>> Tracker(forgetting=0.99, noise=0.01)
    Tracker(forgetting=0.99, noise=0.01, jitter=1e-06)
    """

    forgetting: float = 1.0
    noise: float = 0.1
    jitter: float = 1e-6

    def __post_init__(self) -> None:
        real("forgetting", self.forgetting, at_least=0.1, at_most=1)
        real("noise", self.noise, at_least=1e-6, at_most=1e20)
        real("jitter", self.jitter, at_least=1e-8, at_most=1e20)

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("tracker", [self.forgetting, self.noise, self.jitter])


@part
class ExtendedRLS(Growing):
    """Extended kernel recursive least squares, for a function that is a random walk.

    Between samples, f becomes `transition` f plus noise. Let h be the kernel row of sample i, e =
    y - f(x), z = E h, t = (-z, 1) and a the `transition`. With the noise c_i of the sample,

        r = c_i / weight + k(x, x) - h'z,          u = a^2 + state_noise c_i,
        w <- a ((w, 0) + t e / r),                 E <- (a^2 / u) ([[E, 0], [0, 0]] + t t' / r),
        c_1 = ridge b,    c_2 = ridge b^3 / (a^2 b + ridge state_noise),    c_(i+1) = b c_i / u,

    where b is `forgetting`. c_i is b^i rho_(i-1) in the paper. Rounding could exceed a very small
    noise, so c_i is at least 1e-6 k(x, x). The matrix E is stored as a triangular factor.

    In the paper, the filter stops learning when there is no more memory. Here, the compression
    `LeastNeeded` drops the oldest centre j: w <- w - E_j w_j / E_jj with column j of E, and row and
    column j leave E^-1. Then w and E are those of a filter that has never seen sample j.

    Reference: Liu, Park, Wang & Principe, *Extended kernel recursive least squares algorithm*, IEEE
    Transactions on Signal Processing 2009.

    >>> ExtendedRLS(ridge=0.1, state_noise=1e-3)
    ExtendedRLS(transition=1.0, forgetting=1.0, ridge=0.1, state_noise=0.001)
    """

    transition: float = 1.0
    forgetting: float = 1.0
    ridge: float = 0.1
    state_noise: float = 0.0

    def __post_init__(self) -> None:
        real("transition", self.transition, at_least=0.1, at_most=1)
        real("forgetting", self.forgetting, at_least=0.1, at_most=1)
        real("ridge", self.ridge, at_least=1e-6, at_most=1e20)
        real("state_noise", self.state_noise, at_least=0, at_most=1e20)

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update(
            "extended_rls", [self.transition, self.forgetting, self.ridge, self.state_noise]
        )
