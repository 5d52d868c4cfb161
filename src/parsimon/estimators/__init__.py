"""The scikit-learn estimators."""

from parsimon.estimators.bsgd import BSGDClassifier
from parsimon.estimators.conversion import from_sklearn
from parsimon.estimators.fixed import KernelExpansionClassifier, KernelExpansionRegressor
from parsimon.estimators.kap import KAPRegressor
from parsimon.estimators.knlms import KNLMSRegressor
from parsimon.estimators.krls import KRLSRegressor
from parsimon.estimators.lms import KLMSRegressor, NORMARegressor
from parsimon.estimators.polk import POLKRegressor
from parsimon.estimators.polk_classifier import POLKClassifier
from parsimon.estimators.published import PUBLISHED, published
from parsimon.estimators.sog import SOGSVC, SOGSVR
from parsimon.estimators.spl import SPLRegressor

__all__ = [
    "ESTIMATORS",
    "PUBLISHED",
    "SOGSVC",
    "SOGSVR",
    "BSGDClassifier",
    "KAPRegressor",
    "KLMSRegressor",
    "KNLMSRegressor",
    "KRLSRegressor",
    "KernelExpansionClassifier",
    "KernelExpansionRegressor",
    "NORMARegressor",
    "POLKClassifier",
    "POLKRegressor",
    "SPLRegressor",
    "from_sklearn",
    "published",
]

#: Every estimator that learns over one dictionary; the generic tests run over all of them.
ESTIMATORS = (
    BSGDClassifier,
    KAPRegressor,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    NORMARegressor,
    POLKClassifier,
    POLKRegressor,
    SOGSVC,
    SOGSVR,
    SPLRegressor,
)
