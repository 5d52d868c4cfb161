"""Generated block-structured systems: linear filters and nonlinearities in a row.

All of them draw the noise last. So a call with ``snr=None`` and the same seed gives the same
stream without noise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._docs import documented_like
from parsimon._parts import whole
from parsimon.datasets._signals import delayed, first_after, noisy, responses, white_inputs

Array = NDArray[np.float64]

#: The channels of Fig. 3 of van Vaerenbergh et al. 2012, before and after the switch.
_FIRST = (1.0, -0.3817, -0.1411, 0.5789, 0.191)
_SECOND = (1.0, -0.0870, 0.9852, -0.2826, -0.1711)


def make_wiener(
    n_samples: int,
    *,
    taps: ArrayLike = _FIRST,
    nonlinearity: Callable[[Array], Array] = np.tanh,
    lags: int | None = None,
    snr: float | None = 20.0,
    switch: int | None = None,
    taps_after: ArrayLike = _SECOND,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Array, Array]:
    """Generate a Wiener system: a linear filter, then a nonlinearity.

        d_t = g(h_0 u_t + h_1 u_{t-1} + ...) + e_t.

    The inputs u_t are normal with variance 1, and e_t is normal. The task is to predict d_t from
    u_t, ..., u_{t-lags+1}. With the defaults and ``switch=500`` this is the channel of van
    Vaerenbergh et al. 2012, Fig. 3, whose linear part changes abruptly.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    taps : array-like of shape (L,), default=(1.0, -0.3817, -0.1411, 0.5789, 0.191)
        Impulse response h of the linear filter.
    nonlinearity : callable, default=numpy.tanh
        The function g. It takes and returns an array.
    lags : int >= 1 or None, default=None
        Number of inputs in a sample. None means the length of the longer impulse response. Larger
        values add inputs that do not matter.
    snr : float or None, default=20.0
        Ratio of the variance of the noiseless output to that of the noise, in dB. Larger values
        mean less noise, and None means no noise.
    switch : int >= 0 or None, default=None
        First sample of the filter with `taps_after`. None means no switch.
    taps_after : array-like of shape (L,), default=(1.0, -0.087, 0.9852, -0.2826, -0.1711)
        Impulse response from sample `switch` on.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, lags)
        Inputs, the newest first.
    d : ndarray of shape (n_samples,)
        Outputs with noise.

    References
    ----------
    S. van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria, *Kernel recursive least-squares tracker
    for time-varying regression*, IEEE Transactions on Neural Networks and Learning Systems 2012.

    Examples
    --------
    >>> X, d = make_wiener(100, taps=[1.0, 0.5], snr=None, random_state=0)
    >>> X.shape, bool(np.allclose(d, np.tanh(X[:, 0] + 0.5 * X[:, 1])))
    ((100, 2), True)
    """
    return _filtered(
        n_samples, taps, taps_after, switch, lags, snr, random_state, after=nonlinearity
    )


@documented_like(make_wiener)
def make_hammerstein(
    n_samples: int,
    *,
    taps: ArrayLike = _FIRST,
    nonlinearity: Callable[[Array], Array] = np.tanh,
    lags: int | None = None,
    snr: float | None = 20.0,
    switch: int | None = None,
    taps_after: ArrayLike = _SECOND,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Array, Array]:
    """Generate a Hammerstein system: a nonlinearity, then a linear filter.

        d_t = h_0 g(u_t) + h_1 g(u_{t-1}) + ... + e_t.

    The inputs u_t are normal with variance 1, and e_t is normal. The task is to predict d_t from
    u_t, ..., u_{t-lags+1}.

    Parameters
    ----------
    {parameters}

    Returns
    -------
    {returns}

    References
    ----------
    K. Narendra, P. Gallman, *An iterative method for the identification of nonlinear systems using
    a Hammerstein model*, IEEE Transactions on Automatic Control 1966.

    Examples
    --------
    >>> X, d = make_hammerstein(100, taps=[1.0, 0.5], snr=None, random_state=0)
    >>> X.shape, bool(np.allclose(d, np.tanh(X[:, 0]) + 0.5 * np.tanh(X[:, 1])))
    ((100, 2), True)
    """
    return _filtered(
        n_samples, taps, taps_after, switch, lags, snr, random_state, before=nonlinearity
    )


def _filtered(
    n_samples: int,
    taps: ArrayLike,
    taps_after: ArrayLike,
    switch: int | None,
    lags: int | None,
    snr: float | None,
    random_state: int | np.random.Generator | None,
    *,
    before: Callable[[Array], Array] = np.asarray,
    after: Callable[[Array], Array] = np.asarray,
) -> tuple[Array, Array]:
    """Return inputs, and outputs of a linear filter with functions before and after it."""
    n = whole("n_samples", n_samples, at_least=1)
    first, second = responses(taps, taps_after, switch)
    rng = np.random.default_rng(random_state)
    lags, u = white_inputs(lags, n, len(first), rng)
    late = np.arange(n) >= first_after(switch, n)
    past = delayed(np.asarray(before(u)), len(first), n)
    linear = np.where(late, past @ second, past @ first)
    return delayed(u, lags, n), noisy(np.asarray(after(linear)), snr, rng)
