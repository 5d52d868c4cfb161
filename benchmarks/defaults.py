"""How good are the estimators without any parameter?

Every estimator learns every data set with its defaults, beside SVC() and SVR():

    OPENBLAS_NUM_THREADS=1 python benchmarks/defaults.py --data-dir DIR

Scores are means over three fixed folds: accuracy for classes, R2 for numbers. In each fold X is
standardised on the training rows. Each regression set is learned with targets standardised on the
training rows, and with raw targets. Estimators with a `random_state` run with several seeds. Their
score is the mean over the seeds, and "sd" is the standard deviation over the seeds. Seconds are
processor time of `fit` and `predict` for one fold. "its s" are those of SVC() or SVR().

Without `--data-dir`, only the sets that come with scikit-learn or are generated are used.
"""

from __future__ import annotations

import argparse
import os

# Before NumPy is loaded
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import sys
from dataclasses import dataclass

import numpy as np
from common import cpu_seconds, markdown
from defaults_bars import bars
from defaults_sets import NAMES, DataSet, load
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import parsimon

CLASSIFIERS = ("POLKClassifier", "SOGSVC", "BSGDClassifier")
REGRESSORS = (
    "KRLSRegressor",
    "SOGSVR",
    "KNLMSRegressor",
    "KLMSRegressor",
    "KAPRegressor",
    "NORMARegressor",
    "SPLRegressor",
    "POLKRegressor",
)
#: Name: a function without arguments that returns an estimator.
ESTIMATORS = {name: getattr(parsimon, name) for name in (*CLASSIFIERS, *REGRESSORS)}
PEERS = {True: SVC, False: SVR}


@dataclass(frozen=True)
class Run:
    """Result of one estimator on one data set. `peer` is the result of SVC() or SVR()."""

    data: DataSet
    raw: bool
    score: float
    spread: float  # standard deviation over the seeds
    centres: float
    seconds: float
    peer: Run | None = None

    @property
    def label(self):
        return f"{self.data.name}, raw y" if self.raw else self.data.name


def folds(data, raw):
    """Return training and test parts (X, y, X_test, y_test) of the three folds."""
    splitter = StratifiedKFold if data.classes else KFold
    split = splitter(3, shuffle=True, random_state=0).split(data.X, data.y)
    return [fold(data, train, test, raw) for train, test in split]


def fold(data, train, test, raw):
    scaler = StandardScaler().fit(data.X[train])
    y = data.y
    if not (data.classes or raw):
        y = (y - y[train].mean()) / y[train].std()
    return scaler.transform(data.X[train]), y[train], scaler.transform(data.X[test]), y[test]


def measure(make, data, raw, parts, n_seeds, peer=None):
    """Run an estimator over all folds and seeds."""
    seeds = range(n_seeds) if "random_state" in make().get_params() and peer else [None]
    runs = np.array(
        [[run_once(make, part, data.classes, seed) for part in parts] for seed in seeds]
    )
    score, centres, seconds = runs.mean(axis=(0, 1))
    return Run(data, raw, score, runs[:, :, 0].mean(axis=1).std(), centres, seconds, peer)


def run_once(make, part, classes, seed):
    """Return the score, the number of centres and the seconds for one fold."""
    X, y, X_test, y_test = part
    model = make() if seed is None else make().set_params(random_state=seed)
    predicted = []
    seconds = cpu_seconds(lambda: predicted.append(model.fit(X, y).predict(X_test)))
    score = (accuracy_score if classes else r2_score)(y_test, predicted[0])
    centres = model.n_centers_ if hasattr(model, "n_centers_") else len(model.support_)
    return score, centres, seconds


def over(data, estimators, n_seeds):
    """Yield (name, run) for the estimators that suit a data set."""
    for raw in (False,) if data.classes else (False, True):
        parts = folds(data, raw)
        peer = measure(PEERS[data.classes], data, raw, parts, 1)
        for name, make in estimators.items():
            if (name in CLASSIFIERS) == data.classes:
                yield name, measure(make, data, raw, parts, n_seeds, peer)


def row(name, run):
    return [
        name,
        run.label,
        f"{run.score:.4f}",
        f"{run.spread:.4f}" if run.spread > 0 else "",
        f"{run.peer.score:.4f}",
        f"{run.score - run.peer.score:+.4f}",
        f"{run.centres:.0f}",
        f"{run.seconds:.3f}",
        f"{run.peer.seconds:.3f}",
    ]


def tables(runs):
    """Return the table of scores and the table of bars, from runs {name: [run]}."""
    header = ["estimator", "set", "score", "sd", "SVC/SVR", "difference", "centres", "s", "its s"]
    rows = [row(name, run) for name, found in runs.items() for run in found]
    judged = [bar.row(judged=True) for name, found in runs.items() for bar in bars(name, found)]
    return markdown(header, rows), markdown(["bar", "bound", "seen", ""], judged)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", help="folder with the .npz files")
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default 5)")
    given = parser.parse_args(arguments)
    estimators = {name: ESTIMATORS[name] for name in given.estimators}
    runs = {}
    for name in given.sets:
        data = load(name, given.data_dir)
        print(f"  {name}{'' if data else ': needs --data-dir'} ...", file=sys.stderr, flush=True)
        for estimator, run in over(data, estimators, given.seeds) if data else ():
            runs.setdefault(estimator, []).append(run)
    print(*tables({name: runs[name] for name in estimators if name in runs}), sep="\n\n")


if __name__ == "__main__":
    main()
