"""Extended kernel recursive least squares."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon._docs import documented
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["EXKRLSRegressor"]


@documented
class EXKRLSRegressor(StreamRegressor):
    """Extended kernel recursive least squares, which tracks a function that is a random walk.

    Between two samples, the function becomes a f plus noise of variance q, where a is `transition`
    and q is `state_noise`. So older samples say less about f. Each sample becomes a centre. The
    cost is O(m^2) per sample, with m centres.

    Let w be the weights, h = (k(x, d_1), ..., k(x, d_m)) and e = y - f(x). b is `forgetting` and l
    is `ridge`. E (m, m) is a matrix, and c the noise of the sample, with c = b l at first. For each
    sample:

    1. z = E h, r = c + k(x, x) - h'z, u = a^2 + q c, t = (-z, 1).
    2. w <- a ((w, 0) + t e / r) and E <- (a^2 / u) ([[E, 0], [0, 0]] + t t' / r).
    3. c <- b c / u, or after the first sample c <- b^3 l / (a^2 b + l q).

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="median"
        {gamma}
    transition : float in [0.1, 1], default=1.0
        Factor a on f between two samples. Values below 1 let f return to the intercept. Larger
        values keep more of f.
    forgetting : float in [0.1, 1], default=1.0
        Factor b on the noise of a sample, compared with that of the sample before. Smaller values
        trust newer samples more. Without `state_noise`, values below 1 let f fit the newest samples
        almost exactly after some time.
    ridge : float in [1e-6, 1e20], default=0.1
        Noise l of the first sample, compared with the signal. Larger values make f smoother.
    state_noise : float in [0, 1e20], default=0.001
        Variance q of the change of f between two samples. Larger values follow a changing function
        faster and average over fewer samples. With q > 0 and `forgetting` 1, the noise c falls like
        1 / (q t) with the number t of samples, so on long streams f follows the noise more and
        more. `KRLSTRegressor` does not do this.
    budget : int or None, default=300
        Maximum number of centres B. When it is exceeded, the oldest centre is removed, as if its
        sample had never been seen. None means no limit. Larger budgets use more samples and cost
        more time per sample. About 4 B^2 bytes are reserved at the first sample.
        With the default and 10 features, the model takes 0.44 MB.
    fit_intercept : bool, default=True
        {mean_intercept}
        Here it changes only during the first 16 samples.
    n_passes : int, default=1
        {n_passes}

    Attributes
    ----------
    {centers_}
    {outputs_}
    {fitted_}

    Notes
    -----
    In the paper, learning ends when the memory is full. The removal of the oldest sample is ours.
    The paper writes c as b^i rho, and b^i underflows on long streams. Here c itself is stored, and
    at least 1e-6 k(x, x) is used, because rounding errors would exceed a smaller noise.

    The noise of a sample of weight v is c / v. A sample of weight 0 changes nothing. Models of this
    kind cannot be merged or compressed, but `set_budget` evicts centres.
    ``published(EXKRLSRegressor)`` is the algorithm of the paper.

    References
    ----------
    W. Liu, I. Park, Y. Wang, J. C. Principe, *Extended kernel recursive least squares algorithm*,
    IEEE Transactions on Signal Processing 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import EXKRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(1000, 1))
    >>> y = np.sin(X[:, 0]) * np.where(np.arange(1000) < 500, 1, -1)
    >>> model = EXKRLSRegressor("gaussian", gamma=0.5, state_noise=0.01, budget=100)
    >>> error = y - model.predict_then_learn(X, y)
    >>> [f"{(error[part]**2).mean():.3f}" for part in (slice(400, 500), slice(900, 1000))]
    ['0.000', '0.000']
    """

    _algorithm = staticmethod(algorithms.exkrls)

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "median",
        transition: float = 1.0,
        forgetting: float = 1.0,
        ridge: float = 0.1,
        state_noise: float = 1e-3,
        budget: int | None = 300,
        fit_intercept: bool = True,
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.transition = transition
        self.forgetting = forgetting
        self.ridge = ridge
        self.state_noise = state_noise
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
