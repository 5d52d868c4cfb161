"""Losses of classification: margins, or the probability of a class."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core
from parsimon._parts import part
from parsimon.losses.base import Loss

__all__ = [
    "CLASSIFICATION",
    "ClassificationLoss",
    "Hinge",
    "Logistic",
    "MulticlassHinge",
    "MultinomialLogistic",
    "SquaredHinge",
]

Array = NDArray[np.float64]


class ClassificationLoss(Loss):
    """A loss whose targets are classes, with one output per class."""

    #: Whether the loss gives probabilities.
    has_probabilities = False

    @abstractmethod
    def targets(self, index: NDArray[np.int64], known: NDArray[np.int64], n_outputs: int) -> Array:
        """Return the targets for the core.

        `index` (n,) are the classes, and `known` (n,) is the number of classes known at each row.
        """

    def probabilities(self, F: Array) -> Array:
        """Return the probabilities of the classes for predictions F (n, C)."""
        raise AttributeError(f"{type(self).__name__} gives no probabilities")


class _MarginLoss(ClassificationLoss):
    def targets(self, index: NDArray[np.int64], known: NDArray[np.int64], n_outputs: int) -> Array:
        """Return targets of one class against the rest, (n, C).

        They are 1 for the class, -1 for the other known classes, and 0 for classes not yet known.
        """
        Y = np.where(np.arange(n_outputs) < known[:, np.newaxis], -1.0, 0.0)
        Y[np.arange(len(index)), index] = 1.0
        return Y


@part
class Hinge(_MarginLoss):
    """Hinge loss, l(f, y) = sum_c max(0, 1 - y_c f_c), with y_c in {-1, 1}.

    f_c and y_c are the output and the target of class c. With more than two classes, the loss is
    one-vs-rest. The subgradient is -y_c for margins y_c f_c below 1, and 0 for margins of 1 and
    above.

    >>> Hinge().value(0.25, 1)
    0.75
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("hinge", [])


@part
class SquaredHinge(_MarginLoss):
    """Squared hinge loss, l(f, y) = sum_c max(0, 1 - y_c f_c)^2, with y_c in {-1, 1}.

    f_c and y_c are the output and the target of class c. With more than two classes, the loss is
    one-vs-rest.

    >>> SquaredHinge().value(0.5, -1)
    2.25
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("squared_hinge", [])


@part
class Logistic(_MarginLoss):
    """Logistic loss, l(f, y) = sum_c log(1 + exp(-y_c f_c)), with y_c in {-1, 1}.

    f_c and y_c are the output and the target of class c. With more than two classes, the loss is
    one-vs-rest.

    >>> round(Logistic().value(0.0, 1), 4)
    0.6931
    """

    has_probabilities = True

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("logistic", [])

    def probabilities(self, F: Array) -> Array:
        """Return the probability of each class against the rest, normalised to sum to 1."""
        # In logarithms, so that sums of very small probabilities do not underflow.
        return _softmax(-np.logaddexp(0.0, -F))


class _ClassLoss(ClassificationLoss):
    def targets(self, index: NDArray[np.int64], known: NDArray[np.int64], n_outputs: int) -> Array:
        """Return the class and the number of known classes, (n, 2)."""
        return np.column_stack([index, known]).astype(np.float64)

    def _target(self, y: ArrayLike, n_outputs: int) -> Array:
        return np.array([float(np.asarray(y).item()), n_outputs])


@part
class MulticlassHinge(_ClassLoss):
    """Multi-class hinge loss, l(f, y) = max(0, 1 + f_r - f_y).

    f_c is the output of class c. r is the class with the largest f among all classes except y. In a
    tie, it is the first of them. The subgradient is 1 at r and -1 at y if 1 + f_r - f_y > 0, and 0
    otherwise. With a single class the loss is 0.

    References: Crammer & Singer, *On the algorithmic implementation of multiclass kernel-based
    vector machines*, JMLR 2001; Koppel, Warnell, Stump & Ribeiro, *Parsimonious online learning
    with kernels via sparse projections in function space*, JMLR 2019, (26).

    >>> MulticlassHinge().value([2.0, 1.5, 0.0], 0)
    0.5
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("multiclass_hinge", [])


@part
class MultinomialLogistic(_ClassLoss):
    """Multinomial logistic loss, l(f, y) = log sum_c exp(f_c) - f_y.

    f_c is the output of class c. The gradient is softmax(f), minus 1 in the entry of class y.

    Reference: Koppel, Warnell, Stump & Ribeiro, *Parsimonious online learning with kernels via
    sparse projections in function space*, JMLR 2019, (28).

    >>> round(MultinomialLogistic().value([0.0, 0.0], 1), 4)
    0.6931
    """

    has_probabilities = True

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("multinomial_logistic", [])

    def probabilities(self, F: Array) -> Array:
        """Return softmax(f) for each row."""
        return _softmax(F)


def _softmax(F: Array) -> Array:
    E = np.exp(F - F.max(axis=1, keepdims=True))
    # In the order of the columns: further columns of zeros change no bit.
    result: Array = E / np.add.accumulate(E, axis=1)[:, -1:]
    return result


#: Names for the ``loss`` parameter of a classifier. The last three are one class against the rest.
CLASSIFICATION: dict[str, type[ClassificationLoss]] = {
    "hinge": MulticlassHinge,
    "logistic": MultinomialLogistic,
    "squared_hinge": SquaredHinge,
    "ovr_hinge": Hinge,
    "ovr_logistic": Logistic,
}
