"""Base class of the filters that are linear in features and are no kernel expansions."""

from __future__ import annotations

from parsimon import _core
from parsimon.estimators.regressor import LearningRegressor

__all__ = ["FilterRegressor"]


class FilterRegressor(LearningRegressor[_core.Filter]):
    """A regressor over one filter of the core. A subclass sets its parameters and `_build`."""

    fit_intercept: bool
    shuffle: bool
    random_state: int | None
