"""Kernel recursive least squares."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from parsimon import _schema, algorithms, kernels, updates
from parsimon._docs import documented
from parsimon._parts import lookup
from parsimon.estimators.base import Array
from parsimon.estimators.evidence import likely_ridge
from parsimon.estimators.regressor import regression_targets
from parsimon.estimators.variance import VarianceRegressor
from parsimon.updates.rls import LEAST_RIDGE, MOST_RIDGE

__all__ = ["KRLSRegressor"]

#: The ridge "auto" where it cannot be estimated.
USUAL_RIDGE = 0.2


@documented
class KRLSRegressor(VarianceRegressor):
    """Kernel recursive least squares.

    After every sample, f is the least-squares fit over the current centres. The cost is O(m^2) per
    sample, with m centres.

    There are two admission rules, each with its own recursion:

    - "ald": x is admitted if the squared distance of k(x, .) from the span of the centres is
      greater than nu (`tolerance`). The recursion solves for the values of f at the centres. Every
      sample, admitted or not, is represented in the span.
    - "coherence": x is admitted if its coherence with every centre is at most mu0 (`coherence`).
      The recursion solves for the weights. For a sample seen before a centre was admitted, the
      kernel value with this centre counts as 0. This rule is cheaper, because no Gram matrix is
      factored.

    The covariance of these values or weights is stored as a triangular factor, so it stays positive
    definite on streams of any length.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="median"
        {gamma}
    admission : "ald" or "coherence", default="ald"
        Rule by which samples become centres: approximate linear dependence or coherence.
    tolerance : float >= 0, default=0.01
        {dependence_tolerance}
        Only for admission "ald".
    coherence : float in [0, 1], default=0.5
        Threshold mu0: largest coherence at which a sample is admitted. Larger values admit more
        centres. Only for admission "coherence".
    ridge : float >= 0 or "auto", default="auto"
        Factor of the penalty. Larger values shrink f more. With the penalty "norm" it is the ratio
        of the variances of noise and signal, and "auto" estimates it: of 17 values, it is the one
        under which the targets of the first block are most likely, as in a Gaussian process. At
        most 300 rows of the block are used. If it has fewer than 30 rows, or with the penalty
        "values", "auto" is 0.2. It is also 0.2 if the first call is `predict_then_learn`, because
        no prediction may depend on later targets. The algorithm of Engel et al. has ridge 0 and
        admission "ald".
    penalty : "auto", "values" or "norm", default="auto"
        The term that is multiplied by `ridge`. "values": the sum of the squared values at the
        centres; for admission "coherence", the sum of the squared weights. "norm": ||f||^2, as in
        kernel ridge regression and in Gaussian processes with noise. "norm" needs a ridge above 0
        and admission "ald". It does not fit the noise of admitted samples, so it is the better
        choice if many samples are admitted. "auto" is "norm" where that is possible.
    forgetting : float in [0.1, 1], default=1.0
        Factor by which the weight of a sample decreases with every later sample. Smaller values
        follow a changing system faster and average over fewer samples. Where no samples arrive for
        long, f keeps its value and becomes uncertain (anti-windup, see `parsimon.updates.SpanRLS`).
    budget : int or None, default=500
        Maximum number of centres B. When it is exceeded, the centre whose removal increases the
        squared error least is evicted, see `eviction`. None means no limit. Larger budgets can fit
        more detail and cost more time per sample. About 8 B^2 bytes ("ald") or 4 B^2 bytes
        ("coherence") are reserved at the first sample.
        With the default and 10 features, the model takes 2.3 MB.
    eviction : "auto", "refit" or "project", default="auto"
        How the other centres take over from an evicted centre. Used only with a budget. "auto" is
        "project" for admission "ald", else "refit".

        "refit": the other weights move to the least-squares fit without this centre. Choose the
        tolerance so that the budget is rarely exceeded. If nearly every sample is admitted and
        evicts another centre, errors accumulate.

        "project": f keeps its values at the other centres, and what was learned about the evicted
        value is forgotten. At the budget, a sample replaces a centre only if its error is large
        enough. The tolerance then matters less. A sample that replaces a centre takes more time
        than with "refit", other samples take less. Needs admission "ald".
    fit_intercept : bool, default=True
        {mean_intercept}
    n_passes : int, default=1
        {n_passes}

    Attributes
    ----------
    ridge_ : float
        The factor of the penalty that is used: `ridge`, or its estimate.
    noise_ : float or array (C,)
        Variance of the noise of the targets, estimated from prediction errors. It is infinite until
        a sample was learned that is not fitted exactly.
    {centers_}
    {outputs_}
    {fitted_}

    Notes
    -----
    With P the covariance matrix of the weights in units of the noise variance, and h the kernel
    values of x with the centres, ``predict(X, return_std=True)`` returns the square root of

        noise_ (1 + h'P h + r),

    the variance of a new observation at x. With the penalty "norm", r is the distance of k(x, .) to
    the span of the centres, squared and divided by `ridge_`: the variance grows away from the
    centres, as that of a Gaussian process. With the penalty "values", r is 0.

    `sample_weight` is a factor on the squared error of the sample. A sample of weight 0 changes
    nothing. ``published(KRLSRegressor)`` is the algorithm of Engel et al.: without a ridge, f fits
    every admitted sample exactly, so it is for targets without noise.

    References
    ----------
    Y. Engel, S. Mannor, R. Meir, *The kernel recursive least-squares algorithm*, IEEE Transactions
    on Signal Processing 2004.

    C. Richard, J. C. M. Bermudez, P. Honeine, *Online prediction of time series data with kernels*,
    IEEE Transactions on Signal Processing 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> model = KRLSRegressor("gaussian", tolerance=1e-3).fit(X, np.sin(X[:, 0]))
    >>> bool(model.n_centers_ < 20), bool(model.score(X, np.sin(X[:, 0])) > 0.999)
    (True, True)
    """

    _algorithm = staticmethod(algorithms.krls)
    _likely_ridge: float
    _attributes = VarianceRegressor._attributes.extended(
        allowed={"_likely_ridge": _schema.number(LEAST_RIDGE, MOST_RIDGE)}
    )

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "median",
        admission: str = "ald",
        tolerance: float = 0.01,
        coherence: float = 0.5,
        ridge: float | str = "auto",
        penalty: str = "auto",
        forgetting: float = 1.0,
        budget: int | None = 500,
        eviction: str = "auto",
        fit_intercept: bool = True,
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.admission = admission
        self.tolerance = tolerance
        self.coherence = coherence
        self.ridge = ridge
        self.penalty = penalty
        self.forgetting = forgetting
        self.budget = budget
        self.eviction = eviction
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes

    @property
    def ridge_(self) -> float:
        """The factor of the penalty."""
        self._fitted()
        return float(self._ridge(self._learns_with))

    # Implementation

    def _ridge(self, params: dict[str, Any]) -> Any:
        ridge = params["ridge"]
        if isinstance(ridge, str):
            return getattr(self, "_likely_ridge", lookup({"auto": USUAL_RIDGE}, ridge, "ridge"))
        return ridge

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**super()._options(params), "ridge": self._ridge(params)}

    def _estimate(self, X: Array, Y: Array, weights: Array | None) -> None:
        self.__dict__.pop("_likely_ridge", None)
        found = self._estimated_ridge(self.kernel_, X, Y, weights)
        if found is not None:
            self._likely_ridge = found

    def _estimated_ridge(
        self, kernel: kernels.Kernel, X: Array, Y: Array, weights: Array | None
    ) -> float | None:
        """Return the ridge for a first block, or None if it is not estimated."""
        if not isinstance(self.ridge, str):
            return None
        update = self._algorithm(kernel, **self._options(self.get_params(deep=False))).update
        if not isinstance(update, updates.NormRLS):
            return None
        return likely_ridge(kernel, X, Y, weights, fit_intercept=bool(self.fit_intercept))

    def _settled_on(self, X: Array, y: ArrayLike) -> dict[str, Any]:
        settled = super()._settled_on(X, y)
        if isinstance(self.ridge, str):
            Y = regression_targets(y, len(X)).reshape(len(X), -1)
            found = self._estimated_ridge(settled["kernel"], X, Y, None)
            settled["ridge"] = USUAL_RIDGE if found is None else found
        return settled

    def _unsettle(self, given: Self) -> None:
        super()._unsettle(given)
        if isinstance(given.ridge, str):
            self._likely_ridge = self.ridge_
            for own in (self.__dict__, self._learns_with):
                own.update(ridge=given.ridge)
