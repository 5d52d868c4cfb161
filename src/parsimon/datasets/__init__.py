"""Data sets: generators of the papers' data and of signals, and loaders of real data.

- `systems` and `mixtures`: data of the papers;
- `series`: chaotic series;
- `channels` and `blocks`: channels, echoes, and Wiener and Hammerstein systems;
- `stored` and `recorded`: tables and series that are read or fetched.
"""

from parsimon.datasets.blocks import make_hammerstein, make_wiener
from parsimon.datasets.channels import make_channel, make_echo
from parsimon.datasets.mixtures import make_multidist
from parsimon.datasets.recorded import load_laser, load_lorenz, load_mackey_glass
from parsimon.datasets.series import make_lorenz, make_mackey_glass
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
    "load_laser",
    "load_lorenz",
    "load_mackey_glass",
    "load_mnist",
    "load_usps",
    "make_channel",
    "make_dodd_series",
    "make_echo",
    "make_hammerstein",
    "make_honeine_system",
    "make_lorenz",
    "make_mackey_glass",
    "make_multidist",
    "make_pothin_system",
    "make_wiener",
]
