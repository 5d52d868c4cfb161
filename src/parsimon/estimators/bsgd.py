"""Budgeted stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms, losses
from parsimon.estimators.classifier import StreamClassifier

__all__ = ["BSGDClassifier"]


class BSGDClassifier(StreamClassifier):
    """The multi-class kernel SVM by stochastic gradient descent on a budget: the baseline that
    `POLKClassifier` is compared with.

    Every sample that violates the margin becomes a centre; beyond the budget one centre makes way
    after each step.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    step_size : float > 0, default=1.0
        eta, for the constant schedule; < 1 / alpha.
    alpha : float >= 0, default=1e-6
        lambda, the ridge penalty (lambda / 2) sum_c ||f_c||^2.
    schedule : "constant" or "pegasos", default="constant"
        Steps eta, or 1 / (lambda t). With a small lambda the latter are huge for long: a poor
        choice unless lambda is tuned.
    budget : int >= 1, default=100
        The most centres held, B.
    maintenance : "merge", "projection" or "removal", default="merge"
        How one makes way. "merge": the one of least norm and another become one between them
        (Gaussian kernel only). "projection": the one that costs least is projected onto the others.
        "removal": the one of least norm goes with its weights.
    batch_size : int >= 1, default=1
        Samples a step, as in `POLKRegressor`.
    n_passes : int, default=1
        Passes over the data in `fit`.
    class_weight, shuffle, random_state : as in `POLKClassifier`.

    Attributes
    ----------
    classes_, weights_, centers_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in
    `POLKClassifier`.

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
        step_size: float = 1.0,
        alpha: float = 1e-6,
        schedule: str = "constant",
        budget: int = 100,
        maintenance: str = "merge",
        batch_size: int = 1,
        n_passes: int = 1,
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
        self.n_passes = n_passes
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.random_state = random_state

    def _class_loss(self, params: dict[str, Any]) -> losses.ClassificationLoss:
        return losses.MulticlassHinge()
