"""POLK: parsimonious online learning with kernels."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from parsimon import algorithms, losses, updates
from parsimon.estimators.base import Array, StreamEstimator
from parsimon.estimators.classifier import StreamClassifier
from parsimon.estimators.regressor import StreamRegressor
from parsimon.formulas import Expression

__all__ = ["POLKClassifier", "POLKRegressor"]


class _POLK(StreamEstimator):
    _algorithm = staticmethod(algorithms.polk)
    loss: Any

    @property
    def compression_error_(self) -> float:
        """The RKHS error spent on sparsity: the squared distances by which removals moved the
        function, summed over all steps; each at most eps^2, a budget aside.
        """
        return self._fitted().spent

    _losses: dict[str, type[Any]]

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        options = super()._options(params)
        options["loss"] = losses.resolve(options["loss"], self._losses)
        return options


class POLKRegressor(StreamRegressor, _POLK):
    """Kernel regression on a stream for any convex loss, with a dictionary only as large as the
    accuracy asks for.

    A functional stochastic gradient step for each batch of b samples,

        f~ = (1 - eta lambda) f - (eta / b) sum_i weight_i l'(f(x_i), y_i) k(x_i, .),

    and then destructive kernel orthogonal matching pursuit: the centres without which the function
    moves least are projected onto the others, one after the other, as long as f stays within eps =
    K eta^(3/2) of f~ in the RKHS. There is no intercept: centre y. `sample_weight` is the factor
    weight_i on the sample's gradient; a step of weight 0 only shrinks f and makes it sparser.
    Weights should be about 1 on average: eps does not shrink with them, and tiny ones leave nothing
    that exceeds it.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    loss : "squared", "absolute", "huber", "epsilon_insensitive", "quantile", "poisson" or an object
    of `parsimon.losses`, default="squared"
        With "poisson", for counts, f is the logarithm of the mean: `predict` gives exp(f), and
        `predict_link` f.
    step_size : float > 0, default=0.5
        eta. Must be < 1 / alpha, and for the squared loss < 2 / k(x, x).
    alpha : float >= 0, default=1e-6
        lambda, the ridge penalty (lambda / 2) ||f||^2.
    parsimony : float >= 0, default=0.01
        K in eps = K eta^(3/2), in units of y: larger is sparser. 0 keeps every sample that is not
        in the span.
    schedule : "constant", "diminishing" or a `parsimon.updates.Schedule`, default="constant"
        How the steps fall: not at all, or as eta_t = eta / (1 + (t - 1) / 100)^(3/4), t counting
        batches, with eps_t = K eta_t^2 (Theorem 1 of the paper).
    batch_size : int >= 1, default=1
        b. A block is cut into batches from its beginning. What is left over, s samples (or the one
        of `learn_one`), is a step of rate eta s / b: each sample counts for what it would in a
        whole batch.
    budget : int or None, default=None
        The most centres held, whatever eps says.
    average : bool or int, default=False
        Predict with the mean of f over the steps, from the first on (True) or once so many samples
        were seen: it takes out the noise that a constant step leaves. The mean is held over the
        same dictionary, and what its projections cost is booked with that of f. Learning itself
        goes on with f. A class met later lets the mean begin anew.
    n_passes : int, default=1
        Passes over the data in `fit`.

    Attributes
    ----------
    centers_, weights_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.
    compression_error_ : float
        The squared RKHS errors spent on sparsity, summed over all steps.

    References
    ----------
    A. Koppel, G. Warnell, E. Stump, A. Ribeiro, *Parsimonious online learning with kernels via
    sparse projections in function space*, JMLR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import POLKRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = POLKRegressor(gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.n_centers_ < 20), bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    (True, True)
    """

    _losses = losses.REGRESSION

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        loss: Any = "squared",
        step_size: float = 0.5,
        alpha: float = 1e-6,
        parsimony: float = 0.01,
        schedule: str | updates.Schedule = "constant",
        batch_size: int = 1,
        budget: int | None = None,
        average: bool | int = False,
        n_passes: int = 1,
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
        self.n_passes = n_passes

    @property
    def _target_loss(self) -> losses.Loss:
        """The loss that says which targets there can be and what is predicted."""
        given = getattr(self, "_learns_with", {"loss": self.loss})["loss"]
        loss: losses.Loss = losses.resolve(given, self._losses)
        return loss

    @property
    def _inverse_link(self) -> Expression | None:
        given = self._learns_with["loss"]
        return (losses.REGRESSION[given] if type(given) is str else type(given)).inverse_link


def _has_probabilities(model: Any) -> bool:
    if not losses.resolve(model.loss, losses.CLASSIFICATION).has_probabilities:
        raise AttributeError(
            f"predict_proba is for the logistic losses, loss='logistic' or 'ovr_logistic', not loss={model.loss!r}"
        )
    return True


class POLKClassifier(StreamClassifier, _POLK):
    """Kernel SVM or kernel logistic regression on a stream, any number of classes, with a
    dictionary only as large as the accuracy asks for.

    One function for each class over one dictionary, learned as in `POLKRegressor`. Classes may be
    met as they come.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    loss : default="hinge"
        "hinge": the multi-class SVM, max(0, 1 + f_r - f_y) with r the strongest other class.
        "logistic": multinomial logistic regression, with `predict_proba`. "squared_hinge",
        "ovr_hinge", "ovr_logistic": sums over the classes, each against the rest. Or an object of
        `parsimon.losses`.
    step_size : float > 0, default=1.0
        eta, < 1 / alpha (and < 1 / k(x, x) with "squared_hinge"). With larger batches larger steps
        pay: 6 for batches of 32 in the plane, 24 on images.
    alpha : float >= 0, default=1e-6
        lambda, the ridge penalty (lambda / 2) sum_c ||f_c||^2.
    parsimony : float >= 0, default=0.05
        K in eps = K eta^(3/2): larger is sparser.
    schedule, batch_size, budget, average, n_passes : as in `POLKRegressor`.
    class_weight : dict {label: weight}, "balanced" or None, default=None
        A factor on the weight of each sample of a class; 1 for classes that it does not name.
        "balanced": n / (C n_c), measured by `fit` on its labels and kept by `partial_fit` after it.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass: sorted classes make a poor stream.
        `partial_fit` never does.
    random_state : int or None, default=None
        Of the shuffling.

    Attributes
    ----------
    classes_ : (C,) the labels, sorted.
    weights_ : (m, C)
    centers_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.
    compression_error_ : float
        The squared RKHS errors spent on sparsity, summed over all steps.

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
        loss: Any = "hinge",
        step_size: float = 1.0,
        alpha: float = 1e-6,
        parsimony: float = 0.05,
        schedule: str | updates.Schedule = "constant",
        batch_size: int = 1,
        budget: int | None = None,
        average: bool | int = False,
        n_passes: int = 1,
        class_weight: Any = None,
        shuffle: bool = True,
        random_state: int | None = None,
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
        self.n_passes = n_passes
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.random_state = random_state

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Return the probability of each class, (n, C), for the logistic losses.

        The most probable is what `predict` says. `n_jobs` threads share the rows (-1: one for each
        core).
        """
        F = self._evaluate(X, n_jobs)
        return self._loss.probabilities(F)
