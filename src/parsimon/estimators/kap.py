"""Kernel affine projection."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon._docs import documented
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["KAPRegressor"]


@documented
class KAPRegressor(StreamRegressor):
    """Kernel affine projection with the coherence criterion.

    Each step fits the last p samples together (p is `order`). On correlated inputs, such as lags of
    a time series, it converges faster than `KNLMSRegressor`. The cost is O(p^2 m) per sample, with
    m centres.

    The model is f(x) = sum_j w_j k(d_j, x), with centres d_j and weights w. Let H (p, m) be the
    kernel values of the last p samples with the centres, y (p,) the targets of these samples, and I
    the identity. mu0 is `coherence`, eta is `step_size` and eps is `ridge`. For each sample:

    1. x is admitted as a centre with weight 0 if its coherence with every centre is at most mu0.
    2. All weights change: w <- w + eta H'(eps I + H H')^-1 (y - H w).

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    step_size : float in (0, 2), default=0.1
        Learning rate eta. Larger values adapt faster and leave more noise in f.
    order : int from 1 to 64, default=3
        Number of recent samples p in a step. 1 is `KNLMSRegressor`. Larger values converge faster
        on correlated inputs, cost more, and amplify noise where the samples are nearly alike.
    coherence : float in [0, 1], default=0.5
        Threshold mu0: largest coherence at which a sample is admitted. Larger values admit more
        centres.
    ridge : float >= 0, default=0.1
        Ridge eps on H H'. Larger values make shorter steps where recent samples are nearly alike.
        With 0, a sample is left out if its kernel row is, up to rounding, a combination of newer
        rows.
    budget : int or None, default=300
        {budget}
        This takes about 8 B (d + C + p + 4) bytes, and 4 B^2 more with "least_cost" for a
        triangular factor of the inverse Gram matrix.
        With the default and 10 features, the model takes 0.53 MB.
    compression : "least_cost" or "oldest", default="least_cost"
        {evicted}
    fit_intercept : bool, default=True
        {mean_intercept}
    n_passes : int, default=5
        {n_passes}
    shuffle : bool, default=True
        {shuffle}
    random_state : int or None, default=None
        {random_state}

    Attributes
    ----------
    {centers_}
    {outputs_}
    {fitted_}

    Notes
    -----
    KAP is for signals that arrive fast, like KNLMS. On data sets other estimators are more
    accurate. A sample of weight v removes the share 1 - (1 - eta)^v of the recent errors. A sample
    of weight 0 changes nothing and does not become a recent sample. ``published(KAPRegressor)`` is
    the algorithm of the paper.

    The recent samples are part of the model and of its file. A merged or compressed model begins
    without recent samples.

    References
    ----------
    C. Richard, J. C. M. Bermudez, P. Honeine, *Online prediction of time series data with kernels*,
    IEEE Transactions on Signal Processing 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KAPRegressor, KNLMSRegressor
    >>> t = np.arange(1003)
    >>> series = np.sin(0.3 * t) * np.cos(0.11 * t)
    >>> X, y = np.lib.stride_tricks.sliding_window_view(series[:-1], 3), series[3:]
    >>> options = {"coherence": 0.9, "step_size": 0.2}
    >>> for model in (KNLMSRegressor(**options), KAPRegressor(**options)):
    ...     error = y - model.set_params(gamma=1.0).predict_then_learn(X, y)
    ...     print(f"{(error**2).mean():.3f}")
    0.029
    0.014
    """

    _algorithm = staticmethod(algorithms.kap)

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.1,
        order: int = 3,
        coherence: float = 0.5,
        ridge: float = 0.1,
        budget: int | None = 300,
        compression: str = "least_cost",
        fit_intercept: bool = True,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.order = order
        self.coherence = coherence
        self.ridge = ridge
        self.budget = budget
        self.compression = compression
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
