"""River models of mixtures."""

from __future__ import annotations

from typing import Any

import parsimon
from parsimon.river.supervised import Classifier, Regressor

__all__ = ["MixtureClassifier", "MixtureRegressor"]


class MixtureRegressor(Regressor, of=parsimon.MixtureRegressor):
    """Several regressors learned side by side, and combined by least squares.

    Needs no parameters, and neither scaled features nor scaled targets.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from parsimon.river import MixtureRegressor
    >>> model = MixtureRegressor()
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.21
    """


class MixtureClassifier(Classifier, of=parsimon.MixtureClassifier):
    """Several classifiers learned side by side, with their probabilities combined.

    Needs no parameters and no scaled features.

    {sections}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from parsimon.river import MixtureClassifier
    >>> model = MixtureClassifier()
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.LogLoss())
    >>> round(score.get(), 2)
    0.25
    """

    def predict_proba_one(self, x: Any, **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label seen."""
        return self._ask_one(x, self._of.predict_proba_one) or {}

    def _require_probabilities(self) -> None:
        pass
