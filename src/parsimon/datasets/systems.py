"""Generated nonlinear dynamic systems."""

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

    with y_1 = 0.1. u_n is normal with mean 0.2 and standard deviation 0.1. e_n is normal with
    standard deviation `noise`. The task is to predict d_n from (d_{n-1}, u_{n-1}).

    Parameters
    ----------
    n_samples : int
        Number of samples.
    noise : float >= 0, default=0.1
        Standard deviation of the noise e_n.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        (d_{n-1}, u_{n-1}).
    d : ndarray of shape (n_samples,)
        d_n.

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
        y[i] = (
            0.5 * y[i - 1] * u[i - 1] + 0.2 * u[i - 1] + 0.05 * y[i - 1] ** 2 + 0.6 * u[i - 1] ** 2
        )
    d = y + rng.normal(0.0, noise, size=n)
    return np.column_stack([d[:-1], u[:-1]]), d[1:]


def make_dodd_series(
    n_samples: int,
    *,
    skip: int = 0,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Array, Array]:
    """Generate Dodd's nonlinear time series, the first benchmark of Pothin & Richard 2006.

        y_t = (0.8 - 0.5 b) y_{t-1} - (0.3 + 0.9 b) y_{t-2} + 0.1 sin(pi y_{t-1})

    with b = exp(-y_{t-1}^2), starting from (0.1, 0.1). The task is to predict y_t from (y_{t-1},
    y_{t-2}).

    Parameters
    ----------
    n_samples : int
        Number of samples.
    skip : int >= 0, default=0
        Number of points to skip at the start.
    noise : float >= 0, default=0.0
        Standard deviation of normal noise on the observations, including the inputs.
    random_state : int, Generator or None, default=None
        Seed for the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        (y_{t-1}, y_{t-2}).
    y : ndarray of shape (n_samples,)
        y_t.

    Examples
    --------
    >>> X, y = make_dodd_series(3)
    >>> X[0].tolist(), bool(X[1, 0] == y[0])
    ([0.1, 0.1], True)
    """
    n = whole("n_samples", n_samples, at_least=1) + 2
    skip = whole("skip", skip, at_least=0)
    noise = real("noise", noise, at_least=0)
    y = np.full(n + skip, 0.1)
    for t in range(2, n + skip):
        bump = np.exp(-(y[t - 1] ** 2))
        y[t] = (
            (0.8 - 0.5 * bump) * y[t - 1]
            - (0.3 + 0.9 * bump) * y[t - 2]
            + 0.1 * np.sin(np.pi * y[t - 1])
        )
    seen = y[skip:] + noise * np.random.default_rng(random_state).normal(size=n)
    return np.column_stack([seen[1:-1], seen[:-2]]), seen[2:]


def make_pothin_system(
    n_samples: int,
    *,
    lags: int = 1,
    start: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Array, Array]:
    """Generate the driven system of the second benchmark of Pothin & Richard 2006.

        y_t = 0.5 y_{t-1} + 0.3 y_{t-1} u_t + 0.2 u_t + 0.05 y_{t-1}^2 + 0.6 u_t^2

    and x_t = y_t + e_t, where u_t and e_t are normal with variances 0.1 and 0.05. The task is to
    predict x_t from x_{t-1}, ..., x_{t-lags}, u_t, ..., u_{t-lags+1}.

    The paper starts at y_1 = 10, an unstable fixed point of the recursion without input:
    0.5 y + 0.05 y^2 = y. From there about half of all runs grow without bound. So the default
    `start` is in the stable region. The paper also does not say which past values are the inputs.
    `lags` sets their number.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    lags : int >= 1, default=1
        Number of past values of x and u in a sample.
    start : float, default=1.0
        First value y_1.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2 lags)
        Past values of x, then of u.
    x : ndarray of shape (n_samples,)
        x_t.

    Examples
    --------
    >>> X, x = make_pothin_system(5, lags=2, random_state=0)
    >>> X.shape, bool(X[1, 0] == x[0])
    ((5, 4), True)
    """
    n = whole("n_samples", n_samples, at_least=1)
    lags = whole("lags", lags, at_least=1)
    rng = np.random.default_rng(random_state)
    u = np.sqrt(0.1) * rng.normal(size=n + lags)
    y = np.empty(n + lags)
    y[0] = real("start", start)
    for t in range(1, n + lags):
        y[t] = (
            0.5 * y[t - 1]
            + 0.3 * y[t - 1] * u[t]
            + 0.2 * u[t]
            + 0.05 * y[t - 1] ** 2
            + 0.6 * u[t] ** 2
        )
        if not np.isfinite(y[t]):
            raise ValueError(
                f"start={start} makes this run grow without bound: use a smaller start"
            )
    x = y + np.sqrt(0.05) * rng.normal(size=n + lags)
    now = np.arange(lags, n + lags)
    inputs = [x[now - i] for i in range(1, lags + 1)] + [u[now - i] for i in range(lags)]
    return np.column_stack(inputs), x[now]
