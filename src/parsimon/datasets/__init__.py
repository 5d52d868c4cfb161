"""Data sets: the papers' generated ones, and loaders of real ones."""

from parsimon.datasets.mixtures import make_multidist
from parsimon.datasets.stored import (
    Split,
    load_banana,
    load_boston,
    load_brodatz,
    load_comp_activ,
    load_mnist,
    load_usps,
)
from parsimon.datasets.systems import make_dodd_series, make_honeine_system, make_pothin_system

__all__ = [
    "Split",
    "load_banana",
    "load_boston",
    "load_brodatz",
    "load_comp_activ",
    "load_mnist",
    "load_usps",
    "make_dodd_series",
    "make_honeine_system",
    "make_multidist",
    "make_pothin_system",
]
