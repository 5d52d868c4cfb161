"""Compression: which centres are removed, and how.

A centre is *dropped* with its weight, *projected out* (the other weights take over its
contribution), or *merged* with another centre. It is *evicted* if it is removed because of the
budget.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from parsimon import _core
from parsimon._parts import lookup, part, real, whole

__all__ = [
    "COMPRESSIONS",
    "MAINTENANCE",
    "PURSUITS",
    "Budgeted",
    "Compression",
    "LeastCost",
    "LeastNeeded",
    "MatchingPursuit",
    "Merge",
    "MergingPursuit",
    "MostCoherent",
    "Negligible",
    "Nothing",
    "Oldest",
    "Smallest",
    "at_budget",
]


class Compression(ABC):
    """A rule by which centres are removed after a step.

    The rule itself is in C++. A subclass in Python has no C++ twin, so it cannot add a rule.
    CONTRIBUTING.md lists the files to touch for a new one.
    """

    @property
    def budget(self) -> int | None:
        """Maximum number of centres after a step; None if there is no limit."""
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
    """No centre is ever removed.

    >>> Nothing().budget is None
    True
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.compression("none", [])


@part
class Budgeted(Compression):
    """A rule that acts while there are more than `max_centers` centres."""

    max_centers: int

    def __post_init__(self) -> None:
        whole("budget", self.max_centers, at_least=1, at_most=10**9)


@part
class LeastCost(Budgeted):
    """Over the budget, project out the centre whose removal changes f least.

    Let K be the Gram matrix of the m centres, and w_j the weights of centre j, one per output. The
    cost of centre j is ||w_j||^2 / (K^-1)_jj. This is the squared RKHS distance between f and its
    projection onto the span of the other centres. Each removal takes O(m^2) operations.

    >>> LeastCost(100).budget
    100
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.compression("least_cost", [self.max_centers, 0.0])


@part
class Oldest(Budgeted):
    """Over the budget, drop the oldest centre: a sliding window over the centres.

    >>> Oldest(100)
    Oldest(max_centers=100)
    """

    @property
    def drops_oldest(self) -> bool:
        """True."""
        return True

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.compression("oldest", [self.max_centers])


@part
class LeastNeeded(Budgeted):
    """Over the budget, evict the centre whose removal increases the squared error least.

    This is for recursive least squares. The cost of centre j is w_j^2 / V_jj, where w_j is its
    weight and V the covariance matrix of all weights, in units of the noise variance. For `SpanRLS`
    and `NormRLS`, V = K^-1 P K^-1, where P is the covariance matrix of the values at the centres
    and K the Gram matrix. For `RowRLS`, V is the matrix P of that update. The weight of the centre
    becomes 0. The other weights move to the least-squares solution under this constraint. If
    `SpanRLS` or `NormRLS` has `max_centers`, f is projected onto the span of the others instead.

    >>> LeastNeeded(100)
    LeastNeeded(max_centers=100)
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.compression("least_needed", [self.max_centers])


@part
class MostCoherent(Budgeted):
    """Over the budget, project out one of the two most coherent centres.

    The coherence of two centres is |k(d_i, d_j)| / sqrt(k(d_i, d_i) k(d_j, d_j)). `removal` selects
    the "older" of the two, or the "cheaper" one, whose removal changes f less. The paper allows
    both choices, in (15) and its footnote.

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
        return _core.compression("most_coherent", [self.max_centers, self.removal == "cheaper"])


@part
class Smallest(Budgeted):
    """Over the budget, drop the centre with the smallest squared norm ||w_j||^2 k(d_j, d_j).

    d_j is the centre, and w_j are its weights, one per output.

    Reference: Wang, Crammer & Vucetic, *Breaking the curse of kernelization: budgeted stochastic
    gradient descent for large-scale SVM training*, JMLR 2012.

    >>> Smallest(100)
    Smallest(max_centers=100)
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.compression("smallest", [self.max_centers])


@part
class Merge(Budgeted):
    """Over the budget, merge the centre of smallest norm with another centre. Gaussian kernel only.

    Let d_1 be the centre with the smallest norm of its weights, d_2 another centre, w_1 and w_2
    their weights (one per output), and k = k(d_1, d_2). They are replaced by the centre
    h d_1 + (1 - h) d_2 with the weights w = w_1 k^((1-h)^2) + w_2 k^(h^2). The number h in [0, 1]
    maximises ||w||; it is found by golden section search. d_2 is the centre with the smallest loss
    ||w_1||^2 + ||w_2||^2 + 2 w_1'w_2 k - ||w||^2. With m centres and C outputs, each merge takes
    O(m C) operations and about 50 m exponentials.

    Reference: Wang, Crammer & Vucetic, *Breaking the curse of kernelization: budgeted stochastic
    gradient descent for large-scale SVM training*, JMLR 2012, section 5.3.

    >>> Merge(100).budget
    100
    """

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.compression("merge", [self.max_centers])


@part
class MatchingPursuit(Compression):
    """Destructive kernel orthogonal matching pursuit with pre-fitting.

    After a step with the learning rate eta, the centre whose removal changes f least is projected
    out. This is repeated as long as f stays close to the function after the step: the squared RKHS
    distance, summed over the outputs, is at most eps^2. Here eps = K eta^power, where K is
    `parsimony`. The power is 3/2 for a constant rate and 2 for a diminishing rate. With a budget,
    further centres are projected out until the budget is met.

    Let G be the Gram matrix of the m centres, and w_j the weights of centre j, one per output. The
    cost of removing centre j is ||w_j||^2 / (G^-1)_jj. Successive projections are orthogonal, so
    these costs add up to the squared distance. The costs are read from the Gram factor, a
    triangular S with S'S = G^-1. So the weights need not be fitted again for each candidate. Each
    removal takes O(m^2) operations, and several removals share one pass over S.

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
        return _core.compression(
            "matching_pursuit", [self.parsimony, self.power, _at_most(self.max_centers)]
        )


@part
class MergingPursuit(Compression):
    """Merge centres as long as f stays close to the function after the step. Gaussian kernel only.

    After a step with the learning rate eta, the centre of smallest norm is merged with another, as
    `Merge` does. This is repeated while the RKHS norms of the changes, of all outputs together, add
    up to at most eps = K eta^power, where K is `parsimony`. By the triangle inequality f then is
    within eps of the function after the step, as with `MatchingPursuit`. With a budget, further
    centres are merged until the budget is met.

    A merge replaces w_1 k(d_1, .) + w_2 k(d_2, .) by w k(h d_1 + (1 - h) d_2, .), and the square of
    its change is ||w_1||^2 + ||w_2||^2 + 2 w_1'w_2 k(d_1, d_2) - ||w||^2. Centres then lie between
    samples, and fewer are needed for the same accuracy. No Gram factor is kept. With m centres of d
    features and C outputs, a merge takes O(m (d + C)) operations.

    With `neighbors` p > 0, the change of f by a merge is then projected onto the p centres nearest
    to the merged one, which is one of them. With r_i the change at these centres and K their Gram
    matrix, their weights change by a = (K + 0.01 I)^-1 r. So the change becomes smaller, and the
    model more accurate. This is not in the references. It takes O(p^2 (d + p) + p C) operations.

    References: Wang, Crammer & Vucetic, *Breaking the curse of kernelization: budgeted stochastic
    gradient descent for large-scale SVM training*, JMLR 2012, section 5.3 (merging). Koppel,
    Warnell, Stump & Ribeiro, *Parsimonious online learning with kernels via sparse projections in
    function space*, JMLR 2019 (eps).

    >>> MergingPursuit(parsimony=0.04, max_centers=100)
    MergingPursuit(parsimony=0.04, power=1.5, max_centers=100, neighbors=0)
    """

    parsimony: float
    power: float = 1.5
    max_centers: int | None = None
    neighbors: int = 0

    def __post_init__(self) -> None:
        real("parsimony", self.parsimony, at_least=0)
        real("power", self.power, at_least=0)
        if self.max_centers is not None:
            whole("budget", self.max_centers, at_least=1, at_most=10**9)
        whole("neighbors", self.neighbors, at_least=0, at_most=1000)

    def core(self) -> _core.Compression:
        """Return the C++ twin."""
        return _core.compression(
            "merging_pursuit",
            [self.parsimony, self.power, _at_most(self.max_centers), self.neighbors],
        )


@part
class Negligible(Compression):
    """Project out centres whose removal moves f by at most `tolerance` (eps0, a norm).

    The centre whose removal moves f least is projected out first. Each removal is measured from the
    current f, in the RKHS norm. With a budget, further centres are projected out until the budget
    is met. With m centres, each removal takes O(m^2) operations. This is the decremental step of
    the paper, section 2.2.

    Reference: Pothin & Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006.

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
        return _core.compression("least_cost", [_at_most(self.max_centers), self.tolerance])


def _at_most(budget: int | None) -> int:
    return 2**62 if budget is None else budget


#: Names for the ``compression`` parameter of an estimator.
COMPRESSIONS: dict[str, type[Budgeted]] = {"least_cost": LeastCost, "oldest": Oldest}
#: Names for the ``maintenance`` parameter of `BSGDClassifier`.
MAINTENANCE: dict[str, type[Budgeted]] = {
    "merge": Merge,
    "projection": LeastCost,
    "removal": Smallest,
}

#: Names for the ``maintenance`` parameter of `POLKRegressor` and `POLKClassifier`.
PURSUITS: dict[str, type[MatchingPursuit | MergingPursuit]] = {
    "merge": MergingPursuit,
    "projection": MatchingPursuit,
}


def at_budget(rule: str, budget: int | None) -> Compression:
    """Return the compression called `rule` with a budget; `Nothing` if the budget is None.

    >>> at_budget("oldest", 50)
    Oldest(max_centers=50)
    """
    cls = lookup(COMPRESSIONS, rule, "compression")
    return Nothing() if budget is None else cls(budget)
