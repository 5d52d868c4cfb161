"""The metrics of each task."""

from __future__ import annotations

from typing import Any

from parsimon.evaluation.classification import ClassificationMetrics
from parsimon.evaluation.regression import RegressionMetrics

__all__ = ["METRICS"]

#: The metrics of each task.
METRICS: dict[str, type[Any]] = {
    "regression": RegressionMetrics,
    "classification": ClassificationMetrics,
}
