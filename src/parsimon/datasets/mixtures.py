"""Mixtures of Gaussians, generated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsimon._parts import real, whole


def make_multidist(
    n_samples: int,
    *,
    n_classes: int = 5,
    n_modes: int = 3,
    scatter: float = 1.0,
    spread: float = 0.2,
    random_state: int | np.random.Generator | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Generate classes in the plane, each a mixture of Gaussians: the data set multidist of Koppel,
    Warnell, Stump & Ribeiro 2019, section 5.2.

    The means of a class's modes are normal, of variance `scatter`, around a point of its own on the
    unit circle; the samples of a mode are normal, of variance `spread`. With the defaults there are
    15 modes. A test set of the same mixture is drawn with the training set: ask for both and split.

    Returns
    -------
    X : ndarray (n_samples, 2)
    y : ndarray (n_samples,) of class numbers

    Examples
    --------
    >>> X, y = make_multidist(1000, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 2), [0, 1, 2, 3, 4])
    """
    n, C = whole("n_samples", n_samples, at_least=1), whole("n_classes", n_classes, at_least=1)
    M = whole("n_modes", n_modes, at_least=1)
    scatter, spread = real("scatter", scatter, at_least=0), real("spread", spread, at_least=0)
    rng = np.random.default_rng(random_state)
    angle = 2 * np.pi * np.arange(C) / C
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    means = circle[:, np.newaxis] + np.sqrt(scatter) * rng.normal(size=(C, M, 2))
    y = rng.integers(C, size=n)
    X = means[y, rng.integers(M, size=n)] + np.sqrt(spread) * rng.normal(size=(n, 2))
    return X, y
