"""Generated mixtures of Gaussians."""

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
    """Generate classes in the plane, each a mixture of Gaussians.

    This is the data set multidist of Koppel, Warnell, Stump & Ribeiro 2019, section 5.2. Each class
    has a point on the unit circle. The means of its modes are normal around this point, with
    variance `scatter`. The samples of a mode are normal, with variance `spread`. With the defaults
    there are 15 modes. To get training and test data of the same mixture, generate them together
    and split.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_classes : int, default=5
        Number of classes.
    n_modes : int, default=3
        Number of modes per class.
    scatter : float >= 0, default=1.0
        Variance of the means of the modes. Larger values separate the modes more.
    spread : float >= 0, default=0.2
        Variance within a mode. Larger values make the classes overlap more.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points.
    y : ndarray of shape (n_samples,)
        Class numbers.

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
