"""Dictionaries learned in the feature space of a kernel, from a stream, on a budget of stored
samples.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import RLock
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from parsimon import _core, _parts, _schema, kernels
from parsimon._parts import joined, lookup, real, whole
from parsimon.estimators.base import (
    FITTED,
    one_row,
    points,
    require_names,
    require_unchanged,
    unchanged_on_error,
    with_wider_points,
)
from parsimon.estimators.classifier import known_label
from parsimon.persistence import Storable
from parsimon.updates import SCHEDULES, Schedule

__all__ = ["KernelDictionaryClassifier", "KernelDictionaryLearning"]

Array = NDArray[np.float64]
T = TypeVar("T")

#: How the rate falls. "held" is the paper's: step_size / (1 + n / 1000) for the first 2000 samples,
#: then constant.
RATES: dict[str, tuple[Schedule, int | None]] = {
    "held": (Schedule(power=1.0, delay=1000), 2000),
    **{name: (rule, None) for name, rule in SCHEDULES.items()},
}


class _KernelDictionary(Storable, BaseEstimator):  # type: ignore[misc]
    """The parameters of a dictionary, and what it is made of."""

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
        """Return atoms that have seen nothing, given the first rows of Omega.

        Their memory is taken at once, or else when they learn their first sample.
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
            at_once=at_once,
        )

    def _begin(self, X: ArrayLike) -> Array:
        """Return X as it is learned from; the kernel's width is measured on it."""
        X = points(self, X, reset=True)
        _core.require_finite(X, "X")
        self.kernel_ = kernels.resolve(self.kernel, self.gamma, X)
        self._learns_with = self.get_params(deep=False)
        return X

    def _wider(self, learner: _core.Atoms, n_features: int) -> _core.Atoms:
        """Return the same atoms with room for further features, which were 0 in all that was seen
        so far.
        """
        arrays, counts = learner.state()
        arrays = with_wider_points(self.kernel_, arrays, self.n_features_in_, n_features)
        return self._unpack(n_features, arrays, counts)

    def _require_agreement(self) -> None:
        """Raise a ValueError unless a model that was read from a file agrees with its parameters."""
        require_names(self)
        given, gamma = self._learns_with["kernel"], self._learns_with["gamma"]
        if not kernels.agrees(
            self.kernel_, given, gamma, lambda k, g: kernels.resolve(k, g, np.zeros((1, 1)))
        ):
            raise ValueError(f"its kernel {self.kernel_!r} is not what its parameters say")

    def _unpack(
        self, n_features: int, arrays: dict[str, Array], counts: dict[str, int]
    ) -> _core.Atoms:
        K, first = (
            whole("n_components", self._learns_with["n_components"], at_least=1),
            arrays.get("first"),
        )
        if not isinstance(first, np.ndarray) or first.size == 0 or first.size % K:
            raise ValueError(f"the state's first rows are not of {K} numbers")
        now = self.get_params(deep=False)
        self.set_params(**self._learns_with)  # atoms are made of what learning began with
        try:
            atoms = self._atoms(n_features, first.reshape(-1, K), at_once=False)
        finally:
            self.set_params(**now)
        atoms.restore(arrays, counts)
        return atoms


class KernelDictionaryLearning(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    _KernelDictionary,
):
    """Online kernel dictionary learning on a budget: sparse codes over atoms that live in the
    feature space of a kernel.

    Atoms D = Phi(X~) Omega are combinations of a few stored samples X~. A sample is coded by

        alpha = argmin ||phi(x) - D alpha||^2 / 2 + lambda ||alpha||_1,

    and D takes a step of rate rho_n down the gradient of that cost plus (mu / 2) ||D||_F^2, in the
    feature space or in the parameters Omega; the sample is stored, and beyond the budget the stored
    sample with the least row of Omega goes. A sample that fails the admission test changes nothing.
    A step that would overshoot (leave the sample's own cost higher than it was) is cut to the one
    that lowers it most.

    Parameters
    ----------
    n_components : int, default=50
        K, the number of atoms.
    kernel, gamma : as in `KNLMSRegressor`. The size of k(x, x) sets the balance with alpha and
    penalty.
    alpha : float >= 0, default=0.05
        lambda, the weight of the lasso's penalty. Where it exceeds every |D'phi(x)| all codes are
        zero.
    penalty : float >= 0, default=0.1
        mu, which keeps the atoms from growing.
    step_size : float > 0, default=0.01
    schedule : "held", "constant", "diminishing" or a `parsimon.updates.Schedule`, default="held"
        How the rate falls with the number n of samples seen. "held" is the paper's rule: rho_n =
        step_size / (1 + n / 1000) up to n = 2000, and constant from there on.
    update : "parameter" or "feature", default="parameter"
        (19)-(20), O(m^2 K) for each sample, or (15), O(m K + K^2). In feature space a sample enters
        with the row rho alpha', which at small rates is the least and so the first to go once the
        budget is reached: from there on the atoms only fade. Give it a budget that is not reached,
        or an admission test that few pass.
    admission : "coherence", "reconstruction", "always" or "never", default="coherence"
        A sample is learned and stored if its coherence with every stored one is below `coherence`
        (21; an exact copy has coherence 1, whatever rounding says), if the squared error of its
        reconstruction exceeds `tolerance` (22), or in any case. "never": all are learned, and none
        is stored after the first `n_init`.
    coherence : float in [0, 1], default=1.0
        gamma in the paper. 1 admits all but exact copies (and, for kernels that do not see lengths,
        multiples).
    tolerance : float >= 0, default=0
        epsilon in the paper, a squared norm.
    budget : int, default=100
        B, the most samples stored. They take (m / 2 + 3 K + d) m numbers of 8 bytes.
    n_init : int or None, default=None
        M0: the first samples, which are stored as they are. None: as many as there are atoms, or
        the budget.
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
        """Learn afresh from X (n, d), `n_passes` times, shuffled before each pass unless told not
        to. y is ignored.
        """
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        rng = check_random_state(self.random_state)
        with unchanged_on_error(self):
            X = self._begin(X)
            learner = self._atoms(X.shape[1], self._first_rows(rng))
            learner.check(X)  # rows are named by the places they have in X
            for _ in range(n_passes):
                learner.learn(X[rng.permutation(len(X))] if self.shuffle else X)
            self._learner = learner
        return self

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Go on learning with a block X (n, d), in order.

        A block equals its rows; one that is refused changes nothing.
        """
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
        """Go on learning with a block X (n, d), and return the cost of each row just before it was
        learned, (n,).

        That is ||phi(x) - D alpha||^2 / 2 + lambda ||alpha||_1 + (mu / 2) ||D||_F^2.
        """
        return self._learn_block(X, _core.Atoms.learn_with_costs)

    def transform(self, X: ArrayLike) -> Array:
        """Return the codes of X (n, d): (n, K), mostly zeros."""
        return self._fitted().codes(points(self, X, reset=False))

    def reconstruction_error(self, X: ArrayLike) -> Array:
        """Return ||phi(x) - D alpha||^2 for each row of X (n, d): (n,)."""
        return self._fitted().errors(points(self, X, reset=False))

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
            return learn(self._learner, points(self, X, reset=False))
        with unchanged_on_error(self):
            X = self._begin(X)
            learner = self._atoms(
                X.shape[1], self._first_rows(check_random_state(self.random_state))
            )
            result = learn(learner, X)
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

    def _require_sound(self) -> None:
        if hasattr(self, "_learner"):
            self._require_agreement()
            self._learner.require_sound()

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a model."""
        return hasattr(self, "_learner")

    def _widen(self, n_features: int) -> None:
        """Make room for further features, which were 0 in all that was seen so far: the codes stay
        as they were.
        """
        self._learner, self.n_features_in_ = self._wider(self._fitted(), n_features), n_features

    def _fitted(self) -> _core.Atoms:
        check_is_fitted(self)
        return self._learner


class KernelDictionaryClassifier(ClassifierMixin, _KernelDictionary):  # type: ignore[misc]
    """A dictionary for each class; the class whose dictionary reconstructs a point best is
    predicted.

    Each is learned as in `KernelDictionaryLearning` from the samples of its class alone, and holds
    as many of them as its admission test lets in, up to the budget: classes that vary less need
    fewer. Classes may be met as they come.

    Parameters
    ----------
    n_components, kernel, gamma, alpha, penalty, step_size, schedule, update, admission, coherence,
    tolerance, budget, n_init, init_scale, n_passes, shuffle, random_state :
        as in `KernelDictionaryLearning`, for each class; `budget` is that of one class.

    There are no weights of samples or classes: each class has a dictionary of its own, which says
    how a sample of it looks, not how likely it is.

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
    _rng: np.random.RandomState
    _attributes = FITTED.extended(
        {
            "classes_": _schema.is_labels,
            "_closed": _schema.one_of(bool),
            "_rng": _schema.one_of(np.random.RandomState),
        }
    )
    # Held while atoms learn, and while those of all classes are looked at: together they are one
    # state
    _lock: RLock

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn afresh from X (n, d) and labels y (n,), `n_passes` times, shuffled before each pass
        unless told not to.
        """
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        with self._learning():
            X, labels = self._first(X, y, None, all_at_once=True)
            for _ in range(n_passes):
                order = self._rng.permutation(len(X)) if self.shuffle else np.arange(len(X))
                self._learn(X[order], labels[order])
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on learning with a block X (n, d), y (n,), in order.

        `classes` need not be given. If it is, in the first call, any other label is refused later;
        else classes are met as they come. A block that is refused changes nothing.
        """
        with self._learning():
            if not hasattr(self, "_learners"):
                X, labels = self._first(X, y, classes, all_at_once=False)
            else:
                require_unchanged(self, self._learns_with)
                X = points(self, X, reset=False)
                labels = self._labels(y, len(X))
                if classes is not None:
                    given = np.unique(_parts.labels(classes, "classes")).tolist()
                    if given != self.classes_.tolist():
                        raise ValueError(
                            f"classes is {given}, but the classes so far are {self.classes_.tolist()}"
                        )
                self._learners = dict(self._learners)
                self._meet(labels, X.shape[1])
                self._check(X)
            self._learn(X, labels)
        return self

    def learn_one(self, x: ArrayLike, y: Any) -> Self:
        """Learn one sample: x (d,), y its label.

        The same as `partial_fit` with one row, without its overhead.
        """
        row = one_row(x, "x", "(d,)")[np.newaxis]
        y, learner = known_label(self._learners if hasattr(self, "_learners") else {}, y)
        if learner is None:
            return self.partial_fit(row, [y])
        with self._lock:
            learner.learn(row)
        return self

    def predict_one(self, x: ArrayLike) -> Any:
        """Predict the label of one point x (d,)."""
        if not hasattr(self, "_learners"):
            check_is_fitted(self)
        errors, classes = self._errors(one_row(x, "x", "(d,)")[np.newaxis])
        return classes[errors[0].argmin()]

    def reconstruction_errors(self, X: ArrayLike) -> Array:
        """Return ||phi(x) - D_c alpha||^2 for each row of X (n, d) and each class: (n, C)."""
        check_is_fitted(self)
        return self._errors(points(self, X, reset=False))[0]

    def decision_function(self, X: ArrayLike) -> Array:
        """Return minus the reconstruction errors, (n, C); with two classes the difference, (n,)."""
        scores = -self.reconstruction_errors(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels for X (n, d): the class of the least reconstruction error, (n,)."""
        check_is_fitted(self)
        errors, classes = self._errors(points(self, X, reset=False))
        result: NDArray[Any] = classes[errors.argmin(axis=1)]
        return result

    @property
    def n_centers_(self) -> NDArray[np.int64]:
        """How many samples are stored for each class, (C,)."""
        return np.array(self._of_each(lambda learner: learner.n_centers))

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were seen, every pass counted."""
        return sum(self._of_each(lambda learner: learner.n_samples_seen))

    @property
    def nbytes_(self) -> int:
        """Bytes that the model holds, working memory included."""
        return sum(self._of_each(lambda learner: learner.nbytes))

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle and copy keep: all that it takes to go on as if nothing had happened."""
        with getattr(self, "_lock", nullcontext()):
            state: dict[str, Any] = dict(super().__getstate__())
            state.pop("_lock", None)
            learners = state.pop("_learners", None)
            if learners is not None:
                state["_learned"] = {label: learner.state() for label, learner in learners.items()}
                rng = copy.deepcopy(state["_rng"])  # a copy draws for itself
                if state["_rng"] is self.random_state:
                    state.update(
                        random_state=rng, _learns_with={**self._learns_with, "random_state": rng}
                    )
                state["_rng"] = rng
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        state = dict(state)
        learned = state.pop("_learned", None)
        super().__setstate__(state)
        if learned is not None:
            self._lock = RLock()
            if isinstance(self.random_state, np.random.RandomState):  # that is what is drawn from
                self._rng = self.random_state
            self._learners = {
                label: self._unpack(self.n_features_in_, *kept) for label, kept in learned.items()
            }

    def _widen(self, n_features: int) -> None:
        """Make room for further features, which were 0 in all that was seen so far: nothing else
        changes.
        """
        with self._lock:
            self._learners = {
                label: self._wider(learner, n_features) for label, learner in self._learners.items()
            }
            self.n_features_in_ = n_features

    def _require_sound(self) -> None:
        if not hasattr(self, "_learners"):
            return
        self._require_agreement()
        labels = self.classes_.tolist()
        if (
            not labels
            or labels != np.sort(self.classes_).tolist()
            or set(labels) != self._learners.keys()
        ):
            raise ValueError("its classes are not those that it learned")
        for learner in self._learners.values():
            learner.require_sound()

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a model."""
        return hasattr(self, "_learners")

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """Hold the model while it learns; nothing is changed if that fails."""
        with self.__dict__.setdefault("_lock", RLock()), unchanged_on_error(self):
            yield

    def _of_each(self, what: Callable[[_core.Atoms], T]) -> list[T]:
        """Return something of the atoms of each class, all at one moment, in the order of
        `classes_`.
        """
        check_is_fitted(self)
        with self._lock:
            return [what(self._learners[label]) for label in self.classes_.tolist()]

    def _errors(self, X: Array) -> tuple[Array, NDArray[Any]]:
        """Return the reconstruction errors (n, C), and the labels of their columns."""
        with self._lock:
            classes = self.classes_
            errors = [self._learners[label].errors(X) for label in classes.tolist()]
        return np.array(errors).T, classes

    def _first(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, *, all_at_once: bool
    ) -> tuple[Array, NDArray[Any]]:
        X = self._begin(X)
        labels = self._labels(y, len(X))
        self._rng = check_random_state(self.random_state)
        self._closed = False
        self._learners = {}
        self.classes_ = labels[:0]
        if classes is not None or all_at_once:
            self._meet(
                np.unique(labels if classes is None else _parts.labels(classes, "classes")),
                X.shape[1],
            )
        self._closed = classes is not None
        self._meet(labels, X.shape[1])
        self._check(X)
        return X, labels

    def _check(self, X: Array) -> None:
        """Refuse rows that cannot be learned by the places they have in X; all atoms have the same
        kernel.
        """
        next(iter(self._learners.values())).check(X)

    def _meet(self, labels: NDArray[Any], n_features: int) -> None:
        """Make a dictionary for every class that has none, in the order in which they come: a block
        draws what its rows would.
        """
        each = labels.tolist()
        new = [label for label in dict.fromkeys(each) if label not in self._learners]
        if not new:
            return
        rows = [each.index(label) for label in new]
        if self._closed:
            raise ValueError(
                f"y has the label {new[0]!r} at row {rows[0]}, which is not among the classes given"
            )
        self.classes_ = np.sort(joined(self.classes_, labels[rows]))
        for label in new:
            self._learners[label] = self._atoms(n_features, self._first_rows(self._rng))

    def _learn(self, X: Array, labels: NDArray[Any]) -> None:
        found, of = np.unique(labels, return_inverse=True)
        for i, label in enumerate(found.tolist()):
            self._learners[label].learn(X[of == i])

    @staticmethod
    def _labels(y: ArrayLike, n: int) -> NDArray[Any]:
        labels = _parts.labels(y)
        if len(labels) != n:
            raise ValueError(f"X has {n} rows, y has {len(labels)}")
        return labels
