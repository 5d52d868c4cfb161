"""What `defaults.py` promises of the estimators without any parameter.

A bar compares means over folds and seeds with those of SVC() and SVR() on the same folds.
"""

from __future__ import annotations

from common import Bar

#: Estimators that must be level with SVC() and SVR(), and filters that may be slightly worse.
LEVEL_CLASSIFIERS = ("POLKClassifier", "SOGSVC")
LEVEL_REGRESSORS = ("KRLSRegressor", "SOGSVR")
FILTERS = (
    "KNLMSRegressor",
    "KLMSRegressor",
    "NORMARegressor",
    "POLKRegressor",
    "SPLRegressor",
)
#: Sets on which one sample is more than half a percent of a test fold.
SMALL = ("iris", "wine")
#: Times are compared on sets of at least this many rows.
LARGE = 3000


def bars(name, runs):
    """Return the bars of one estimator, from all of its runs."""
    if name in LEVEL_CLASSIFIERS:
        found = classifier_bars(name, runs)
    elif all(run.data.classes for run in runs):
        found = []
    else:
        found = regressor_bars(name, runs)
    return [*found, time_bar(name, runs)]


def classifier_bars(name, runs):
    spread = {run.data.name: run.spread for run in runs}
    small = {key: value for key, value in spread.items() if key in SMALL}
    large = {key: value for key, value in spread.items() if key not in SMALL}
    return [
        level(name, "SVC()", runs),
        lowest(f"{name}: worst set minus SVC()", differences(runs), -0.01),
        highest(f"{name}: sd over seeds", large, 0.01),
        highest(f"{name}: sd over seeds, iris and wine", small, 0.015),
    ]


def regressor_bars(name, runs):
    plain = [run for run in runs if not run.raw]
    scores = {run.label: run.score for run in runs}
    found = [lowest(f"{name}: lowest R2", scores, 0.0)]
    if name in LEVEL_REGRESSORS:
        gaps = {
            run.label: abs(run.score - other.score)
            for run in runs
            for other in plain
            if run.raw and run.data is other.data
        }
        found.append(level(name, "SVR()", plain))
        found.append(highest(f"{name}: raw against standardised targets", gaps, 0.01))
    if name in FILTERS:
        found.append(lowest(f"{name}: worst set minus SVR()", differences(plain), -0.1))
    return found


def time_bar(name, runs):
    ratios = {
        run.label: run.seconds / run.peer.seconds
        for run in runs
        if not run.raw and len(run.data.y) >= LARGE
    }
    peer = "SVC()" if runs[0].data.classes else "SVR()"
    return highest(f"{name}: time / time of {peer}, {LARGE} rows and more", ratios, 1.0)


def level(name, peer, runs):
    values = differences(runs)
    mean = sum(values.values()) / len(values)
    return Bar(f"{name}: mean over sets minus {peer}", mean, 0.0, at_least=True)


def differences(runs):
    return {run.label: run.score - run.peer.score for run in runs}


def lowest(what, values, bound):
    return extreme(what, values, bound, min, at_least=True)


def highest(what, values, bound):
    return extreme(what, values, bound, max, at_least=False)


def extreme(what, values, bound, choose, *, at_least):
    """Return the bar for the worst of some values, with the name of its set."""
    if not values:
        return Bar(what, None, bound, at_least)
    worst = choose(values, key=values.get)
    return Bar(what, values[worst], bound, at_least, note=f"({worst})")
