"""Errors in decibels: levels, steady states and convergence times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import numbers, real, whole

__all__ = ["convergence_time", "decibels", "mean_and_band", "smoothed", "steady_state"]

Array = NDArray[np.float64]


def decibels(power: ArrayLike) -> Array:
    """Return 10 log10(power), for example of a mean squared error. 0 gives minus infinity.

    >>> decibels([1.0, 0.1, 0.01]).tolist()
    [0.0, -10.0, -20.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(10.0 * np.log10(np.asarray(power, dtype=np.float64)))


def steady_state(errors: ArrayLike, *, last: int | None = None) -> float:
    """Return the mean squared error over the last samples, in dB.

    This is 10 log10 of the mean of e_t^2 over the last samples t, and over all runs.

    Parameters
    ----------
    errors : array-like of shape (n,) or (runs, n)
        Errors e_t = y_t - prediction, each before the sample was learned.
    last : int >= 1 or None, default=None
        Number of last samples. None means the last fifth. Larger values average over more noise,
        but may begin before the filter has converged.

    Returns
    -------
    level : float
        Mean squared error in dB.

    Examples
    --------
    >>> steady_state([8.0, 4.0, 2.0, 0.1, -0.1], last=2)
    -20.0
    """
    e = _errors(errors)
    n = e.shape[1]
    last = max(1, n // 5) if last is None else whole("last", last, at_least=1, at_most=n)
    return float(decibels(np.mean(e[:, n - last :] ** 2)))


def convergence_time(
    errors: ArrayLike,
    within_db: float = 1.0,
    *,
    floor: float | None = None,
    window: int = 20,
    last: int | None = None,
) -> int | None:
    """Return how many samples a filter takes to come near its steady state.

    It is the smallest t for which the mean of e^2 over the samples t - window + 1 to t, and over
    all runs, is at most `within_db` above the floor. The first sample is t = 1. To measure the time
    after a change, leave out the samples before it.

    Parameters
    ----------
    errors : array-like of shape (n,) or (runs, n)
        Errors e_t = y_t - prediction, each before the sample was learned.
    within_db : float >= 0, default=1.0
        Distance to the floor in dB. Larger values are reached earlier.
    floor : float or None, default=None
        Level to come near to, in dB. None means `steady_state` of these errors.
    window : int >= 1, default=20
        Number of samples of the moving mean. Larger values average over more noise, but give later
        times: no time is less than `window`.
    last : int >= 1 or None, default=None
        Number of last samples of the steady state. None means the last fifth.

    Returns
    -------
    samples : int or None
        Number of samples. None means that the filter does not come that near.

    Examples
    --------
    >>> errors = np.concatenate([np.full(100, 1.0), np.full(400, 0.1)])
    >>> convergence_time(errors, within_db=1.0, window=20)
    120
    """
    e = _errors(errors)
    level = steady_state(e, last=last) if floor is None else real("floor", floor)
    level += real("within_db", within_db, at_least=0)
    window = whole("window", window, at_least=1, at_most=e.shape[1])
    near = np.flatnonzero(decibels(smoothed(e**2, window).mean(axis=0)) <= level)
    return int(near[0]) + window if len(near) else None


def smoothed(values: Array, window: int) -> Array:
    """Return the mean over each `window` neighbours: (runs, n) gives (runs, n - window + 1)."""
    windows = np.lib.stride_tricks.sliding_window_view(values, window, axis=1)
    return np.asarray(windows.mean(axis=2))


def mean_and_band(powers: Array, confidence: float) -> tuple[Array, Array]:
    """Return the mean over runs in dB, and its confidence interval, of powers (runs, n).

    The mean has the shape (n,), the band (n, 2). The interval is symmetric in dB: a relative error
    of the mean by a small q is 10 q / ln 10 in dB. With one run the band is NaN.
    """
    from scipy.special import stdtrit

    runs, n = powers.shape
    mean = powers.mean(axis=0)
    level = decibels(mean)
    if runs == 1:
        return level, np.full((n, 2), np.nan)
    error = powers.std(axis=0, ddof=1) / np.sqrt(runs)
    quantile = float(stdtrit(runs - 1, 0.5 + confidence / 2))
    relative = np.divide(error, mean, out=np.zeros(n), where=mean > 0)
    half = 10.0 / np.log(10.0) * quantile * relative
    return level, np.column_stack([level - half, level + half])


def _errors(errors: ArrayLike) -> Array:
    found = numbers(errors, "errors", lambda given: np.asarray(given, dtype=np.float64))
    found = np.atleast_2d(found)
    if found.ndim != 2 or not found.size:
        raise ValueError(
            f"errors must have the shape (n,) or (runs, n) and not be empty, got {found.shape}"
        )
    bad = np.argwhere(~np.isfinite(found))
    if len(bad):
        run, sample = bad[0]
        raise ValueError(f"errors has {found[run, sample]} in run {run} at sample {sample}")
    return found
