"""Dictionaries learned in the feature space of a kernel, from a stream, on a budget of stored samples."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from parsimon import _core, kernels
from parsimon._parts import lookup, real, whole
from parsimon.estimators.base import one_row, require_unchanged, with_wider_points
from parsimon.persistence import Storable
from parsimon.updates import SCHEDULES, Schedule

__all__ = ["KernelDictionaryClassifier", "KernelDictionaryLearning"]

Array = NDArray[np.float64]
T = TypeVar("T")

#: How the rate falls. "held" is the paper's: step_size / (1 + n / 1000) for the first 2000 samples, then constant.
RATES: dict[str, tuple[Schedule, int | None]] = {
    "held": (Schedule(power=1.0, delay=1000), 2000),
    **{name: (rule, None) for name, rule in SCHEDULES.items()},
}


class _KernelDictionary(Storable, BaseEstimator):  # type: ignore[misc]
    """The parameters of a dictionary, and what it is made of."""

    kernel: Any
    kernel_: kernels.Kernel
    _learns_with: dict[str, Any]

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

    def _atoms(self, n_features: int, first: Array) -> _core.Atoms:
        """Return atoms that have seen nothing, given the first rows of Omega."""
        rule, hold = (
            (self.schedule, None) if isinstance(self.schedule, Schedule) else lookup(RATES, self.schedule, "schedule")
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
                "admission='never' is for update='parameter': in feature space a sample that is not stored cannot be learned"
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
        )

    def _validated(self, X: ArrayLike, *, reset: bool) -> Array:
        result: Array = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
        return result

    def _begin(self, X: ArrayLike) -> Array:
        """Return X as it is learned from; the kernel's width is measured on it."""
        X = self._validated(X, reset=True)
        _core.require_finite(X, "X")
        self.kernel_ = kernels.resolve(self.kernel, self.gamma, X)
        self._learns_with = self.get_params(deep=False)
        return X

    def _wider(self, learner: _core.Atoms, n_features: int) -> _core.Atoms:
        """Return the same atoms with room for further features, which were 0 in all that was seen so far."""
        arrays, counts = learner.state()
        arrays = with_wider_points(self.kernel_, arrays, self.n_features_in_, n_features)
        return self._unpack(n_features, arrays, counts)

    def _unpack(self, n_features: int, arrays: dict[str, Array], counts: dict[str, int]) -> _core.Atoms:
        K, first = int(self._learns_with["n_components"]), arrays.get("first", np.empty(0))
        if first.size == 0 or first.size % K:
            raise ValueError(f"the state's first rows hold {first.size} numbers, no multiple of {K}")
        now = self.get_params(deep=False)
        self.set_params(**self._learns_with)  # atoms are made of what learning began with
        try:
            atoms = self._atoms(n_features, first.reshape(-1, K))
        finally:
            self.set_params(**now)
        atoms.restore(arrays, counts)
        return atoms


class KernelDictionaryLearning(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _KernelDictionary):  # type: ignore[misc]
    """Online kernel dictionary learning on a budget: sparse codes over atoms that live in the feature space of a kernel.

    Atoms D = Phi(X~) Omega are combinations of a few stored samples X~. A sample is coded by

        alpha = argmin ||phi(x) - D alpha||^2 / 2 + lambda ||alpha||_1,

    and D takes a step of rate rho_n down the gradient of that cost plus (mu / 2) ||D||_F^2, in the feature space or in the parameters Omega; the sample is stored, and beyond the budget the
    stored sample with the least row of Omega goes. A sample that fails the admission test changes nothing. A step that would overshoot (leave the sample's own cost higher than it was) is
    cut to the one that lowers it most.

    Parameters
    ----------
    n_components : int, default=50
        K, the number of atoms.
    kernel, gamma : as in `KNLMSRegressor`. The size of k(x, x) sets the balance with alpha and penalty.
    alpha : float >= 0, default=0.05
        lambda, the weight of the lasso's penalty. Where it exceeds every |D'phi(x)| all codes are zero.
    penalty : float >= 0, default=0.1
        mu, which keeps the atoms from growing.
    step_size : float > 0, default=0.01
    schedule : "held", "constant", "diminishing" or a `parsimon.updates.Schedule`, default="held"
        How the rate falls with the number n of samples seen. "held" is the paper's rule: rho_n = step_size / (1 + n / 1000) up to n = 2000, and constant from there on.
    update : "parameter" or "feature", default="parameter"
        (19)-(20), O(m^2 K) for each sample, or (15), O(m K + K^2). In feature space a sample enters with the row rho alpha', which at small rates is the least and so the first to go once the
        budget is reached: from there on the atoms only fade. Give it a budget that is not reached, or an admission test that few pass.
    admission : "coherence", "reconstruction", "always" or "never", default="coherence"
        A sample is learned and stored if its coherence with every stored one is below `coherence` (21; an exact copy has coherence 1, whatever rounding says), if the squared error of its
        reconstruction exceeds `tolerance` (22), or in any case. "never": all are learned, and none is stored after the first `n_init`.
    coherence : float in [0, 1], default=1.0
        gamma in the paper. 1 admits all but exact copies (and, for kernels that do not see lengths, multiples).
    tolerance : float >= 0, default=0
        epsilon in the paper, a squared norm.
    budget : int, default=100
        B, the most samples stored. They take (m / 2 + 3 K + d) m numbers of 8 bytes.
    n_init : int or None, default=None
        M0: the first samples, which are stored as they are. None: as many as there are atoms, or the budget.
    init_scale : float >= 0, default=0.1
        The standard deviation of the entries of the first Omega, which are normal.
    n_passes : int, default=1
        Passes over the data in `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass. `partial_fit` never does.
    random_state : int, RandomState or None, default=None
        Of the first Omega and of the shuffling.

    Attributes
    ----------
    centers_ : (m, d)
        The stored samples.
    components_ : (m, K)
        Omega: the atoms' coefficients over the stored samples.
    gram_ : (K, K)
        D'D, the atoms' inner products.
    n_centers_, n_samples_seen_, n_samples_learned_, nbytes_, kernel_

    References
    ----------
    J. Lee, S.-J. Kim, *Online kernel dictionary learning on a budget*, Asilomar 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KernelDictionaryLearning
    >>> angles = np.random.default_rng(0).uniform(0, 2 * np.pi, size=2000)
    >>> ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> model = KernelDictionaryLearning(10, gamma=1.0, budget=20, step_size=0.1, random_state=0).fit(ring)
    >>> model.transform(ring[:3]).shape, model.n_centers_
    ((3, 10), 20)
    >>> bool(model.score_samples([[0.0, 0.0]]) < model.score_samples(ring).min())  # the middle of the ring is an anomaly
    True
    """

    _learner: _core.Atoms

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn afresh from X (n, d), `n_passes` times, shuffled before each pass unless told not to. y is ignored."""
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        rng = check_random_state(self.random_state)
        before = self.__dict__.copy()
        try:
            X = self._begin(X)
            learner = self._atoms(X.shape[1], self._first_rows(rng))
            for _ in range(n_passes):
                learner.learn(X[rng.permutation(len(X))] if self.shuffle else X)
        except BaseException:
            self.__dict__ = before
            raise
        self._learner = learner
        return self

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Go on learning with a block X (n, d), in order. A block equals its rows; one that is refused changes nothing."""
        self._learn_block(X, _core.Atoms.learn)
        return self

    def learn_one(self, x: ArrayLike) -> Self:
        """Learn one sample x (d,). The same as `partial_fit` with one row, without its overhead."""
        row = one_row(x, "x", "(d,)")[np.newaxis]
        if not hasattr(self, "_learner"):
            return self.partial_fit(row)
        self._learner.learn(row)
        return self

    def learning_costs(self, X: ArrayLike) -> Array:
        """Go on learning with a block X (n, d), and return the cost of each row just before it was learned, (n,).

        That is ||phi(x) - D alpha||^2 / 2 + lambda ||alpha||_1 + (mu / 2) ||D||_F^2.
        """
        return self._learn_block(X, _core.Atoms.learn_with_costs)

    def transform(self, X: ArrayLike) -> Array:
        """Return the codes of X (n, d): (n, K), mostly zeros."""
        return self._fitted().codes(self._validated(X, reset=False))

    def reconstruction_error(self, X: ArrayLike) -> Array:
        """Return ||phi(x) - D alpha||^2 for each row of X (n, d): (n,)."""
        return self._fitted().errors(self._validated(X, reset=False))

    def score_samples(self, X: ArrayLike) -> Array:
        """Return minus the reconstruction error of each row: the lower, the more of an anomaly."""
        return -self.reconstruction_error(X)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return minus the mean reconstruction error."""
        return float(self.score_samples(X).mean())

    @property
    def centers_(self) -> Array:
        """The stored samples, oldest first, (m, d)."""
        return self._fitted().centers()

    @property
    def components_(self) -> Array:
        """Omega, (m, K): the atoms' coefficients over the stored samples."""
        return self._fitted().coefficients()

    @property
    def gram_(self) -> Array:
        """D'D, (K, K): the atoms' inner products."""
        return self._fitted().gram()

    @property
    def n_centers_(self) -> int:
        """How many samples are stored."""
        return self._fitted().n_centers

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were seen, every pass counted."""
        return self._fitted().n_samples_seen

    @property
    def n_samples_learned_(self) -> int:
        """How many of them passed the admission test and moved the atoms."""
        return self._fitted().n_samples_learned

    @property
    def nbytes_(self) -> int:
        """Bytes that the model holds, working memory included."""
        return self._fitted().nbytes

    @property
    def _n_features_out(self) -> int:
        return int(self._learns_with["n_components"])

    def _learn_block(self, X: ArrayLike, learn: Callable[[_core.Atoms, Array], T]) -> T:
        if hasattr(self, "_learner"):
            require_unchanged(self, self._learns_with)
            return learn(self._learner, self._validated(X, reset=False))
        before = self.__dict__.copy()
        try:
            X = self._begin(X)
            learner = self._atoms(X.shape[1], self._first_rows(check_random_state(self.random_state)))
            result = learn(learner, X)
        except BaseException:
            self.__dict__ = before
            raise
        self._learner = learner
        return result

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle and copy keep: all that it takes to go on as if nothing had happened."""
        state: dict[str, Any] = dict(super().__getstate__())
        learner = state.pop("_learner", None)
        if learner is not None:
            state["_learned"] = learner.state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        state = dict(state)
        learned = state.pop("_learned", None)
        super().__setstate__(state)
        if learned is not None:
            self._learner = self._unpack(self.n_features_in_, *learned)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a model."""
        return hasattr(self, "_learner")

    def _widen(self, n_features: int) -> None:
        """Make room for further features, which were 0 in all that was seen so far: the codes stay as they were."""
        self._learner, self.n_features_in_ = self._wider(self._fitted(), n_features), n_features

    def _fitted(self) -> _core.Atoms:
        check_is_fitted(self)
        return self._learner


class KernelDictionaryClassifier(ClassifierMixin, _KernelDictionary):  # type: ignore[misc]
    """A dictionary for each class; the class whose dictionary reconstructs a point best is predicted.

    Each is learned as in `KernelDictionaryLearning` from the samples of its class alone, and holds as many of them as its admission test lets in, up to the budget: classes that vary less
    need fewer. Classes may be met as they come.

    Parameters
    ----------
    n_components, kernel, gamma, alpha, penalty, step_size, schedule, update, admission, coherence, tolerance, budget, n_init, init_scale, n_passes, shuffle, random_state :
        as in `KernelDictionaryLearning`, for each class; `budget` is that of one class.

    Attributes
    ----------
    classes_ : (C,) the labels, sorted.
    n_centers_ : (C,) how many samples are stored for each class.
    n_samples_seen_, nbytes_, kernel_

    References
    ----------
    J. Lee, S.-J. Kim, *Online kernel dictionary learning on a budget*, Asilomar 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KernelDictionaryClassifier
    >>> rng = np.random.default_rng(0)
    >>> angles, radius = rng.uniform(0, 2 * np.pi, size=1000), np.repeat([1.0, 2.0], 500)
    >>> X = radius[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> model = KernelDictionaryClassifier(10, gamma=1.0, budget=20, step_size=0.1, random_state=0).fit(X, radius)
    >>> bool(model.score(X, radius) > 0.95)
    True
    """

    classes_: NDArray[Any]
    _learners: dict[Any, _core.Atoms]  # label: its atoms

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn afresh from X (n, d) and labels y (n,), `n_passes` times, shuffled before each pass unless told not to."""
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        before = self.__dict__.copy()
        try:
            X, labels = self._first(X, y, None, all_at_once=True)
            rng = self._rng
            for _ in range(n_passes):
                order = rng.permutation(len(X)) if self.shuffle else np.arange(len(X))
                self._learn(X[order], labels[order])
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on learning with a block X (n, d), y (n,), in order.

        `classes` need not be given. If it is, in the first call, any other label is refused later; else classes are met as they come. A block that is refused changes nothing.
        """
        before = self.__dict__.copy()
        drawn = self._rng.get_state() if hasattr(self, "_learners") else None
        try:
            if not hasattr(self, "_learners"):
                X, labels = self._first(X, y, classes, all_at_once=False)
            else:
                require_unchanged(self, self._learns_with)
                X, labels = self._validated(X, reset=False), self._labels(y, X)
                if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
                    raise ValueError(
                        f"classes is {np.unique(np.asarray(classes)).tolist()}, but the classes so far are {self.classes_.tolist()}"
                    )
                next(iter(self._learners.values())).check(X)
                self._learners = dict(self._learners)
                self._meet(labels, X.shape[1])
            self._learn(X, labels)
        except BaseException:
            self.__dict__ = before
            if drawn is not None:
                self._rng.set_state(drawn)
            raise
        return self

    def learn_one(self, x: ArrayLike, y: Any) -> Self:
        """Learn one sample: x (d,), y its label. The same as `partial_fit` with one row, without its overhead."""
        row = one_row(x, "x", "(d,)")[np.newaxis]
        if isinstance(y, np.ndarray) and y.ndim == 0:
            y = y.item()
        learner = self._learners.get(y) if hasattr(self, "_learners") else None
        if learner is None:
            return self.partial_fit(row, np.asarray(y)[np.newaxis])
        learner.learn(row)
        return self

    def predict_one(self, x: ArrayLike) -> Any:
        """Predict the label of one point x (d,)."""
        if not hasattr(self, "_learners"):
            check_is_fitted(self)
        row = one_row(x, "x", "(d,)")[np.newaxis]
        errors = [self._learners[label].errors(row)[0] for label in self.classes_.tolist()]
        return self.classes_[int(np.argmin(errors))]

    def reconstruction_errors(self, X: ArrayLike) -> Array:
        """Return ||phi(x) - D_c alpha||^2 for each row of X (n, d) and each class: (n, C)."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return np.stack([self._learners[label].errors(X) for label in self.classes_.tolist()], axis=1)

    def decision_function(self, X: ArrayLike) -> Array:
        """Return minus the reconstruction errors, (n, C); with two classes the difference, (n,)."""
        scores = -self.reconstruction_errors(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels for X (n, d): the class of the least reconstruction error, (n,)."""
        errors = self.reconstruction_errors(X)
        result: NDArray[Any] = self.classes_[errors.argmin(axis=1)]
        return result

    @property
    def n_centers_(self) -> NDArray[np.int64]:
        """How many samples are stored for each class, (C,)."""
        check_is_fitted(self)
        return np.array([self._learners[label].n_centers for label in self.classes_.tolist()])

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were seen, every pass counted."""
        check_is_fitted(self)
        return sum(learner.n_samples_seen for learner in self._learners.values())

    @property
    def nbytes_(self) -> int:
        """Bytes that the model holds, working memory included."""
        check_is_fitted(self)
        return sum(learner.nbytes for learner in self._learners.values())

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle and copy keep: all that it takes to go on as if nothing had happened."""
        state: dict[str, Any] = dict(super().__getstate__())
        learners = state.pop("_learners", None)
        if learners is not None:
            state["_learned"] = {label: learner.state() for label, learner in learners.items()}
            state["_rng"] = copy.deepcopy(state["_rng"])  # a copy draws for itself
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        state = dict(state)
        learned = state.pop("_learned", None)
        super().__setstate__(state)
        if learned is not None:
            self._learners = {label: self._unpack(self.n_features_in_, *kept) for label, kept in learned.items()}

    def _widen(self, n_features: int) -> None:
        """Make room for further features, which were 0 in all that was seen so far: nothing else changes."""
        self._learners = {label: self._wider(learner, n_features) for label, learner in self._learners.items()}
        self.n_features_in_ = n_features

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a model."""
        return hasattr(self, "_learners")

    def _first(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, *, all_at_once: bool
    ) -> tuple[Array, NDArray[Any]]:
        X = self._begin(X)
        labels = self._labels(y, X)
        self._rng = check_random_state(self.random_state)
        self._closed = False
        self._learners = {}
        self.classes_ = labels[:0]
        if classes is not None or all_at_once:
            self._meet(np.unique(labels if classes is None else np.asarray(classes)), X.shape[1])
        self._closed = classes is not None
        self._meet(labels, X.shape[1])
        return X, labels

    def _meet(self, labels: NDArray[Any], n_features: int) -> None:
        """Make a dictionary for every class that has none, in the order in which they come: a block draws what its rows would."""
        for label in dict.fromkeys(labels.tolist()):
            if label in self._learners:
                continue
            if self._closed:
                row = np.flatnonzero(labels == label)[0]
                raise ValueError(f"y has the label {label!r} at row {row}, which is not among the classes given")
            if len(self.classes_) and isinstance(label, str) != isinstance(self.classes_.tolist()[0], str):
                raise TypeError(f"labels so far are {self.classes_.dtype}, y holds {labels.dtype}")
            self._learners[label] = self._atoms(n_features, self._first_rows(self._rng))
        self.classes_ = np.unique(np.concatenate([self.classes_, labels]))

    def _learn(self, X: Array, labels: NDArray[Any]) -> None:
        for label, learner in self._learners.items():
            rows = labels == label
            if rows.any():
                learner.learn(X[rows])

    @staticmethod
    def _labels(y: ArrayLike, X: ArrayLike) -> NDArray[Any]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        labels: NDArray[Any] = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        if len(labels) != len(np.asarray(X)):
            raise ValueError(f"X has {len(np.asarray(X))} rows, y has {len(labels)}")
        return labels
