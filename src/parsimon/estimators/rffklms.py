"""Random-Fourier kernel least mean squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from parsimon import _core, _schema
from parsimon._docs import documented
from parsimon._parts import real, whole
from parsimon.estimators.filters import FilterRegressor

__all__ = ["RFFKLMSRegressor"]

Array = NDArray[np.float64]

#: Seeds of the random features.
SEEDS = 2**31 - 1


@documented
class RFFKLMSRegressor(FilterRegressor):
    """Kernel least mean squares with random Fourier features instead of centres.

    The model is linear in D random features, whose inner products approximate the Gaussian kernel
    exp(-gamma ||x - z||^2):

        f(x) = theta'psi(x),    psi_j(x) = sqrt(2 / D) cos(omega_j'x + b_j).

    The frequencies omega_j are drawn from the normal distribution with mean 0 and variance 2 gamma,
    and the phases b_j uniformly from [0, 2 pi). For each sample with error e = y - f(x),

        theta <- theta + eta e psi(x),

    where eta is `step_size`. Time and memory are constant, O(D d) per sample. There is no
    dictionary.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    n_components : int, default=500
        Number of features D. Larger values approximate the kernel better and cost more time per
        sample.
    step_size : float in (0, 1), default=0.3
        Learning rate eta. Larger values adapt faster and leave more noise in f.
    fit_intercept : bool, default=True
        {mean_intercept}
        On streams, it changes only during the first 16 samples.
    n_passes : int, default=5
        {n_passes}
    shuffle : bool, default=True
        {shuffle}
    random_state : int or None, default=None
        Seed for the features and for shuffling. With None, results differ from call to call. Other
        values give other features.

    Attributes
    ----------
    frequencies_ : ndarray of shape (D, d)
        Frequencies omega_j.
    phases_ : ndarray of shape (D,)
        Phases b_j.
    weights_ : ndarray of shape (D,) or (D, C)
        Weights theta; one column per output if y had columns.
    intercept_ : float or ndarray of shape (C,)
        What predictions add to f; 0 without an intercept.
    n_outputs_ : int
        Number of outputs C.
    n_samples_seen_ : int
        Number of samples learned; every pass counts.
    nbytes_ : int
        Memory of the model in bytes, including working memory.
    kernel_ : Kernel
        Gaussian kernel that is approximated, with `gamma` as a number.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X was a frame with column names.

    Notes
    -----
    The paper writes psi without the factor sqrt(2 / D). With it, a step size means the same as in
    `KLMSRegressor`. ||psi||^2 is at most 2, so that all steps below 1 are stable.

    A sample of weight v removes the share 1 - (1 - s)^v of its error, if a sample of weight 1
    removes the share s. A sample of weight 0 changes nothing. A file holds the seed of the
    features, not the features. The frequencies of a feature do not depend on the other features, so
    new features can be added (as `parsimon.river` does).

    References
    ----------
    P. Bouboulis, S. Pougkakiotis, S. Theodoridis, *Efficient KLMS and KRLS algorithms: a random
    Fourier feature perspective*, IEEE Statistical Signal Processing Workshop 2016.

    A. Rahimi, B. Recht, *Random features for large-scale kernel machines*, NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import RFFKLMSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(1000, 1))
    >>> model = RFFKLMSRegressor(gamma=0.5, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    kernel = "gaussian"
    _seed: int
    _attributes = FilterRegressor._attributes.extended({"_seed": _schema.whole(0, SEEDS)})

    def __init__(
        self,
        *,
        gamma: float | str = "scale",
        n_components: int = 500,
        step_size: float = 0.3,
        fit_intercept: bool = True,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.step_size = step_size
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def frequencies_(self) -> Array:
        """Frequencies omega_j, (D, d)."""
        return self._fitted().points()

    @property
    def phases_(self) -> Array:
        """Phases b_j, (D,)."""
        self._fitted()
        return _phases(self._seed, self._learns_with["n_components"])

    def _prepare(self) -> None:
        self._seed = int(check_random_state(self.random_state).randint(SEEDS))

    def _build(self, params: dict[str, Any], n_features: int, n_outputs: int) -> _core.Filter:
        count = whole("n_components", params["n_components"], at_least=1, at_most=10**8)
        kernel: Any = self.kernel_
        return _core.fourier_filter(
            _frequencies(self._seed, count, n_features, kernel.gamma),
            _phases(self._seed, count),
            n_outputs,
            bool(params["fit_intercept"]),
            real("step_size", params["step_size"], above=0, below=1),
        )


def _frequencies(seed: int, count: int, n_features: int, gamma: float) -> Array:
    """Return the frequencies (count, n_features). Each feature has random numbers of its own."""
    columns = [np.random.RandomState([seed, i + 1]).normal(size=count) for i in range(n_features)]
    return np.ascontiguousarray(np.sqrt(2 * gamma) * np.column_stack(columns))


def _phases(seed: int, count: int) -> Array:
    return np.random.RandomState([seed, 0]).uniform(0.0, 2 * np.pi, size=count)
