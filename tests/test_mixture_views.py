"""What is shown of a mixture: shares of experts, relevance of columns, and last predictions."""

import csv
import json
from functools import partial
from pathlib import Path

import commands
import numpy as np
import pytest

import parsimon
from parsimon import plots
from parsimon.cli import last_rows
from parsimon.cli.last_rows import Kept
from parsimon.cli.mixture_facts import expert_facts, mixture_shares, model_relevance
from parsimon.cli.summary import summary
from parsimon.plots.drawing import plain
from parsimon.plots.learning import LastRows, ShareCurve, learning_figure
from parsimon.plots.mixtures import LEAST_SHARE
from parsimon.tables import TableModel


def columns(n=700, *, classes=False):
    """A table whose target depends most on z, a little on the shop, and not on x."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, n)).round(4)
    shop = rng.choice(["town", "village"], size=n)
    y = np.where(shop == "town", np.sin(2 * z), z) + 0.2 * z
    x = np.where(np.arange(n) == 3, np.nan, x)  # so x has an indicator of missing values
    return {"x": x, "shop": shop, "z": z, "y": np.where(y > 0, "up", "down") if classes else y}


def learned(**options):
    model = TableModel("y")
    model.learn(columns(**options))
    return model


@pytest.fixture(scope="module")
def numbers():
    return learned()


@pytest.fixture(scope="module")
def classes():
    return learned(classes=True)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return partial(commands.said, capsys)


def write(path, table):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        rows = zip(*(values.tolist() for values in table.values()), strict=True)
        writer.writerows([["" if v != v else v for v in row] for row in rows])


def legend(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


# TableModel


def test_the_relevance_of_a_column_is_the_largest_of_its_features(numbers):
    names = numbers.encoder_.feature_names_
    found = dict(zip(names, numbers.estimator_.relevance_.tolist(), strict=True))
    assert list(numbers.relevance_) == ["x", "shop", "z"]
    for column, value in numbers.relevance_.items():
        own = [v for name, v in found.items() if name.startswith(column)]
        assert len(own) > 1 or column == "z"
        assert value == max(own)
    assert numbers.relevance_["z"] == 1.0 and max(numbers.relevance_.values()) == 1.0


def test_shares_have_the_names_of_the_experts(numbers, classes):
    for model in (numbers, classes):
        assert list(model.shares_) == model.estimator_.expert_names_
        assert list(model.shares_.values()) == model.estimator_.shares_.tolist()


def test_models_without_experts_have_neither():
    new, other = TableModel("y"), TableModel("y", algorithm="klms")
    other.learn(columns())
    assert new.relevance_ is None and other.relevance_ is None
    for model, said in ((new, "no estimator yet"), (other, "KLMSRegressor")):
        with pytest.raises(AttributeError, match=said):
            _ = model.shares_


def test_relevance_is_unknown_before_gradients_are_taken():
    model = TableModel("y")
    model.learn(columns(1))
    assert model.finish().relevance_ is None and len(model.shares_) > 5


# Inspect


def test_inspect_shows_the_experts_and_the_columns(run, numbers):
    numbers.save("m")
    facts = json.loads(run("inspect", "m", "--json"))
    shares = [expert["share"] for expert in facts["experts"]]
    assert shares == sorted(numbers.shares_.values(), reverse=True)
    assert facts["relevance"] == numbers.relevance_
    assert next(iter(facts["relevance"])) == "z"
    estimators = dict(
        zip(numbers.estimator_.expert_names_, numbers.estimator_.experts_, strict=False)
    )
    for expert in facts["experts"]:
        model = estimators.get(expert["name"])
        assert expert["centres"] == (None if model is None else model.n_centers_)
        assert expert["kernel"] == (None if model is None else repr(model.kernel_))
        assert not expert["asleep"]
    _, experts, relevance = run("inspect", "m").strip().split("\n\n")
    assert experts.splitlines()[0].split() == ["expert", "share", "centres", "asleep", "kernel"]
    assert len(experts.splitlines()) == 1 + len(shares)
    assert relevance.splitlines()[1].split() == ["z", "1.000"]


def test_experts_that_sleep_are_said_to(run):
    model = TableModel("y")
    model.learn(columns(10))
    model.finish().save("m")
    facts = json.loads(run("inspect", "m", "--json"))
    asleep = {expert["name"] for expert in facts["experts"] if expert["asleep"]}
    assert asleep and not asleep & {"linear", "mean", "last value"}
    run("inspect", "m", "--plot", "m.png")


def test_of_many_columns_ten_are_shown(run):
    X = np.random.default_rng(0).normal(size=(300, 15))
    parsimon.MixtureRegressor().fit(X, X[:, 3]).save("m")
    out = run("inspect", "m", "--plot", "m.png")
    assert "feature 3" in out and "... and 5 more" in out
    assert len(json.loads(run("inspect", "m", "--json"))["relevance"]) == 15


def test_a_mixture_that_has_learned_nothing_is_not_drawn(run):
    parsimon.MixtureRegressor().save("m")
    assert "experts" not in json.loads(run("inspect", "m", "--json"))
    assert "nothing to draw" in run("inspect", "m", "--plot", "m.png", code=2)


def test_several_outputs_show_their_largest_share():
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = parsimon.MixtureRegressor().fit(X, np.column_stack([X[:, 0], -(X[:, 1] ** 2)]))
    shares = mixture_shares(model)
    largest = np.abs(model.shares_).max(axis=1)
    np.testing.assert_array_equal(np.abs(list(shares.values())), largest)
    assert len(expert_facts(model)) == len(shares) and len(model_relevance(model)) == 3


# Learn


def test_the_summary_names_experts_and_columns(numbers):
    lines = dict(summary(numbers))
    ranked = sorted(numbers.shares_, key=lambda name: -abs(numbers.shares_[name]))[:3]
    said = ", ".join(f"{name} {numbers.shares_[name]:.2f}" for name in ranked)
    assert lines["largest shares"] == said
    assert lines["most relevant"].startswith("z 1.00, ")
    assert lines["most relevant"].count(",") == 2
    other = TableModel("y", algorithm="klms")
    other.learn(columns())
    assert not {"largest shares", "most relevant"} & dict(summary(other)).keys()


def drawn(run, monkeypatch, *arguments):
    """Run `learn --plot`, and return the figure."""
    found = []
    monkeypatch.setattr(
        "parsimon.cli.learn_view.save", lambda figure, path: found.append(figure) or Path(path)
    )
    run("learn", "s.csv", "--target", "y", "--plot", "p.png", *arguments)
    return found[0]


def test_learn_draws_the_last_predictions_and_the_shares(run, monkeypatch, numbers):
    table = columns()
    write("s.csv", table)
    _, middle, below = drawn(run, monkeypatch).axes
    came, predicted = middle.lines
    assert came.get_xdata().tolist() == list(range(501, 701))
    np.testing.assert_allclose(came.get_ydata(), table["y"][-200:])
    np.testing.assert_array_equal(predicted.get_ydata(), TableModel("y").learn(table)[-200:])
    assert legend(middle) == ["what came", "what was predicted"]
    lines = {line.get_label(): line for line in below.lines if line.get_label()[0] != "_"}
    assert legend(below) == list(lines)
    for name, share in numbers.shares_.items():
        assert name in lines or abs(share) <= LEAST_SHARE
        if name in lines:
            assert lines[name].get_ydata()[-1] == share
            assert lines[name].get_xdata()[-1] == 700


@pytest.mark.parametrize("algorithm", ["default", "polk"])
def test_learn_draws_classes(run, monkeypatch, algorithm):
    table = columns(classes=True)
    write("s.csv", table)
    middle = drawn(run, monkeypatch, "--algorithm", algorithm).axes[1]
    found = TableModel("y", algorithm=algorithm).learn(table)[-200:]
    wrong = int((found != table["y"][-200:]).sum())
    assert [text.get_text() for text in middle.get_yticklabels()] == ["down", "up"]
    said = legend(middle)
    assert said[:2] == [f"came as predicted: {200 - wrong}", f"came otherwise: {wrong}"]


def test_many_classes_are_drawn_as_accuracy(run, monkeypatch):
    table = columns(1000)
    table["y"] = np.digitize(table["z"], np.linspace(-1.5, 1.5, 15))
    write("s.csv", table)
    middle = drawn(run, monkeypatch, "--task", "classification").axes[1]
    right = TableModel("y", task="classification").learn(table) == table["y"]
    expected = np.convolve(right[-200:], np.ones(20) / 20, "valid")
    (line,) = middle.lines
    np.testing.assert_allclose(line.get_ydata(), expected)


@pytest.mark.parametrize("kind", ["boolean", "few numbers"])
def test_labels_of_any_kind_are_drawn(run, monkeypatch, kind):
    table = columns(300)
    table["y"] = table["z"] > 0 if kind == "boolean" else (table["z"] > 0).astype(int)
    write("s.csv", table)
    middle = drawn(run, monkeypatch).axes[1]
    shown = [text.get_text() for text in middle.get_yticklabels()]
    assert shown == (["False", "True"] if kind == "boolean" else ["0", "1"])


def test_a_short_stream_and_a_run_without_new_rows_are_drawn(run, monkeypatch):
    write("s.csv", columns(30))
    middle = drawn(run, monkeypatch, "--model", "m").axes[1]
    assert middle.lines[0].get_xdata().tolist() == list(range(2, 31))
    middle = drawn(run, monkeypatch, "--model", "m", "--resume").axes[1]
    assert [text.get_text() for text in middle.texts] == ["no row was predicted in this run"]


def test_rows_that_are_kept_are_few():
    import pyarrow as pa

    table = columns(1000)
    model, kept = TableModel("y", algorithm="klms"), Kept()
    for first in range(0, 1000, 250):
        rows = pa.table({name: values[first : first + 250] for name, values in table.items()})
        kept.add(model, rows, model.learn(rows))
    found = kept.last_rows(model)
    assert len(found.came) == last_rows.MOST_ROWS == 200 and found.last == 1000
    np.testing.assert_array_equal(found.came, table["y"][-200:])


# Pictures


def test_names_are_drawn_as_they_are(tmp_path):
    """No formula, no line break, and no warning for letters that the font lacks."""
    names = ["a $b_{c$ d", "two\nlines", "日本", "x" * 200, ""]
    assert all(len(plain(name)) <= 34 for name in names)
    relevance = dict.fromkeys(names, 0.5)
    for kind in ("png", "svg"):
        path = plots.mixture(tmp_path / f"p.{kind}", relevance, relevance, title=plain("$a_{"))
        assert path.stat().st_size > 1000


def test_small_shares_are_drawn_if_there_are_no_others():
    class Report:
        rows, centers = 10, 3
        total = rolling = {"relative_mse": 0.5, "rows": 9}  # noqa: RUF012

    names = ["a", "b", "c", "d"]
    curve = ShareCurve([10], names, [np.array([0.01, -0.04, 0.02, 0.03])])
    figure = learning_figure([Report()], LastRows(10, np.ones(3), np.zeros(3)), curve)
    assert legend(figure.axes[2]) == ["d", "c", "b"]
