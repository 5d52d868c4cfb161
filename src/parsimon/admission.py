"""Admission: which samples become centres.

Where the model keeps the factor of its Gram matrix, a sample that is admitted here may still be
refused because it lies, up to rounding, in the span of the centres; it is then learned as a sample
that was not admitted.
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
    """A test that a sample passes to become a centre."""

    @property
    def budget(self) -> int | None:
        """Beyond how many centres it admits nothing, or None."""
        return None

    @property
    def span_tolerance(self) -> float:
        """The squared distance up to which a rejected sample lies in the span of the centres.

        0 if the test does not look at that distance.
        """
        return 0.0

    @abstractmethod
    def core(self) -> _core.Admission:
        """Return the C++ twin."""


@part
class Always(Admission):
    """Every sample becomes a centre.

    >>> Always()
    Always()
    """

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.AlwaysAdmission()


@part
class Proposed(Admission):
    """Every sample whose gradient is not zero becomes a centre: with a hinge loss, those that
    violate the margin.

    >>> Proposed()
    Proposed()
    """

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.ProposedAdmission()


@part
class Coherence(Admission):
    """Coherence criterion: admit x if max_j |k(x, d_j)| / sqrt(k(x, x) k(d_j, d_j)) <= threshold
    (mu0).

    Costs O(m). A dictionary built by it is finite on a compact set, and linearly independent if (m
    - 1) mu0 < 1. An exact copy of a centre has coherence 1 and is not admitted even at threshold 1.

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
        return _core.CoherenceAdmission(self.threshold)


@part
class AdaptiveCoherence(Admission):
    """Adaptive coherence: fill the dictionary to `fill` centres, then admit only what is less
    coherent than the dictionary itself.

    With mu_t = max_{i != j} |rho_ij| the dictionary's own coherence, kept up to date by the most
    coherent neighbour of each centre, a sample is admitted if its coherence is below mu_t; together
    with `MostCoherent` the dictionary becomes ever less coherent. While it fills, samples are
    admitted by `threshold` as in `Coherence` (1: all but copies).

    Reference: Pothin & Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006, section 4. A dictionary of one has mu_t = 0 and
    would never grow, hence the filling, which the paper does not mention.

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
        return _core.AdaptiveCoherenceAdmission(self.fill, self.threshold)


@part
class LinearDependence(Admission):
    """Approximate linear dependence: admit x if delta = ||k(x, .) - sum_j a_j k(d_j, .)||^2 >
    tolerance (nu, a squared norm). O(m^2).

    a minimises delta + ridge ||a||^2: with a ridge, delta = k(x, x) - (h + ridge a)'a, a = (K +
    ridge I)^-1 h. (For `DualAscent` only: the other updates want the projection.) With
    `max_centers` nothing is admitted beyond so many.

    Reference: Engel, Mannor & Meir, *The kernel recursive least-squares algorithm*, IEEE
    Transactions on Signal Processing 2004; with the ridge, (3.10) of *Sparse online greedy support
    vector regression*, ECML 2002.

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
        """Beyond how many centres it admits nothing, or None."""
        return self.max_centers

    @property
    def span_tolerance(self) -> float:
        """The tolerance."""
        return self.tolerance

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.DependenceAdmission(self.tolerance, self.ridge, self.max_centers or 2**62)


@part
class Residual(Admission):
    """Residual of the proposed function: admit x if the update would move f out of the span by a
    norm > tolerance (eps0).

    With c the coefficient that the update proposes for k(x, .), the test is ||c||^2 delta > eps0^2:
    condition (7) of Pothin & Richard 2006, after Dodd.

    >>> Residual(tolerance=0.01)
    Residual(tolerance=0.01)
    """

    tolerance: float

    def __post_init__(self) -> None:
        real("tolerance", self.tolerance, at_least=0)

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.ResidualAdmission(self.tolerance)


@part
class Distance(Admission):
    """Quantisation: admit x if its Euclidean distance to every centre is > radius.

    At radius 0 only exact copies are not admitted.

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
        return _core.DistanceAdmission(self.radius)


ADMISSIONS: dict[str, type[Admission]] = {
    "always": Always,
    "proposed": Proposed,
    "coherence": Coherence,
    "adaptive_coherence": AdaptiveCoherence,
    "ald": LinearDependence,
    "residual": Residual,
    "distance": Distance,
}
