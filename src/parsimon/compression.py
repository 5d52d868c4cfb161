"""Compression: which centres leave, and what becomes of their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from parsimon import _core
from parsimon._parts import lookup, whole

__all__ = ["COMPRESSIONS", "Budgeted", "Compression", "LeastCost", "Nothing", "Oldest", "at_budget"]


class Compression(ABC):
    """A rule by which centres leave after a step."""

    @property
    def budget(self) -> int | None:
        """The most centres left after a step, None if there is no bound."""
        return None

    @abstractmethod
    def core(self) -> _core.Compression:
        """Return the C++ twin."""


@dataclass(frozen=True)
class Nothing(Compression):
    """No centre ever leaves.

    >>> Nothing().budget is None
    True
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.NoCompression()


@dataclass(frozen=True)
class Budgeted(Compression):
    """A rule that acts while there are more than `max_centers` centres."""

    max_centers: int

    def __post_init__(self) -> None:
        whole("budget", self.max_centers, at_least=1, at_most=10**9)

    @property
    def budget(self) -> int | None:
        """The most centres left after a step."""
        return self.max_centers


@dataclass(frozen=True)
class LeastCost(Budgeted):
    """Beyond the budget, the centre whose removal changes the function least is projected onto the others.

    With S'S = K^-1 the removal of centre j costs ||w_j||^2 / (S'S)_jj, the squared RKHS distance between f and its projection onto the span of
    the other centres. O(m^2) for each removal.

    >>> LeastCost(100).budget
    100
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.LeastCostCompression(self.max_centers)


@dataclass(frozen=True)
class Oldest(Budgeted):
    """Beyond the budget, the oldest centre goes with its weights: a sliding window over the centres.

    >>> Oldest(100)
    Oldest(max_centers=100)
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.OldestCompression(self.max_centers)


#: Rules that an estimator's ``compression`` parameter can name; they act at its ``budget``.
COMPRESSIONS: dict[str, type[Budgeted]] = {"least_cost": LeastCost, "oldest": Oldest}


def at_budget(rule: str, budget: int | None) -> Compression:
    """Return the named rule at a budget, or `Nothing` where there is none.

    >>> at_budget("oldest", 50)
    Oldest(max_centers=50)
    """
    cls = lookup(COMPRESSIONS, rule, "compression")
    return Nothing() if budget is None else cls(budget)
