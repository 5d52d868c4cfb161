"""What the commands say to a person: scores and the rows they are over, notes, errors, plots."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import parsimon
from parsimon.cli.words import choose, plural
from parsimon.mixtures import CandidateClassifier
from parsimon.plots.drawing import draw_line, new_figure, scale_errors
from parsimon.tables import TableModel


def write(path, header, rows, delimiter=","):
    with open(path, "w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


def labelled(n):
    """A table with two classes that depend on both columns."""
    x, z = np.random.default_rng(0).normal(size=(2, n)).round(4)
    return list(zip(x, z, np.where(x * z > 0, "same", "other"), strict=True))


def measured(n):
    """A table with a target that depends on both columns."""
    x, z = np.random.default_rng(0).normal(size=(2, n)).round(4)
    return list(zip(x, z, (x * z).round(4), strict=True))


def pairs(out):
    """The lines of a summary by their names, without tables below it."""
    lines = out.partition("\n\n")[0].splitlines()
    return dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines)


# Predictions in the dialect of the data


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
def test_predict_keeps_the_separator_and_the_decimal_mark(run, delimiter):
    rows = [[str(v).replace(".", ",") for v in row] for row in measured(300)]
    write("s.csv", ["x", "z", "y"], rows, delimiter)
    run("learn", "s.csv", "--target", "y", "--model", "m", "--decimal", ",")
    printed, _ = run("predict", "m", "s.csv")
    run("predict", "m", "s.csv", "--out", "p.csv")
    assert Path("p.csv").read_text() == printed
    found = list(csv.reader(io.StringIO(printed), delimiter=delimiter))
    assert found[0] == ["x", "z", "y", "prediction"] and [r[:3] for r in found[1:]] == rows
    assert all("." not in row[3] for row in found) and any("," in row[3] for row in found)
    expected = run("evaluate", "m", "s.csv")[0]
    assert run("evaluate", "m", "p.csv")[0] == expected
    options = ["--decimal", ","] if delimiter == "," else []  # elsewhere it is found out
    out, _ = run("learn", "p.csv", "--target", "prediction", *options)
    assert "regression of 'prediction'" in out


def test_probabilities_have_the_decimal_mark_too(run):
    rows = [[str(v).replace(".", ",") for v in row] for row in labelled(300)]
    write("s.csv", ["x", "z", "y"], rows, ";")
    run("learn", "s.csv", "--target", "y", "--model", "m")
    out, _ = run("predict", "m", "s.csv", "--probabilities")
    found = list(csv.reader(io.StringIO(out), delimiter=";"))
    shares = np.array([[float(v.replace(",", ".")) for v in row[4:]] for row in found[1:]])
    assert "." not in out and np.allclose(shares.sum(axis=1), 1.0)


# Scores


def test_the_summary_says_over_which_rows_the_scores_are(run):
    write("s.csv", ["x", "z", "y"], labelled(1500))
    learn = ["learn", "s.csv", "--target", "y", "--algorithm", "polk", "--model", "m"]
    found = pairs(run(*learn)[0])
    assert found["scores"] == "the first 200 rows count with the previous target as prediction"
    assert re.fullmatch(r"\S+ over all rows, \S+ over the last 1,000", found["accuracy"])
    loss = found["logarithmic loss"]
    assert re.fullmatch(r"\S+ over the 1,300 rows after the warm-up, \S+ over the last 1,000", loss)
    shown = pairs(run("inspect", "m")[0])
    assert shown["scores"] == found["scores"] and shown["logarithmic loss"] == loss
    facts = json.loads(run("inspect", "m", "--json")[0])
    assert facts["total"]["log_loss_rows"] == 1300 and facts["rolling"]["log_loss_rows"] == 1000


def test_the_same_rows_are_said_once(run):
    write("s.csv", ["x", "z", "y"], labelled(600))
    found = pairs(run("learn", "s.csv", "--target", "y", "--algorithm", "polk")[0])
    assert re.fullmatch(r"\S+ over all rows", found["accuracy"])
    assert re.fullmatch(r"\S+ over the 400 rows after the warm-up", found["logarithmic loss"])


@pytest.mark.parametrize(("n", "scored"), [(2, False), (200, False), (201, True)])
def test_rows_of_the_warm_up_alone_have_no_scores(run, n, scored):
    write("s.csv", ["x", "z", "y"], measured(n))
    learn = ["learn", "s.csv", "--target", "y", "--task", "regression", "--algorithm", "krls"]
    out, _ = run(*learn, "--model", "m")
    none = "none: fewer than 201 rows, and the first 200 are the warm-up"
    assert ("R2" in out) is scored and (none in out) is not scored
    assert (none in run("inspect", "m")[0]) is not scored
    end = json.loads(run(*learn, "--json")[0].splitlines()[-1])
    assert (end["total"]["mse"] is not None) is scored
    out, _ = run("compare", "s.csv", "--target", "y", "--task", "regression", "--algorithm", "klms")
    assert ("no scores for klms: fewer than 201 rows" in out) is not scored


def test_a_mixture_is_scored_from_the_second_row_on(run):
    write("s.csv", ["x", "z", "y"], labelled(150))
    found = pairs(run("learn", "s.csv", "--target", "y", "--model", "m")[0])
    assert found["scores"].endswith("from the second row on")
    assert re.fullmatch(r"\S+ over all rows", found["logarithmic loss"])
    assert json.loads(run("inspect", "m", "--json")[0])["total"]["log_loss_rows"] == 149
    out, _ = run("compare", "s.csv", "--target", "y", "--algorithm", "default")
    assert "no scores" not in out and "repeat the last target" not in out


def test_compare_says_over_how_many_rows_its_scores_are(run):
    write("s.csv", ["x", "z", "y"], labelled(600))
    out, _ = run("compare", "s.csv", "--target", "y", "--algorithm", "polk")
    assert "accuracy, last 599" in out
    assert "polk: predictions repeat the last target for the first 200 rows, which have no" in out
    write("l.csv", ["x", "z", "y"], labelled(1100))
    out, _ = run("compare", "l.csv", "--target", "y", "--algorithm", "bsgd")
    assert "accuracy, last 1,000" in out


def test_one_row_is_one_row(run):
    write("s.csv", ["x", "y"], [[1, 2]])
    out, _ = run("learn", "s.csv", "--target", "y", "--model", "m")
    assert "1 row in " in out and "1 rows" not in out.replace("1 rows/s", "")
    assert run("compare", "s.csv", "--target", "y", "--algorithm", "klms")[0].count("1 row ") == 1
    write("b.csv", ["x", "y"], [[1, 2], [1], [2, 3]])
    out, _ = run("learn", "b.csv", "--target", "y", "--bad-rows", "skip")
    assert pairs(out)["rows"] == "2; 1 bad row skipped"
    assert plural(1, "row") == "1 row" and plural(0, "row") == "0 rows"


# Inspect


def test_inspect_says_that_the_memory_is_that_of_the_file(run):
    write("s.csv", ["x", "z", "y"], measured(300))
    run("learn", "s.csv", "--target", "y", "--model", "m")
    memory = pairs(run("inspect", "m")[0])["memory"]
    assert memory.endswith(" as stored; grows to its budget when it next learns")
    parsimon.published(parsimon.KNLMSRegressor, gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0]).save(
        "plain"
    )
    assert pairs(run("inspect", "plain")[0])["memory"].endswith(" as stored")


def test_inspect_shows_the_candidates_of_a_mixture_on_lines_of_their_own(run):
    x, z, y = zip(*labelled(300), strict=True)
    candidates = [
        parsimon.published(parsimon.POLKClassifier, loss="logistic", gamma=gamma)
        for gamma in (0.5, 2.0)
    ]
    model = TableModel("y", algorithm=CandidateClassifier(candidates))
    model.learn({"x": x, "z": z, "y": y})
    model.save("m")
    out, _ = run("inspect", "m")
    lines = out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("candidate 1 "))
    second = next(i for i, line in enumerate(lines) if line.startswith("candidate 2 "))
    assert second - first > 4 and all(line.startswith("  ") for line in lines[first + 1 : second])
    assert "% of the vote" in lines[first] and "{" not in out and "(parameters" not in out


def test_inspect_says_how_the_data_was_read(run):
    rows = [
        [f"{1 + i % 28}.3.2024", str(v[0]).replace(".", ","), v[2]]
        for i, v in enumerate(labelled(300))
    ]
    write("s.csv", ["day", "x", "y"], rows, ";")
    run("learn", "s.csv", "--target", "y", "--model", "m", "--date-format", "%d.%m.%Y")
    assert pairs(run("inspect", "m")[0])["data"] == "decimal mark ',', dates as '%d.%m.%Y'"


# Errors and notes


def test_ambiguous_dates_have_two_options_to_copy(run):
    write("s.csv", ["d", "y"], [[f"{1 + i % 12}/{1 + i % 12}/2024", i] for i in range(30)])
    _, err = run("learn", "s.csv", "--target", "y")
    assert "--date-format '%m/%d/%Y' or --date-format '%d/%m/%Y'\n" in err


@pytest.mark.parametrize("command", ["learn", "compare"])
def test_mistyped_names_have_a_suggestion(run, command):
    write("s.csv", ["x", "z", "y"], measured(30))
    line = [command, "s.csv", "--target", "y"]
    expected = "unknown algorithm 'knmls'; did you mean 'knlms'? known are 'default'"
    assert expected in run(*line, "--algorithm", "knmls", code=2)[1]
    expected = "unknown task 'Regresion'; did you mean 'regression'? known are"
    assert expected in run(*line, "--task", "Regresion", code=2)[1]
    assert choose({"a": 1}, "a", "thing") == 1


def test_an_algorithm_for_the_other_task_says_so(run):
    write("s.csv", ["x", "z", "y"], measured(300))
    _, err = run("learn", "s.csv", "--target", "y", "--algorithm", "bsgd", code=2)
    assert "--algorithm bsgd is for classification only, for regression there are default" in err
    _, err = run("compare", "s.csv", "--target", "y", "--algorithm", "bsgd", code=2)
    assert "--algorithm bsgd is not for regression, for which there are default, polk" in err
    write("c.csv", ["x", "z", "y"], labelled(300))
    _, err = run("learn", "c.csv", "--target", "y", "--algorithm", "klms", code=2)
    assert "--algorithm klms is for regression only, for classification there are default" in err
    write("c.csv", ["x", "z", "y"], [[1.0, 2.0, ""], *measured(3)])
    _, err = run("learn", "c.csv", "--target", "y", "--algorithm", "klms", code=2)
    # No other algorithm would mend it, so none is named.
    assert "the target is missing (--bad-rows skip skips such rows)\n" in err


def test_strings_of_json_that_are_numbers_have_a_hint_that_helps(run):
    Path("s.jsonl").write_text("".join(f'{{"x": {i}, "y": "{i % 2}"}}\n' for i in range(30)))
    _, err = run("learn", "s.jsonl", "--target", "y", code=2)
    assert '"0" looks like a number: write it without quotes; --task classification' in err


BROKEN_JSON = {
    "cut": ('{"x": 1, "y": 2', "row 2 is not a JSON object on one line: expecting ',' delimiter"),
    "quotes": ("{'x': 1, 'y': 2}", "expecting property name enclosed in double quotes at char"),
    "a value": ('{"x": 1, "y": tru}', "row 2 is not a JSON object on one line: expecting value at"),
    "a string": ('{"x": "a, "y": 2}', "row 2 is not a JSON object on one line"),
    "a number": ("5", "row 2 is a number, not a JSON object"),
    "an array": ("[1, 2]", "row 2 is an array, not a JSON object"),
    "another type": ('{"x": "a", "y": 2}', "row 2, column 'x': expected a number, got a string"),
    "an object": ('{"x": {}, "y": 2}', "row 2, column 'x': expected a number, got an object"),
    "twice": ('{"x": 1, "x": 2, "y": 3}', "row 2 has 'x' more than once"),
    "large": ('{"x": 1e999, "y": 3}', "row 2 has a number that is too large"),
}


@pytest.mark.parametrize("name", BROKEN_JSON)
def test_broken_json_is_explained(run, name):
    line, expected = BROKEN_JSON[name]
    Path("s.jsonl").write_text(f'{{"x": 1, "y": 2}}\n{line}\n{{"x": 1, "y": 2}}\n')
    _, err = run("learn", "s.jsonl", "--target", "y", code=2)
    assert expected in err and "Column(" not in err


def test_json_lines_that_begin_otherwise_are_said_to_be_read_as_csv(run):
    Path("s.jsonl").write_text('hello\n{"x": 1, "y": 2}\n')
    _, err = run("learn", "s.jsonl", "--target", "y", code=2)
    assert (
        "it has 2 values where the header has 1 column; the first line is not a JSON object" in err
    )


def test_a_first_row_of_the_wrong_type_is_compared_with_no_row_before(run):
    write("s.csv", ["x", "z", "y"], measured(300))
    run("learn", "s.csv", "--target", "y", "--model", "m")
    write("b.csv", ["x", "z"], [["abc", 1.5]])
    _, err = run("predict", "m", "b.csv", code=2)
    assert "row 1, column 'x': 'abc' is not a number, and the column needs one" in err


def test_export_says_in_one_line_which_features_are_not_used(run):
    rows = [[*v, "ab"[i % 2]] for i, v in enumerate(measured(300))]
    write("s.csv", ["x", "z", "y", "shop"], rows)
    run("learn", "s.csv", "--target", "y", "--algorithm", "klms", "--model", "m")
    out, _ = run("export", "m", "m.h", "--encoded")
    assert "4-33  shop: not used, always 0" in out and "free" not in out
    assert len(out.splitlines()) < 12


def test_help_and_error_agree_on_the_formats_of_pictures(run):
    help_text, _ = run("learn", "--help")
    assert all(kind in help_text for kind in (".png", ".pdf", ".svg", ".jpg"))
    write("s.csv", ["x", "z", "y"], measured(300))
    _, err = run("learn", "s.csv", "--target", "y", "--plot", "a.xyz", code=2)
    assert all(kind in err for kind in (".png", ".pdf", ".svg", ".jpg"))
    run("learn", "s.csv", "--target", "y", "--plot", "a.jpg")
    assert Path("a.jpg").read_bytes().startswith(b"\xff\xd8\xff")


# Plots


@pytest.fixture
def figures(monkeypatch):
    """The figures that commands would write, by their files."""
    drawn = {}
    keep = lambda figure, path: drawn.setdefault(str(path), figure) and Path(path)  # noqa: E731
    for name in ("drawing", "streams", "models"):
        monkeypatch.setattr(f"parsimon.plots.{name}.save", keep)
    monkeypatch.setattr("parsimon.cli.learn_view.save", keep)
    return drawn


SHORT = {
    "one row": [[1.0, 2.0, 3.5]],
    "a few rows": measured(100),
    "one class": [[i, i, "a"] for i in range(300)],
}


@pytest.mark.parametrize("name", SHORT)
def test_a_plot_without_scores_says_why(run, figures, name):
    write("s.csv", ["x", "z", "y"], SHORT[name])
    algorithm = ["--algorithm", "polk"]
    run("learn", "s.csv", "--target", "y", "--plot", "l.png", *algorithm)
    above, _, below = figures["l.png"].axes
    assert above.texts[0].get_text().startswith("no scores: ")
    (line,) = below.lines
    assert len(line.get_xdata()) > 1 or line.get_marker() == "o"
    run("compare", "s.csv", "--target", "y", *algorithm, "--plot", "c.png")
    for axis in figures["c.png"].axes:
        marked = [line for line in axis.lines if line.get_marker() == "o"]
        assert axis.texts or marked


def test_a_point_alone_has_a_marker():
    _, axis = new_figure(1)
    draw_line(axis, [1, 2, 3, 4, 5], [np.nan, 1.0, np.nan, 2.0, 3.0])
    draw_line(axis, [1, 2], [1.0, 2.0])
    alone, whole = axis.lines
    assert alone.get_marker() == "o" and list(alone.get_markevery()) == [1]
    assert whole.get_marker() == "None"


@pytest.mark.parametrize(("errors", "scale"), [([1.0, 9.0], "linear"), ([0.1, 1.5], "log")])
def test_errors_that_span_a_decade_have_a_logarithmic_axis(errors, scale):
    _, axis = new_figure(1)
    axis.plot([1, 2], errors)
    scale_errors(axis, errors, [np.nan, 0.0])
    assert axis.get_yscale() == scale


def test_learn_and_compare_scale_errors_alike(run, figures):
    x = np.random.default_rng(0).uniform(size=3000)
    write("s.csv", ["x", "y"], zip(x, np.sin(6 * x), strict=True))
    run("learn", "s.csv", "--target", "y", "--plot", "l.png")
    run("compare", "s.csv", "--target", "y", "--algorithm", "default", "--plot", "c.png")
    assert figures["l.png"].axes[0].get_yscale() == figures["c.png"].axes[0].get_yscale() == "log"
