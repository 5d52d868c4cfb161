"""The experts of the default mixtures.

They were chosen on the streams of ``benchmarks/arena.py`` together, not one by one. Each is there
for a kind of stream on which the others are weak:

| expert | for |
|---|---|
| linear, autoregressive | linear dependence, with and without earlier targets; ready at once |
| wide, narrow | smooth and rough functions of all features |
| smooth | functions with many derivatives |
| lagged | targets that depend on earlier targets |
| relevant | functions of few of many features |

The kernel experts for numbers and scores are recursive least squares with a penalty on ||f||^2,
which forget over 2000 rows.
"""

from __future__ import annotations

from typing import Any

from parsimon import kernels
from parsimon.estimators import KRLSRegressor, POLKClassifier
from parsimon.mixtures.experts import Expert

__all__ = ["experts_for_classes", "experts_for_numbers", "linear_expert", "rls_expert"]


def rls_expert(kernel: Any, tolerance: float, ridge: float = 0.1) -> KRLSRegressor:
    """Return recursive least squares with a penalty on ||f||^2, which forgets over 2000 rows."""
    return KRLSRegressor(
        kernel,
        gamma="scale",
        admission="ald",
        tolerance=tolerance,
        ridge=ridge,
        penalty="norm",
        forgetting=0.9995,
        eviction="refit",
        fit_intercept=False,
        n_passes=1,
    )


def linear_expert(ridge: float = 0.1) -> KRLSRegressor:
    """Return a linear model with a constant."""
    return rls_expert(kernels.Linear() + kernels.Constant(1.0), 1e-6, ridge)


def _logistic(step_size: float) -> POLKClassifier:
    return POLKClassifier(
        "laplacian",
        gamma="scale",
        loss="logistic",
        step_size=step_size,
        alpha=1e-6,
        parsimony=0.001,
        schedule="constant",
        batch_size=1,
        average=False,
        step="explicit",
        fit_intercept=False,
        class_weight=None,
        n_passes=1,
    )


def experts_for_numbers() -> list[Expert]:
    """Return the experts of `MixtureRegressor`. With budget 1950, shares are counts of centres."""
    laplacian, gaussian = rls_expert("laplacian", 0.03), rls_expert("gaussian", 0.001, 0.03)
    return [
        Expert(linear_expert(), "linear", share=100),
        Expert(linear_expert(), "autoregressive", lags=3, share=100),
        Expert(laplacian, "wide", share=150),
        Expert(gaussian, "smooth", share=100),
        Expert(laplacian, "lagged", lags=3, share=150),
        Expert(gaussian, "lagged smooth", lags=3, share=100),
        Expert(laplacian, "relevant", width=2.0, relevance=True, share=250),
        Expert(gaussian, "relevant smooth", relevance=True, share=150),
        Expert(laplacian, "relevant lagged", lags=3, relevance=True, share=150),
    ]


def experts_for_classes() -> list[Expert]:
    """Return the experts of `MixtureClassifier`. With budget 1710, shares are counts of centres."""
    laplacian, gaussian = rls_expert("laplacian", 0.03), rls_expert("gaussian", 0.001)
    return [
        Expert(linear_expert(), "linear", share=100),
        Expert(_logistic(2.0), "wide logistic", width=0.5, share=250),
        Expert(_logistic(0.5), "narrow logistic", width=2.0, share=250),
        Expert(_logistic(10.0), "quick logistic", width=6.0, share=150),
        Expert(laplacian, "wide", bias=1.0, share=100),
        Expert(gaussian, "smooth", bias=1.0, share=100),
        Expert(laplacian, "lagged", bias=1.0, lags=2, share=150),
        Expert(laplacian, "relevant", width=2.0, bias=1.0, relevance=True, share=180),
    ]
