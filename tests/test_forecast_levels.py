"""Forecasts after sudden shifts of the level, and after other changes of a series."""

import numpy as np
import pytest

from parsimon import Forecaster
from parsimon.forecasting import combining
from parsimon.forecasting.engine import BLOCK
from parsimon.forecasting.levels import Levels
from parsimon.persistence.files import dumps, loads

H = 12


def white(rng, n):
    return rng.normal(size=n)


def autoregressive(rng, n):
    y = np.zeros(n)
    for i in range(1, n):
        y[i] = 0.8 * y[i - 1] + rng.normal()
    return y


def seasonal(rng, n):
    return 3 * np.sin(2 * np.pi * np.arange(n) / 12) + rng.normal(size=n)


def smooth(rng, n):
    t = np.arange(n)
    return np.sin(2 * np.pi * t / 37) + np.sin(2 * np.pi * t / 11.3) + 0.05 * rng.normal(size=n)


def mean_errors(y, first, last, every=3):
    """Return the mean absolute errors of forecasts from origins in a range, and of last values."""
    model, at, own, naive = Forecaster(horizon=H, budget=300), 0, [], []
    for origin in range(first, last, every):
        model.learn(y[at:origin])
        at, targets = origin, y[origin : origin + H]
        own.append(np.abs(model.forecast() - targets).mean())
        naive.append(np.abs(y[origin - 1] - targets).mean())
    return np.mean(own), np.mean(naive)


@pytest.mark.parametrize("size", [8.0, 30.0])
@pytest.mark.parametrize("make", [white, autoregressive, seasonal, smooth])
def test_forecasts_go_on_as_before_a_few_rows_after_a_shift(make, size):
    """From the fifth row on, errors are about those without the shift."""
    y = make(np.random.default_rng(0), 360)
    shifted = y.copy()
    shifted[300:] += size * y.std()
    own, naive = mean_errors(shifted, 304, 340)
    assert own < 1.1 * naive
    assert own < 1.3 * mean_errors(y, 304, 340)[0] + 0.2 * y.std()


@pytest.mark.parametrize("make", [white, autoregressive, seasonal, smooth])
def test_a_shift_and_its_return(make):
    plain = make(np.random.default_rng(1), 400)
    y = plain.copy()
    y[300:330] += 20.0 * plain.std()
    model = Forecaster(horizon=H, budget=300).learn(y)
    assert model._levels.offset == 0.0
    assert model._history.offsets.max() > 15.0 * y[:300].std()
    assert mean_errors(y, 340, 380)[0] < 1.2 * mean_errors(plain, 340, 380)[0] + 0.1 * plain.std()


def test_the_offset_of_a_shift_is_its_size():
    y = seasonal(np.random.default_rng(2), 300)
    y[250:] -= 40.0
    model = Forecaster(horizon=4, seasons=12, budget=200).learn(y)
    assert abs(model._levels.offset + 40.0) < 2.0
    history = model._history
    np.testing.assert_allclose(history.raw(np.arange(300)), y, rtol=0, atol=1e-12)
    assert (history.offsets[:250] == 0.0).all()
    assert (history.offsets[250:] == model._levels.offset).all()
    times, values = model.last_values(60)
    np.testing.assert_allclose(values, y[-60:], rtol=0, atol=1e-12)
    assert times.tolist() == list(range(240, 300))


NOISE = np.random.default_rng(0).normal(size=60)


def departures(*parts):
    return np.concatenate([np.asarray(part, dtype=float) for part in parts]).tolist()


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        # An outlier, and two of them, are no shift
        (departures(np.tile([0, 1], 20), [90.0], np.tile([0, 1], 4)), []),
        (departures(np.tile([0, 1], 20), [90.0, 90.0], np.tile([0, 1], 4)), []),
        # A change that the series has had before is none
        (departures(np.tile([0] * 6 + [50] * 6, 5)), []),
        (departures(np.tile([0, 1], 20), np.tile([50] * 6 + [0] * 6, 8)), [50.0]),
        # A slow change is none
        (departures(NOISE, NOISE + np.arange(0, 18, 0.3)), []),
        # A shift, and its return
        (departures(np.tile([0, 1], 20), np.tile([80, 81], 8), np.tile([0, 1], 8)), [80, -80]),
    ],
)
def test_what_is_a_shift(values, sizes):
    levels = Levels()
    found = []
    for row, value in enumerate(values):
        size = levels.take(row, value - levels.offset)
        if size:
            found.append(size)
    if sizes == [50.0]:  # the first ones are shifts, until they are usual
        assert 1 <= len(found) <= 6
        np.testing.assert_allclose(np.abs(found), 50.0, atol=1.0)
    else:
        assert found == sizes


def test_blocks_equal_rows_and_files_go_on_at_a_shift():
    y = seasonal(np.random.default_rng(3), 330)
    y[280:] += 100.0
    y[[275, 282, 283, 300]] = np.nan
    whole = Forecaster(horizon=3, budget=100).learn(y)
    assert abs(whole._levels.offset - 100.0) < 3.0
    parts = Forecaster(horizon=3, budget=100).learn(y[:270])
    for value in y[270:]:
        parts = loads(dumps(parts)).learn([value])
    assert dumps(whole) == dumps(parts)
    assert (whole.forecast() == parts.forecast()).all()


def test_files_with_other_levels_are_refused():
    y = seasonal(np.random.default_rng(4), 200)
    y[150:] += 100.0
    model = Forecaster(horizon=3, budget=100).learn(y)
    for name, value in (("offset", 1.0), ("usual", -1.0), ("rows", [3, 2]), ("pending", [1.0] * 9)):
        forged = loads(dumps(model))
        setattr(forged._levels, name, value)
        with pytest.raises(ValueError, match="levels are not sound"):
            loads(dumps(forged))


def test_shifts_are_part_of_the_errors_and_of_the_intervals():
    """The forecasts before the shift did not know it."""
    y = white(np.random.default_rng(5), 420)
    shifted = y.copy()
    shifted[300:] += 50.0
    plain, model = (Forecaster(horizon=4, budget=100).learn(v) for v in (y, shifted))
    assert abs(model._levels.offset - 50.0) < 3.0
    crossing = 50.0 * (np.arange(4) + 1)  # step h crosses the shift from h origins
    n = model._engine.scored[:, 0]
    more = n * (model.errors_["forecast"] - plain.errors_["forecast"])
    np.testing.assert_allclose(more, crossing, rtol=0.2)
    more = n * (model.errors_["last value"] - plain.errors_["last value"])
    np.testing.assert_allclose(more, crossing, rtol=0.2)


def test_weights_count_origins_whose_targets_are_not_complete():
    """The errors of the last origins, by a loop over origins and steps."""
    y = autoregressive(np.random.default_rng(6), 300)
    model = Forecaster(horizon=6, budget=100).learn(y)
    engine, history = model._engine, model._history
    R = engine.combiner.R.copy()
    for origin in range(max(engine.learned, 300 - BLOCK), 300):
        each = engine.of_experts(history, np.array([origin]), np.empty((1, 6, 0)))[0]
        for h in range(6):
            step = min(h, 299 - origin)
            e = each[step] - y[origin + step]
            R[h] += np.outer(e, e)
    expected = combining.ErrorCombiner(6, R.shape[1], engine.combiner.fallback)
    expected.R, expected.count = R, engine.combiner.count
    found = engine.recent_weights(history, np.empty((6, 0)))
    np.testing.assert_allclose(found, expected.weights(), atol=1e-9)


def test_forecasts_follow_a_new_trend_within_a_few_rows():
    """No shift of the level is found here. The weights of the experts follow."""
    y = white(np.random.default_rng(7), 400)
    y[300:] += 0.3 * np.arange(100)
    own, naive = mean_errors(y, 312, 372)
    assert own < 1.5 * naive
