"""What merging costs, and a model of it: two models of m centres each, merged and compressed to m.

    python benchmarks/merging.py [--data-dir DIR]

The union of M = 2 m centres takes a Gram matrix, M^2 d, matrix products for its inverse and for
what the removals take of it, M^3, and M - m removals with a look at a few columns each, M^2 or so;
so the times are fitted by t = a M^2 d + b M^3 + c M^2, and what that says of larger unions is
printed beside. With a folder of data sets: a support vector classifier of scikit-learn on USPS,
compressed.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from common import markdown, processor, seconds
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.svm import SVC

from parsimon import KLMSRegressor, from_sklearn, merge, published
from parsimon.datasets import load_usps
from parsimon.persistence import dumps

REPEATS = 3
SIZES = [(m, d) for m in (250, 500, 1000, 1500) for d in (10, 784)]


def models(m, d):
    """Two models of m centres each, far enough apart to be a dictionary."""
    rng = np.random.default_rng(m + d)
    make = published(KLMSRegressor, gamma=2.0 / d, budget=m)
    return [clone(make).fit(rng.normal(size=(m, d)), rng.normal(size=m)) for _ in range(2)]


def compressed_svc(data_dir):
    data = load_usps(data_dir)
    svc = SVC(C=10.0, gamma=0.02).fit(data.X_train, data.y_train)
    whole, rows = svc.predict(data.X_test), []
    for part in (1, 2, 4, 8):
        model = from_sklearn(svc)
        taken = seconds(lambda model=model, part=part: model.compress(model.n_centers_ // part))
        found = model.predict(data.X_test)
        changed, wrong = (found != whole).mean(), (found != data.y_test).mean()
        rows.append(
            [str(model.n_centers_), f"{taken:.1f}", f"{100 * changed:.2f}", f"{100 * wrong:.2f}"]
        )
    print(markdown(["centres", "seconds", "predictions changed, %", "test error, %"], rows))


def main():
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="a folder that holds usps.npz")
    data_dir = parser.parse_args().data_dir
    if data_dir:
        compressed_svc(data_dir)
    rows, features, times = [], [], []
    for m, d in SIZES:
        pair = models(m, d)
        times.append(
            min(seconds(lambda pair=pair, m=m: merge(pair, budget=m)) for _ in range(REPEATS))
        )
        M = pair[0].n_centers_ + pair[1].n_centers_
        features.append([M * M * d, M**3, M * M])
        rows.append([str(M), str(m), str(d), f"{times[-1]:.3f}", f"{len(dumps(pair[0])):,}"])
        print(f"{M} centres, {d} features: {times[-1]:.3f} s", flush=True)
    A, t = np.array(features, dtype=float), np.array(times)
    (a, b, c), _ = nnls(A / t[:, None], np.ones(len(t)))  # relative errors
    for row, fitted in zip(rows, A @ [a, b, c], strict=True):
        row.insert(4, f"{fitted:.3f}")
    print(f"\n{processor()}, one thread, best of {REPEATS}\n")
    print(
        markdown(
            ["union M", "merged to", "features d", "seconds", "fitted", "bytes of a part"], rows
        )
    )
    print(f"\nt = {a:.2e} M^2 d + {b:.2e} M^3 + {c:.2e} M^2 seconds")
    for M, d in ((4000, 784), (10_000, 784)):
        print(f"M = {M}, d = {d}: {a * M * M * d + b * M**3 + c * M * M:.0f} s")


if __name__ == "__main__":
    main()
