"""Learning in several threads: the number of threads changes no bit of a model."""

import copy
import pickle

import numpy as np
import pytest

import parsimon
from parsimon import kernels, persistence

CLASSIFIER, REGRESSOR = parsimon.POLKClassifier, parsimon.POLKRegressor
#: Large enough that kernel rows, projections and removals of a batch are shared.
LARGE = {"batch_size": 64, "budget": 240, "parsimony": 1e-3, "gamma": 0.01, "random_state": 0}
ONCE = {"n_passes": 1, "shuffle": False}
MERGING = {"kernel": "gaussian", "maintenance": "merge"}


def images(n, d=72):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    return X, np.sin(X[:, :6]).sum(axis=1) + 0.1 * rng.normal(size=n)


def learned(make, options, n_jobs, n=900):
    """Return the bytes of a model that learned in so many threads, and what it predicted."""
    X, y = images(n)
    if make is CLASSIFIER:
        y = np.digitize(y, [-1.0, 0.0, 1.0])
    model = make(**{**LARGE, **ONCE, **options}, n_jobs=n_jobs)
    if make is CLASSIFIER:
        model.partial_fit(X[:300], y[:300], classes=range(4))
    else:
        model.partial_fit(X[:300], y[:300])
    before = model.predict_then_learn(X[300:600], y[300:600])
    model.set_budget(150)
    model.partial_fit(X[600:], y[600:])
    model.set_params(n_jobs=None)
    model._require_unchanged()  # as the next call would do
    return persistence.dumps(model), np.asarray(before).tobytes()


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (CLASSIFIER, {"kernel": "gaussian", "step_size": 8.0}),
        (CLASSIFIER, {"kernel": "gaussian", "loss": "hinge", "step": "explicit", "average": 400}),
        (CLASSIFIER, MERGING),
        (CLASSIFIER, {**MERGING, "neighbors": 20}),
        (REGRESSOR, {"average": False}),
        (REGRESSOR, {"batch_size": 3}),
        (REGRESSOR, {"kernel": kernels.SinglePrecision(kernels.Gaussian(0.01)), "gamma": "scale"}),
        (
            REGRESSOR,
            {"kernel": kernels.Gaussian(0.01) + kernels.Laplacian(0.05), "gamma": "scale"},
        ),
    ],
)
def test_the_number_of_threads_changes_no_bit(make, options):
    one = learned(make, options, 1)
    for n_jobs in (2, 3, -1):
        assert learned(make, options, n_jobs) == one


def test_a_python_kernel_is_called_by_the_thread_that_learns():
    import threading

    seen = set()

    def kernel(a, b):
        seen.add(threading.get_ident())
        return float(np.exp(-0.01 * ((a - b) ** 2).sum()))

    X, y = images(60, 300)
    models = []
    for n_jobs in (1, 3):
        model = REGRESSOR(kernel, batch_size=32, budget=30, random_state=0, n_jobs=n_jobs, **ONCE)
        models.append(model.fit(X, y))
    assert seen == {threading.get_ident()}
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)
    np.testing.assert_array_equal(models[0].centers_, models[1].centers_)


def test_the_number_of_threads_may_change_at_any_time():
    X, y = images(256)
    model = REGRESSOR(**LARGE, **ONCE, n_jobs=2).partial_fit(X[:128], y[:128])
    same = REGRESSOR(**LARGE, **ONCE).partial_fit(X[:128], y[:128])
    model.set_params(n_jobs=3).set_budget(240)
    same.partial_fit(X[128:], y[128:])
    model.set_params(n_jobs=-1).partial_fit(X[128:], y[128:])
    np.testing.assert_array_equal(model.weights_, same.weights_)
    merged = [parsimon.merge([model, other]).model for other in (model, same)]
    np.testing.assert_array_equal(merged[0].weights_, merged[1].weights_)


def test_copies_and_files_keep_the_number():
    X, y = images(256)
    model = REGRESSOR(**LARGE, **ONCE, n_jobs=2).partial_fit(X[:128], y[:128])
    copies = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        persistence.loads(persistence.dumps(model)),
    ]
    model.partial_fit(X[128:], y[128:])
    for other in copies:
        assert other.n_jobs == 2
        other.partial_fit(X[128:], y[128:])
        np.testing.assert_array_equal(other.weights_, model.weights_)


@pytest.mark.parametrize(
    ("n_jobs", "error"), [(0, ValueError), (1.5, TypeError), ("all", TypeError), (True, TypeError)]
)
def test_what_is_no_number_of_threads_is_refused(n_jobs, error):
    X, y = images(20)
    with pytest.raises(error, match="n_jobs must be"):
        REGRESSOR(n_jobs=n_jobs).fit(X, y)
    model = REGRESSOR(random_state=0).partial_fit(X, y)
    before = model.weights_
    with pytest.raises(error, match="n_jobs must be"):
        model.set_params(n_jobs=n_jobs).partial_fit(X, y)
    np.testing.assert_array_equal(model.weights_, before)


@pytest.mark.parametrize("batch_size", [1, 64])
def test_memory_is_that_of_the_first_row(batch_size):
    X, y = images(2500)
    sizes = {}
    for n_jobs in (1, 2):
        model = REGRESSOR(
            **{**LARGE, **ONCE, "batch_size": batch_size, "budget": 700}, n_jobs=n_jobs
        )
        model.partial_fit(X[:1], y[:1])
        sizes[n_jobs] = model.nbytes_
        for at in range(1, len(X), 400):
            model.partial_fit(X[at : at + 400], y[at : at + 400])
            assert model.nbytes_ == sizes[n_jobs]
    assert sizes[2] > sizes[1]
