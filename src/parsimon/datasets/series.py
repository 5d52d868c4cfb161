"""Generated chaotic series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon._parts import real, whole

Array = NDArray[np.float64]

#: Step of the integration of Mackey-Glass, at most. Errors are of its fourth power.
_STEP = 0.05
#: The largest number in a state of Lorenz' system at time 0.
_FARTHEST = 1000.0


def make_mackey_glass(
    n_samples: int,
    *,
    delay: float = 30.0,
    period: float = 6.0,
    start: float | None = None,
    skip: int = 100,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> Array:
    """Generate the chaotic series of Mackey & Glass 1977.

        dx(t)/dt = 0.2 x(t - delay) / (1 + x(t - delay)^10) - 0.1 x(t),

    with x(t) = `start` for t <= 0. The series has the values x(0), x(period), x(2 period), ..., of
    which the first `skip` are left out. The task is to predict a value from the last ones, for
    example with `parsimon.preprocessing.embed`.

    Parameters
    ----------
    n_samples : int
        Number of values.
    delay : float >= 0.1, default=30.0
        Delay of the equation. The series is chaotic from about 17 on. Larger values make it harder
        to predict.
    period : float > 0, default=6.0
        Time between two values. Larger values make the series harder to predict.
    start : float > 0 or None, default=None
        The value before time 0. None draws it from [0.5, 1.5], so that each seed gives another
        series.
    skip : int >= 0, default=100
        Number of values to skip at the start, where the series still depends on `start`.
    noise : float >= 0, default=0.0
        Standard deviation of normal noise on the values.
    random_state : int, Generator or None, default=None
        Seed for the start and the noise.

    Returns
    -------
    series : ndarray of shape (n_samples,)
        The values.

    Notes
    -----
    In a stretch of one delay, x(t - delay) is known, and the equation is linear in x. It is
    integrated stretch by stretch, by the Runge-Kutta method of order 4 with steps of at most 0.05.
    Values between the steps are interpolated by cubic polynomials. The series is chaotic, so its
    late values depend on the rounding of the machine.

    References
    ----------
    M. C. Mackey, L. Glass, *Oscillation and chaos in physiological control systems*, Science 1977.

    Examples
    --------
    >>> make_mackey_glass(4, start=1.2, skip=0).round(3).tolist()
    [1.2, 0.809, 0.595, 0.477]
    """
    n, skip = whole("n_samples", n_samples, at_least=1), whole("skip", skip, at_least=0)
    delay, period = real("delay", delay, at_least=0.1), real("period", period, above=0)
    noise = real("noise", noise, at_least=0)
    rng = np.random.default_rng(random_state)
    first = rng.uniform(0.5, 1.5) if start is None else real("start", start, above=0)
    times: Array = period * np.arange(n + skip, dtype=np.float64)
    steps = int(np.ceil(delay / _STEP))
    values = _delayed(first, delay, steps, int(times[-1] // delay) + 1)
    series = _between(values, np.asarray(times / (delay / steps)))[skip:]
    return np.asarray(series + noise * rng.normal(size=n))


def make_lorenz(
    n_samples: int,
    *,
    period: float = 0.01,
    start: tuple[float, float, float] | None = None,
    skip: int = 1000,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> Array:
    """Generate the chaotic system of Lorenz 1963.

        dx/dt = 10 (y - x),   dy/dt = x (28 - z) - y,   dz/dt = x y - (8/3) z,

    from (x, y, z) = `start` at time 0. Row i is the state at the time (skip + i) period. The usual
    task is to predict one column from its last values, for example with
    `parsimon.preprocessing.embed`.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    period : float > 0, default=0.01
        Time between two rows. Larger values make the series harder to predict.
    start : three floats or None, default=None
        The state at time 0, each at most 1000 in size. None draws it around (1, 1, 25), so that
        each seed gives another series.
    skip : int >= 0, default=1000
        Number of rows to skip at the start, where the state may not be on the attractor.
    noise : float >= 0, default=0.0
        Standard deviation of normal noise on the values.
    random_state : int, Generator or None, default=None
        Seed for the start and the noise.

    Returns
    -------
    states : ndarray of shape (n_samples, 3)
        x, y and z.

    Notes
    -----
    SciPy integrates the equations by a Runge-Kutta method of order 8, with tolerances of 1e-10. The
    system is chaotic, so its late rows depend on the rounding of the machine.

    References
    ----------
    E. N. Lorenz, *Deterministic nonperiodic flow*, Journal of the Atmospheric Sciences 1963.

    Examples
    --------
    >>> make_lorenz(2, start=(1.0, 1.0, 25.0), skip=0).round(3).tolist()
    [[1.0, 1.0, 25.0], [1.001, 1.023, 24.352]]
    """
    from scipy.integrate import solve_ivp

    n, skip = whole("n_samples", n_samples, at_least=1), whole("skip", skip, at_least=0)
    period, noise = real("period", period, above=0), real("noise", noise, at_least=0)
    rng = np.random.default_rng(random_state)
    first = np.array([1.0, 1.0, 25.0]) + rng.normal(size=3) if start is None else _state(start)
    times = period * np.arange(n + skip)
    if len(times) == 1:
        states = first[np.newaxis]
    else:
        found = solve_ivp(_lorenz, (0.0, times[-1]), first, "DOP853", times, rtol=1e-10, atol=1e-10)
        states = found.y.T
    return np.asarray(states[skip:] + noise * rng.normal(size=(n, 3)))


def _state(start: Any) -> Array:
    """Return a state of three numbers, (3,), or raise an error."""
    values = start.tolist() if isinstance(start, np.ndarray) else start
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise TypeError(f"start must be three numbers or None, got {start!r}")
    if len(values) != 3:
        raise ValueError(f"start must have three numbers, got {len(values)}")
    # Far from its attractor the system moves so quickly that its integration would not end.
    return np.array([real("start", v, at_least=-_FARTHEST, at_most=_FARTHEST) for v in values])


def _lorenz(_: float, state: Any) -> tuple[float, float, float]:
    x, y, z = state
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


def _delayed(first: float, delay: float, steps: int, stretches: int) -> tuple[Array, Array]:
    """Return x and its slope per step at the steps of all stretches, (stretches, steps + 1).

    A stretch is as long as the delay. The last step of a stretch is the first of the next one.
    """
    from scipy.signal import lfilter

    h = delay / steps
    z = 0.1 * h
    decay = 1 - z + z**2 / 2 - z**3 / 6 + z**4 / 24
    x, slope = np.full(steps + 1, first), np.zeros(steps + 1)
    xs, slopes = np.empty((2, stretches, steps + 1))
    for k in range(stretches):
        middle = (x[1:] + x[:-1]) / 2 + h / 8 * (slope[:-1] - slope[1:])
        drive, mid_drive = (0.2 * past / (1 + past**10) for past in (x, middle))
        # One step of Runge-Kutta for dx/dt = drive(t) - 0.1 x, which is linear in x
        added = (
            h
            / 6
            * (
                (1 - z + z**2 / 2 - z**3 / 4) * drive[:-1]
                + (4 - 2 * z + z**2 / 2) * mid_drive
                + drive[1:]
            )
        )
        later, _ = lfilter([1.0], [1.0, -decay], added, zi=[decay * x[-1]])
        x = np.concatenate([x[-1:], later])
        slope = drive - 0.1 * x
        xs[k], slopes[k] = x, slope
    return xs, h * slopes


def _between(values: tuple[Array, Array], places: Array) -> Array:
    """Return x at times given in steps, by cubic polynomials through x and its slopes."""
    xs, slopes = values
    steps = xs.shape[1] - 1
    stretch = np.minimum((places // steps).astype(np.int64), len(xs) - 1)
    within = places - stretch * steps
    left = np.minimum(within.astype(np.int64), steps - 1)
    t = within - left
    a, b = xs[stretch, left], xs[stretch, left + 1]
    da, db = slopes[stretch, left], slopes[stretch, left + 1]
    return np.asarray(
        (1 + 2 * t) * (1 - t) ** 2 * a
        + t * (1 - t) ** 2 * da
        + t**2 * (3 - 2 * t) * b
        - t**2 * (1 - t) * db
    )
