"""A mixture of classifiers, weighted by their recent losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from parsimon import _schema, kernels
from parsimon._parts import lookup, real
from parsimon.estimators import POLKClassifier
from parsimon.evaluation.classification import LEAST, true_class
from parsimon.evaluation.steps import predict_then_learn, stream_probabilities
from parsimon.persistence import Storable

__all__ = ["CandidateClassifier"]

Array = NDArray[np.float64]
Labels = NDArray[Any]


class CandidateClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Several classifiers learned side by side, and weighted by their recent losses:

        p(y | x) = sum_k w_k p_k(y | x),    w_k ~ exp(-L_k),
        L_k <- (1 - 1 / memory) L_k - log p_k(y_t | x_t).

    p_k are the probabilities of classifier k, w_k is its weight and L_k its recent loss; (x_t, y_t)
    is row t, and ~ means proportional to. With an infinite memory these are the weights of Bayes'
    rule. Then the total logarithmic loss of the mixture exceeds that of the best of the K
    classifiers by at most log K. With a finite memory, the mixture follows a stream on which the
    best classifier changes.

    Parameters
    ----------
    candidates : list of POLKClassifier
        Classifiers with a logistic loss.
    widths : list of float or None, default=None
        One factor for the gamma of each candidate. The rule of the candidate ("median" or "scale")
        computes gamma from the first block. Then gamma is multiplied by the factor. None means that
        all factors are 1.
    memory : float >= 1, default=500
        The number of rows over which past losses count. Smaller values follow changes faster.

    Attributes
    ----------
    candidates_ : list
        The fitted classifiers.
    shares_ : array (K,)
        The weights w.
    classes_ : array (C,)
        The labels, sorted.
    n_centers_ : int
        Number of centres of all candidates.
    nbytes_ : int
        Memory of all candidates in bytes.
    n_samples_seen_ : int
        Number of samples learned.

    References
    ----------
    M. Herbster, M. K. Warmuth, *Tracking the best expert*, Machine Learning 1998.
    A. E. Raftery, M. Karny, P. Ettler, *Online prediction under model uncertainty via dynamic model
    averaging*, Technometrics 2010.

    Examples
    --------
    >>> from parsimon import POLKClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> options = {"gamma": "median", "loss": "logistic", "budget": 50}
    >>> candidates = [POLKClassifier(step_size=eta, **options) for eta in (2.0, 0.2)]
    >>> model = CandidateClassifier(candidates).partial_fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]])
    array([ True, False])
    """

    candidates_: list[Any]
    _losses: Array
    _attributes = _schema.Schema(
        {
            "candidates_": _schema.listed(_schema.one_of(POLKClassifier)),
            "_losses": _schema.finite_array(None, least=0, most=1e300),
        },
        {},
    )

    def __init__(
        self,
        candidates: Sequence[Any],
        *,
        widths: Sequence[float] | None = None,
        memory: float = 500.0,
    ) -> None:
        self.candidates = candidates
        self.widths = widths
        self.memory = memory

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Continue learning with a block X (n, d), y (n,).

        A block equals a loop over its rows, bit for bit. Only the kernel widths depend on the first
        block.
        """
        self.predict_proba_then_learn(X, y)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Labels:
        """Learn a block, and return the label predicted before each row, (n,).

        For the very first row, when no class is known, its own label is returned.
        """
        return predict_then_learn(self, X, y).values

    def predict_proba_then_learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Learn a block, and return the probabilities before each row, (n, C).

        Columns are as in `classes_` after the block. A class that was not yet known at a row has
        probability 0 in that row.
        """
        labels = np.asarray(y)
        if not hasattr(self, "candidates_"):
            self.candidates_, self._losses = self._first(X), np.zeros(len(self.candidates))
        each = [stream_probabilities(model, X, labels) for model in self.candidates_]
        losses = -np.log(np.maximum([true_class(P, self.classes_, labels) for P in each], LEAST))
        before = self._discounted(losses)
        result: Array = np.einsum("kn,knc->nc", _shares(before), np.array(each))
        return result

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each class, (n, C)."""
        each = np.array([model.predict_proba(X) for model in self._learned()])
        result: Array = np.einsum("k,knc->nc", self.shares_, each)
        return result

    def predict(self, X: ArrayLike) -> Labels:
        """Predict labels for X (n, d): the most probable class, (n,)."""
        result: Labels = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return result

    @property
    def shares_(self) -> Array:
        """The weight of each candidate, (K,)."""
        return _shares(self._losses)

    @property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        labels: Labels = self._learned()[0].classes_
        return labels

    @property
    def n_centers_(self) -> int:
        """Number of centres of all candidates."""
        return sum(model.n_centers_ for model in self._learned())

    @property
    def nbytes_(self) -> int:
        """Memory of all candidates in bytes."""
        return sum(model.nbytes_ for model in self._learned())

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learned."""
        seen: int = self._learned()[0].n_samples_seen_
        return seen

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, POLKClassifier)

    def _require_sound(self) -> None:
        if not hasattr(self, "candidates_"):
            return
        real("memory", self.memory, at_least=1)
        if not self.candidates_ or len(self._losses) != len(self.candidates_):
            raise ValueError(
                f"it has {len(self.candidates_)} candidates and {len(self._losses)} losses"
            )
        for model in self.candidates_:
            if not model.__sklearn_is_fitted__() or not hasattr(model, "predict_proba"):
                raise ValueError("its candidates are not fitted classifiers with probabilities")
            first = self.candidates_[0]
            same = (
                model.classes_.tolist() == first.classes_.tolist()
                and model._closed == first._closed
            )
            if not same or model.n_features_in_ != first.n_features_in_:
                raise ValueError("its candidates have learned different things")

    def _learned(self) -> list[Any]:
        if not hasattr(self, "candidates_"):
            raise AttributeError("nothing has been learned yet")
        return self.candidates_

    def _first(self, X: ArrayLike) -> list[Any]:
        real("memory", self.memory, at_least=1)
        models = [clone(model) for model in self.candidates]
        if not models or not all(
            isinstance(m, POLKClassifier) and hasattr(m, "predict_proba") for m in models
        ):
            raise TypeError(
                f"candidates must be POLKClassifiers with a logistic loss, got {self.candidates!r}"
            )
        widths = [1.0] * len(models) if self.widths is None else list(self.widths)
        if len(widths) != len(models):
            raise ValueError(f"there are {len(models)} candidates and {len(widths)} widths")
        for model, width in zip(models, widths, strict=True):
            if self.widths is not None:
                metric = lookup(
                    kernels.KERNELS, kernels.named(model.kernel) or model.kernel, "kernel"
                ).metric
                gamma = kernels.width(
                    model.gamma, kernels.seen(model.kernel, np.asarray(X, dtype=np.float64)), metric
                )
                model.set_params(gamma=real("widths", width, above=0) * gamma)
        return models

    def _discounted(self, losses: Array) -> Array:
        """Add the losses (K, n) of a block, and return the discounted sums before each row."""
        keep = 1.0 - 1.0 / self.memory
        before = np.empty_like(losses)
        for i in range(losses.shape[1]):  # row by row, so that blocks make no difference
            before[:, i] = self._losses
            self._losses = keep * self._losses + losses[:, i]
        return before


def _shares(losses: Array) -> Array:
    weights = np.exp(losses.min(axis=0) - losses)
    shares: Array = weights / weights.sum(axis=0)
    return shares
