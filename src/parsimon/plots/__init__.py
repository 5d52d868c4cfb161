"""Plots.

Each function draws into a file. It needs matplotlib, which the extra ``plot`` installs.
"""

from parsimon.plots.bounds import approximation_regions, coherence_bounds
from parsimon.plots.drawing import require_drawable
from parsimon.plots.forecasts import forecast
from parsimon.plots.mixtures import mixture
from parsimon.plots.models import Expansion, decision_surface, expansions
from parsimon.plots.signals import decibel_curves, error_against_size
from parsimon.plots.streams import (
    compared,
    curves,
    error_and_sparsity,
    learning_curve,
    learning_curves,
    moving_average,
)

__all__ = [
    "Expansion",
    "approximation_regions",
    "coherence_bounds",
    "compared",
    "curves",
    "decibel_curves",
    "decision_surface",
    "error_against_size",
    "error_and_sparsity",
    "expansions",
    "forecast",
    "learning_curve",
    "learning_curves",
    "mixture",
    "moving_average",
    "require_drawable",
]
