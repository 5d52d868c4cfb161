"""Single precision: a model with SinglePrecision(k) that sees X is bit for bit the model with k
that sees X rounded.
"""

import copy
import json
import pickle

import dense
import forgeries
import numpy as np
import pytest
import test_state
from sklearn.base import clone

import parsimon
from parsimon import kernels, merge, persistence
from parsimon.estimators import ESTIMATORS
from parsimon.export import to_c, to_libsvm
from parsimon.export.expansion import expansion
from parsimon.kernels import Constant, Gaussian, Linear, Normalized, SinglePrecision
from parsimon.merging import pursuit
from parsimon.mixtures import CandidateClassifier


def rounded(X):
    return np.asarray(X).astype(np.float32).astype(np.float64)


def in_single(model):
    return clone(model).set_params(kernel=SinglePrecision(model.kernel))


def in_double(model):
    """A model that can be in either."""
    merges = getattr(model, "maintenance", "") == "merge"  # the middle of two floats is none
    if not merges:
        return model
    plain = {"neighbors": 0} if hasattr(model, "neighbors") else {}
    return clone(model).set_params(maintenance="projection", **plain)


MODELS = [
    *map(in_double, test_state.MODELS),
    parsimon.published(parsimon.BSGDClassifier, gamma=1.0, budget=15, maintenance="removal"),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)
every_kernel = pytest.mark.parametrize(
    "name", [name for name, (k, _) in dense.KERNELS.items() if not k.single]
)


def state(model):
    """The arrays and counts that a model remembers, in one dict."""
    learned = model.__getstate__()["_learned"]
    parts = learned.values() if isinstance(learned, dict) else [learned[-2:]]
    return {
        (i, name): value
        for i, part in enumerate(parts)
        for each in part
        for name, value in each.items()
    }


def assert_twins(single, double, X):
    """Assert that nothing but memory and the kernel's name tells two models apart."""
    test_state.assert_same(test_state.look(single, X), test_state.look(double, rounded(X)))
    test_state.assert_same(state(single), state(double))


@every_model
def test_models_are_those_of_rounded_samples(model):
    X, y = test_state.stream(model)
    single, double = in_single(model), copy.deepcopy(model)
    for rows in np.split(np.arange(len(X)), [40, 41, 200]):
        test_state.learn(single, X[rows], y[rows])
        test_state.learn(double, rounded(X[rows]), y[rows])
    assert_twins(single, double, X)
    if not hasattr(model, "learn_one"):
        return
    for x, target in zip(X[:20], y[:20], strict=True):
        arguments = () if isinstance(model, parsimon.KernelDictionaryLearning) else (target,)
        single.learn_one(x, *arguments)
        double.learn_one(rounded(x), *arguments)
    assert_twins(single, double, X)


@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("name", kernels.KERNELS)
def test_widths_are_measured_on_rounded_samples(name, gamma):
    X, y = test_state.stream(None)
    X = X + 1e5  # where much is lost
    step = 1e-12 if name in ("linear", "polynomial") else 0.5
    single, double = (
        parsimon.published(parsimon.KNLMSRegressor, kernel, gamma=gamma, step_size=step)
        for kernel in (SinglePrecision(name), name)
    )
    single.fit(X, y)
    double.fit(rounded(X), y)
    assert single.kernel_ == SinglePrecision(double.kernel_)
    assert_twins(single, double, X)


@every_kernel
def test_kernels_are_those_of_rounded_points(name):
    kernel, _ = dense.KERNELS[name]
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(19, 4)), rng.normal(size=(13, 4))
    single = SinglePrecision(kernel)
    np.testing.assert_array_equal(single(X, Y), kernel(rounded(X), rounded(Y)))
    assert (single(X, Y) != kernel(X, Y)).any()
    np.testing.assert_array_equal(single(X), kernel(rounded(X)))
    np.testing.assert_array_equal(pursuit.gram(single, X), pursuit.gram(kernel, rounded(X)))
    np.testing.assert_array_equal(single.diagonal(X), kernel.diagonal(rounded(X)))


@every_kernel
@pytest.mark.parametrize(
    "model",
    [
        parsimon.published(parsimon.KNLMSRegressor, coherence=0.95, budget=12),  # with a factor
        parsimon.published(
            parsimon.KLMSRegressor, step_size=1e-4, quantization=0.3
        ),  # with neighbours in input space
        parsimon.published(
            parsimon.KNLMSRegressor, coherence=0.95, budget=12, compression="oldest"
        ),
        parsimon.published(parsimon.KRLSRegressor, forgetting=0.99, budget=10),
    ],
    ids=str,
)
def test_every_kernel_learns_from_rounded_samples(model, name):
    X, y = test_state.stream(model, 90)
    double = clone(model).set_params(kernel=dense.KERNELS[name][0])
    single = in_single(double)
    before = single.predict_then_learn(X, y)
    np.testing.assert_array_equal(before, double.predict_then_learn(rounded(X), y))
    assert_twins(single, double, X)
    assert single.n_centers_ > 1


@every_model
def test_files_and_pickles_hold_all_of_it(model):
    X, y = test_state.stream(model)
    single = test_state.learn(in_single(model), X[:120], y[:120])
    for again in (persistence.loads(persistence.dumps(single)), pickle.loads(pickle.dumps(single))):
        assert again.kernel == single.kernel
        test_state.assert_same(state(again), state(single))
        once = test_state.learn(copy.deepcopy(single), X[120:], y[120:])
        test_state.learn(again, X[120:], y[120:])
        test_state.assert_same(test_state.look(again, X), test_state.look(once, X))
        test_state.assert_same(state(again), state(once))


def test_a_state_beyond_the_range_is_refused():
    model = parsimon.published(parsimon.KNLMSRegressor, SinglePrecision(Gaussian(1.0))).fit(
        np.eye(3), np.arange(3.0)
    )
    saved = model.__getstate__()
    saved["_learned"][-2]["dictionary.points"][4] = 1e39
    with pytest.raises(
        ValueError, match=r"state's points contains 1e\+39 at row 1, column 1, beyond the range"
    ):
        copy.deepcopy(model).__setstate__(saved)


@every_model
def test_values_beyond_the_range_are_refused(model):
    X, y = test_state.stream(model, 60)
    single = test_state.learn(in_single(model), X, y)
    before = test_state.look(single, X), state(single)
    bad = X.copy()
    bad[7, 1] = -1e39
    message = (
        r"X contains -1e\+39 at row 7, column 1, "
        r"beyond the range of single precision \(3.4028235e38\)"
    )
    with pytest.raises(ValueError, match=message):
        test_state.learn(single, bad, y)
    for name in ("predict", "decision_function", "transform", "predict_then_learn"):
        if hasattr(single, name):
            with pytest.raises(ValueError, match="at row 7, column 1, beyond"):
                getattr(single, name)(bad, *([y] if name == "predict_then_learn" else []))
    if hasattr(single, "learn_one"):
        with pytest.raises(ValueError, match="at row 0, column 1, beyond"):
            single.learn_one(
                bad[7], *([] if isinstance(single, parsimon.KernelDictionaryLearning) else [y[7]])
            )
    fresh = in_single(model)
    with pytest.raises(ValueError, match=message):
        test_state.learn(fresh, bad, y)
    assert not hasattr(fresh, "kernel_")
    test_state.assert_same(test_state.look(single, X), before[0])
    test_state.assert_same(state(single), before[1])


def test_the_range_ends_where_rounding_leaves_it():
    kernel = SinglePrecision(Linear())
    largest = float(np.finfo(np.float32).max)
    edge = largest + 2.0**103  # halfway to what would be the next one
    inside = np.array([[np.nextafter(edge, 0)]])
    np.testing.assert_array_equal(kernel.diagonal(inside), [largest**2])
    np.testing.assert_array_equal(kernel(inside, [[1.0]]), [[largest]])
    # Fmt: skip
    for call in (
        lambda: kernel([[0.0], [-edge]]),
        lambda: kernel([[0.0]], [[0.0], [edge]]),
        lambda: kernel.diagonal([[0], [edge]]),
    ):
        with pytest.raises(
            ValueError,
            match=r"contains .* at row 1, column 0, beyond the range of single precision",
        ):
            call()
    assert (kernel([[1e-60]]) == 0).all()  # too small for a float


def test_what_it_is_measured_on_is_looked_at_first():
    model = parsimon.published(parsimon.KNLMSRegressor, SinglePrecision("gaussian"), gamma="median")
    with pytest.raises(
        ValueError, match="at row 1, column 0, beyond the range of single precision"
    ):
        model.fit([[1.0], [1e39], [2.0]], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "inner", [Gaussian(0.001), Normalized(Gaussian(0.001) + Constant(0.5))], ids=str
)
def test_memory_is_about_half(inner):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 784)), rng.normal(size=2000)
    single, double = (
        parsimon.published(parsimon.KLMSRegressor, kernel, step_size=0.5).fit(X, y)
        for kernel in (SinglePrecision(inner), inner)
    )
    assert single.n_centers_ == double.n_centers_ == 2000
    features = single._learner.n_centers * 784
    assert single.nbytes_ < 0.54 * double.nbytes_
    assert single.nbytes_ >= 4 * features
    assert double.nbytes_ - single.nbytes_ >= 4 * features


def test_merging_compressing_and_comparing():
    X, y = test_state.stream(None)
    twins = []
    for kernel, rows in ((SinglePrecision(Gaussian(1.0)), X), (Gaussian(1.0), rounded(X))):
        first, second = (
            parsimon.published(parsimon.KNLMSRegressor, kernel, coherence=0.9, budget=60).fit(
                rows[part], y[part]
            )
            for part in (slice(0, 120), slice(80, 240))
        )
        done = merge([first, second], tolerance=0.1)
        more = copy.deepcopy(first).compress(budget=10)
        twins.append(
            (
                done.model,
                done.distance,
                more.model,
                more.distance,
                first.distance(second),
                first.norm(),
            )
        )
    for single, double in zip(*twins, strict=True):
        if isinstance(single, float):
            assert single == double
        else:
            assert_twins(single, double, X)
    with pytest.raises(ValueError, match="kernel"):
        merge(
            [
                first,
                parsimon.published(
                    parsimon.KNLMSRegressor,
                    SinglePrecision(Gaussian(1.0)),
                    coherence=0.9,
                    budget=60,
                ).fit(X, y),
            ]
        )


def test_expansions_from_elsewhere_are_rounded():
    X, y = test_state.stream(None)
    single = parsimon.KernelExpansionRegressor(SinglePrecision(Gaussian(1.0)), X, y, 0.5)
    double = parsimon.KernelExpansionRegressor(Gaussian(1.0), rounded(X), y, 0.5)
    np.testing.assert_array_equal(single.predict(X), double.predict(rounded(X)))
    assert single.norm() == double.norm()
    assert single.compress(budget=20).distance == double.compress(budget=20).distance
    np.testing.assert_array_equal(single.centers_, double.centers_)
    many = np.zeros((600, 2))
    many[550, 1] = 1e39
    with pytest.raises(ValueError, match="row 550, column 1, beyond"):
        single.predict(many)


def test_mixtures_are_those_of_rounded_samples():
    X, y = test_state.stream(parsimon.published(parsimon.POLKClassifier))
    single, double = (
        CandidateClassifier(
            [
                parsimon.published(
                    parsimon.POLKClassifier, kernel, gamma="median", loss="logistic", budget=20
                )
            ],
            widths=[0.5],
        ).partial_fit(rows, y)
        for kernel, rows in ((SinglePrecision("gaussian"), X), ("gaussian", rounded(X)))
    )
    np.testing.assert_array_equal(single.predict_proba(X), double.predict_proba(rounded(X)))


@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_a_bias_goes_inside(bias):
    X, y = test_state.stream(None)
    model = parsimon.published(
        parsimon.SOGSVR, SinglePrecision("gaussian"), gamma=1.0, bias=bias
    ).fit(X, y)
    inner = Gaussian(1.0) + Constant(4.0) if bias else Gaussian(1.0)
    assert model.kernel_ == SinglePrecision(inner)


@pytest.mark.parametrize("make", [
    lambda k: k + Linear(), lambda k: 1.0 + k, lambda k: 0.5 * k, lambda k: k * Linear(),
    Normalized, SinglePrecision,
    lambda k: SinglePrecision(k + 1.0),
])  # fmt: skip
def test_it_goes_around_the_whole(make):
    with pytest.raises(
        TypeError, match=r"put it around the whole, as in SinglePrecision\(a \+ b\)"
    ):
        make(SinglePrecision(Gaussian(1.0)))


def test_what_is_no_kernel_is_refused():
    with pytest.raises(ValueError, match="unknown kernel 'nonsense'"):
        SinglePrecision("nonsense")
    for wrong in (Gaussian, lambda x, y: 1.0, 3.0, None):
        with pytest.raises(TypeError, match="kernel must be a kernel object"):
            SinglePrecision(wrong)
    with pytest.raises(TypeError, match="needs an estimator's gamma"):
        SinglePrecision("gaussian")([[1.0]])
    with pytest.raises(ValueError, match="no effect on a kernel given as an object"):
        parsimon.published(parsimon.KNLMSRegressor, SinglePrecision(Gaussian(1.0)), gamma=2.0).fit(
            [[1.0]], [1.0]
        )
    with pytest.raises(ValueError, match="needs the Gaussian kernel in double precision"):
        parsimon.published(
            parsimon.BSGDClassifier, SinglePrecision("gaussian"), gamma=1.0, maintenance="merge"
        ).fit(np.eye(2), [0, 1])


def test_it_is_a_value():
    kernel = SinglePrecision(Gaussian(0.5))
    assert kernel == SinglePrecision(Gaussian(0.5)) != SinglePrecision(Gaussian(0.6))
    assert hash(kernel) == hash(SinglePrecision(Gaussian(0.5)))
    assert kernel != Gaussian(0.5)
    assert kernel == SinglePrecision(Gaussian(0.5), arithmetic="double")
    assert kernel != SinglePrecision(Gaussian(0.5), arithmetic="single")
    assert repr(kernel) == "SinglePrecision(kernel=Gaussian(gamma=0.5), arithmetic='double')"
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@pytest.mark.parametrize("model", [m for m in MODELS if type(m) in ESTIMATORS], ids=str)
def test_exports_do_not_round_inputs_which_matters_little(model):
    X, y = test_state.stream(model)
    single = test_state.learn(in_single(model), X, y)
    plain = expansion(single)
    exported = plain.kernel(X, plain.centers) @ plain.weights + plain.offset
    given = single._evaluate(X)
    assert 0 < np.abs(exported - given).max() < 1e-6 * np.abs(given).max()


def test_exports_hold_rounded_centres():
    X, y = test_state.stream(None)
    single = parsimon.published(
        parsimon.KNLMSRegressor, SinglePrecision(Gaussian(1.0)), budget=20
    ).fit(X, y)
    double = parsimon.published(parsimon.KNLMSRegressor, Gaussian(1.0), budget=20).fit(
        rounded(X), y
    )
    plain = expansion(single)
    assert plain.kernel == Gaussian(1.0)
    np.testing.assert_array_equal(plain.centers, rounded(plain.centers))
    assert to_c(single) == to_c(double)
    assert to_libsvm(single) == to_libsvm(double)
    pytest.importorskip("onnx")
    from parsimon.export import to_onnx

    assert to_onnx(single).SerializeToString() == to_onnx(double).SerializeToString()


def test_river_takes_it():
    pytest.importorskip("river")
    from parsimon import river

    X, y = test_state.stream(None)
    single, double = (
        river.KNLMSRegressor(kernel, budget=12)
        for kernel in (SinglePrecision("gaussian"), "gaussian")
    )
    for x, target in zip(X, y, strict=True):
        single.learn_one(dict(enumerate(x)), target)
        double.learn_one(dict(enumerate(rounded(x))), target)
        assert single.predict_one(dict(enumerate(x))) == double.predict_one(
            dict(enumerate(rounded(x)))
        )
    single.learn_one({0: 0.1, 1: 0.2, "new": 0.3}, 1.0)  # zeros are floats
    double.learn_one(dict(zip([0, 1, "new"], rounded([0.1, 0.2, 0.3]), strict=True)), 1.0)
    assert single.predict_one({"new": 0.5}) == double.predict_one({"new": 0.5})


WIDE = [
    parsimon.published(parsimon.KNLMSRegressor, "gaussian", gamma=0.02, budget=20),
    parsimon.POLKClassifier("gaussian", gamma=0.02, budget=60),
    parsimon.KRLSRegressor("matern32", gamma=0.02, budget=50),
    parsimon.SOGSVR(Gaussian(0.02) + 0.1 * Linear(), budget=40),
    parsimon.MKNLMSRegressor("gaussian", gamma=0.05),
]


def wide_stream(n, d=150):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, d)) * np.linspace(0.1, 1, d) * (rng.random((n, d)) < 0.6)
    return X, X[:, :5].sum(axis=1)


def with_arithmetic(model, arithmetic):
    return clone(model).set_params(kernel=SinglePrecision(model.kernel, arithmetic))


@pytest.mark.parametrize("model", WIDE, ids=str)
def test_single_arithmetic_changes_predictions_a_little_and_what_is_learned_not_at_all(model):
    X, y = wide_stream(300)
    if isinstance(model, parsimon.POLKClassifier):
        y = (y > 0).astype(int)
    double, single = (with_arithmetic(model, a) for a in ("double", "single"))
    for rows in (slice(0, 150), slice(150, 300)):
        np.testing.assert_array_equal(
            single.predict_then_learn(X[rows], y[rows]), double.predict_then_learn(X[rows], y[rows])
        )
    test_state.assert_same(state(single), state(double))
    fresh = wide_stream(500)[0][300:]
    f, g = double._evaluate(fresh), single._evaluate(fresh)
    assert 0 < np.abs(f - g).max() < 1e-5 * np.abs(f).max()
    # Blocks equal rows, a file holds the arithmetic, and centres are predicted as before.
    np.testing.assert_array_equal(g, np.concatenate([single._evaluate(x[None]) for x in fresh]))
    again = persistence.loads(persistence.dumps(single))
    assert again.kernel == single.kernel
    np.testing.assert_array_equal(again._evaluate(fresh), g)


def test_few_features_and_other_kernels_are_in_double_precision():
    X, y = wide_stream(200)
    for kernel, columns in [(Gaussian(0.02), 31), (kernels.Laplacian(0.02), 150), (Linear(), 150)]:
        f, g = (
            parsimon.published(
                parsimon.KNLMSRegressor, SinglePrecision(kernel, a), step_size=0.01, budget=20
            )
            .fit(X[:, :columns], y)
            .predict(X[:, :columns])
            for a in ("double", "single")
        )
        np.testing.assert_array_equal(f, g)


def test_an_unknown_arithmetic_is_refused():
    with pytest.raises(ValueError, match="arithmetic must be 'double' or 'single', got 'half'"):
        SinglePrecision("gaussian", arithmetic="half")


def test_files_without_an_arithmetic_are_in_double():
    X, y = test_state.stream(None)
    model = parsimon.published(parsimon.KNLMSRegressor, SinglePrecision(Gaussian(1.0))).fit(X, y)
    header, arrays = forgeries.parsed(persistence.dumps(model))
    text = json.dumps(header)
    as_before = text.replace(', "arithmetic": "double"', "")
    assert len(as_before) < len(text)
    again = persistence.loads(forgeries.packed(json.loads(as_before), arrays))
    assert again.kernel == model.kernel
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
