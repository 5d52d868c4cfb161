"""Sparse codes over one dictionary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from parsimon import _core
from parsimon._docs import documented
from parsimon._parts import whole
from parsimon.dictionary_learning.parameters import KernelDictionary
from parsimon.estimators.inputs import one_row, points, require_unchanged
from parsimon.estimators.state import OneDictionary, unchanged_on_error

__all__ = ["KernelDictionaryLearning"]

Array = NDArray[np.float64]
T = TypeVar("T")


@documented
class KernelDictionaryLearning(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    OneDictionary[_core.Atoms],
    KernelDictionary,
):
    """Online kernel dictionary learning on a budget.

    Samples get sparse codes over K atoms in the feature space of a kernel. The atoms D = Phi(X~)
    Omega are combinations of m stored samples X~ with coefficients Omega (m, K). The code of a
    sample is

        z = argmin_z ||phi(x) - D z||^2 / 2 + lambda ||z||_1,

    where phi(x) is the image of x in feature space and lambda is `alpha`. Then D takes a gradient
    step that decreases this cost plus (mu / 2) ||D||_F^2, where mu is `penalty`. The learning rate
    is rho_n after n samples. The step is in the feature space or in the parameters Omega, as
    `update` says. Then the sample is stored. When the budget is full, the stored sample whose row
    of Omega has the smallest norm is evicted. A sample that fails the admission test changes
    nothing. A step that would increase the cost of its own sample is shortened to the length that
    decreases this cost most.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    centers_ : array (m, d)
        The stored samples, oldest first.
    components_ : array (m, K)
        Omega, the coefficients of the atoms over the stored samples.
    gram_ : array (K, K)
        D'D, the inner products of the atoms.
    n_centers_ : int
        Number of stored samples m.
    n_samples_seen_ : int
        Number of samples seen; every pass counts.
    n_samples_learned_ : int
        Number of samples that passed the admission test.
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
    >>> from parsimon import KernelDictionaryLearning
    >>> angles = np.random.default_rng(0).uniform(0, 2 * np.pi, size=2000)
    >>> ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    >>> model = KernelDictionaryLearning(10, gamma=1.0, budget=20, step_size=0.1, random_state=0)
    >>> model.fit(ring).transform(ring[:3]).shape, model.n_centers_
    ((3, 10), 20)

    The middle of the ring is an anomaly:

    >>> bool(model.score_samples([[0.0, 0.0]]) < model.score_samples(ring).min())
    True
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from X (n, d) from the start, in `n_passes` passes. y is ignored."""
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        rng = check_random_state(self.random_state)
        with unchanged_on_error(self):
            X = self._begin(X)
            learner = self._atoms(X.shape[1], self._first_rows(rng))
            learner.check(X)  # before shuffling, so that errors name rows of X
            for _ in range(n_passes):
                learner.learn(X[rng.permutation(len(X))] if self.shuffle else X)
            self._learner = learner
        return self

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Continue learning with a block X (n, d), in order. y is ignored.

        A block equals a loop over its rows. A block that is rejected changes nothing.
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
        """Continue learning with a block X (n, d), and return the cost before each row, (n,).

        The cost is ||phi(x) - D z||^2 / 2 + lambda ||z||_1 + (mu / 2) ||D||_F^2, where phi(x) is
        the image of row x in feature space, z its code, D the atoms, lambda is `alpha` and mu is
        `penalty`.
        """
        return self._learn_block(X, _core.Atoms.learn_with_costs)

    def transform(self, X: ArrayLike) -> Array:
        """Return the codes of X (n, d) over the K atoms: (n, K), mostly zeros."""
        return self._fitted().codes(points(self, X, reset=False))

    def reconstruction_error(self, X: ArrayLike) -> Array:
        """Return ||phi(x) - D z||^2 for each row x of X (n, d) with the code z: (n,).

        phi(x) is the image of x in feature space, and D are the atoms.
        """
        return self._fitted().errors(points(self, X, reset=False))

    def score_samples(self, X: ArrayLike) -> Array:
        """Return minus the reconstruction error of each row. Low values are anomalies."""
        return -self.reconstruction_error(X)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return minus the mean reconstruction error."""
        return float(self.score_samples(X).mean())

    @property
    def components_(self) -> Array:
        """Omega, (m, K): the coefficients of the atoms over the stored samples."""
        return self._fitted().coefficients()

    @property
    def gram_(self) -> Array:
        """D'D, (K, K): the inner products of the atoms."""
        return self._fitted().gram()

    @property
    def n_samples_learned_(self) -> int:
        """Number of samples that passed the admission test."""
        return self._fitted().n_samples_learned

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

    def _require_sound(self) -> None:
        if hasattr(self, "_learner"):
            self._require_agreement()
            self._learner.require_sound()

    def _widen(self, n_features: int) -> None:
        """Add features that were 0 in all samples so far, which does not change the codes."""
        self._learner, self.n_features_in_ = self._wider(self._fitted(), n_features), n_features
