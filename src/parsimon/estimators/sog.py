"""Sparse online greedy support vector machines."""

from __future__ import annotations

from typing import Any, Self

from parsimon import algorithms, kernels, losses
from parsimon._docs import documented
from parsimon._parts import real, whole
from parsimon.estimators.base import Array, StreamEstimator
from parsimon.estimators.classifier import StreamClassifier
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["SOGSVC", "SOGSVR"]


class _SOG(StreamEstimator):
    _algorithm = staticmethod(algorithms.sog)
    _loss_part: losses.Loss
    bias: float

    def ascend(self, n_steps: int = 1) -> Self:
        """Take further steps on the samples seen so far.

        The samples themselves are not needed. The model stores A'A, A'y and A'e, where row t of A
        has the coefficients that express sample t by the m centres, y are the targets and e is a
        vector of ones. Each step costs O(m^2).
        """
        learner = self._fitted()
        left = whole("n_steps", n_steps, at_least=0)
        while left > 0:  # a few at a time, so that Ctrl-C can interrupt
            learner.climb(min(left, 100))
            left -= 100
        return self

    @property
    def dual_value_(self) -> Any:
        """The reduced dual, equation (4.18) of the paper, one number per output.

        It never decreases while no new samples are learned.
        """
        return self._in_order(self._fitted().dual()["value"][None])[0]

    @property
    def dual_residual_(self) -> Array:
        """A'(y - A v), (m,) or (m, C). Without a box, it is zero at the fixed point.

        Row t of A has the coefficients that express sample t by the m centres, y are the targets,
        and v the values of f at the centres.
        """
        return self._in_order(self._fitted().dual()["residual"])

    def _resolve_kernel(self, X: Array) -> kernels.Kernel:
        bias = real("bias", self.bias, at_least=0, at_most=1e40)
        kernel = super()._resolve_kernel(X)
        if bias == 0:
            return kernel
        offset = kernels.Constant(bias * bias)
        if isinstance(kernel, kernels.SinglePrecision):
            return kernel.around(kernel.inner + offset)
        return kernel + offset

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**super()._options(params), "loss": self._loss_part}


@documented
class SOGSVR(StreamRegressor, _SOG):
    """Sparse online greedy support vector regression.

    A sample is admitted if the squared distance of k(x, .) from the span of the centres is greater
    than nu (`tolerance`). Every sample t is written as a combination of the centres. Let row t of A
    hold its coefficients a_t. Let y be the targets, e a vector of ones, and v (m,) the values of f
    at the centres. Then A v are the values at the samples. The model stores A'A, A'y and A'e, whose
    size depends only on the number of centres m. Each step moves the reduced dual variables alpha
    and alpha* (m,):

        alpha* += eta/2 A'(y - A v - epsilon e),    alpha -= eta/2 A'(y - A v + epsilon e),

        f(x) = sum_j (alpha*_j - alpha_j) k(d_j, x),

    where d_j are the centres, and the step length eta is optimal in the sense of `step`. The cost
    is O(m^2) per sample and output. Admission depends only on X, not on y.

    The difference alpha* - alpha moves by eta A'(y - A v). So **without a box, epsilon does not
    affect f**, only alpha and alpha*. f then converges to the solution of A'(y - A v) = 0, which is
    the least-squares fit in the span of the centres. With a box, f converges to the maximum of the
    reduced dual in the box.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="median"
        {gamma}
    bias : float >= 0, default=0.1
        {bias}
    epsilon : float >= 0, default=0.1
        Half width of the insensitive zone. Without a box, epsilon changes no prediction: larger
        values only make alpha and alpha* decrease faster. With a box, it moves both towards the
        lower limit, -box.
    tolerance : float >= 0, default=0.1
        {dependence_tolerance}
    step : "error" or "dual", default="error"
        {dual_step}
    ridge : float >= 0, default=0.0
        {coefficient_ridge}
    box : float > 0 or None, default=None
        Limit of the dual variables, -box <= alpha, alpha* <= box (box is C in (4.22)). Smaller
        values regularise f more. None means no box. The paper says that maintaining the box seems
        to be unnecessary.
    budget : int or None, default=500
        {fixed_budget}
        With the default and 10 features, the model takes 4.4 MB.
    fit_intercept : bool, default=True
        {mean_intercept}
    n_passes : int, default=1
        {n_passes}
        Each pass adds every sample to A'A, A'y and A'e again.

    Attributes
    ----------
    {centers_}
    {outputs_}
    {fitted_}
    alpha_ : ndarray of shape (m,) or (m, C)
        Reduced dual variables alpha.
    alpha_star_ : ndarray of shape (m,) or (m, C)
        Reduced dual variables alpha*; `weights_` is alpha* - alpha.
    dual_value_ : float or ndarray of shape (C,)
        Reduced dual, equation (4.18) of the paper.
    dual_residual_ : ndarray of shape (m,) or (m, C)
        A'(y - A v).

    Notes
    -----
    Only the dictionary regularises f. With more passes or further steps (`ascend`) f approaches
    plain least squares over the centres. ``published(SOGSVR)`` is the algorithm of the paper.

    `sample_weight` is a factor on the contribution of the sample to A'A, A'y and A'e. So it is a
    factor on the squared error of the sample.

    References
    ----------
    Y. Engel, S. Mannor, R. Meir, *Sparse online greedy support vector regression*, ECML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import SOGSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, size=(5000, 1))
    >>> f = np.sinc(X[:, 0] / np.pi)
    >>> y = f + 0.1 * rng.normal(size=5000)
    >>> model = SOGSVR("gaussian", gamma=1 / 18, tolerance=0.01).fit(X, y)
    >>> bool(model.n_centers_ <= 12), bool(np.mean((model.predict(X) - f) ** 2) < 1e-4)
    (True, True)
    """

    _loss_part = losses.Squared()

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "median",
        bias: float = 0.1,
        epsilon: float = 0.1,
        tolerance: float = 0.1,
        step: str = "error",
        ridge: float = 0.0,
        box: float | None = None,
        budget: int | None = 500,
        fit_intercept: bool = True,
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.bias = bias
        self.epsilon = epsilon
        self.tolerance = tolerance
        self.step = step
        self.ridge = ridge
        self.box = box
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes

    @property
    def alpha_(self) -> Array:
        """Reduced dual variables alpha, (m,) or (m, C)."""
        return self._outputs(self._fitted().dual()["alpha"])

    @property
    def alpha_star_(self) -> Array:
        """Reduced dual variables alpha*, (m,) or (m, C)."""
        return self._outputs(self._fitted().dual()["alpha_star"])


@documented
class SOGSVC(StreamClassifier, _SOG):
    """Sparse online greedy support vector classification.

    There is one function per class against the rest. All functions share one dictionary. A sample
    is admitted if the squared distance of k(x, .) from the span of the centres is greater than nu
    (`tolerance`). Admission depends only on X, not on the labels. The cost is O(m^2) per sample and
    class.

    Let y_i = 1 for the samples x_i of a class, and -1 for all others. The dual of the support
    vector machine without an offset, with signed variables beta_i = y_i alpha_i, is

        L = -beta'K beta / 2 + beta'y,    0 <= y_i beta_i <= c,    f(x) = sum_i beta_i k(x_i, x).

    K is the Gram matrix of all samples, and c bounds the dual variables alpha_i. Every sample is
    written as a combination of the m centres d_j. Then K = A K~ A', where row i of A has the
    coefficients of sample i, and K~ is the Gram matrix of the centres. With the reduced variables w
    = A'beta and targets t = y, L becomes

        L~ = -w'K~ w / 2 + w'Q A't,    Q = (A'A)^-1,    f(x) = sum_j w_j k(d_j, x),

    up to terms that A cannot represent. The bound y_i beta_i >= 0 makes the margin one-sided. A
    sample beyond its margin, y_i f(x_i) >= 1, has beta_i = 0, and its gradient t_i - f(x_i) points
    out of bounds. The projection of this gradient is zero, so the sample gets t_i = f(x_i). All
    other samples get t_i = y_i.

    Each sample moves w by eta A'(t - A v), where v are the values of f at the centres. The step
    length eta is optimal in the sense of `step`. L~ never decreases while no new samples are
    learned. The upper bound on y_i beta_i would need all of beta. It is replaced by a `box` on w.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern52"
        {kernel}
    gamma : float, "scale" or "median", default="median"
        {gamma}
    bias : float >= 0, default=0.1
        {bias}
    tolerance : float >= 0, default=0.01
        {dependence_tolerance}
    step : "error" or "dual", default="error"
        {dual_step}
    ridge : float >= 0, default=0.0
        {coefficient_ridge}
    box : float > 0 or None, default=None
        Bound on the weights, -box <= w <= box. Smaller values regularise f more. None means no box.
    budget : int or None, default=300
        {fixed_budget}
        With the default and 10 features, the model takes 1.7 MB.
    n_passes : int, default=1
        {n_passes}
        Each pass adds every sample to A'A and A't again.
    class_weight : dict {label: weight}, "balanced" or None, default=None
        {class_weight}
    shuffle : bool, default=True
        {shuffle}
    random_state : int or None, default=None
        {random_state}

    Attributes
    ----------
    {centers_}
    {class_outputs_}
    {fitted_}
    dual_value_ : ndarray of shape (C,)
        Reduced dual L~.
    dual_residual_ : ndarray of shape (m, C)
        A'(t - A v).

    Notes
    -----
    `sample_weight` is a factor on the contribution of the sample to A'A and A't.

    References
    ----------
    Y. Engel, S. Mannor, R. Meir, *Sparse online greedy support vector regression*, ECML 2002.
    Section 6 suggests a classifier, but does not derive one.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import SOGSVC
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = SOGSVC(gamma=1.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.n_centers_ <= 300)
    (True, True)
    """

    _loss_part = losses.SquaredHinge()

    def __init__(
        self,
        kernel: Any = "matern52",
        *,
        gamma: float | str = "median",
        bias: float = 0.1,
        tolerance: float = 0.01,
        step: str = "error",
        ridge: float = 0.0,
        box: float | None = None,
        budget: int | None = 300,
        n_passes: int = 1,
        class_weight: Any = None,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.bias = bias
        self.tolerance = tolerance
        self.step = step
        self.ridge = ridge
        self.box = box
        self.budget = budget
        self.n_passes = n_passes
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.random_state = random_state
