"""Admission: which samples become centres.

A model that keeps a factor of its Gram matrix never admits a sample that lies in the span of the
centres up to rounding. Such a sample is learned like any other sample that is not admitted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from parsimon import _core
from parsimon._parts import part, real, whole

__all__ = [
    "ADMISSIONS",
    "AdaptiveCoherence",
    "Admission",
    "Always",
    "Coherence",
    "Distance",
    "LinearDependence",
    "Proposed",
    "Residual",
]


class Admission(ABC):
    """A rule that decides whether a sample becomes a centre.

    The rule itself is in C++. A subclass in Python has no C++ twin, so it cannot add a rule.
    CONTRIBUTING.md lists the files to touch for a new one.
    """

    @property
    def budget(self) -> int | None:
        """Number of centres at which nothing more is admitted; None if there is no limit."""
        return None

    @property
    def span_tolerance(self) -> float:
        """The largest squared distance of a rejected sample from the span of the centres.

        It is 0 if the admission test does not use this distance.
        """
        return 0.0

    @abstractmethod
    def core(self) -> _core.Admission:
        """Return the C++ twin."""


@part
class Always(Admission):
    """Every sample is admitted.

    >>> Always()
    Always()
    """

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.admission("always", [])


@part
class Proposed(Admission):
    """A sample is admitted if the gradient of its loss is not zero.

    With a hinge loss, these are the samples that violate the margin.

    >>> Proposed()
    Proposed()
    """

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.admission("proposed", [])


@part
class Coherence(Admission):
    """Coherence criterion: admit x if its coherence with every centre is at most the threshold mu0.

    The test is max_j |k(x, d_j)| / sqrt(k(x, x) k(d_j, d_j)) <= mu0, over the m centres d_j. Its
    cost is O(m). On a compact set the dictionary stays finite. The centres are linearly independent
    if (m - 1) mu0 < 1. An exact copy of a centre has coherence 1 and is not admitted even at
    threshold 1.

    Reference: Honeine, Richard & Bermudez, *On-line nonlinear sparse approximation of functions*,
    ISIT 2007, rule (6).

    >>> Coherence(threshold=0.5)
    Coherence(threshold=0.5)
    """

    threshold: float

    def __post_init__(self) -> None:
        real("coherence", self.threshold, at_least=0, at_most=1)

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.admission("coherence", [self.threshold])


@part
class AdaptiveCoherence(Admission):
    """Adaptive coherence: the threshold is the coherence of the dictionary itself.

    The coherence of two points x and z is |k(x, z)| / sqrt(k(x, x) k(z, z)). As long as there are
    fewer than `fill` centres, a sample is admitted if its coherence with every centre is at most
    `threshold`. (A threshold of 1 admits all samples except copies.) After that a sample is
    admitted if its coherence with every centre is below mu_t, the coherence of the dictionary. This
    is the largest coherence of two centres. With the compression `MostCoherent`, mu_t never
    increases. To update mu_t cheaply, the most coherent neighbour of each centre is stored.

    A dictionary of one centre has mu_t = 0 and would never grow. So the dictionary is filled first.
    The paper does not mention this step.

    Reference: Pothin & Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006, section 4.

    >>> AdaptiveCoherence(fill=20)
    AdaptiveCoherence(fill=20, threshold=1.0)
    """

    fill: int
    threshold: float = 1.0

    def __post_init__(self) -> None:
        whole("fill", self.fill, at_least=1, at_most=10**9)
        real("coherence", self.threshold, at_least=0, at_most=1)

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.admission("adaptive_coherence", [self.fill, self.threshold])


@part
class LinearDependence(Admission):
    """Approximate linear dependence: admit x if it is far from the span of the centres.

    The test is delta = ||k(x, .) - sum_j a_j k(d_j, .)||^2 > tolerance (nu, a squared norm), where
    d_1, ..., d_m are the centres and a minimises delta + ridge ||a||^2. The cost is O(m^2). When
    there are `max_centers` centres, nothing more is admitted.

    Let K be the Gram matrix of the centres, I the identity and h = (k(x, d_1), ..., k(x, d_m)).
    Then a = (K + ridge I)^-1 h and delta = k(x, x) - (h + ridge a)'a. Only `DualAscent` can use a
    ridge, because the other updates need the exact projection.

    References: Engel, Mannor & Meir, *The kernel recursive least-squares algorithm*, IEEE
    Transactions on Signal Processing 2004. The ridge is that of equation (3.10) in their *Sparse
    online greedy support vector regression*, ECML 2002.

    >>> LinearDependence(tolerance=0.01)
    LinearDependence(tolerance=0.01, ridge=0.0, max_centers=None)
    """

    tolerance: float
    ridge: float = 0.0
    max_centers: int | None = None

    def __post_init__(self) -> None:
        real("tolerance", self.tolerance, at_least=0)
        real("ridge", self.ridge, at_least=0, at_most=1e80)
        if self.max_centers is not None:
            whole("budget", self.max_centers, at_least=1, at_most=10**9)

    @property
    def budget(self) -> int | None:
        """Number of centres at which nothing more is admitted; None if there is no limit."""
        return self.max_centers

    @property
    def span_tolerance(self) -> float:
        """The tolerance."""
        return self.tolerance

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.admission(
            "linear_dependence", [self.tolerance, self.ridge, self.max_centers or 2**62]
        )


@part
class Residual(Admission):
    """Residual of the step: admit x if the step is farther than eps0 from the span of the centres.

    The step is c k(x, .), where c is the coefficient that the update proposes. eps0, a norm, is
    `tolerance`. Let delta be the squared distance of k(x, .) from the span of the centres. The test
    is ||c||^2 delta > eps0^2. This is condition (7) of the paper, which follows Dodd.

    Reference: Pothin & Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006.

    >>> Residual(tolerance=0.01)
    Residual(tolerance=0.01)
    """

    tolerance: float

    def __post_init__(self) -> None:
        real("tolerance", self.tolerance, at_least=0)

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.admission("residual", [self.tolerance])


@part
class Distance(Admission):
    """Quantisation: admit x if its Euclidean distance to every centre is > radius.

    With radius 0, all samples except exact copies are admitted.

    Reference: Chen, Zhao, Zhu & Principe, *Quantized kernel least mean square algorithm*, IEEE
    Transactions on Neural Networks and Learning Systems 2012.

    >>> Distance(radius=0.5)
    Distance(radius=0.5)
    """

    radius: float

    def __post_init__(self) -> None:
        real("quantization", self.radius, at_least=0)

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.admission("distance", [self.radius])


ADMISSIONS: dict[str, type[Admission]] = {
    "always": Always,
    "proposed": Proposed,
    "coherence": Coherence,
    "adaptive_coherence": AdaptiveCoherence,
    "ald": LinearDependence,
    "residual": Residual,
    "distance": Distance,
}
