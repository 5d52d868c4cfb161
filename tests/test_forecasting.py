"""Forecasts: models equal plain computations, no forecast sees its targets, blocks equal rows."""

import copy

import numpy as np
import pytest
from sklearn.base import clone

import parsimon
from parsimon import Forecaster, KRLSRegressor, MKNLMSRegressor, RFFKLMSRegressor
from parsimon.forecasting import combining, structure
from parsimon.forecasting.clock import Clock
from parsimon.forecasting.engine import BLOCK, Engine
from parsimon.forecasting.history import History
from parsimon.forecasting.models import LINEAR_RIDGE
from parsimon.persistence.files import dumps, loads

HOUR = np.timedelta64(1, "h")


def seasonal(n=420, season=12, noise=0.3, seed=0):
    t = np.arange(n)
    rng = np.random.default_rng(seed)
    return 5.0 + 2.0 * np.sin(2 * np.pi * t / season) + noise * rng.normal(size=n)


def henon(n):
    """A chaotic series: y_t = 1 - 1.4 y_(t-1)^2 + 0.3 y_(t-2)."""
    y = np.full(n + 100, 0.1)
    for t in range(2, n + 100):
        y[t] = 1.0 - 1.4 * y[t - 1] ** 2 + 0.3 * y[t - 2]
    return y[100:]


def full(n=420, seed=1):
    """Return a series with missing values, columns of all kinds, and times with gaps."""
    rng = np.random.default_rng(seed)
    y = seasonal(n, seed=seed)
    y[rng.random(n) < 0.05] = np.nan
    X = {
        "holiday": rng.random(n) < 0.1,
        "sky": rng.choice(["clear", "rain"], size=n),
        "wind": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    }
    keep = np.flatnonzero(rng.random(n) > 0.04)
    times = np.datetime64("2024-03-01T00", "h") + np.arange(n) * HOUR
    return y[keep], {name: c[keep] for name, c in X.items()}, times[keep]


def rows(X, part):
    return None if X is None else {name: column[part] for name, column in X.items()}


def cut(model, y, X=None, times=None, cuts=()):
    for first, last in zip([0, *cuts], [*cuts, len(y)], strict=True):
        part = slice(first, last)
        model.learn(y[part], rows(X, part), None if times is None else times[part])
    return model


FUTURE = {"holiday": np.zeros(6, dtype=bool)}


def made():
    return Forecaster(horizon=6, known=["holiday"], budget=200)


# Models against plain computations


def test_linear_expert_is_ridge_regression():
    """The weights minimise the discounted squared error plus the ridge."""
    H, y = 4, seasonal(300)
    model = Forecaster(horizon=H, strategy="direct", seasons=[12]).learn(y)
    engine = model._engine.caught_up(model._history)
    expert = engine.experts[0]
    lags = sorted({*range(1, 17), *range(12 - H + 1, 13)})
    origins = np.arange(max(lags), len(y) - H + 1)
    s = engine.structure
    Z = np.array([[(y[o - lag] - s.center) / s.scale for lag in lags] for o in origins])
    T = np.array([(y[o : o + H] - s.center) / s.scale for o in origins])
    A = np.column_stack([(Z - expert.mean) @ expert.rotation, np.ones(len(Z))])
    keep = 0.9998 ** np.arange(len(A) - 1, -1, -1)
    ridge = LINEAR_RIDGE * np.eye(A.shape[1]) * 0.9998 ** len(A)
    last = np.array([[(y[len(y) - lag] - s.center) / s.scale for lag in lags]])
    row = np.append((last - expert.mean) @ expert.rotation, 1.0)
    W = np.linalg.solve(A.T @ (keep[:, None] * A) + ridge, A.T @ (keep[:, None] * T))
    expected = s.center + s.scale * (row @ W)
    each = engine.of_experts(model._history, np.array([len(y)]), np.empty((1, H, 0)))
    np.testing.assert_allclose(each[0, :, 0], expected, rtol=0, atol=2e-3 * s.scale)


def test_recursive_forecasts_are_those_of_a_loop():
    H, y = 5, henon(200)
    estimator = KRLSRegressor("gaussian", gamma=0.5, ridge=1e-3, tolerance=1e-4)
    model = Forecaster(estimator, horizon=H, lags=[1, 2], seasons=[], strategy="recursive")
    model.learn(y)
    s = model._engine.structure
    z = (y - s.center) / s.scale
    X = np.column_stack([z[1:-1], z[:-2]])
    plain = KRLSRegressor("gaussian", gamma=0.5, ridge=1e-3, tolerance=1e-4)
    plain.partial_fit(X, z[2:])
    path = z[-2:].tolist()
    for _ in range(H):
        path.append(float(plain.predict([[path[-1], path[-2]]])[0]))
    ahead = model._engine.caught_up(model._history)
    each = ahead.of_experts(model._history, np.array([len(y)]), np.empty((1, H, 0)))
    np.testing.assert_allclose(each[0, :, 0], s.center + s.scale * np.array(path[2:]), atol=1e-10)


def test_direct_forecasts_are_those_of_an_estimator_with_one_output_per_step():
    H, y = 3, henon(200)
    estimator = KRLSRegressor("gaussian", gamma=0.5, ridge=1e-2, tolerance=1e-3)
    model = Forecaster(estimator, horizon=H, lags=4, seasons=[], strategy="direct").learn(y)
    s = model._engine.structure
    z = (y - s.center) / s.scale
    origins = np.arange(4, len(y) - H + 1)
    X = np.array([z[o - 4 : o][::-1] for o in origins])
    T = np.array([z[o : o + H] for o in origins])
    plain = KRLSRegressor("gaussian", gamma=0.5, ridge=1e-2, tolerance=1e-3).partial_fit(X, T)
    ahead = model._engine.caught_up(model._history)
    each = ahead.of_experts(model._history, np.array([len(y)]), np.empty((1, H, 0)))
    expected = s.center + s.scale * plain.predict([z[-4:][::-1]])[0]
    np.testing.assert_allclose(each[0, :, 0], expected, atol=1e-10)


def test_weights_minimise_the_squared_error_of_the_combination():
    rng = np.random.default_rng(0)
    errors = (
        rng.normal(size=(400, 1, 3))
        @ np.linalg.cholesky([[1.0, 0.4, 0.1], [0.4, 2.0, 0.3], [0.1, 0.3, 1.5]]).T
    )
    combiner = combining.ErrorCombiner(1, 3, fallback=0)
    combiner.learn(errors)
    keep = np.exp(-1.0 / combining.MEMORY) ** np.arange(399, -1, -1)
    R = np.einsum("t,ti,tj->ij", keep, errors[:, 0], errors[:, 0])
    w = np.linalg.solve(R + combining.SHRINKAGE * np.diag(np.diag(R)), np.ones(3))
    assert (w > 0).all()
    np.testing.assert_allclose(combiner.weights()[0], w / w.sum(), rtol=1e-10)


def test_weights_are_never_negative_and_do_not_depend_on_the_unit():
    rng = np.random.default_rng(1)
    common = rng.normal(size=(300, 1, 1))
    errors = common * [1.0, 1.3, 0.5] + 0.05 * rng.normal(size=(300, 1, 3))
    found = []
    for unit in (1.0, 1e-9, 1e9):
        combiner = combining.ErrorCombiner(1, 3, fallback=0)
        combiner.learn(unit * errors)
        found.append(combiner.weights()[0])
    assert (found[0] >= 0).all() and abs(found[0].sum() - 1.0) < 1e-12
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-9)
    assert found[0][2] > 0.9


# What a forecast may know


def test_forecasts_do_not_depend_on_later_rows():
    y, X, times = full()
    other = y.copy()
    other[300:] = 100.0
    first, second = (
        made().backtest(values, X, times, start=150, every=30) for values in (y, other)
    )
    early = first.origins <= 300
    assert early.sum() >= 5
    assert (first.forecasts[early] == second.forecasts[early]).all()
    assert (first.forecasts[~early] != second.forecasts[~early]).any()


def test_scored_forecasts_come_from_models_that_have_not_seen_their_targets():
    """At each score, models have learned rows before the first origin only."""
    y = seasonal()
    model = Forecaster(horizon=6).learn(y)
    engine = model._engine
    seen = []
    for expert in engine.experts:
        learn, forecast = expert.learn, expert.forecast
        expert.learn = lambda h, a, b, run=learn: (seen.append(("learn", b)), run(h, a, b))[1]
        expert.forecast = lambda h, o, *rest, run=forecast: (
            seen.append(("forecast", int(o[0]))),
            run(h, o, *rest),
        )[1]
    learned = engine.learned
    model.learn(seasonal(800)[420:490])
    assert ("forecast", learned) in seen and ("learn", learned + BLOCK) in seen
    known = learned
    for what, at in seen:
        if what == "forecast":
            assert at >= known
        known = max(known, at) if what == "learn" else known


def test_errors_of_simple_forecasts_are_exact_where_the_series_leaves_its_range():
    H, y = 4, seasonal(400)
    y[200:] += 50.0
    y[300:] *= 10.0
    model = Forecaster(horizon=H, seasons=[12]).learn(y)
    origins = np.arange(128, model._engine.learned)  # the last start is at 256 rows
    targets = y[origins[:, np.newaxis] + np.arange(H)]
    last = np.abs(y[origins - 1][:, np.newaxis] - targets).mean(axis=0)
    season = np.abs(y[origins[:, np.newaxis] + np.arange(H) - 12] - targets).mean(axis=0)
    np.testing.assert_allclose(model.errors_["last value"], last, rtol=1e-12)
    np.testing.assert_allclose(model.errors_["season 12"], season, rtol=1e-12)


def test_forecasts_of_models_are_limited_by_the_values_before_each_origin():
    y = seasonal(300)
    engine = Forecaster(horizon=4, seasons=[12]).learn(y)._engine
    assert not engine.structure.relative
    later = np.concatenate([y[: engine.learned], y[engine.learned :] * 10.0])
    history = History(1000, 0, 0)
    history.append(later, np.ones(300), np.empty((300, 0)), np.empty((300, 0)))
    origins = engine.learned + np.array([0, 1, 5])
    low, high = engine._limits(history, origins)
    for i, o in enumerate(origins):
        margin = 0.1 * np.ptp(later[:o])
        assert low[i] == later[:o].min() - margin and high[i] == later[:o].max() + margin


# Blocks, files and memory


@pytest.mark.parametrize("cuts", [range(1, 400), (1, 2, 63, 64, 65, 200), (100, 130, 301)])
def test_blocks_equal_rows(cuts):
    y, X, times = full()
    whole = cut(made(), y, X, times)
    parts = cut(made(), y, X, times, [c for c in cuts if c < len(y)])
    assert dumps(whole) == dumps(parts)
    assert (whole.forecast(X_future=FUTURE) == parts.forecast(X_future=FUTURE)).all()


def test_blocks_equal_rows_at_long_gaps():
    """The season of 40 rows is found within the block, before the gap."""
    y = seasonal(400, season=40)
    times = np.arange(400.0) + 5003.0 * (np.arange(400) > 300)
    whole = Forecaster(horizon=6, budget=200).learn(y, times=times)
    assert whole.seasons_ == [40]
    parts = cut(Forecaster(horizon=6, budget=200), y, None, times, range(1, 400))
    assert whole.n_rows_ == parts.n_rows_ == 400 + 963  # 963 = 5003 modulo 40
    assert dumps(whole) == dumps(parts)


def columns_that_begin_late(n=150):
    """Return columns of which each has its first value at another row."""
    rng = np.random.default_rng(2)
    X = {
        "sky": rng.choice(["clear", "rain"], size=n).astype(object),
        "open": (rng.random(n) < 0.5).astype(object),
        "wind": rng.normal(size=n).astype(object),
        "never": np.full(n, None),
    }
    for name, late in {"sky": 3, "open": 6, "wind": 80}.items():
        X[name][:late] = None
    return X


@pytest.mark.parametrize("names", [["sky"], ["sky", "open"], ["sky", "open", "wind", "never"]])
@pytest.mark.parametrize("known", [[], ["sky"]])
def test_blocks_equal_rows_if_the_first_values_of_columns_are_missing(names, known):
    y = seasonal(150)
    y[0] = np.nan  # this row is left out
    X = {name: columns_that_begin_late()[name] for name in names}
    model = Forecaster(horizon=3, budget=40, known=known)
    future = {"sky": ["rain"] * 3}
    whole = cut(clone(model), y, X)
    parts = clone(model)
    for i in range(150):
        parts.learn(y[i : i + 1], rows(X, slice(i, i + 1)))
        if i in (1, 3, 5, 30, 63, 64, 65):
            assert dumps(loads(dumps(parts))) == dumps(parts)
            parts = loads(dumps(parts))
            assert np.isfinite(parts.forecast(X_future=future)).all()
    assert dumps(whole) == dumps(parts) == dumps(cut(clone(model), y, X, cuts=[2, 40, 100]))
    pairs = zip(whole._columns.encoders, whole._columns.groups, strict=True)
    kinds = {name: encoder.columns_[name] for encoder, group in pairs for name in group}
    expected = {"sky": "text", "open": "boolean", "wind": "number", "never": "number"}
    assert kinds == {name: expected[name] for name in names}


def test_a_column_has_the_kind_of_its_first_value():
    y = seasonal(150)
    model = Forecaster(horizon=3, budget=40).learn(y[:2], {"a": [None, "rain"], "b": [None, None]})
    before = dumps(model)
    with pytest.raises(ValueError, match="column 'a': it holds number values"):
        model.learn([1.0], {"a": [1.0], "b": [None]})
    assert dumps(model) == before
    late = {"a": [None] * 70 + ["rain"] * 80}  # text, but a number after 64 rows without a value
    for parts in ([], [64], range(1, 150)):
        with pytest.raises(ValueError, match="column 'a': it holds text values"):
            cut(Forecaster(horizon=3, budget=40), y, late, cuts=parts)


@pytest.mark.parametrize("at", [1, 40, 64, 100, 250])
def test_a_stored_model_goes_on_exactly(at):
    y, X, times = full()
    whole = cut(made(), y, X, times)
    part = made().learn(y[:at], rows(X, slice(0, at)), times[:at])
    again = loads(dumps(part))
    assert dumps(again) == dumps(part)
    first = [m.forecast(X_future=FUTURE, intervals=True) for m in (part, again)]
    np.testing.assert_array_equal(first[0][0], first[1][0])
    np.testing.assert_array_equal(first[0][1], first[1][1])
    again.learn(y[at:], rows(X, slice(at, None)), times[at:])
    assert dumps(again) == dumps(whole)


def test_forecast_changes_nothing_and_copies_share_nothing():
    y = seasonal()
    model = Forecaster(horizon=6).learn(y[:200])
    before = dumps(model)
    other = copy.copy(model)
    model.forecast()
    assert dumps(model) == before
    other.learn(y[200:])
    assert dumps(model) == before and dumps(other) != before


@pytest.mark.parametrize("at", [0, 150])
@pytest.mark.parametrize("where", ["advance", "begin"])
def test_an_interrupted_model_does_not_go_on(monkeypatch, at, where):
    y = seasonal(300)
    model = Forecaster(horizon=6, budget=40).learn(y[:at])
    plain = getattr(Engine, where)

    def interrupted(engine, history):
        if history.n_rows >= 256:
            raise KeyboardInterrupt
        plain(engine, history)

    monkeypatch.setattr(Engine, where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn(y[at:])
    monkeypatch.undo()
    calls = [lambda: model.learn(y), model.forecast, lambda: dumps(model), lambda: copy.copy(model)]
    for call in calls:
        with pytest.raises(RuntimeError, match="learning was interrupted"):
            call()
    assert clone(model).learn(y).n_rows_ == 300


def test_memory_does_not_grow():
    y = seasonal(9000, noise=0.1)
    model = Forecaster(horizon=3, strategy="direct", budget=40).learn(y[:5000])
    size, held = model.nbytes_, model._history.nbytes
    model.learn(y[5000:])
    assert model.nbytes_ == size
    assert 8 * 2 * len(model._history.y) <= held
    assert model.n_rows_ == 9000


def test_memory_includes_the_scores_of_intervals_and_the_errors_of_experts():
    H = 50
    model = Forecaster(horizon=H, budget=8).learn(seasonal(300))
    E = len(model.expert_names_)
    models = sum(m.nbytes_ for m in model._fitted_estimators()) + model._history.nbytes
    # 500 scores and flags per step, and the products of errors
    assert model.nbytes_ - models >= 8 * H * (2 * 500 + E * E)
    assert Forecaster().nbytes_ == 0


@pytest.mark.parametrize("estimator", [MKNLMSRegressor(), RFFKLMSRegressor(random_state=0)])
def test_filters_are_estimators(estimator):
    y = seasonal(200)
    whole = Forecaster(estimator, horizon=4).learn(y)
    assert whole.expert_names_[:2] == ["direct", "recursive 16"]
    parts = cut(Forecaster(estimator, horizon=4), y, cuts=range(1, 200))
    assert dumps(loads(dumps(whole))) == dumps(whole) == dumps(parts)
    again = loads(dumps(whole))
    assert (again.forecast() == whole.forecast()).all()
    assert dumps(again.learn(y)) == dumps(parts.learn(y))
    assert whole.nbytes_ > 0 and whole.n_centers_ >= 0


def test_centres_stay_within_the_budget():
    for budget in (8, 50, 100):
        model = Forecaster(horizon=6, budget=budget).learn(seasonal(600))
        assert 0 < model.n_centers_ <= budget


def test_files_with_other_states_are_refused():
    y, X, times = full(200)
    model = made().learn(y, X, times)
    state = model.__getstate__()
    assert isinstance(loads(dumps(model)), Forecaster)
    for name, value in {
        "_clock": {**state["_clock"], "step": -1.0},
        "_time_kind": None,
        "_history": {**state["_history"], "first": -1},
        "_first": [np.zeros(1)] * 5,
        "_engine": {**state["_engine"], "learned": 10**6},
        "_last_time": np.inf,
        "_columns": {**state["_columns"], "groups": [["holiday"], []]},
        "_learns_with": {**state["_learns_with"], "horizon": 7},
    }.items():
        forged = copy.copy(model)
        forged.__getstate__ = lambda name=name, value=value: {**state, name: value}
        with pytest.raises(parsimon.ModelFileError):
            loads(dumps(forged))


# Times and missing values


def test_gaps_in_times_are_missing_rows():
    y = seasonal(300)
    times = np.arange(300.0)
    keep = np.ones(300, dtype=bool)
    keep[[10, 70, 71, 72, 150, 222]] = False
    holes = np.where(keep, y, np.nan)
    with_gaps = Forecaster(horizon=6).learn(y[keep], times=times[keep])
    with_rows = Forecaster(horizon=6).learn(holes, times=times)
    assert with_gaps.n_rows_ == with_rows.n_rows_ == 300
    # The first 64 rows are other ones, so statistics of the clock may differ, but not the model.
    assert (with_gaps.forecast() == with_rows.forecast()).all()


def test_a_long_gap_keeps_the_phase_of_the_season():
    y = seasonal(5000, noise=0.0)
    keep = np.r_[0:400, 4900:5000]
    model = Forecaster(horizon=12).learn(y[keep], times=keep.astype(float))
    assert model.n_rows_ < 1700
    assert model.seasons_[0] == 12
    expected = 5.0 + 2.0 * np.sin(2 * np.pi * np.arange(5000, 5012) / 12)
    assert np.abs(model.forecast() - expected).max() < 0.2


@pytest.mark.parametrize("pause", [90.0, 700.0, 1e12])
def test_rows_that_are_filled_in_are_bounded(pause):
    """Bursts of rows with pauses between them: at most 4 missing rows per row, and 1000."""
    y = seasonal(600)
    bursts = np.where(np.arange(600) < 100, 0, np.arange(600) // 10 - 9)
    times = np.arange(600.0) + pause * bursts
    whole = Forecaster(horizon=3, budget=60).learn(y, times=times)
    assert 600 < whole.n_rows_ <= 5 * 600 + 1000
    parts = cut(Forecaster(horizon=3, budget=60), y, None, times, range(50, 600, 7))
    assert dumps(whole) == dumps(parts)
    assert np.isfinite(whole.forecast()).all()
    early = Forecaster(horizon=3, seasons=5).learn(y[:40], times=times[90:130])
    assert len(early._early_values()) <= 5 * 40 + 1000
    assert np.isfinite(early.forecast()).all()


def test_leading_missing_values_are_left_out():
    y = seasonal(200)
    late = np.concatenate([np.full(5, np.nan), y])
    assert dumps(Forecaster(horizon=4).learn(late)) == dumps(Forecaster(horizon=4).learn(y))
    assert Forecaster(horizon=4).learn([np.nan, np.nan]).n_rows_ == 0


def test_calendar_features_follow_the_clock():
    hours = np.arange(200) * 3600.0
    clock = Clock("timestamp", hours)
    assert clock.step == 3600.0 and clock.n_features == 8
    F = clock.features(hours)
    np.testing.assert_allclose(F[0:24], F[168:192], atol=1e-12)  # a week later
    np.testing.assert_allclose(F[0:24, :4], F[24:48, :4], atol=1e-12)  # a day later
    assert np.abs(F[0:24, 4:] - F[24:48, 4:]).max() > 0.3
    assert Clock("date", hours * 24).n_features == 8  # the week and the year
    assert Clock("number", hours).n_features == 0


def test_future_times():
    times = np.datetime64("2024-01-01", "D") + np.arange(100)
    model = Forecaster(horizon=3).learn(seasonal(100), times=times)
    assert model.future_times().tolist() == (times[-1] + np.arange(1, 4)).tolist()
    assert Forecaster(horizon=2).learn([1.0, 2.0]).future_times().tolist() == [2, 3]


@pytest.mark.parametrize("n", [2, 30, 100])
def test_future_times_have_the_resolution_of_the_times(n):
    for size, unit in ((5, "ms"), (250, "us"), (3, "s")):
        times = np.datetime64("2024-05-05T12:00:00", unit) + np.arange(n + 50) * size
        found = Forecaster(horizon=50).learn(seasonal(n), times=times[:n]).future_times()
        assert (found == times[n:]).all()


@pytest.mark.parametrize("n", [2, 3, 30, 100])
@pytest.mark.parametrize("months", [1, 3, 12])
@pytest.mark.parametrize("day", [1, 15, 30, 31])
def test_future_times_step_in_months(n, months, day):
    first = np.datetime64("2019-12", "M") + months * np.arange(n + 6)
    last_days = (first + 1).astype("datetime64[D]") - 1
    dates = np.minimum(first.astype("datetime64[D]") + day - 1, last_days)
    for times in (dates, dates + np.timedelta64(90, "m")):
        model = Forecaster(horizon=6).learn(seasonal(n), times=times[:n])
        assert (model.future_times() == times[n:]).all()
        again = loads(dumps(model))
        assert (again.future_times() == times[n:]).all() and dumps(again) == dumps(model)
        keep = np.delete(np.arange(n), np.arange(1, n, 40)) if n > 3 else np.arange(n)
        holes = Forecaster(horizon=6).learn(seasonal(n)[keep], times=times[keep])
        assert (holes.future_times() == times[n:]).all()
        assert n < 65 or holes.n_rows_ == n


def test_days_and_weeks_do_not_step_in_months():
    for step in (1, 7, 28):
        times = np.datetime64("2024-01-31", "D") + step * np.arange(106)
        model = Forecaster(horizon=6).learn(seasonal(100), times=times[:100])
        assert (model.future_times() == times[100:]).all()


def test_times_can_be_a_list():
    times = np.datetime64("2024-01-01", "D") + np.arange(3)
    for given in (list(times), times.tolist(), tuple(times.astype("datetime64[s]"))):
        model = Forecaster(horizon=1).learn([1.0, 2.0, 3.0], times=given)
        assert model.future_times()[0] == np.datetime64("2024-01-04")


def test_one_row_has_future_times():
    for time, step in (
        (np.datetime64("2024-01-31", "D"), np.timedelta64(1, "D")),
        (np.datetime64("2024-01-31T07", "s"), np.timedelta64(1, "s")),
        (17.5, 1.0),
    ):
        model = Forecaster(horizon=3).learn([1.0], times=np.array([time]))
        assert model.future_times().tolist() == [time + i * step for i in (1, 2, 3)]


# Quality


def test_chaos_is_forecast_far_better_than_by_a_linear_model():
    y = henon(1200)
    result = Forecaster(horizon=5).backtest(y, start=800, every=10)
    linear = Forecaster(KRLSRegressor("linear", fit_intercept=True), horizon=5, strategy="direct")
    other = linear.backtest(y, start=800, every=10)
    assert (result.nmse < 0.02).all() and (other.nmse[1:] > 0.5).all()


def test_noisy_seasons_are_forecast_better_than_by_the_season_before():
    result = Forecaster(horizon=12).backtest(seasonal(700), start=400, every=7)
    assert result.nmse.mean() < 0.7 * result.seasonal_nmse.mean()
    assert (result.mae < result.naive_mae).all()


def test_known_columns_are_used_and_others_are_not_seen_ahead():
    rng = np.random.default_rng(0)
    n = 700
    push = (rng.random(n) < 0.3).astype(float)
    y = 10.0 + 5.0 * push + 0.2 * rng.normal(size=n)
    ahead = Forecaster(horizon=4, known="all").backtest(y, {"push": push}, start=500, every=5)
    blind = Forecaster(horizon=4).backtest(y, {"push": push}, start=500, every=5)
    assert (ahead.nmse < 0.3).all()
    assert (blind.nmse > 0.7).all()


def known_ahead():
    """Return a model with a column known in advance, and that column for 8 rows."""
    rng = np.random.default_rng(0)
    push = rng.random(200) < 0.4
    y = 3.0 * push + 0.1 * rng.normal(size=200)
    times = np.datetime64("2024-01-01", "D") + np.arange(200)
    model = Forecaster(horizon=6, known=["push"], budget=100)
    ahead = {"push": rng.random(8) < 0.5}
    return model.learn(y, {"push": push}, times), ahead, times[-1] + np.arange(1, 9)


def test_known_columns_are_matched_by_their_times():
    model, ahead, times = known_ahead()
    expected = model.forecast(X_future={"push": ahead["push"][:6]})
    order = np.array([3, 0, 7, 5, 1, 4, 2, 6])
    mixed = {"push": ahead["push"][order]}
    found = model.forecast(X_future=mixed, times_future=times[order])
    assert (found == expected).all()
    found = model.forecast(X_future={"push": mixed["push"].tolist()}, times_future=times[order])
    assert (found == expected).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[:6] + 1, "no row for step 1, at 2024-07-19: give one row for each of the"),
        (lambda t: t[[0, 1, 2, 4, 5, 6]], "no row for step 4, at 2024-07-22"),
        (lambda t: t[[0, 1, 2, 2, 3, 4, 5]], "the time is doubled: another row is for step 3 too"),
        (lambda t: t[:6] - 1, "not after that of the last row learned"),
        (lambda t: np.arange(6.0), "times are number, but were date before"),
        (lambda t: np.where(np.arange(6) == 2, np.datetime64("NaT"), t[:6]), "time is missing"),
        (lambda t: t[:4], "times must have 6 values, one per row, got 4"),
    ],
)
def test_times_of_known_columns_that_do_not_fit(change, message):
    model, ahead, times = known_ahead()
    times = change(times)
    X = {"push": np.resize(ahead["push"], 6 if len(times) == 4 else len(times))}
    with pytest.raises(ValueError, match=message):
        model.forecast(X_future=X, times_future=times)


def test_times_without_known_columns_are_refused():
    model = Forecaster(horizon=2, known=["x"]).learn(seasonal(100), {"x": np.arange(100)})
    with pytest.raises(ValueError, match="rows were learned without times"):
        model.forecast(X_future={"x": [1, 2]}, times_future=[1, 2])
    with pytest.raises(ValueError, match="times_future is given without X_future"):
        Forecaster(horizon=2).learn(seasonal(100)).forecast(times_future=[1, 2])


def test_a_random_walk_is_not_forecast_much_worse_than_by_its_last_value():
    y = np.cumsum(np.random.default_rng(3).normal(size=900))
    result = Forecaster(horizon=6).backtest(y, start=400, every=6)
    assert (result.mae < 1.15 * result.naive_mae).all()


def test_intervals_cover_what_they_should():
    rng = np.random.default_rng(0)
    y = np.zeros(1500)
    for t in range(1, 1500):
        y[t] = 0.8 * y[t - 1] + rng.normal()
    model = Forecaster(horizon=4, strategy="direct", coverage=0.8)
    result = model.backtest(y, start=500, every=2)
    assert np.abs(result.covered - 0.8).max() < 0.06
    # The error of step h has variance 1 + 0.8^2 + ... + 0.8^(2 (h - 1)).
    ideal = 2 * 1.2816 * np.sqrt(np.cumsum(0.64 ** np.arange(4)))
    widths = np.nanmean(result.bounds[:, :, 1] - result.bounds[:, :, 0], axis=0)
    np.testing.assert_allclose(widths, ideal, rtol=0.15)


def test_there_is_no_interval_before_a_forecast_is_scored():
    model = Forecaster(horizon=4).learn(seasonal(60))
    values, bounds = model.forecast(intervals=True)
    assert np.isfinite(values).all() and np.isnan(bounds).all()
    bounds = model.learn(seasonal(200)[60:]).forecast(2, intervals=True)[1]
    assert bounds.shape == (2, 2) and (bounds[:, 0] < bounds[:, 1]).all()


def test_a_constant_series_has_intervals_of_width_0():
    for value in (7.0, 0.0, -1e9 / 3):
        model = Forecaster(horizon=3, budget=50).learn(np.full(300, value))
        values, bounds = model.forecast(intervals=True)
        np.testing.assert_allclose(bounds, value, rtol=1e-9)
        assert (bounds[:, 0] <= values).all() and (values <= bounds[:, 1]).all()
    model.learn(-1e9 / 3 + seasonal(200))
    assert np.isfinite(model.forecast(intervals=True)[1]).all()


def test_seasons_are_found():
    t = np.arange(2000)
    rng = np.random.default_rng(0)
    day, week = np.sin(2 * np.pi * t / 24), np.sin(2 * np.pi * t / 168)
    assert structure.find_seasons(day + 0.3 * rng.normal(size=2000)) == (24,)
    assert structure.find_seasons(day + week + 0.3 * rng.normal(size=2000)) == (24, 168)
    assert structure.find_seasons(rng.normal(size=2000)) == ()
    assert structure.find_seasons(np.ones(100)) == ()
    trend = structure.chosen(0.05 * t + day, None, None)
    assert trend.relative and trend.seasons == (24,)


def test_constants_and_short_series():
    assert (Forecaster(horizon=3).learn([7.0]).forecast() == 7.0).all()
    for n in (63, 64, 65, 130, 300):
        found = Forecaster(horizon=3).learn(np.full(n, 7.0)).forecast()
        np.testing.assert_allclose(found, 7.0, atol=1e-9)
    big = Forecaster(horizon=3).learn(1e12 + seasonal(200)).forecast()
    assert np.abs(big - 1e12 - 5.0).max() < 4.0


@pytest.mark.parametrize("horizon", [1, 33, 48, 100])
@pytest.mark.parametrize("parameters", [{}, {"lags": 100}, {"lags": 300}, {"seasons": 200}])
def test_there_is_a_forecast_after_any_number_of_rows(horizon, parameters):
    """Models of a long horizon, or of many lags, begin later than at 64 rows."""
    n = 2 * horizon + 200
    y = seasonal(n)
    model = Forecaster(horizon=horizon, budget=20, **parameters)
    for i in range(n):
        model.learn(y[i : i + 1])
        if i % 13 == 0 or i in (62, 63, 126, 127, 254, 255):
            values = model.forecast()
            assert np.isfinite(values).all()
            if not model.expert_names_ and not model.seasons_:
                assert (values == y[i]).all()
    late = loads(dumps(model))
    assert (late.forecast() == model.forecast()).all()


def test_a_long_horizon_can_be_tested_from_early_origins():
    y = seasonal(150)
    result = Forecaster(horizon=48, budget=20).backtest(y, start=70, every=10)
    assert (result.forecasts[0] == y[69]).all() and np.isfinite(result.forecasts).all()


def test_a_given_season_is_used_from_its_first_period_on():
    y = seasonal(60)
    for n in (11, 12, 40):
        model = Forecaster(horizon=15, seasons=12).learn(y[:n])
        assert model.seasons_ == ([12] if n >= 12 else [])
        expected = [y[n - 12 + h % 12] if n >= 12 else y[n - 1] for h in range(15)]
        assert model.forecast().tolist() == expected
    # Rows 3 and 30 are gaps, and row 27 is missing.
    keep = np.delete(np.arange(40), [3, 30])
    holes = np.where(np.arange(40) == 27, np.nan, y[:40])
    model = Forecaster(horizon=15, seasons=12).learn(holes[keep], times=keep.astype(float))
    expected = [y[28 + h % 12 - (12 if h % 12 == 2 else 0)] for h in range(15)]
    assert model.forecast().tolist() == expected


@pytest.mark.parametrize("season", [40, 100])
def test_a_given_season_is_not_lost_when_models_begin(season):
    """A season that is too long for the first models is used as soon as it can be."""
    y = seasonal(season + 100, season=season, noise=0.05)
    H = 12
    for n in (season + H + 17, season + H + 40, season + 80):
        model = Forecaster(horizon=H, seasons=season, budget=60).learn(y[:n])
        assert model.seasons_ == [season]
        assert np.abs(model.forecast() - y[n : n + H]).mean() < 0.3
        rows = cut(Forecaster(horizon=H, seasons=season, budget=60), y[:n], cuts=range(1, n, 3))
        assert dumps(rows) == dumps(model)
    if season < 64:
        model = Forecaster(horizon=H, seasons=season).learn(y[:65])
        assert model.forecast().tolist() == y[65 - season : 65 - season + H].tolist()


def test_backtest_prints_a_table():
    result = Forecaster(horizon=14).backtest(seasonal(300), start=200, every=10)
    text = str(result)
    assert text.splitlines()[0] == "10 origins"
    assert len(text.splitlines()) == 14 and "seasonal" in text
    assert result.forecasts.shape == result.targets.shape == (10, 14)
    assert np.isnan(result.targets[-1, -1])  # beyond the last row


@pytest.mark.parametrize("library", ["dict", "list", "pandas", "polars", "pyarrow"])
def test_backtest_takes_tables_of_all_libraries(library):
    """Rows are taken by position, whatever the index of a table is."""
    y, columns, times = full(200)
    columns = {name: columns[name] for name in ("holiday", "wind")}
    expected = made().backtest(y, columns, times, start=100, every=20)
    X, at = columns, times
    if library == "list":
        X, at = {name: column.tolist() for name, column in columns.items()}, times.tolist()
    elif library == "pandas":
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame(columns, index=pandas.DatetimeIndex(times))
        at = pandas.Series(times, index=np.arange(len(y), 0, -1))
    elif library == "polars":
        polars = pytest.importorskip("polars")
        X = polars.DataFrame(columns)
        at = polars.Series(times.astype("datetime64[ms]"))
    elif library == "pyarrow":
        pyarrow = pytest.importorskip("pyarrow")
        X = pyarrow.table(columns)
        at = pyarrow.array(times.astype("datetime64[s]"))
    found = made().backtest(y, X, at, start=100, every=20)
    np.testing.assert_array_equal(found.forecasts, expected.forecasts)
    np.testing.assert_array_equal(found.bounds, expected.bounds)


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [[1.0]]}, r"shape \(n,\)"),
        ({"y": [1.0, np.inf]}, "at row 1: too large"),
        ({"y": ["a"]}, "must hold numbers"),
        ({"y": [1.0], "X": {"a": [1.0, 2.0]}}, "1 rows as y, got 2"),
        ({"y": [1.0], "times": [1.0, 2.0]}, "times must have 1 values"),
        ({"y": [1.0, 2.0], "times": [2.0, 2.0]}, "row 1: the time is not later"),
        ({"y": [1.0, 2.0], "times": [2.0, np.nan]}, "row 1: the time is missing: give its time"),
        ({"y": [1.0], "times": [None]}, "row 0: the time is missing"),
        ({"y": [1.0, 2.0], "times": [2.0, np.inf]}, "row 1: the time inf is too large"),
        (
            {"y": [1.0, 2.0], "times": np.array([0, 50], "datetime64[ns]") + 10**18},
            "by less than a microsecond",
        ),
        ({"y": [1.0, 2.0], "times": ["a", "b"]}, "got text"),
    ],
)
def test_bad_rows_are_refused(arguments, message):
    model = Forecaster(horizon=3)
    with pytest.raises((ValueError, TypeError), match=message):
        model.learn(**arguments)
    assert not hasattr(model, "_learns_with")


def test_columns_cannot_be_added_later():
    model = Forecaster(horizon=3).learn([1.0, 2.0])
    before = dumps(model)
    with pytest.raises(ValueError, match="X has 'a', but the columns of the first rows are: none"):
        model.learn([3.0], {"a": [1.0]})
    assert dumps(model) == before


def test_refused_rows_change_nothing():
    y, X, times = full(200)
    model = made().learn(y[:150], rows(X, slice(0, 150)), times[:150])
    before = dumps(model)
    part = slice(150, 170)
    good = (y[part], rows(X, part), times[part])
    for bad, message in [
        ((np.full(20, np.inf), *good[1:]), "too large"),
        ((good[0], None, good[2]), "X is missing"),
        ((good[0], {"holiday": good[1]["holiday"]}, good[2]), "no such column"),
        ((good[0], {**good[1], "wind": ["a"] * 20}, good[2]), "wind"),
        ((good[0], {**good[1], "new": good[0]}, good[2]), "X has 'new', but the columns"),
        ((good[0], good[1], None), "times must be given for all rows or for none"),
        ((good[0], good[1], times[140:160]), "not later"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            model.learn(*bad)
        assert dumps(model) == before
    model.horizon = 7
    for call in (lambda: model.learn(*good), lambda: model.forecast(X_future=FUTURE)):
        with pytest.raises(ValueError, match="horizon was 6 when learning began"):
            call()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"horizon": 0}, "horizon must be >= 1"),
        ({"horizon": 1001}, "horizon must be <= 1000"),
        ({"lags": 0}, "lags must be >= 1"),
        ({"lags": []}, "lags must not be empty"),
        ({"seasons": [12.5]}, "seasons must be a whole number"),
        ({"strategy": "both"}, "unknown strategy 'both'"),
        ({"known": "push"}, "known must be a list"),
        ({"known": 5}, "known must be a list"),
        ({"known": [5]}, "known must be a list"),
        ({"horizon": "a"}, "horizon must be a whole number"),
        ({"known": ["push"]}, "not among the columns"),
        ({"coverage": 1.0}, "coverage must be"),
        ({"budget": 1}, "budget must be >= 8"),
        ({"estimator": object()}, "estimator must be a regressor of parsimon"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    model, X = Forecaster(**parameters), {"other": [1.0, 2.0]}
    for call in (model.learn, model.backtest):
        with pytest.raises((ValueError, TypeError), match=message):
            call([1.0, 2.0], X)


def test_a_changed_parameter_is_refused_with_what_can_be_done():
    model = Forecaster(horizon=2).learn(seasonal(100)).set_params(horizon=3)
    for call in (model.forecast, lambda: model.learn([1.0])):
        with pytest.raises(ValueError, match="set it back, or learn with a new Forecaster"):
            call()


def test_last_values_are_those_that_were_given():
    y = seasonal(30)
    y[20] = np.nan
    assert Forecaster().last_values(5)[0].shape == (0,)
    times = np.datetime64("2024-01-31", "D") + np.arange(30)
    model = Forecaster(horizon=2).learn(y, times=times)
    for more in (0, 60):
        whole = np.concatenate([y, seasonal(60)[:more]])
        every = np.datetime64("2024-01-31", "D") + np.arange(30 + more)
        model.learn(whole[30:], times=every[30:])
        found, values = model.last_values(15 + more)
        assert (found == every[15:]).all()
        np.testing.assert_array_equal(values, whole[15:])


def test_forecasts_that_cannot_be_made():
    with pytest.raises(ValueError, match="nothing has been learned"):
        Forecaster().forecast()
    with pytest.raises(ValueError, match="nothing has been learned"):
        Forecaster().future_times()
    model = Forecaster(horizon=3, known=["a"]).learn([1.0, 2.0], {"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="X_future is missing"):
        model.forecast()
    with pytest.raises(ValueError, match="must have 3 rows"):
        model.forecast(X_future={"a": [1.0]})
    with pytest.raises(ValueError, match="horizon must be <= 3"):
        model.forecast(4, X_future={"a": [1.0] * 3})
    with pytest.raises(ValueError, match="leaves no row"):
        model.backtest([1.0, 2.0], {"a": [1.0, 2.0]}, start=2)
    with pytest.raises(ValueError, match="X must have 3 rows as y, got 2 in 'a'"):
        model.backtest([1.0, 2.0, 3.0], {"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="times must have 3 values"):
        model.backtest([1.0, 2.0, 3.0], {"a": [1.0, 2.0, 3.0]}, [1.0, 2.0])
