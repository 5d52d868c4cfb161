"""The models of parsimon for [River](https://riverml.xyz): every estimator that learns, under its
own name, for samples that are dicts.

>>> from parsimon.river import KRLSRegressor
>>> model = KRLSRegressor(gamma=1.0, tolerance=1e-3)
>>> for t in range(200):
...     model.learn_one({"x": t % 20 / 10, "nothing": 0.0}, (t % 20 / 10) ** 2)
>>> round(model.predict_one({"x": 1.5}), 2)  # a feature that is missing counts as 0
2.25

Features go by name, in any order, and come and go: one that a sample lacks counts as 0, and one
that the model has not met is ignored when predicting and gets a column of its own when learned. To
the model it was 0 so far, which leaves the function as it was.

Parameters are those of the scikit-learn class of the same name, but for those that only concern
`fit`. On a stream there is no first block to measure a width on: a `gamma` of "scale" or "median"
is 1 / d, with d the number of features in the first sample, however many come later. That suits
standardised features: put `preprocessing.StandardScaler` before the model. As there is no
intercept, `preprocessing.TargetStandardScaler` around a regressor helps where y lies far from zero.

`learn_many` learns a frame (pandas, polars or any that River takes) just as `learn_one` would learn
its rows, bit for bit, but for a `batch_size` above 1, whose batches are cut from the frame. What is
refused (a value that is no number, NaN, infinity, ...) changes nothing.
"""

from parsimon.river.models import (
    SOGSVC,
    SOGSVR,
    BSGDClassifier,
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
    "KLMSRegressor",
    "KNLMSRegressor",
    "KRLSRegressor",
    "KernelDictionaryClassifier",
    "KernelDictionaryLearning",
    "NORMARegressor",
    "POLKClassifier",
    "POLKRegressor",
    "SPLRegressor",
]
