"""Kernel normalised least mean squares."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon._docs import documented
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["KNLMSRegressor"]


@documented
class KNLMSRegressor(StreamRegressor):
    """Kernel normalised least mean squares with the coherence criterion.

    The cost is O(m) per sample, with m centres. This is the filter to try first.

    The model is f(x) = sum_j w_j k(d_j, x), with centres d_j and weights w. For each sample (x, y),
    let h_j = k(x, d_j). mu0 is `coherence`, rho is `step_size` and eps is `ridge`.

    1. x is admitted as a centre with weight 0 if its coherence, max_j |h_j|, is at most mu0. For
       kernels with k(x, x) != 1, h_j is divided by sqrt(k(x, x) k(d_j, d_j)) in this test.
    2. All weights change: w <- w + rho / (eps + ||h||^2) h (y - f(x)).

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    step_size : float in (0, 2), default=0.2
        Learning rate rho. Larger values adapt faster and leave more noise in f.
    coherence : float in [0, 1], default=0.5
        Threshold mu0: largest coherence at which a sample is admitted. Larger values admit more
        centres.
    ridge : float >= 0, default=0.0
        eps in the denominator. Larger values make shorter steps where ||h|| is small.
    budget : int or None, default=300
        {budget}
        This takes about 8 B (d + C + 4) bytes, and 4 B^2 more with "least_cost" for a triangular
        factor of the inverse Gram matrix.
        With the default and 10 features, the model takes 0.52 MB.
    compression : "least_cost" or "oldest", default="least_cost"
        {evicted}
    fit_intercept : bool, default=True
        {mean_intercept}
    n_passes : int, default=10
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
    KNLMS is for signals that arrive fast: its cost is O(m) per sample, and it follows changes. On
    data sets it needs many passes, and other estimators are more accurate there. Standardise X if
    its columns differ in scale. Targets beyond 1e100 and points with k(x, x) beyond 1e80 raise an
    error.

    A sample of weight 2 takes two steps, and so on for any weight. A sample of weight 0 changes
    nothing. ``published(KNLMSRegressor)`` is the algorithm of the paper.

    As in Case 2 of the paper, a sample whose coherence equals mu0 is admitted. An exact copy of a
    centre is never admitted. The paper has eps = 0, which is the default here.

    References
    ----------
    P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    Examples
    --------
    >>> from parsimon import KNLMSRegressor
    >>> from parsimon.datasets import make_honeine_system
    >>> X, y = make_honeine_system(4000, random_state=0)
    >>> model = KNLMSRegressor("gaussian", gamma=50.0, step_size=0.09, coherence=0.3)
    >>> model.partial_fit(X[:3000], y[:3000]).n_centers_
    14
    >>> error = y[3000:] - model.predict(X[3000:])
    >>> print(f"{(error**2).mean():.4f}")  # the noise alone has variance 0.01
    0.0107
    """

    _algorithm = staticmethod(algorithms.knlms)

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.2,
        coherence: float = 0.5,
        ridge: float = 0.0,
        budget: int | None = 300,
        compression: str = "least_cost",
        fit_intercept: bool = True,
        n_passes: int = 10,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.coherence = coherence
        self.ridge = ridge
        self.budget = budget
        self.compression = compression
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
