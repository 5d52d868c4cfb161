import dense
import numpy as np
import oracle
import pytest

from parsimon import (
    KNLMSRegressor,
    admission,
    algorithms,
    compression,
    kernels,
    losses,
    published,
    updates,
)


def stream(n, d=3, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, -1] * X[:, 0] + c for c in range(outputs)])
    return X, Y + 0.1 * rng.normal(size=Y.shape)


def state(model):
    return (
        model.centers_.tobytes(),
        model.weights_.tobytes(),
        model.n_samples_seen_,
        model.n_centers_,
    )


@pytest.mark.parametrize("name", dense.KERNELS)
def test_trajectory_equals_the_oracle(name):
    kernel, _ = dense.KERNELS[name]
    X, Y = stream(5000, outputs=2)
    mu0 = 0.95 if name in ("polynomial", "linear", "constant") else 0.6
    if name == "function":  # a call for each value of the kernel: few centres, or it takes minutes
        mu0 = 0.2
    predictions, centres, weights = oracle.knlms(kernel, X, Y, step_size=0.3, mu0=mu0, ridge=0.01)
    model = published(KNLMSRegressor, kernel, step_size=0.3, coherence=mu0, ridge=0.01)
    ours = model.predict_then_learn(X, Y)
    assert 1 < model.n_centers_ < 2500
    np.testing.assert_array_equal(model.centers_, kernels.seen(kernel, centres))
    np.testing.assert_allclose(
        ours, predictions, rtol=0, atol=1e-10 * max(1, np.abs(predictions).max())
    )
    np.testing.assert_allclose(
        model.weights_, weights, rtol=0, atol=1e-10 * max(1, np.abs(weights).max())
    )


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "budget",
    [{}, {"budget": 20}, {"budget": 20, "compression": "oldest"}],
    ids=["free", "least_cost", "oldest"],
)
@pytest.mark.parametrize("name", ["gaussian", "nested", "polynomial"])
def test_block_chunks_and_loop_are_bit_identical(name, budget, outputs):
    X, Y = stream(1500, outputs=outputs)
    y = Y if outputs > 1 else Y[:, 0]

    def fresh():
        return published(KNLMSRegressor, dense.KERNELS[name][0], coherence=0.8, **budget)

    block = fresh().partial_fit(X, y)
    chunks = fresh()
    for rows in np.split(np.arange(len(X)), [1, 2, 9, 40, 41, 170, 901, 1024]):
        chunks.partial_fit(X[rows], y[rows])
    loop, before = fresh(), []
    for i, (x, target) in enumerate(zip(X, y, strict=True)):
        before.append(loop.predict_one(x) if i else np.zeros(outputs))
        loop.learn_one(x, target)
    assert state(block) == state(chunks) == state(loop) == state(fresh().fit(X, y))
    prequential = fresh().predict_then_learn(X, y)
    np.testing.assert_array_equal(prequential[1:], np.array(before[1:]))
    np.testing.assert_array_equal(
        block.predict(X), np.concatenate([loop.predict(X[i : i + 7]) for i in range(0, 1500, 7)])
    )


@pytest.mark.parametrize("compression", ["least_cost", "oldest"])
def test_budget_holds_in_centres_and_bytes(compression):
    X, Y = stream(6000)
    for kernel in ("gaussian", dense.KERNELS["nested"][0]):
        options = {"gamma": 1.0} if kernel == "gaussian" else {}
        model = published(
            KNLMSRegressor, kernel, coherence=0.9, budget=25, compression=compression, **options
        )
        model.learn_one(X[0], Y[0, 0])
        size = model.nbytes_
        for i in range(1, 6000, 100):
            model.partial_fit(X[i : i + 100], Y[i : i + 100, 0])
            assert model.n_centers_ <= 25
            assert model.nbytes_ == size
        assert model.n_centers_ == 25


def test_oldest_keeps_the_newest_centres():
    X, Y = stream(500)
    window = published(
        KNLMSRegressor, gamma=1.0, coherence=1.0, budget=5, compression="oldest"
    ).fit(X, Y[:, 0])
    np.testing.assert_array_equal(window.centers_, X[-5:])


def test_least_cost_keeps_the_function():
    # The centre evicted is the one whose removal costs least: check one eviction against the dense
    # answer.
    X, Y = stream(300)
    options = dict(gamma=0.5, coherence=0.9, step_size=0.3)
    free = published(KNLMSRegressor, **options)
    i = 0
    while i == 0 or free.n_centers_ <= 30:
        free.partial_fit(X[i : i + 1], Y[i : i + 1, 0])
        i += 1
    budgeted = published(KNLMSRegressor, **options, budget=30).fit(X[:i], Y[:i, 0])
    K, w = kernels.Gaussian(0.5)(free.centers_), free.weights_
    costs = w**2 / np.diag(np.linalg.inv(K))
    keep = np.arange(31) != np.argmin(costs)
    np.testing.assert_array_equal(budgeted.centers_, free.centers_[keep])
    np.testing.assert_allclose(
        budgeted.weights_, np.linalg.solve(K[np.ix_(keep, keep)], K[keep] @ w), atol=1e-8
    )


def test_it_learns():
    X, Y = stream(8000, d=2)
    model = published(KNLMSRegressor, gamma=1.0, coherence=0.7, step_size=0.5).fit(
        X[:6000], Y[:6000, 0]
    )
    assert model.score(X[6000:], Y[6000:, 0]) > 0.95
    again = published(KNLMSRegressor, gamma="median", n_passes=3).fit(X[:100], Y[:100, 0])
    assert again.n_samples_seen_ == 300


def test_fitted_attributes():
    X, Y = stream(200, d=4, outputs=2)
    model = published(KNLMSRegressor).fit(X, Y)
    m = model.n_centers_
    assert model.centers_.shape == (m, 4)
    assert model.weights_.shape == (m, 2)
    assert model.predict(X).shape == (200, 2)
    assert np.shape(model.predict_one(X[0])) == (2,)
    assert model.n_samples_seen_ == 200
    assert model.n_features_in_ == 4
    assert model.nbytes_ > 8 * m * 6
    assert model.kernel_ == kernels.Gaussian(1 / (4 * X.var()))
    np.testing.assert_allclose(
        model.kernel_(X, model.centers_) @ model.weights_, model.predict(X), atol=1e-12
    )
    flat = published(KNLMSRegressor).fit(X, Y[:, 0])
    assert flat.weights_.shape == (flat.n_centers_,)
    assert isinstance(flat.predict_one(X[0]), float)


def test_learn_one_takes_what_people_have():
    X, Y = stream(5)
    a, b = published(KNLMSRegressor, gamma=1.0), published(KNLMSRegressor, gamma=1.0)
    for x, y in zip(X, Y[:, 0], strict=True):
        a.learn_one(x, y)
        b.learn_one(list(x), np.array(y))
    assert state(a) == state(b)
    single = X.astype(np.float32)
    assert a.predict_one(single[0]) == a.predict_one(list(single[0].astype(float)))
    a.learn_one(X[::-1][0][::-1], 1)  # a view, an integer


@pytest.mark.parametrize(
    "method", ["fit", "partial_fit", "predict_then_learn", "learn_one", "predict", "predict_one"]
)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_non_finite_input_is_named_and_changes_nothing(method, value):
    X, Y = stream(50)
    model = published(KNLMSRegressor, gamma=1.0).fit(X, Y[:, 0])
    before = state(model)
    bad = X[:10].copy()
    bad[7, 1] = value
    single = method.endswith("_one")
    arguments = (bad[7],) if single else (bad,)
    if "predict" not in method or method == "predict_then_learn":
        arguments += (1.0,) if single else (Y[:10, 0],)
    with pytest.raises(
        ValueError, match=f"X contains .*(NaN|inf).* at row {0 if single else 7}, column 1"
    ):
        getattr(model, method)(*arguments)
    assert state(model) == before
    if len(arguments) == 2:
        bad_y = Y[:10, 0].copy()
        bad_y[3] = value
        with pytest.raises(ValueError, match=r"y contains .*(NaN|inf).* at row"):
            getattr(model, method)(X[0] if single else X[:10], value if single else bad_y)
        assert state(model) == before


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"gamma": -1.0}, ValueError, "gamma must be finite and > 0, got -1.0"),
        ({"gamma": "wide"}, ValueError, "unknown gamma 'wide'"),
        ({"coherence": 1.5}, ValueError, "coherence must be finite and >= 0 and <= 1, got 1.5"),
        ({"coherence": -0.1}, ValueError, "coherence"),
        ({"coherence": "low"}, TypeError, "coherence must be a number"),
        ({"budget": 0}, ValueError, "budget must be >= 1, got 0"),
        ({"budget": 2.5}, TypeError, "budget must be a whole number"),
        ({"step_size": 0}, ValueError, "step_size"),
        ({"step_size": 2.0}, ValueError, "step_size must be finite and > 0 and < 2"),
        ({"ridge": -1}, ValueError, "ridge"),
        (
            {"compression": "newest"},
            ValueError,
            "unknown compression 'newest'; known are 'least_cost', 'oldest'",
        ),
        ({"kernel": "sigmoid"}, ValueError, "unknown kernel 'sigmoid'; known are 'gaussian'"),
        ({"n_passes": 0}, ValueError, "n_passes"),
    ],
)
def test_bad_parameters_are_named_and_change_nothing(parameters, error, message):
    X, Y = stream(50)
    model = published(KNLMSRegressor).fit(X, Y[:, 0])
    before = state(model)
    with pytest.raises(error, match=message):
        model.set_params(**parameters).fit(X, Y[:, 0])
    assert state(model) == before


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((5, 2)), np.ones(5), "2 features"),
        (np.ones((5, 4)), np.ones(5), "4 features"),
        (np.ones((0, 3)), np.ones(0), "0 sample"),
        (np.ones((3, 0)), np.ones(3), "0 feature"),
        (np.ones(3), np.ones(3), "1D array"),
        (np.ones((5, 3)), np.ones(4), "inconsistent numbers of samples"),
        (np.ones((5, 3)), np.ones((5, 2)), "y has 2 outputs, but 1 are expected"),
        (np.ones((5, 3)), None, "y is None"),
        (np.array([["a", "b", "c"]]), np.ones(1), "X must hold numbers"),
        (np.full((1, 3), 1e200), np.ones(1), "k\\(x, x\\) of row 0"),
        (np.ones((2, 3)), np.array([1.0, 1e200]), "y is 1e\\+200 at row 1"),
    ],
)
def test_bad_blocks_are_named_and_change_nothing(X, y, message):
    A, B = stream(50)
    model = published(KNLMSRegressor, kernels.Polynomial(2)).fit(A, B[:, 0])
    before = state(model)
    with pytest.raises((ValueError, TypeError), match=message):
        model.partial_fit(X, y)
    assert state(model) == before
    fresh = published(KNLMSRegressor, kernels.Polynomial(2))
    if X.ndim == 2 and X.shape[1] == 3 and message != "y has 2 outputs, but 1 are expected":
        with pytest.raises((ValueError, TypeError), match=message):
            fresh.partial_fit(X, y)
        assert not hasattr(fresh, "n_features_in_")


def test_object_arrays_of_anything_but_numbers_are_refused():
    X = np.array([[1.0, {"a": 1}]], dtype=object)
    with pytest.raises(TypeError, match="number"):
        published(KNLMSRegressor).fit(X, [1.0])


def test_wrong_shapes_in_learn_one():
    X, Y = stream(50)
    model = published(KNLMSRegressor, gamma=1.0).fit(X, Y[:, 0])
    before = state(model)
    bad = [
        (X[0, :2], 1.0),
        (X[:2], 1.0),
        (X[0], [1.0, 2.0]),
        (["a", "b", "c"], 1.0),
        (X[0], "a"),
        (X[0], None),
    ]
    bad += [
        (None, 1.0),
        (X[0] + 1j, 1.0),
        (["1", "2", "3"], 1.0),
        (3.0, 1.0),
        ({"a": 1}, 1.0),
        (X[0], 1j),
    ]
    for x, y in bad:
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(x, y)
        assert state(model) == before
    for x in (X[0, :2], X[:2], "abc"):
        with pytest.raises((ValueError, TypeError)):
            model.predict_one(x)


def test_unfitted():
    from sklearn.exceptions import NotFittedError

    for ask in (
        lambda m: m.predict([[1.0]]),
        lambda m: m.predict_one([1.0]),
        lambda m: m.centers_,
        lambda m: m.nbytes_,
    ):
        with pytest.raises(NotFittedError):
            ask(published(KNLMSRegressor))


@pytest.mark.parametrize(
    "X",
    [
        np.ones((300, 2)),
        np.zeros((300, 2)),
        np.repeat([[1.0, 2.0], [3.0, 4.0]], 150, axis=0),
        np.random.default_rng(0).normal(size=(300, 2)) * 1e-300,
        np.random.default_rng(0).normal(size=(300, 2)) * 1e300,
        np.random.default_rng(0).normal(size=(300, 2)) * 5e-324,
    ],
    ids=["ones", "zeros", "duplicates", "tiny", "huge", "denormal"],
)
@pytest.mark.parametrize("coherence", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", [*dense.FAST])
def test_weights_stay_finite(X, coherence, name):
    y = np.tile([1e100, -1e100, 0.0], 100)
    model = published(
        KNLMSRegressor, dense.KERNELS[name][0], coherence=coherence, step_size=1.9, budget=10
    )
    try:
        model.fit(X, y)
    except ValueError as error:
        # Refused: the kernel would overflow
        assert "k(x, x)" in str(error) or "single precision" in str(error)
        return
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.predict(X)).all()


def test_threads_predict_while_one_learns():
    from concurrent.futures import ThreadPoolExecutor

    X, Y = stream(20_000)
    model = published(KNLMSRegressor, gamma=1.0, coherence=0.9).fit(X[:10], Y[:10, 0])
    with ThreadPoolExecutor(4) as pool:
        learning = pool.submit(model.partial_fit, X[10:], Y[10:, 0])
        answers = [pool.submit(model.predict, X[:50]) for _ in range(200)]
        assert all(np.isfinite(a.result()).all() for a in answers)
        learning.result()
    assert state(model) == state(
        published(KNLMSRegressor, gamma=1.0, coherence=0.9)
        .fit(X[:10], Y[:10, 0])
        .partial_fit(X[10:], Y[10:, 0])
    )


def test_the_recipe_names_its_parts():
    recipe = algorithms.knlms(kernels.Gaussian(), step_size=0.1, coherence=0.5, budget=10)
    assert recipe.compression.budget == 10
    assert recipe.batch_size == 1
    learner = recipe.build(n_features=2)
    assert learner.nbytes < 100_000


def test_parameters_changed_after_the_start_are_refused():
    X, Y = stream(50)
    model = published(KNLMSRegressor, gamma=1.0).fit(X, Y[:, 0])
    before = state(model)
    with pytest.raises(
        ValueError, match=r"step_size was 0.2 when learning began and is 0.5 now: call fit"
    ):
        model.set_params(step_size=0.5).partial_fit(X, Y[:, 0])
    assert state(model) == before
    model.set_params(step_size=0.2).partial_fit(X, Y[:, 0])
    model.set_params(step_size=0.5).fit(X, Y[:, 0]).partial_fit(X, Y[:, 0])


def test_a_budget_beyond_the_memory_says_so():
    with pytest.raises(MemoryError, match="budget=100000000"):
        published(KNLMSRegressor, budget=10**8).fit([[1.0]], [1.0])
    with pytest.raises(ValueError, match="budget must be <="):
        published(KNLMSRegressor, budget=10**30).fit([[1.0]], [1.0])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None, "a", np.ones(1)])
def test_a_kernel_function_must_give_finite_numbers(value):
    def kernel(x, y):
        return value if (x[0] > 3) != (y[0] > 3) else float(np.exp(-((x - y) ** 2).sum()))

    model = published(KNLMSRegressor, kernel).fit([[0.0], [1.0]], [0.0, 1.0])
    before = state(model)
    for ask in (lambda: model.learn_one([4.0], 1.0), lambda: model.predict([[4.0]])):
        with pytest.raises((ValueError, TypeError), match="kernel function"):
            ask()
        assert state(model) == before


@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("name", [n for n in kernels.KERNELS if n != "linear"])
def test_measured_widths_do_not_depend_on_units(name, gamma):
    X, Y = stream(300)
    sizes = {
        s: published(KNLMSRegressor, name, gamma=gamma).fit(X * s, Y[:, 0]).n_centers_
        for s in (1.0, 2.0**-9, 2.0**9)
    }
    if name != "polynomial" or gamma == "scale":
        assert len(set(sizes.values())) == 1


@pytest.mark.parametrize("scale", [1e-160, 1e-120, 1e-80, 1e-50, 1e-20, 1e20, 1e39])
@pytest.mark.parametrize("coherence", [0.5, 1.0])
def test_weights_stay_finite_whatever_the_norms(scale, coherence):
    rng = np.random.default_rng(0)
    for seed in range(20):
        X = rng.normal(size=(200, 2)) * scale * 10 ** rng.uniform(-5, 0, size=(200, 1))
        y = rng.choice([1e100, -1e100, 1.0, 0.0], size=200)
        model = published(
            KNLMSRegressor, "linear", coherence=coherence, step_size=1.9, budget=1 + seed % 5
        ).fit(X, y)
        assert np.isfinite(model.weights_).all()
        assert np.isfinite(model.predict(X)).all()


def test_tiny_copies_are_not_admitted_twice():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 3)) * 1e-40, 10, axis=0)
    model = published(KNLMSRegressor, "linear", coherence=1.0).fit(X, np.ones(200))
    assert len(np.unique(model.centers_, axis=0)) == model.n_centers_


def test_a_function_sees_only_real_points():
    X, Y = stream(100)
    X += 3.0
    seen = []

    def cosine(x, y):
        seen.extend([x, y])
        return float(x @ y / np.sqrt((x @ x) * (y @ y)))

    published(KNLMSRegressor, cosine, coherence=0.99, budget=5).fit(X, Y[:, 0])
    assert {x.tobytes() for x in seen} <= {x.tobytes() for x in X}


def test_a_type_error_in_a_function_comes_through_and_nothing_is_learned_twice():
    X, Y = stream(40)
    for fatal in range(5, 400, 7):
        calls = iter(range(10**9))

        def kernel(x, y, calls=calls, fatal=fatal):
            if next(calls) == fatal:
                raise TypeError("mine")
            return float(np.exp(-((x - y) ** 2).sum()))

        model, raised = published(KNLMSRegressor, kernel, coherence=0.9, budget=3), 0
        for i, (x, y) in enumerate(zip(X, Y[:, 0], strict=True)):
            try:
                model.learn_one(x, y)
            except TypeError as error:
                assert "mine" in str(error)
                raised += 1
            if hasattr(model, "_learner"):
                assert i + 1 - raised <= model.n_samples_seen_ <= i + 1
        assert raised == (next(calls) > fatal)


def test_a_function_that_uses_its_own_model_is_told_so():
    X, Y = stream(30)
    model = published(
        KNLMSRegressor,
        lambda x, y: model.n_centers_ * 0 + float(np.exp(-((x - y) ** 2).sum())) if fitted else 1.0,
    )
    fitted = False
    model.fit(X[:1], Y[:1, 0])
    fitted = True
    with pytest.raises(RuntimeError, match="must not use the model"):
        model.learn_one(X[1], 1.0)


@pytest.mark.skipif(
    not hasattr(__import__("signal"), "setitimer"), reason="no interval timers on this platform"
)
def test_a_signal_handler_may_read_the_model():
    import signal

    X, Y = stream(200_000)
    model = published(KNLMSRegressor, gamma=1.0, coherence=0.95).fit(X[:10], Y[:10, 0])
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(model.n_centers_))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        while not heard:
            model.partial_fit(X, Y[:, 0])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heard[0] > 0


@pytest.mark.parametrize("batch_size", [2, 3, 8, 33])
def test_a_batch_sees_the_centres_its_batch_mates_brought(batch_size):
    # Predictions are those at the start of the batch; admission and kernel rows are not.
    X, Y = stream(400, outputs=2)
    kernel = kernels.Gaussian(0.5)
    recipe = algorithms.Recipe(
        kernel,
        losses.Squared(),
        admission.Coherence(0.6),
        updates.NLMS(0.3),
        compression.Nothing(),
        batch_size=batch_size,
    )
    learner = recipe.build(3, 2)
    predicted = learner.predict_then_learn(X, Y)
    centres, w, expected = np.zeros((0, 3)), np.zeros((0, 2)), []
    for first in range(0, len(X), batch_size):
        x, y = X[first : first + batch_size], Y[first : first + batch_size]
        f = kernel(x, centres) @ w if len(centres) else np.zeros_like(y)
        expected.append(f)
        for i in range(len(x)):
            if oracle.coherence(kernel, x[i], centres) <= 0.6:
                centres, w = np.vstack([centres, x[i]]), np.vstack([w, np.zeros(2)])
            h = kernel(x[i : i + 1], centres)[0]
            w = w + 0.3 / (h @ h) * np.outer(h, y[i] - f[i])
    np.testing.assert_array_equal(learner.centers(), centres)
    np.testing.assert_allclose(learner.weights(), w, atol=1e-10)
    np.testing.assert_allclose(predicted, np.vstack(expected), atol=1e-10)


@pytest.mark.parametrize("batch_size", [0, -1, 2.5])
def test_bad_batch_sizes(batch_size):
    with pytest.raises((ValueError, TypeError), match="batch_size"):
        algorithms.Recipe(
            kernels.Linear(),
            losses.Squared(),
            admission.Always(),
            updates.NLMS(0.3),
            compression.Nothing(),
            batch_size,
        )
