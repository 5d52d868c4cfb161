"""The parameters of a dictionary, and the atoms that they mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from parsimon import _core, kernels
from parsimon._docs import documented
from parsimon._parts import lookup, real, whole
from parsimon.estimators.inputs import points, require_names, require_wideable
from parsimon.estimators.learning import FITTED
from parsimon.persistence import Storable
from parsimon.updates import SCHEDULES, Schedule

__all__ = ["RATES", "KernelDictionary"]

Array = NDArray[np.float64]

#: How the learning rate decreases, and the number of samples after which it stays constant. "held"
#: is the rule of the paper: step_size / (1 + n / 1000) for the first 2000 samples, then constant.
RATES: dict[str, tuple[Schedule, int | None]] = {
    "held": (Schedule(power=1.0, delay=1000), 2000),
    **{name: (rule, None) for name, rule in SCHEDULES.items()},
}


@documented
class KernelDictionary(Storable, BaseEstimator):  # type: ignore[misc]
    """The parameters of a dictionary, and the atoms that they define.

    The atoms D = Phi(X~) Omega are combinations, in the feature space of the kernel, of the m
    stored samples X~. Omega (m, K) are the coefficients. phi(x) is the image of x in feature space.

    Parameters
    ----------
    n_components : int, default=50
        The number of atoms, K.
    kernel : str, Kernel or callable, default="gaussian"
        {kernel}

        The effect of `alpha` and `penalty` depends on the size of k(x, x).
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    alpha : float >= 0, default=0.05
        The weight lambda of the lasso penalty. Larger values give sparser codes. If it exceeds all
        entries of |D'phi(x)|, the code of x is zero.
    penalty : float >= 0, default=0.1
        The weight mu of the penalty (mu / 2) ||D||_F^2, the sum of the squared norms of the atoms.
        Larger values keep the atoms smaller.
    step_size : float > 0, default=0.01
        The initial learning rate rho of the atoms. Larger values adapt faster.
    schedule : "held", "constant", "diminishing" or `parsimon.updates.Schedule`, default="held"
        How the learning rate decreases with the number n of samples seen. "held" is the rule of the
        paper: rho_n = step_size / (1 + n / 1000) up to n = 2000, then constant.
    update : "parameter" or "feature", default="parameter"
        Where the gradient step is taken. "parameter": in the coefficients Omega, equations
        (19)-(20) of the paper, at a cost of O(m^2 K) per sample. "feature": in the feature space,
        equation (15), at a cost of O(m K + K^2) per sample. With "feature", the row of Omega for a
        new sample is rho times its code. At small rates this is the smallest row. So when the
        budget is full, the new sample is evicted first, and the atoms only shrink. Use "feature"
        with a large budget, or with an admission test that few samples pass.
    admission : "coherence", "reconstruction", "always" or "never", default="coherence"
        Which samples are learned and stored. "coherence", equation (21): samples whose coherence
        (normalised kernel value) with every stored sample is below `coherence`. "reconstruction",
        equation (22): samples whose squared reconstruction error exceeds `tolerance`. "always": all
        samples. "never": all samples are learned, but only the first `n_init` samples are stored.
    coherence : float in [0, 1], default=1.0
        The threshold gamma of the paper. Smaller values store fewer samples. 1 admits all samples
        except exact copies. With kernels such as the linear kernel it also excludes multiples of a
        stored sample, because their coherence is 1.
    tolerance : float >= 0, default=0
        The threshold epsilon of the paper, a squared norm. Larger values store fewer samples.
    budget : int, default=100
        Maximum number of stored samples B. For a classifier, this is the number per class. m
        samples take (m / 2 + 3 K + d) m numbers of 8 bytes.
    n_init : int or None, default=None
        The number M0 of samples at the start that are stored without a test. None means the smaller
        of `n_components` and `budget`.
    init_scale : float >= 0, default=0.1
        Standard deviation of the initial entries of Omega, which are drawn from a normal
        distribution with mean 0.
    n_passes : int, default=1
        {n_passes}
    shuffle : bool, default=True
        {shuffle}
    random_state : int, RandomState or None, default=None
        Seed for the initial Omega and for the shuffling.
    """

    kernel: Any
    kernel_: kernels.Kernel
    _learns_with: dict[str, Any]
    _attributes = FITTED

    def __init__(
        self,
        n_components: int = 50,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        alpha: float = 0.05,
        penalty: float = 0.1,
        step_size: float = 0.01,
        schedule: str | Schedule = "held",
        update: str = "parameter",
        admission: str = "coherence",
        coherence: float = 1.0,
        tolerance: float = 0.0,
        budget: int = 100,
        n_init: int | None = None,
        init_scale: float = 0.1,
        n_passes: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.penalty = penalty
        self.step_size = step_size
        self.schedule = schedule
        self.update = update
        self.admission = admission
        self.coherence = coherence
        self.tolerance = tolerance
        self.budget = budget
        self.n_init = n_init
        self.init_scale = init_scale
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state

    def _first_rows(self, rng: np.random.RandomState) -> Array:
        """Draw the first rows of Omega."""
        K = whole("n_components", self.n_components, at_least=1, at_most=10**6)
        budget = whole("budget", self.budget, at_least=1, at_most=10**9)
        n_init = min(budget, K) if self.n_init is None else whole("n_init", self.n_init, at_least=1)
        if n_init > budget:
            raise ValueError(f"n_init={n_init} samples do not fit in budget={budget}")
        scale = real("init_scale", self.init_scale, at_least=0, at_most=1e10)
        return scale * rng.standard_normal((n_init, K))

    def _atoms(self, n_features: int, first: Array, *, at_once: bool = True) -> _core.Atoms:
        """Return atoms before any sample, given the first rows of Omega.

        Memory is reserved at once, or when the atoms learn their first sample.
        """
        rule, hold = (
            (self.schedule, None)
            if isinstance(self.schedule, Schedule)
            else lookup(RATES, self.schedule, "schedule")
        )
        tests = {
            "always": (math.inf, -1.0),
            "never": (math.inf, -1.0),
            "coherence": (real("coherence", self.coherence, at_least=0, at_most=1), -1.0),
            "reconstruction": (math.inf, real("tolerance", self.tolerance, at_least=0)),
        }
        coherence, tolerance = lookup(tests, self.admission, "admission")
        if self.admission == "never" and self.update == "feature":
            raise ValueError(
                "admission='never' is for update='parameter': "
                "in feature space a sample that is not stored cannot be learned"
            )
        return _core.Atoms(
            kernel=self.kernel_.core(),
            n_features=n_features,
            first=first,
            lambda_=real("alpha", self.alpha, at_least=0),
            penalty=real("penalty", self.penalty, at_least=0, at_most=1e10),
            in_parameters=lookup({"parameter": True, "feature": False}, self.update, "update"),
            step_size=real("step_size", self.step_size, above=0, at_most=1e10),
            power=rule.power,
            delay=rule.delay,
            hold=2**62 if hold is None else hold,
            coherence=coherence,
            tolerance=tolerance,
            stores=self.admission != "never",
            budget=whole("budget", self.budget, at_least=1, at_most=10**9),
            precision=1e-12,
            at_once=at_once,
        )

    def _begin(self, X: ArrayLike) -> Array:
        """Choose the kernel for X, and return X in the form that the core needs."""
        X = points(self, X, reset=True)
        _core.require_finite(X, "X")
        self.kernel_ = kernels.resolve(self.kernel, self.gamma, X)
        self._learns_with = self.get_params(deep=False)
        return X

    def _wider(self, learner: _core.Atoms, n_features: int) -> _core.Atoms:
        """Return the same atoms with more features, which were 0 in all samples so far."""
        require_wideable(self.kernel_)
        return self._rebuilt(n_features, *learner.state(), stored_features=self.n_features_in_)

    def _require_agreement(self) -> None:
        """Raise a ValueError unless a model from a file agrees with its parameters."""
        require_names(self)
        given, gamma = self._learns_with["kernel"], self._learns_with["gamma"]
        if not kernels.agrees(
            self.kernel_, given, gamma, lambda k, g: kernels.resolve(k, g, np.zeros((1, 1)))
        ):
            raise ValueError(f"its kernel {self.kernel_!r} is not what its parameters say")

    def _unpacked(self, learned: Any) -> _core.Atoms:
        return self._rebuilt(self.n_features_in_, *learned)

    def _rebuilt(
        self,
        n_features: int,
        arrays: dict[str, Array],
        counts: dict[str, int],
        stored_features: int = 0,
    ) -> _core.Atoms:
        """Return atoms with this state, whose points may have fewer features."""
        K, first = (
            whole("n_components", self._learns_with["n_components"], at_least=1),
            arrays.get("first"),
        )
        if not isinstance(first, np.ndarray) or first.size == 0 or first.size % K:
            raise ValueError(f"the state's first rows are not of {K} numbers")
        now = self.get_params(deep=False)
        self.set_params(**self._learns_with)  # the parameters when learning began
        try:
            atoms = self._atoms(n_features, first.reshape(-1, K), at_once=False)
        finally:
            self.set_params(**now)
        atoms.restore(arrays, counts, stored_features)
        return atoms
