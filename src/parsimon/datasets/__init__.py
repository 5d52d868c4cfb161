"""Data sets: generators of the papers' data, and loaders of real data."""

from parsimon.datasets.mixtures import make_multidist
from parsimon.datasets.stored import (
    Split,
    Table,
    bikes_path,
    load_banana,
    load_bike_sharing,
    load_boston,
    load_brodatz,
    load_ccpp,
    load_cod_rna,
    load_comp_activ,
    load_covtype,
    load_electricity,
    load_kin40k,
    load_mnist,
    load_usps,
)
from parsimon.datasets.systems import make_dodd_series, make_honeine_system, make_pothin_system

__all__ = [
    "Split",
    "Table",
    "bikes_path",
    "load_banana",
    "load_bike_sharing",
    "load_boston",
    "load_brodatz",
    "load_ccpp",
    "load_cod_rna",
    "load_comp_activ",
    "load_covtype",
    "load_electricity",
    "load_kin40k",
    "load_mnist",
    "load_usps",
    "make_dodd_series",
    "make_honeine_system",
    "make_multidist",
    "make_pothin_system",
]
