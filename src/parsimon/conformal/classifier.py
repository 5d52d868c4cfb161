"""A classifier with sets of labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from parsimon import _schema
from parsimon.conformal.calibrator import Calibrator
from parsimon.conformal.wrapped import Wrapped
from parsimon.estimators.inputs import one_row, points
from parsimon.estimators.shuffled import without_weights
from parsimon.estimators.state import unchanged_on_error
from parsimon.evaluation import Predictions, predict_then_learn

__all__ = ["ConformalClassifier"]

Array = NDArray[np.float64]
Labels = NDArray[Any]
Flags = NDArray[np.bool_]


class ConformalClassifier(ClassifierMixin, Wrapped):  # type: ignore[misc]
    """A classifier with sets of labels that contain a given share of the true labels.

    Every row is predicted before it is learned. With p_k(x) the probability of class k, the set at
    x holds the most probable class and all classes with

        1 - p_k(x) <= q.

    q is a quantile of the scores 1 - p_y(x) of the true labels of the last `window` rows. The level
    of the quantile follows what was covered (adaptive conformal inference), so coverage stays near
    its target when the stream changes. If the most probable class is right more often than that,
    coverage is larger.

    Parameters
    ----------
    model : classifier
        The model, which is cloned: a `MixtureClassifier`, a `POLKClassifier`, or another classifier
        of parsimon with probabilities.
    coverage : float in (0, 1), default=0.9
        The share of labels to cover. Larger values give larger sets.
    window : int, default=500
        The number of scores that are kept. Larger windows give steadier sets, and follow changes
        more slowly.
    rate : float in [0, 1), default=0.005
        The step of the level. Larger rates follow changes faster, and make sets less steady.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows. `partial_fit` learns rows in their order.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows in `fit`.

    Attributes
    ----------
    model_ : classifier
        The model that learns.
    classes_ : array (C,)
        The labels, sorted.
    coverage_ : float
        The share of the last `window` labels that were in their sets.
    n_centers_ : int
        Number of centres of the model.
    nbytes_ : int
        Memory in bytes: model and scores.
    n_samples_seen_ : int
        Number of samples learned.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A block gives the same sets and the same model as its rows one by one, bit for bit. A label that
    is new at its row is in no set. There are no sample weights.

    References
    ----------
    I. Gibbs, E. Candes, *Adaptive conformal inference under distribution shift*, NeurIPS 2021.

    M. Sadinle, J. Lei, L. Wasserman, *Least ambiguous set-valued classifiers with bounded error
    levels*, Journal of the American Statistical Association 2019.

    Examples
    --------
    >>> from parsimon import MixtureClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.where(X[:, 0] + 0.5 * rng.normal(size=2000) > 0, "up", "down")
    >>> model = ConformalClassifier(MixtureClassifier(), coverage=0.95).partial_fit(X, y)
    >>> model.classes_, model.predict_set([[3.0, 0.0], [0.0, 0.0]])
    (array(['down', 'up'], dtype='<U4'), array([[False,  True],
           [ True,  True]]))
    """

    _attributes = Wrapped._attributes.extended({"_scores": _schema.finite_array(None)})
    _calibrator: Calibrator

    def __init__(
        self,
        model: Any,
        coverage: float = 0.9,
        *,
        window: int = 500,
        rate: float = 0.005,
        shuffle: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.model = model
        self.coverage = coverage
        self.window = window
        self.rate = rate
        self.shuffle = shuffle
        self.random_state = random_state

    # Learning

    @without_weights
    def partial_fit(self, X: ArrayLike, y: ArrayLike, sets: ArrayLike | None = None) -> Self:
        """Continue learning with a block X (n, d), y (n,), in order.

        `sets` (n, C) are those that `predict_set` gave for these rows earlier, if labels arrive
        late, with columns as in `classes_` before this block. Then the sets follow what these
        contained.
        """
        self._learn(X, y, sets)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Labels:
        """Learn a block, and return the label predicted before each row, (n,)."""
        return self._learn(X, y)[0].values

    def predict_proba_then_learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Learn a block, and return the probabilities before each row, (n, C)."""
        found = self._learn(X, y)[0].probabilities
        assert found is not None
        return found

    def predict_set_then_learn(self, X: ArrayLike, y: ArrayLike) -> Flags:
        """Learn a block, and return the set of labels before each row, (n, C).

        Columns are as in `classes_` after the block.
        """
        return self._learn(X, y)[1]

    def learn_one(self, x: ArrayLike, y: Any) -> Self:
        """Learn one sample: x (d,) and its label. Equals `partial_fit` with one row."""
        return self.partial_fit(one_row(x, "x", "(d,)")[np.newaxis], [y])

    # Predicting

    def predict(self, X: ArrayLike) -> Labels:
        """Predict labels for X (n, d): (n,)."""
        found: Labels = self._fitted().model_.predict(points(self, X, reset=False))
        return found

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each class, (n, C)."""
        found: Array = self._fitted().model_.predict_proba(points(self, X, reset=False))
        return found

    def predict_set(self, X: ArrayLike) -> Flags:
        """Return which labels are in the set of each row of X (n, d): (n, C)."""
        P = self.predict_proba(X)
        return _sets(P, np.full(len(P), self._calibrator.width))

    def predict_one(self, x: ArrayLike) -> Any:
        """Predict the label of one point x (d,)."""
        return self.predict(one_row(x, "x", "(d,)")[np.newaxis])[0]

    @property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        found: Labels = self._fitted().model_.classes_
        return found

    @property
    def coverage_(self) -> float:
        """The share of the last `window` labels that were in their sets."""
        return self._fitted()._calibrator.recent_coverage

    @property
    def nbytes_(self) -> int:
        """Memory in bytes."""
        size: int = self._fitted().model_.nbytes_
        return size + self._calibrator.state.nbytes

    # Implementation

    def _learn(
        self, X: ArrayLike, y: ArrayLike, issued: ArrayLike | None = None
    ) -> tuple[Predictions, Flags]:
        begins = not hasattr(self, "model_")
        with unchanged_on_error(self):
            if not begins:
                self._require_unchanged()
            rows = points(self, X, reset=begins)
            labels = self._checked(y, len(rows))
            given = None if issued is None else self._given(issued, labels)
            if begins:
                self._begin()
                self._calibrator = self._made(np.empty(0))
            found = predict_then_learn(self.model_, rows, labels)
            if found.probabilities is None or found.classes is None:
                raise TypeError(f"{type(self.model).__name__} gives no probabilities")
        P = found.probabilities
        columns = np.searchsorted(found.classes, labels)
        scores = 1.0 - P[np.arange(len(labels)), columns]
        # The most probable label is in the set, whatever the width.
        best = P.argmax(axis=1) == columns
        # A label that was not known at its row is in no set.
        known = P[np.arange(len(labels)), columns] > 0.0
        missed = given
        if missed is None:
            missed = np.where(known, np.where(best, 0.0, np.nan), 1.0)
        widths = self._calibrator.run(scores, missed)
        return found, _sets(P, widths)

    def _checked(self, y: ArrayLike, n: int) -> Labels:
        return np.asarray(y)

    def _made(self, state: Array) -> Calibrator:
        # The most probable label can cover enough by itself. Then the width should not fall to 0.
        highest = min(2.0 * (1.0 - self.coverage), 1.0)
        return Calibrator(self.coverage, self.window, self.rate, highest, state)

    def _given(self, issued: ArrayLike, labels: Labels) -> Array:
        sets = np.asarray(issued)
        if sets.dtype != np.bool_:
            raise TypeError(f"sets must hold True and False, got {sets.dtype}")
        classes = self.classes_ if hasattr(self, "model_") else labels[:0]
        if sets.shape != (len(labels), len(classes)):
            raise ValueError(
                f"sets must have shape {(len(labels), len(classes))}, got {sets.shape}"
            )
        held = sets & (classes[np.newaxis] == labels[:, np.newaxis])
        missed: Array = np.where(held.any(axis=1), 0.0, 1.0)
        return missed

    # State

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, copy and files."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "_calibrator" in state:
            state["_scores"] = state.pop("_calibrator").state
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        scores = state.pop("_scores", None)
        super().__setstate__(state)
        if scores is not None:
            self._calibrator = type(self)(**self._learns_with)._made(scores)
            if not self._calibrator.is_sound:
                raise ValueError("its scores are not sound")

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_calibrator", None)


def _sets(P: Array, widths: Array) -> Flags:
    sets: Flags = (widths[:, np.newaxis] >= 1.0 - P) & (P > 0.0)
    sets |= (P.max(axis=1, keepdims=True) == P) & (P > 0.0)
    return sets
