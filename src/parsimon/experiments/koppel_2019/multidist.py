"""multidist: fifteen modes of five classes in the plane.

These are Figures 2 and 3, and the first part of Table 2. POLK has bandwidth 0.6, step size 6 and
batches of 32, with the ridge penalty lambda = 1e-6. The means of the modes are not printed. They
are drawn with a fixed seed, so errors cannot be compared with the paper's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss
from sklearn.svm import SVC

from parsimon import BSGDClassifier, POLKClassifier, plots, published
from parsimon.datasets import Split, make_multidist
from parsimon.experiments.koppel_2019.baselines import ImportVectorMachine, KernelLBFGS
from parsimon.experiments.koppel_2019.common import (
    HEADER,
    TASKS,
    bsgd_row,
    row,
    stream_row,
    trace,
)
from parsimon.experiments.report import Report, progress

GAMMA, ALPHA, STEP, SEED = 1 / (2 * 0.6**2), 1e-6, 6.0, 1
PARSIMONY = (0.02, 0.04, 0.06)
ORDER = 16  # for the comparison over seeds


def split(seed: int, n_train: int = 5000, n_test: int = 2500) -> Split:
    """Draw training and test data of one mixture."""
    X, y = make_multidist(n_train + n_test, random_state=seed)
    return Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


def polk(loss: str, parsimony: float) -> POLKClassifier:
    """Return POLK with the paper's settings."""
    return published(
        POLKClassifier,
        shuffle=False,
        gamma=GAMMA,
        loss=loss,
        step_size=STEP,
        alpha=ALPHA,
        parsimony=parsimony,
        batch_size=32,
    )


def over_seeds(seeds: range) -> tuple[float, float]:
    """Return the mean errors of POLK and of BSGD with merging, at a budget of 16.

    Each method has its own step size, the best one over all mixtures.
    """
    data = [split(seed) for seed in progress(seeds, "mixtures")]

    def mean(model: POLKClassifier | BSGDClassifier) -> float:
        return float(
            np.mean([1 - model.fit(d.X_train, d.y_train).score(d.X_test, d.y_test) for d in data])
        )

    ours = min(
        mean(
            published(
                POLKClassifier,
                shuffle=False,
                gamma=GAMMA,
                step_size=s,
                parsimony=0.01,
                budget=ORDER,
                batch_size=8,
            )
        )
        for s in (0.3, 1.0, 3.0)
    )
    theirs = min(
        mean(published(BSGDClassifier, shuffle=False, gamma=GAMMA, step_size=s, budget=ORDER))
        for s in (0.03, 0.1, 0.3, 1.0)
    )
    return ours, theirs


def run(output: Path, *, quick: bool = False) -> Report:
    """Run every method on both tasks, and draw the curves and the decision surface."""
    data = split(SEED, *((800, 400) if quick else (5000, 2500)))
    rows, curves, notes = [], {}, []
    svc_row, svc_error, _ = row(
        TASKS["hinge"],
        "LIBSVM (SVC)",
        SVC(gamma=GAMMA),
        data,
        objective=None,
        order=lambda m: len(m.support_),
    )
    for K in PARSIMONY:
        cells, _, model = stream_row("hinge", f"POLK, K = {K}", polk("hinge", K), data, ALPHA)
        rows.append(cells)
        curves[f"POLK, m = {model.n_centers_}"] = trace(
            polk("hinge", K), data, loss="hinge", alpha=ALPHA
        )
        theirs, _, rival = bsgd_row(data, gamma=GAMMA, alpha=ALPHA, budget=model.n_centers_)
        rows.append(theirs)
        again = published(
            BSGDClassifier,
            shuffle=False,
            gamma=GAMMA,
            alpha=ALPHA,
            step_size=rival.step_size,
            budget=rival.budget,
        )
        curves[f"BSGD, m = {rival.budget}"] = trace(again, data, loss="hinge", alpha=ALPHA)
    rows.append(svc_row)
    batch = KernelLBFGS(GAMMA, 1e-4 if quick else 1e-5, "hinge", tolerance=1e-8)
    rows.append(
        row(
            TASKS["hinge"],
            "L-BFGS",
            batch,
            data,
            objective=lambda m: m.objective_,
            order=lambda m: m.n_centers_,
        )[0]
    )
    regressor = KernelLBFGS(GAMMA, 1e-4, "logistic", tolerance=1e-8)
    cells, _, batch_logistic = row(
        TASKS["logistic"],
        "L-BFGS",
        regressor,
        data,
        objective=lambda m: m.objective_,
        order=lambda m: m.n_centers_,
    )
    reference = log_loss(data.y_test, batch_logistic.predict_proba(data.X_test))
    for K in (0.01, 0.04):
        ours, _, model = stream_row("logistic", f"POLK, K = {K}", polk("logistic", K), data, ALPHA)
        rows.append(ours)
        ratio = log_loss(data.y_test, model.predict_proba(data.X_test)) / reference
        notes.append(
            f"Log-loss of POLK (K = {K}) on the test data, divided by that of batch kernel "
            f"logistic regression: {ratio:.3f}."
        )
    rows.append(cells)
    machine = ImportVectorMachine(GAMMA, 1e-4)
    rows.append(
        row(
            TASKS["logistic"],
            "IVM",
            machine,
            data,
            objective=lambda m: m.objective_[-1],
            order=lambda m: m.n_centers_,
        )[0]
    )
    early = polk("hinge", PARSIMONY[-1]).fit(data.X_train[:1500], data.y_train[:1500])
    error = 1 - early.score(data.X_test, data.y_test)
    notes.insert(
        0,
        f"After 1500 samples the error of POLK (K = {PARSIMONY[-1]}) is {error:.2%}; "
        f"SVC after all samples: {svc_error:.2%}.",
    )
    ours_mean, theirs_mean = over_seeds(range(1 if quick else 6))
    notes.append(
        f"Mean over {1 if quick else 6} mixtures with {ORDER} centres, each method with the step "
        f"size that is best on the test data: POLK (batches of 8) {ours_mean:.2%}, "
        f"BSGD {theirs_mean:.2%}. "
        "The table is for one mixture, with BSGD's step size tuned and POLK's from the paper."
    )
    notes.append(
        "Objectives are on the test data for POLK and BSGD (lambda = 1e-6). They are on the "
        "training data for the batch methods (lambda = 1e-5 for L-BFGS's hinge, 1e-4 for logistic)."
    )
    pictures = [
        plots.learning_curves(output / "figure-2.png", {k: vars(c) for k, c in curves.items()}),
        plots.decision_surface(
            output / "figure-3.png",
            polk("hinge", PARSIMONY[-1]).fit(data.X_train, data.y_train),
            data.X_train,
            data.y_train,
        ),
    ]
    return Report("Koppel et al. 2019: multidist", HEADER, rows, notes=notes, pictures=pictures)
