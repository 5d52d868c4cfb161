"""Data as they come: what is guessed is said, bad rows are counted, and small files stay small."""

import csv
import gzip
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from commands import ran

import parsimon
from parsimon import persistence
from parsimon.cli import main, reading
from parsimon.cli.learn_run import LearnRun
from parsimon.cli.reading import bad_rows, limits
from parsimon.evaluation import ClassificationMetrics
from parsimon.preprocessing import TableEncoder, TableError
from parsimon.tables import TableModel

RNG = np.random.default_rng(0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """Run a command here; return what it printed and what it noted."""

    def run(*arguments, code=0):
        out, err = ran(capsys, *arguments, code=code)
        ends = ("are learned and kept in m", "go on with --resume")
        assert all(
            line.startswith("parsimon: ") or line.endswith(ends) for line in err.splitlines()
        ), err
        return out, err

    return run


def write(path, header, rows, delimiter=","):
    with open(path, "w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


def numbers(n=300):
    x = np.random.default_rng(1).uniform(size=n)
    return x, np.sin(6 * x) + 10


def bits(path):
    return persistence.dumps(parsimon.load(path))


# What is guessed


def commas(values):
    return [f"{v:.6f}".replace(".", ",") for v in values]


def test_decimal_commas_after_semicolons_are_numbers_and_said_so(run):
    x, y = numbers()
    write(
        "plain.csv", ["x", "y"], zip([f"{v:.6f}" for v in x], [f"{v:.6f}" for v in y], strict=True)
    )
    write("comma.csv", ["x", "y"], zip(commas(x), commas(y), strict=True), ";")
    run("learn", "plain.csv", "--target", "y", "--model", "plain")
    _, err = run("learn", "comma.csv", "--target", "y", "--model", "comma")
    assert "columns 'x' and 1 more have decimal commas, as in '0," in err and "--decimal ." in err
    plain, comma = parsimon.load("plain"), parsimon.load("comma")
    assert comma.reading_ == {"decimal": ","} and not hasattr(plain, "reading_")
    assert comma.metrics_.total() == plain.metrics_.total()
    # the model remembers it: a file with quoted decimal commas is read without the option
    write("quoted.csv", ["x", "y"], zip(commas(x), commas(y), strict=True))
    expected = json.loads(run("evaluate", "plain", "plain.csv", "--json")[0])
    for path in ("comma.csv", "quoted.csv"):
        assert json.loads(run("evaluate", "comma", path, "--json")[0]) == expected
    rows = list(csv.reader(io.StringIO(run("predict", "comma", "comma.csv")[0]), delimiter=";"))
    assert rows[1][:2] == [commas(x)[0], commas(y)[0]] and len(rows) == 301
    assert "--decimal . reads decimal points" in run("evaluate", "comma", "plain.csv", code=2)[1]
    assert (
        json.loads(run("evaluate", "comma", "plain.csv", "--decimal", ".", "--json")[0]) == expected
    )
    assert "--decimal , reads decimal commas" in run("evaluate", "plain", "quoted.csv", code=2)[1]


def test_a_target_that_looks_like_numbers_is_no_class(run):
    x, y = numbers()
    write("quoted.csv", ["x", "y"], zip(commas(x), commas(y), strict=True))
    assert "column 'y' is read as text" in run("learn", "quoted.csv", "--target", "y", code=2)[1]
    assert "--decimal , reads it" in run("compare", "quoted.csv", "--target", "y", code=2)[1]
    out, err = run("learn", "quoted.csv", "--target", "y", "--decimal", ",")
    assert "regression of 'y'" in out and "task: regression (y has numbers with fractions)" in err
    write("sums.csv", ["x", "y"], [[a, f"{1 + i % 9}.{i % 900 + 100},50"] for i, a in enumerate(x)])
    assert "looks like a number" in run("learn", "sums.csv", "--target", "y", code=2)[1]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["1,500", "2.5"], ["2,250", "1"]], "if it is a decimal comma, else take the commas out"),
        # Points, too
        ([["1,5", "2.5"], ["2,25", "1.5"]], "'1,5' looks like a number: --decimal , reads it"),
    ],
)
def test_what_may_be_decimal_commas_stays_text(folder, rows, said):
    write("a.csv", ["a", "b"], rows, ";")
    with reading.Source("a.csv") as source:
        (block,) = source.blocks()
        assert (
            block.table.column("a").type == pa.string()
            and block.table.column("b").type == pa.float64()
        )
        assert said in source.notes[0] and set(source.doubts) == {"a"}
    with reading.Source("a.csv", decimal=".") as source:
        list(source.blocks())


def test_dates_in_other_formats(run):
    x, y = numbers()
    days = [f"{1 + i % 12}/{1 + i % 28}/2024" for i in range(len(x))]
    iso = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(len(x))]
    write("iso.csv", ["d", "x", "y"], zip(iso, x, y, strict=True))
    write("us.csv", ["d", "x", "y"], zip(days, x, y, strict=True))
    Path("us.jsonl").write_text(
        "".join(
            json.dumps({"d": d, "x": a, "y": b}) + "\n" for d, a, b in zip(days, x, y, strict=True)
        )
    )
    pa.parquet.write_table(pa.table({"d": days, "x": x, "y": y}), "us.parquet")
    _, err = run("learn", "us.csv", "--target", "y")
    assert "'1/1/2024' looks like a date: --date-format '%m/%d/%Y'" in err
    expected = run("learn", "iso.csv", "--target", "y", "--model", "iso")[0].splitlines()[:9]
    for name in ("us.csv", "us.jsonl", "us.parquet"):
        out, _ = run(
            "learn", name, "--target", "y", "--date-format", "%m/%d/%Y", "--model", name + ".m"
        )
        assert out.splitlines()[:9] == expected, name
        model = parsimon.load(name + ".m")
        assert model.encoder_.columns_["d"] == "date" and model.reading_ == {
            "date_formats": ["%m/%d/%Y"]
        }
    scored = run("evaluate", "iso", "iso.csv", "--json")[0]
    assert run("evaluate", "us.csv.m", "us.csv", "--json")[0] == scored  # the format is the model's
    assert run("evaluate", "iso", "us.csv", "--date-format", "%m/%d/%Y", "--json")[0] == scored
    assert "--date-format reads other formats" in run("evaluate", "iso", "us.csv", code=2)[1]
    write("later.csv", ["d", "x", "y"], [["1/1/2024", 1, 1], ["1/40/2024", 1, 1]])
    expected = "row 2, column 'd': '1/40/2024' is not a date of the format '%m/%d/%Y'"
    assert expected in run("predict", "us.csv.m", "later.csv", code=2)[1]
    assert (
        "no column has dates of --date-format '%d.%m.%Y'"
        in run("learn", "us.csv", "--target", "y", "--date-format", "%d.%m.%Y")[1]
    )
    assert (
        "reads no dates"
        in run("learn", "us.csv", "--target", "y", "--date-format", "%H", code=2)[1]
    )


def test_a_year_of_two_digits_is_not_one_of_four(folder):
    write("a.csv", ["d"], [["12/31/24"], ["1/2/25"]])
    with reading.Source("a.csv", date_formats=["%m/%d/%Y"]) as source:
        assert next(source.blocks()).table.column("d").type == pa.string()
    with reading.Source("a.csv", date_formats=["%m/%d/%Y", "%m/%d/%y"]) as source:
        assert [str(d) for d in next(source.blocks()).table.column("d").to_pylist()] == [
            "2024-12-31",
            "2025-01-02",
        ]


TASKS = {
    "three": (
        [0, 1, 2] * 70,
        "classification (y has 3 different whole numbers in 200 rows); --task regression if",
    ),
    "many": (
        range(210),
        "regression (y has 200 different whole numbers in 200 rows); --task classification if",
    ),
    "one row": (
        [3],
        "regression (y has one whole number only in 1 row, too few rows to tell); "
        "--task classification",
    ),
    "few rows": (
        [0, 1, 1],
        "regression (y has 2 different whole numbers in 3 rows, too few rows to tell)",
    ),
    "two": ([0, 1] * 5, "classification (y has 2 different whole numbers in 10 rows)"),
    "text": (["a", "b"] * 3, "classification (y has 2 different texts in 6 rows)\n"),
    "boolean": (["true", "false"] * 3, "classification (y is true or false)\n"),
    "large": ([2**60 + i % 2 * 2**20 for i in range(30)], "regression (y has numbers"),
}


@pytest.mark.parametrize("name", TASKS)
def test_the_task_is_said_with_its_reason(run, name):
    targets, expected = TASKS[name]
    write("a.csv", ["x", "y"], enumerate(targets))
    task = expected.split()[0]
    for command in ("learn", "compare"):
        arguments = ["--algorithm", "default"] if command == "compare" else []
        assert (
            f"parsimon: note: task: {expected}"
            in run(command, "a.csv", "--target", "y", *arguments)[1]
        )
    assert "task:" not in run("learn", "a.csv", "--target", "y", "--task", task)[1]


def test_texts_of_their_own_in_every_row_are_no_classes(run):
    write("a.csv", ["x", "y"], [[i, f"name {i}"] for i in range(300)])
    expected = "column 'y': it has 200 different texts in 200 rows"
    assert expected in run("learn", "a.csv", "--target", "y", "--model", "m", code=2)[1]
    assert expected in run("compare", "a.csv", "--target", "y", code=2)[1]
    assert "classes: 300" in run("learn", "a.csv", "--target", "y", "--task", "classification")[0]
    write("short.csv", ["x", "y"], [[i, f"name {i}"] for i in range(30)])
    assert "30 different texts in 30 rows" in run("learn", "short.csv", "--target", "y", code=2)[1]
    model = TableModel("y")
    with pytest.raises(TableError, match="set the task to classification"):
        model.learn({"x": np.arange(200.0), "y": [f"name {i}" for i in range(200)]})
    assert model.n_rows_ == 0


# Scores that say something


def test_one_class_is_no_success(run):
    write("a.csv", ["x", "y"], [[i, "a"] for i in range(300)])
    out, _ = run("learn", "a.csv", "--target", "y", "--model", "m")
    assert "only one class so far" in out and "accuracy" not in out and "nan" not in out
    end = json.loads(run("learn", "a.csv", "--target", "y", "--json")[0].splitlines()[-1])
    assert {k: v for k, v in end["total"].items() if k != "rows"} == dict.fromkeys(
        ("accuracy", "kappa", "kappa_no_change", "log_loss")
    )
    out, _ = run("compare", "a.csv", "--target", "y", "--algorithm", "default")
    assert "only one class so far" in out and "nan" not in out and "1.0000" not in out
    assert "only one class so far" in run("inspect", "m")[0]
    # a model of two classes that is right about rows of one is right
    write("b.csv", ["x", "y"], [[i % 2, "ab"[i % 2]] for i in range(600)])
    write("c.csv", ["x", "y"], [[0, "a"]] * 20)
    run("learn", "b.csv", "--target", "y", "--model", "two")
    out, _ = run("evaluate", "two", "c.csv")
    assert ["accuracy", "1"] in [line.split() for line in out.splitlines()] and "nan" not in out


def test_a_window_of_one_class_has_no_kappa(run):
    write("a.csv", ["x", "y"], [[i, "ab"[i % 2] if i < 400 else "a"] for i in range(1600)])
    out, _ = run("learn", "a.csv", "--target", "y")
    assert "undefined over the last 1,000" in out and "nan" not in out


def test_one_row_has_no_scores(run):
    write("a.csv", ["x", "y"], [[1, 3]])
    out, _ = run("learn", "a.csv", "--target", "y")
    assert "none: the first row is not scored" in out and "nan" not in out


def test_metrics_know_the_labels_met():
    metrics = ClassificationMetrics()
    assert metrics.labels_ == []
    assert metrics.update(["a", "b"], ["a", "c"]).labels_ == ["a", "b", "c"]


# Bad rows


def spoiled(n=1500):
    x, y = numbers(n)
    rows = [[f"{a:.6f}", f"{b:.6f}"] for a, b in zip(x, y, strict=True)]
    good = [row for i, row in enumerate(rows) if i not in BROKEN]
    return [BROKEN.get(i, row) for i, row in enumerate(rows)], good


#: A missing target, too many values, too few, an infinite one, text, and the last row.
BROKEN = {
    0: ["1", ""],
    7: ["1", "2", "3"],
    150: ["1"],
    700: ["inf", "1"],
    701: ["abc", "1"],
    702: ["1", "nan"],
    1100: ["1", "1e300"],
    1499: ["1"],
}


def test_bad_rows_are_skipped_and_counted(run, monkeypatch):
    rows, good = spoiled()
    write("bad.csv", ["x", "y"], rows)
    write("good.csv", ["x", "y"], good)
    run("learn", "good.csv", "--target", "y", "--model", "good")
    out, err = run("learn", "bad.csv", "--target", "y", "--bad-rows", "skip", "--model", "bad")
    assert "1,492; 8 bad rows skipped" in out
    assert err.count("a bad row is skipped") == bad_rows.SHOWN and "further bad rows" in err
    assert "row 8: it has 3 values where the header has 2 columns" in err
    good, bad = parsimon.load("good"), parsimon.load("bad")
    assert bad.reading_ == {"skipped": 8} and "8 bad rows skipped" in run("inspect", "bad")[0]
    del bad.reading_
    assert persistence.dumps(bad) == persistence.dumps(good)
    end = json.loads(
        run("learn", "bad.csv", "--target", "y", "--bad-rows", "skip", "--json")[0].splitlines()[-1]
    )
    assert (end["rows"], end["skipped"]) == (1492, 8)
    # the others
    expected = json.loads(run("evaluate", "good", "good.csv", "--json")[0])
    assert json.loads(run("evaluate", "good", "bad.csv", "--bad-rows", "skip", "--json")[0]) == {
        **expected,
        "skipped": 8,
    }
    assert (
        "1,492; 8 bad rows skipped" in run("evaluate", "good", "bad.csv", "--bad-rows", "skip")[0]
    )
    options = ["--target", "y", "--algorithm", "knlms", "--bad-rows", "skip", "--json"]
    compared = [run("compare", f"{name}.csv", *options)[0] for name in ("good", "bad")]
    found = [[json.loads(line) for line in out.splitlines()] for out in compared]
    assert [m["total"] for m in found[0]] == [m["total"] for m in found[1]]
    assert {m["skipped"] for m in found[1]} == {8}
    # without it the first is an error, and predict gives a line for each row
    assert "row 8: it has 3 values" in run("learn", "bad.csv", "--target", "y", code=2)[1]
    assert "row 8: it has 3 values" in run("predict", "good", "bad.csv", code=2)[1]
    err = run("learn", "bad.csv", "--target", "y", "--bad-rows", "drop", code=2)[1]
    assert "unknown value of --bad-rows 'drop'; known are 'error', 'skip'" in err


def test_a_value_of_another_type_in_a_later_block_is_skipped(run, monkeypatch):
    monkeypatch.setattr(limits, "TEXT_BLOCK", 4000)
    rows, good = spoiled()
    write("bad.csv", ["x", "y"], rows)
    write("good.csv", ["x", "y"], good)
    run("learn", "bad.csv", "--target", "y", "--bad-rows", "skip", "--model", "bad")
    run("learn", "good.csv", "--target", "y", "--model", "good")
    assert parsimon.load("bad").metrics_.total() == parsimon.load("good").metrics_.total()


def test_bad_lines_of_json_are_skipped(run, monkeypatch):
    monkeypatch.setattr(bad_rows, "SHOWN", 10)
    _, good = spoiled(400)
    lines = [json.dumps({"x": float(a), "y": float(b)}) for a, b in good[:390]]
    Path("good.jsonl").write_text("\n".join(lines) + "\n")
    worse = [
        *lines[:5],
        '{"x": 1, ',
        *lines[5:50],
        '{"x": "text", "y": 1}',
        '{"x": 1}',
        "[1]",
        "",
        *lines[50:],
        "}",
    ]
    text = "\ufeff" + "\n".join(worse) + "\n"
    Path("bad.jsonl").write_bytes(text.encode() + b'{"x": "\xe9", "y": 1}\n')
    out, err = run("learn", "bad.jsonl", "--target", "y", "--bad-rows", "skip", "--model", "bad")
    assert "390; 6 bad rows skipped" in out and "row 6 is not a JSON object" in err
    assert (
        "row 53, column 'y': the target is missing" in err
        and "row 396: it is not UTF-8 text" in err
    )
    run("learn", "good.jsonl", "--target", "y", "--model", "good")
    assert parsimon.load("bad").metrics_.total() == parsimon.load("good").metrics_.total()


def test_missing_targets_of_parquet_are_skipped(run):
    x, y = numbers()
    mask = np.arange(300) % 7 == 3
    pa.parquet.write_table(pa.table({"x": x, "y": pa.array(y, mask=mask)}), "bad.parquet")
    pa.parquet.write_table(pa.table({"x": x[~mask], "y": y[~mask]}), "good.parquet")
    said = "row 4, column 'y': the target is missing"
    assert (
        f"{said} (--bad-rows skip skips such rows)"
        in run("learn", "bad.parquet", "--target", "y", code=2)[1]
    )
    skipping = ["--bad-rows", "skip", "--model", "bad"]
    _, err = run("learn", "bad.parquet", "--target", "y", *skipping)
    assert said in err and "--bad-rows" not in err
    for command in (
        ["evaluate", "bad", "bad.parquet"],
        ["compare", "bad.parquet", "--target", "y"],
    ):
        assert f"{said} (--bad-rows skip" in run(*command, code=2)[1]
    run("learn", "good.parquet", "--target", "y", "--model", "good")
    bad = parsimon.load("bad")
    assert bad.reading_ == {"skipped": int(mask.sum())}
    assert bad.metrics_.total() == parsimon.load("good").metrics_.total()


@pytest.mark.parametrize("cut", [1, 6, 149, 150, 250, 698, 699, 1491])
@pytest.mark.parametrize("again", ["skip", "error"])
def test_stopped_among_bad_rows_it_goes_on_exactly(run, monkeypatch, cut, again):
    """With "error" those that were met before are left out all the same."""
    rows, _ = spoiled()
    write("bad.csv", ["x", "y"], rows)
    monkeypatch.setattr(limits, "TEXT_BLOCK", 4000)
    command = ["learn", "bad.csv", "--target", "y", "--resume"]
    run(*command, "--bad-rows", "skip", "--model", "whole")

    def after(self):
        if self.model.n_rows_ >= cut:
            self.interrupt.number = signal.SIGINT

    with monkeypatch.context() as patch:
        patch.setattr(LearnRun, "after_slice", after)
        patch.setattr("parsimon.cli.learn_run.SLICE", 1)
        patch.setattr("parsimon.cli.learn_run.LARGEST_SLICE", 1)
        run(*command, "--bad-rows", "skip", "--model", "m", code=130)
    stopped = parsimon.load("m")
    assert stopped.n_rows_ == cut
    if again == "skip":
        _, err = run(*command, "--bad-rows", "skip", "--model", "m")
        assert "row 1, " not in err  # it was shown before
        assert bits("m") == bits("whole")
        assert run(*command, "--bad-rows", "skip", "--model", "m") and bits("m") == bits("whole")
    elif cut < 1491:
        _, err = run(*command, "--model", "m", code=2)
        assert "row 1, " not in err
        run(*command, "--model", "m", "--bad-rows", "skip")
        assert bits("m") == bits("whole")


def test_new_rows_add_to_the_bad_ones(run):
    rows, _ = spoiled()
    write("all.csv", ["x", "y"], rows)
    write("first.csv", ["x", "y"], rows[:702])
    write("second.csv", ["x", "y"], rows[702:])
    run("learn", "all.csv", "--target", "y", "--bad-rows", "skip", "--model", "whole")
    run("learn", "first.csv", "--target", "y", "--bad-rows", "skip", "--model", "m")
    assert parsimon.load("m").reading_ == {"skipped": 5}
    run(
        "learn",
        "second.csv",
        "--target",
        "y",
        "--bad-rows",
        "skip",
        "--model",
        "m",
        "--resume",
        "--new-rows",
    )
    assert bits("m") == bits("whole")
    run("learn", "all.csv", "--target", "y", "--bad-rows", "skip", "--model", "m", "--resume")
    assert bits("m") == bits("whole")


def test_rows_before_a_bad_one_are_learned(run):
    rows, _ = spoiled()
    write("bad.csv", ["x", "y"], [["1", "2"], *rows[8:150], ["1", ""], *rows[151:700]])
    err = run("learn", "bad.csv", "--target", "y", "--model", "m", code=2)[1]
    assert "row 144, column 'y': the target is missing" in err and "143 rows are learned" in err


def test_nothing_but_bad_rows(run):
    write("a.csv", ["x", "y"], [[1, ""], [2, ""]])
    assert (
        "no rows that can be used: 2 are bad"
        in run("learn", "a.csv", "--target", "y", "--bad-rows", "skip", code=2)[1]
    )


def test_a_task_can_be_said_while_it_is_open(run):
    write("a.csv", ["x", "y"], [[i, i % 3] for i in range(50)])
    model = TableModel("y")
    model.learn({"x": np.arange(50.0), "y": np.arange(50.0) % 3})
    model.save("m")
    run("learn", "a.csv", "--target", "y", "--model", "m", "--resume", "--task", "regression")
    assert parsimon.load("m").task_ == "regression"


def test_files_without_the_new_fields_load(folder):
    model = TableModel("y")
    model.learn({"x": np.arange(300.0), "y": np.arange(300.0) % 3})
    assert model.task_reason_ == "y has 3 different whole numbers in 200 rows"
    state = model.__getstate__()
    old = TableModel("y")
    old.__setstate__(state)
    assert (old.predict({"x": [1.0]}) == model.predict({"x": [1.0]})).all()
    for wrong in (
        [],
        {"skipped": -1},
        {"skipped": True},
        {"decimal": "x"},
        {"date_formats": "%d"},
        {"other": 1},
    ):
        with pytest.raises(ValueError, match="not sound"):
            TableModel("y").__setstate__({**state, "reading_": wrong})


# What is no table, and no model


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


def saved(save, *arguments):
    buffer = io.BytesIO()
    save(buffer, *arguments)
    return buffer.getvalue()


FOREIGN = {
    "PNG": (
        b"\x89PNG\r\n\x1a\n\x00\x00",
        "is a PNG picture, not a table: CSV, JSON lines, Parquet or Arrow are read",
    ),
    "zip": (zipped("a.csv"), "is a zip archive"),
    "xlsx": (zipped("xl/workbook.xml"), "is an Excel workbook"),
    "npz": (saved(np.savez, np.zeros(3)), "is a NumPy archive"),
    "npy": (saved(np.save, np.zeros(3)), "is a NumPy array"),
    "pickle": (pickle.dumps({"x": [1]}), "is a Python pickle"),
    "SQLite": (b"SQLite format 3\x00\x10", "is an SQLite database"),
    "PDF": (b"%PDF-1.7\n%\xe2", "is a PDF document"),
    "HTML": (b"<!DOCTYPE html><html>", "is a web page"),
    "UTF-16": ("x,y\n1,2\n".encode("utf-16"), "is UTF-16 text: save it as UTF-8"),
    "UTF-32": ("x,y\n1,2\n".encode("utf-32"), "is UTF-32 text"),
    "model": (persistence.dumps(TableEncoder()), "is a model file, not a table"),
    "binary": (b"abc\x00\x01\x02", "is not text, because it has NUL bytes"),
    "packed": (gzip.compress(b"\x89PNG\r\n\x1a\n\x00\x00"), "is a PNG picture"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_named(run, name):
    data, expected = FOREIGN[name]
    Path("data").write_bytes(data)
    _, err = run("learn", "data", "--target", "y", code=2)
    assert f"parsimon: error: data {expected}" in err and err.count("\n") == 1


@pytest.mark.parametrize("header", ["ORC_id", "RDX", "BZh", "GIF8", "$FL", "[x", "MZ"])
def test_names_like_magic_numbers_are_names(folder, header):
    Path("a.csv").write_text(f"a,{header}\n1,2\n" if header == "[x" else f"{header},a\n1,2\n")
    with reading.Source("a.csv") as source:
        assert header in next(source.blocks()).table.column_names


def test_other_encodings_name_row_and_remedy(run):
    for name, row in {
        "a.csv": "shop,y\nok,1\ncafé,2\n",
        "a.jsonl": '{"s": "ok"}\n{"s": "café"}\n',
    }.items():
        Path(name).write_bytes(row.encode("latin-1"))
        _, err = run("learn", name, "--target", "y", code=2)
        assert "row 2" in err and "it is not UTF-8 text: convert it, for example with iconv" in err
    Path("a.csv").write_bytes("café,y\n1,1\n".encode("latin-1"))
    assert (
        "the header is not UTF-8 text: convert it"
        in run("learn", "a.csv", "--target", "y", code=2)[1]
    )


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "data", "data"],
        ["evaluate", "data", "data"],
        ["inspect", "data"],
        ["export", "data", "a.h"],
        ["merge", "data", "data", "--out", "a"],
        ["learn", "other.csv", "--target", "y", "--model", "data", "--resume"],
    ],
)
def test_what_is_no_model_is_named(run, command):
    write("other.csv", ["x", "y"], [[1, 2]])
    for data, kind in {
        b"x,y\n1,2\n": "CSV",
        b'{"x": 1}\n': "JSON",
        b"PAR1\x00": "Parquet data",
        b"": "an empty file",
    }.items():
        Path("data").write_bytes(data)
        _, err = run(*command, code=2)
        assert err == f"parsimon: error: data is not a model file: it looks like {kind}\n"


# Small files that hold very much


def long_text(n, length):
    codes = pa.array(np.zeros(n, dtype=np.int32))
    return pa.table(
        {
            "s": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * length])),
            "y": np.arange(float(n)),
        }
    )


def write_arrow(path, table, *, stream=False, compression="zstd"):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(
        str(path), table.schema, options=options
    ) as writer:
        writer.write_table(table)


def views(n, length):
    one = pa.array(["x" * length]).cast(pa.string_view())
    _, view, data = one.buffers()
    text = pa.Array.from_buffers(
        pa.string_view(), n, [None, pa.py_buffer(view.to_pybytes() * n), data]
    )
    return pa.table({"s": text, "y": np.arange(float(n))})


WRITERS = {
    # Text, not a dictionary
    "parquet": lambda table: pa.parquet.write_table(table, "a.data", store_schema=False),
    "plain parquet": lambda table: pa.parquet.write_table(
        table.cast(pa.schema([("s", pa.string()), ("y", pa.float64())])),
        "a.data",
        use_dictionary=False,
    ),
    "delta parquet": lambda table: pa.parquet.write_table(
        table.cast(pa.schema([("s", pa.string()), ("y", pa.float64())])),
        "a.data",
        use_dictionary=False,
        column_encoding={"s": "DELTA_BYTE_ARRAY", "y": "PLAIN"},
    ),
    "arrow": lambda table: write_arrow("a.data", table),
    "arrow stream": lambda table: write_arrow("a.data", table, stream=True),
}


@pytest.mark.parametrize("name", WRITERS)
def test_blocks_are_bounded_by_their_bytes(folder, monkeypatch, name):
    monkeypatch.setattr(limits, "BLOCK_BYTES", 100_000)
    WRITERS[name](long_text(1000, 1000))
    with reading.Source("a.data") as source:
        blocks = list(source.blocks())
        assert max(b.table.nbytes for b in blocks) < 120_000 and len(blocks) > 5
        assert pa.concat_tables([b.table for b in blocks]).column("y").to_pylist() == list(
            range(1000)
        )
        assert [b.first for b in blocks] == np.cumsum(
            [0, *(b.table.num_rows for b in blocks[:-1])]
        ).tolist()
        assert {b.table.column("s")[0].as_py() for b in blocks} == {"x" * 1000}


@pytest.mark.parametrize("name", WRITERS)
def test_a_row_above_the_bound_is_refused(folder, monkeypatch, name):
    monkeypatch.setattr(limits, "ROW_BYTES", 1000)
    table = pa.concat_tables([long_text(3, 10), long_text(1, 5000)]).unify_dictionaries()
    WRITERS[name](table)
    if "arrow" in name:
        monkeypatch.setattr(limits, "ROW_BYTES", 4000)  # the headers have some hundred bytes
    with (
        reading.Source("a.data") as source,
        pytest.raises(reading.Failure, match=r"row 4: it has 5,0\d\d bytes"),
    ):
        list(source.blocks())


def test_views_of_one_text_are_bounded(folder, monkeypatch):
    monkeypatch.setattr(limits, "BLOCK_BYTES", 100_000)
    write_arrow("a.data", views(1000, 1000))
    with reading.Source("a.data") as source:
        assert len(list(source.blocks())) > 5


@pytest.mark.parametrize(
    ("bound", "value", "said"),
    [
        ("PAGE_BYTES", 50_000, "a page has .* bytes, and 50,000 is the most"),
        ("HELD_PAGE_BYTES", 50_000, "its pages have more than 50,000 bytes"),
    ],
)
def test_pages_of_parquet_are_bounded(folder, monkeypatch, bound, value, said):
    pa.parquet.write_table(long_text(10, 100_000), "a.parquet")
    monkeypatch.setattr(limits, bound, value)
    with reading.Source("a.parquet") as source, pytest.raises(reading.Failure, match=said):
        list(source.blocks())
    with reading.Source("a.parquet", unused=["s"]) as source:  # what is not wanted is not unpacked
        assert sum(b.table.num_rows for b in source.blocks()) == 10


def test_nested_columns_are_for_copying(run, monkeypatch):
    x, y = numbers()
    nested = pa.array([["a", "bb"]] * 300).cast(pa.list_(pa.dictionary(pa.int32(), pa.string())))
    table = pa.table({"x": x, "s": nested, "y": y})
    pa.parquet.write_table(table, "a.parquet")
    write_arrow("a.arrow", table)
    for path in ("a.parquet", "a.arrow"):
        assert "column 's': values of type list<" in run("learn", path, "--target", "y", code=2)[1]
        run("learn", path, "--target", "y", "--ignore", "s", "--model", "m", "--overwrite")
        run("evaluate", "m", path)
        run("predict", "m", path, "--out", "p.jsonl")
        assert json.loads(Path("p.jsonl").read_text().splitlines()[7])["s"] == ["a", "bb"]
    monkeypatch.setattr(limits, "NESTED_VALUES", 500)
    assert "more than 500 values" in run("predict", "m", "a.parquet", "--out", "p.jsonl", code=2)[1]


@pytest.mark.parametrize("stream", [False, True])
def test_batches_of_arrow_are_bounded(folder, monkeypatch, stream):
    write_arrow(
        "a.arrow", pa.table({"x": np.zeros(100_000), "y": np.zeros(100_000)}), stream=stream
    )
    assert Path("a.arrow").stat().st_size < 5000
    monkeypatch.setattr(limits, "BATCH_BYTES", 1_000_000)
    with (
        reading.Source("a.arrow") as source,
        pytest.raises(
            reading.Failure, match="a batch unpacks to 1,600,000 bytes, and 1,000,000 is the most"
        ),
    ):
        list(source.blocks())


def test_damaged_parquet_and_arrow_get_a_line(folder):
    """Whatever byte is wrong: rows or a line, and nothing else."""
    table = pa.table({"s": pa.array(["a", "b"] * 50).dictionary_encode(), "y": np.arange(100.0)})
    pa.parquet.write_table(table, "a.parquet", compression="zstd")
    write_arrow("a.arrow", table)
    write_arrow("a.arrows", table, stream=True)
    rng = np.random.default_rng(0)
    for name in ("a.parquet", "a.arrow", "a.arrows"):
        whole = Path(name).read_bytes()
        for _ in range(60):
            data = bytearray(whole)
            for at in rng.integers(8, len(data), size=3):
                data[at] = rng.integers(256)
            Path("b").write_bytes(data)
            try:
                with reading.Source("b") as source:
                    list(source.blocks())
            except reading.Failure as error:
                assert "\n" not in str(error)


def test_what_is_unpacked_is_bounded(folder, monkeypatch):
    pa.parquet.write_table(long_text(10, 100), "a.parquet")
    Path("a.parquet.gz").write_bytes(gzip.compress(Path("a.parquet").read_bytes()))
    with reading.Source("a.parquet.gz") as source:
        assert sum(b.table.num_rows for b in source.blocks()) == 10
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 500)
    with (
        reading.Source("a.parquet.gz") as source,
        pytest.raises(reading.Failure, match="unpacks to more than 500 bytes"),
    ):
        list(source.blocks())


def test_rows_and_columns_of_text_are_bounded(folder, monkeypatch):
    monkeypatch.setattr(limits, "COLUMNS", 100)
    monkeypatch.setattr(limits, "ROW_BYTES", 10_000)
    monkeypatch.setattr(limits, "TEXT_BLOCK", 1000)
    texts = {
        "a.csv": (",".join(f"c{i}" for i in range(101)) + "\n1\n", "more than 100 columns"),
        "b.csv": ("x,y\n" + "1" * 20_000, "a row has more than 10,000 bytes"),
        "c.jsonl": ("".join(f'{{"k{i}": 1}}\n' for i in range(101)), "more than 100 columns"),
        "d.jsonl": (
            '{"y": 1' + 5000 * "1" + ', "b": "\x0c", "a": ' + "[" * 300 + "]" * 300 + "}\n",
            "row 1: its values are nested more than 64 deep",
        ),
        "e.jsonl": (
            '{"y": 1}\n' * 20 + '{"a": ' + "[" * 3000 + "]" * 3000 + "}\n",
            "row 21: its values are nested",
        ),
    }
    for name, (text, expected) in texts.items():
        Path(name).write_text(text)
        Path(name + ".gz").write_bytes(gzip.compress(text.encode()))
        for path in (name, name + ".gz"):
            if name in ("c.jsonl", "e.jsonl"):
                monkeypatch.setattr(limits, "TEXT_BLOCK", 1 << 21)
            with reading.Source(path) as source, pytest.raises(reading.Failure, match=expected):
                list(source.blocks())


def test_sparse_json_is_read_in_parts(folder, monkeypatch):
    """Each row has a name of its own, so a table of all has rows times rows values."""
    monkeypatch.setattr(limits, "JSON_CELLS", 1000)
    rows = [{f"k{i}": 1.5, "y": i} for i in range(100)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for written in (False, True):
        with reading.Source("a.jsonl", written=written) as source:
            blocks = list(source.blocks())
        assert (
            max(b.table.num_rows * b.table.num_columns for b in blocks) <= 1010 and len(blocks) > 5
        )
        found = [row for b in blocks for row in b.table.to_pylist()]
        assert [{k: v for k, v in row.items() if v is not None} for row in found] == rows
        assert [b.first for b in blocks] == np.cumsum(
            [0, *(b.table.num_rows for b in blocks[:-1])]
        ).tolist()


def test_features_are_bounded(run, monkeypatch):
    monkeypatch.setattr(limits, "FEATURES", 100)
    write("a.csv", ["a", "b", "c", "y"], [["u", "v", "w", 1]] * 5)
    for command in ("learn", "compare"):
        err = run(command, "a.csv", "--target", "y", code=2)[1]
        assert (
            "the columns become 102 features, and 100 is the most: leave some out with --ignore"
            in err
        )
    run("learn", "a.csv", "--target", "y", "--ignore", "a")


def test_features_are_counted_as_they_are_named():
    encoder = TableEncoder(max_categories=3)
    times = np.array(["2024-01-01T10:00", "NaT", "2024-01-02T11:00"], dtype="datetime64[s]")
    encoder.learn_transform(
        {"t": times, "s": ["a", None, "b"], "x": [1.0, None, 2.0], "b": [True, False, True]}
    )
    assert (
        encoder.n_features_ == len(encoder.feature_names_) == len(set(encoder.feature_names_)) == 14
    )


BOMB = """
import resource, sys
from parsimon.cli import main
resource.setrlimit(resource.RLIMIT_AS, (5 << 29,) * 2)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
def test_a_small_file_of_three_gigabytes_is_learned_in_little_memory(folder):
    pa.parquet.write_table(
        long_text(3000, 1_000_000), "bomb.parquet", compression="zstd", store_schema=False
    )
    assert Path("bomb.parquet").stat().st_size < 300_000
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-c",
        BOMB,
        "learn",
        "bomb.parquet",
        "--target",
        "y",
        "--algorithm",
        "knlms",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0 and "3,000" in done.stdout, done.stderr


@pytest.mark.parametrize("missing", ["", "NA"])
@pytest.mark.parametrize("place", [4, 250])
def test_a_missing_label_makes_a_bad_row(tmp_path, capsys, missing, place):
    """In the warm-up and after it: it is no class of its own."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=305)
    labels = np.where(x > 0, "high", "low").astype(object)
    labels[place] = missing
    path = tmp_path / "labels.csv"
    path.write_text("x,label\n" + "".join(f"{a:.4f},{b}\n" for a, b in zip(x, labels, strict=True)))
    assert main(["learn", str(path), "--target", "label"]) == 2
    assert f"row {place + 1}, column 'label': the target is missing" in capsys.readouterr().err
    assert main(["learn", str(path), "--target", "label", "--bad-rows", "skip", "--json"]) == 0
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert end["rows"] == 304 and end["skipped"] == 1
    compared = [
        "compare",
        str(path),
        "--target",
        "label",
        "--algorithm",
        "bsgd",
        "--bad-rows",
        "skip",
    ]
    assert main(compared) == 0
    assert "304 rows" in capsys.readouterr().out


def test_a_null_among_json_lines_is_a_bad_row(tmp_path, capsys):
    """Arrow crashes where a text begins with null."""
    data = tmp_path / "rows.jsonl"
    data.write_text('{"a":1,"y":2}\n{"a":\nnull\n{"a":2,"y":3}\n')
    assert main(["learn", str(data), "--target", "y", "--bad-rows", "skip"]) == 0
    assert "2 bad rows skipped" in capsys.readouterr().out


def test_decimal_points_under_decimal_comma_get_the_right_advice(tmp_path, capsys):
    data = tmp_path / "rows.csv"
    data.write_text("a;y\n" + "2.5;1\n3.5;2\n" * 10)
    main(["learn", str(data), "--target", "y", "--decimal", ","])
    assert "--decimal . reads it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        ({300: '"1.5,2.5,3.5'}, 1),
        ({300: '1.5,2.5,3.5"'}, 1),
        ({300: '1.5,14",2.5', 498: "oops,extra,1,2"}, 1),
    ],
    ids=["opening", "closing", "text"],
)
def test_a_stray_quote_costs_its_own_line(tmp_path, capsys, rows, bad):
    lines = [f"{i % 7}.5,{i % 5}x,{i % 17}.5" for i in range(600)]
    for i, line in rows.items():
        lines[i] = line
    data = tmp_path / "rows.csv"
    data.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    assert main(["learn", str(data), "--target", "y", "--bad-rows", "skip"]) == 0
    out = capsys.readouterr().out
    assert f"{600 - bad}; {bad} bad row skipped" in out


def test_lines_that_end_in_cr_alone_are_named(tmp_path, capsys):
    data = tmp_path / "rows.csv"
    data.write_bytes(b"a,y\r1,2\r3,4\r")
    assert main(["learn", str(data), "--target", "y"]) == 2
    assert "end in CR alone" in capsys.readouterr().err


def test_a_budget_beyond_the_memory_is_an_error(tmp_path, capsys):
    data = tmp_path / "rows.csv"
    data.write_text("a,y\n" + "".join(f"{i}.5,{i}.5\n" for i in range(30)))
    assert main(["learn", str(data), "--target", "y", "--budget", str(10**8)]) == 2
    assert "not enough memory for budget" in capsys.readouterr().err
