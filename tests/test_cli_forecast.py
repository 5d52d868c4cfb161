"""``parsimon forecast``: a table, a picture and a model from a file of rows."""

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from commands import said

import parsimon
from parsimon import Forecaster
from parsimon.cli import main
from parsimon.cli.forecast_run import ForecastRun
from parsimon.persistence.files import dumps


def series(n=300):
    rng = np.random.default_rng(0)
    t = np.arange(n)
    push = (rng.random(n) < 0.3).astype(int)
    y = (20 + 5 * np.sin(2 * np.pi * t / 12) + 4 * push + 0.5 * rng.normal(size=n)).round(4)
    times = np.datetime64("2024-01-01T00", "h") + t * np.timedelta64(1, "h")
    return times, y, push


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    times, y, push = series()
    with open(tmp_path / "data.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t", "y", "push"])
        # The last 6 rows are the future: their targets are not known.
        for i in range(300):
            writer.writerow([str(times[i]), y[i] if i < 294 else "", push[i]])
    return tmp_path / "data.csv"


def test_forecasts_are_those_of_the_model(data, capsys):
    out = said(capsys, "forecast", data, "--target", "y", "--time", "t", "--horizon", 6, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    times, y, push = series()
    model = Forecaster(horizon=6).learn(y[:294], {"push": push[:294]}, times[:294])
    values, bounds = model.forecast(intervals=True)
    assert [line["forecast"] for line in lines] == values.tolist()
    assert [[line["low"], line["high"]] for line in lines] == bounds.tolist()
    assert [line["t"] for line in lines] == [f"{time}:00:00" for time in times[294:].astype(str)]
    assert {"step", "error of forecast", "error of last value"} <= lines[0].keys()


def test_known_columns_come_from_rows_without_target(data, capsys):
    command = ("forecast", data, "--target", "y", "--time", "t", "--known", "push", "--json")
    out = said(capsys, *command, "--horizon", 6)
    found = np.array([json.loads(line)["forecast"] for line in out.splitlines()])
    assert np.abs(found - series()[1][294:]).mean() < 1.0
    found = said(capsys, *command, "--horizon", 7, code=2)
    assert "no row for step 7, at 2024-01-13T12:00:00" in found


def rewritten(data, name, change):
    """Write a copy of the data whose rows, without the header, were changed."""
    lines = data.read_text().splitlines()
    path = data.with_name(name)
    path.write_text("\n".join([lines[0], *change(lines[1:])]) + "\n")
    return path


def test_known_columns_are_matched_by_time(data, capsys):
    options = ("--target", "y", "--time", "t", "--known", "push", "--json", "--horizon", 5)
    expected = said(capsys, "forecast", data, *options)
    mixed = rewritten(data, "mixed.csv", lambda rows: rows[:294] + rows[:293:-1])
    assert said(capsys, "forecast", mixed, *options) == expected
    double = rewritten(data, "double.csv", lambda rows: rows[:296] + rows[295:])
    found = said(capsys, "forecast", double, *options, code=2)
    assert "row 297, column 't': the time is doubled: another row is for step 2 too" in found
    gap = rewritten(data, "gap.csv", lambda rows: rows[:296] + rows[297:])
    assert "no row for step 3, at 2024-01-13T08:00:00" in said(
        capsys, "forecast", gap, *options, code=2
    )
    none = rewritten(data, "none.csv", lambda rows: rows[:294])
    assert "--known needs 5 rows without y at the end" in said(
        capsys, "forecast", none, *options, code=2
    )


def test_known_columns_are_taken_in_order_without_times(data, capsys):
    command = ("forecast", data, "--target", "y", "--ignore", "t", "--known", "push", "--json")
    out = said(capsys, *command, "--horizon", 6)
    _, y, push = series()
    model = Forecaster(horizon=6, known=["push"]).learn(y[:294], {"push": push[:294]})
    expected = model.forecast(X_future={"push": push[294:]})
    assert [json.loads(line)["forecast"] for line in out.splitlines()] == expected.tolist()
    assert "there are 6" in said(capsys, *command, "--horizon", 7, code=2)


# Going on, and stopping


@pytest.mark.parametrize("rows", [20, 64, 150, 297])
def test_a_resumed_model_equals_one_that_was_never_stopped(data, capsys, rows):
    """The first part may end with rows of the future, which have no target yet."""
    options = ("--target", "y", "--time", "t", "--known", "push", "--horizon", 3, "--model")
    whole = said(capsys, "forecast", data, *options, "whole", "--json")
    first = rewritten(data, "first.csv", lambda lines: lines[:rows] + future(lines, rows))
    said(capsys, "forecast", first, *options, "m", "--plot", "a.png")
    assert said(capsys, "forecast", data, *options, "m", "--resume", "--json") == whole
    assert dumps(parsimon.load("m")) == dumps(parsimon.load("whole"))
    # Only the new rows, with a column that the model does not know
    said(capsys, "forecast", first, *options, "m", "--overwrite")
    header, *lines = data.read_text().splitlines()
    new = [f"{line},1" for line in lines[min(rows, 294) :]]
    data.with_name("new.csv").write_text("\n".join([f"{header},more", *new]) + "\n")
    short = ("--target", "y", "--model", "m", "--resume", "--new-rows", "--plot", "b.png")
    assert said(capsys, "forecast", "new.csv", *short, "--json") == whole
    assert dumps(parsimon.load("m")) == dumps(parsimon.load("whole"))


def future(lines, rows):
    """Return the rows after the first ones without their targets."""
    return [f"{line.split(',')[0]},,{line.split(',')[2]}" for line in lines[rows : rows + 3]]


def test_resume_needs_the_same_options_and_data(data, capsys, tmp_path):
    command = ("forecast", data, "--target", "y", "--time", "t", "--horizon", 3, "--model", "m")
    assert "needs --model" in said(capsys, *command[:-2], "--resume", code=2)
    assert "--new-rows is for --resume" in said(capsys, *command, "--new-rows", code=2)
    said(capsys, *command, "--resume")  # there is no file yet
    before = (tmp_path / "m").read_bytes()
    assert "give one of them" in said(capsys, *command, "--resume", "--overwrite", code=2)
    for options, message in (
        (("--horizon", 4), "m has --horizon 3, not 4: leave --horizon out, or learn a new model"),
        (("--season", 12), "m was learned without --season"),
        (("--known", "push"), "m was learned without --known"),
        (("--intervals", 0.8), "m has --intervals 0.9, not 0.8"),
        (("--ignore", "push"), "m was learned without --ignore"),
        (("--time", "push"), "m has --time t, not push"),
        (("--target", "push"), "m has --target y, not push: learn a new model"),
    ):
        found = said(capsys, *command, *options, "--resume", code=2)
        assert message in found
    short = rewritten(data, "short.csv", lambda rows: rows[:100])
    found = said(capsys, "forecast", short, *command[2:], "--resume", code=2)
    assert "has 100 rows, but the model has learned 294" in found
    assert (tmp_path / "m").read_bytes() == before
    Forecaster().learn(np.arange(100.0)).save("python")
    found = said(capsys, *command[:-1], "python", "--resume", code=2)
    assert "it was not learned by `forecast`" in found
    parsimon.KLMSRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).save("k")
    found = said(capsys, *command[:-1], "k", "--resume", code=2)
    assert "holds a KLMSRegressor, which `forecast` does not go on from" in found


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_at_once_and_changes_no_file(data, capsys, tmp_path, number, code):
    """The rows come in one block, and the models would learn them for minutes."""
    said(capsys, "forecast", data, "--target", "y", "--time", "t", "--model", "m", "--out", "f.csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    y = np.random.default_rng(0).normal(size=40000).round(3)
    long = tmp_path / "long.csv"
    long.write_text("y\n" + "\n".join(map(str, y)) + "\n")
    arguments = ["long.csv", "--target", "y", "--model", "m", "--out", "f.csv", "--overwrite"]
    code_of_run = "import sys; from parsimon.cli import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen([sys.executable, "-c", code_of_run, "forecast", *arguments]) as process:
        lock = tmp_path / ".m.lock"
        while not lock.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(1.0)
        process.send_signal(number)
        assert process.wait(120) == code
    long.unlink()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_signal_while_files_are_written_comes_after_them(data, capsys, monkeypatch, tmp_path):
    write = ForecastRun.write

    def write_and_stop(run, found):
        signal.raise_signal(signal.SIGINT)
        write(run, found)

    monkeypatch.setattr(ForecastRun, "write", write_and_stop)
    command = ("forecast", data, "--target", "y", "--time", "t", "--out", "f.csv", "--model", "m")
    said(capsys, *command, code=130)
    assert parsimon.load("m").n_rows_ == 294
    assert len((tmp_path / "f.csv").read_text().splitlines()) == 25


@pytest.mark.parametrize("name", ["step", "forecast", "low", "high", "error of forecast"])
def test_times_named_like_a_column_of_the_output(data, capsys, name):
    text = data.read_text().replace("t,y,push", f"{name},y,push", 1)
    data.with_name("named.csv").write_text(text)
    command = ("forecast", "named.csv", "--target", "y", "--time", name, "--horizon", 2, "--json")
    capsys.readouterr()
    assert main([str(a) for a in command]) == 0
    out, err = capsys.readouterr()
    assert f"the times are in the column 'time', because the table has a column {name!r}" in err
    first = json.loads(out.splitlines()[0])
    assert first["time"] == "2024-01-13T06:00:00" and first["step"] == 1
    assert first["low"] < first["forecast"] < first["high"]
    assert first["error of forecast"] > 0.0


def test_long_pauses_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    times = np.arange(100) + 500 * (np.arange(100) // 70)
    text = "\n".join(f"{t},{t % 7}" for t in times)
    (tmp_path / "d.csv").write_text(f"t,y\n{text}\n")
    main(["forecast", "d.csv", "--target", "y", "--time", "t", "--horizon", "2"])
    err = capsys.readouterr().err
    assert "most times are missing: 100 of 600 rows are in the data. Leave --time out" in err


def test_table_picture_and_model(data, capsys, tmp_path):
    out = said(
        capsys, "forecast", data, "--target", "y", "--time", "t", "--horizon", 4,
        "--out", "f.csv", "--plot", "f.png", "--model", "f.parsimon", "--season", 12,
    )  # fmt: skip
    assert "seasons    12" in out and "2024-01-13T06:00:00" in out
    with open("f.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows] == ["1", "2", "3", "4"]
    assert all(float(r["low"]) < float(r["forecast"]) < float(r["high"]) for r in rows)
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    model = parsimon.load("f.parsimon")
    assert model.forecast().tolist() == [float(row["forecast"]) for row in rows]


def test_only_a_forecaster_may_be_replaced(data, capsys, tmp_path):
    command = ("forecast", data, "--target", "y", "--time", "t", "--horizon", 4, "--model")
    said(capsys, *command, "f.parsimon")
    before = (tmp_path / "f.parsimon").read_bytes()
    assert "f.parsimon exists: --resume goes on" in said(capsys, *command, "f.parsimon", code=2)
    assert (tmp_path / "f.parsimon").read_bytes() == before
    said(capsys, *command, "f.parsimon", "--overwrite", "--season", 12)
    assert parsimon.load("f.parsimon").seasons == [12]
    (tmp_path / "notes.txt").write_text("keep me")
    found = said(capsys, *command, "notes.txt", "--overwrite", code=2)
    assert "is not a model file" in found
    assert (tmp_path / "notes.txt").read_text() == "keep me"
    parsimon.KLMSRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).save("k.parsimon")
    found = said(capsys, *command, "k.parsimon", "--overwrite", code=2)
    assert "holds a KLMSRegressor" in found


def test_rows_are_numbered_without_times(data, capsys):
    out = said(capsys, "forecast", data, "--target", "y", "--ignore", "t", "--horizon", 2, "--json")
    assert [json.loads(line)["row"] for line in out.splitlines()] == [295, 296]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "z"], "there is no column 'z'"),
        (["--target", "y", "--time", "y"], "the same column"),
        (["--target", "y", "--ignore", "y"], "--ignore y is the target"),
        (["--target", "t"], "forecasts are numbers"),
        (["--target", "y", "--time", "push"], "not later than the one before"),
        (
            ["--target", "y", "--intervals", "80"],
            "--intervals must be above 0 and below 1",
        ),
        (["--target", "y", "--horizon", "0"], "horizon"),
        (["--target", "y", "--plot", "f.xyz"], "suffix"),
        (["--target", "y", "--known", "wind"], "there is no column 'wind'"),
    ],
)
def test_errors_say_what_is_wrong(data, capsys, options, message):
    assert message in said(capsys, "forecast", data, *options, code=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,y\n2024-01-01,1\n,2\n", "row 2, column 't': the time is missing: give its time"),
        ("t,y\n2024-01-02,1\n2024-01-01,2\n", "row 2, column 't': the time is not later"),
        ("t,y\nmon,1\ntue,2\n", "column 't': times must be timestamps, dates or numbers, got text"),
    ],
)
def test_errors_about_times_name_their_column(tmp_path, monkeypatch, capsys, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(text)
    found = said(capsys, "forecast", "d.csv", "--target", "y", "--time", "t", code=2)
    assert message in found
    assert ("--date-format" in found) == ("text" in found)


def test_few_rows_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("y\n" + "\n".join(map(str, range(70))) + "\n")
    command = ("forecast", "d.csv", "--target", "y", "--json", "--out", "f.parquet", "--horizon")
    for horizon, options, note, last in (
        (40, (), "fewer than 128 rows: the last value is the forecast", 69),
        (40, ("--season", 7), "fewer than 128 rows: the value 7 rows before is the forecast", 67),
    ):
        assert main([*map(str, command), str(horizon), *map(str, options)]) == 0
        out, err = capsys.readouterr()
        assert note in err
        lines = [json.loads(line) for line in out.splitlines()]
        assert len(lines) == 40 and lines[-1]["forecast"] == last
        assert all(line["low"] is None and line["high"] is None for line in lines)
        schema = pq.read_schema("f.parquet")
        assert str(schema.field("low").type) == str(schema.field("high").type) == "double"


def test_times_with_a_zone_are_in_utc(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"2024-01-01T{i:02}:00:00+02:00,{i}" for i in range(20)]
    (tmp_path / "d.csv").write_text("\n".join(["t,y", *rows]) + "\n")
    command = ["forecast", "d.csv", "--target", "y", "--time", "t", "--horizon", "2"]
    assert main([*command, "--plot", "f.png"]) == 0
    out, err = capsys.readouterr()
    assert "2024-01-01T18:00:00+00:00" in out and "2024-01-01T19:00:00+00:00" in out
    assert "have a zone: future times are in UTC" in err


def test_a_constant_series_has_intervals(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("y\n" + "5\n" * 200)
    out = said(capsys, "forecast", "d.csv", "--target", "y", "--horizon", 2, "--json")
    for line in map(json.loads, out.splitlines()):
        assert line["low"] == pytest.approx(5) and line["high"] == pytest.approx(5)


def test_a_file_without_targets(data, capsys, tmp_path):
    (tmp_path / "empty.csv").write_text("t,y\n1,\n2,\n")
    assert "no row with a value" in said(capsys, "forecast", "empty.csv", "--target", "y", code=2)
