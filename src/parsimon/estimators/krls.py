"""Kernel recursive least squares."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["KRLSRegressor"]


class KRLSRegressor(StreamRegressor):
    """Kernel recursive least squares: after every sample the least-squares fit over its dictionary,
    O(m^2) a sample.

    Two ways to choose the centres, and with them two recursions:

    - admission "ald": x is admitted if k(x, .) lies farther than nu (squared) from the span of the
      centres. Least squares in the values at the centres; every sample, admitted or not, is
      represented in the span.
    - admission "coherence": x is admitted if its coherence is at most mu0. Least squares in the
      weights; rows seen before a centre entered count as zero in its column. The cheaper of the
      two: no Gram matrix is factored.

    The covariance is held as a triangular factor, which keeps it positive definite however long the
    stream.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    admission : "ald" or "coherence", default="ald"
    tolerance : float >= 0, default=0.01
        nu, a squared norm; for admission "ald".
    coherence : float in [0, 1], default=0.5
        mu0; for admission "coherence".
    ridge : float >= 0, default=0.0
        The ridge of the least-squares problem: a penalty on the squared values at the centres
        ("ald") or on the squared weights ("coherence"). 0 with "ald" is Engel's algorithm.
    forgetting : float in [0.1, 1], default=1.0
        The factor by which the weight of a sample falls with every later one. Below 1 the filter
        tracks a changing system. Anti-windup: where nothing is seen for long the filter holds the
        value it has, and knows that it may be wrong (see `parsimon.updates.SpanRLS`); elsewhere it
        forgets exponentially.
    budget : int or None, default=None
        The most centres held, B. Beyond it the centre leaves without which the squared error rises
        least, and the weights of the others move to the least-squares fit without it. Let the
        tolerance be such that the budget is rarely needed: if nearly every sample is admitted and
        another evicted, each admitted value is fitted exactly, noise and all. The memory, about 8
        B^2 bytes ("ald") or 4 B^2 ("coherence"), is taken at the first sample.
    n_passes : int, default=1
        Passes over the data in `fit`.

    Attributes
    ----------
    centers_, weights_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.

    Notes
    -----
    `sample_weight` is a factor on the sample's squared error; a sample of weight 0 changes nothing.

    References
    ----------
    Y. Engel, S. Mannor, R. Meir, *The kernel recursive least-squares algorithm*, IEEE Transactions
    on Signal Processing 2004. C. Richard, J. C. M. Bermudez, P. Honeine, *Online prediction of time
    series data with kernels*, IEEE Transactions on Signal Processing 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> model = KRLSRegressor(gamma=1.0, tolerance=1e-3).fit(X, np.sin(X[:, 0]))
    >>> model.n_centers_, bool(model.score(X, np.sin(X[:, 0])) > 0.9999)
    (15, True)
    """

    _algorithm = staticmethod(algorithms.krls)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        admission: str = "ald",
        tolerance: float = 0.01,
        coherence: float = 0.5,
        ridge: float = 0.0,
        forgetting: float = 1.0,
        budget: int | None = None,
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.admission = admission
        self.tolerance = tolerance
        self.coherence = coherence
        self.ridge = ridge
        self.forgetting = forgetting
        self.budget = budget
        self.n_passes = n_passes
