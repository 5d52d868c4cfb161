"""The classifier of POLK: parsimonious online learning with kernels."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from parsimon import losses, updates
from parsimon._docs import documented
from parsimon.estimators.base import Array
from parsimon.estimators.classifier import StreamClassifier
from parsimon.estimators.polk import POLK

__all__ = ["POLKClassifier"]


def _has_probabilities(model: Any) -> bool:
    if not losses.resolve(model.loss, losses.CLASSIFICATION).has_probabilities:
        raise AttributeError(
            "predict_proba needs a logistic loss, loss='logistic' or 'ovr_logistic', "
            f"not loss={model.loss!r}"
        )
    return True


@documented
class POLKClassifier(StreamClassifier, POLK):
    """POLK: kernel SVM or kernel logistic regression on a stream, with a sparse dictionary.

    There is one function per class, over one dictionary. New classes can appear at any time. For
    each batch of b samples, POLK takes a functional stochastic gradient step,

        f~ = (1 - eta lambda) f - (eta / b) sum_i weight_i l'(f(x_i), y_i) k(x_i, .).

    l' is the derivative of the loss with respect to f, and weight_i is the weight of sample i. eta
    is `step_size`, lambda is `alpha` and b is `batch_size`. Then POLK makes f~ sparse by
    destructive kernel orthogonal matching pursuit. The centres whose removal changes the functions
    least are projected out, one after the other. This stops before the RKHS distance of f from f~
    exceeds eps = K eta^(3/2), where K is `parsimony`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    loss : str or ClassificationLoss, default="logistic"
        Loss l(f, y), given as one of these:

        - "hinge": multi-class SVM, max(0, 1 + f_r - f_y), where r is the class with the largest f
          among all classes except y;
        - "logistic": multinomial logistic regression, with `predict_proba`;
        - "squared_hinge", "ovr_hinge", "ovr_logistic": a sum of losses, one for each class against
          the rest;
        - an object of `parsimon.losses`.
    step_size : float > 0, default=4.0
        Learning rate eta. Larger values adapt faster and leave more noise in f. It must be below 1
        / alpha, and for explicit steps with "squared_hinge" below 1 / k(x, x). Larger batches allow
        larger rates. With large steps f fits each sample in one step, so larger weights of samples
        or classes change little. If weights matter, or probabilities, use 0.5 or less.
    alpha : float >= 0, default=1e-6
        {alpha}
    parsimony : float >= 0, default=0.02
        K in eps = K eta^(3/2). Larger values give fewer centres and a less accurate f. With 0 every
        sample outside the span of the centres is kept, if its gradient is not zero.
    schedule : "constant", "diminishing" or Schedule, default="constant"
        {schedule}
        An object of `parsimon.updates.Schedule` sets power and delay.
    batch_size : int >= 1, default=1
        {batch_size}
    budget : int or None, default=300
        {pursuit_budget}
        With the default and 10 features, the model takes 0.53 MB.
    average : bool, int or "recent", default="recent"
        {average}
        A new class restarts the mean.
    step : "invariant" or "explicit", default="invariant"
        {step}
    maintenance : "projection" or "merge", default="projection"
        {pursuit_maintenance}
    neighbors : int >= 0, default=0
        {neighbors}
    fit_intercept : bool, default=True
        {class_intercept}
    n_passes : int, default=4
        {n_passes}
    class_weight : dict {label: weight}, "balanced" or None, default=None
        {class_weight}
    shuffle : bool, default=True
        {shuffle}
    random_state : int or None, default=None
        {random_state}
    n_jobs : int or None, default=None
        {n_jobs}

    Attributes
    ----------
    {centers_}
    {class_outputs_}
    {fitted_}
    {compression_error_}

    Notes
    -----
    The mean over the steps (`average`) suits data that do not change. On a stream that changes, use
    ``average=False``. ``published(POLKClassifier)`` is the algorithm of the paper: a kernel SVM
    with explicit steps and no intercept.

    `sample_weight` is the factor weight_i on the gradient of a sample. With invariant steps, weight
    2 counts as two samples. Weights should be about 1 on average, because eps does not scale with
    them.

    References
    ----------
    A. Koppel, G. Warnell, E. Stump, A. Ribeiro, *Parsimonious online learning with kernels via
    sparse projections in function space*, JMLR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import POLKClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = POLKClassifier(gamma=1.0, loss="logistic", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    >>> model.predict_proba([[1.0, 1.0], [1.0, -1.0]]).argmax(axis=1)
    array([1, 0])
    """

    _losses = losses.CLASSIFICATION

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        loss: Any = "logistic",
        step_size: float = 4.0,
        alpha: float = 1e-6,
        parsimony: float = 0.02,
        schedule: str | updates.Schedule = "constant",
        batch_size: int = 1,
        budget: int | None = 300,
        average: bool | int | str = "recent",
        step: str = "invariant",
        maintenance: str = "projection",
        neighbors: int = 0,
        fit_intercept: bool = True,
        n_passes: int = 4,
        class_weight: Any = None,
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
        self.n_passes = n_passes
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Return the probability of each class, (n, C). Only for the logistic losses.

        `predict` returns the most probable class. `n_jobs` threads share the rows (-1: one per
        core).
        """
        F = self._evaluate(X, n_jobs)
        return self._loss.probabilities(F)
