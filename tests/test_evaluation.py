"""Test-then-learn: metrics against scikit-learn's, whatever the blocks, for models of any make."""

import numpy as np
import pytest
from river import linear_model, tree
from sklearn import metrics as sk
from sklearn.linear_model import SGDClassifier, SGDRegressor

import parsimon
from parsimon.evaluation import (
    METRICS,
    ClassificationMetrics,
    RegressionMetrics,
    predict_then_learn,
    prequential,
    watch,
)
from parsimon.persistence import dumps, loads
from parsimon.tables import TableModel

N = 300


def labelled():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], size=N, p=[0.6, 0.3, 0.1])
    P = rng.dirichlet([1, 1, 1], size=N)
    return y, np.array(["a", "b", "c"])[P.argmax(axis=1)], P, np.array(["a", "b", "c"])


def stream(task="regression"):
    X = np.random.default_rng(0).normal(size=(N, 2))
    return X, X[:, 0] * X[:, 1] if task == "regression" else np.where(X[:, 0] * X[:, 1] > 0, 1, 0)


def test_regression_metrics_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.normal(1e6, 3.0, size=N)
    f = y + rng.normal(size=N)
    metrics = RegressionMetrics(window=50).update(y, f)
    for found, rows in ((metrics.total(), slice(1, N)), (metrics.rolling(), slice(N - 50, N))):
        assert found["rows"] == len(y[rows])
        assert found["mse"] == pytest.approx(sk.mean_squared_error(y[rows], f[rows]))
        assert found["mae"] == pytest.approx(sk.mean_absolute_error(y[rows], f[rows]))
        assert found["r2"] == pytest.approx(sk.r2_score(y[rows], f[rows]))
        assert found["relative_mse"] == pytest.approx(1 - found["r2"])


def test_classification_metrics_are_those_of_scikit_learn():
    y, f, P, classes = labelled()
    metrics = ClassificationMetrics(window=50).update(y, f, P, classes)
    for found, rows in ((metrics.total(), slice(1, N)), (metrics.rolling(), slice(N - 50, N))):
        assert found["rows"] == len(y[rows])
        assert found["accuracy"] == pytest.approx(sk.accuracy_score(y[rows], f[rows]))
        assert found["kappa"] == pytest.approx(sk.cohen_kappa_score(y[rows], f[rows]))
        assert found["log_loss"] == pytest.approx(
            sk.log_loss(y[rows], np.maximum(P[rows], 1e-6), labels=classes), rel=1e-3
        )
        before = np.mean(y[rows] == y[rows.start - 1 : rows.stop - 1])
        assert found["kappa_no_change"] == pytest.approx(
            (found["accuracy"] - before) / (1 - before)
        )


@pytest.mark.parametrize("task", METRICS)
def test_metrics_do_not_depend_on_blocks_and_are_stored(task, tmp_path):
    if task == "classification":
        y, f, P, classes = labelled()
    else:
        y, f, P, classes = *np.random.default_rng(0).normal(size=(2, N)), None, None
    whole = METRICS[task](window=70).update(y, f, P, classes)
    cut = METRICS[task](window=70)
    for first in range(0, N, 7):
        rows = slice(first, first + 7)
        cut.update(y[rows], f[rows], None if P is None else P[rows], classes)
        cut.save(tmp_path / "metrics.parsimon")
        cut = parsimon.load(tmp_path / "metrics.parsimon")
    assert cut.total() == whole.total() and cut.rolling() == whole.rolling()


@pytest.mark.parametrize("task", METRICS)
def test_nothing_to_score(task):
    metrics = METRICS[task]()
    assert metrics.total()["rows"] == 0 and metrics.update([], []).rolling()["rows"] == 0
    metrics.update([1.0], [1.0])
    assert metrics.total()["rows"] == 0 and metrics.rolling()["rows"] == 0
    metrics.update([1.0, 1.0], [1.0, 1.0])
    assert metrics.total()["rows"] == 2
    with pytest.raises(ValueError, match="window must be >= 1"):
        METRICS[task](window=0).update([1.0], [1.0])


@pytest.mark.parametrize(
    "model",
    [
        parsimon.published(parsimon.KNLMSRegressor, gamma=1.0),
        parsimon.published(parsimon.POLKClassifier, gamma=1.0),
        parsimon.published(parsimon.POLKClassifier, gamma=1.0, loss="logistic"),
        SGDRegressor(random_state=0),
        SGDClassifier(random_state=0),
        linear_model.LinearRegression(),
        tree.HoeffdingTreeClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_model_is_tested_before_it_learns(model):
    task = "classification" if "Class" in type(model).__name__ else "regression"
    X, y = stream(task)
    blocks = [(X[i : i + 30], y[i : i + 30]) for i in range(0, N, 30)]
    trace = prequential(model, blocks, every=60, window=50, classes=[0, 1])
    assert [r.rows for r in trace.reports] == [60, 120, 180, 240, 300]
    last = trace.reports[-1]
    assert last.total == trace.metrics.total() or np.isnan(last.total["log_loss"])
    assert last.total["rows"] == N - 1 and last.rolling["rows"] == 50 and last.rows_per_second > 0
    if type(model).__module__.startswith("parsimon"):
        assert last.centers == model.n_centers_ and last.bytes == model.nbytes_
    else:
        assert last.centers is None


def test_probabilities_are_those_before_each_row():
    X, y = stream("classification")
    block, single = (
        parsimon.published(parsimon.POLKClassifier, gamma=1.0, loss="logistic") for _ in range(2)
    )
    found = predict_then_learn(block, X, y)
    expected = []
    for i in range(N):
        if i > 1:
            expected.append(single.predict_proba(X[i : i + 1])[0])
        single.partial_fit(X[i : i + 1], y[i : i + 1])
    known = [i for i, row in enumerate(expected) if len(row) == 2]
    np.testing.assert_allclose(
        found.probabilities[2:][known], [expected[i] for i in known], atol=1e-12
    )
    np.testing.assert_array_equal(
        found.values,
        parsimon.published(parsimon.POLKClassifier, gamma=1.0, loss="logistic").predict_then_learn(
            X, y
        ),
    )


def test_a_table_model_scores_itself(tmp_path):
    X, y = stream()
    blocks = [
        {"a": X[i : i + 50, 0], "b": X[i : i + 50, 1], "y": y[i : i + 50]} for i in range(0, N, 50)
    ]
    model = TableModel("y", warmup=120)
    trace = prequential(model, blocks, every=100)
    assert [bool(r.total) for r in trace.reports] == [False, True, True]
    assert trace.metrics is model.metrics_ and trace.reports[-1].total["rows"] == N - 1
    assert trace.plot(tmp_path / "trace.png").exists()
    # The stream ends before the warm-up does
    short = prequential(TableModel("y"), blocks[:2], every=50)
    assert short.metrics.total()["rows"] == 99 and short.reports[-1].total["rows"] == 99


def test_going_on_with_metrics():
    X, y = stream()
    model = parsimon.published(parsimon.KNLMSRegressor, gamma=1.0)
    first = prequential(model, [(X[:100], y[:100])])
    second = prequential(model, [(X[100:], y[100:])], metrics=first.metrics)
    once = prequential(parsimon.published(parsimon.KNLMSRegressor, gamma=1.0), [(X, y)])
    assert second.metrics.total() == once.metrics.total()


def test_what_cannot_be_evaluated():
    with pytest.raises(TypeError, match="object learns from no stream"):
        prequential(object(), [([[1.0]], [1.0])])
    with pytest.raises(ValueError, match="unknown task 'ranking'"):
        prequential(parsimon.published(parsimon.KNLMSRegressor), [], task="ranking")
    with pytest.raises(ValueError, match="every must be >= 1"):
        next(watch(parsimon.published(parsimon.KNLMSRegressor), [], every=0))
    with pytest.raises(ValueError, match="nothing to draw"):
        prequential(parsimon.published(parsimon.KNLMSRegressor), []).plot("nowhere.png")


def test_probabilities_above_one_by_rounding_cost_nothing():
    P = np.array([[1.0 + 2e-16, 0.0], [0.0, 1.0 + 2e-16]] * 5)
    metrics = ClassificationMetrics().update([0, 1] * 5, [0, 1] * 5, P, np.array([0, 1]))
    assert metrics.total()["log_loss"] == 0.0
    assert loads(dumps(metrics)).total() == metrics.total()
