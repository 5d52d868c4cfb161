"""The scikit-learn estimators."""

from parsimon.estimators.knlms import KNLMSRegressor
from parsimon.estimators.krls import KRLSRegressor
from parsimon.estimators.lms import KLMSRegressor, NORMARegressor
from parsimon.estimators.spl import SPLRegressor

__all__ = ["ESTIMATORS", "KLMSRegressor", "KNLMSRegressor", "KRLSRegressor", "NORMARegressor", "SPLRegressor"]

#: Every estimator; the generic tests run over all of them.
ESTIMATORS = (KLMSRegressor, KNLMSRegressor, KRLSRegressor, NORMARegressor, SPLRegressor)
