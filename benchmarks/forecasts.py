"""Are forecasts without any parameter better than simple and linear ones, at every step?

    OPENBLAS_NUM_THREADS=1 python benchmarks/forecasts.py --data-dir DIR

One pass over each series: `Forecaster` learns the rows in order, and forecasts all steps from many
origins. The same origins are forecast by the last value, the value one season before, SNARIMAX and
HoltWinters of River (if it is installed), and least squares over the same lags. The table has the
mean squared error over the variance of the targets (NMSE) for some steps. The bar: the forecaster
is better than the best of the others at every step where that one has an NMSE below 0.9. For the
laser, the series of the Santa Fe competition, there is one origin, row 1000, and the NMSE is that
of its 100 steps. The defaults of the forecaster were chosen while looking at these series and
origins, so the table is not a test on unseen series. River's models have a few settings that were
tried on the bikes, no more. Generated series are there to see more kinds; they have no bar.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from parsimon import Forecaster, datasets

LAGS = 16
RIDGE = 1e-6
#: Published NMSE of the Santa Fe competition, for the 100 steps after row 1000.
PUBLISHED = {"Wan 1994": 0.0273, "Sauer 1994": 0.077}


class Series(NamedTuple):
    y: Any
    horizon: int
    start: int
    every: int
    seasons: tuple[int, ...] = ()
    columns: Any = None
    known: tuple[str, ...] = ()
    times: Any = None
    bar: bool = True


def stored(folder: Path) -> dict[str, Series]:
    found = {
        "Mackey-Glass 30": Series(datasets.load_mackey_glass(folder), 50, 2000, 13),
        "Lorenz": Series(datasets.load_lorenz(folder)[:6000], 50, 2000, 17),
    }
    archive = np.load(folder / "bike_sharing_hour.npz", allow_pickle=False)
    table = dict(zip(archive["feature_names"].tolist(), archive["X"].T.astype(float), strict=True))
    # The hours since the first row. Gaps are shorter than a day.
    hours = np.cumsum(np.concatenate([[0.0], np.diff(table["hr"]) % 24]))
    times = np.datetime64("2011-01-01T00", "h") + hours.astype(np.int64)
    used = ("holiday", "workingday", "weathersit", "temp", "hum", "windspeed")
    found["bikes"] = Series(
        archive["y"].astype(np.float64),
        24,
        5000,
        13,
        (24, 168),
        {name: table[name] for name in used},
        ("holiday", "workingday"),
        times,
    )
    return found


def generated(n: int = 3000) -> dict[str, Series]:
    rng = np.random.default_rng(0)
    t = np.arange(n)
    noise = rng.normal(size=(3, n))
    ar = np.zeros(n)
    for i in range(2, n):
        ar[i] = 1.2 * ar[i - 1] - 0.5 * ar[i - 2] + noise[0, i]
    seasonal = 0.01 * t + 3 * np.sin(2 * np.pi * t / 24) + noise[2]
    return {
        "autoregressive": Series(ar, 24, 1000, 11, bar=False),
        "random walk": Series(np.cumsum(noise[1]), 24, 1000, 11, bar=False),
        "season and trend": Series(seasonal, 24, 1000, 11, (24,), bar=False),
    }


def on_grid(series: Series) -> tuple[Any, Any, Any]:
    """Return the number of each row on the grid of times, the filled values, and columns."""
    if series.times is None:
        return np.arange(len(series.y)), series.y, np.empty((len(series.y), 0))
    at = ((series.times - series.times[0]) / np.timedelta64(1, "h")).astype(int)
    rows = np.searchsorted(at, np.arange(at[-1] + 1), side="right") - 1
    hour = np.arange(at[-1] + 1)
    waves = [
        wave(2 * np.pi * k * hour / period)
        for period in (24, 168)
        for k in (1, 2)
        for wave in (np.sin, np.cos)
    ]
    columns = np.column_stack([c[rows] for c in series.columns.values()] + waves)
    return at, series.y[rows], columns


def linear(y: Any, Z: Any, origins: Any, H: int, seasons: tuple[int, ...]) -> Any:
    """Return least squares forecasts: all rows whose targets are known at an origin are learned."""
    seasonal = {lag for s in seasons for lag in range(max(s - H, 0) + 1, s + 1)}
    lags = sorted({*range(1, LAGS + 1), *seasonal})
    reach = max(lags)
    unit = y[:1000].std()
    X = np.column_stack(
        [(y[reach - lag : len(y) - lag] - y[:1000].mean()) / unit for lag in lags]
        + [Z[reach - 1 : -1], np.ones(len(y) - reach)]
    )
    out = np.empty((len(origins), H))
    A, B, done = RIDGE * np.eye(X.shape[1]), np.zeros((X.shape[1], H)), 0
    T = np.lib.stride_tricks.sliding_window_view(y[reach:], H)
    for i, origin in enumerate(origins):
        last = origin - reach - H + 1
        A, B = A + X[done:last].T @ X[done:last], B + X[done:last].T @ T[done:last]
        done = last
        out[i] = X[origin - reach] @ np.linalg.lstsq(A, B, rcond=None)[0]
    return out


def of_river(model: Any, y: Any, origins: Any, H: int) -> Any:
    out, done = np.full((len(origins), H), np.nan), 0
    for i, origin in enumerate(origins):
        for value in y[done:origin]:
            model.learn_one(float(value))
        done = origin
        out[i] = model.forecast(horizon=H)
    return out


def others(series: Series, y: Any, Z: Any, origins: Any) -> dict[str, Any]:
    """Return the forecasts of other models, (N, H) each. Origins are rows of the grid."""
    H = series.horizon
    found = {"last": np.repeat(y[origins - 1][:, np.newaxis], H, axis=1)}
    for season in series.seasons:
        back = season * (np.arange(H) // season + 1) - np.arange(H)
        found[f"season {season}"] = y[origins[:, np.newaxis] - back]
    found["linear"] = linear(y, Z, origins, H, series.seasons)
    if importlib.util.find_spec("river") is not None:
        from river import linear_model, optim, preprocessing, time_series

        # River's default step size diverges on some of these series.
        steps = linear_model.LinearRegression(optimizer=optim.SGD(0.001))
        season = next(iter(series.seasons), 0)
        models = {
            "SNARIMAX": time_series.SNARIMAX(
                p=LAGS,
                d=0,
                q=0,
                m=season or 1,
                sp=2 if season else 0,
                regressor=preprocessing.StandardScaler() | steps,
            ),
            "HoltWinters": time_series.HoltWinters(0.1, 0.01, *((0.3, season) if season else ())),
        }
        for name, model in models.items():
            with np.errstate(all="ignore"):
                found[name] = of_river(model, y, origins, H)
    return found


def nmse(forecasts: Any, targets: Any) -> Any:
    there = np.isfinite(targets)
    centred = np.where(there, targets, 0.0).sum(axis=0) / there.sum(axis=0)
    error = np.where(there, np.square(forecasts - targets), 0.0).sum(axis=0)
    return error / np.where(there, np.square(targets - centred), 0.0).sum(axis=0)


def run(name: str, series: Series) -> bool:
    began = time.process_time()
    model = Forecaster(horizon=series.horizon, known=series.known)
    result = model.backtest(
        series.y, series.columns, series.times, start=series.start, every=series.every
    )
    seconds = time.process_time() - began
    at, y, Z = on_grid(series)
    whole = result.origins < np.searchsorted(at, at[-1] - series.horizon)
    targets = result.targets[whole]
    origins = at[result.origins[whole] - 1] + 1
    errors = {"Forecaster": nmse(result.forecasts[whole], targets)}
    for other, forecasts in others(series, y, Z, origins).items():
        errors[other] = nmse(forecasts, targets)
    best = np.min([np.nan_to_num(e, nan=np.inf) for k, e in errors.items() if k != "Forecaster"], 0)
    counts = best < 0.9
    won = errors["Forecaster"] < best
    steps = np.unique(np.linspace(1, series.horizon, 9).astype(int))
    print(f"\n### {name}: {whole.sum()} origins, {seconds:.0f} s\n")
    print("| step | " + " | ".join(map(str, steps)) + " |")
    print("| --- |" + " ---: |" * len(steps))
    for other, error in errors.items():
        print(f"| {other} | " + " | ".join(f"{error[s - 1]:.2g}" for s in steps) + " |")
    print(
        f"\nBetter than the best other at {int((won & counts).sum())} of {int(counts.sum())} steps "
        f"where that one is below 0.9; at {int(won.sum())} of {len(won)} in all. "
        f"Covered (90 %): {np.nanmean(result.covered):.3f}."
    )
    if (lost := np.flatnonzero(counts & ~won) + 1).size:
        print(f"Not better at steps {lost.tolist()}.")
    return bool((won | ~counts).all())


def laser(folder: Path) -> bool:
    y = datasets.load_laser(folder)
    began = time.process_time()
    model = Forecaster(horizon=100).learn(y[:1000])
    truth = y[1000:1100]

    def error(forecast: Any) -> float:
        return float(np.square(forecast - truth).mean() / truth.var())

    found = {"Forecaster": error(model.forecast())}
    seconds = time.process_time() - began
    series = Series(y, 100, 1000, 1, (8,))
    for name, forecast in others(series, y, np.empty((len(y), 0)), np.array([1000])).items():
        found[name] = error(forecast[0])
    print(f"\n### Laser: the 100 steps after row 1000, {seconds:.0f} s\n")
    print("| model | NMSE |\n| --- | ---: |")
    for name, value in {**found, **PUBLISHED}.items():
        print(f"| {name} | {value:.3g} |")
    return found["Forecaster"] < min(v for k, v in found.items() if k != "Forecaster")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="the folder with the series as archives")
    parser.add_argument("--only", nargs="*", help="names of series, or laser")
    arguments = parser.parse_args()
    every = generated()
    if arguments.data_dir is not None:
        every |= stored(arguments.data_dir)
    bars = {}
    for name, series in every.items():
        if not arguments.only or name in arguments.only:
            held = run(name, series)
            if series.bar:
                bars[name] = held
    if arguments.data_dir is not None and (not arguments.only or "laser" in arguments.only):
        bars["laser"] = laser(arguments.data_dir)
    print("\n### Bars\n")
    for name, held in bars.items():
        print(f"- {name}: {'held' if held else 'NOT held'}")


if __name__ == "__main__":
    main()
