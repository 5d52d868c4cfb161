"""Data sets: the papers' generated systems."""

from parsimon.datasets.mixtures import make_multidist
from parsimon.datasets.systems import make_dodd_series, make_honeine_system, make_pothin_system

__all__ = ["make_dodd_series", "make_honeine_system", "make_multidist", "make_pothin_system"]
