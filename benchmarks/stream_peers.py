"""A regression stream, test-then-learn, one row at a time and in blocks: parsimon beside the
streaming models of Python.
"""

from __future__ import annotations

import numpy as np
import peers
from common import Section, markdown, race
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor

from parsimon import KNLMSRegressor, KRLSRegressor, published

GAMMA, D, SIZE, BLOCK = 0.1, 8, 200, 100
#: Of KNLMS; elsewhere the step that is as long for the features of that system, whose squared norm
#: is 1 (scikit-learn) or half their number (River).
STEP = 0.3
#: Of both KRLS: linear dependence beyond which a row becomes a centre.
TOLERANCE = 0.1


def stream(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def ours_by_row(model, X, y):
    return [
        (model.predict_one(x) if i else 0.0, model.learn_one(x, t))[0]
        for i, (x, t) in enumerate(zip(X, y.tolist(), strict=True))
    ]


def ours_by_block(model, X, y):
    return np.concatenate(
        [
            model.predict_then_learn(X[i : i + BLOCK], y[i : i + BLOCK])
            for i in range(0, len(y), BLOCK)
        ]
    )


def sklearn_by_row(make, X, y, block=1):
    features, model = make()
    features.fit(X[:1])
    found = []
    for i in range(0, len(y), block):
        Z = features.transform(X[i : i + block])
        found.append(model.predict(Z) if i else np.zeros(len(Z)))
        model.partial_fit(Z, y[i : i + block])
    return np.concatenate(found)


def river_by_row(model, X, y):
    found = []
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        found.append(model.predict_one(x))
        model.learn_one(x, target)
    return found


def krls_by_row(model, X, y):
    model.fit(X[:1], y[:1])
    found = [0.0]
    for i in range(1, len(y)):
        found.append(float(model.predict(X[i : i + 1])[0]))
        model.evolve(X[i : i + 1], y[i : i + 1])
    return found


def systems():
    """name: a function of the stream that gives predictions made before each row (or block) was
    learned.
    """

    def knlms():
        return published(KNLMSRegressor, gamma=GAMMA, coherence=0.5, step_size=STEP, budget=SIZE)

    def krls():
        return published(KRLSRegressor, gamma=GAMMA, tolerance=TOLERANCE, ridge=0.01, budget=SIZE)

    def linear():
        return RBFSampler(gamma=GAMMA, n_components=SIZE, random_state=0), SGDRegressor(
            learning_rate="constant", eta0=STEP, alpha=0.0, random_state=0
        )

    found = {
        "KNLMS, by row": lambda X, y: ours_by_row(knlms(), X, y),
        "KNLMS, in blocks": lambda X, y: ours_by_block(knlms(), X, y),
        "KRLS, by row": lambda X, y: ours_by_row(krls(), X, y),
        "KRLS, in blocks": lambda X, y: ours_by_block(krls(), X, y),
        "scikit-learn RBFSampler + SGDRegressor, by row": lambda X, y: sklearn_by_row(linear, X, y),
        "scikit-learn RBFSampler + SGDRegressor, in blocks": lambda X, y: sklearn_by_row(
            linear, X, y, BLOCK
        ),
    }
    if peers.RIVER.load():
        from river import feature_extraction, linear_model, optim, tree

        found["River RBFSampler, LinearRegression, by row"] = lambda X, y: river_by_row(
            feature_extraction.RBFSampler(gamma=GAMMA, n_components=SIZE // D, seed=0)
            | linear_model.LinearRegression(optim.SGD(STEP / (SIZE / 2)), l2=0.0),
            X,
            y,
        )
        found["River HoeffdingAdaptiveTreeRegressor, by row"] = lambda X, y: river_by_row(
            tree.HoeffdingAdaptiveTreeRegressor(seed=0), X, y
        )
    if module := peers.KRLS.load():
        found["krls KRLS, by row"] = lambda X, y: krls_by_row(
            module.KRLS(nu=TOLERANCE, N=SIZE, kernel_type="RBF", gamma=GAMMA), X, y
        )
    return found


def section(context):
    n, rounds = (300, 1) if context.quick else (3000, 3)
    X, y = stream(n)
    late, found = slice(n // 2, n), {}
    tasks = {
        name: (lambda name=name, run=run: found.update({name: run(X, y)}), n)
        for name, run in systems().items()
    }
    context.say(f"{len(tasks)} systems, {n} rows")
    times = race(tasks, rounds)
    first = times["KNLMS, by row"].best
    errors = {
        name: float(np.mean((y - np.asarray(f, float))[late] ** 2) / y[late].var())
        for name, f in found.items()
    }
    rows = [
        [
            name,
            f"{1e6 * t.best:.1f}",
            f"{100 * t.spread:.0f} %",
            f"{t.best / first:.1f}",
            f"{errors[name]:.4f}",
        ]
        for name, t in times.items()
    ]

    def draw(figure):
        axes = figure.add_subplot()
        for name, t in times.items():
            axes.plot(1e6 * t.best, errors[name], "o" if name.startswith("K") else "x", label=name)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="microseconds per row",
            ylabel="relative squared error",
        )
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)

    text = f"""{n} rows of {D} features, each predicted and then learned, with at most {SIZE}
centres or random features and one Gaussian kernel for all. By row: one call to predict and one to
learn a row.
In blocks: {BLOCK} rows per call. For parsimon this equals row by row; for the others a block is
predicted before any of it is learned. The error is the squared error over the second half of the
stream, relative to the variance there.

All gradient steps have the step size of KNLMS. The tolerance of KRLS (0.1, for both systems) was
chosen on this stream. Everything else is the default. River's RBFSampler draws its features for
each input separately, {SIZE // D} for each of {D}, so it cannot learn functions of several inputs
together. scikit-learn validates every call, which takes most of its time by row. parsimon's
`predict_then_learn` (in blocks) validates too; `predict_one` and `learn_one` check less. krls
imports torch, which the kernel used here does not need: if torch is missing, an empty module
replaces it. Rounds: {rounds}.

{markdown(["system", "us per row", "spread", "over KNLMS by row", "error"], rows)}

{context.figure("stream_peers", "error against time of a row", draw)}"""
    return Section("A stream: microseconds per row, beside Python's streaming models", text)
