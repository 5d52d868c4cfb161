"""The base class of updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from parsimon import _core

__all__ = ["Update"]


class Update(ABC):
    """A rule by which one sample changes the weights.

    The rule itself is in C++. A subclass in Python has no C++ twin, so it cannot add a rule.
    CONTRIBUTING.md lists the files to touch for a new one.
    """

    @property
    def pooling(self) -> str:
        """How a merged model reaches the fit to the samples of all merged models.

        "solve": the least-squares fit is computed directly. "climb": the estimator's method
        `ascend` takes steps towards this fit. "none": there is no such fit, and the merged model is
        the weighted sum of the models.
        """
        return self.core().pooling

    @property
    def forgets(self) -> bool:
        """Whether old samples count less than new ones."""
        return self.core().forgets

    @property
    def limit(self) -> int | None:
        """The budget that the update itself takes into account, or None."""
        return getattr(self, "max_centers", None)

    def limited(self, limit: int | None) -> Update:
        """Return the same update with another `limit`, if it has one."""
        made: Any = self
        return replace(made, max_centers=limit) if hasattr(self, "max_centers") else self

    @abstractmethod
    def core(self) -> _core.Update:
        """Return the C++ twin."""
