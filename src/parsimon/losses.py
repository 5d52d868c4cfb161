"""Losses: convex functions l(f, y) of a prediction f and a target y.

Each docstring says which subgradient is taken at a kink.

>>> from parsimon.losses import Squared, MulticlassHinge
>>> Squared().value([1.0], [3.0])
2.0
>>> MulticlassHinge().gradient([0.2, 0.9, -0.3], 0)
array([-1.,  1.,  0.])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core
from parsimon._parts import lookup, part, real
from parsimon.formulas import OUTPUT, Expression, exp, minimum

__all__ = [
    "CLASSIFICATION",
    "LOSSES",
    "REGRESSION",
    "Absolute",
    "ClassificationLoss",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "MultinomialLogistic",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredHinge",
    "resolve",
]

Array = NDArray[np.float64]


class Loss(ABC):
    """A convex function l(f, y) of the prediction f (C,)."""

    #: What `predict` returns, as an expression in `parsimon.formulas.OUTPUT`; None: f itself. In
    #: both cases f is what is learned, merged and compressed, and what has a norm.
    inverse_link: ClassVar[Expression | None] = None

    @abstractmethod
    def core(self) -> _core.Loss:
        """Return the C++ twin."""

    def refused(self, y: Array) -> tuple[int, str] | None:
        """Return the first row of targets (n,) that the loss rejects, and the reason, or None."""
        core, f = self.core(), np.zeros((len(y), 1))
        try:
            core.values(f, np.ascontiguousarray(y, dtype=np.float64)[:, np.newaxis])
        except ValueError:
            for row, target in enumerate(y):
                try:
                    core.value(f[row], np.array([target], dtype=np.float64))
                except ValueError as error:
                    return row, str(error).removeprefix("y ")
        return None

    def value(self, f: ArrayLike, y: ArrayLike) -> float:
        """Return l(f, y) for one sample: f (C,), y (C,)."""
        f = _outputs(f)
        return self.core().value(f, self._target(y, len(f)))

    def gradient(self, f: ArrayLike, y: ArrayLike) -> Array:
        """Return the gradient of l with respect to f, (C,)."""
        f = _outputs(f)
        return self.core().gradient(f, self._target(y, len(f)))

    def values(self, F: ArrayLike, Y: Array) -> Array:
        """Return l for each of n samples, (n,).

        F has shape (n, C). Y has shape (n, C), or is the result of `ClassificationLoss.targets`.
        """
        F = np.ascontiguousarray(F, dtype=np.float64)
        return self.core().values(
            F if F.ndim == 2 else F[:, np.newaxis], np.ascontiguousarray(Y).reshape(len(F), -1)
        )

    def _target(self, y: ArrayLike, n_outputs: int) -> Array:
        return np.atleast_1d(np.asarray(y, dtype=np.float64))


def _outputs(f: ArrayLike) -> Array:
    return np.atleast_1d(np.asarray(f, dtype=np.float64))


@part
class Squared(Loss):
    """Squared loss, l(f, y) = sum_c (f_c - y_c)^2 / 2.

    The gradient is f - y.

    >>> Squared().value([0.0, 1.0], [1.0, 1.0])
    0.5
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("squared", [])


@part
class Absolute(Loss):
    """Absolute loss, l(f, y) = sum_c |f_c - y_c|.

    The subgradient is sign(f - y), and 0 at f = y.

    >>> Absolute().value([3.0], [1.0])
    2.0
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("epsilon_insensitive", [0.0])


@part
class Huber(Loss):
    """Huber loss: squared for small residuals, linear for large ones.

    With r = f - y, it is r^2 / 2 for |r| <= delta, and delta (|r| - delta / 2) otherwise, summed
    over the outputs. The gradient is r clipped to [-delta, delta].

    Reference: Huber, *Robust estimation of a location parameter*, Annals of Mathematical Statistics
    1964.

    >>> Huber(delta=1.0).value([3.0], [0.0])
    2.5
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        real("delta", self.delta, above=0, at_most=1e20)

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("huber", [self.delta])


@part
class EpsilonInsensitive(Loss):
    """Epsilon-insensitive loss, l(f, y) = sum_c max(0, |f_c - y_c| - epsilon).

    The subgradient is sign(f - y) outside the zone, and 0 inside and on its edge.

    >>> EpsilonInsensitive(epsilon=0.5).value([2.0], [0.0])
    1.5
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        real("epsilon", self.epsilon, at_least=0)

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("epsilon_insensitive", [self.epsilon])


@part
class Quantile(Loss):
    """Pinball loss, whose minimiser is the q-quantile of y.

    It is q (y - f) for y > f and (1 - q) (f - y) otherwise, summed over the outputs. The
    subgradient is -q for f < y, 1 - q for f > y, and 0 at f = y.

    Reference: Koenker & Bassett, *Regression quantiles*, Econometrica 1978.

    >>> Quantile(quantile=0.9).value([0.0], [2.0])
    1.8
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        real("quantile", self.quantile, above=0, below=1)

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("quantile", [self.quantile])


@part
class Poisson(Loss):
    """Poisson loss for counts y >= 0, l(f, y) = sum_c exp(f_c) - y_c f_c.

    f is the logarithm of the mean, and `predict` returns the mean exp(f). The gradient is exp(f) -
    y. Up to a constant the loss is half the Poisson deviance. Targets need not be whole. Negative
    targets raise an error. Above f = 231, beyond the logarithm of the largest target that models
    accept, the mean is constant and the loss continues as its tangent.

    The second derivative exp(f) is unbounded, so no step size is safe for plain gradient steps.
    Therefore each step is limited. With s = step_size weight k(x, x), a plain step moves f(x) by -s
    (exp(f) - y). Here it moves f(x)

    - upwards at most to log y, which minimises the loss;
    - downwards by at most Newton's step 1 - y exp(-f). As 1 - exp(-t) <= t for t = f - log y, it
      does not pass log y either.

    So a step never increases the loss of its own sample, for any step size. The new f lies between
    f and its projection onto the functions that are log y at x. Hence for y > 0 ||f||^2 grows by at
    most (log y)^2 / k(x, x), and nothing overflows. Short steps are plain gradient steps: those
    with s exp(f) < 1 downwards, and with s y < 1 upwards. For means far above 1 use a `step_size`
    below 1 / mean. Then many samples are averaged; with larger steps f follows each sample.

    >>> Poisson().value([0.0], [3.0])
    1.0
    >>> Poisson().gradient([0.0], [3.0])
    array([-2.])

    Reference: Nelder & Wedderburn, *Generalized linear models*, Journal of the Royal Statistical
    Society A 1972.
    """

    inverse_link = exp(minimum(OUTPUT, 231.0))

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("poisson", [])


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

    With classes, each is one against the rest. The subgradient is -y_c for margins below 1, and 0
    from 1 on.

    >>> Hinge().value(0.25, 1)
    0.75
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("hinge", [])


@part
class SquaredHinge(_MarginLoss):
    """Squared hinge loss, l(f, y) = sum_c max(0, 1 - y_c f_c)^2, with y_c in {-1, 1}.

    With classes, each is one against the rest.

    >>> SquaredHinge().value(0.5, -1)
    2.25
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("squared_hinge", [])


@part
class Logistic(_MarginLoss):
    """Logistic loss, l(f, y) = sum_c log(1 + exp(-y_c f_c)), with y_c in {-1, 1}.

    With classes, each is one against the rest.

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

    r is the class other than y with the largest f, the first one in a tie. The subgradient is 1 at
    r and -1 at y if 1 + f_r - f_y > 0, and 0 otherwise. With a single class the loss is 0.

    References: Crammer & Singer, *On the algorithmic implementation of multiclass kernel-based
    vector machines*, JMLR 2001; Koppel et al. 2019, (26).

    >>> MulticlassHinge().value([2.0, 1.5, 0.0], 0)
    0.5
    """

    def core(self) -> _core.Loss:
        """Return the C++ twin."""
        return _core.loss("multiclass_hinge", [])


@part
class MultinomialLogistic(_ClassLoss):
    """Multinomial logistic loss, l(f, y) = log sum_c exp(f_c) - f_y.

    The gradient is softmax(f) - e_y.

    Reference: Koppel et al. 2019, (28).

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
    result: Array = E / E.sum(axis=1, keepdims=True)
    return result


#: Names for the ``loss`` parameter of a regressor.
REGRESSION: dict[str, type[Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "epsilon_insensitive": EpsilonInsensitive,
    "quantile": Quantile,
    "poisson": Poisson,
}
#: Names for the ``loss`` parameter of a classifier. The last three are one class against the rest.
CLASSIFICATION: dict[str, type[ClassificationLoss]] = {
    "hinge": MulticlassHinge,
    "logistic": MultinomialLogistic,
    "squared_hinge": SquaredHinge,
    "ovr_hinge": Hinge,
    "ovr_logistic": Logistic,
}
#: All losses by name.
LOSSES: dict[str, type[Loss]] = {**REGRESSION, **CLASSIFICATION}


def resolve(loss: Any, known: dict[str, type[Any]]) -> Any:
    """Return the loss of that name, or `loss` itself if it is an object.

    >>> resolve("huber", REGRESSION)
    Huber(delta=1.0)
    """
    if isinstance(loss, tuple(known.values())):
        return loss
    if isinstance(loss, type) and issubclass(loss, Loss):
        raise TypeError(f"loss must be a name or an object: write {loss.__name__}()")
    if isinstance(loss, Loss):
        names = ", ".join(cls.__name__ for cls in known.values())
        raise ValueError(f"{loss!r} cannot be used here; these can: {names}")
    return lookup(known, loss, "loss")()
