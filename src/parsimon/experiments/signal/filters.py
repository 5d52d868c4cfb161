"""The table of filters that the experiments compare. A filter is one line.

All kernel filters have the same Gaussian kernel and the same budget of centres. Their other
parameters were chosen on other seeds, from small grids: `gamma` and `step_size` for each task, by
KRLS with forgetting and by KLMS, all others for the mean over the three tasks. The aim was the
lowest error over samples 100 to 2000, in dB. SPL and POLK are as sparse as costs at most 0.2 dB.
Filters have no intercept, as in their papers. RFF-KLMS has as many features as others have centres.
"KRLS-T, quick" is not from the grid: it shows how forgetting trades the floor for the time to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from parsimon import (
    EXKRLSRegressor,
    FBKRLSRegressor,
    KAPRegressor,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    KRLSTRegressor,
    MKNLMSRegressor,
    NORMARegressor,
    POLKRegressor,
    RFFKLMSRegressor,
    SPLRegressor,
    SWKRLSRegressor,
    kernels,
    published,
)


class Task(NamedTuple):
    """What the filters of one experiment share."""

    #: Of the Gaussian kernel.
    gamma: float
    #: The most centres.
    budget: int
    #: Learning rate of filters that take gradient steps.
    step_size: float
    #: A level in dB that good filters reach, for comparison.
    level: float

    @property
    def shared(self) -> dict[str, Any]:
        """The parameters of a filter with a Gaussian kernel."""
        return {"kernel": "gaussian", "gamma": self.gamma, "budget": self.budget}


#: Families of filters, each drawn in a panel of its own.
FAMILIES = {"gradient": "Gradient filters", "least squares": "Least-squares filters"}

#: By name: the family, and a function that makes the filter for a task.
FILTERS: dict[str, tuple[str, Callable[[Task], Any]]] = {
    "KLMS": (
        "gradient",
        lambda task: published(KLMSRegressor, step_size=task.step_size, **task.shared),
    ),
    "NORMA": (
        "gradient",
        lambda task: published(NORMARegressor, step_size=0.9, alpha=0.01, **task.shared),
    ),
    "SPL": (
        "gradient",
        lambda task: published(
            SPLRegressor, step_size=task.step_size, tolerance=0.1, **task.shared
        ),
    ),
    "POLK": (
        "gradient",
        lambda task: published(
            POLKRegressor, loss="squared", step_size=task.step_size, parsimony=0.1, **task.shared
        ),
    ),
    "KNLMS": (
        "gradient",
        lambda task: published(
            KNLMSRegressor, step_size=0.5, coherence=0.95, ridge=0.01, **task.shared
        ),
    ),
    "KAP": (
        "gradient",
        lambda task: published(
            KAPRegressor, step_size=0.1, order=8, coherence=0.9, ridge=0.1, **task.shared
        ),
    ),
    "MKNLMS": (
        "gradient",
        lambda task: published(
            MKNLMSRegressor,
            widths=(0.3, 1.0, 3.0),
            step_size=0.6,
            coherence=0.97,
            ridge=0.01,
            **task.shared,
        ),
    ),
    "RFF-KLMS": (
        "gradient",
        lambda task: published(
            RFFKLMSRegressor,
            gamma=task.gamma,
            n_components=task.budget,
            step_size=0.6,
            random_state=0,
        ),
    ),
    "linear RLS": (
        "least squares",
        lambda task: KRLSRegressor(
            kernels.Polynomial(degree=1), ridge=0.01, forgetting=0.98, fit_intercept=False
        ),
    ),
    "KRLS": (
        "least squares",
        lambda task: KRLSRegressor(ridge=0.03, fit_intercept=False, **task.shared),
    ),
    "KRLS, forgetting": (
        "least squares",
        lambda task: KRLSRegressor(
            ridge=0.2, tolerance=0.001, forgetting=0.985, fit_intercept=False, **task.shared
        ),
    ),
    "SW-KRLS": (
        "least squares",
        lambda task: published(SWKRLSRegressor, ridge=0.03, **task.shared),
    ),
    "FB-KRLS": (
        "least squares",
        lambda task: published(FBKRLSRegressor, ridge=0.1, **task.shared),
    ),
    "EX-KRLS": (
        "least squares",
        lambda task: published(
            EXKRLSRegressor,
            transition=1.0,
            forgetting=1.0,
            ridge=0.1,
            state_noise=0.01,
            **task.shared,
        ),
    ),
    "KRLS-T": (
        "least squares",
        lambda task: published(KRLSTRegressor, forgetting=0.998, noise=0.03, **task.shared),
    ),
    "KRLS-T, quick": (
        "least squares",
        lambda task: published(KRLSTRegressor, forgetting=0.99, noise=0.03, **task.shared),
    ),
}
