"""Admission: which samples become centres.

Where the model keeps the factor of its Gram matrix, a sample that is admitted here may still be refused because it lies, up to rounding, in the span of
the centres; it is then learned as a sample that was not admitted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from parsimon import _core
from parsimon._parts import real

__all__ = ["ADMISSIONS", "Admission", "Always", "Coherence"]


class Admission(ABC):
    """A test that a sample passes to become a centre."""

    @abstractmethod
    def core(self) -> _core.Admission:
        """Return the C++ twin."""


@dataclass(frozen=True)
class Always(Admission):
    """Every sample becomes a centre.

    >>> Always()
    Always()
    """

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.AlwaysAdmission()


@dataclass(frozen=True)
class Coherence(Admission):
    """Coherence criterion: admit x if max_j |k(x, d_j)| / sqrt(k(x, x) k(d_j, d_j)) <= threshold (mu0).

    Costs O(m). A dictionary built by it is finite on a compact set, and linearly independent if (m - 1) mu0 < 1. An exact copy of a centre has
    coherence 1 and is not admitted even at threshold 1.

    Reference: Honeine, Richard & Bermudez, *On-line nonlinear sparse approximation of functions*, ISIT 2007, rule (6).

    >>> Coherence(threshold=0.5)
    Coherence(threshold=0.5)
    """

    threshold: float

    def __post_init__(self) -> None:
        real("coherence", self.threshold, at_least=0, at_most=1)

    def core(self) -> _core.Admission:
        """Return the C++ twin."""
        return _core.CoherenceAdmission(self.threshold)


ADMISSIONS: dict[str, type[Admission]] = {"always": Always, "coherence": Coherence}
