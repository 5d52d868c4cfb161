"""Draw the picture of README.md: ``make picture`` writes docs/images/front.png.

Left: POLK on five classes in the plane, with the centres that it keeps, beside SVC. Right: the
default model on hourly bicycle rentals, beside a linear model and an adaptive random forest of
River. Each hour is predicted before it is learned. River's models get the columns as numbers, with
the hour, the weekday and the month, and the last three targets, which the default model also uses.
Their predictions are clipped to the range of earlier targets, as those of the default model are.
"""

import argparse
from collections import deque
from datetime import datetime
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow.compute as pc
from matplotlib.colors import ListedColormap
from pyarrow import csv
from river import forest, linear_model, preprocessing
from sklearn.svm import SVC

from parsimon import POLKClassifier, TableModel
from parsimon.datasets import bikes_path, make_multidist
from parsimon.plots.streams import moving_average

ROOT = Path(__file__).resolve().parents[1]
WINDOW = 500
#: Okabe and Ito's colours, which people with colour blindness can tell apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"]


def draw_classes(axis):
    """Draw samples, decision regions and centres."""
    X, y = make_multidist(5_000, random_state=0)
    model = POLKClassifier(gamma=1.4, step_size=6.0, parsimony=0.01, batch_size=32, average=False)
    for rows in np.array_split(np.arange(4_000), 40):
        model.partial_fit(X[rows], y[rows])
    svc = SVC(gamma=1.4, C=10.0).fit(X[:4_000], y[:4_000])
    ours, theirs = (estimator.score(X[4_000:], y[4_000:]) for estimator in (model, svc))
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.meshgrid(*(np.linspace(a, b, 400) for a, b in zip(low, high, strict=True)))
    regions = model.predict(np.column_stack([g.ravel() for g in grid])).reshape(400, 400)
    axis.imshow(
        regions,
        origin="lower",
        extent=(low[0], high[0], low[1], high[1]),
        cmap=ListedColormap(COLOURS),
        alpha=0.35,
        aspect="auto",
        interpolation="nearest",
    )
    axis.scatter(*X.T, s=1.5, c=[COLOURS[c] for c in y], linewidths=0)
    axis.scatter(*model.centers_.T, s=34, c="white", edgecolors="black", linewidths=1.2)
    kept = len(svc.support_)
    axis.set_title(
        f"4,000 samples learned as a stream, {model.n_centers_} centres kept", loc="left"
    )
    axis.set_xlabel(
        f"accuracy on 1,000 further samples: {ours:.1%}, SVC with {kept:,} centres: {theirs:.1%}"
    )
    axis.set_xticks([])
    axis.set_yticks([])
    print(f"POLK: {model.n_centers_} centres, {ours:.3f}; SVC: {kept}, {theirs:.3f}")


def river_errors(model, table):
    """Return the errors of a River model that predicts each row before it learns it."""
    errors, lags = [], deque([0.0] * 3, maxlen=3)
    low = high = 0.0
    for row in table.to_pylist():
        target, time = float(row.pop("bikers")), row.pop("time")
        assert isinstance(time, datetime)
        row["weather " + row.pop("weather")] = 1.0
        x = {name: float(value) for name, value in row.items()}
        x |= {"hour": time.hour, "weekday": time.weekday(), "month": time.month}
        x |= {f"lag {i}": value for i, value in enumerate(lags)}
        errors.append(target - min(max(model.predict_one(x), low), high))
        model.learn_one(x, target)
        lags.appendleft(target)
        low, high = min(low, target), max(high, target)
    return np.array(errors)


def draw_stream(axis):
    """Draw the error of three models over a stream."""
    table = csv.read_csv(bikes_path())
    y = table["bikers"].to_numpy().astype(float)
    ours = np.asarray(TableModel("bikers").learn(table), dtype=float)
    models = {
        "linear model (River)": preprocessing.StandardScaler() | linear_model.LinearRegression(),
        "adaptive random forest (River)": forest.ARFRegressor(seed=0),
    }
    errors = {name: river_errors(model, table) for name, model in models.items()}
    errors["parsimon, without parameters"] = y - ours
    variance = pc.variance(table["bikers"]).as_py()
    for (name, error), colour in zip(errors.items(), ["0.6", "#E69F00", "#0072B2"], strict=True):
        squared = np.nan_to_num(error) ** 2 / variance
        mean = moving_average(squared, WINDOW)
        axis.plot(np.arange(WINDOW, len(y) + 1), mean, color=colour, label=name)
        print(f"{name}: {squared.mean():.4f} times the variance")
    axis.set_title("bicycle rentals, hour by hour: squared error / variance", loc="left")
    axis.set_xlabel(f"hours learned (mean of the last {WINDOW} hours)")
    axis.set_ylim(0, 1)
    axis.set_xlim(0, len(y))
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)


def main():
    """Draw both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images" / "front.png")
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    draw_classes(axes[0])
    draw_stream(axes[1])
    figure.savefig(parser.parse_args().output, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
