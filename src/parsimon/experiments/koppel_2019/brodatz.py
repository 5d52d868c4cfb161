"""Brodatz textures: 13 images, histograms of 256 textons in patches of 24 x 24 pixels.

These are Table 3 and Figure 5, in one pass with batches of 32. All settings, including those of
SVC, were chosen on a validation part of the training data. The paper draws overlapping patches at
random, so test patches share pixels with training patches. In the rows marked "disjoint", training
and test patches come from different parts of the images.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.svm import SVC

from parsimon import POLKClassifier, plots, published
from parsimon.datasets import Split, load_brodatz
from parsimon.experiments.koppel_2019.common import (
    HEADER,
    TASKS,
    Curve,
    bsgd_row,
    row,
    stream_row,
    trace,
)
from parsimon.experiments.koppel_2019.textons import texton_histograms
from parsimon.experiments.report import Report, progress

ALPHA, GAMMA = 1e-6, 4.0
SVC_SETTINGS = dict(gamma=2.0, C=10.0)
SETTINGS: dict[str, dict[str, Any]] = {
    "hinge": dict(step_size=48.0, parsimony=0.008, budget=900),
    "logistic": dict(step_size=96.0, parsimony=0.002, budget=900),
}


def histograms(data_dir: Path | None, *, quick: bool, disjoint: bool) -> Split:
    """Return the texton histograms of patches of the textures."""
    images = load_brodatz(data_dir)
    if quick:
        return Split(
            *texton_histograms(
                images[:, ::4, ::4], n_textons=32, n_train=800, n_test=400, disjoint=disjoint
            )
        )
    return Split(*texton_histograms(images, disjoint=disjoint))


def polk(loss: str) -> POLKClassifier:
    """Return POLK with the settings for these data."""
    return published(
        POLKClassifier,
        shuffle=False,
        gamma=GAMMA,
        loss=loss,
        alpha=ALPHA,
        batch_size=32,
        **SETTINGS[loss],
    )


def run(output: Path, *, quick: bool = False, data_dir: Path | None = None) -> Report:
    """Run POLK, BSGD and LIBSVM on both draws of the patches, and draw the curves."""
    rows, notes = [], []
    curves: dict[str, Curve] = {}
    for disjoint in progress([False, True], "textures"):
        data, patches = (
            histograms(data_dir, quick=quick, disjoint=disjoint),
            "disjoint" if disjoint else "overlapping",
        )
        machine = SVC(**SVC_SETTINGS)
        svc, svc_error, support = row(
            TASKS["hinge"],
            "LIBSVM (SVC)",
            machine,
            data,
            objective=None,
            order=lambda m: len(m.support_),
        )
        for loss in SETTINGS:
            cells, error, model = stream_row(loss, "POLK", polk(loss), data, ALPHA)
            rows.append([patches, *cells])
            notes.append(
                f"{patches}, {loss}: POLK's error is {100 * (error - svc_error):+.2f} points from "
                f"SVC's, with {model.n_centers_ / len(support.support_):.2f} times its support "
                "vectors."
            )
            if not disjoint:
                curves[f"POLK, {loss}"] = trace(polk(loss), data, loss=loss, alpha=ALPHA)
            if loss == "hinge":
                rows.append(
                    [patches, *bsgd_row(data, gamma=GAMMA, alpha=ALPHA, budget=model.n_centers_)[0]]
                )
        rows.append([patches, *svc])
    notes.append("Objectives are on the test data, lambda = 1e-6.")
    picture = plots.learning_curves(output / "curves.png", {k: vars(c) for k, c in curves.items()})
    return Report(
        "Koppel et al. 2019: Brodatz textures",
        ["patches", *HEADER],
        rows,
        notes=notes,
        pictures=[picture],
    )
