"""Compression: which centres leave, and what becomes of their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod

from parsimon import _core
from parsimon._parts import lookup, part, real, whole

__all__ = [
    "COMPRESSIONS",
    "MAINTENANCE",
    "Budgeted",
    "Compression",
    "LeastCost",
    "LeastNeeded",
    "MatchingPursuit",
    "Merge",
    "MostCoherent",
    "Negligible",
    "Nothing",
    "Oldest",
    "Smallest",
    "at_budget",
]


class Compression(ABC):
    """A rule by which centres leave after a step."""

    @property
    def budget(self) -> int | None:
        """The most centres left after a step, None if there is no bound."""
        most: int | None = getattr(self, "max_centers", None)
        return most

    @property
    def drops_oldest(self) -> bool:
        """Whether centres are dropped by their age alone."""
        return False

    @abstractmethod
    def core(self) -> _core.Compression:
        """Return the C++ twin."""


@part
class Nothing(Compression):
    """No centre ever leaves.

    >>> Nothing().budget is None
    True
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.NoCompression()


@part
class Budgeted(Compression):
    """A rule that acts while there are more than `max_centers` centres."""

    max_centers: int

    def __post_init__(self) -> None:
        whole("budget", self.max_centers, at_least=1, at_most=10**9)


@part
class LeastCost(Budgeted):
    """Beyond the budget, the centre whose removal changes the function least is projected onto the
    others.

    With S'S = K^-1 the removal of centre j costs ||w_j||^2 / (S'S)_jj, the squared RKHS distance
    between f and its projection onto the span of the other centres. O(m^2) for each removal.

    >>> LeastCost(100).budget
    100
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.LeastCostCompression(self.max_centers)


@part
class Oldest(Budgeted):
    """Beyond the budget, the oldest centre goes with its weights: a sliding window over the
    centres.

    >>> Oldest(100)
    Oldest(max_centers=100)
    """

    @property
    def drops_oldest(self) -> bool:
        """True."""
        return True

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.OldestCompression(self.max_centers)


@part
class LeastNeeded(Budgeted):
    """Beyond the budget, the centre without which the update's own error rises least leaves in the
    update's own way.

    For recursive least squares that is the centre whose weight costs least to be held at zero, and
    the other weights move to where least squares then has them: w_j^2 / (n'P n) with n = K^-1 e_j
    for `SpanRLS`, w_j^2 / P_jj for `RowRLS`.

    >>> LeastNeeded(100)
    LeastNeeded(max_centers=100)
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.LeastNeededCompression(self.max_centers)


@part
class MostCoherent(Budgeted):
    """Beyond the budget, one of the two most coherent centres is projected onto the others.

    The "older" of the two leaves, or the one that is "cheaper" to remove: (15) and its footnote
    allow either.

    Reference: Pothin & Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006, (15)-(20).

    >>> MostCoherent(24)
    MostCoherent(max_centers=24, removal='older')
    """

    removal: str = "older"

    def __post_init__(self) -> None:
        super().__post_init__()
        lookup({"older": False, "cheaper": True}, self.removal, "removal")

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.MostCoherentCompression(self.max_centers, self.removal == "cheaper")


@part
class Smallest(Budgeted):
    """Beyond the budget, the centre of least norm ||w_j||^2 k(d_j, d_j) goes with its weights.

    Reference: Wang, Crammer & Vucetic, *Breaking the curse of kernelization: budgeted stochastic
    gradient descent for large-scale SVM training*, JMLR 2012.

    >>> Smallest(100)
    Smallest(max_centers=100)
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.SmallestCompression(self.max_centers)


@part
class Merge(Budgeted):
    """Beyond the budget, the centre x of least norm and another one, y, make way for one between
    them that stands for both. For the Gaussian kernel.

    With u, v their weights and k = k(x, y), z = h x + (1 - h) y gets the weights w = u k^((1-h)^2)
    + v k^(h^2), with the h that makes ||w|| largest (golden section); y is the centre for which the
    loss ||u||^2 + ||v||^2 + 2 u'v k - ||w||^2 is least. O(m C) and about 50 m exponentials for each
    merge.

    Reference: Wang, Crammer & Vucetic 2012, section 5.3.

    >>> Merge(100).budget
    100
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.MergeCompression(self.max_centers)


@part
class MatchingPursuit(Compression):
    """Destructive kernel orthogonal matching pursuit with pre-fitting: as few centres as keep f
    within eps of what it was.

    After a step of rate eta the cheapest centre is projected onto the others, and again, while the
    squared RKHS distance from the function at the start, summed over the outputs, stays within
    eps^2; eps = parsimony eta^power (K eta^(3/2) for a constant step, eta_t^2 for a diminishing
    one). Beyond a budget, if any, more leave. As nested projections are orthogonal, the costs
    ||w_j||^2 / (S'S)_jj add up to that distance: O(m^2) for each removal, several in one sweep over
    the factor, and no refit per candidate.

    Reference: Koppel, Warnell, Stump & Ribeiro, *Parsimonious online learning with kernels via
    sparse projections in function space*, JMLR 2019.

    >>> MatchingPursuit(parsimony=0.04)
    MatchingPursuit(parsimony=0.04, power=1.5, max_centers=None)
    """

    parsimony: float
    power: float = 1.5
    max_centers: int | None = None

    def __post_init__(self) -> None:
        real("parsimony", self.parsimony, at_least=0)
        real("power", self.power, at_least=0)
        if self.max_centers is not None:
            whole("budget", self.max_centers, at_least=1, at_most=10**9)

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.MatchingPursuitCompression(
            self.parsimony, self.power, _at_most(self.max_centers)
        )


@part
class Negligible(Compression):
    """Centres whose removal moves f by a norm of at most `tolerance` (eps0) are projected onto the
    others, the cheapest first; beyond a budget, if any, more.

    Each removal is tested against the function as it is then: the decremental step of Pothin &
    Richard 2006, section 2.2, O(m^2) for each removal.

    >>> Negligible(tolerance=0.01).budget is None
    True
    """

    tolerance: float
    max_centers: int | None = None

    def __post_init__(self) -> None:
        real("tolerance", self.tolerance, at_least=0)
        if self.max_centers is not None:
            whole("budget", self.max_centers, at_least=1, at_most=10**9)

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.LeastCostCompression(_at_most(self.max_centers), self.tolerance)


def _at_most(budget: int | None) -> int:
    return 2**62 if budget is None else budget


#: Rules that an estimator's ``compression`` parameter can name; they act at its ``budget``.
COMPRESSIONS: dict[str, type[Budgeted]] = {"least_cost": LeastCost, "oldest": Oldest}
#: Rules that a `BSGDClassifier`'s ``maintenance`` parameter can name.
MAINTENANCE: dict[str, type[Budgeted]] = {
    "merge": Merge,
    "projection": LeastCost,
    "removal": Smallest,
}


def at_budget(rule: str, budget: int | None) -> Compression:
    """Return the named rule at a budget, or `Nothing` where there is none.

    >>> at_budget("oldest", 50)
    Oldest(max_centers=50)
    """
    cls = lookup(COMPRESSIONS, rule, "compression")
    return Nothing() if budget is None else cls(budget)
