"""Recipes of recursive filters in which every sample becomes a centre."""

from __future__ import annotations

from parsimon._recipe import Recipe
from parsimon.admission import Always
from parsimon.compression import LeastNeeded, Nothing
from parsimon.kernels import Kernel
from parsimon.losses import Squared
from parsimon.updates import ExtendedRLS, Growing, Tracker, Window

__all__ = ["exkrls", "fbkrls", "krlst", "swkrls"]


def _recipe(kernel: Kernel, update: Growing, budget: int | None) -> Recipe:
    return Recipe(
        kernel=kernel,
        loss=Squared(),
        admission=Always(),
        update=update,
        compression=Nothing() if budget is None else LeastNeeded(budget),
    )


def swkrls(kernel: Kernel, *, ridge: float, budget: int | None) -> Recipe:
    """Sliding-window KRLS (van Vaerenbergh, Via & Santamaria 2006)."""
    return _recipe(kernel, Window(ridge, "oldest"), budget)


def fbkrls(kernel: Kernel, *, ridge: float, budget: int | None) -> Recipe:
    """Fixed-budget KRLS (van Vaerenbergh, Santamaria, Liu & Principe 2010)."""
    return _recipe(kernel, Window(ridge, "least_error"), budget)


def krlst(
    kernel: Kernel,
    *,
    forgetting: float,
    noise: float,
    jitter: float = 1e-6,
    budget: int | None,
) -> Recipe:
    """KRLS tracker (van Vaerenbergh, Lazaro-Gredilla & Santamaria 2012)."""
    return _recipe(kernel, Tracker(forgetting, noise, jitter), budget)


def exkrls(
    kernel: Kernel,
    *,
    transition: float,
    forgetting: float,
    ridge: float,
    state_noise: float,
    budget: int | None,
) -> Recipe:
    """Extended KRLS for a random walk (Liu, Park, Wang & Principe 2009)."""
    return _recipe(kernel, ExtendedRLS(transition, forgetting, ridge, state_noise), budget)
