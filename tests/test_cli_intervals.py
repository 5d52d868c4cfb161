"""Prediction intervals in the commands: summaries, JSON, columns, tables, plots and errors."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import parsimon
from parsimon.cli.last_rows import Kept
from parsimon.plots.learning import LastRows, learning_figure
from parsimon.tables import TableModel


def columns(n=700):
    """A table whose noise is larger in the town."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n).round(4)
    shop = rng.choice(["town", "village"], size=n)
    noise = np.where(shop == "town", 5.0, 0.5) * rng.normal(size=n)
    return {"x": x, "shop": shop, "y": (100 + 10 * np.sin(x) + noise).round(4)}


def write(path, table, first=0):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(v[first:].tolist() for v in table.values()), strict=True))


def pairs(out):
    """The lines of a summary by their names, without tables below it."""
    lines = out.partition("\n\n")[0].splitlines()
    return dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines)


def learned(**options):
    model = TableModel("y", intervals=0.8, **options)
    found = model.learn(columns(), return_intervals=True)
    return model, *found


LEARN = ["learn", "s.csv", "--target", "y", "--intervals", "0.8"]

# Scores


@pytest.mark.parametrize("algorithm", ["default", "krls"])
def test_the_summary_has_coverage_and_width(run, algorithm):
    write("s.csv", columns())
    out = pairs(run(*LEARN, "--algorithm", algorithm, "--model", "m")[0])
    model = learned(algorithm=algorithm)[0]
    total = model.interval_metrics_.total()
    # Nothing is known of the first row, and the first interval comes after the first score. Models
    # other than the default begin after the warm-up.
    rows = f"the {697 if algorithm == 'default' else 498} rows with intervals"
    assert out["intervals"] == "for 80 % of the targets"
    assert out["interval coverage"] == f"{total['coverage']:.6g} over {rows}"
    assert out["interval width"] == f"{total['width']:.6g} over {rows}"
    shown = pairs(run("inspect", "m")[0])
    assert "intervals=0.8" in shown["parameters"]
    for name in ("intervals", "interval coverage", "interval width"):
        assert shown[name] == out[name]


def test_json_has_coverage_and_width(run):
    write("s.csv", columns(1300))
    out = run(*LEARN, "--json", "--every", 500, "--algorithm", "knlms", "--model", "m")[0]
    first, *_, last = map(json.loads, out.splitlines())
    model = parsimon.load("m")
    assert first["event"] == "progress" and first["total"]["interval_rows"] == 298
    assert last["total"]["coverage"] == model.interval_metrics_.total()["coverage"]
    assert last["rolling"]["width"] == model.interval_metrics_.rolling()["width"]
    assert (last["total"]["interval_rows"], last["rolling"]["interval_rows"]) == (1098, 1000)
    shown = json.loads(run("inspect", "m", "--json")[0])
    assert shown["total"] == last["total"] and shown["rolling"] == last["rolling"]


def test_without_intervals_nothing_is_said_of_them(run):
    write("s.csv", columns(300))
    learn = ["learn", "s.csv", "--target", "y", "--algorithm", "knlms", "--model", "m"]
    said = "".join(
        run(*command)[0] for command in (learn, ["inspect", "m"], ["evaluate", "m", "s.csv"])
    )
    assert "interval" not in said


def test_a_warm_up_alone_has_no_intervals(run):
    write("s.csv", columns(150))
    out = pairs(run(*LEARN, "--algorithm", "krls", "--model", "m")[0])
    assert out["intervals"].endswith("there are none yet, because too few rows were learned")
    assert "interval coverage" not in out
    assert "none yet" in run("evaluate", "m", "s.csv")[0]
    assert json.loads(run("evaluate", "m", "s.csv", "--json")[0])["coverage"] is None


@pytest.mark.parametrize("algorithm", ["default", "krls"])
def test_evaluate_has_coverage_and_width(run, algorithm):
    write("s.csv", columns())
    run(*LEARN, "--algorithm", algorithm, "--model", "m")
    y = columns()["y"]
    ends = parsimon.load("m").predict(columns(), lagged=False, return_intervals=True)[1]
    found = json.loads(run("evaluate", "m", "s.csv", "--json")[0])
    assert found["coverage"] == ((ends[:, 0] <= y) & (y <= ends[:, 1])).mean()
    assert found["width"] == pytest.approx(np.diff(ends, axis=1).mean())
    out = pairs(run("evaluate", "m", "s.csv")[0])
    assert out["interval coverage"] == f"{found['coverage']:.6g}"
    assert out["intervals"] == "for 80 % of the targets"


def test_compare_has_columns_for_own_models(run):
    write("s.csv", columns())
    compare = ["compare", "s.csv", "--target", "y", "--algorithm", "krls", "--intervals", "0.8"]
    out = run(*compare)[0]
    lines = {re.split("  +", line)[0]: line.split() for line in out.splitlines()}
    total = learned(algorithm="krls")[0].interval_metrics_.total()
    assert lines["regression"][-4:] == ["coverage", "width", "centres", "us/row"]
    assert lines["krls"][-4:-2] == [f"{total['coverage']:.4f}", f"{total['width']:.4f}"]
    for name in ("mean so far", "no change", "linear SGD"):
        assert lines[name][-3:-1] == ["-", "-"]
    assert "the intervals are for 80 %" in out
    krls, *others = map(json.loads, run(*compare, "--json")[0].splitlines())
    assert krls["total"]["coverage"] == total["coverage"]
    assert len(others) == 3 and not any("coverage" in other["total"] for other in others)


@pytest.mark.parametrize("inner", [parsimon.MixtureRegressor(), parsimon.KRLSRegressor()])
def test_inspect_looks_into_a_conformal_model(run, inner):
    X = np.random.default_rng(0).normal(size=(120, 2))
    new = parsimon.ConformalRegressor(inner, coverage=0.8)
    model = parsimon.ConformalRegressor(inner, coverage=0.8).fit(X, X[:, 0])
    new.save("new")
    model.save("m")
    found = json.loads(run("inspect", "m", "--plot", "m.png", "--json")[0])
    assert found["kind"] == "ConformalRegressor" and found["estimator"] == type(inner).__name__
    assert found["parameters"]["coverage"] == 0.8 and found["coverage"] == model.coverage_
    assert found["centres"] == model.n_centers_ and Path("m.png").stat().st_size > 1000
    assert pairs(run("inspect", "m")[0])["coverage"] == f"{model.coverage_:.6g}"
    assert pairs(run("inspect", "new")[0])["estimator"] == type(inner).__name__
    assert "nothing to draw" in run("inspect", "new", "--plot", "n.png", code=2)[1]


# Columns


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_predict_adds_the_ends(run, suffix):
    write("s.csv", columns())
    run(*LEARN, "--model", "m")
    out = f"p.{suffix}"
    note = run("predict", "m", "s.csv", "--intervals", "--column", "f", "--next", "--out", out)[1]
    assert "interval" not in note
    found, ends = learned()[0].predict(columns(), return_intervals=True)
    if suffix == "parquet":
        table = pyarrow.parquet.read_table(out).to_pydict()
    elif suffix == "csv":
        with open(out) as file:
            rows = list(csv.DictReader(file))
        table = {name: [row[name] for row in rows] for name in rows[0]}
    else:
        rows = [json.loads(line) for line in Path(out).read_text().splitlines()]
        table = {name: [row[name] for row in rows] for name in rows[0]}
    assert list(table)[-4:] == ["y", "f", "f: low", "f: high"]
    near = 0.0 if suffix == "parquet" else 1e-4 * columns()["y"].std()
    for name, expected in (("f", found), ("f: low", ends[:, 0]), ("f: high", ends[:, 1])):
        np.testing.assert_allclose(np.float64(table[name]), expected, rtol=1e-12, atol=near)
    if suffix == "csv":
        assert max(len(text.partition(".")[2]) for text in table["f: low"]) <= 4


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_ends_that_are_not_known_are_empty(run, suffix):
    write("s.csv", columns(50))
    run(*LEARN, "--algorithm", "krls", "--model", "m")
    out, note = f"p.{suffix}", ["predict", "m", "s.csv", "--intervals", "--out", f"p.{suffix}"]
    assert "too few rows were learned for intervals" in run(*note)[1]
    if suffix == "csv":
        assert all(line.endswith(",,") for line in Path(out).read_text().splitlines()[1:])
    elif suffix == "jsonl":
        row = json.loads(Path(out).read_text().splitlines()[0])
        assert row["prediction: low"] is row["prediction: high"] is None
    else:
        table = pyarrow.parquet.read_table(out)
        assert table["prediction: low"].null_count == 50
        assert str(table["prediction: low"].type) == "double"


# Options


def test_resumed_it_equals_a_run_that_never_stopped(run):
    write("all.csv", columns())
    write("s.csv", {name: values[:300] for name, values in columns().items()})
    run(*LEARN, "--model", "m")
    resume = ["learn", "all.csv", "--target", "y", "--model", "m", "--resume"]
    kept = Path("m").read_bytes()
    err = run(*resume, "--intervals", "0.9", code=2)[1]
    assert "m has --intervals 0.8, not 0.9: leave --intervals out, or learn a new model" in err
    assert Path("m").read_bytes() == kept
    run(*resume, "--intervals", "0.8")
    resumed = Path("m").read_bytes()
    write("s.csv", columns())
    run(*LEARN, "--model", "m", "--overwrite")
    assert Path("m").read_bytes() == resumed
    run("learn", "s.csv", "--target", "y", "--model", "n", "--algorithm", "krls")
    resume = ["learn", "s.csv", "--target", "y", "--model", "n", "--resume", "--intervals", "0.9"]
    assert "n was learned without --intervals: leave" in run(*resume, code=2)[1]


@pytest.mark.parametrize("command", ["learn", "compare"])
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("90", "got 90; did you mean 0.9?"),
        ("97.5", "did you mean 0.975?"),
        ("1", "above 0 and below 1, such as 0.9 for 90 % of the targets, got 1\n"),
        ("0", "got 0\n"),
        ("-0.5", "got -0.5\n"),
        ("nan", "got nan\n"),
        ("90%", "'--intervals'"),
    ],
)
def test_values_that_are_no_share(run, command, value, said):
    write("s.csv", columns(20))
    err = run(command, "s.csv", "--target", "y", "--intervals", value, code=2)[1]
    assert said in err and "--intervals" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("rows", [60, 300])  # at the end of the data, and of the warm-up
@pytest.mark.parametrize("command", ["learn", "compare"])
def test_classes_have_no_intervals(run, command, rows):
    write("s.csv", columns(rows))
    asked = [command, "s.csv", "--target", "shop", "--intervals", "0.9"]
    err = run(*asked, *(["--model", "m"] if command == "learn" else []), code=2)[1]
    assert "--intervals is for numbers, but the target 'shop' holds classes: leave" in err
    assert not Path("m").exists()
    err = run(*asked, "--task", "classification", code=2)[1]
    assert "--intervals is for numbers, but --task is classification" in err


def test_models_without_intervals(run):
    write("s.csv", columns(300))
    asked = ["learn", "s.csv", "--target", "y", "--algorithm", "bsgd", "--intervals", "0.9"]
    assert "--algorithm bsgd is for classification: leave" in run(*asked, code=2)[1]
    for target, told in (("y", "learn it again with --intervals 0.9"), ("shop", "for numbers")):
        run("learn", "s.csv", "--target", target, "--algorithm", "polk", "--model", target)
        err = run("predict", target, "s.csv", "--intervals", "--out", "p.csv", code=2)[1]
        assert f"{target} has no intervals: " in err and told in err
    assert not Path("p.csv").exists()


def test_no_column_comes_twice(run):
    write("s.csv", {**columns(300), "prediction: high": np.ones(300)})
    run(*LEARN, "--algorithm", "krls", "--model", "m")
    err = run("predict", "m", "s.csv", "--intervals", code=2)[1]
    assert "the data has a column 'prediction: high' already" in err


# Pictures


def legend(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_learn_draws_the_intervals(run, monkeypatch):
    write("s.csv", columns())
    found = []
    monkeypatch.setattr(
        "parsimon.cli.learn_view.save", lambda figure, path: found.append(figure) or Path(path)
    )
    run(*LEARN, "--plot", "p.png", "--algorithm", "knlms")
    middle = found[0].axes[1]
    _, _, ends = learned(algorithm="knlms")
    low, high = ends[-200:].T
    y = columns()["y"][-200:]
    inside = ((low <= y) & (y <= high)).sum()
    assert legend(middle)[2] == f"interval for 80 %\n({inside} of 200 within)"
    (band,) = middle.collections
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].min() == low.min() and corners[:, 1].max() == high.max()
    assert band.get_zorder() < min(line.get_zorder() for line in middle.lines)


def test_rows_are_kept_with_their_intervals():
    import pyarrow as pa

    table, kept = columns(), Kept()
    model = TableModel("y", algorithm="klms", intervals=0.8)
    for first in range(0, 700, 175):
        rows = pa.table({name: values[first : first + 175] for name, values in table.items()})
        kept.add(model, rows, *model.learn(rows, return_intervals=True))
    found = kept.last_rows(model)
    np.testing.assert_array_equal(found.intervals, learned(algorithm="klms")[2][-200:])
    assert found.interval == "for 80 %"


@pytest.mark.parametrize(("finite", "drawn"), [([], 0), ([1], 2), ([0, 1, 3], 2), ([0, 1, 2], 1)])
def test_intervals_that_are_not_finite_are_not_drawn(finite, drawn, tmp_path):
    """A row without neighbours is drawn as a bar, because a band of one row has no width."""

    class Report:
        rows, centers = 10, 3
        total = rolling = {"relative_mse": 0.5, "rows": 9}  # noqa: RUF012

    ends = np.full((4, 2), (-np.inf, np.inf))
    ends[finite] = (-1.0, 2.0)
    last_rows = LastRows(10, np.ones(4), np.zeros(4), intervals=ends, interval="for 90 %")
    figure = learning_figure([Report()], last_rows)
    middle = figure.axes[1]
    assert len(middle.collections) == drawn
    n = len(finite)
    assert legend(middle)[2:] == ([f"interval for 90 %\n({n} of {n} within)"] if n else [])
    figure.savefig(tmp_path / "p.png")
    assert np.isfinite(middle.get_ylim()).all()


def test_very_wide_intervals_do_not_hide_the_lines():
    class Report:
        rows, centers = 10, 3
        total = rolling = {"relative_mse": 0.5, "rows": 9}  # noqa: RUF012

    came, ends = np.array([0.0, 10.0, 5.0]), np.array([[-1e9, 1e9], [8.0, 12.0], [3.0, 6.0]])
    limits = []
    for wide in (ends, ends[[1, 1, 2]]):
        last_rows = LastRows(10, came, came, intervals=wide, interval="for 90 %")
        limits.append(learning_figure([Report()], last_rows).axes[1].get_ylim())
    (low, high), (least, most) = limits
    assert -10 < low < -5 and 15 < high < 20
    assert -1 <= least < 0 and 12 < most < 13
