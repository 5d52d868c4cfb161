"""The estimators of a forecaster, with the reasons for their parameters."""

from __future__ import annotations

import numpy as np

from parsimon import kernels
from parsimon.estimators import KRLSRegressor
from parsimon.forecasting.features import median_distance
from parsimon.forecasting.history import Array

__all__ = ["linear_model", "one_step_model", "residual_model"]

#: The ridge of linear models, whose inputs have unit covariance, and the forgetting per row.
LINEAR_RIDGE, FORGETTING = 0.1, 0.9998


def linear_model(budget: int) -> KRLSRegressor:
    """Return recursive least squares for inputs with unit covariance."""
    return KRLSRegressor(
        kernels.Linear() + kernels.Constant(1.0),
        tolerance=1e-6,
        ridge=LINEAR_RIDGE,
        penalty="norm",
        forgetting=FORGETTING,
        budget=budget,
        eviction="refit",
        fit_intercept=False,
    )


def residual_model(X: Array, budget: int) -> KRLSRegressor:
    """Return a model for what a linear model leaves over: rough, and careful with noise."""
    return KRLSRegressor(
        kernels.Laplacian(gamma=1.0 / median_distance(X, absolute=True)),
        tolerance=0.03,
        ridge=3.0,
        penalty="norm",
        forgetting=FORGETTING,
        budget=budget,
        eviction="refit",
        fit_intercept=False,
    )


def one_step_model(X: Array, budget: int) -> KRLSRegressor:
    """Return a model for recursive forecasts: smooth, exact, with a linear part that extrapolates.

    A small ridge is what recursive forecasts of deterministic series need.
    """
    gamma = 1.7 * np.sqrt(0.1) / median_distance(X)
    return KRLSRegressor(
        kernels.Matern52(gamma=float(gamma)) + 100.0 / X.shape[1] * kernels.Linear(),
        tolerance=1e-5,
        ridge=1e-3,
        penalty="norm",
        budget=budget,
        eviction="project",
        fit_intercept=False,
    )
