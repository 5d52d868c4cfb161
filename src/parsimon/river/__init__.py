"""River versions of all estimators of parsimon that learn. Samples are dicts.

[River](https://riverml.xyz) learns from streams of dicts.

>>> from parsimon.river import KRLSRegressor
>>> model = KRLSRegressor(gamma=1.0, tolerance=1e-3)
>>> for t in range(200):
...     model.learn_one({"x": t % 20 / 10, "nothing": 0.0}, (t % 20 / 10) ** 2)
>>> round(model.predict_one({"x": 1.5}), 2)  # a missing feature counts as 0
2.24

Features are identified by name, in any order. New features can appear, and a feature that is
missing in a sample counts as 0. A feature that the model does not know is ignored in predictions.
When such a feature is learned, it gets a new column. The column is 0 for all earlier samples, so
adding it does not change the function.

Parameters are those of the scikit-learn class of the same name, except those that only concern
`fit`. So are their defaults, except that POLK does not average here, because streams change. On a
stream there is no first block to compute `gamma` from. So "scale" is 1 / d and "median" is 1 / (4
d), where d is the number of features in the first sample. This suits standardised features: put
`preprocessing.StandardScaler` before the model. Mixtures do not need it. For the same reason a
`ridge` of "auto" is 0.2.

`learn_many` learns a frame (pandas, polars or another that River supports). It equals `learn_one`
for each row, bit for bit. The exception is a `batch_size` above 1, for which a frame is cut into
batches. Invalid values (not a number, NaN, infinity) raise an error and change nothing.
"""

from parsimon.river.conformal import ConformalRegressor
from parsimon.river.filters import (
    EXKRLSRegressor,
    FBKRLSRegressor,
    KRLSTRegressor,
    MKNLMSRegressor,
    RFFKLMSRegressor,
    SWKRLSRegressor,
)
from parsimon.river.mixtures import MixtureClassifier, MixtureRegressor
from parsimon.river.models import (
    SOGSVC,
    SOGSVR,
    BSGDClassifier,
    KAPRegressor,
    KernelDictionaryClassifier,
    KernelDictionaryLearning,
    KLMSRegressor,
    KNLMSRegressor,
    KRLSRegressor,
    NORMARegressor,
    POLKClassifier,
    POLKRegressor,
    SPLRegressor,
)

__all__ = [
    "SOGSVC",
    "SOGSVR",
    "BSGDClassifier",
    "ConformalRegressor",
    "EXKRLSRegressor",
    "FBKRLSRegressor",
    "KAPRegressor",
    "KLMSRegressor",
    "KNLMSRegressor",
    "KRLSRegressor",
    "KRLSTRegressor",
    "KernelDictionaryClassifier",
    "KernelDictionaryLearning",
    "MKNLMSRegressor",
    "MixtureClassifier",
    "MixtureRegressor",
    "NORMARegressor",
    "POLKClassifier",
    "POLKRegressor",
    "RFFKLMSRegressor",
    "SPLRegressor",
    "SWKRLSRegressor",
]
