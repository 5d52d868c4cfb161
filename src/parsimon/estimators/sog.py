"""Sparse online greedy support vector machines."""

from __future__ import annotations

from typing import Any, Self

from parsimon import algorithms, kernels, losses
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
        """Take further steps on what was seen, without it: A'A, A'y and A'e are all that a step
        needs. O(m^2) each.
        """
        learner = self._fitted()
        left = whole("n_steps", n_steps, at_least=0)
        while left > 0:  # a few at a time, so that Ctrl-C is heard
            learner.climb(min(left, 100))
            left -= 100
        return self

    @property
    def dual_value_(self) -> Any:
        """The reduced dual L (4.18), a number for each output.

        It never falls while nothing new is seen.
        """
        return self._each(self._fitted().dual()["value"][None])[0]

    @property
    def dual_residual_(self) -> Array:
        """A'(y - A f), (m,) or (m, C): zero at the fixed point without a box."""
        return self._each(self._fitted().dual()["residual"])

    def _each(self, values: Array) -> Array:
        """Return an array (n, C) in the order of the outputs as users see it."""
        raise NotImplementedError

    def _resolve_kernel(self, X: Array) -> kernels.Kernel:
        bias = real("bias", self.bias, at_least=0, at_most=1e40)
        kernel = super()._resolve_kernel(X)
        if bias == 0:
            return kernel
        offset = kernels.Constant(bias * bias)
        if isinstance(kernel, kernels.SinglePrecision):
            return kernels.SinglePrecision(kernel.inner + offset)
        return kernel + offset

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**super()._options(params), "loss": self._loss_part}


class SOGSVR(StreamRegressor, _SOG):
    """Sparse online greedy support vector regression: a dictionary by approximate linear
    dependence, and ascent on the dual reduced to it.

    A sample becomes a centre if the others cannot make it up to a squared error of nu; all others
    are written as combinations a_t of the centres. Of all that was seen, A'A, A'y and A'e are kept,
    m-dimensional images under A' (the matrix of the rows a_t). In each step the reduced dual
    variables move along

        alpha* += eta/2 A'(y - f - epsilon e),    alpha -= eta/2 A'(y - f + epsilon e),    f(x) = sum_j (alpha*_j - alpha_j) k(d_j, x)

    with a step eta of the best length. Then alpha* - alpha moves by eta A'(y - f): **without a box
    the insensitive zone cancels out of f**, which comes to rest where A'(y - f) = 0, least squares
    in the span of the centres; epsilon tells in alpha and alpha* alone. With a box f comes to rest
    at the maximum of the reduced dual in the box. Which samples become centres depends on X only,
    never on y. O(m^2) for each sample and output, whatever the number of samples.

    Nothing but the dictionary regularises f: the more passes or further steps (`ascend`), the
    nearer it is to plain least squares over the centres. There is a small offset only (`bias`):
    centre y, or let `bias` be large where y lies far from zero.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    bias : float >= 0, default=0.1
        lambda: the kernel used is k + lambda^2, which gives f a (regularised) offset.
    epsilon : float >= 0, default=0.1
        The insensitive zone. Without a box it changes no prediction, and only says how fast alpha
        and alpha* fall together, for as long as is learned; with one, it draws both towards -C.
    tolerance : float >= 0, default=0.01
        nu, a squared norm: smaller admits more centres.
    step : "error" or "dual", default="error"
        How long the steps are, which the paper leaves open: where the squared error on all that was
        seen is least, or where the dual is largest. The dual rises with both; the first fits far
        better on most data, the second copes better with weights of very different size. With a box
        the steps are those of "dual".
    ridge : float >= 0, default=0
        The paper's gamma: keeps the coefficients a_t small, at the price of more centres, and of a
        fit that is no longer quite least squares.
    box : float > 0 or None, default=None
        C of (4.22): -C <= alpha, alpha* <= C. In the paper's words maintaining it seems to be
        unnecessary.
    budget : int or None, default=None
        The most centres held; once there are so many, no further one is admitted. Centres never
        leave (and `set_budget` is not for this model).
    n_passes : int, default=1
        Passes over the data in `fit`. A sample counts once for each.

    A sample's weight is a factor on its row in A'A, A'y and A'e, which is to say on its squared
    error.

    Attributes
    ----------
    centers_, weights_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.
    alpha_, alpha_star_ : (m,) or (m, C)
        The reduced dual variables; weights_ is their difference.
    dual_value_ : float or (C,)
        The reduced dual.
    dual_residual_ : (m,) or (m, C)
        A'(y - f).

    References
    ----------
    Y. Engel, S. Mannor, R. Meir, *Sparse online greedy support vector regression*, ECML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import SOGSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, size=(5000, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=5000)
    >>> model = SOGSVR(gamma=1 / 18, epsilon=0.01).fit(X, y)
    >>> bool(model.n_centers_ <= 12), bool(np.mean((model.predict(X) - np.sinc(X[:, 0] / np.pi)) ** 2) < 1e-4)
    (True, True)
    """

    _loss_part = losses.Squared()

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        bias: float = 0.1,
        epsilon: float = 0.1,
        tolerance: float = 0.01,
        step: str = "error",
        ridge: float = 0.0,
        box: float | None = None,
        budget: int | None = None,
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
        self.n_passes = n_passes

    @property
    def alpha_(self) -> Array:
        """The reduced dual variables alpha, (m,) or (m, C)."""
        return self._outputs(self._fitted().dual()["alpha"])

    @property
    def alpha_star_(self) -> Array:
        """The reduced dual variables alpha*, (m,) or (m, C)."""
        return self._outputs(self._fitted().dual()["alpha_star"])

    def _each(self, values: Array) -> Array:
        return self._outputs(values)


class SOGSVC(StreamClassifier, _SOG):
    """Sparse online greedy support vector classification: one function for each class against the
    rest, over one dictionary.

    The dual of the support vector machine without a free offset, in the signed variables beta_i =
    y_i alpha_i, is

        L = -beta'K beta / 2 + beta'y,    0 <= y_i beta_i <= C,    f = K beta.

    With the samples written as combinations of the centres, K = A K~ A', the reduced variables w =
    A'beta are all that f and the first term know of, and L is, up to what A cannot see,

        L~ = -w'K~ w / 2 + w'Q A't,    Q = (A'A)^-1,    f(x) = sum_j w_j k(d_j, x),

    with t = y. The bound y_i beta_i >= 0 is what makes the margin one-sided: a sample beyond its
    margin, y_i f(x_i) >= 1, has beta_i = 0, and the gradient there, t_i - f(x_i), points out of
    bounds. So its projection is zero, and t_i = f(x_i) when it is seen; for all others t_i = y_i.
    As in `SOGSVR` each sample then moves w by eta A'(t - f) with a step of the best length, and L~
    never falls while nothing new is seen. The upper bound, which would need all of beta, gives way
    to a `box` on w.

    A'A does not depend on the labels: it is shared by all classes, as the dictionary is, and which
    samples become centres depends on X only.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    bias, step, ridge, budget, n_passes : as in `SOGSVR`.
    tolerance : float >= 0, default=0.1
        nu, a squared norm: smaller admits more centres.
    box : float > 0 or None, default=None
        -box <= w <= box.
    class_weight : dict {label: weight}, "balanced" or None, default=None
        A factor on the weight of each sample of a class; 1 for classes that it does not name.
        "balanced": n / (C n_c), measured by `fit` on its labels and kept by `partial_fit` after it.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass. `partial_fit` never does.
    random_state : int or None, default=None
        Of the shuffling.

    A sample's weight is a factor on its row in A'A and A't.

    Attributes
    ----------
    classes_ : (C,) the labels, sorted.
    weights_ : (m, C)
    centers_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.
    dual_value_ : (C,)
    dual_residual_ : (m, C)
        A'(t - f).

    References
    ----------
    Y. Engel, S. Mannor, R. Meir, *Sparse online greedy support vector regression*, ECML 2002, which
    leaves the classifier to the reader (section 6).

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import SOGSVC
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = SOGSVC(gamma=1.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.n_centers_ < 100)
    (True, True)
    """

    _loss_part = losses.SquaredHinge()

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        bias: float = 0.1,
        tolerance: float = 0.1,
        step: str = "error",
        ridge: float = 0.0,
        box: float | None = None,
        budget: int | None = None,
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

    def _each(self, values: Array) -> Array:
        return self._sorted(values)
