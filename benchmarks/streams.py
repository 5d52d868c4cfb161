"""Real streams, test-then-learn, with nothing chosen but the target: the default of
`parsimon.tables.TableModel` beside streaming models of scikit-learn and River, and doing nothing.

Every model sees the same rows in the same order, one at a time: it predicts a row and then learns
it. scikit-learn and River are given the encoded rows (numbers standardised, as ours has them) and,
for regression, targets scaled as ours, scaled back to be scored. Ours includes its warm-up. Run
with one thread:

    OPENBLAS_NUM_THREADS=1 python benchmarks/streams.py --data-dir DIR

DIR holds electricity.npz, cod_rna.npz, covtype_20k.npz, kin40k.npz and bike_sharing_hour.npz
(arrays X and y; X_train and y_train for cod_rna). `--rows` bounds all of them, `--peer-rows` those
of scikit-learn and River, which take up to milliseconds a row; if they are fewer, ours is printed
for them too.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from common import markdown, processor
from sklearn.linear_model import SGDClassifier, SGDRegressor

from parsimon.evaluation import METRICS, predict_then_learn
from parsimon.preprocessing import TableEncoder, TargetScaler
from parsimon.tables import TableModel

STREAMS = {
    "electricity": "classification",
    "cod_rna": "classification",
    "covtype_20k": "classification",
    "kin40k": "regression",
    "bike_sharing_hour": "regression",
}
BLOCK = 1000


def read(folder, name, rows):
    with np.load(Path(folder) / f"{name}.npz") as stored:
        if name == "cod_rna":  # sorted by class
            X, y = stored["X_train"], stored["y_train"]
            order = np.random.default_rng(0).permutation(len(X))
            X, y = X[order], y[order]
        else:
            X, y = stored["X"], stored["y"]
    return X[:rows].astype(np.float64), y[:rows]


def ours(X, y, task):
    """The command line's way: a table, and the name of the target."""
    model, seconds = TableModel("y", task=task), 0.0
    for first in range(0, len(y), BLOCK):
        rows = slice(first, first + BLOCK)
        block = {**{f"x{i}": column for i, column in enumerate(X[rows].T)}, "y": y[rows]}
        start = time.perf_counter()
        model.learn(block)
        seconds += time.perf_counter() - start
    return model.finish().metrics_.total(), seconds


def nothing(y, task):
    """What is predicted without looking at X: the running mean, or the most frequent label so far;
    and the last target.
    """
    if task == "regression":
        middle = np.concatenate([[0.0], np.cumsum(y[:-1], dtype=np.float64) / np.arange(1, len(y))])
    else:
        labels, index = np.unique(y, return_inverse=True)
        counts = np.cumsum(np.eye(len(labels))[index], axis=0)
        middle = labels[np.concatenate([[0], counts[:-1].argmax(axis=1)])]
    last = np.concatenate([y[:1], y[:-1]])
    return {"mean" if task == "regression" else "majority": middle, "no change": last}


def peer(model, X, y, task):
    """One row at a time, on the encoded rows."""
    encoded = TableEncoder().learn_transform({f"x{i}": column for i, column in enumerate(X.T)})
    start = time.perf_counter()
    if task == "classification":
        found = predict_then_learn(model, encoded, y, np.unique(y)).values
    else:
        scaled, back = TargetScaler().learn_transform(y)
        found = back(predict_then_learn(model, encoded, scaled).values)
    return METRICS[task]().update(y, found).total(), time.perf_counter() - start


def linear(task):
    return (
        SGDClassifier(loss="log_loss", random_state=0)
        if task == "classification"
        else SGDRegressor(random_state=0)
    )


def river_models(task):
    try:
        from river import forest, tree
    except ImportError:
        return {}
    if task == "classification":
        return {
            "River ARFClassifier": forest.ARFClassifier(seed=0),
            "River HoeffdingAdaptiveTreeClassifier": tree.HoeffdingAdaptiveTreeClassifier(seed=0),
        }
    return {
        "River ARFRegressor": forest.ARFRegressor(seed=0),
        "River HoeffdingAdaptiveTreeRegressor": tree.HoeffdingAdaptiveTreeRegressor(seed=0),
    }


def line(name, label, task, total, seconds, n):
    score = (
        f"{total['accuracy']:.4f}" if task == "classification" else f"{total['relative_mse']:.4f}"
    )
    extra = f"{total['kappa_no_change']:.3f}" if task == "classification" else f"{total['r2']:.3f}"
    return [
        name,
        label,
        str(n),
        score,
        extra,
        "" if seconds is None else f"{1e6 * seconds / n:.0f}",
    ]


def compare(folder, name, rows, peer_rows):
    """Yield the lines of one stream."""
    task = STREAMS[name]
    X, y = read(folder, name, rows)
    n = len(y)
    yield line(name, "parsimon", task, *ours(X, y, task), n)
    for label, found in nothing(y, task).items():
        yield line(name, label, task, METRICS[task]().update(y, found).total(), None, n)
    if not peer_rows:
        return
    X, y = X[:peer_rows], y[:peer_rows]
    if len(y) < n:
        yield line(name, "parsimon", task, *ours(X, y, task), len(y))
    for label, model in {
        f"scikit-learn {type(linear(task)).__name__}": linear(task),
        **river_models(task),
    }.items():
        yield line(name, label, task, *peer(model, X, y, task), len(y))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--streams", nargs="*", default=list(STREAMS), choices=list(STREAMS))
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument(
        "--peer-rows",
        type=int,
        default=10000,
        help="rows for scikit-learn and River; 0: without them",
    )
    options = parser.parse_args()
    print(
        f"{processor()}, one thread. Score: accuracy (larger is better), or squared error over the "
        "variance of the target (smaller is better).\n"
    )
    header = ["stream", "model", "rows", "score", "kappa to no change, or R2", "us per row"]
    print(markdown(header, []), flush=True)
    for name in options.streams:
        for row in compare(options.data_dir, name, options.rows, options.peer_rows):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
