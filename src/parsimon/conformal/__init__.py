"""Prediction intervals and sets of labels on streams.

An interval covers a target with a probability that is given, such as 0.9. The width follows the
errors of the model, so the share of targets that are covered stays near it on any stream.

- `calibrator`: the width for a given coverage, from scores of earlier predictions;
- `spread`: how large errors are likely to be at a point;
- `intervals`: intervals from the predictions of a model;
- `regressor` and `classifier`: a model with its intervals or sets.

>>> import numpy as np
>>> from parsimon import ConformalRegressor, KRLSRegressor
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(3000, 2))
>>> y = X[:, 0] + (0.1 + np.abs(X[:, 1])) * rng.normal(size=3000)
>>> model = ConformalRegressor(KRLSRegressor())
>>> intervals = model.predict_interval_then_learn(X, y)
>>> covered = (intervals[:, 0] <= y) & (y <= intervals[:, 1])
>>> bool(abs(covered.mean() - 0.9) < 0.01)
True
"""

from parsimon.conformal.calibrator import Calibrator
from parsimon.conformal.classifier import ConformalClassifier
from parsimon.conformal.intervals import Intervals
from parsimon.conformal.regressor import ConformalRegressor

__all__ = ["Calibrator", "ConformalClassifier", "ConformalRegressor", "Intervals"]
