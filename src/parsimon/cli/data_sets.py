"""``parsimon datasets``: list, generate and fetch streams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from parsimon import datasets
from parsimon.cli.table_writer import output_format, table_writer
from parsimon.cli.text import table
from parsimon.cli.words import choose

__all__ = ["GENERATED", "SHIPPED", "STORED", "fetch", "generate", "list_datasets"]

#: Rows that are written at a time.
WRITTEN_ROWS = 8192
#: A stream that comes with parsimon: bicycles rented in each hour.
SHIPPED = "bikes"

Load = Callable[[Path | None], datasets.Table]


class Generated(NamedTuple):
    """A stream that can be generated: its function, columns, task and description."""

    make: Any
    columns: int
    task: str
    text: str


class Stored(NamedTuple):
    """A real data set.

    `load` returns its table, given the folder that holds it. `source` says where it comes from
    without a folder.
    """

    load: Load
    rows: int
    columns: int
    task: str
    target: str
    source: str


def _named(X: Any, y: Any, target: str) -> datasets.Table:
    """Return arrays as a table with columns x1, x2, ..."""
    return datasets.Table(X, y, [f"x{i + 1}" for i in range(X.shape[1])], target)


def _from_pair(load: Callable[[Path | None], Any], target: str) -> Load:
    """Return a loader of a table, given one of X and y."""

    def load_table(folder: Path | None) -> datasets.Table:
        X, y = load(folder)
        return _named(X, y, target)

    return load_table


def _from_split(load: Callable[[Path | None], datasets.Split]) -> Load:
    """Return a loader of a table, given one of training and test rows. Training rows are first."""

    def load_table(folder: Path | None) -> datasets.Table:
        split = load(folder)
        return _named(np.concatenate(split[::2]), np.concatenate(split[1::2]), "class")

    return load_table


_NOISE = "a nonlinear system driven by noise"
_MIXTURES = "five classes, each a mixture of three normal distributions"
_SORTED = "--data-dir; sorted by class: --seed"
_PART = "scikit-learn; in --data-dir 20,000"
_TIMED = "OpenML; in order of time"

#: Streams that can be generated.
GENERATED: dict[str, Generated] = {
    name: Generated(make, 2, task, text)
    for name, make, task, text in (
        ("honeine", datasets.make_honeine_system, "regression", f"{_NOISE} (Honeine et al. 2007)"),
        ("dodd", datasets.make_dodd_series, "regression", "a nonlinear time series (Dodd et al.)"),
        ("pothin", datasets.make_pothin_system, "regression", f"{_NOISE} (Pothin & Richard 2006)"),
        ("multidist", datasets.make_multidist, "classification", _MIXTURES),
    )
}

#: Real data sets that are tables: rows, columns, target, source and loader, by task.
_CLASSES: dict[str, tuple[int, int, str, str, Load]] = {
    "electricity": (45312, 8, "class", _TIMED, datasets.load_electricity),
    "cod_rna": (59535, 8, "class", _SORTED, datasets.load_cod_rna),
    "covtype": (581012, 54, "cover", _PART, datasets.load_covtype),
    "banana": (5300, 2, "class", "OpenML", _from_split(datasets.load_banana)),
    "usps": (9298, 256, "class", "OpenML", _from_split(datasets.load_usps)),
    "mnist": (70000, 784, "class", "OpenML", _from_split(datasets.load_mnist)),
}
_NUMBERS: dict[str, tuple[int, int, str, str, Load]] = {
    "bike_sharing": (17379, 12, "cnt", _TIMED, datasets.load_bike_sharing),
    "kin40k": (40000, 8, "y", "--data-dir", datasets.load_kin40k),
    "ccpp": (9568, 4, "PE", "--data-dir", datasets.load_ccpp),
    "comp_activ": (8192, 12, "usr", "OpenML", _from_pair(datasets.load_comp_activ, "usr")),
    "boston": (506, 13, "MEDV", "OpenML", _from_pair(datasets.load_boston, "MEDV")),
}
STORED: dict[str, Stored] = {
    name: Stored(load, rows, columns, task, target, source)
    for task, group in (("classification", _CLASSES), ("regression", _NUMBERS))
    for name, (rows, columns, target, source, load) in group.items()
}


def list_datasets() -> int:
    """Print the streams that can be generated and fetched."""
    generated = [
        [name, "any", str(g.columns), g.task, "y", f"generate: {g.text}"]
        for name, g in GENERATED.items()
    ]
    source = "fetch: comes with parsimon (UCI, CC BY 4.0)"
    shipped = [SHIPPED, "8,645", "8", "regression", "bikers", source]
    stored = [
        [name, f"{s.rows:,}", str(s.columns), s.task, s.target, f"fetch: {s.source}"]
        for name, s in STORED.items()
    ]
    header = ["name", "rows", "columns", "task", "target", "source"]
    print(table(header, [*generated, shipped, *stored], left=(0, 3, 4, 5)))
    return 0


def generate(name: str, rows: int, seed: int, out: Path | None) -> int:
    """Write a generated stream with columns x1, x2, ... and y."""
    make = choose(GENERATED, name, "data set").make

    def load() -> datasets.Table:
        X, y = make(rows, random_state=seed)
        return _named(X, y, "y")

    return _write(load, out)


def fetch(name: str, data_dir: Path | None, seed: int | None, out: Path | None) -> int:
    """Write a real data set as a table. The target is the last column; `seed` shuffles the rows."""
    stored = choose({SHIPPED: None, **STORED}, name, "data set")
    if stored is None:
        return _copy(datasets.bikes_path(), seed, out)

    def load() -> datasets.Table:
        X, y, names, target = stored.load(data_dir)
        order = slice(None) if seed is None else np.random.default_rng(seed).permutation(len(y))
        return datasets.Table(X[order], y[order], names, target)

    return _write(load, out)


def _copy(path: Path, seed: int | None, out: Path | None) -> int:
    """Write a table that is stored as CSV."""
    format_name = output_format(out) or "csv"
    found = pa.csv.read_csv(path)
    if seed is not None:
        found = found.take(np.random.default_rng(seed).permutation(len(found)))
    with table_writer(out, format_name) as write:
        write(found)
    return 0


def _write(load: Callable[[], datasets.Table], out: Path | None) -> int:
    """Write a table of arrays. Columns of whole numbers are written as integers."""
    format_name = output_format(out) or "csv"
    X, y, names, target = load()
    whole = [(x == np.round(x)).all() and (np.abs(x) < 2.0**53).all() for x in X.T]
    columns = [x.astype(np.int64) if w else x for x, w in zip(X.T, whole, strict=True)]
    with table_writer(out, format_name) as write:
        for first in range(0, len(y), WRITTEN_ROWS):
            rows = slice(first, first + WRITTEN_ROWS)
            write(pa.table([*(c[rows] for c in columns), y[rows]], [*names, target]))
    return 0
