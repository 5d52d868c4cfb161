"""Recursive least squares."""

from __future__ import annotations

from parsimon import _core
from parsimon._parts import part, real, whole
from parsimon.updates.base import Update

__all__ = ["LEAST_RIDGE", "MOST_RIDGE", "NormRLS", "RowRLS", "SpanRLS"]

#: The range of a ridge that is not 0.
LEAST_RIDGE, MOST_RIDGE = 1e-20, 1e20


@part
class RecursiveLeastSquares(Update):
    """The parameters that all recursive least squares have."""

    ridge: float = 0.0
    forgetting: float = 1.0

    def __post_init__(self) -> None:
        if self.ridge != 0:
            real("ridge, if not 0,", self.ridge, at_least=LEAST_RIDGE, at_most=MOST_RIDGE)
        real("forgetting", self.forgetting, at_least=0.1, at_most=1)


@part
class SpanRLS(RecursiveLeastSquares):
    """Recursive least squares in the span of the centres.

    Let K be the Gram matrix of the centres d_1, ..., d_m, w their weights, and v = K w the values
    of f at the centres. A sample x has the kernel row h = (k(x, d_1), ..., k(x, d_m)). The vector a
    = K^-1 h holds the coefficients of the projection of k(x, .) onto the span of the centres, so
    f(x) is approximately a'v. After n samples, v minimises

        sum_t forgetting^(n-t) weight_t (y_t - a_t'v)^2 + ridge ||v||^2,

    with the weight, target and coefficients of sample t. Forgetting also decreases the ridge, as it
    decreases the weights of old samples. Let P be the covariance matrix of v, in units of the noise
    variance of a sample of weight 1. For each sample:

    - if it is admitted, P <- diag(P, 1/(ridge + weight)), and w changes such that f(x) = weight y /
      (ridge + weight);
    - otherwise, with e = y - f(x), q = P a / (1/weight + a'P a), P <- P - q a'P, w <- w + K^-1 q e.

    Before each sample, forgetting multiplies P by 1/forgetting. Where no samples arrive, P would
    grow without bound. The following anti-windup rule prevents this. When the variance P_ii of the
    value at centre i exceeds 1000, the current value is learned as one more observation. Its noise
    variance is chosen such that P_ii becomes 500. No weight changes. The variances are checked
    every m samples, or more often if forgetting could double them in that time. So they stay below
    2000.

    The covariance matrix of the weights, K^-1 P K^-1, is stored instead of P. Its product with h is
    K^-1 P a, which saves a product with K^-1. It is stored as a triangular factor, so it stays
    symmetric and positive definite.

    `max_centers` selects how the compression `LeastNeeded` evicts centre j:

    - None: the other weights move to the fit of all samples without centre j. The samples are known
      only as combinations a_t of the centres at their time. If centres are evicted often, these
      combinations are wrong, but P treats them as exact.
    - B, the budget: f is projected onto the span of the other centres. So the values v_i at the
      other centres and their covariance stay as they are: row and column j of P are dropped. When
      there are B centres, an admitted sample becomes a centre only if it would be needed more than
      twice as much as the centre that is needed least. Otherwise it is learned as a sample that was
      not admitted. The need of a centre is w_j^2 / (K^-1 P K^-1)_jj. That of a sample with error e
      is e^2 / (1/weight + a'P a), if ridge is 0. With a ridge, e is weight y / (ridge + weight) -
      f(x) and 1/weight is 1/(ridge + weight).

    Reference: Engel, Mannor & Meir, *The kernel recursive least-squares algorithm*, IEEE
    Transactions on Signal Processing 2004 (ridge 0, forgetting 1).

    >>> SpanRLS()
    SpanRLS(ridge=0.0, forgetting=1.0, max_centers=None)
    """

    max_centers: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_centers is not None:
            whole("budget", self.max_centers, at_least=1, at_most=10**9)

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("span_rls", [self.ridge, self.forgetting, self.max_centers or 0])


@part
class NormRLS(SpanRLS):
    """Recursive least squares in the span of the centres, with a penalty on ||f||^2.

    Let K be the Gram matrix of the centres d_1, ..., d_m, and v the values of f at the centres. Let
    h_t be the kernel values of sample t with the centres, and a_t = K^-1 h_t the coefficients of
    its projection onto the span of the centres. After n samples, v minimises

        sum_t forgetting^(n-t) weight_t (y_t - a_t'v)^2 + ridge ||f||^2,    ||f||^2 = v'K^-1 v.

    Without forgetting, this is the posterior mean of a Gaussian process with covariance k / ridge
    and noise of variance 1. If sample x is admitted, v gets a new entry with mean f(x) and variance
    (k(x, x) - h'K^-1 h) / ridge, where h are its kernel values with the older centres. Then x is
    learned as any other sample. So, unlike `SpanRLS`, `NormRLS` does not fit the noise of admitted
    samples.

    Forgetting multiplies the covariance matrix of v by 1/forgetting before each sample. The
    anti-windup rule is that of `SpanRLS`, with another limit for the variance of the value at
    centre j: its prior variance, k(d_j, d_j) / ridge, but at most 1000.

    `max_centers` is that of `SpanRLS`. Here the need of a sample is e^2 / s - e^2 / (s + r), with
    e = y - f(x), s = 1/weight + a'P a and r = (k(x, x) - h'K^-1 h) / ridge.

    References: Csato & Opper, *Sparse on-line Gaussian processes*, Neural Computation 2002 (without
    forgetting; max_centers None). Van Vaerenbergh, Lazaro-Gredilla & Santamaria, *Kernel recursive
    least-squares tracker for time-varying regression*, IEEE Transactions on Neural Networks and
    Learning Systems 2012, drop an evicted value as with `max_centers`, but select it differently.

    >>> NormRLS(ridge=0.1)
    NormRLS(ridge=0.1, forgetting=1.0, max_centers=None)
    """

    ridge: float = 1.0

    def __post_init__(self) -> None:
        real("ridge", self.ridge, at_least=LEAST_RIDGE, at_most=MOST_RIDGE)
        super().__post_init__()

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("norm_rls", [self.ridge, self.forgetting, self.max_centers or 0])


@part
class RowRLS(RecursiveLeastSquares):
    """Recursive least squares on kernel rows.

    A sample x has the kernel row h = (k(x, d_1), ..., k(x, d_m)) with the centres. After n samples,
    the weights w of the centres minimise

        sum_t forgetting^(n-t) weight_t (y_t - h_t'w)^2 + ridge ||w||^2,

    with the weight, target and kernel row of sample t. A row h_t has the entry 0 for each centre
    that was admitted after sample t. Let P be the covariance matrix of w, in units of the noise
    variance of a sample of weight 1, and e = y - f(x). For each sample:

    - if it is admitted and ridge is 0, w <- (w, e/h0), P <- [[P, -g/h0], [-g'/h0, c/h0^2]] with g =
      P h, c = 1/weight + h'P h, h0 = k(x, x);
    - otherwise, q = P h / (1/weight + h'P h), P <- P - q h'P, w <- w + q e. With a ridge > 0, an
      admitted sample first becomes a centre j with weight 0 and P_jj = 1/ridge.

    Before each sample, forgetting multiplies P by 1/forgetting. The anti-windup rule is that of
    `SpanRLS`, applied to the variances P_jj of the weights. Their limit is 1e6 / ridge, or 1e6 /
    k(x, x)^2 without a ridge. This limit is higher than that of `SpanRLS`, because weights of
    coherent centres always have large variances.

    Reference: Richard, Bermudez & Honeine, *Online prediction of time series data with kernels*,
    IEEE Transactions on Signal Processing 2009.

    >>> RowRLS(forgetting=0.99)
    RowRLS(ridge=0.0, forgetting=0.99)
    """

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        return _core.update("row_rls", [self.ridge, self.forgetting])
