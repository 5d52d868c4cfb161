"""The Poisson loss: means of counts, steps that cannot diverge, every way of using a model."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.preprocessing import MaxAbsScaler

import parsimon
from parsimon import POLKRegressor, kernels, losses, published
from parsimon.evaluation import prequential
from parsimon.export import to_c, to_libsvm, to_onnx
from parsimon.tables import TableModel


def counts(n, seed=0, height=1.0):
    """Return inputs, counts and their means, which differ the more the larger the height."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    mean = np.exp(0.5 + height * np.sin(2 * X[:, 0]) + 0.5 * height * X[:, 1])
    return X, rng.poisson(mean).astype(float), mean


def model(**options):
    return published(
        POLKRegressor, gamma=1.0, loss="poisson", **{"step_size": 0.1, "parsimony": 0.05, **options}
    )


def test_the_loss_is_half_the_deviance():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=200), rng.poisson(2.0, size=200).astype(float)
    loss = losses.Poisson()
    best = np.where(y > 0, y - y * np.log(np.maximum(y, 1)), 0.0)
    deviance = 2 * (loss.values(f, y) - best).mean()
    assert deviance == pytest.approx(mean_poisson_deviance(y, np.exp(f)), rel=1e-12)


def test_it_beats_the_squared_loss_in_deviance():
    X, y, _ = counts(4000, height=2.0)
    new, truth, mean = counts(2000, seed=1, height=2.0)

    def best(loss):
        models = (
            published(POLKRegressor, gamma=1.0, loss=loss, step_size=s, average=True)
            for s in (0.05, 0.2, 0.5)
        )
        return min(
            mean_poisson_deviance(truth, np.maximum(m.fit(X, y).predict(new), 0.01)) for m in models
        )

    assert best("poisson") < 0.8 * best("squared")
    assert best("poisson") < 1.1 * mean_poisson_deviance(truth, mean)


@settings(max_examples=150, deadline=None)
@given(
    step_size=st.floats(-8, 8).map(lambda e: 10**e),
    scale=st.floats(-3, 3).map(lambda e: 10**e),
    y=st.lists(st.sampled_from([0.0, 1e-100, 0.3, 1.0, 7.0, 1e6, 1e100]), min_size=2, max_size=2),
    weight=st.floats(-6, 6).map(lambda e: 10**e),
)
def test_no_step_passes_the_minimiser(step_size, scale, y, weight):
    polk = published(
        POLKRegressor,
        scale * kernels.Gaussian(1.0),
        loss="poisson",
        step_size=step_size,
        alpha=0.0,
        parsimony=0.0,
    )
    x = np.array([[0.3]])
    polk.partial_fit(x, y[:1], [weight])
    before = polk.predict_link(x)[0]
    polk.partial_fit(x, y[1:], [weight])
    after = polk.predict_link(x)[0]
    best = np.log(y[1]) if y[1] > 0 else -np.inf
    slack = 1e-9 * (1 + abs(before))
    assert min(before, best) - slack <= after <= max(before, best) + slack
    value = losses.Poisson().value
    assert (
        value([after], y[1:]) <= value([before], y[1:]) + 1e-9 * abs(value([before], y[1:])) + 1e-9
    )


@pytest.mark.parametrize("batch_size", [1, 8])
@pytest.mark.parametrize(
    "kernel", [kernels.Gaussian(1.0), kernels.Linear() + 1.0, kernels.Polynomial(3)], ids=str
)
@pytest.mark.parametrize("step_size", [1e-6, 0.5, 1e5])
def test_no_step_size_and_target_make_it_infinite(step_size, kernel, batch_size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-3, 4, size=(300, 1))
    y = rng.choice([0.0, 1.0, 3.0, 1e4, 1e100], size=300)
    polk = published(
        POLKRegressor,
        kernel,
        loss="poisson",
        step_size=step_size,
        alpha=0.0,
        batch_size=batch_size,
        budget=20,
    )
    predicted = polk.predict_then_learn(X, y, 10.0 ** rng.integers(-9, 9, size=300))
    assert np.isfinite(predicted).all() and (predicted >= 0).all()
    assert (
        np.isfinite(polk.weights_).all()
        and np.isfinite(polk.predict(X)).all()
        and np.isfinite(polk.norm())
    )


def test_a_batch_of_copies_does_not_pass_the_minimiser():
    polk = model(step_size=50.0, batch_size=16, alpha=0.0, parsimony=0.0).fit(
        np.zeros((16, 1)), np.full(16, 40.0)
    )
    assert 0 < polk.predict_link([[0.0]])[0] <= np.log(40.0) * (1 + 1e-12)


def test_small_steps_are_plain_gradient_steps():
    polk = model(step_size=0.1, alpha=0.0, parsimony=0.0).fit([[0.0]], [3.0])
    assert polk.weights_.tolist() == [0.1 * 2.0]


def test_negative_counts_are_refused_and_named():
    X, y, _ = counts(50)
    y[17] = -1.0
    polk = model().fit(X[:10], y[:10])
    before = polk.predict(X)
    with pytest.raises(ValueError, match="y at row 17 must be at least 0: it is a count"):
        polk.partial_fit(X, y)
    np.testing.assert_array_equal(polk.predict(X), before)
    with pytest.raises(ValueError, match="must be at least 0"):
        polk.learn_one(X[0], -0.5)


def test_predictions_are_means_however_they_are_asked_for():
    X, y, _ = counts(300)
    polk, rows = model().fit(X, y), model()
    f = polk.predict_link(X)
    assert (polk.predict(X) == np.exp(f)).all() and (polk.predict(X) > 0).all()
    assert [polk.predict_one(x) for x in X] == polk.predict(X).tolist()
    assert [polk.predict_one(x.tolist()) for x in X[:3]] == polk.predict(X[:3]).tolist()
    said = model().predict_then_learn(X, y)
    assert said[0] == 1.0  # f = 0
    for i in range(100):
        if i:
            assert rows.predict_one(X[i]) == said[i]
        rows.learn_one(X[i], y[i])
    trace = prequential(model(), [(X[:150], y[:150]), (X[150:], y[150:])], task="regression")
    errors = (said - y)[1:]  # the first row is not counted
    assert trace.metrics.total()["mae"] == pytest.approx(np.abs(errors).mean(), rel=1e-12)


def test_several_outputs():
    X, y, _ = counts(400)
    polk = model().fit(X, np.column_stack([y, 2 * y]))
    assert polk.predict(X).shape == (400, 2)
    np.testing.assert_array_equal(polk.predict(X), np.exp(polk.predict_link(X)))
    np.testing.assert_array_equal(polk.predict_one(X[0]), polk.predict(X[:1])[0])


def test_the_function_is_what_merges_and_compresses():
    X, y, _ = counts(600)
    parts = [model().fit(X[i::2], y[i::2]) for i in range(2)]
    merged = parsimon.merge(parts)
    f = np.mean([part.predict_link(X) for part in parts], axis=0)
    np.testing.assert_allclose(merged.model.predict_link(X), f, atol=merged.distance + 1e-9)
    np.testing.assert_array_equal(merged.model.predict(X), np.exp(merged.model.predict_link(X)))
    small = parts[0].compress(budget=10)
    assert small.n_centers == 10 and np.isfinite(parts[0].norm())


def test_a_stored_model_goes_on_bit_for_bit(tmp_path):
    X, y, _ = counts(400)
    polk = model(average=50).fit(X[:200], y[:200])
    polk.save(tmp_path / "counts")
    again = parsimon.load(tmp_path / "counts")
    for each in (polk, again):
        each.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(polk.predict(X), again.predict(X))


def test_exports_give_means():
    import onnxruntime

    X, y, _ = counts(300)
    for targets in (y, np.column_stack([y, 3 * y])):
        polk = model(kernel="cauchy").fit(X, targets)
        session = onnxruntime.InferenceSession(to_onnx(polk).SerializeToString())
        (found,) = session.run(None, {"X": X})
        np.testing.assert_allclose(found, polk.predict(X).reshape(len(X), -1), rtol=1e-10)
    header = to_c(model(kernel="cauchy").fit(X, y))
    body = header.partition("model_predict(const")[2]
    assert re.search(r"const double p0 = out\[c\] < 231.0 \? out\[c\] : 231.0;", body)
    assert "out[c] = p1;" in body and "const double p1 = MODEL_EXP(p0);" in body
    with pytest.raises(TypeError, match="LIBSVM has no links"):
        to_libsvm(model().fit(X, y))
    scaled = TransformedTargetRegressor(model(), transformer=MaxAbsScaler()).fit(X, y)
    with pytest.raises(TypeError, match="whose loss has a link cannot be exported"):
        to_onnx(scaled)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("outputs", [1, 2])
def test_c_gives_means(tmp_path, outputs):
    X, y, _ = counts(300)
    polk = model().fit(X, y if outputs == 1 else np.column_stack([y, 3 * y]))
    to_c(polk, tmp_path / "model.h")
    call = "out[0] = model_predict(x);" if outputs == 1 else "model_predict(x, out);"
    (tmp_path / "run.c").write_text(
        f'#include "model.h"\nvoid run(const double *x, double *out) {{ {call} }}\n'
    )
    command = [
        "cc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "run.c",
        "-o",
        "run.so",
        "-lm",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    library, pointer = ctypes.CDLL(str(tmp_path / "run.so")), ctypes.POINTER(ctypes.c_double)
    out = np.empty((len(X), outputs))
    for x, row in zip(X, out, strict=True):
        library.run(x.ctypes.data_as(pointer), row.ctypes.data_as(pointer))
    np.testing.assert_allclose(out, polk.predict(X).reshape(out.shape), rtol=1e-12)


def test_river_predicts_means():
    river = pytest.importorskip("parsimon.river")
    X, y, _ = counts(100)
    stream, plain = (
        river.POLKRegressor(
            **{
                name: value
                for name, value in model(parsimony=0.01).get_params().items()
                if name not in ("n_passes", "shuffle", "random_state")
            }
        ),
        model(parsimony=0.01),
    )
    assert stream.predict_one({"a": 1.0, "b": 0.0}) == 1.0  # exp(0), before anything was learned
    for x, target in zip(X, y, strict=True):
        stream.learn_one({"a": x[0], "b": x[1]}, target)
        plain.learn_one(x, target)
    assert stream.predict_one({"a": 0.2, "b": 0.3}) == plain.predict_one(np.array([0.2, 0.3]))


def table(n):
    X, y, _ = counts(n)
    return {"a": X[:, 0], "b": X[:, 1], "count": y}


def test_tables_learn_counts_as_they_are(tmp_path):
    options = {"loss": "poisson", "step_size": 0.1}
    made = TableModel("count", task="regression", algorithm="polk", options=options, warmup=100)
    rows = table(1500)
    said = made.learn(rows)
    assert (made.scaler_.mean_, made.scaler_.scale_) == (0.0, 1.0)
    X = made.encoder_.transform(rows)
    np.testing.assert_array_equal(made.predict(rows), np.exp(made.estimator_.predict_link(X)))
    tail = slice(500, None)
    constant = mean_poisson_deviance(rows["count"][tail], np.full(1000, rows["count"].mean()))
    assert mean_poisson_deviance(rows["count"][tail], said[tail]) < 0.7 * constant
    made.save(tmp_path / "table")
    np.testing.assert_array_equal(
        parsimon.load(tmp_path / "table").predict(rows), made.predict(rows)
    )


@pytest.mark.parametrize("learned", [0, 150])
def test_tables_name_a_negative_count(learned):
    made = TableModel(
        "count", task="regression", algorithm="polk", options={"loss": "poisson"}, warmup=100
    )
    if learned:
        made.learn(table(learned))
    bad = table(30)
    bad["count"][4] = -2
    with pytest.raises(ValueError, match="-2 cannot be learned: it must be at least 0") as caught:
        made.learn(bad)
    assert (caught.value.column, caught.value.row) == ("count", 4)
    assert made.n_rows_ == learned
