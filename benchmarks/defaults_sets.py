"""Data sets of `defaults.py`: those of scikit-learn, generated ones, and .npz files of a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn import datasets


@dataclass(frozen=True)
class DataSet:
    """X (n, d) and labels or numbers y (n,)."""

    name: str
    classes: bool
    X: np.ndarray
    y: np.ndarray


def friedman2():
    """Friedman's second function, with noise of 20% of its standard deviation."""
    X, y = datasets.make_friedman2(1000, noise=0.0, random_state=0)
    return X, y + 0.2 * y.std() * np.random.default_rng(0).normal(size=len(y))


#: Name: a function that returns X and y.
CLASSES = {
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "moons": lambda: datasets.make_moons(1000, noise=0.25, random_state=0),
    "circles": lambda: datasets.make_circles(1000, noise=0.15, factor=0.5, random_state=0),
    "make_classification": lambda: datasets.make_classification(1000, 20, random_state=0),
}
NUMBERS = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "friedman1": lambda: datasets.make_friedman1(1000, noise=1.0, random_state=0),
    "friedman2": friedman2,
    "make_regression": lambda: datasets.make_regression(1000, 10, noise=10.0, random_state=0),
}
#: Name: file, names of its arrays, and number of rows (None: all).
CLASS_FILES = {
    "banana": ("banana.npz", "X", "y", None),
    "usps": ("usps.npz", "X_train", "y_train", 3000),
    "a9a": ("a9a.npz", "X_train", "y_train", 4000),
}
NUMBER_FILES = {
    "boston": ("boston_housing.npz", "X", "y", None),
    "cpusmall": ("cpusmall.npz", "X", "y", None),
    "ccpp": ("ccpp.npz", "X", "y", None),
    "kin40k": ("kin40k.npz", "X", "y", 4000),
    "bike": ("bike_sharing_hour.npz", "X", "y", 4000),
}
NAMES = [*CLASSES, *CLASS_FILES, *NUMBERS, *NUMBER_FILES]


def load(name, folder):
    """Return the data set of this name, or None if it is a file and there is no folder."""
    classes = name in CLASSES or name in CLASS_FILES
    if name in CLASSES or name in NUMBERS:
        X, y = (CLASSES | NUMBERS)[name]()
    elif folder is None:
        return None
    else:
        X, y = read(Path(folder), *(CLASS_FILES | NUMBER_FILES)[name])
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    return DataSet(name, classes, X, y.astype(np.int64 if classes else np.float64))


def read(folder, file, X, y, rows):
    with np.load(folder / file, allow_pickle=False) as arrays:
        return arrays[X][:rows], arrays[y][:rows]
