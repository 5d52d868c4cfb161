"""A mixture of classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length

from parsimon import _parts, _schema
from parsimon._parts import extended_labels
from parsimon.estimators.classifier import StreamClassifier, first_rows
from parsimon.estimators.inputs import one_row
from parsimon.estimators.shuffled import without_weights
from parsimon.mixtures.base import Mixture
from parsimon.mixtures.candidates import CandidateClassifier
from parsimon.mixtures.combiners import LabelHistory, PoolPair
from parsimon.mixtures.defaults import experts_for_classes
from parsimon.mixtures.experts import Expert
from parsimon.mixtures.tasks import Probabilities, Scores

__all__ = ["MixtureClassifier"]

Array = NDArray[np.float64]
Labels = NDArray[Any]

#: The experts that need no estimator.
FREE = ("frequencies", "frequencies after the last label")


class MixtureClassifier(ClassifierMixin, Mixture):  # type: ignore[misc]
    """Several classifiers learned side by side, with their probabilities combined.

    It needs no parameters and no scaled data. Expert e gives class c the probability p_e(c). There
    are two combinations of these probabilities, each learned online (~ means proportional to):

        logarithmic pool:  p(c) ~ prod_e p_e(c)^(w_e),
        Bayes' mixture:    p(c) = sum_e v_e p_e(c),    v_e ~ exp(-L_e).

    The weights w_e decrease the logarithmic loss of the pool by online Newton steps. L_e is the
    logarithmic loss of expert e over about 500 rows. The result is a mean of the pool and the
    mixture, weighted by their own recent losses.

    Some experts learn logistic losses. Others are least-squares regressors with one output per
    class. Their scores f become probabilities by softmax(s f), where the scale s is learned. Two
    more experts need no estimator. One gives the frequencies of the classes. The other gives the
    frequencies of the classes that followed the label of the previous row. An expert sleeps until
    it has seen enough rows to begin. One expert scales the features by their
    relevance, the root mean squared derivative of its scores with respect to the feature. From time
    to time a new version of an expert, the challenger, learns the recent rows. It takes the place
    of the old version if its errors there are at most 2 % larger.

    Parameters
    ----------
    experts : list of Expert or None, default=None
        The experts. None means those of `parsimon.mixtures.defaults`.
    budget : int, default=2000
        Maximum number of centres of all experts and challengers together. Each expert gets a part
        in proportion to its `share`. An expert with relevance counts twice, because it can have a
        challenger.
    standardize : bool, default=True
        Whether features are standardised by their running means and deviations, and clipped to 3
        deviations. False is for features that have been scaled.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows. Rows that are sorted by their targets would be learned as a
        stream that changes. `partial_fit` learns rows in their order.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows in `fit`.
    n_jobs : int or None, default=None
        Number of threads for the experts (-1: one per core). It changes no bit.

    Attributes
    ----------
    classes_ : array (C,)
        The labels, sorted.
    experts_ : list
        The estimators, None for an expert that sleeps.
    expert_names_ : list of str
        The names of the experts, those without estimator last.
    shares_ : array (E,)
        The weight of each expert: the mean of its weights in the pool and in the mixture, weighted
        by the shares of the two.
    relevance_ : array (d,) or None
        The relevance of each feature, the largest being 1.
    n_centers_ : int
        Number of centres of all experts.
    nbytes_ : int
        Memory in bytes: experts, challengers and recent rows.
    n_samples_seen_ : int
        Number of samples learned.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    New classes can appear at any time. A class has probability 0 until it appears. A block gives
    the same model as its rows one by one, bit for bit. There are no sample
    weights, and mixtures cannot be merged. Only one thread at a time may use a mixture.

    References
    ----------
    C. Genest, J. V. Zidek, *Combining probability distributions*, Statistical Science 1986
    (logarithmic pools).

    M. Herbster, M. K. Warmuth, *Tracking the best expert*, Machine Learning 1998.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> model = MixtureClassifier().partial_fit(X, np.where(X[:, 0] * X[:, 1] > 0, "same", "not"))
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]])
    array(['same', 'not'], dtype='<U4')
    """

    _attributes = Mixture._attributes.extended(
        {
            "_met": _schema.is_labels,
            "_pool": _schema.listed(_schema.finite_array(None, None, least=-1e12, most=1e12)),
            "_history": _schema.one_of(dict),
        }
    )
    _free = FREE
    _met: Labels  # in the order in which they appeared
    _pool: PoolPair
    _history: LabelHistory

    def __init__(
        self,
        experts: Sequence[Expert] | None = None,
        *,
        budget: int = 2000,
        standardize: bool = True,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.experts = experts
        self.budget = budget
        self.standardize = standardize
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Learning

    @without_weights
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue learning with a block X (n, d) and labels y (n,), in order.

        `classes` is for scikit-learn, and need not be given. A label that is not among them raises
        an error. A block equals its rows, bit for bit. A block with invalid values raises an error
        and changes nothing.
        """
        if classes is not None:
            given, labels = _parts.labels(classes, "classes"), _parts.labels(y)
            strange = set(labels.tolist()) - set(given.tolist())
            if strange:
                raise ValueError(f"y has the label {min(strange)!r}, which is not in classes")
        self.predict_proba_then_learn(X, y)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Labels:
        """Learn a block, and return the label predicted before each row, (n,).

        Nothing is known at the very first row: its own label is returned.
        """
        labels = _parts.labels(y)
        P = self.predict_proba_then_learn(X, labels)
        result: Labels = np.where(P.any(axis=1), self.classes_[P.argmax(axis=1)], labels)
        return result

    def predict_proba_then_learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Learn a block, and return the probabilities before each row, (n, C).

        Columns are as in `classes_` after the block. A class that was not known at a row has
        probability 0 there.
        """
        with self._block(X) as (rows, begins):
            labels = _parts.labels(y)
            check_consistent_length(rows, labels)
            known = getattr(self, "_met", labels[:0])
            met = extended_labels(known, labels[first_rows(labels, set(known.tolist()))])
            if begins:
                self._begin(rows.shape[1], met)
        index = {label: i for i, label in enumerate(met.tolist())}
        numbers = np.array([index[label] for label in labels.tolist()], dtype=np.int64)
        out = np.zeros((len(rows), len(met)))

        def prepare(piece: slice) -> tuple[int, int]:
            known = len(self._met)
            self._met = met[: max(known, int(numbers[piece].max()) + 1)]
            targets = numbers[piece, np.newaxis].astype(np.float64)
            self._recent.append(self._scaled(rows[piece], learn=True), targets)
            return len(self._met), known

        def combine(piece: slice, known: int, P: Array) -> None:
            history = self._history.run(numbers[piece], known, P.shape[2])
            each = np.concatenate([P, history], axis=1)
            out[piece, : P.shape[2]] = self._pool.run(each, numbers[piece], known)

        self._learn_rows(len(rows), prepare, combine)
        return out[:, np.argsort(met)]

    def learn_one(self, x: ArrayLike, y: Any) -> Self:
        """Learn one sample: x (d,), y its label. Equals `partial_fit` with one row."""
        return self.partial_fit(one_row(x, "x", "(d,)")[np.newaxis], [y])

    # Predicting

    def predict_proba(self, X: ArrayLike, *, lagged: bool = True) -> Array:
        """Return the probability of each class, (n, C), with columns in the order of `classes_`.

        Every row counts as the next one after the last row learned. For rows that do not follow it,
        use ``lagged=False``: then only experts that need no earlier labels are combined, with
        weights of their own.
        """
        P = self._fitted()._pool.combine(self._of_experts(X), lagged)
        return P[:, np.argsort(self._met)]

    def predict(self, X: ArrayLike, *, lagged: bool = True) -> Labels:
        """Predict labels for X (n, d): the most probable, (n,). `lagged` as in `predict_proba`."""
        result: Labels = self.classes_[self.predict_proba(X, lagged=lagged).argmax(axis=1)]
        return result

    def predict_proba_one(self, x: ArrayLike) -> dict[Any, float]:
        """Return the probability of each label for one point x (d,)."""
        P = self.predict_proba(one_row(x, "x", "(d,)")[np.newaxis])[0]
        return dict(zip(self.classes_.tolist(), P.tolist(), strict=True))

    def predict_one(self, x: ArrayLike) -> Any:
        """Predict the label of one point x (d,)."""
        return self.predict(one_row(x, "x", "(d,)")[np.newaxis])[0]

    @property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        labels: Labels = np.sort(self._fitted()._met)
        return labels

    @property
    def shares_(self) -> Array:
        """The weight of each expert, (E,)."""
        weights: Array = self._fitted()._pool.full.weights
        return weights

    # Implementation

    def _default_experts(self) -> list[Expert]:
        return experts_for_classes()

    def _given(self) -> list[Expert]:
        experts = super()._given()
        for expert in experts:
            model = expert.estimator
            if isinstance(model, StreamClassifier) and not hasattr(model, "predict_proba"):
                raise TypeError(f"the estimator of expert {expert.name!r} gives no probabilities")
        return experts

    def _checked(self, y: ArrayLike, n: int) -> Labels:
        labels = _parts.labels(y)
        check_consistent_length(np.empty(n), labels)
        return labels

    def _combiner_bytes(self) -> int:
        return sum(state.nbytes for state in self._pool.states) + self._history.table.nbytes

    def _gradient_weights(self) -> Array:
        pool = self._pool.plain.parts
        weights = np.zeros(len(self._slots) + len(FREE))
        # Those with probabilities have other outputs, and are left out.
        weights[self._pool.columns] = pool.weights * pool.scales * self._pool.plain.scored
        each = weights[: len(self._slots), np.newaxis, np.newaxis]
        return np.repeat(each, len(self._met), axis=1)

    def _task(self, expert: Expert) -> Scores | Probabilities:
        is_classifier = isinstance(expert.estimator, StreamClassifier)
        return Probabilities() if is_classifier else Scores()

    @property
    def _scored(self) -> Array:
        each = [isinstance(task, Scores) for task in self._tasks]
        return np.array([*each, *(False for _ in FREE)], dtype=np.float64)

    @property
    def _uses_lags(self) -> list[bool]:
        return [*(slot.expert.lags > 0 for slot in self._slots), False, True]

    def _begin(self, n_features: int, met: Labels) -> None:
        self._start(n_features, 1)
        self._met = met[:0]
        self._pool = PoolPair(self._scored, self._uses_lags)
        self._history = LabelHistory()

    def _of_experts(self, X: ArrayLike) -> Array:
        self._fitted()
        Z = self._scaled(self._validated(X, reset=False), learn=False)
        P = self._now(Z, len(self._met))
        own = np.broadcast_to(self._history.now(), (len(Z), 2, len(self._met)))
        result: Array = np.concatenate([P, own], axis=1)
        return result

    # State

    @classmethod
    def _stored_as(cls, state: Any) -> type[Any]:
        """Return the class of a stored state. Earlier versions had another class of this name."""
        return CandidateClassifier if isinstance(state, dict) and "candidates" in state else cls

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, copy and files."""
        state: dict[str, Any] = super().__getstate__()
        if "_pool" in state:
            state["_pool"] = self._pool.states
            state["_history"] = self._history.state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        pool, history = state.pop("_pool", None), state.pop("_history", None)
        super().__setstate__(state)
        if pool is not None and history is not None:
            self._pool = PoolPair(self._scored, self._uses_lags, pool)
            self._history = LabelHistory.restored(history, len(self._met))
            for task in self._tasks:
                task.expect(len(self._met))

    def _require_sound(self) -> None:
        super()._require_sound()
        if not hasattr(self, "_recent"):
            return
        C = len(self._met)
        if not self._pool.is_sound:
            raise ValueError("its weights are not those of its experts")
        T = self._recent.T
        if T.shape[1] != 1 or (T % 1 != 0).any() or (T < 0).any() or (max(C, 1) <= T).any():
            raise ValueError("the labels of its recent rows are not sound")
        for slot in self._slots:
            for model in slot.models:
                if isinstance(model, StreamClassifier):
                    if not set(model.classes_.tolist()) <= set(range(C)):
                        raise ValueError("the classes of an expert are not sound")
                elif model.n_outputs_ > C:
                    raise ValueError(f"an expert has more than {C} outputs")
