"""Estimators for encoded rows, by name and task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parsimon import estimators
from parsimon._parts import lookup, whole
from parsimon.mixtures import MixtureClassifier, MixtureRegressor

__all__ = ["ALGORITHMS", "make_estimator"]


def _mixture(cls: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a mixture for encoded rows, which are scaled."""
    return lambda **options: cls(**{"standardize": False, **options})


def _with(cls: type[Any], **defaults: Any) -> Callable[..., Any]:
    """Return a function that makes an estimator. Targets are scaled, so it needs no intercept."""
    given = {"gamma": "median", "budget": 400, **defaults}
    return lambda **options: estimators.published(cls, **{**given, **options})


_krls = _with(
    estimators.KRLSRegressor, kernel="laplacian", tolerance=0.2, ridge=0.1, forgetting=0.9995
)
_polk = {"kernel": "laplacian", "parsimony": 0.001}

#: Functions that return an estimator for encoded rows and scaled targets, by name and task. Each
#: takes `budget` and other parameters of the estimator.
ALGORITHMS: dict[str, dict[str, Callable[..., Any]]] = {
    "default": {
        "regression": _mixture(MixtureRegressor),
        "classification": _mixture(MixtureClassifier),
    },
    "polk": {
        "regression": _with(estimators.POLKRegressor, **_polk),
        "classification": _with(estimators.POLKClassifier, loss="logistic", **_polk),
    },
    "krls": {"regression": _krls},
    "krlst": {"regression": _with(estimators.KRLSTRegressor, kernel="laplacian", noise=0.1)},
    "swkrls": {"regression": _with(estimators.SWKRLSRegressor, kernel="laplacian")},
    "fbkrls": {"regression": _with(estimators.FBKRLSRegressor, kernel="laplacian")},
    "exkrls": {"regression": _with(estimators.EXKRLSRegressor, kernel="laplacian")},
    "knlms": {"regression": _with(estimators.KNLMSRegressor, kernel="laplacian", step_size=0.3)},
    "kap": {"regression": _with(estimators.KAPRegressor, kernel="laplacian", step_size=0.3)},
    "klms": {"regression": _with(estimators.KLMSRegressor)},
    "norma": {"regression": _with(estimators.NORMARegressor)},
    "spl": {"regression": _with(estimators.SPLRegressor)},
    "sogsvr": {"regression": _with(estimators.SOGSVR)},
    "sogsvc": {"classification": _with(estimators.SOGSVC)},
    "bsgd": {"classification": _with(estimators.BSGDClassifier)},
}


def make_estimator(algorithm: str, task: str, budget: int | None = None, **options: Any) -> Any:
    """Return the estimator of an algorithm for a task. `ALGORITHMS` lists the algorithms.

    >>> make_estimator("knlms", "regression", budget=100).budget
    100
    """
    tasks = lookup(ALGORITHMS, algorithm, "algorithm")
    if task not in tasks:
        others = ", ".join(name for name, found in ALGORITHMS.items() if task in found)
        raise ValueError(f"{algorithm} is not for {task}; for that there are {others}")
    if budget is not None:
        options["budget"] = whole("budget", budget, at_least=1)
    try:
        return tasks[task](**options)
    except TypeError as error:
        raise ValueError(f"{algorithm} cannot be made so: {error}") from None
