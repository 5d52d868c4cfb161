"""Budgeted stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms, losses
from parsimon._docs import documented
from parsimon.estimators.classifier import StreamClassifier

__all__ = ["BSGDClassifier"]


@documented
class BSGDClassifier(StreamClassifier):
    """Multi-class kernel SVM by stochastic gradient descent on a budget.

    Every sample that violates the margin is admitted. When the budget is exceeded after a step, one
    centre is evicted. The POLK paper compares POLK with this algorithm.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    step_size : float > 0, default=0.3
        Learning rate eta for the schedule "constant". Larger values adapt faster and leave more
        noise in f.
    alpha : float >= 0, default=1e-6
        {alpha}
    schedule : "constant" or "pegasos", default="constant"
        "constant": the learning rate is eta. "pegasos": it is 1 / (lambda t) at step t. With a
        small lambda (`alpha`) these rates stay very large for many samples, so use "pegasos" only
        with a tuned `alpha`.
    budget : int >= 1, default=300
        Maximum number of centres B. Larger budgets can fit more detail and cost more time per
        sample. The memory for B centres is reserved at the first sample.
        With the default and 10 features, the model takes 0.52 MB.
    maintenance : "merge", "projection" or "removal", default="projection"
        How a centre is evicted. "merge": the centre of smallest norm is merged with another centre;
        only for the Gaussian kernel. "projection": the centre whose removal changes f least is
        projected out. "removal": the centre of smallest norm is dropped.
    batch_size : int >= 1, default=1
        {batch_size}
    step : "invariant" or "explicit", default="invariant"
        {step}
    fit_intercept : bool, default=True
        {class_intercept}
    n_passes : int, default=5
        {n_passes}
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

    References
    ----------
    Z. Wang, K. Crammer, S. Vucetic, *Breaking the curse of kernelization: budgeted stochastic
    gradient descent for large-scale SVM training*, JMLR 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import BSGDClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = BSGDClassifier(gamma=1.0, budget=50, random_state=0).fit(X, y)
    >>> model.n_centers_, bool(model.score(X, y) > 0.9)
    (50, True)
    """

    _algorithm = staticmethod(algorithms.bsgd)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.3,
        alpha: float = 1e-6,
        schedule: str = "constant",
        budget: int = 300,
        maintenance: str = "projection",
        batch_size: int = 1,
        step: str = "invariant",
        fit_intercept: bool = True,
        n_passes: int = 5,
        class_weight: Any = None,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.alpha = alpha
        self.schedule = schedule
        self.budget = budget
        self.maintenance = maintenance
        self.batch_size = batch_size
        self.step = step
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.random_state = random_state

    def _class_loss(self, params: dict[str, Any]) -> losses.ClassificationLoss:
        return losses.MulticlassHinge()
