"""Earlier targets as inputs of an exported model, and targets in their own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon.export.expansion import Array, Label
from parsimon.mixtures.tasks import LABEL_INPUTS

__all__ = ["LABEL_INPUTS", "LabelLag", "Lag", "NumberLag", "Units"]


@dataclass(frozen=True)
class NumberLag:
    """An earlier target in its own units. The function takes (value - mean) / scale.

    A missing value means `last`, the target that `predict` uses.
    """

    name: str
    mean: float
    scale: float
    last: float
    n_inputs: ClassVar[int] = 1


@dataclass(frozen=True)
class LabelLag:
    """An earlier label. The function takes its place, and 0 or 1 for each of the first places.

    The last of these indicators stands for all further places. A label that is not known means the
    label at the place `last`, which is the one that `predict` uses.
    """

    name: str
    labels: tuple[Label, ...]  # by place, which is the order in which they appeared
    last: int
    n_inputs: ClassVar[int] = 1 + LABEL_INPUTS


Lag = NumberLag | LabelLag


@dataclass(frozen=True)
class Units:
    """The target in its own units: mean + scale * f, and then within bounds, per output."""

    mean: Array  # (C,)
    scale: Array  # (C,)
    low: Array | None = None  # (C,)
    high: Array | None = None  # (C,)

    @classmethod
    def of(cls, mean: float, scale: float) -> Units:
        """Return the units of one output."""
        return cls(np.array([mean]), np.array([scale]))

    @property
    def changes(self) -> bool:
        """Whether mean + scale * f differs from f."""
        return bool(self.mean.any() or (self.scale != 1.0).any())
