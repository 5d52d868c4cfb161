"""POLK: parsimonious online learning with kernels, and its regressor."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from parsimon import _core, _threads, algorithms, losses, updates
from parsimon._docs import documented
from parsimon.estimators.base import Array, StreamEstimator
from parsimon.estimators.regressor import StreamRegressor
from parsimon.formulas import Expression

__all__ = ["POLK", "POLKRegressor"]


class POLK(StreamEstimator):
    """What the regressor and the classifier have in common."""

    _algorithm = staticmethod(algorithms.polk)
    loss: Any
    n_jobs: int | None

    @property
    def compression_error_(self) -> float:
        """Squared RKHS distances by which removals moved f, summed over all steps.

        Without a budget, each step adds at most eps^2, where eps is `parsimony` times eta^(3/2) for
        a constant learning rate eta.
        """
        return self._fitted().spent

    _losses: dict[str, type[Any]]

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        options = super()._options(params)
        options["loss"] = losses.resolve(options["loss"], self._losses)
        return options

    def _build(
        self, params: dict[str, Any], n_features: int, n_outputs: int, *, at_once: bool = True
    ) -> _core.Learner:
        learner = super()._build(params, n_features, n_outputs, at_once=at_once)
        learner.set_threads(_threads.count(params.get("n_jobs")))
        return learner

    def _block(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, predicted: bool = False
    ) -> tuple[Array, Array, int]:
        block = super()._block(X, y, sample_weight, predicted)
        self._learner.set_threads(_threads.count(self.n_jobs))
        return block

    def _require_unchanged(self, but: str | None = None) -> None:
        # The number of threads may change at any time, because it changes no result.
        _threads.count(self.n_jobs)
        self._learns_with["n_jobs"] = self.n_jobs
        super()._require_unchanged(but)


@documented
class POLKRegressor(StreamRegressor, POLK):
    """POLK: kernel regression on a stream for any convex loss, with a sparse dictionary.

    For each batch of b samples, POLK takes a functional stochastic gradient step,

        f~ = (1 - eta lambda) f - (eta / b) sum_i weight_i l'(f(x_i), y_i) k(x_i, .).

    l' is the derivative of the loss with respect to f, and weight_i is the weight of sample i. eta
    is `step_size`, lambda is `alpha` and b is `batch_size`. Then POLK makes f~ sparse by
    destructive kernel orthogonal matching pursuit. The centres whose removal changes the function
    least are projected out, one after the other. This stops before the RKHS distance of f from f~
    exceeds eps = K eta^(3/2), where K is `parsimony`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    loss : str or Loss, default="squared"
        Loss l(f, y): "squared", "absolute", "huber", "epsilon_insensitive", "quantile", "poisson"
        or an object of `parsimon.losses`. "poisson" is for counts. f is then the logarithm of the
        mean: `predict` returns exp(f) and `predict_link` returns f.
    step_size : float > 0, default=1.0
        Learning rate eta. Larger values adapt faster and leave more noise in f. It must be below 1
        / alpha, and for explicit steps with the squared loss below 2 / k(x, x).
    alpha : float >= 0, default=1e-6
        {alpha}
    parsimony : float >= 0, default=0.1
        K in eps = K eta^(3/2), in units of `target_scale`. Larger values give fewer centres and a
        less accurate f. With 0 every sample outside the span of the centres is kept.
    schedule : "constant", "diminishing" or Schedule, default="constant"
        {schedule}
        An object of `parsimon.updates.Schedule` sets power and delay.
    batch_size : int >= 1, default=1
        {batch_size}
    budget : int or None, default=300
        {pursuit_budget}
        With the default and 10 features, the model takes 0.52 MB.
    average : bool, int or "recent", default="recent"
        {average}
    step : "invariant" or "explicit", default="invariant"
        {step}
    maintenance : "projection" or "merge", default="projection"
        {pursuit_maintenance}
    neighbors : int >= 0, default=0
        {neighbors}
    fit_intercept : bool, default=True
        {mean_intercept}
    target_scale : float > 0 or "auto", default="auto"
        Unit of y for `parsimony` and the parameters of losses. A number fixes the unit. "auto" is
        the root mean squared distance of the targets from the intercept so far. Then the result
        does not depend on the unit of y. A loss with a link, "poisson", takes y as it is.
    n_passes : int, default=5
        {n_passes}
    shuffle : bool, default=True
        {shuffle}
    random_state : int or None, default=None
        {random_state}
    n_jobs : int or None, default=None
        {n_jobs}

    Attributes
    ----------
    {centers_}
    {outputs_}
    {fitted_}
    {compression_error_}

    Notes
    -----
    The mean over the steps (`average`) suits data that do not change. On a stream that changes, use
    ``average=False``. ``published(POLKRegressor)`` is the algorithm of the paper.

    `sample_weight` is the factor weight_i on the gradient of a sample. With invariant steps, weight
    2 counts as two samples. A step of weight 0 only shrinks f and makes it sparser. Weights should
    be about 1 on average, because eps does not scale with them. With very small weights, all steps
    are shorter than eps and are removed again.

    References
    ----------
    A. Koppel, G. Warnell, E. Stump, A. Ribeiro, *Parsimonious online learning with kernels via
    sparse projections in function space*, JMLR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import POLKRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = POLKRegressor(gamma=1.0, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.n_centers_ < 20), bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    (True, True)
    """

    _losses = losses.REGRESSION

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "scale",
        loss: Any = "squared",
        step_size: float = 1.0,
        alpha: float = 1e-6,
        parsimony: float = 0.1,
        schedule: str | updates.Schedule = "constant",
        batch_size: int = 1,
        budget: int | None = 300,
        average: bool | int | str = "recent",
        step: str = "invariant",
        maintenance: str = "projection",
        neighbors: int = 0,
        fit_intercept: bool = True,
        target_scale: float | str = "auto",
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.step_size = step_size
        self.alpha = alpha
        self.parsimony = parsimony
        self.schedule = schedule
        self.batch_size = batch_size
        self.budget = budget
        self.average = average
        self.step = step
        self.maintenance = maintenance
        self.neighbors = neighbors
        self.fit_intercept = fit_intercept
        self.target_scale = target_scale
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _target_loss(self) -> losses.Loss:
        """The loss, which says which targets are valid and what is predicted."""
        given = getattr(self, "_learns_with", {"loss": self.loss})["loss"]
        loss: losses.Loss = losses.resolve(given, self._losses)
        return loss

    @property
    def _inverse_link(self) -> Expression | None:
        link: Expression | None = self._target_loss.inverse_link
        return link
