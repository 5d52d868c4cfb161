"""Series as samples: the last values of a series predict a later one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import numbers, whole

__all__ = ["embed"]

Array = NDArray[np.float64]


def embed(
    series: ArrayLike,
    lags: int | Sequence[int],
    horizon: int | Sequence[int] = 1,
    *,
    target: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Return samples of past values of a series and the value to predict.

        x_t = (s_t, s_{t-1}, ..., s_{t-lags+1}),   y_t = s_{t+horizon}

    for every time t at which all these values exist. The newest value comes first.

    Parameters
    ----------
    series : array-like of shape (n,)
        Values s_1, ..., s_n in order of time.
    lags : int >= 1 or sequence of int >= 0
        Number of past values in a sample. A sequence says which values: 0 is s_t, 1 is s_{t-1}.
        More lags tell more about the past, and need more samples to learn from.
    horizon : int >= 0 or sequence of int >= 0, default=1
        How many steps ahead the target is. Larger values are harder to predict. A sequence gives
        one column of targets per step. 0 needs a `target`.
    target : array-like of shape (n,) or None, default=None
        Another series that takes the place of s in y_t. With ``horizon=0`` it is the output of a
        system whose input is `series`.

    Returns
    -------
    X : ndarray of shape (rows, number of lags)
        Past values.
    y : ndarray of shape (rows,) or (rows, number of steps)
        Targets.

    Notes
    -----
    If L is the largest lag and H the largest step, there are n - L - H rows. No row is filled up
    with zeros, as KAFBOX does at the start of a series.

    References
    ----------
    F. Takens, *Detecting strange attractors in turbulence*, Dynamical Systems and Turbulence 1981.

    Examples
    --------
    >>> X, y = embed([1, 2, 3, 4, 5], lags=2)
    >>> X.tolist(), y.tolist()
    ([[2.0, 1.0], [3.0, 2.0], [4.0, 3.0]], [3.0, 4.0, 5.0])

    The output of a system:

    >>> X, y = embed([1, 2, 3, 4], lags=2, horizon=0, target=[10, 20, 30, 40])
    >>> X.tolist(), y.tolist()
    ([[2.0, 1.0], [3.0, 2.0], [4.0, 3.0]], [20.0, 30.0, 40.0])
    """
    s = _series("series", series)
    d = s if target is None else _series("target", target)
    if len(d) != len(s):
        raise ValueError(f"target has {len(d)} values, series has {len(s)}")
    back = _steps("lags", range(whole("lags", lags, at_least=1)) if _one(lags) else lags)
    ahead = _steps("horizon", [horizon] if _one(horizon) else horizon)
    if target is None and 0 in ahead:
        raise ValueError("horizon=0 would predict s_t from itself: give a target or a horizon >= 1")
    longest, last = max(back), len(s) - max(ahead)
    if last <= longest:
        raise ValueError(
            f"series has {len(s)} values, but a sample needs {longest + max(ahead) + 1}: "
            "use fewer lags or a smaller horizon"
        )
    X = np.column_stack([s[longest - k : last - k] for k in back])
    Y = np.column_stack([d[longest + k : last + k] for k in ahead])
    return X, Y[:, 0].copy() if _one(horizon) else Y


def _one(value: object) -> bool:
    return np.ndim(value) == 0  # type: ignore[arg-type]


def _steps(name: str, values: object) -> list[int]:
    steps = [whole(name, value, at_least=0) for value in values]  # type: ignore[attr-defined]
    if not steps:
        raise ValueError(f"{name} is empty: give at least one")
    return steps


def _series(name: str, values: ArrayLike) -> Array:
    found = numbers(values, name, lambda given: np.asarray(given, dtype=np.float64))
    if found.ndim != 1:
        raise ValueError(f"{name} must have the shape (n,), got {found.shape}")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise ValueError(f"{name} has {found[bad[0]]} at place {bad[0]}: fill it in or cut it out")
    return found
