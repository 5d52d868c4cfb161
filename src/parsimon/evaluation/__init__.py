"""Test-then-learn (prequential) evaluation: each row is predicted first, then learned.

So every row is a test row once.

>>> import numpy as np
>>> from parsimon import KNLMSRegressor
>>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
>>> trace = prequential(KNLMSRegressor("gaussian", gamma=1.0), [(X, np.sin(X[:, 0]))])
>>> bool(trace.metrics.total()["relative_mse"] < 0.05), bool(trace.metrics.rolling()["r2"] > 0.99)
(True, True)

- `regression` and `classification`: metrics, in total and over the last rows (`window`);
- `intervals`: coverage and width of intervals;
- `metrics`: the metrics of each task;
- `steps`: one block, predicted and then learned, with any model;
- `streams`: a stream of blocks, with reports;
- `levels`: decibels, steady states and convergence times of filters;
- `curves` and `sweeps`: learning curves over several runs, and error against size.
"""

from parsimon.evaluation.classification import ClassificationMetrics
from parsimon.evaluation.curves import LearningCurve, learning_curve
from parsimon.evaluation.intervals import IntervalMetrics
from parsimon.evaluation.levels import convergence_time, decibels, steady_state
from parsimon.evaluation.metrics import METRICS
from parsimon.evaluation.regression import RegressionMetrics
from parsimon.evaluation.steps import Predictions, predict_then_learn
from parsimon.evaluation.streams import Report, Trace, prequential, watch
from parsimon.evaluation.sweeps import SizeSweep, size_sweep

__all__ = [
    "METRICS",
    "ClassificationMetrics",
    "IntervalMetrics",
    "LearningCurve",
    "Predictions",
    "RegressionMetrics",
    "Report",
    "SizeSweep",
    "Trace",
    "convergence_time",
    "decibels",
    "learning_curve",
    "predict_then_learn",
    "prequential",
    "size_sweep",
    "steady_state",
    "watch",
]
