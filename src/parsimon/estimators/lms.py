"""Kernel least mean squares, plain and quantised, and NORMA."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["KLMSRegressor", "NORMARegressor"]


class KLMSRegressor(StreamRegressor):
    """Kernel LMS: the simplest of the kernel filters, quantised where asked.

    With e = y - f(x), f <- f + eta e k(x, .). Where `quantization` is > 0 and a centre lies within
    that distance of x, the step goes to the weight of the nearest centre instead, and the
    dictionary stays finite on a bounded set (QKLMS).

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    step_size : float > 0, default=0.2
        eta. Learning is stable for eta < 2 / k(x, x), which is checked.
    quantization : float >= 0, default=0.0
        The radius, in the units of X. 0 is plain KLMS: every sample becomes a centre, but for exact
        copies, whose weights add up.
    budget : int or None, default=None
        The most centres held.
    compression : "least_cost" or "oldest", default="least_cost"
        Which centre leaves beyond the budget.
    n_passes : int, default=1
        Passes over the data in `fit`.

    Attributes
    ----------
    centers_, weights_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.

    Notes
    -----
    `sample_weight` is a factor on the sample's gradient, so on its step eta e; weight eta k(x, x)
    must stay below 2. A sample of weight 0 changes nothing.

    References
    ----------
    W. Liu, P. Pokharel, J. Principe, *The kernel least-mean-square algorithm*, IEEE Transactions on
    Signal Processing 2008. B. Chen, S. Zhao, P. Zhu, J. Principe, *Quantized kernel least mean
    square algorithm*, IEEE Transactions on Neural Networks and Learning Systems 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KLMSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = KLMSRegressor(gamma=1.0, step_size=0.5, quantization=0.3).fit(X, np.sin(X[:, 0]))
    >>> model.n_centers_, bool(model.score(X, np.sin(X[:, 0])) > 0.98)
    (13, True)
    """

    _algorithm = staticmethod(algorithms.klms)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.2,
        quantization: float = 0.0,
        budget: int | None = None,
        compression: str = "least_cost",
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.quantization = quantization
        self.budget = budget
        self.compression = compression
        self.n_passes = n_passes


class NORMARegressor(StreamRegressor):
    """NORMA: regularised gradient descent in function space that forgets its oldest terms.

    With e = y - f(x), f <- (1 - eta lambda) f + eta e k(x, .). Every sample becomes a centre;
    beyond the budget the oldest leaves, whose weight has shrunk by (1 - eta lambda)^budget by then.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    step_size : float > 0, default=0.2
        eta. Learning is stable for eta < 2 / k(x, x), which is checked.
    alpha : float >= 0, default=0.01
        lambda, the ridge penalty; eta lambda < 1.
    budget : int or None, default=300
        The most centres held.
    compression : "oldest" or "least_cost", default="oldest"
        Which centre leaves beyond the budget.
    n_passes : int, default=1
        Passes over the data in `fit`.

    Attributes
    ----------
    centers_, weights_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.

    Notes
    -----
    `sample_weight` is a factor on the sample's gradient, so on its step eta e; weight eta k(x, x)
    must stay below 2. A sample of weight 0 only lets the others shrink.

    References
    ----------
    J. Kivinen, A. Smola, R. Williamson, *Online learning with kernels*, IEEE Transactions on Signal
    Processing 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import NORMARegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = NORMARegressor(gamma=1.0, step_size=0.5).fit(X, np.sin(X[:, 0]))
    >>> model.n_centers_, bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    (300, True)
    """

    _algorithm = staticmethod(algorithms.norma)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.2,
        alpha: float = 0.01,
        budget: int | None = 300,
        compression: str = "oldest",
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.alpha = alpha
        self.budget = budget
        self.compression = compression
        self.n_passes = n_passes
