"""The models, under the names of the scikit-learn classes."""

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
    """Kernel normalised LMS with the coherence criterion: the filter to try first.

    Parameters are those of `parsimon.KNLMSRegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KNLMSRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(KNLMSRegressor(step_size=0.5))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.36
    """


class KRLSRegressor(Regressor, of=parsimon.KRLSRegressor):
    """Kernel recursive least squares: O(m^2) a sample, and the fewest samples to learn from.

    Parameters are those of `parsimon.KRLSRegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KRLSRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(KRLSRegressor(forgetting=0.99))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.46
    """


class KLMSRegressor(Regressor, of=parsimon.KLMSRegressor):
    """Kernel LMS, quantised where asked: the simplest of the kernel filters.

    Parameters are those of `parsimon.KLMSRegressor`, without `n_passes`. Without a `budget` or
    `quantization` every sample is kept.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KLMSRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(KLMSRegressor(quantization=0.5))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.42
    """


class NORMARegressor(Regressor, of=parsimon.NORMARegressor):
    """NORMA: regularised gradient descent in function space that forgets its oldest terms.

    Parameters are those of `parsimon.NORMARegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import NORMARegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(NORMARegressor(budget=100))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.48
    """


class SPLRegressor(Regressor, of=parsimon.SPLRegressor):
    """Online gradient descent whose function is projected onto few centres.

    Parameters are those of `parsimon.SPLRegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SPLRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(SPLRegressor(budget=100))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.33
    """


class SOGSVR(Regressor, of=parsimon.SOGSVR):
    """Sparse online greedy support vector regression.

    Parameters are those of `parsimon.SOGSVR`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SOGSVR
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(SOGSVR())
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.6
    """


class POLKRegressor(Regressor, of=parsimon.POLKRegressor):
    """Kernel regression for any convex loss, with a dictionary only as large as the accuracy asks
    for.

    Parameters are those of `parsimon.POLKRegressor`, without `n_passes`. With a `batch_size` above
    1 a sample of `learn_one` is a small step of its own; `learn_many` cuts a frame into batches.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import POLKRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(POLKRegressor(loss="huber", budget=100))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.33
    """


class POLKClassifier(Classifier, of=parsimon.POLKClassifier):
    """Kernel SVM or kernel logistic regression, any number of classes, with a dictionary only as
    large as the accuracy asks for.

    Parameters are those of `parsimon.POLKClassifier`, without `n_passes`, `shuffle` and
    `random_state`. Only the losses "logistic" and "ovr_logistic" give probabilities.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import POLKClassifier
    >>> model = preprocessing.StandardScaler() | POLKClassifier(loss="logistic", budget=100)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.ROCAUC())
    >>> round(float(score.get()), 2)
    0.95
    """


class BSGDClassifier(Classifier, of=parsimon.BSGDClassifier):
    """The multi-class kernel SVM by stochastic gradient descent on a budget.

    Parameters are those of `parsimon.BSGDClassifier`, without `n_passes`, `shuffle` and
    `random_state`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import BSGDClassifier
    >>> model = preprocessing.StandardScaler() | BSGDClassifier(budget=100)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.89
    """


class SOGSVC(Classifier, of=parsimon.SOGSVC):
    """Sparse online greedy support vector classification.

    Parameters are those of `parsimon.SOGSVC`, without `n_passes`, `shuffle` and `random_state`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SOGSVC
    >>> model = preprocessing.StandardScaler() | SOGSVC()
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.89
    """


class KernelDictionaryClassifier(Classifier, of=parsimon.KernelDictionaryClassifier, seeded=True):
    """A kernel dictionary for each class; the one that reconstructs a sample best gives its label.

    Parameters are those of `parsimon.KernelDictionaryClassifier`, without `n_passes` and `shuffle`;
    `seed` is its `random_state`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KernelDictionaryClassifier
    >>> model = preprocessing.StandardScaler() | KernelDictionaryClassifier(10, budget=20, step_size=0.1, seed=0)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.87
    """


class KernelDictionaryLearning(
    Stream, base.MiniBatchTransformer, of=parsimon.KernelDictionaryLearning, seeded=True
):
    """Online kernel dictionary learning: samples become sparse codes over atoms in the feature
    space of a kernel.

    Parameters are those of `parsimon.KernelDictionaryLearning`, without `n_passes` and `shuffle`;
    `seed` is its `random_state`. `score_one` tells how much of an anomaly a sample is.

    >>> from math import cos, sin
    >>> from parsimon.river import KernelDictionaryLearning
    >>> model = KernelDictionaryLearning(10, gamma=1.0, budget=20, step_size=0.1, seed=0)
    >>> for t in range(2000):
    ...     model.learn_one({"x": cos(t), "y": sin(t)})
    >>> code = model.transform_one({"x": 1.0, "y": 0.0})
    >>> len(code), any(code.values())
    (10, True)
    >>> model.score_one({"x": 0.0, "y": 0.0}) > 5 * model.score_one({"x": 1.0, "y": 0.0})  # the middle of the ring
    True
    """

    n_components: int

    def learn_one(self, x: Sample) -> None:
        """Learn a sample."""
        self._learn_one(x)

    def learn_many(self, X: Any) -> None:
        """Learn a frame of samples as `learn_one` would learn its rows."""
        self._learn_many(X)

    def transform_one(self, x: Sample) -> dict[Hashable, Any]:
        """Return the code of a sample, a number for each atom; all are 0 before anything was
        learned.
        """
        names = self._components()
        code = self._ask_one(
            x, lambda estimator, row: estimator._learner.codes(row[np.newaxis])[0].tolist()
        )
        return dict.fromkeys(names, 0.0) if code is None else dict(zip(names, code, strict=True))

    def transform_many(self, X: Any) -> Any:
        """Return the codes of a frame of samples: a frame with a column for each atom."""
        frame, names = dataframe.into_frame(X), self._components()
        codes = self._ask_many(frame, self._of.transform)
        return dataframe.to_native_frame(
            np.zeros((len(frame), len(names))) if codes is None else codes,
            columns=names,
            like=frame,
        )

    def score_one(self, x: Sample) -> float:
        """Return the squared error of a sample's reconstruction: the higher, the more of an
        anomaly. 0 before anything was learned.
        """
        return (
            self._ask_one(
                x, lambda estimator, row: float(estimator._learner.errors(row[np.newaxis])[0])
            )
            or 0.0
        )

    def _components(self) -> list[str]:
        """Return the names of the atoms, as scikit-learn has them."""
        return [f"{self._of.__name__.lower()}{i}" for i in range(self.n_components)]
