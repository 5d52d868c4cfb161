"""The estimators as their papers describe them."""

from __future__ import annotations

from typing import Any, TypeVar

from parsimon.estimators.bsgd import BSGDClassifier
from parsimon.estimators.exkrls import EXKRLSRegressor
from parsimon.estimators.kap import KAPRegressor
from parsimon.estimators.knlms import KNLMSRegressor
from parsimon.estimators.krls import KRLSRegressor
from parsimon.estimators.krlst import KRLSTRegressor
from parsimon.estimators.lms import KLMSRegressor, NORMARegressor
from parsimon.estimators.mknlms import MKNLMSRegressor
from parsimon.estimators.polk import POLKRegressor
from parsimon.estimators.polk_classifier import POLKClassifier
from parsimon.estimators.rffklms import RFFKLMSRegressor
from parsimon.estimators.sog import SOGSVC, SOGSVR
from parsimon.estimators.spl import SPLRegressor
from parsimon.estimators.window import FBKRLSRegressor, SWKRLSRegressor

__all__ = ["PUBLISHED", "published"]

T = TypeVar("T")

_ALL: dict[str, Any] = {"kernel": "gaussian", "gamma": "scale", "budget": None, "n_passes": 1}
_PLAIN: dict[str, Any] = {**_ALL, "fit_intercept": False}
_ORDERED: dict[str, Any] = {**_PLAIN, "shuffle": False, "random_state": None}
_STEPS: dict[str, Any] = {**_ORDERED, "step": "explicit"}
_CLASSES: dict[str, Any] = {"class_weight": None, "shuffle": True, "random_state": None}
_DUAL: dict[str, Any] = {**_ALL, "bias": 0.1, "step": "error", "ridge": 0.0, "box": None}

#: All parameters of each estimator: the algorithm of its paper, where the paper says. There are no
#: budgets, except those that belong to an algorithm.
PUBLISHED: dict[type[Any], dict[str, Any]] = {
    KNLMSRegressor: {
        **_ORDERED,
        "step_size": 0.2,
        "coherence": 0.5,
        "ridge": 0.0,
        "compression": "least_cost",
    },
    KAPRegressor: {
        **_ORDERED,
        "step_size": 0.2,
        "order": 3,
        "coherence": 0.5,
        "ridge": 0.01,
        "compression": "least_cost",
    },
    KLMSRegressor: {
        **_STEPS,
        "step_size": 0.2,
        "quantization": 0.0,
        "compression": "least_cost",
    },
    NORMARegressor: {
        **_STEPS,
        "step_size": 0.2,
        "alpha": 0.01,
        "budget": 300,
        "compression": "oldest",
    },
    KRLSRegressor: {
        **_PLAIN,
        "admission": "ald",
        "tolerance": 0.01,
        "coherence": 0.5,
        "ridge": 0.0,
        "penalty": "values",
        "forgetting": 1.0,
        "eviction": "refit",
    },
    KRLSTRegressor: {
        **_PLAIN,
        "forgetting": 0.999,
        "noise": 0.01,
        "jitter": 1e-6,
        "budget": 100,
    },
    SWKRLSRegressor: {**_PLAIN, "ridge": 0.1, "budget": 100},
    FBKRLSRegressor: {**_PLAIN, "ridge": 0.1, "budget": 100},
    EXKRLSRegressor: {
        **_PLAIN,
        "transition": 1.0,
        "forgetting": 1.0,
        "ridge": 0.1,
        "state_noise": 1e-3,
    },
    MKNLMSRegressor: {
        **_ORDERED,
        "widths": (0.2, 1.0, 5.0),
        "step_size": 0.2,
        "coherence": 0.9,
        "ridge": 0.0,
    },
    RFFKLMSRegressor: {
        "gamma": "scale",
        "n_components": 500,
        "step_size": 0.2,
        "fit_intercept": False,
        "n_passes": 1,
        "shuffle": False,
        "random_state": None,
    },
    SPLRegressor: {
        **_STEPS,
        "step_size": 0.5,
        "admission": "residual",
        "tolerance": 0.01,
        "coherence": 0.5,
        "removal": "older",
        "target_scale": 1.0,
    },
    POLKRegressor: {
        **_STEPS,
        "n_jobs": None,
        "loss": "squared",
        "step_size": 0.5,
        "alpha": 1e-6,
        "parsimony": 0.01,
        "schedule": "constant",
        "batch_size": 1,
        "average": False,
        "maintenance": "projection",
        "neighbors": 0,
        "target_scale": 1.0,
    },
    POLKClassifier: {
        **_PLAIN,
        **_CLASSES,
        "n_jobs": None,
        "step": "explicit",
        "loss": "hinge",
        "step_size": 1.0,
        "alpha": 1e-6,
        "parsimony": 0.05,
        "schedule": "constant",
        "batch_size": 1,
        "average": False,
        "maintenance": "projection",
        "neighbors": 0,
    },
    BSGDClassifier: {
        **_PLAIN,
        **_CLASSES,
        "step": "explicit",
        "step_size": 1.0,
        "alpha": 1e-6,
        "schedule": "constant",
        "budget": 100,
        "maintenance": "merge",
        "batch_size": 1,
    },
    SOGSVR: {**_DUAL, "fit_intercept": False, "epsilon": 0.1, "tolerance": 0.01},
    SOGSVC: {**_DUAL, **_CLASSES, "tolerance": 0.1},
}


def published(cls: type[T], *args: Any, **parameters: Any) -> T:
    """Return an estimator as its paper describes it.

    Parameters that are not given have the values in `PUBLISHED`: no intercept, targets in their own
    unit, explicit steps, one pass, and no budget unless the algorithm has one. Regressors learn the
    rows in their order, and classifiers shuffle them. Where a paper gives no value, it is the
    former default.

    Parameters
    ----------
    cls : class
        An estimator of parsimon.
    *args : tuple
        The kernel, if it is given by position.
    **parameters : dict
        Parameters of the estimator.

    Examples
    --------
    >>> from parsimon import KNLMSRegressor, published
    >>> model = published(KNLMSRegressor, gamma=3.73, step_size=0.09)
    >>> model.fit_intercept, model.kernel, model.step_size
    (False, 'gaussian', 0.09)
    """
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a class, such as KNLMSRegressor, got {cls!r}")
    if cls not in PUBLISHED:
        known = ", ".join(each.__name__ for each in PUBLISHED)
        raise ValueError(f"unknown estimator {cls!r}; known are {known}")
    values = dict(PUBLISHED[cls])
    if args:
        values.pop("kernel", None)  # the only parameter that can be given by position
    return cls(*args, **{**values, **parameters})
