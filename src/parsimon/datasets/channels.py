"""Generated channels and echoes.

All of them draw the noise last. So a call with ``snr=None`` and the same seed gives the same
stream without noise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsimon._parts import real, whole
from parsimon.datasets._signals import delayed, first_after, noisy, white_inputs

Array = NDArray[np.float64]


def make_channel(
    n_samples: int,
    *,
    lags: int = 5,
    delay: int = 2,
    snr: float | None = 20.0,
    switch: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Array, Array]:
    """Generate symbols that pass a nonlinear channel, for equalisation.

        z_t = s_t + 0.5 s_{t-1},   r_t = z_t - 0.9 z_t^2 + e_t.

    The symbols s_t are -1 or 1 with equal probability. e_t is normal. The task is to recover
    s_{t-delay} from the received values r_t, ..., r_{t-lags+1}. From sample `switch` on, the linear
    part has the opposite sign: z_t = -s_t - 0.5 s_{t-1}. Then received values look the same, but
    mean the opposite symbols.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    lags : int >= 1, default=5
        Number of received values in a sample.
    delay : int >= 0, default=2
        How many symbols the equaliser is behind. Larger values, up to `lags`, tell it more about
        each symbol.
    snr : float or None, default=20.0
        Ratio of the variance of the noiseless channel output to that of the noise, in dB. Larger
        values mean less noise, and None means no noise. The noise of the book, with standard
        deviation 0.4, is ``snr=11.1``.
    switch : int >= 0 or None, default=None
        First sample in which z_t has the opposite sign. None means no switch.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, lags)
        Received values, the newest first.
    s : ndarray of shape (n_samples,)
        Symbols, -1 or 1.

    References
    ----------
    W. Liu, J. C. Principe, S. Haykin, *Kernel adaptive filtering*, Wiley 2010, section 2.

    Examples
    --------
    >>> X, s = make_channel(4, lags=2, delay=1, snr=None, random_state=0)
    >>> X.round(3).tolist()
    [[-0.525, -0.525], [-0.725, -0.525], [-3.525, -0.725], [-3.525, -3.525]]
    >>> s.tolist()
    [1.0, 1.0, -1.0, -1.0]
    """
    n, lags = whole("n_samples", n_samples, at_least=1), whole("lags", lags, at_least=1)
    delay = whole("delay", delay, at_least=0)
    rng = np.random.default_rng(random_state)
    before = max(lags, delay + 1)  # symbols before the first sample
    s = np.where(rng.integers(2, size=n + before) == 1, 1.0, -1.0)
    z = s[1:] + 0.5 * s[:-1]
    z[before - 1 + first_after(switch, n) :] *= -1
    r = z - 0.9 * z**2
    X = delayed(noisy(r, snr, rng), lags, n)
    return X, s[before - delay : before - delay + n]


def make_echo(
    n_samples: int,
    *,
    length: int = 16,
    decay: float = 4.0,
    level: float = 1.0,
    colour: float = 0.0,
    lags: int | None = None,
    snr: float | None = 30.0,
    switch: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Array, Array]:
    """Generate the echo of a loudspeaker that distorts, for echo cancellation.

        d_t = h_0 g(u_t) + ... + h_{L-1} g(u_{t-L+1}) + e_t,

        g(u) = 2 / (1 + exp(-rho q)) - 1,   q = 1.5 u - 0.3 u^2,   rho = 4 if q > 0, else 0.5.

    u_t is the far-end signal: normal, with standard deviation `level` and correlation `colour`
    between neighbours. g is the loudspeaker, which saturates on one side. The room h has the
    length L. Its h_k is exp(-k / decay) times a normal number, and h is scaled to norm 1. e_t is
    normal. The task is to predict d_t, which the microphone hears, from u_t, ..., u_{t-lags+1}. The
    error is what the far end hears of itself.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    length : int >= 1, default=16
        Length L of the impulse response of the room.
    decay : float > 0, default=4.0
        Number of samples in which the response decays by the factor e. Larger values make more of
        the past matter.
    level : float > 0, default=1.0
        Standard deviation of the far-end signal. Larger values mean more distortion.
    colour : float in [0, 1), default=0.0
        Correlation of neighbouring values of the far-end signal. Larger values make the inputs more
        alike, and linear filters slower.
    lags : int >= 1 or None, default=None
        Number of inputs in a sample. None means `length`.
    snr : float or None, default=30.0
        Ratio of the variance of the echo to that of the noise, in dB. Larger values mean less
        noise, and None means no noise.
    switch : int >= 0 or None, default=None
        First sample in another room, whose impulse response is drawn anew. None means no switch.
    random_state : int, Generator or None, default=None
        Seed, also for the rooms.

    Returns
    -------
    X : ndarray of shape (n_samples, lags)
        Far-end signal, the last value first.
    d : ndarray of shape (n_samples,)
        Signal at the microphone.

    References
    ----------
    D. Comminiello, M. Scarpiniti, L. A. Azpicueta-Ruiz, J. Arenas-Garcia, A. Uncini, *Functional
    link adaptive filters for nonlinear acoustic echo cancellation*, IEEE Transactions on Audio,
    Speech, and Language Processing 2013.

    Examples
    --------
    >>> X, d = make_echo(1000, snr=20.0, random_state=0)
    >>> X.shape, d.shape
    ((1000, 16), (1000,))
    """
    n, L = whole("n_samples", n_samples, at_least=1), whole("length", length, at_least=1)
    decay, level = real("decay", decay, above=0), real("level", level, above=0)
    colour = real("colour", colour, at_least=0, below=1)
    start = first_after(switch, n)
    rng = np.random.default_rng(random_state)
    rooms = np.exp(-np.arange(L) / decay) * rng.normal(size=(2, L))
    first, second = rooms / np.linalg.norm(rooms, axis=1, keepdims=True)
    lags, u = white_inputs(lags, n, L, rng)
    for t in range(1, len(u) if colour else 1):
        u[t] = colour * u[t - 1] + np.sqrt(1 - colour**2) * u[t]
    u *= level
    past = delayed(_loudspeaker(u), L, n)
    echo = np.where(np.arange(n) >= start, past @ second, past @ first)
    return delayed(u, lags, n), noisy(echo, snr, rng)


def _loudspeaker(u: Array) -> Array:
    q = 1.5 * u - 0.3 * u**2
    return np.asarray(np.tanh(np.where(q > 0, 4.0, 0.5) * q / 2))  # 2 / (1 + exp(-a)) - 1
