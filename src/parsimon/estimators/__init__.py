"""The scikit-learn estimators."""

from parsimon.estimators.knlms import KNLMSRegressor

__all__ = ["KNLMSRegressor"]
