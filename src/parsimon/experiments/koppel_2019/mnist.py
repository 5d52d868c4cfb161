"""MNIST in one pass with batches of 32: POLK, BSGD, LIBSVM and a Nystroem map.

BSGD has the same number of centres as POLK. LIBSVM is scikit-learn's SVC, and the Nystroem map is
followed by a linear SVM. All run on one thread.

The paper prints no settings except a bandwidth near 4. The settings here were chosen on the last
sixth of the training data. In the two hinge rows of MNIST, POLK starts with a larger budget than at
the end. The budget is reduced during learning (`set_budget`). After that, predictions use the mean
of f over the steps (`average`). USPS and banana compare POLK with BSGD again, with their own
settings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from parsimon import POLKClassifier, plots, published
from parsimon.datasets import Split, load_banana, load_mnist, load_usps
from parsimon.experiments.koppel_2019.common import (
    HEADER,
    TASKS,
    bsgd_row,
    first,
    row,
    stream_row,
    trace,
)
from parsimon.experiments.report import Report, progress
from parsimon.updates import Schedule

ALPHA = 1e-6
#: name: (data set, parameters of POLK, its initial budget)
SETTINGS: dict[str, tuple[str, dict[str, Any], int | None]] = {
    "2100": (
        "MNIST",
        dict(gamma=0.03, step_size=60.0, parsimony=1e-4, budget=2100),
        4000,
    ),
    "200": ("MNIST", dict(gamma=0.02, step_size=24.0, parsimony=1e-3, budget=200), 1500),
    "logistic": (
        "MNIST",
        dict(
            loss="logistic",
            gamma=0.02,
            step_size=100.0,
            schedule=Schedule(0.75, 100),
            parsimony=1e-4,
            budget=450,
        ),
        None,
    ),
    "USPS": (
        "USPS",
        dict(gamma=0.04, step_size=30.0, schedule=Schedule(0.75, 50), parsimony=1e-4, budget=800),
        None,
    ),
    "banana": (
        "banana",
        dict(
            gamma=1.0,
            step_size=3.0,
            schedule=Schedule(0.75, 50),
            parsimony=1e-3,
            budget=20,
            batch_size=8,
        ),
        None,
    ),
}


def shuffled(data: Split, seed: int) -> Split:
    """Return the training data in another order."""
    order = np.random.default_rng(seed).permutation(len(data.X_train))
    return Split(data.X_train[order], data.y_train[order], data.X_test, data.y_test)


def run(output: Path, *, quick: bool = False, data_dir: Path | None = None) -> Report:
    """Run every method, and draw the curves."""
    sets = {
        "MNIST": load_mnist(data_dir),
        "USPS": load_usps(data_dir),
        "banana": load_banana(data_dir),
    }
    if quick:
        sets = {name: first(data, 1600) for name, data in sets.items()}
    rows, curves, errors, orders = [], {}, {}, []
    for name, (source, options, begin_with) in progress(list(SETTINGS.items()), "POLK and BSGD"):
        data, loss = sets[source], options.get("loss", "hinge")
        if quick:
            options, begin_with = {**options, "budget": 60}, begin_with and 120
        model = published(
            POLKClassifier, **{"shuffle": False, "batch_size": 32, "alpha": ALPHA, **options}
        )
        title = "POLK" if begin_with is None else f"POLK, from {begin_with}"
        cells, errors[name], _ = stream_row(
            loss, title, clone(model), data, ALPHA, begin_with=begin_with
        )
        rows.append([source, *cells])
        if source == "MNIST":
            small = Split(data.X_train, data.y_train, data.X_test[:2000], data.y_test[:2000])
            label = f"POLK, {loss}, at most {options['budget']}"
            curves[label] = trace(
                clone(model), small, loss=loss, alpha=ALPHA, points=12, begin_with=begin_with
            )
        if loss == "hinge":
            theirs, errors[f"BSGD {name}"], rival = bsgd_row(
                data,
                gamma=options["gamma"],
                alpha=ALPHA,
                budget=options["budget"],
                steps=(0.1, 0.3, 1.0, 3.0),
                choose_on=12000,
            )
            rows.append([source, *theirs])
            if name == "2100":
                for seed in range(1 if quick else 3):
                    other = shuffled(data, seed)
                    ours = stream_row(
                        loss, "POLK", clone(model), other, ALPHA, begin_with=begin_with
                    )[1]
                    orders.append((ours, stream_row(loss, "BSGD", clone(rival), other, ALPHA)[1]))
    data = sets["MNIST"]
    map_ = Nystroem(gamma=0.03, n_components=min(2000, len(data.X_train) // 4), random_state=0)
    linear = SGDClassifier(max_iter=1, tol=None, alpha=1e-6, random_state=0)
    peers: list[tuple[str, Any, Any]] = [
        ("Nystroem + SGDClassifier", make_pipeline(map_, linear), lambda m: m[0].n_components),
        ("LIBSVM (SVC)", SVC(gamma=0.03, C=10, cache_size=1000), lambda m: len(m.support_)),
    ]
    for title, peer, order in progress(peers, "peers"):
        cells, errors[title], _ = row(
            TASKS["hinge"], title, peer, data, objective=None, order=order
        )
        rows.append(["MNIST", *cells])
    met = [n for n in SETTINGS if f"BSGD {n}" in errors]
    lower = [n for n in met if errors[n] < errors[f"BSGD {n}"]]
    notes = [
        "POLK's error is lower than that of BSGD with merging and the same number of centres for: "
        f"{', '.join(lower) or 'none'}; not for: "
        f"{', '.join(n for n in met if n not in lower) or 'none'}. BSGD's merged centres lie "
        "between samples, which matters if there are few. POLK's centres are samples.",
        f"Mean error over {len(orders)} shuffled orders of MNIST with at most "
        f"{SETTINGS['2100'][1]['budget']} centres: POLK {np.mean([o for o, _ in orders]):.2%}, "
        f"BSGD {np.mean([t for _, t in orders]):.2%}.",
        "Objectives are on the test data, lambda = 1e-6. "
        "Curves are for the first 2000 test images.",
    ]
    picture = plots.learning_curves(output / "curves.png", {k: vars(c) for k, c in curves.items()})
    return Report(
        "Koppel et al. 2019: MNIST", ["data", *HEADER], rows, notes=notes, pictures=[picture]
    )
