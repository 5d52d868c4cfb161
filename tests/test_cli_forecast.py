"""``parsimon forecast``: a table, a picture and a model from a file of rows."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from commands import said

import parsimon
from parsimon import Forecaster
from parsimon.cli import main


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
    assert "there are 6" in said(capsys, *command, "--horizon", 7, code=2)


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
    assert "f.parsimon exists: --overwrite" in said(capsys, *command, "f.parsimon", code=2)
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
