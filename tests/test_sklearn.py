"""Conformance with scikit-learn."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from parsimon import KernelDictionaryClassifier, KernelDictionaryLearning
from parsimon.estimators import ESTIMATORS, POLKRegressor

ALL = (*ESTIMATORS, KernelDictionaryClassifier, KernelDictionaryLearning)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "gamma='scale' is measured on the rows, whatever their weights",
}


def expected(estimator):
    if isinstance(estimator, POLKRegressor):
        name = "check_sample_weights_not_overwritten"
        return {**EXPECTED, name: "a weight of 10 at the default step would diverge, and is refused"}
    return EXPECTED


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([make() for make in ALL], expected_failed_checks=expected)
def test_scikit_learn_check(estimator, check):
    check(estimator)
