"""Coverage and width of prediction intervals on streams, and what they cost.

    OPENBLAS_NUM_THREADS=1 python benchmarks/intervals.py --data-dir DIR [--peer-python PYTHON]

Each row is predicted before it is learned. Intervals are nominally for 90 %. "learned" intervals
are proportional to a learned scale of errors, "constant" ones are all equally wide. The oracle
knows the function and the noise of a made stream. With a Python that has CapyMOA (and Java), AdaPI
over SOKNL runs on the same rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arena_peers import missing
from common import HERE, Bar, markdown
from scipy.stats import norm
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from parsimon import ConformalRegressor, KRLSRegressor, MixtureRegressor

COVERAGE = 0.9
WINDOW = 1000
MODELS = {"default": MixtureRegressor(), "KRLS": KRLSRegressor()}
ROUNDS = 3


@dataclass(frozen=True)
class Stream:
    """Rows and targets; for made streams the deviation of the noise, and where a change is."""

    name: str
    X: np.ndarray
    y: np.ndarray
    noise: np.ndarray | None = None
    change: int | None = None

    def cut(self, rows):
        """Return the rows around the change, or the last rows."""
        if len(self.y) <= rows:
            return self
        first = len(self.y) - rows if self.change is None else self.change - rows // 2
        part = slice(first, first + rows)
        noise = None if self.noise is None else self.noise[part]
        change = None if self.change is None else rows // 2
        return Stream(self.name, self.X[part], self.y[part], noise, change)


def from_files(folder):
    with np.load(folder / "bike_sharing_hour.npz") as stored:
        yield Stream("bike", stored["X"].astype(float), stored["y"].astype(float))
    with np.load(folder / "electricity.npz") as stored:
        names = [str(name) for name in stored["feature_names"]]
        X, j = stored["X"].astype(float), names.index("nswprice")
        yield Stream("electricity price", np.delete(X, j, axis=1), X[:, j])
    with np.load(folder / "fried.npz") as stored:
        X, y = stored["X"].astype(float)[:20000], stored["y"].astype(float)[:20000]
        X[10000:] = np.roll(X[10000:], 5, axis=1)  # other columns matter from here on
        yield Stream("fried, drift", X, y, change=10000)


def made(n=20000):
    rng = np.random.default_rng(0)
    for name, deviation, change in (
        ("stationary", lambda X: np.full(len(X), 0.3), None),
        ("heteroscedastic", lambda X: np.where(X[:, 2] > 0, 1.0, 0.1), None),
        ("noise grows with |x|", lambda X: 0.05 + np.abs(X[:, 2]), None),
        ("noise triples", lambda X: np.where(np.arange(len(X)) < n // 2, 0.2, 0.6), n // 2),
    ):
        X = rng.normal(size=(n, 4))
        noise = deviation(X)
        y = np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n)
        yield Stream(name, X, y, noise, change)


def judged(stream, intervals):
    """Return coverage in all, of the worst windows, and the mean width from row 1000 on."""
    low, high = intervals.T
    covered = (low <= stream.y) & (stream.y <= high)
    starts = range(WINDOW, len(covered) - WINDOW + 1, WINDOW)
    off = {first: covered[first : first + WINDOW].mean() - COVERAGE for first in starts}
    at_change = None
    if stream.change is not None:
        at_change = off.pop(stream.change // WINDOW * WINDOW)
    worst = max(off.values(), key=abs)
    return covered.mean() - COVERAGE, worst, at_change, (high - low)[WINDOW:].mean()


def oracle_width(stream):
    return 2 * norm.ppf(0.5 + COVERAGE / 2) * stream.noise


def seconds(what, *given, **options):
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        what(*given, **options)
        taken.append(time.process_time() - start)
    return min(taken)


def _learned(model, X, y):
    clone(model).predict_then_learn(X, y)


def _learned_with_intervals(model, X, y):
    ConformalRegressor(model).predict_interval_then_learn(X, y)


def adapi(X, y, python):
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "stream.npz", Path(folder) / "result.npz"
        np.savez(source, X=X, y=y)
        program = str(HERE / "intervals_capymoa.py")
        subprocess.run([python, program, str(source), str(result)], check=True, text=True)
        with np.load(result) as stored:
            return stored["intervals"]


def points(value):
    return "" if value is None else f"{100 * value:+.2f}"


def row(stream, name, spread, intervals, bars):
    total, worst, at_change, width = judged(stream, intervals)
    half = slice(len(stream.y) // 2, None)
    share = ""
    if stream.noise is not None:
        ratio = np.diff(intervals[half], axis=1).mean() / oracle_width(stream)[half].mean()
        share = f"{ratio:.3f}"
        if stream.name == "stationary" and spread == "learned":
            bars.append(Bar(f"width / oracle, {name}", ratio, 1.05, at_least=False))
    if spread == "learned":
        what = f"{stream.name}, {name}"
        bars.append(Bar(f"coverage, {what}", 100 * abs(total), 1.0, False, " points"))
        bars.append(Bar(f"worst window, {what}", 100 * abs(worst), 4.0, False, " points"))
        if at_change is not None:
            what = f"window with the change, {what}"
            bars.append(Bar(what, 100 * abs(at_change), 8.0, False, " points"))
    found = [points(value) for value in (total, worst, at_change)]
    return [stream.name, name, spread, *found, f"{width:.4g}", share]


def coverage(streams, python, bars):
    rows = []
    for stream in streams:
        X = StandardScaler().fit_transform(stream.X)
        for name, model in MODELS.items():
            widths = {}
            for spread in ("learned", "constant"):
                conformal = ConformalRegressor(model, COVERAGE, spread=spread)
                found = conformal.predict_interval_then_learn(X, stream.y)
                rows.append(row(stream, name, spread, found, bars))
                widths[spread] = judged(stream, found)[3]
            if stream.name == "heteroscedastic":
                narrower = 100 * (1 - widths["learned"] / widths["constant"])
                bars.append(Bar(f"narrower than constant, {name}", narrower, 20.0, True, " %"))
        if python is not None:
            rows.append(row(stream, "SOKNL", "AdaPI", adapi(X, stream.y, python), bars))
        print(f"{stream.name}: done", file=sys.stderr, flush=True)
    head = ["stream", "model", "intervals", "coverage - 90", "worst window", "at the change"]
    return markdown([*head, "mean width", "width / oracle, last half"], rows)


def cost(streams, bars):
    rows = []
    for stream in streams:
        X, y = StandardScaler().fit_transform(stream.X)[:8000], stream.y[:8000]
        for name, model in MODELS.items():
            learn = seconds(_learned, model, X, y)
            ratio = seconds(_learned_with_intervals, model, X, y) / learn
            fitted = clone(model).partial_fit(X, y)
            std = seconds(fitted.predict, X, return_std=True) / learn
            bars.append(Bar(f"time with intervals, {stream.name}, {name}", ratio, 1.3, False))
            bars.append(Bar(f"return_std / learning, {stream.name}, {name}", std, 1.0, False))
            micro = 1e6 / len(y)
            rows.append([stream.name, name, f"{learn * micro:.1f}", f"{ratio:.2f}", f"{std:.2f}"])
    head = ["stream", "model", "us per row, learning", "with intervals, times", "return_std, times"]
    return markdown(head, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--peer-python", help="a Python that has CapyMOA")
    parser.add_argument("--rows", type=int, help="the last rows of longer streams only")
    given = parser.parse_args()
    python = given.peer_python
    if python is not None and (why := missing(python)) is not None:
        print(f"CapyMOA is left out: {why}", file=sys.stderr)
        python = None
    streams = [*(from_files(given.data_dir) if given.data_dir else ()), *made()]
    if given.rows is not None:
        streams = [stream.cut(given.rows) for stream in streams]
    bars: list[Bar] = []
    print(coverage(streams, python, bars))
    print()
    print(
        f"Best of {ROUNDS}, one thread (OPENBLAS_NUM_THREADS {os.getenv('OPENBLAS_NUM_THREADS')})"
    )
    print()
    print(cost(streams, bars))
    print()
    print(markdown(["bar", "bound", "seen", ""], [bar.row(judged=True) for bar in bars]))


if __name__ == "__main__":
    main()
