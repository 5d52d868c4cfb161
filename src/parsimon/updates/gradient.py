"""Gradient steps in function space, and schedules of their learning rate."""

from __future__ import annotations

from typing import ClassVar

from parsimon import _core
from parsimon._parts import part, real
from parsimon.updates.base import Update

__all__ = ["SCHEDULES", "STEPS", "Gradient", "ProjectedGradient", "QuantizedGradient", "Schedule"]


@part
class Schedule:
    """Learning rates eta_t = step_size / (1 + (t - 1) / delay)^power at step t = 1, 2, ...

    step_size is a parameter of the update or estimator that uses the schedule. With power 0 the
    rate is constant. With a power in (1/2, 1], the sum of eta_t is infinite and the sum of eta_t^2
    is finite. These are the conditions of Theorem 1 of Koppel, Warnell, Stump & Ribeiro,
    *Parsimonious online learning with kernels via sparse projections in function space*, JMLR 2019.

    >>> Schedule(power=0.75, delay=100)
    Schedule(power=0.75, delay=100)
    """

    power: float = 0.0
    delay: float = 1.0

    def __post_init__(self) -> None:
        real("power", self.power, at_least=0, at_most=1)
        real("delay", self.delay, above=0)


#: Names for the ``schedule`` parameter of an estimator.
SCHEDULES: dict[str, Schedule] = {"constant": Schedule(), "diminishing": Schedule(0.75, delay=100)}


@part
class Gradient(Update):
    """Gradient step in function space. A sample that is not admitted is ignored.

    For a batch of b samples, with the learning rate eta_t of the `schedule`, the step is

        f <- (1 - eta_t alpha) f - (eta_t / b) sum_i weight_i l'(f(x_i), y_i) k(x_i, .).

    l' is the derivative of the loss l with respect to f, and weight_i is the weight of sample i.
    alpha is the factor of the penalty (alpha / 2) ||f||^2. An incomplete batch of s samples takes a
    step with the rate eta_t s / b.

    This is the explicit step. If l' is unbounded (squared loss, squared hinge), it is stable for
    step_size < 2 / (L k(x, x)), with L the largest second derivative of l. This is checked.

    With `invariant`, l' is replaced by its mean along the path of infinitely many small steps. The
    path solves df/dt = -l'(f, y) from t = 0 to eta_t weight_i k(x_i, x_i). For the squared loss,
    the factor eta_t weight_i becomes (1 - exp(-eta_t weight_i k(x_i, x_i))) / k(x_i, x_i). This
    step is stable for any step_size and weight. It never passes the minimum of the loss, and weight
    2 equals two steps of weight 1.

    References: Kivinen, Smola & Williamson, *Online learning with kernels*, IEEE Transactions on
    Signal Processing 2004. Karampatziakis & Langford, *Online importance weight aware updates*, UAI
    2011 (invariant steps).

    >>> Gradient(step_size=0.2).invariant
    False
    """

    _name: ClassVar[str] = "gradient"

    step_size: float
    alpha: float = 0.0
    schedule: Schedule = Schedule()
    invariant: bool = False

    def __post_init__(self) -> None:
        real("step_size", self.step_size, above=0, at_most=1e20)
        real("alpha", self.alpha, at_least=0)
        # eta < 1 / lambda. The first step of Pegasos has eta = 1 / lambda and sets f to 0, which
        # is harmless, because f is 0 then.
        product = self.step_size * self.alpha
        if product >= 1 and not (self.schedule.power == 1 and product <= 1 + 1e-12):
            raise ValueError(
                f"step_size * alpha must be < 1, got {self.step_size!r} * {self.alpha!r}"
            )

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        power, delay = self.schedule.power, self.schedule.delay
        return _core.update(
            self._name, [self.step_size, self.alpha, power, delay, float(self.invariant)]
        )


#: Names for the ``step`` parameter of an estimator: whether steps are invariant.
STEPS: dict[str, bool] = {"invariant": True, "explicit": False}


@part
class ProjectedGradient(Gradient):
    """Gradient step in function space. A sample that is not admitted is projected onto the centres.

    For a batch of b samples, with the learning rate eta_t of the `schedule`, the step is

        f <- (1 - eta_t alpha) f + sum_i c_i k(x_i, .),    c_i = -(eta_t / b) weight_i l'_i,

    where l'_i is the derivative of the loss with respect to f at sample i. If x_i is not admitted,
    k(x_i, .) is replaced by its projection onto the span of the centres d_1, ..., d_m. Their
    weights w become w + K^-1 h c_i, where K is the Gram matrix of the centres and h = (k(x_i, d_1),
    ..., k(x_i, d_m)). For b = 1 and alpha = 0 this is equation (12) of the paper.

    Reference: Pothin & Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006.

    >>> ProjectedGradient(step_size=0.5).alpha
    0.0
    """

    _name = "projected_gradient"


@part
class QuantizedGradient(Gradient):
    """Gradient step in function space. A sample that is not admitted changes the nearest centre.

    For a batch of b samples, with the learning rate eta_t of the `schedule`, the step is

        f <- (1 - eta_t alpha) f + sum_i c_i k(x_i, .),    c_i = -(eta_t / b) weight_i l'_i,

    where l'_i is the derivative of the loss with respect to f at sample i. If x_i is not admitted,
    c_i is added to the weight of the centre nearest to x_i.

    Reference: Chen, Zhao, Zhu & Principe, *Quantized kernel least mean square algorithm*, IEEE
    Transactions on Neural Networks and Learning Systems 2012.

    >>> QuantizedGradient(step_size=0.5).alpha
    0.0
    """

    _name = "quantized_gradient"
