"""Classifying digits: POLK and BSGD beside SVC, LIBSVM and linear models on random features, one
pass. Accuracy against time and against centres.

MNIST where a folder is given that holds it, with the settings of
`parsimon.experiments.koppel_2019.mnist`; else scikit-learn's 1797 digits, which are too few for a
stream but need no download.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import peers
import polk_threads
from common import Bar, Section, markdown
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

from parsimon import BSGDClassifier, POLKClassifier, published
from parsimon.datasets import Split, load_mnist
from parsimon.experiments.koppel_2019.common import first, pass_over
from parsimon.experiments.koppel_2019.mnist import ALPHA, SETTINGS

ERROR = 0.027  # the bar's
CLOSE = 0.023  # the bar's beside SVC at the same error
#: Centres: the highest test error in percent, for POLK that merges with `NEIGHBORS`.
SIZES = {200: 3.6, 500: 2.9, 2100: 2.0}
NEIGHBORS = 64  # chosen on training rows that were held out


@dataclass
class Run:
    """One model: the error as it learned, {seconds of learning: error}, and where that ended."""

    name: str
    curve: list[tuple[float, float]] = field(default_factory=list)
    size: int = 0
    predict: float = 0.0  # seconds, all test rows
    fits: list[float] = field(default_factory=list)

    @property
    def fit(self):
        return min(self.fits)

    @property
    def error(self):
        return self.curve[-1][1]


@dataclass(frozen=True)
class Task:
    name: str
    data: Split
    gamma: float
    polk: list[tuple[dict[str, Any], int | None]]  # parameters, and the budget it begins with
    bsgd: list[dict[str, Any]]
    components: tuple[int, ...]
    subsets: tuple[int, ...]  # how many training rows the solvers of the whole problem are given


def mnist(data_dir, quick):
    options, begin = SETTINGS["2100"][1:]
    small, begin_small = SETTINGS["200"][1:]
    shared = {"average": 42_000, **options}
    polk = [(options, begin), (small, begin_small)] + [
        ({**shared, "budget": b}, None) for b in (500, 1000, 1500)
    ]
    # The same parameters for all sizes: those of POLK with 2100 centres.
    merging = {**shared, "parsimony": 0.0, "maintenance": "merge"}
    for neighbors in (0, NEIGHBORS):
        polk += [({**merging, "budget": b, "neighbors": neighbors}, None) for b in SIZES]
    bsgd = [{"step_size": 1.0, "budget": b} for b in (200, 500)]
    task = Task(
        "MNIST",
        load_mnist(data_dir),
        0.03,
        polk,
        bsgd,
        (200, 500, 2000),
        (1000, 3000, 10_000, 20_000, 60_000),
    )
    if not quick:
        return task
    polk = [
        ({**options, "budget": 100}, 200),
        ({**options, "budget": 50}, None),
        ({**merging, "budget": 50, "neighbors": 20}, None),
    ]
    return Task(
        "MNIST, the first 1500", first(task.data, 1500), 0.03, polk, bsgd[:1], (100,), (1500,)
    )


def digits(quick):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = np.ascontiguousarray(X[order] / 16.0), y[order]
    data = Split(X[:1200], y[:1200], X[1200:], y[1200:])
    # Steps, and the batch, were chosen on the last quarter of the training rows.
    options = {"gamma": 0.5, "step_size": 37.5, "parsimony": 1e-4, "batch_size": 8}
    polk = [({**options, "budget": b}, None) for b in (50, 100, 200, 400)]
    bsgd = [{"step_size": 1.0, "budget": b} for b in (50, 200)]
    few = slice(1, 2) if quick else slice(None)
    return Task(
        "scikit-learn's digits",
        data,
        0.5,
        polk[few],
        bsgd[few],
        (100, 400)[few],
        (300, 600, 1200)[few],
    )


def wrong(model, data):
    return float(np.mean(model.predict(data.X_test) != data.y_test))


def of_stream(name, make, task, begin_with, points, rounds):
    """Learn in one pass, looking at some of the test data now and then, off the clock; then again
    for the time alone.
    """
    n, batch = len(task.data.X_train), make().batch_size
    stops = {max(1, int(s) // batch) * batch for s in np.geomspace(n / 60, n, points)} - {n}
    few = Split(
        task.data.X_train, task.data.y_train, task.data.X_test[:2000], task.data.y_test[:2000]
    )
    run, model, spent = Run(name), make(), 0.0
    start = time.process_time()
    for learned in pass_over(model, task.data, begin_with=begin_with, stops=stops):
        spent += time.process_time() - start
        if learned in stops:
            run.curve.append((spent, wrong(model, few)))
        start = time.process_time()
    run.fits.append(spent)
    start = time.process_time()
    run.curve.append((spent, wrong(model, task.data)))
    run.predict, run.size = time.process_time() - start, model.n_centers_
    for _ in range(rounds - 1):
        again, start = make(), time.process_time()
        for _ in pass_over(again, task.data, begin_with=begin_with):
            pass
        run.fits.append(time.process_time() - start)
    return run


def of_features(name, features, task, points):
    """A map fitted to the first tenth, then a linear classifier in blocks of a hundred."""
    data, classes = task.data, np.unique(task.data.y_train)
    n, run, spent = len(data.X_train), Run(name), 0.0
    model = SGDClassifier(alpha=1e-6, random_state=0)
    stops = {max(1, int(s) // 100) * 100 for s in np.geomspace(n / 60, n, points)}
    start = time.process_time()
    features.fit(data.X_train[: max(n // 10, features.n_components)])
    for i in range(0, n, 100):
        model.partial_fit(
            features.transform(data.X_train[i : i + 100]), data.y_train[i : i + 100], classes
        )
        if i + 100 in stops and i + 100 < n:
            spent += time.process_time() - start
            few = model.predict(features.transform(data.X_test[:2000]))
            run.curve.append((spent, float(np.mean(few != data.y_test[:2000]))))
            start = time.process_time()
    spent += time.process_time() - start
    start = time.process_time()
    found = model.predict(features.transform(data.X_test))
    run.predict, run.size = time.process_time() - start, features.n_components
    run.curve.append((spent, float(np.mean(found != data.y_test))))
    run.fits.append(spent)
    return run


def of_svc(n, task):
    data, run = task.data, Run(f"scikit-learn SVC, {n} rows")
    model = SVC(gamma=task.gamma, C=10, cache_size=1000)
    start = time.process_time()
    model.fit(data.X_train[:n], data.y_train[:n])
    run.fits.append(time.process_time() - start)
    start = time.process_time()
    run.curve.append((run.fit, wrong(model, data)))
    run.predict, run.size = time.process_time() - start, len(model.support_)
    return run


def of_libsvm(n, task):
    """LIBSVM by its own Python package; turning arrays into its own form is not counted."""
    svm, data = peers.LIBSVM.load(), task.data
    run = Run(f"LIBSVM, {n} rows")
    problem = svm.svm_problem(data.y_train[:n].astype(float), data.X_train[:n])
    options = svm.svm_parameter(f"-q -t 2 -c 10 -m 1000 -g {task.gamma}")
    start = time.process_time()
    model = svm.svm_train(problem, options)
    run.fits.append(time.process_time() - start)
    start = time.process_time()
    found = svm.svm_predict([], data.X_test, model, "-q")[0]
    run.predict, run.size = time.process_time() - start, model.get_nr_sv()
    run.curve.append((run.fit, float(np.mean(np.array(found) != data.y_test))))
    return run


def runs(task, context):
    points = 2 if context.quick else 10
    for options, begin in task.polk:

        def polk(options=options):
            return published(
                POLKClassifier, **{"shuffle": False, "batch_size": 32, "alpha": ALPHA, **options}
            )

        name = f"POLK, {options['budget']} centres" + (f", from {begin}" if begin else "")
        name += ", merging" if options.get("maintenance") == "merge" else ""
        name += f", {options['neighbors']} neighbours" if options.get("neighbors") else ""
        context.say(name)
        yield of_stream(name, polk, task, begin, points, context.rounds(2))
    for options in task.bsgd:

        def bsgd(options=options):
            return published(
                BSGDClassifier, **{"shuffle": False, "alpha": ALPHA, "gamma": task.gamma, **options}
            )

        name = f"BSGD, {options['budget']} centres"
        context.say(name)
        yield of_stream(name, bsgd, task, None, points, 1)
    for n in task.components:
        for features in (Nystroem, RBFSampler):
            name = f"scikit-learn {features.__name__}, {n}, SGDClassifier"
            context.say(name)
            yield of_features(
                name, features(gamma=task.gamma, n_components=n, random_state=0), task, points
            )
    for n in task.subsets:
        context.say(f"SVC, {n} rows")
        yield of_svc(n, task)
    if peers.LIBSVM.load():
        n = min(10_000, max(task.subsets))
        context.say(f"LIBSVM, {n} rows")
        yield of_libsvm(n, task)


def to_error(error, found):
    """Seconds that SVC takes to an error: on a line in logarithms between the two subsets around
    it. None where it came to no such error.
    """
    ends = sorted((run.error, run.fit) for run in found if run.name.startswith("scikit-learn SVC"))
    if not ends[0][0] <= error <= ends[-1][0]:
        return None
    errors, fits = np.log(ends).T
    return float(np.exp(np.interp(np.log(error), errors, fits)))


def group(run):
    return run.name.split(",")[0]


def draw(figure, found):
    left, right = figure.subplots(1, 2, sharey=True)
    groups = list(dict.fromkeys(group(run) for run in found))
    for i, name in enumerate(groups):
        members, colour = [run for run in found if group(run) == name], f"C{i}"
        for run in members:
            left.plot(*zip(*run.curve, strict=True), ".-", color=colour, lw=1, ms=3)
        ends = sorted((run.size, run.error) for run in members)
        right.plot(*zip(*ends, strict=True), "o-", color=colour, label=name)
    left.set(xscale="log", yscale="log", xlabel="seconds of learning", ylabel="test error")
    right.set(xscale="log", xlabel="centres, support vectors or features")
    right.legend(fontsize=8)


def size_bars(found):
    """The error of one setting at each size, not that of the setting that tests best."""
    errors = {run.name: 100 * run.error for run in found}
    for size, bound in SIZES.items():
        error = errors.get(f"POLK, {size} centres, merging, {NEIGHBORS} neighbours")
        note = "(needs `--data-dir`)" if error is None else f"(merging, {NEIGHBORS} neighbours)"
        yield Bar(f"POLK on MNIST, {size} centres: test error", error, bound, False, " %", note)


def threads(context):
    """Return text and bars of learning with one thread and two, by the clock."""
    what = f"POLK on MNIST to {polk_threads.ERROR}, {{}}: time with one thread over two"
    if context.data_dir is None:
        names = polk_threads.settings()
        return "", [
            Bar(what.format(n), None, 1.6, True, "x", "(needs `--data-dir`)") for n in names
        ]
    context.say("POLK with one thread and two")
    rows = 1500 if context.quick else polk_threads.ROWS
    found = polk_threads.measure(context.data_dir, context.rounds(polk_threads.ROUNDS), rows)
    text, bars = (
        "\n\nTimes by the clock, the best of the rounds, with two processors allowed:\n",
        [],
    )
    for name, taken in found.items():
        text += f"\n- POLK, 2100 centres, {name}: {polk_threads.describe(taken)}."
        note = f"(independent work gains {max(taken['machine']):.2f}x)"
        bars.append(Bar(what.format(name), polk_threads.speedup(taken), 1.6, True, "x", note))
    return text + "\n", bars


def same_error(found):
    """Return the bar of SVC's time to the error that POLK reaches."""
    what = f"POLK on MNIST to {100 * CLOSE:.1f} %: SVC's time to the same error over POLK's"
    runs = [run for run in found if run.name.startswith("POLK") and run.error < CLOSE + 0.0005]
    ratios = {run.name: to_error(run.error, found) / run.fit for run in runs}
    best = max(ratios, key=ratios.get, default=None)
    return Bar(what, ratios.get(best), 10.0, True, "x", f"({best})" if best else "")


def section(context):
    task = (
        digits(context.quick)
        if context.data_dir is None
        else mnist(context.data_dir, context.quick)
    )
    found = list(runs(task, context))
    whole = max((run for run in found if "SVC" in run.name), key=lambda run: run.fit)
    rows = []
    for run in found:
        spread = f"{100 * (max(run.fits) / run.fit - 1):.0f} %" if len(run.fits) > 1 else ""
        equal = to_error(run.error, found)
        as_good = "" if equal is None else f"{equal / run.fit:.2g}"
        times = [
            f"{run.fit:.3g}",
            spread,
            f"{whole.fit / run.fit:.1f}",
            as_good,
            f"{run.predict:.3g}",
        ]
        rows.append(
            [
                run.name,
                f"{100 * run.error:.2f}",
                f"{run.size}",
                *times,
                f"{whole.predict / run.predict:.1f}",
            ]
        )
    header = [
        "system",
        "error, %",
        "centres",
        "fit, s",
        "spread",
        "SVC's fit / this",
        "SVC's to this error / this",
    ]
    header += ["predict, s", "SVC's / this"]
    n, d = task.data.X_train.shape
    caption = "test error against seconds of learning and against centres"
    text = f"""{task.name}: {n} rows of {d} features to learn in one pass,
{len(task.data.X_test)} to test, gamma = {task.gamma} (some POLKs have their own), C = 10.
"From" is the initial budget, which is reduced on the way. Ratios are to SVC on
{whole.name.split(", ")[1]}. "To this error" is the time of SVC on the fewest rows that reach that
error, interpolated in logarithms between the subsets below.
Times are the best of several runs. The spread is how much longer the longest run took.

{markdown(header, rows)}

{context.figure("polk", caption, lambda figure: draw(figure, found))}"""
    bar = Bar(
        f"POLK on MNIST to {100 * ERROR:.1f} %: SVC's fit over POLK's",
        None,
        8.0,
        True,
        "x",
        "(needs `--data-dir`)",
    )
    if task.name == "MNIST":
        good = min(
            (r for r in found if r.name.startswith("POLK") and r.error <= ERROR),
            key=lambda r: r.fit,
            default=None,
        )
        seen = 0.0 if good is None else whole.fit / good.fit
        note = (
            "(no POLK came to that error)"
            if good is None
            else f"({good.name}, {100 * good.error:.2f} %; SVC {100 * whole.error:.2f} %, "
            f"and on the fewest rows that reach {100 * good.error:.2f} %: "
            f"{to_error(good.error, found) / good.fit:.1f}x)"
        )
        bar = Bar(bar.what, seen, 8.0, True, "x", note)
    own = found if task.name == "MNIST" else []
    lines, shared = threads(context)
    bars = [bar, same_error(own), *size_bars(own), *shared]
    return Section(f"Digits: POLK and what else classifies {task.name}", text + lines, bars)
