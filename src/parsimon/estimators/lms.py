"""Kernel least mean squares, plain and quantised, and NORMA."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon._docs import documented
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["KLMSRegressor", "NORMARegressor"]


@documented
class KLMSRegressor(StreamRegressor):
    """Kernel least mean squares, plain or quantised (QKLMS).

    This is the simplest kernel filter. With e = y - f(x), each sample (x, y) makes the step

        f <- f + eta e k(x, .),

    where eta is `step_size`.

    If there is a centre within the distance `quantization` of x, the step changes the weight of the
    nearest centre instead. The dictionary then stays finite on a bounded set.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    step_size : float > 0, default=0.25
        {squared_step_size}
    quantization : float >= 0, default=0.0
        Radius, in the units of X. A sample is admitted only if no centre is within this radius.
        Larger values admit fewer centres. With 0 every sample is admitted; the weights of exact
        copies are added. At a budget, with compression "least_cost", a step for a sample in the
        span of the centres, up to rounding, is projected onto them.
    budget : int or None, default=300
        {budget}
        With the default and 10 features, the model takes 0.52 MB.
    compression : "least_cost" or "oldest", default="least_cost"
        {evicted}
    step : "invariant" or "explicit", default="invariant"
        {step}
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
    A sample of weight 2 counts as two samples (step "invariant", with `quantization` 0), or takes a
    step of twice the length ("explicit"). A sample of weight 0 changes nothing. ``published(
    KLMSRegressor)`` is the algorithm of the paper.

    References
    ----------
    W. Liu, P. Pokharel, J. Principe, *The kernel least-mean-square algorithm*, IEEE Transactions on
    Signal Processing 2008.

    B. Chen, S. Zhao, P. Zhu, J. Principe, *Quantized kernel least mean square algorithm*, IEEE
    Transactions on Neural Networks and Learning Systems 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KLMSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = KLMSRegressor(gamma=1.0, quantization=0.3, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.n_centers_ < 20), bool(model.score(X, np.sin(X[:, 0])) > 0.98)
    (True, True)
    """

    _algorithm = staticmethod(algorithms.klms)

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.25,
        quantization: float = 0.0,
        budget: int | None = 300,
        compression: str = "least_cost",
        step: str = "invariant",
        fit_intercept: bool = True,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.quantization = quantization
        self.budget = budget
        self.compression = compression
        self.step = step
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state


@documented
class NORMARegressor(StreamRegressor):
    """NORMA: regularised gradient descent in function space with a sliding window of centres.

    With e = y - f(x), each sample (x, y) makes the step

        f <- (1 - eta lambda) f + eta e k(x, .),

    where eta is `step_size` and lambda is `alpha`. Every sample is admitted. When the budget is
    exceeded, the oldest centre is dropped. By then its weight has shrunk by the factor (1 - eta
    lambda)^budget.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    step_size : float > 0, default=0.25
        {squared_step_size}
    alpha : float >= 0, default=1e-4
        {alpha}
    budget : int or None, default=300
        {budget}
        With the default and 10 features, the model takes 0.52 MB.
    compression : "oldest" or "least_cost", default="least_cost"
        {evicted}
    step : "invariant" or "explicit", default="invariant"
        {step}
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
    A sample of weight 2 counts as two samples (step "invariant"), or takes a step of twice the
    length ("explicit"). A sample of weight 0 only shrinks the other weights.
    ``published(NORMARegressor)`` is the algorithm of the paper, which drops its oldest centre.

    References
    ----------
    J. Kivinen, A. Smola, R. Williamson, *Online learning with kernels*, IEEE Transactions on Signal
    Processing 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import NORMARegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = NORMARegressor(gamma=1.0, step_size=0.5, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.n_centers_, bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    (300, True)
    """

    _algorithm = staticmethod(algorithms.norma)

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.25,
        alpha: float = 1e-4,
        budget: int | None = 300,
        compression: str = "least_cost",
        step: str = "invariant",
        fit_intercept: bool = True,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.alpha = alpha
        self.budget = budget
        self.compression = compression
        self.step = step
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
