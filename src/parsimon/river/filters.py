"""River models of recursive filters, under the names of the scikit-learn classes."""

from __future__ import annotations

import parsimon
from parsimon.river.supervised import Regressor

__all__ = [
    "EXKRLSRegressor",
    "FBKRLSRegressor",
    "KRLSTRegressor",
    "MKNLMSRegressor",
    "RFFKLMSRegressor",
    "SWKRLSRegressor",
]


class KRLSTRegressor(Regressor, of=parsimon.KRLSTRegressor):
    """Kernel recursive least-squares tracker: a Gaussian process for functions that change.

    The cost is O(m^2) per sample, with m centres.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KRLSTRegressor
    >>> model = preprocessing.StandardScaler() | KRLSTRegressor(forgetting=0.99)
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.29
    """


class SWKRLSRegressor(Regressor, of=parsimon.SWKRLSRegressor):
    """Sliding-window KRLS: kernel ridge regression on the last samples.

    The cost is O(M^2) per sample, with a window of M samples.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SWKRLSRegressor
    >>> model = preprocessing.StandardScaler() | SWKRLSRegressor(budget=100)
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.44
    """


class FBKRLSRegressor(Regressor, of=parsimon.FBKRLSRegressor):
    """Fixed-budget KRLS: kernel ridge regression on the samples that are hardest to predict.

    The cost is O(M^2) per sample, with M samples.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import FBKRLSRegressor
    >>> model = preprocessing.StandardScaler() | FBKRLSRegressor(budget=100)
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.61
    """


class EXKRLSRegressor(Regressor, of=parsimon.EXKRLSRegressor):
    """Extended KRLS: it tracks a function that is a random walk.

    The cost is O(m^2) per sample, with m centres.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import EXKRLSRegressor
    >>> model = preprocessing.StandardScaler() | EXKRLSRegressor(budget=100)
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.43
    """


class MKNLMSRegressor(Regressor, of=parsimon.MKNLMSRegressor):
    """Multi-kernel normalised LMS: kernels of several widths over one dictionary.

    The cost is O(M m) per sample, with M kernels and m centres.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import MKNLMSRegressor
    >>> scaled = preprocessing.TargetStandardScaler(MKNLMSRegressor(step_size=0.5))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.32
    """


class RFFKLMSRegressor(Regressor, of=parsimon.RFFKLMSRegressor, seeded=True):
    """Random-Fourier kernel LMS: linear LMS over random features, without a dictionary.

    The cost is O(D d) per sample, with D random features and d features.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import RFFKLMSRegressor
    >>> scaled = preprocessing.TargetStandardScaler(RFFKLMSRegressor(seed=0))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.4
    """
