"""River models, under the names of the scikit-learn classes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

import parsimon
from parsimon.river.stream import Sample, Stream, base, dataframe
from parsimon.river.supervised import Classifier, Regressor

__all__ = [
    "SOGSVC",
    "SOGSVR",
    "BSGDClassifier",
    "KAPRegressor",
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


class KNLMSRegressor(Regressor, of=parsimon.KNLMSRegressor):
    """Kernel normalised LMS with the coherence criterion: for signals that arrive fast.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KNLMSRegressor
    >>> scaled = preprocessing.TargetStandardScaler(KNLMSRegressor(step_size=0.5))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.37
    """


class KAPRegressor(Regressor, of=parsimon.KAPRegressor):
    """Kernel affine projection: like `KNLMSRegressor`, but a step uses the last few samples.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KAPRegressor
    >>> scaled = preprocessing.TargetStandardScaler(KAPRegressor(step_size=0.5))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.35
    """


class KRLSRegressor(Regressor, of=parsimon.KRLSRegressor):
    """Kernel recursive least squares.

    It learns most from each sample. The cost is O(m^2) per sample, with m centres.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KRLSRegressor
    >>> scaled = preprocessing.TargetStandardScaler(KRLSRegressor(forgetting=0.99))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.4
    """


class KLMSRegressor(Regressor, of=parsimon.KLMSRegressor):
    """Kernel least mean squares, plain or quantised: the simplest kernel filter.

    Without a `budget` or `quantization` every sample is kept.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KLMSRegressor
    >>> scaled = preprocessing.TargetStandardScaler(KLMSRegressor(quantization=0.5))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.43
    """


class NORMARegressor(Regressor, of=parsimon.NORMARegressor):
    """NORMA: regularised gradient descent with a sliding window of centres.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import NORMARegressor
    >>> scaled = preprocessing.TargetStandardScaler(NORMARegressor(budget=100))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.43
    """


class SPLRegressor(Regressor, of=parsimon.SPLRegressor):
    """Sequential projection learning: gradient steps projected onto few centres.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SPLRegressor
    >>> scaled = preprocessing.TargetStandardScaler(SPLRegressor(budget=100))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.43
    """


class SOGSVR(Regressor, of=parsimon.SOGSVR):
    """Sparse online greedy support vector regression.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SOGSVR
    >>> scaled = preprocessing.TargetStandardScaler(SOGSVR())
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.59
    """


class POLKRegressor(Regressor, of=parsimon.POLKRegressor):
    """POLK: kernel regression for any convex loss, with a sparse dictionary.

    ``loss="poisson"`` is for counts. `predict_one` then returns exp(f), which is 1 before anything
    is learned.

    With a `batch_size` above 1, `learn_one` takes a small step for each sample. `learn_many` cuts a
    frame into batches and takes one step per batch.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import POLKRegressor
    >>> scaled = preprocessing.TargetStandardScaler(POLKRegressor(loss="huber", budget=100))
    >>> model = preprocessing.StandardScaler() | scaled
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.33
    """


class POLKClassifier(Classifier, of=parsimon.POLKClassifier):
    """POLK: kernel SVM or kernel logistic regression, with a sparse dictionary.

    Only the losses "logistic" and "ovr_logistic" give probabilities.

    With a `batch_size` above 1, `learn_one` takes a small step for each sample. `learn_many` cuts a
    frame into batches and takes one step per batch.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import POLKClassifier
    >>> model = preprocessing.StandardScaler() | POLKClassifier(loss="logistic", budget=100)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.ROCAUC())
    >>> round(float(score.get()), 2)
    0.94
    """


class BSGDClassifier(Classifier, of=parsimon.BSGDClassifier):
    """Multi-class kernel SVM by stochastic gradient descent on a budget.

    With a `batch_size` above 1, `learn_one` takes a small step for each sample. `learn_many` cuts a
    frame into batches and takes one step per batch.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import BSGDClassifier
    >>> model = preprocessing.StandardScaler() | BSGDClassifier(budget=100)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.89
    """


class SOGSVC(Classifier, of=parsimon.SOGSVC):
    """Sparse online greedy support vector classification.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SOGSVC
    >>> model = preprocessing.StandardScaler() | SOGSVC()
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.9
    """


class KernelDictionaryClassifier(Classifier, of=parsimon.KernelDictionaryClassifier, seeded=True):
    """A kernel dictionary per class. The class that reconstructs a sample best is predicted.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KernelDictionaryClassifier
    >>> atoms = KernelDictionaryClassifier(10, budget=20, step_size=0.1, seed=0)
    >>> model = preprocessing.StandardScaler() | atoms
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.87
    """


class KernelDictionaryLearning(
    Stream, base.MiniBatchTransformer, of=parsimon.KernelDictionaryLearning, seeded=True
):
    """Online kernel dictionary learning: samples become sparse codes over atoms.

    The atoms are points in the feature space of a kernel. `score_one` measures how anomalous a
    sample is.

    {sections}

    Examples
    --------
    >>> from math import cos, sin
    >>> from parsimon.river import KernelDictionaryLearning
    >>> model = KernelDictionaryLearning(10, gamma=1.0, budget=20, step_size=0.1, seed=0)
    >>> for t in range(2000):
    ...     model.learn_one({"x": cos(t), "y": sin(t)})
    >>> code = model.transform_one({"x": 1.0, "y": 0.0})
    >>> len(code), any(code.values())
    (10, True)
    >>> middle, on_ring = {"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 0.0}
    >>> model.score_one(middle) > 5 * model.score_one(on_ring)
    True
    """

    n_components: int

    def learn_one(self, x: Sample) -> None:
        """Learn a sample."""
        self._learn_one(x)

    def learn_many(self, X: Any) -> None:
        """Learn a frame of samples; this equals `learn_one` for each row."""
        self._learn_many(X)

    def transform_one(self, x: Sample) -> dict[Hashable, Any]:
        """Return the code of a sample, one number per atom; zeros before anything is learned."""
        names = self._components()
        code = self._ask_one(
            x, lambda estimator, row: estimator._learner.codes(row[np.newaxis])[0].tolist()
        )
        return dict.fromkeys(names, 0.0) if code is None else dict(zip(names, code, strict=True))

    def transform_many(self, X: Any) -> Any:
        """Return the codes of a frame of samples: a frame with one column per atom."""
        frame, names = dataframe.into_frame(X), self._components()
        codes = self._ask_many(frame, self._of.transform)
        return dataframe.to_native_frame(
            np.zeros((len(frame), len(names))) if codes is None else codes,
            columns=names,
            like=frame,
        )

    def score_one(self, x: Sample) -> float:
        """Return the squared reconstruction error of a sample; larger is more anomalous.

        It is 0 before anything is learned.
        """
        return (
            self._ask_one(
                x, lambda estimator, row: float(estimator._learner.errors(row[np.newaxis])[0])
            )
            or 0.0
        )

    def _components(self) -> list[str]:
        """Return the names of the atoms, the same as in scikit-learn."""
        return [f"{self._of.__name__.lower()}{i}" for i in range(self.n_components)]
