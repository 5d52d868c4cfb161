"""Centres in single precision (`kernels.SinglePrecision`) beside double: memory, time, and what
rounding does to the error. Then predictions with products in single precision too.
"""

from __future__ import annotations

import knlms
import numpy as np
import polk
import prediction
from common import Bar, Section, markdown, race

from parsimon import KNLMSRegressor, POLKClassifier, published
from parsimon.datasets import make_honeine_system
from parsimon.experiments.koppel_2019.common import pass_over
from parsimon.kernels import SinglePrecision

KERNELS = {"double": "gaussian", "single": SinglePrecision("gaussian")}


def of_knlms(m, d, kernel):
    return knlms.filled(m, d, np.random.default_rng(m + d), kernel, gamma=1 / d)


def of_polk(m, d, kernel):
    return prediction.model_of(m, d, np.random.default_rng(m + d), kernel)


def measure(make, m, d, rounds):
    """Seconds a sample, learned and predicted, {(precision, what): times}, and bytes of each."""
    tasks, size = {}, {}
    for precision, kernel in KERNELS.items():
        model, X, y = make(m, d, kernel)
        n = 128 if d * m > 100_000 else 1024
        X, y = np.ascontiguousarray(X[:n]), y[:n]
        assert model.n_centers_ == m
        size[precision] = model.nbytes_
        tasks[precision, "learn"] = (lambda model=model, X=X, y=y: model.partial_fit(X, y), n)
        tasks[precision, "predict"] = (lambda model=model, X=X: model.predict(X), n)
    return race(tasks, rounds), size


def in_single_arithmetic(m, d, n, rounds):
    """Seconds a row of predictions by POLK, {arithmetic: times}, and the largest change of f."""
    kernels = {"double": "gaussian", "single": SinglePrecision("gaussian", arithmetic="single")}
    models = {name: of_polk(m, d, kernel)[0] for name, kernel in kernels.items()}
    rows = np.random.default_rng(0).normal(size=(n, d))
    tasks = {
        name: (lambda model=model: model.decision_function(rows), n)
        for name, model in models.items()
    }
    f, g = (model.decision_function(rows) for model in models.values())
    return race(tasks, rounds), float(np.abs(f - g).max() / np.abs(f).max())


def on_digits(context):
    """Error on the test rows and f there, of POLK, for each precision.

    The rows are turned by a rotation: the kernel does not see it, but pixels are sixteenths, and
    would be floats without rounding.
    """
    task = (
        polk.mnist(context.data_dir, context.quick)
        if context.data_dir
        else polk.digits(context.quick)
    )
    d = task.data.X_train.shape[1]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    data = task.data._replace(X_train=task.data.X_train @ turn, X_test=task.data.X_test @ turn)
    options, begin_with = task.polk[:2][-1]
    found = []
    for kernel in KERNELS.values():
        model = published(
            POLKClassifier,
            kernel,
            **{
                "gamma": task.gamma,
                "shuffle": False,
                "batch_size": 32,
                "alpha": polk.ALPHA,
                **options,
            },
        )
        for _ in pass_over(model, data, begin_with=begin_with):
            pass
        found.append(
            (polk.wrong(model, data), model.decision_function(data.X_test), model.n_centers_)
        )
    return f"{task.name}: POLK, share of test rows wrong", found


def on_a_system(context):
    """Mean squared error before learning and the predictions, of KNLMS, for each precision."""
    X, y = make_honeine_system(2000 if context.quick else 50_000, random_state=0)
    found = []
    for kernel in KERNELS.values():
        model = published(KNLMSRegressor, kernel, gamma=3.0, step_size=0.1, coherence=0.9)
        f = model.predict_then_learn(X, y)
        found.append((float(np.mean((y - f) ** 2)), f, model.n_centers_))
    return "system of Honeine et al. 2007: KNLMS, mean squared error before learning", found


def section(context):
    rounds = context.rounds(15)
    sizes = [(of_knlms, 1000, 10), (of_knlms, 2000, 784), (of_polk, 2000, 784)]
    if context.quick:
        sizes = [(of_knlms, 100, 10), (of_polk, 100, 784)]
    rows, shares = [], {}
    for make, m, d in sizes:
        name = make.__name__.removeprefix("of_").upper()
        context.say(f"{name}, m = {m}, d = {d}")
        times, size = measure(make, m, d, rounds)
        shares[name, m, d] = size["single"] / size["double"]
        cells = [
            name,
            f"{m}",
            f"{d}",
            *(f"{size[p] / 1e6:.2f}" for p in KERNELS),
            f"{shares[name, m, d]:.2f}",
        ]
        for what in ("learn", "predict"):
            double, single = (1e6 * times[p, what].best for p in KERNELS)
            spread = max(times[p, what].spread for p in KERNELS)
            cells += [
                f"{double:.1f}",
                f"{single:.1f}",
                f"{single / double:.2f}",
                f"{100 * spread:.0f} %",
            ]
        rows.append(cells)
    header = [
        "",
        "m",
        "d",
        "MB, double",
        "single",
        "ratio",
        "us to learn, double",
        "single",
        "ratio",
        "spread",
    ]
    header += ["us to predict, double", "single", "ratio", "spread"]
    products, gains = [], {}
    for m, d in [(100, 784)] if context.quick else [(2000, 100), (2000, 784)]:
        context.say(f"predictions in single arithmetic, m = {m}, d = {d}")
        times, change = in_single_arithmetic(m, d, 512, rounds)
        double, single = (1e6 * times[a].best for a in ("double", "single"))
        spread = max(t.spread for t in times.values())
        gains[m, d] = double / single
        cells = [f"{m}", f"{d}", f"{double:.1f}", f"{single:.1f}", f"{gains[m, d]:.2f}"]
        products.append([*cells, f"{100 * spread:.0f} %", f"{change:.0e}"])
    names = ["m", "d", "us, double", "single", "double over single", "spread", "change of f"]
    errors, differences = [], []
    for task in (on_digits, on_a_system):
        context.say(task.__name__.replace("_", " "))
        name, ((double, f, m), (single, g, m_single)) = task(context)
        differences.append(float(np.abs(f - g).max() / np.abs(f).max()))
        errors.append(
            [
                name,
                f"{m} ({m_single})",
                f"{double:.6g}",
                f"{single:.6g}",
                f"{np.abs(f - g).max():.0e}",
                f"{np.abs(f).max():.2g}",
            ]
        )
    columns = ["task", "centres (single)"]
    text = f"""Features of centres are stored as floats, and computations use doubles. Weights, and
the factor that POLK keeps, are doubles in both. KNLMS has m centres and admits no more. In POLK
(ten classes, batches of 32) samples are admitted and centres evicted. Megabytes are `nbytes_`, of a
dictionary that grew (KNLMS) or has a budget (POLK). Ratios are single over double. Rounds:
{rounds}.

{markdown(header, rows)}

With `SinglePrecision(kernel, arithmetic="single")`, inner products are in single precision too when
a model predicts: microseconds per row of POLK with ten classes, in blocks of 512 rows, beside a
model all in double precision. The change of f is the largest, next to the largest |f|.

{markdown(names, products)}

Both learn the same samples. The digits are rotated, so that pixels are not exact in single
precision. The difference is the largest difference of f, next to the largest |f|.

{markdown([*columns, "error, double", "error, single", "difference", "largest"], errors)}
"""
    seen = shares.get(("KNLMS", 2000, 784))
    return Section(
        "Single precision: memory, time, error",
        text,
        [
            Bar(
                "KNLMS, 2000 centres, d = 784: bytes with centres in single precision over double",
                seen,
                0.55,
                False,
            ),
            Bar(
                "POLK predicting, 2000 centres, d = 784: time in double over single precision",
                gains.get((2000, 784)),
                1.8,
                True,
            ),
            Bar(
                "digits: largest change of f by single precision, over the largest |f|",
                differences[0],
                1e-3,
                False,
            ),
        ],
    )
