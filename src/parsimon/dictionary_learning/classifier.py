"""One dictionary per class."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from parsimon import _core, _parts, _schema
from parsimon._docs import documented
from parsimon._parts import extended_labels, whole
from parsimon.dictionary_learning.parameters import KernelDictionary
from parsimon.estimators.classifier import known_label
from parsimon.estimators.inputs import one_row, points, require_unchanged
from parsimon.estimators.learning import FITTED
from parsimon.estimators.state import LearnerPerClass

__all__ = ["KernelDictionaryClassifier"]

Array = NDArray[np.float64]


@documented
class KernelDictionaryClassifier(ClassifierMixin, LearnerPerClass[_core.Atoms], KernelDictionary):  # type: ignore[misc]
    """A dictionary per class. The class that reconstructs a point best is predicted.

    Each dictionary learns only from the samples of its class, like a `KernelDictionaryLearning`. It
    stores the samples X~ that pass its admission test, up to the budget. Its K atoms D = Phi(X~)
    Omega are combinations of these m samples in feature space, with coefficients Omega (m, K). The
    code of a sample x is

        z = argmin_z ||phi(x) - D z||^2 / 2 + lambda ||z||_1,

    where phi(x) is the image of x in feature space and lambda is `alpha`. Then D takes a gradient
    step that decreases this cost plus (mu / 2) ||D||_F^2, where mu is `penalty`.

    A point is assigned to the class with the smallest reconstruction error ||phi(x) - D z||^2. So a
    class whose samples vary less needs fewer stored samples. New classes can appear at any time.

    There are no sample or class weights. A dictionary describes the samples of its class, not how
    likely the class is.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array (C,)
        The labels, sorted.
    n_centers_ : array (C,)
        Number of stored samples of each class.
    n_samples_seen_ : int
        Number of samples seen; every pass counts.
    nbytes_ : int
        Memory of the model in bytes.
    kernel_ : Kernel
        The kernel, with its width.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features, if X was a frame with column names.

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
    >>> model = KernelDictionaryClassifier(10, gamma=1.0, budget=20, step_size=0.1, random_state=0)
    >>> bool(model.fit(X, radius).score(X, radius) > 0.95)
    True
    """

    _rng: np.random.RandomState
    _attributes = FITTED.extended(
        {
            "classes_": _schema.is_labels,
            "_closed": _schema.one_of(bool),
            "_rng": _schema.one_of(np.random.RandomState),
        }
    )

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from X (n, d) and labels y (n,) from the start, in `n_passes` passes."""
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        with self._learning():
            X, labels = self._first(X, y, None, all_at_once=True)
            for _ in range(n_passes):
                order = self._rng.permutation(len(X)) if self.shuffle else np.arange(len(X))
                self._learn(X[order], labels[order])
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue learning with a block X (n, d), y (n,), in order.

        `classes` is optional. If it is given in the first call, any other label is rejected later.
        Otherwise new classes can appear at any time. A block that is rejected changes nothing.
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
                            f"classes is {given}, "
                            f"but the classes so far are {self.classes_.tolist()}"
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
        """Return ||phi(x) - D_c z||^2 for each row x of X (n, d) and each class c: (n, C).

        phi(x) is the image of x in feature space, D_c are the atoms of class c, and z is the code
        of x over these atoms.
        """
        check_is_fitted(self)
        return self._errors(points(self, X, reset=False))[0]

    def decision_function(self, X: ArrayLike) -> Array:
        """Return minus the reconstruction errors, (n, C), or their difference for two classes."""
        scores = -self.reconstruction_errors(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels for X (n, d): the class of the smallest reconstruction error, (n,)."""
        check_is_fitted(self)
        errors, classes = self._errors(points(self, X, reset=False))
        result: NDArray[Any] = classes[errors.argmin(axis=1)]
        return result

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy, with which learning continues bit for bit."""
        with self._reading():
            state = super().__getstate__()
            if "_learned" in state:
                rng = copy.deepcopy(state["_rng"])  # a copy draws for itself
                if state["_rng"] is self.random_state:
                    state.update(
                        random_state=rng, _learns_with={**self._learns_with, "random_state": rng}
                    )
                state["_rng"] = rng
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        super().__setstate__(state)
        if hasattr(self, "_learners") and isinstance(self.random_state, np.random.RandomState):
            self._rng = self.random_state  # one object, as before

    def _widen(self, n_features: int) -> None:
        """Add features that were 0 in all samples so far, which changes nothing else."""
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
        """Raise an error that names the first row of X that cannot be learned.

        All dictionaries have the same kernel, so one of them can check.
        """
        next(iter(self._learners.values())).check(X)

    def _meet(self, labels: NDArray[Any], n_features: int) -> None:
        """Make a dictionary for every new class.

        Classes are added in the order of the rows. So a block draws the same random numbers as a
        loop over its rows.
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
        self.classes_ = np.sort(extended_labels(self.classes_, labels[rows]))
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
