"""The kernel recursive least-squares tracker."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon._docs import documented
from parsimon.estimators.variance import VarianceRegressor

__all__ = ["KRLSTRegressor"]


@documented
class KRLSTRegressor(VarianceRegressor):
    """Kernel recursive least-squares tracker, for functions that change over time.

    The model is a Gaussian process with covariance k over at most `budget` centres. It forgets by
    going back to its prior: where no samples arrive, f returns to the intercept and becomes
    uncertain. The cost is O(m^2) per sample, with m centres.

    Let mu and Sigma be the mean and the covariance of f at the centres, K the Gram matrix of the
    centres, lambda the `forgetting`, s the `noise`, j the `jitter` and Q = (K + j I)^-1. For each
    sample (x, y), with h = (k(x, d_1), ..., k(x, d_m)):

    1. Forget: Sigma <- lambda Sigma + (1 - lambda) (K + j I), mu <- sqrt(lambda) mu.
    2. x becomes a centre. The mean of its value is h'Q mu, and its variance v = k(x, x) + j - h'(Q
       - Q Sigma Q) h.
    3. y is observed, with the noise s: mu and Sigma become the posterior mean and covariance.
    4. If there are more than `budget` centres, the one with the least |(Q mu)_i| / Q_ii is
       projected out. Its entries leave mu and Sigma.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="median"
        {gamma}
    forgetting : float in [0.1, 1], default=0.999
        Factor lambda by which what is known decreases with every sample. Smaller values follow a
        changing function faster and average over fewer samples. 1 never forgets.
    noise : float in [1e-6, 1e20], default=0.1
        Ratio s of the variance of the noise to that of the signal. Larger values make f smoother.
    jitter : float in [1e-8, 1e20], default=1e-6
        Number j that is added to k(x, x) of every sample, so that the Gram matrix can be inverted.
        Larger values are safer numerically and make f less exact.
    budget : int or None, default=300
        {budget}
        The memory is about 8 B^2 bytes.
        With the default and 10 features, the model takes 0.92 MB.
    fit_intercept : bool, default=True
        {mean_intercept}
    n_passes : int, default=1
        {n_passes}

    Attributes
    ----------
    {centers_}
    {outputs_}
    noise_ : float or array (C,)
        Variance of the noise of the targets: s times the signal power, which is estimated from
        prediction errors. It is infinite before the first sample.
    {fitted_}

    Notes
    -----
    The noise of a sample of weight v is s / v. A sample of weight 0 changes nothing. Without
    forgetting and with all samples as centres, f is the posterior mean of the Gaussian process with
    the kernel k + j and the noise s, as in scikit-learn's `GaussianProcessRegressor`. `predict`
    does not forget: it predicts for the time of the last sample.

    ``predict(X, return_std=True)`` also returns the standard deviation of a new observation. Its
    variance is noise_ / s times (s + v), with the variance v of step 2. noise_ / s is the signal
    power, the mean of e^2 / (s + v) over the samples, with the error e of each prediction. In the
    paper all samples count equally in this mean. Here it forgets like f.

    Models of this kind cannot be merged or compressed, but `set_budget` evicts centres.
    ``published(KRLSTRegressor)`` is the algorithm of the paper.

    References
    ----------
    S. van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria, *Kernel recursive least-squares tracker
    for time-varying regression*, IEEE Transactions on Neural Networks and Learning Systems 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KRLSTRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(1000, 1))
    >>> y = np.sin(X[:, 0]) * np.where(np.arange(1000) < 500, 1, -1)
    >>> model = KRLSTRegressor("gaussian", gamma=0.5, forgetting=0.98, noise=0.01, budget=30)
    >>> error = y - model.predict_then_learn(X, y)
    >>> [f"{(error[part]**2).mean():.3f}" for part in (slice(400, 500), slice(900, 1000))]
    ['0.001', '0.001']
    """

    _algorithm = staticmethod(algorithms.krlst)

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "median",
        forgetting: float = 0.999,
        noise: float = 0.1,
        jitter: float = 1e-6,
        budget: int | None = 300,
        fit_intercept: bool = True,
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.forgetting = forgetting
        self.noise = noise
        self.jitter = jitter
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
