"""Recipes of algorithms in which a rule selects the samples that become centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon._parts import lookup, real, whole
from parsimon._recipe import Recipe
from parsimon.admission import (
    AdaptiveCoherence,
    Admission,
    Always,
    Coherence,
    Distance,
    LinearDependence,
    Proposed,
    Residual,
)
from parsimon.compression import (
    MAINTENANCE,
    PURSUITS,
    Compression,
    LeastCost,
    LeastNeeded,
    MostCoherent,
    Negligible,
    Nothing,
    at_budget,
)
from parsimon.kernels import Kernel
from parsimon.losses import Loss, MulticlassHinge, Squared, SquaredHinge
from parsimon.updates import (
    NLMS,
    SCHEDULES,
    STEPS,
    AffineProjection,
    DualAscent,
    Gradient,
    NormRLS,
    ProjectedGradient,
    QuantizedGradient,
    RowRLS,
    Schedule,
    SpanRLS,
)

#: Step k has a weight of about k^3 in recent averages (Shamir & Zhang 2013).
RECENT = 3.0

__all__ = ["bsgd", "kap", "klms", "knlms", "krls", "norma", "polk", "sog", "spl"]


def knlms(
    kernel: Kernel,
    *,
    step_size: float,
    coherence: float,
    ridge: float = 0.0,
    budget: int | None = None,
    compression: str = "least_cost",
) -> Recipe:
    """Kernel normalised least mean squares (Honeine, Richard & Bermudez 2007, section V)."""
    return Recipe(
        kernel=kernel,
        loss=Squared(),
        admission=Coherence(coherence),
        update=NLMS(step_size, ridge),
        compression=at_budget(compression, budget),
    )


def kap(
    kernel: Kernel,
    *,
    step_size: float,
    coherence: float,
    order: int = 2,
    ridge: float = 0.0,
    budget: int | None = None,
    compression: str = "least_cost",
) -> Recipe:
    """Kernel affine projection (Richard, Bermudez & Honeine 2009). Order 1 is `knlms`."""
    return Recipe(
        kernel=kernel,
        loss=Squared(),
        admission=Coherence(coherence),
        update=AffineProjection(step_size, order, ridge),
        compression=at_budget(compression, budget),
    )


def klms(
    kernel: Kernel,
    *,
    step_size: float,
    quantization: float = 0.0,
    budget: int | None = None,
    compression: str = "least_cost",
    step: str = "explicit",
) -> Recipe:
    """Kernel least mean squares (Liu, Pokharel & Principe 2008).

    With `quantization` > 0 it is quantised (Chen, Zhao, Zhu & Principe 2012). Otherwise, with
    compression "least_cost", a sample that lies in the span of the centres up to rounding is
    projected onto them instead of being admitted.
    """
    evict = at_budget(compression, budget)
    projects = quantization == 0 and isinstance(evict, LeastCost)
    update = ProjectedGradient if projects else QuantizedGradient
    return Recipe(
        kernel=kernel,
        loss=Squared(),
        admission=Distance(quantization),
        update=update(step_size, invariant=lookup(STEPS, step, "step")),
        compression=evict,
    )


def norma(
    kernel: Kernel,
    *,
    step_size: float,
    alpha: float,
    budget: int | None = None,
    compression: str = "oldest",
    step: str = "explicit",
) -> Recipe:
    """NORMA: regularised gradient descent that drops its oldest centres.

    Kivinen, Smola & Williamson 2004. With compression "least_cost", a sample that lies in the span
    of the centres up to rounding is projected onto them instead of being admitted.
    """
    evict = at_budget(compression, budget)
    cls = ProjectedGradient if isinstance(evict, LeastCost) else Gradient
    update = cls(step_size, alpha, invariant=lookup(STEPS, step, "step"))
    return Recipe(
        kernel=kernel, loss=Squared(), admission=Always(), update=update, compression=evict
    )


def krls(
    kernel: Kernel,
    *,
    admission: str = "ald",
    tolerance: float = 0.01,
    coherence: float = 0.5,
    ridge: float = 0.0,
    penalty: str = "values",
    forgetting: float = 1.0,
    budget: int | None = None,
    eviction: str = "refit",
) -> Recipe:
    """Kernel recursive least squares.

    Admission is by linear dependence (Engel et al. 2004) or by coherence (Richard et al. 2009).
    """
    evictions: dict[str, tuple[Any, ...]] = {"refit": (), "project": (budget,)}
    parts: dict[str, tuple[Admission, dict[str, Any], dict[str, tuple[Any, ...]]]] = {
        "ald": (LinearDependence(tolerance), {"values": SpanRLS, "norm": NormRLS}, evictions),
        "coherence": (Coherence(coherence), {"values": RowRLS}, {"refit": ()}),
    }
    admit, updates, evictions = lookup(parts, admission, "admission")
    if penalty == "auto":
        penalty = "norm" if "norm" in updates and ridge else "values"
    if eviction == "auto":
        eviction = "project" if "project" in evictions else "refit"
    limit = lookup(evictions, eviction, "eviction")
    update = lookup(updates, penalty, "penalty")(ridge, forgetting, *limit)
    return Recipe(
        kernel=kernel,
        loss=Squared(),
        admission=admit,
        update=update,
        compression=Nothing() if budget is None else LeastNeeded(budget),
    )


def spl(
    kernel: Kernel,
    *,
    step_size: float,
    admission: str = "residual",
    tolerance: float = 0.01,
    coherence: float | str = 0.5,
    budget: int | None = None,
    removal: str = "older",
    step: str = "explicit",
) -> Recipe:
    """Sequential projection learning.

    It is basic (Dodd), or controlled by a fixed or adaptive coherence (Pothin & Richard 2006).
    """
    at_bound = Nothing() if budget is None else MostCoherent(budget, removal)
    admit: Admission
    compression: Compression
    if admission == "residual":
        admit, compression = Residual(tolerance), Negligible(tolerance, budget)
    elif admission == "coherence" and isinstance(coherence, str):
        lookup({"adaptive": None}, coherence, "coherence")
        if budget is None:
            raise ValueError(
                "coherence='adaptive' needs a budget, to which the dictionary is filled first"
            )
        admit, compression = AdaptiveCoherence(budget), at_bound
    else:
        lookup({"residual": None, "coherence": None}, admission, "admission")
        admit, compression = Coherence(coherence), at_bound  # type: ignore[arg-type]
    return Recipe(
        kernel=kernel,
        loss=Squared(),
        admission=admit,
        update=ProjectedGradient(step_size, invariant=lookup(STEPS, step, "step")),
        compression=compression,
    )


def polk(
    kernel: Kernel,
    *,
    loss: Loss,
    step_size: float,
    alpha: float,
    parsimony: float,
    schedule: str | Schedule = "constant",
    batch_size: int = 1,
    budget: int | None = None,
    average: bool | int | str = False,
    step: str = "explicit",
    maintenance: str = "projection",
    neighbors: int = 0,
) -> Recipe:
    """POLK: functional stochastic gradient with sparse projections, for any convex loss.

    Koppel, Warnell, Stump & Ribeiro 2019. ``maintenance="merge"`` is not part of the paper.
    """
    pursuit = lookup(PURSUITS, maintenance, "maintenance")
    whole("neighbors", neighbors, at_least=0, at_most=1000)
    if neighbors > 0 and maintenance != "merge":
        raise ValueError(
            f"neighbors={neighbors} needs maintenance='merge', got {maintenance!r}, "
            "which projects onto all centres; set neighbors=0"
        )
    rule = schedule if isinstance(schedule, Schedule) else lookup(SCHEDULES, schedule, "schedule")
    return Recipe(
        kernel=kernel,
        loss=loss,
        admission=Proposed(),
        # Without a Gram factor every sample can be a centre, and nothing is projected.
        update=(Gradient if maintenance == "merge" else ProjectedGradient)(
            step_size, alpha, rule, lookup(STEPS, step, "step")
        ),
        compression=pursuit(
            parsimony,
            2.0 if rule.power > 0 else 1.5,
            budget,
            **({"neighbors": neighbors} if neighbors else {}),
        ),
        batch_size=batch_size,
        average_after=_average_after(average),
        average_power=RECENT if average == "recent" else 0.0,
    )


def _average_after(average: bool | int | str) -> int | None:
    """Return the number of samples before averaging begins; None if `average` is False or 0."""
    if isinstance(average, str):
        lookup({"recent": None}, average, "average")
        return 0
    if average is None:
        raise TypeError("average must be a bool, a whole number or 'recent', got None")
    if isinstance(average, bool | np.bool_):
        return 0 if average else None
    return average or None


def sog(
    kernel: Kernel,
    *,
    loss: Loss,
    tolerance: float,
    step: str = "error",
    epsilon: float = 0.0,
    ridge: float = 0.0,
    box: float | None = None,
    budget: int | None = None,
) -> Recipe:
    """Sparse online greedy support vector machines (Engel, Mannor & Meir 2002).

    The squared loss gives regression, and the squared hinge gives classification.
    """
    if box is not None:
        real("box", box, above=0, at_most=1e100)
        if isinstance(loss, SquaredHinge):
            # w = alpha* - alpha is in [-box, box] if both are within half the box
            box = 0.5 * box
    return Recipe(
        kernel=kernel,
        loss=loss,
        admission=LinearDependence(tolerance, ridge, budget),
        update=DualAscent(epsilon, box, step),
        compression=Nothing(),
    )


def bsgd(
    kernel: Kernel,
    *,
    alpha: float,
    budget: int,
    step_size: float = 1.0,
    schedule: str = "constant",
    maintenance: str = "merge",
    batch_size: int = 1,
    step: str = "explicit",
) -> Recipe:
    """Multi-class SVM by budgeted stochastic gradient descent (Wang, Crammer & Vucetic 2012)."""
    real("alpha", alpha, at_least=0)
    if schedule == "pegasos":
        if alpha == 0:
            raise ValueError("schedule='pegasos' has the rates 1 / (alpha t): it needs alpha > 0")
        real("alpha", alpha, at_least=1e-20)
        rate = (1 / alpha, alpha, Schedule(power=1.0), lookup(STEPS, step, "step"))
    else:
        lookup({"constant": None, "pegasos": None}, schedule, "schedule")
        rate = (step_size, alpha, Schedule(), lookup(STEPS, step, "step"))
    rule = lookup(MAINTENANCE, maintenance, "maintenance")
    return Recipe(
        kernel=kernel,
        loss=MulticlassHinge(),
        admission=Proposed(),
        update=ProjectedGradient(*rate) if maintenance == "projection" else Gradient(*rate),
        compression=rule(budget),
        batch_size=batch_size,
    )
