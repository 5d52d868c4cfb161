"""The scikit-learn estimators."""

from parsimon.estimators.bsgd import BSGDClassifier
from parsimon.estimators.conversion import from_sklearn
from parsimon.estimators.exkrls import EXKRLSRegressor
from parsimon.estimators.fixed import KernelExpansionClassifier, KernelExpansionRegressor
from parsimon.estimators.kap import KAPRegressor
from parsimon.estimators.knlms import KNLMSRegressor
from parsimon.estimators.krls import KRLSRegressor
from parsimon.estimators.krlst import KRLSTRegressor
from parsimon.estimators.lms import KLMSRegressor, NORMARegressor
from parsimon.estimators.mknlms import MKNLMSRegressor
from parsimon.estimators.polk import POLKRegressor
from parsimon.estimators.polk_classifier import POLKClassifier
from parsimon.estimators.published import PUBLISHED, published
from parsimon.estimators.rffklms import RFFKLMSRegressor
from parsimon.estimators.sog import SOGSVC, SOGSVR
from parsimon.estimators.spl import SPLRegressor
from parsimon.estimators.window import FBKRLSRegressor, SWKRLSRegressor

__all__ = [
    "ESTIMATORS",
    "FILTERS",
    "PUBLISHED",
    "SOGSVC",
    "SOGSVR",
    "BSGDClassifier",
    "EXKRLSRegressor",
    "FBKRLSRegressor",
    "KAPRegressor",
    "KLMSRegressor",
    "KNLMSRegressor",
    "KRLSRegressor",
    "KRLSTRegressor",
    "KernelExpansionClassifier",
    "KernelExpansionRegressor",
    "MKNLMSRegressor",
    "NORMARegressor",
    "POLKClassifier",
    "POLKRegressor",
    "RFFKLMSRegressor",
    "SPLRegressor",
    "SWKRLSRegressor",
    "from_sklearn",
    "published",
]

#: Every estimator that learns over one dictionary; the generic tests run over all of them.
ESTIMATORS = (
    BSGDClassifier,
    EXKRLSRegressor,
    FBKRLSRegressor,
    KAPRegressor,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    KRLSTRegressor,
    NORMARegressor,
    POLKClassifier,
    POLKRegressor,
    SOGSVC,
    SOGSVR,
    SPLRegressor,
    SWKRLSRegressor,
)

#: Estimators that learn something other than one kernel expansion.
FILTERS = (MKNLMSRegressor, RFFKLMSRegressor)
