"""What the generators of signals share: inputs, delays, noise and switches."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import numbers, real, whole

Array = NDArray[np.float64]


def white_inputs(
    lags: int | None, n: int, length: int, rng: np.random.Generator
) -> tuple[int, Array]:
    """Return the number of lags, and white inputs for n samples with as many values before them."""
    lags = length if lags is None else whole("lags", lags, at_least=1)
    return lags, rng.normal(size=n + max(lags, length) - 1)


def delayed(u: Array, lags: int, n: int) -> Array:
    """Return (u_t, ..., u_{t-lags+1}) for the last n times t, (n, lags)."""
    windows = np.lib.stride_tricks.sliding_window_view(u, lags)
    return np.ascontiguousarray(windows[-n:, ::-1])


def noisy(clean: Array, snr: float | None, rng: np.random.Generator) -> Array:
    """Return a signal with normal noise, `snr` dB below its variance."""
    if snr is None:
        return clean
    deviation = np.std(clean) * 10.0 ** (-real("snr", snr) / 20.0)
    return np.asarray(clean + deviation * rng.normal(size=len(clean)))


def first_after(switch: int | None, n: int) -> int:
    """Return the first of n samples after the switch; n if there is no switch."""
    return n if switch is None else whole("switch", switch, at_least=0, at_most=n)


def responses(taps: ArrayLike, taps_after: ArrayLike, switch: int | None) -> tuple[Array, Array]:
    """Return both impulse responses, the shorter one with zeros at its end."""
    found = []
    for name, given in (("taps", taps), ("taps_after", taps_after)):
        h = numbers(given, name, lambda values: np.asarray(values, dtype=np.float64))
        if h.ndim != 1 or not len(h) or not np.isfinite(h).all():
            raise ValueError(f"{name} must be finite numbers of shape (L,), got {given!r}")
        found.append(h)
    first, second = found[0], found[0] if switch is None else found[1]
    both = np.zeros((2, max(len(first), len(second))))
    both[0, : len(first)], both[1, : len(second)] = first, second
    return both[0], both[1]
