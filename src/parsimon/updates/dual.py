"""Ascent on the dual of support vector machines."""

from __future__ import annotations

import math

from parsimon import _core
from parsimon._parts import lookup, part, real
from parsimon.updates.base import Update

__all__ = ["DualAscent"]

#: Step lengths of `DualAscent`, and whether each is the longer one.
STEPS = {"dual": True, "error": False}


@part
class DualAscent(Update):
    """Ascent on the reduced dual of support vector regression.

    Every sample is written as a combination of the m centres. Let row i of A hold the coefficients
    of sample i, y the targets and e a vector of ones. Only A'A, A'y and A'e are stored. The reduced
    dual variables alpha and alpha* (m,) give the weights w = alpha* - alpha of the centres. Let s =
    alpha* + alpha, Q = (A'A)^-1, K the Gram matrix of the centres, and v = K w the values of f at
    the centres. The reduced dual, equation (4.18) of the paper, is

        L = -w'K w / 2 + w'Q A'y - epsilon s'Q A'e.

    Each sample is first added to A'A, A'y and A'e. Then w and s move by (4.12),

        w <- w + eta r,   s <- s - eta epsilon A'e,   r = A'(y - A v),

    with one step length eta, which the paper leaves open. `step` chooses it:

    - "dual" maximises L: eta = r'Q r / r'K r.
    - "error" minimises ||y - A v||^2: eta = r'K r / (K r)'A'A K r. This step is never longer than
      that of "dual", so L increases too. It fits much better on real data. "dual" converges faster
      if samples have very different weights or densities.

    L never decreases while no new samples are learned. Epsilon acts only on s: without a box, f
    does not depend on it, and converges to the least-squares solution A'(y - A v) = 0.

    With a `box`, every entry of alpha and of alpha* stays between -box and box (4.22). The step is
    then that of "dual", clipped to the box. The plain gradient step, also clipped, is tried as
    well. Each step ends where L is largest along it, and the step that increases L more is taken.
    So the fixed point is the maximum of L in the box.

    For a loss l with curvature c (its largest second derivative), the entry of y for sample x is
    the working target f(x) - l'(f(x)) / c. For the squared loss this is the target of the sample.
    For the squared hinge it is the target if the margin is violated, and f(x) otherwise. The weight
    of a sample is a factor on its contribution to A'A, A'y and A'e. Centres are never removed. The
    cost is O(m^2) per sample and output.

    Reference: Engel, Mannor & Meir, *Sparse online greedy support vector regression*, ECML 2002.

    >>> DualAscent(epsilon=0.1)
    DualAscent(epsilon=0.1, box=None, step='error')
    """

    epsilon: float = 0.0
    box: float | None = None
    step: str = "error"

    def __post_init__(self) -> None:
        real("epsilon", self.epsilon, at_least=0, at_most=1e100)
        if self.box is not None:
            real("box", self.box, above=0, at_most=1e100)
        lookup(STEPS, self.step, "step")

    def core(self) -> _core.Update:
        """Return the C++ twin."""
        box = math.inf if self.box is None else self.box
        return _core.update("dual_ascent", [self.epsilon, box, STEPS[self.step]])
