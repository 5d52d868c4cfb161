"""Data sets: the papers' generated systems."""

from parsimon.datasets.systems import make_honeine_system

__all__ = ["make_honeine_system"]
