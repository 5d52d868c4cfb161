"""Conformance with scikit-learn."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from parsimon import KNLMSRegressor

EXPECTED = {"check_estimators_pickle": "models are not picklable yet"}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([KNLMSRegressor()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_check(estimator, check):
    check(estimator)
