"""Kernel recursive least squares on a window of samples."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon._docs import documented
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["FBKRLSRegressor", "SWKRLSRegressor"]


class _Window(StreamRegressor):
    """The parameters of both filters."""

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "median",
        ridge: float = 0.1,
        budget: int | None = 300,
        fit_intercept: bool = True,
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.ridge = ridge
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes


@documented
class SWKRLSRegressor(_Window):
    """Sliding-window kernel recursive least squares: kernel ridge regression on the last samples.

    After every sample, f minimises

        sum_i v_i (y_i - f(x_i))^2 + c ||f||^2

    over the last M samples, with their weights v_i. So w = (K + c I)^-1 y for weights of 1, with
    the Gram matrix K of these samples. M is `budget` and c is `ridge`. Older samples have no
    effect. The cost is O(M^2) per sample.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="median"
        {gamma}
    ridge : float in [1e-6, 1e20], default=0.1
        Factor c of the penalty. Larger values make f smoother.
    budget : int or None, default=300
        Length M of the window. None means no limit. Larger windows average over more samples,
        follow changes more slowly, and cost more time per sample. About 4 M^2 bytes are reserved at
        the first sample.
        With the default and 10 features, the model takes 0.52 MB.
    fit_intercept : bool, default=True
        {mean_intercept}
    n_passes : int, default=1
        {n_passes}

    Attributes
    ----------
    {centers_}
    {outputs_}
    {fitted_}

    Notes
    -----
    Every sample enters the window, including copies of other samples. There is one exception, if
    the ridge is below 2e-5 k(x, x): a sample is left out where rounding makes it a combination of
    the others. `sample_weight` is a factor on the squared error of the sample. A sample of weight 0
    changes nothing and does not enter the window. A merged model treats w as the fit to the targets
    (K + c I) w. ``published(SWKRLSRegressor)`` is the algorithm of the paper.

    References
    ----------
    S. van Vaerenbergh, J. Via, I. Santamaria, *A sliding-window kernel RLS algorithm and its
    application to nonlinear channel identification*, ICASSP 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from parsimon import SWKRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> y = np.sin(X[:, 0])
    >>> model = SWKRLSRegressor("gaussian", gamma=0.5, budget=50, fit_intercept=False).fit(X, y)
    >>> last = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(X[-50:], y[-50:])
    >>> bool(np.abs(model.predict(X) - last.predict(X)).max() < 1e-10)
    True
    """

    _algorithm = staticmethod(algorithms.swkrls)


@documented
class FBKRLSRegressor(_Window):
    """Fixed-budget kernel recursive least squares: kernel ridge regression on selected samples.

    At most M samples are kept. After every sample, f minimises

        sum_i v_i (y_i - f(x_i))^2 + c ||f||^2

    over the samples kept, with their weights v_i. So w = (K + c I)^-1 y for weights of 1, with the
    Gram matrix K of these samples. M is `budget` and c is `ridge`. When there are M + 1 samples,
    the one that the others predict best is removed. The others predict sample i with the error
    w_i / P_ii, where P = (K + c I)^-1. The cost is O(M^2) per sample.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="median"
        {gamma}
    ridge : float in [1e-6, 1e20], default=0.1
        Factor c of the penalty. Larger values make f smoother.
    budget : int or None, default=300
        Number M of samples kept. None means no limit. Larger budgets can fit more detail and cost
        more time per sample. About 4 M^2 bytes are reserved at the first sample.
        With the default and 10 features, the model takes 0.52 MB.
    fit_intercept : bool, default=True
        {mean_intercept}
    n_passes : int, default=1
        {n_passes}

    Attributes
    ----------
    {centers_}
    {outputs_}
    {fitted_}

    Notes
    -----
    The rule keeps the samples with the largest errors, so it is for targets with little noise. The
    paper also lets the targets of stored samples adapt to new samples. That is left out here, as
    with the paper's step size of 0.

    `sample_weight` is a factor on the squared error of the sample. A sample of weight 0 changes
    nothing. A merged model treats w as the fit to the targets (K + c I) w.
    ``published(FBKRLSRegressor)`` is the algorithm of the paper.

    References
    ----------
    S. van Vaerenbergh, I. Santamaria, W. Liu, J. C. Principe, *Fixed-budget kernel recursive
    least-squares*, ICASSP 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import FBKRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> model = FBKRLSRegressor("gaussian", ridge=1e-3, budget=20).fit(X, np.sin(X[:, 0]))
    >>> model.n_centers_, bool(model.score(X, np.sin(X[:, 0])) > 0.999)
    (20, True)
    """

    _algorithm = staticmethod(algorithms.fbkrls)
