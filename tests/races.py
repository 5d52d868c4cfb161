"""Threads on one model, for ThreadSanitizer: ``make tsan``.

One thread learns, and others predict, look at attributes, store, copy and merge; every estimator,
in all the ways of `test_state.py`. What they come to is tested in `test_threads.py`; here the
sanitizer looks for races, and its reports end the run with an error.
"""

import copy
import sys
import threading

from test_state import ANSWERS, MODELS, learn, stream

import parsimon
from parsimon import persistence
from parsimon.estimators import ESTIMATORS

ROWS, BLOCK = 240, 12
#: The covariance of these belongs to their own samples.
NOT_MERGED = (parsimon.KRLSTRegressor, parsimon.EXKRLSRegressor)


def predict(model, X, y):
    for name in ANSWERS:
        if hasattr(model, name):
            getattr(model, name)(X)
    if type(model) in ESTIMATORS:
        model.predict(X.repeat(4, axis=0), n_jobs=2)
    if hasattr(model, "predict_one"):
        model.predict_one(X[0])


def look(model, X, y):
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_"):
            getattr(model, name)
    if isinstance(model, parsimon.KRLSRegressor):
        model._learner.covariance_factor()
    if hasattr(model, "_learner") and hasattr(model._learner, "drift"):
        model._learner.drift()


def store(model, X, y):
    learn(persistence.loads(persistence.dumps(model)), X[:1], y[:1])


def duplicate(model, X, y):
    copy.deepcopy(model)


def merge(model, X, y):
    if type(model) not in ESTIMATORS:
        return
    model.norm()
    if isinstance(model, NOT_MERGED):
        return
    try:
        parsimon.merge([model, copy.deepcopy(model)])
    except ValueError as error:
        if not str(error).startswith("budget is"):  # which changes between the copy and the merge
            raise


def race(model):
    """Let one thread learn while others use the model, each in its own way; return what they
    raised.
    """
    X, y = stream(model, ROWS)
    learn(model, X[:BLOCK], y[:BLOCK])
    done, errors = threading.Event(), []

    def use(how):
        try:
            while not done.is_set():
                how(model, X, y)
        except Exception as error:
            errors.append(error)

    threads = [
        threading.Thread(target=use, args=[how]) for how in (predict, look, store, duplicate, merge)
    ]
    for thread in threads:
        thread.start()
    try:
        for first in range(BLOCK, ROWS, BLOCK):
            learn(model, X[first : first + BLOCK], y[first : first + BLOCK])
        if hasattr(model, "learn_one"):
            model.learn_one(
                X[0], *[] if isinstance(model, parsimon.KernelDictionaryLearning) else [y[0]]
            )
        if (
            getattr(model, "budget", None)
            and hasattr(model, "set_budget")
            and not isinstance(model, parsimon.SPLRegressor)
        ):
            model.set_budget(model.budget - 2)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    return errors


def main():
    failures = 0
    sys.setswitchinterval(1e-4)
    for model in MODELS:
        errors = race(copy.deepcopy(model))
        failures += len(errors)
        print(f"{type(model).__name__}: {errors or 'sound'}", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
