"""Generated signals: each against its equation, or against another integration of it."""

import os

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from parsimon import datasets


def mackey_glass(start, delay, times):
    """Integrate by SciPy, one delay after the other, to tolerances of 1e-11."""
    pieces = []

    def past(t):
        if t <= 0:
            return start
        return float(pieces[min(int(t // delay), len(pieces) - 1)](t)[0])

    def slope(t, x):
        lagged = past(t - delay)
        return 0.2 * lagged / (1 + lagged**10) - 0.1 * x

    x = start
    while len(pieces) * delay <= times[-1]:
        begin = len(pieces) * delay
        found = solve_ivp(
            slope, (begin, begin + delay), [x], "DOP853", dense_output=True, rtol=1e-11, atol=1e-12
        )
        pieces.append(found.sol)
        x = found.y[0, -1]
    return np.array([past(t) for t in times])


@pytest.mark.parametrize(("delay", "period"), [(17.0, 1.0), (30.0, 6.0), (0.7, 1.3), (20.0, 7.77)])
def test_mackey_glass_is_what_scipy_integrates(delay, period):
    series = datasets.make_mackey_glass(60, delay=delay, period=period, start=1.2, skip=0)
    times = period * np.arange(60)
    np.testing.assert_allclose(series, mackey_glass(1.2, delay, times), atol=2e-6)


def test_mackey_glass_skips_and_is_chaotic():
    whole = datasets.make_mackey_glass(300, skip=0, random_state=3)
    np.testing.assert_array_equal(datasets.make_mackey_glass(200, random_state=3), whole[100:])
    near = [datasets.make_mackey_glass(500, start=s, skip=0) for s in (0.9, 0.9 + 1e-6)]
    assert abs(near[0] - near[1])[:20].max() < 1e-4 < 0.1 < abs(near[0] - near[1])[-100:].max()
    assert 0.2 < whole.min() < whole.max() < 1.5


def test_lorenz_is_what_small_steps_of_runge_kutta_give():
    def slope(v):
        x, y, z = v
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    states = datasets.make_lorenz(100, start=(1.0, -2.0, 20.0), skip=0)
    v, h, found = np.array([1.0, -2.0, 20.0]), 0.01 / 20, []
    for i in range(100 * 20):
        if i % 20 == 0:
            found.append(v)
        k1 = slope(v)
        k2 = slope(v + h / 2 * k1)
        k3 = slope(v + h / 2 * k2)
        k4 = slope(v + h * k3)
        v = v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    np.testing.assert_allclose(states, found, atol=1e-7)


def test_lorenz_starts_on_the_attractor():
    states = datasets.make_lorenz(3000, random_state=1)
    assert states.shape == (3000, 3)
    assert (abs(states[:, :2]) < 30).all() and (states[:, 2] > 0).all() and states[:, 2].max() < 50


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ((1.0, 2.0), "start must have three numbers, got 2"),
        (5.0, "start must be three numbers or None, got 5.0"),
        ("abc", "start must be three numbers or None, got 'abc'"),
        ((1.0, 2.0, "x"), "start must be a number, got 'x'"),
        ((1.0, 2.0, float("nan")), "start must be finite"),
        (np.ones((3, 2)), "start must be a number, got"),
        ((1.0, 1e8, 1.0), "start must be finite and >= -1000 and <= 1000, got 100000000.0"),
    ],
)
def test_a_bad_start_of_lorenz_is_refused(start, message):
    with pytest.raises((TypeError, ValueError), match=message):
        datasets.make_lorenz(5, start=start)


def test_lorenz_can_start_far_from_the_attractor():
    states = datasets.make_lorenz(5, start=np.array([900.0, -900.0, 900.0]), skip=2000)
    assert (np.abs(states) < 60).all()


@pytest.mark.parametrize(("lags", "delay"), [(5, 2), (1, 0), (2, 4), (4, 4)])
def test_a_channel_follows_its_equation(lags, delay):
    X, s = datasets.make_channel(50, lags=lags, delay=delay, snr=None, switch=30, random_state=1)
    assert X.shape == (50, lags) and set(s.tolist()) == {-1.0, 1.0}
    np.testing.assert_array_equal(X[1:, 1:], X[:-1, :-1])  # one value newer in each sample
    for i in range(delay + 1, 50):
        if i + delay < 50:  # the sample in which r_t is the newest, for the symbol s_t
            z = (s[i + delay] + 0.5 * s[i + delay - 1]) * (-1 if i >= 30 else 1)
            assert X[i, 0] == pytest.approx(z - 0.9 * z**2)


def filtered(u, h):
    return np.array(
        [sum(h[k] * u[t - k] for k in range(len(h))) for t in range(len(h) - 1, len(u))]
    )


@pytest.mark.parametrize("kind", ["wiener", "hammerstein"])
def test_systems_of_blocks_follow_their_equations(kind):
    make = getattr(datasets, f"make_{kind}")
    h, later = np.array([1.0, 0.5, -0.3]), np.array([0.2, 1.0])
    X, d = make(
        40, taps=h, taps_after=later, nonlinearity=np.sin, snr=None, switch=25, random_state=2
    )
    u = np.concatenate([X[0, ::-1], X[1:, 0]])  # all inputs in order of time
    for taps, rows in ((h, slice(0, 25)), ([*later, 0.0], slice(25, 40))):
        expected = np.sin(filtered(u, taps)) if kind == "wiener" else filtered(np.sin(u), taps)
        np.testing.assert_allclose(d[rows], expected[rows], atol=1e-14)


def test_an_echo_follows_its_equation():
    X, d = datasets.make_echo(4000, length=3, lags=5, snr=None, switch=2000, random_state=0)
    q = 1.5 * X - 0.3 * X**2
    g = 2.0 * (1.0 / (1.0 + np.exp(-np.where(q > 0, 4.0, 0.5) * q)) - 0.5)
    for rows in (slice(0, 2000), slice(2000, 4000)):
        h, *_ = np.linalg.lstsq(g[rows], d[rows], rcond=None)
        np.testing.assert_allclose(g[rows] @ h, d[rows], atol=1e-12)
        np.testing.assert_allclose(h[3:], 0.0, atol=1e-12)
        assert np.linalg.norm(h) == pytest.approx(1.0)


def test_the_far_end_has_the_level_and_the_colour_that_were_asked_for():
    X, _ = datasets.make_echo(20000, level=0.5, colour=0.8, lags=2, random_state=0)
    assert X[:, 0].std() == pytest.approx(0.5, rel=0.05)
    assert np.corrcoef(X.T)[0, 1] == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("kind", ["channel", "wiener", "hammerstein", "echo"])
def test_noise_is_drawn_last_and_is_as_strong_as_asked_for(kind):
    make = getattr(datasets, f"make_{kind}")
    (X, d), (Z, clean) = (make(20000, snr=snr, random_state=5) for snr in (10.0, None))
    noisy, plain = (X[:, 0], Z[:, 0]) if kind == "channel" else (d, clean)
    assert 10 * np.log10(plain.var() / (noisy - plain).var()) == pytest.approx(10.0, abs=0.2)
    again = make(20000, snr=10.0, random_state=5)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(d, again[1])
    if kind != "channel":
        np.testing.assert_array_equal(X, Z)


@pytest.mark.parametrize("kind", ["channel", "wiener", "hammerstein", "echo"])
def test_bad_parameters_of_signals_are_named(kind):
    make = getattr(datasets, f"make_{kind}")
    for bad in ({"switch": 11}, {"switch": -1}, {"lags": 0}, {"snr": np.nan}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            make(10, **bad)
    if kind in ("wiener", "hammerstein"):
        for taps in ([], [[1.0]], [np.inf]):
            with pytest.raises(ValueError, match="taps must be finite"):
                make(10, taps=taps)


SERIES = {
    datasets.load_laser: "santafe_laser_a",
    datasets.load_mackey_glass: "mackey_glass_30_kafbox",
    datasets.load_lorenz: "lorenz_kafbox",
}


@pytest.mark.parametrize("load", SERIES)
def test_series_are_as_stored_and_bad_files_are_named(load, tmp_path):
    name = SERIES[load]
    with pytest.raises(ValueError, match=rf"give a data_dir \(--data-dir\) with {name}.npz"):
        load()
    with pytest.raises(FileNotFoundError, match=f"no {name}.npz in"):
        load(tmp_path)
    np.savez(tmp_path / f"{name}.npz", series=np.arange(5, dtype=np.uint8))
    assert load(tmp_path).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    np.savez(tmp_path / f"{name}.npz", series=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"must be numbers of shape \(n,\)"):
        load(tmp_path)


def test_generated_series_have_the_moments_of_those_of_kafbox():
    if "PARSIMON_DATA" not in os.environ:
        pytest.skip("PARSIMON_DATA does not say where the data sets are")
    folder = os.environ["PARSIMON_DATA"]
    for stored, made in (
        (datasets.load_mackey_glass(folder), datasets.make_mackey_glass(5000, random_state=0)),
        (datasets.load_lorenz(folder), datasets.make_lorenz(10001, random_state=0)[:, 2]),
    ):
        for s in (stored, made):
            assert s.mean() == pytest.approx(stored.mean(), rel=0.08)
            assert s.std() == pytest.approx(stored.std(), rel=0.08)
            neighbours = np.corrcoef(s[1:], s[:-1])[0, 1]
            assert neighbours == pytest.approx(np.corrcoef(stored[1:], stored[:-1])[0, 1], abs=0.02)
