"""Kernel normalised least mean squares."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["KNLMSRegressor"]


class KNLMSRegressor(StreamRegressor):
    r"""Kernel normalised LMS with the coherence criterion: O(m) a sample, the filter to try first.

    The model f(x) = sum_j w_j k(d_j, x) sees one sample (x, y) at a time. With h the kernel values
    of x against the centres:

    1. x becomes a centre of weight 0 if max_j \|h_j\| <= mu0 (for kernels with k(x, x) = 1; else h
       is divided by the norms);
    2. w <- w + rho / (eps + \|\|h\|\|^2) h (y - f(x)).

    Parameters
    ----------
    kernel : str or Kernel or callable, default="gaussian"
        A name ("gaussian" or "rbf", "laplacian", "matern32", "matern52", "rational_quadratic",
        "cauchy", "polynomial", "linear"), an object of `parsimon.kernels`, or a function of two
        points.
    gamma : float or "scale" or "median", default="scale"
        Width of a kernel given by name: exp(-gamma r^2) for the Gaussian, see `parsimon.kernels`
        for the others. "scale" and "median" are measured on the first block, so let that be a
        typical one, or give a number. Where learning begins with a single row there is nothing to
        measure, and gamma is 1 / d: right for standardised features.
    step_size : float in (0, 2), default=0.2
        rho.
    coherence : float in [0, 1], default=0.5
        mu0: the largest coherence at which a sample is admitted. Larger means more centres.
    ridge : float >= 0, default=0.0
        eps in the denominator.
    budget : int or None, default=None
        The most centres held, B. None: as many as the coherence admits. The memory is taken at the
        first sample: about 8 B (d + C + 4) bytes, and with "least_cost" 4 B^2 more for the factor
        of the Gram matrix.
    compression : "least_cost" or "oldest", default="least_cost"
        Which centre leaves beyond the budget: the one whose removal changes the function least (its
        part taken over by the others; O(m^2)), or the oldest.
    n_passes : int, default=1
        Passes over the data in `fit`; `partial_fit` makes one.

    Attributes
    ----------
    centers_ : ndarray (m, d)
    weights_ : ndarray (m,) or (m, C)
    n_centers_, n_samples_seen_, nbytes_ : int
    kernel_ : Kernel
        The kernel in use, `gamma` resolved.
    n_features_in_ : int

    Notes
    -----
    The model has no intercept: centre y, and standardise X if its columns differ in scale. Targets
    beyond 1e100 and points with k(x, x) beyond 1e80 are refused.

    `sample_weight` is a factor on the sample's step: rho becomes weight rho, which must stay below
    2. A sample of weight 0 changes nothing.

    The paper's Case 2 admits at coherence equal to mu0, and so does this; an exact copy of a centre
    is never admitted. The paper has eps = 0, as the default here.

    References
    ----------
    P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    Examples
    --------
    >>> from parsimon import KNLMSRegressor
    >>> from parsimon.datasets import make_honeine_system
    >>> X, y = make_honeine_system(4000, random_state=0)
    >>> model = KNLMSRegressor(gamma=50.0, step_size=0.09, coherence=0.3).fit(X[:3000], y[:3000])
    >>> model.n_centers_
    14
    >>> error = y[3000:] - model.predict(X[3000:])
    >>> print(f"{(error**2).mean():.4f}")  # the noise alone has variance 0.01
    0.0107
    """

    _algorithm = staticmethod(algorithms.knlms)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.2,
        coherence: float = 0.5,
        ridge: float = 0.0,
        budget: int | None = None,
        compression: str = "least_cost",
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.coherence = coherence
        self.ridge = ridge
        self.budget = budget
        self.compression = compression
        self.n_passes = n_passes
