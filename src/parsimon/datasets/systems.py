"""Nonlinear dynamic systems, generated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsimon._parts import real, whole

Array = NDArray[np.float64]


def make_honeine_system(
    n_samples: int, *, noise: float = 0.1, random_state: int | np.random.Generator | None = None
) -> tuple[Array, Array]:
    """Generate the system of Honeine, Richard & Bermudez 2007, section V.B.

        y_n = 0.5 y_{n-1} u_{n-1} + 0.2 u_{n-1} + 0.05 y_{n-1}^2 + 0.6 u_{n-1}^2,   d_n = y_n + e_n,

    from y_1 = 0.1, with u_n normal of mean 0.2 and standard deviation 0.1 and e_n normal of standard deviation `noise`. The task is d_n = psi(d_{n-1}, u_{n-1}).

    Returns
    -------
    X : ndarray (n_samples, 2)
        (d_{n-1}, u_{n-1})
    d : ndarray (n_samples,)

    Examples
    --------
    >>> X, d = make_honeine_system(3, noise=0.0, random_state=0)
    >>> X.shape, bool(X[1, 0] == d[0])
    ((3, 2), True)
    """
    n = whole("n_samples", n_samples, at_least=1) + 1
    noise = real("noise", noise, at_least=0)
    rng = np.random.default_rng(random_state)
    u = rng.normal(0.2, 0.1, size=n)
    y = np.empty(n)
    y[0] = 0.1
    for i in range(1, n):
        y[i] = 0.5 * y[i - 1] * u[i - 1] + 0.2 * u[i - 1] + 0.05 * y[i - 1] ** 2 + 0.6 * u[i - 1] ** 2
    d = y + rng.normal(0.0, noise, size=n)
    return np.column_stack([d[:-1], u[:-1]]), d[1:]
