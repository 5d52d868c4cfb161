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
from parsimon.estimators.state import unchanged_on_error

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
    n_centers_ : int
        Number of centres: 0, because random features have none.
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
    removes the share s. A sample of weight 0 changes nothing. The frequencies of a feature do not
    depend on the other features, so new features can be added (as `parsimon.river` does). f is no
    expansion in a kernel, so such models cannot be merged, compressed or exported.
    ``published(RFFKLMSRegressor)`` is the algorithm of the paper.

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
    frequencies_: Array
    phases_: Array
    _seed: int
    _attributes = FilterRegressor._attributes.extended(
        {
            "frequencies_": _schema.finite_array(None, None),
            "phases_": _schema.finite_array(None, least=0.0, most=2 * np.pi),
            "_seed": _schema.whole(0, SEEDS),
        }
    )

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
    def n_centers_(self) -> int:
        """Number of centres: 0, because random features have none."""
        self._of_each(lambda learner: None)  # raises an error before learning
        return 0

    @property
    def nbytes_(self) -> int:
        """Memory of the model in bytes, including working memory."""
        return super().nbytes_ + int(self.frequencies_.nbytes + self.phases_.nbytes)

    def _prepare(self, n_features: int) -> None:
        count = whole("n_components", self.n_components, at_least=1, at_most=10**8)
        self._seed = int(check_random_state(self.random_state).randint(SEEDS))
        self.phases_ = np.random.RandomState([self._seed, 0]).uniform(0.0, 2 * np.pi, size=count)
        self.frequencies_ = self._draw(0, n_features)

    def _draw(self, first: int, last: int) -> Array:
        """Return the frequencies of some features. Each feature has random numbers of its own."""
        kernel: Any = self.kernel_
        columns = [
            np.random.RandomState([self._seed, i + 1]).normal(size=len(self.phases_))
            for i in range(first, last)
        ]
        return np.ascontiguousarray(np.sqrt(2 * kernel.gamma) * np.column_stack(columns))

    def _build(
        self, params: dict[str, Any], n_features: int, n_outputs: int, *, at_once: bool = True
    ) -> _core.Filter:
        count = params["n_components"]
        if self.frequencies_.shape != (count, n_features) or self.phases_.shape != (count,):
            raise ValueError(f"its frequencies do not fit {count} components")
        return _core.fourier_filter(
            np.ascontiguousarray(self.frequencies_, dtype=np.float64),
            np.ascontiguousarray(self.phases_, dtype=np.float64),
            n_outputs,
            self._has_intercept(params),
            real("step_size", params["step_size"], above=0, below=1),
        )

    def _widen(self, n_features: int) -> None:
        with unchanged_on_error(self):
            more = self._draw(self.frequencies_.shape[1], n_features)
            self.frequencies_ = np.column_stack([self.frequencies_, more])
            super()._widen(n_features)
