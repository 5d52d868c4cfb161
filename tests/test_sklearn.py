"""Conformance with scikit-learn."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from parsimon.estimators import ESTIMATORS

EXPECTED = {
    "check_estimators_pickle": "models are not picklable yet",
    "check_sample_weight_equivalence_on_dense_data": "gamma='scale' is measured on the rows, whatever their weights",
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([estimator() for estimator in ESTIMATORS], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_check(estimator, check):
    check(estimator)
