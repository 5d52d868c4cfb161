"""The command line: what its help says is run, and whatever ends it leaves a model from which it
goes on exactly.
"""

import contextlib
import csv
import gzip
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
import typer
from commands import ran, said
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, SVR

import parsimon
from parsimon import KNLMSRegressor, persistence, published
from parsimon._extras import install_command
from parsimon.cli import choices, data_sets, main, reading
from parsimon.cli.app import app
from parsimon.cli.compare_run import CompareRun
from parsimon.cli.curve import MOST_POINTS
from parsimon.cli.inspect import MOST_DRAWN, draw, drawn_expansions
from parsimon.cli.learn_run import LearnRun
from parsimon.cli.open_classes import OpenClassifier
from parsimon.cli.peers import PEERS, Peer
from parsimon.cli.reading import byte_stream, limits
from parsimon.estimators import ESTIMATORS
from parsimon.mixtures import CandidateClassifier, Mixture
from parsimon.preprocessing import TableEncoder, TargetScaler
from parsimon.tables import ALGORITHMS, TableModel

COMMAND = [sys.executable, "-m", "parsimon.cli"]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120", "TERM": "xterm"}


def table(n=1500):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, n))
    shop = rng.choice(["town", 'the "old" village', "a,b"], size=n)
    y = 100.0 + 5.0 * np.sin(2 * x) * z + 3.0 * (shop == "town")
    return {"x": x.round(6), "z": z.round(6), "shop": shop, "y": y.round(6)}


def write_csv(path, columns):
    names = list(columns)
    rows = zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True)
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def stream(folder):
    return write_csv(folder / "stream.csv", table())


def totals(out):
    """The lines of a summary that depend neither on the time nor on where a run began.

    A model that was loaded reserves its budget with the next row: if none is left, it holds less
    memory.
    """
    return [
        line
        for line in out.splitlines()
        if not line.startswith(("this run", "model", "plot", "report", "memory"))
    ]


# Help


def examples():
    commands = [("", c) for c in app.registered_commands]
    commands += [
        (f"{g.name} ", c)
        for g in app.registered_groups
        for c in g.typer_instance.registered_commands
    ]
    for group, command in commands:
        name = group + (command.name or command.callback.__name__)
        for line in re.findall(r"^ +parsimon (.*)$", command.callback.__doc__, re.MULTILINE):
            yield pytest.param(name, line, id=line)


def test_every_command_has_an_example():
    named = {example.values[0] for example in examples()}
    command = typer.main.get_command(app)
    groups = {name: getattr(c, "commands", None) for name, c in command.commands.items()}
    assert named == {name for name, inner in groups.items() if not inner} | {
        f"{name} {inner_name}" for name, inner in groups.items() for inner_name in inner or ()
    }


@pytest.mark.parametrize(("name", "line"), list(examples()))
def test_the_example_of_the_help(folder, capsys, name, line):
    assert line in said(capsys, *name.split(), "--help")
    said(capsys, "datasets", "generate", "honeine", "--rows", 400, "--out", "stream.csv")
    said(
        capsys,
        "learn",
        "stream.csv",
        "--target",
        "y",
        "--algorithm",
        "knlms",
        "--budget",
        100,
        "--model",
        "y.parsimon",
    )
    X = np.random.default_rng(0).normal(size=(200, 2))
    for i, part in enumerate(("a", "b")):
        half = X[100 * i : 100 * (i + 1)]
        published(KNLMSRegressor, gamma=1.0).fit(half, half[:, 0]).save(f"{part}.parsimon")
    electricity(".")
    assert line.startswith(name)
    if name == "serve":
        return starts_and_ends(line)
    if name == "forecast" and "--resume" in line:
        Path("y.parsimon").unlink()  # it holds a table model
        said(capsys, *line.replace(" --resume", "").split())
    out = said(capsys, *line.split())
    written = re.findall(r"(?:--out|--plot|export \S+) (\S+)", line)
    assert all(Path(path).stat().st_size for path in written) and (out or written)


def starts_and_ends(line):
    """Run a server until it has started, and end it. It takes a free port."""
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    command = [*COMMAND, *line.split(), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert '"message": "started"' in server.stderr.readline()
        finally:
            server.terminate()
        assert '"message": "stopped"' in server.stderr.read()
    assert server.returncode == 128 + signal.SIGTERM


def electricity(folder, n=300):
    """A file in the form of the data set."""
    rng = np.random.default_rng(0)
    Path(folder).mkdir(exist_ok=True)
    X, y = rng.uniform(size=(n, 8)).astype(np.float32), rng.integers(2, size=n, dtype=np.uint8)
    np.savez(Path(folder) / "electricity.npz", X=X, y=y)
    return X, y


def test_the_lines_of_the_documentation(folder, capsys):
    electricity("data")
    text = (Path(__file__).parent.parent / "docs" / "cli.md").read_text()
    lines = re.findall(r"^    \$ parsimon (.*)$", text, re.MULTILINE)  # those without a pipe
    assert len(lines) > 7
    for line in lines:
        if "completion" in line:
            continue
        if "--target Y" in line:
            assert said(capsys, *line.split(), code=2).strip() in text
        else:
            # Fewer rows, and fewer still for peers: what is tested is that each line runs
            shorter = line.replace("--rows 5000 --plot", "--rows 300 --plot")
            said(capsys, *shorter.replace("--rows 5000", "--rows 600").split())


def test_inspect_takes_every_kind_of_model(folder, capsys):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    parsimon.KernelDictionaryClassifier().fit(X, y).save("atoms")
    parsimon.published(parsimon.POLKClassifier).fit(X, y).save("polk")
    published(KNLMSRegressor).save("new")
    parsimon.from_sklearn(SVC().fit(X, y)).save("svc")
    CandidateClassifier([parsimon.published(parsimon.POLKClassifier, loss="logistic")]).save(
        "mixture"
    )
    for name, kind in {
        "atoms": "KernelDictionaryClassifier",
        "polk": "POLKClassifier",
        "new": "KNLMSRegressor",
        "svc": "KernelExpansionClassifier",
        "mixture": "CandidateClassifier",
    }.items():
        assert json.loads(said(capsys, "inspect", name, "--json"))["kind"] == kind
        assert kind in said(capsys, "inspect", name)


def fitted_models():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    yield from (kind().fit(X, y) for kind in (*ESTIMATORS, parsimon.KernelDictionaryClassifier))
    yield parsimon.MKNLMSRegressor().fit(X, y)
    yield parsimon.KernelDictionaryLearning(5).fit(X)
    yield parsimon.from_sklearn(SVC().fit(X, y))
    yield parsimon.from_sklearn(SVR().fit(X, y))
    candidates = [
        parsimon.published(parsimon.POLKClassifier, loss="logistic", gamma=gamma)
        for gamma in (0.5, 2.0)
    ]
    yield CandidateClassifier(candidates).partial_fit(X, y)
    for targets in (y, X[:, 0]):
        table_model = TableModel("y")
        table_model.learn({"x": X[:, 1], "y": targets})
        yield table_model.finish()
    yield parsimon.MixtureClassifier().fit(X, y)
    yield parsimon.MixtureRegressor().fit(X, X)
    yield parsimon.Forecaster(horizon=2, budget=40).learn(np.tile(X[:, 0], 2))
    yield parsimon.ConformalRegressor(KNLMSRegressor()).fit(X, X[:, 0])
    yield parsimon.ConformalClassifier(parsimon.POLKClassifier(loss="logistic")).fit(X, y)


def test_every_kind_of_model_has_something_to_draw(folder):
    """And what is drawn is what predicts."""
    X = np.random.default_rng(1).normal(size=(5, 3))
    kinds = set()
    for model in fitted_models():
        kinds.add(type(model).__name__)
        if isinstance(getattr(model, "estimator_", model), Mixture | parsimon.Forecaster):
            draw(model, Path("m"), Path("m.png"))
            assert Path("m.png").read_bytes().startswith(b"\x89PNG")
            Path("m.png").unlink()
            continue
        parts = drawn_expansions(model, Path("m"))
        assert all(len(part.centers) == len(part.weights) > 0 for part in parts.values())
        if isinstance(model, parsimon.KRLSRegressor):
            (part,) = parts.values()
            np.testing.assert_allclose(
                (part.kernel(X, part.centers) @ part.weights).ravel() + model.intercept_,
                model.predict(X),
            )
    without = {"TableEncoder", "TargetScaler", "ClassificationMetrics", "RegressionMetrics"}
    without.add("IntervalMetrics")
    without.add("RFFKLMSRegressor")  # it has no centres
    assert kinds | without == set(persistence.models.stored_names())


def test_inspect_draws(folder, capsys):
    X = np.random.default_rng(0).normal(size=(60, 3))
    one = published(KNLMSRegressor).partial_fit(X[:1], [1.0])  # one centre
    classes = parsimon.KernelDictionaryClassifier(2, budget=3).fit(X, np.arange(60) % 2)
    for model in (one, classes):
        model.save("m")
        said(capsys, "inspect", "m", "--plot", "m.png")
        assert Path("m.png").read_bytes().startswith(b"\x89PNG")
        Path("m.png").unlink()


def test_of_many_classes_some_are_drawn(capsys):
    # Class 0 has three, the others two
    X, y = np.random.default_rng(0).normal(size=(61, 3)), np.arange(61)[::-1] % 30
    parts = drawn_expansions(parsimon.KernelDictionaryClassifier(2, budget=3).fit(X, y), Path("m"))
    assert len(parts) == MOST_DRAWN and "class 0" in parts
    assert "there are 30 dictionaries" in capsys.readouterr().err


def in_a_terminal(*arguments):
    """Run a command in a terminal, and return what was drawn there."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [*COMMAND, *map(str, arguments)], ENVIRONMENT)
    drawn = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while data := os.read(terminal, 65536):
            drawn += data
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    assert b"Traceback" not in drawn
    return drawn.decode()


def test_learn_draws_in_a_terminal(stream):
    text = in_a_terminal("learn", stream, "--target", "y")
    # It was drawn over
    assert "rows/s" in text and "memory of the model" in text and "\x1b[" in text
    assert "error / variance" in text.rpartition("\x1b[")[2]  # the summary comes last


def test_compare_draws_in_a_terminal(stream):
    text = in_a_terminal("compare", stream, "--target", "y", "--algorithm", "knlms", "--rows", 400)
    drawn, _, last = text.rpartition("\x1b[")
    assert "time left" in drawn and "┃" in drawn
    assert (
        "linear SGD" in last and "400 rows" in last and "┃" not in last and "time left" not in last
    )


# Reading


def formats(folder, columns):
    arrow = pa.table(columns)
    plain = write_csv(folder / "a.csv", columns)
    jsonl = folder / "a.jsonl"
    jsonl.write_text("".join(json.dumps(row) + "\n" for row in arrow.to_pylist()))
    pa.parquet.write_table(arrow, folder / "a.parquet", row_group_size=400)
    with pa.ipc.new_file(folder / "a.arrow", arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=300)
    with pa.ipc.new_stream(folder / "a.arrows", arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=300)
    made = [plain, jsonl, folder / "a.parquet", folder / "a.arrow", folder / "a.arrows"]
    for path in list(made):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        with pa.CompressedOutputStream(str(folder / f"{path.name}.zst"), "zstd") as file:
            file.write(path.read_bytes())
        made += [folder / f"{path.name}.gz", folder / f"{path.name}.zst"]
    return made


def test_formats_make_no_difference(folder, capsys, monkeypatch):
    expected = None
    for path in formats(folder, table(400)):
        out = totals(said(capsys, "learn", path, "--target", "y", "--model", f"{path}.model"))
        model = persistence.dumps(parsimon.load(f"{path}.model"))
        expected = expected or (out, model)
        assert (out, model) == expected, path.name
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        assert totals(said(capsys, "learn", "-", "--target", "y")) == out, path.name


def rows_of(path, **options):
    with reading.Source(str(path), **options) as source:
        return [row for block in source.blocks() for row in block.table.to_pylist()]


@pytest.mark.parametrize("size", [1, 7, 30, 1000])
def test_rows_are_whole_wherever_blocks_end(folder, monkeypatch, size):
    monkeypatch.setattr(limits, "TEXT_BLOCK", size)
    texts = ["plain", "two\nlines", 'a "quote"', "", "comma, and\r\nmore", "end"] * 5
    path = write_csv(folder / "a.csv", {"i": np.arange(30), "text": texts})
    kinds = {"i": "number", "text": "text"}
    assert rows_of(path, kinds=kinds) == [
        {"i": float(i), "text": t or None} for i, t in enumerate(texts)
    ]
    with reading.Source(str(path), kinds=kinds) as source:
        assert next(source.blocks(skip=11)).first == 11


def test_types_are_settled_by_the_first_block_and_wide(folder, monkeypatch):
    monkeypatch.setattr(limits, "TEXT_BLOCK", 40)
    path = folder / "a.csv"
    path.write_text(
        "n;d;t;e;s\n1;2020-01-01;2020-01-01 10:00:00;;x\n"
        + "2.5;2020-01-02;2020-01-01 10:00:00.25;7;1\n" * 3
    )
    rows = rows_of(path)
    assert [row["n"] for row in rows] == [1.0, 2.5, 2.5, 2.5]
    assert [row["s"] for row in rows] == ["x", "1", "1", "1"]
    assert rows[0]["e"] is None and rows[1]["e"] == 7.0
    assert rows[1]["t"].microsecond == 250000 and rows[1]["d"].isoformat() == "2020-01-02"


def test_a_model_tells_the_types(stream, capsys, folder):
    said(capsys, "learn", stream, "--target", "y", "--model", "m")
    (folder / "one.csv").write_text("shop,z,x\n12,,1\n")  # digits, where the model has text
    row = said(capsys, "predict", "m", "one.csv").splitlines()
    assert row[0] == "shop,z,x,prediction" and row[1].startswith("12,,1,")


# Going on


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def kill_and_resume(arguments, kept, moments):
    """Start a command and kill it, again and again, at moments (seconds) after it has first stored
    something; then let it end, and return what it printed.
    """
    for moment in moments:
        before = kept.stat().st_mtime_ns if kept.exists() else 0
        with subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.DEVNULL, env=ENVIRONMENT
        ) as process:

            def stored(process=process, before=before):
                ended = process.poll() is not None
                return ended or (kept.exists() and kept.stat().st_mtime_ns > before)

            wait_for(stored)
            time.sleep(moment)
            process.kill()
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=True, env=ENVIRONMENT
    ).stdout


def learn_command(data, kept, every=100):
    return [
        "learn",
        str(data),
        "--target",
        "y",
        "--model",
        str(kept),
        "--resume",
        "--checkpoint-every",
        str(every),
    ]


def test_killed_and_resumed_it_ends_as_if_nothing_had_happened(folder, capsys):
    data = write_csv(folder / "stream.csv", table(5000))
    expected = said(capsys, *learn_command(data, "whole"))
    rng = random.Random(0)
    out = kill_and_resume(
        learn_command(data, "killed"), folder / "killed", [rng.uniform(0, 0.05) for _ in range(3)]
    )
    assert totals(out) == totals(expected)
    assert persistence.dumps(parsimon.load("killed")) == persistence.dumps(parsimon.load("whole"))
    left = int(re.search(r"this run +([\d,]+) rows", out)[1].replace(",", ""))
    assert left < 5000  # what was learned before was not learned again


@pytest.mark.parametrize("cut", [1, 150, 200, 777, 1499])
def test_stopped_at_any_row_it_goes_on(stream, capsys, monkeypatch, cut):
    """Also in the warm-up."""
    whole = totals(said(capsys, "learn", stream, "--target", "y", "--model", "whole"))

    def after(self):
        if self.model.n_rows_ >= cut:
            self.interrupt.number = signal.SIGINT

    with monkeypatch.context() as patch:
        patch.setattr(LearnRun, "after_slice", after)
        patch.setattr("parsimon.cli.learn_run.SLICE", cut)
        assert main(["learn", str(stream), "--target", "y", "--model", "m", "--resume"]) == 130
    assert parsimon.load("m").n_rows_ == cut
    assert (
        totals(said(capsys, "learn", stream, "--target", "y", "--model", "m", "--resume")) == whole
    )
    assert persistence.dumps(parsimon.load("m")) == persistence.dumps(parsimon.load("whole"))


def test_new_rows_only(folder, capsys):
    columns = table()
    write_csv("all.csv", columns)
    write_csv("first.csv", {k: v[:700] for k, v in columns.items()})
    write_csv("second.csv", {k: v[700:] for k, v in columns.items()})
    whole = totals(said(capsys, "learn", "all.csv", "--target", "y"))
    said(capsys, "learn", "first.csv", "--target", "y", "--model", "m")
    assert (
        totals(
            said(
                capsys,
                "learn",
                "second.csv",
                "--target",
                "y",
                "--model",
                "m",
                "--resume",
                "--new-rows",
            )
        )
        == whole
    )
    assert "is it the same data" in said(
        capsys, "learn", "second.csv", "--target", "y", "--model", "m", "--resume", code=2
    )


def test_a_resumed_pipe_says_which_rows_it_skips(folder, capsys, monkeypatch):
    write_csv("all.csv", table(400))
    write_csv("first.csv", table(300))
    said(capsys, "learn", "first.csv", "--target", "y", "--model", "m")
    command = ("learn", "-", "--target", "y", "--model", "m", "--resume")
    note = "standard input: the first 300 rows are skipped, because the model has learned as many"

    def piped(name, *options, code=0):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
        return ran(capsys, *command, *options, code=code)[1]

    assert note in piped("all.csv")
    assert parsimon.load("m").n_rows_ == 400
    assert "are skipped" not in piped("first.csv", "--new-rows")
    found = piped("first.csv", code=2)
    assert "standard input has 300 rows, but the model has learned 700" in found
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n")))
    assert "standard input has no rows" in said(capsys, "learn", "-", "--target", "y", code=2)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_following_a_growing_file(stream, folder, number, code):
    lines = stream.read_text().splitlines(keepends=True)
    growing = folder / "growing.csv"
    growing.write_text("".join(lines[:300]))
    arguments = [*learn_command(growing, "m"), "--follow", "--json", "--every", "1"]
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        events = map(json.loads, process.stdout)
        next(event for event in events if event["rows"] == 299)
        with growing.open("a") as file:
            file.write("".join(lines[300:400]) + lines[400][:3])  # and half a row
        next(event for event in events if event["rows"] == 399)
        process.send_signal(number)
        events = list(events)
    assert process.returncode == code
    assert events[-1]["event"] == "end" and events[-1]["rows"] == 399
    assert events[-1]["stopped"] == signal.Signals(number).name
    growing.write_text("".join(lines))
    assert main(["learn", str(growing), "--target", "y", "--model", "m", "--resume"]) == 0
    assert main(["learn", str(stream), "--target", "y", "--model", "whole"]) == 0
    assert persistence.dumps(parsimon.load("m")) == persistence.dumps(parsimon.load("whole"))


def test_following_standard_input(stream):
    lines = stream.read_text().splitlines(keepends=True)
    arguments = [*COMMAND, *learn_command("-", "m", 399), "--follow"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments, text=True, env=ENVIRONMENT, **pipes) as process:
        process.stdin.write("".join(lines[:400]))
        process.stdin.flush()
        wait_for(Path("m").exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        assert "399" in process.stdout.read() and "go on with --resume" in process.stderr.read()
    assert parsimon.load("m").n_rows_ == 399


@pytest.mark.parametrize("rows", [0, 40])  # fewer than the reader waits for
def test_rows_of_a_pipe_are_learned_before_a_stop(stream, folder, monkeypatch, capsys, rows):
    monkeypatch.setattr(byte_stream.ByteStream, "_waits_for_more", stop_after_reading)
    lines = stream.read_text().splitlines(keepends=True)
    reader, writer = os.pipe()  # nobody closes it for writing before the end
    os.write(writer, "".join(lines[: rows + 1]).encode())
    monkeypatch.setattr(sys, "stdin", os.fdopen(reader, closefd=False))
    assert main(["learn", "-", "--target", "y", "--model", "m", "--follow", "--json"]) == 143
    os.close(writer)
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (end["rows"], end["model"]) == (rows, "m" if rows else None)
    assert parsimon.load("m").n_rows_ == 40 if rows else not Path("m").exists()


def stop_after_reading(stream, data):
    """Send a signal, as if it came while the reader waits for more of the first rows."""
    if not stream._stopped():
        signal.raise_signal(signal.SIGTERM)
    return True


# Using models


@pytest.fixture
def classes(folder, capsys):
    columns = table()
    columns["y"] = np.where(columns["y"] > 101, "high", "low")
    write_csv("stream.csv", columns)
    said(capsys, "learn", "stream.csv", "--target", "y", "--model", "m", "--json")
    return columns


def test_predict_gives_the_rows_back(classes, capsys):
    out = said(capsys, "predict", "m", "stream.csv", "--probabilities", "--all-digits")
    given = list(csv.reader(io.StringIO(out)))
    read = list(csv.reader(io.StringIO(Path("stream.csv").read_text())))
    assert [row[:4] for row in given] == read
    assert given[0][4:] == ["prediction", "prediction: high", "prediction: low"]
    model = parsimon.load("m")
    inputs = {k: v for k, v in classes.items() if k != "y"}
    assert [row[4] for row in given[1:]] == model.predict(inputs, lagged=False).tolist()
    np.testing.assert_allclose(
        [[float(p) for p in row[5:]] for row in given[1:]],
        model.predict_proba(inputs, lagged=False),
    )


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_predict_writes_files_whole(classes, capsys, suffix):
    said(capsys, "predict", "m", "stream.csv", "--out", f"p{suffix}", "--column", "guess")
    rows = rows_of(f"p{suffix}")
    assert [row["guess"] for row in rows] == parsimon.load("m").predict(
        classes, lagged=False
    ).tolist()
    before = Path(f"p{suffix}").read_bytes()
    with open("stream.csv", "a") as file:
        file.write("1,2\n")
    assert "row 1,501" in said(capsys, "predict", "m", "stream.csv", "--out", f"p{suffix}", code=2)
    assert Path(f"p{suffix}").read_bytes() == before and not list(Path().glob(".p*"))


def test_evaluate_scores_every_row(classes, capsys):
    total = json.loads(said(capsys, "evaluate", "m", "stream.csv", "--json"))
    found = parsimon.load("m").predict(classes, lagged=False)
    assert total["rows"] == 1500 and total["accuracy"] == pytest.approx(
        np.mean(found == classes["y"])
    )
    y = classes["y"]
    right, unchanged = np.mean(found[1:] == y[1:]), np.mean(y[1:] == y[:-1])
    assert total["kappa_no_change"] == pytest.approx((right - unchanged) / (1 - unchanged))
    assert "if the rows are in order of time" in said(capsys, "evaluate", "m", "stream.csv")


def test_inspect_tells_what_there_is(classes, capsys):
    facts = json.loads(said(capsys, "inspect", "m", "--json"))
    model = parsimon.load("m")
    assert facts["rows"] == 1500 and facts["target"] == "y" and facts["classes"] == ["high", "low"]
    assert facts["columns"] == {"x": "number", "z": "number", "shop": "text"}
    assert facts["centres"] == model.n_centers_ and len(facts["experts"]) == len(model.shares_)
    assert facts["total"]["accuracy"] == model.metrics_.total()["accuracy"]
    assert "warming" not in said(capsys, "inspect", "m")


def test_compare_shows_baselines(classes, capsys):
    out = said(
        capsys,
        "compare",
        "stream.csv",
        "--target",
        "y",
        "--json",
        "--algorithm",
        "default",
        "--algorithm",
        "bsgd",
    )
    found = {row["model"]: row["total"] for row in map(json.loads, out.splitlines())}
    assert list(found) == ["default", "bsgd", "majority so far", "no change", "linear SGD"]
    y = classes["y"]
    assert found["no change"]["accuracy"] == pytest.approx(np.mean(y[1:] == y[:-1]))
    assert found["default"]["accuracy"] == parsimon.load("m").metrics_.total()["accuracy"]
    counts = np.cumsum(y[:-1] == "high") * 2 / np.arange(1, len(y))
    sure = counts != 1  # no tie
    majority = np.where(counts > 1, "high", "low")
    assert abs(found["majority so far"]["accuracy"] - np.mean(majority[sure] == y[1:][sure])) < 0.01


def test_compare_regression(stream, capsys):
    out = said(capsys, "compare", stream, "--target", "y", "--json", "--algorithm", "knlms")
    found = {row["model"]: row["total"] for row in map(json.loads, out.splitlines())}
    y = table()["y"]
    mean = np.cumsum(y)[:-1] / np.arange(1, len(y))
    assert found["mean so far"]["mse"] == pytest.approx(np.mean((y[1:] - mean) ** 2))
    assert found["no change"]["mae"] == pytest.approx(np.mean(np.abs(np.diff(y))))


def compared(capsys, *arguments):
    """What each model came to, by its name."""
    out = said(capsys, "compare", "stream.csv", "--target", "y", "--json", *arguments)
    return {row["model"]: row for row in map(json.loads, out.splitlines())}


def encoded(columns, n):
    """Rows as a model of tables encodes them: the first 200 settle the columns."""
    encoder = TableEncoder(ignore=["y"])
    first, rest = ({k: v[rows] for k, v in columns.items()} for rows in (slice(200), slice(200, n)))
    return np.concatenate([encoder.learn_transform(first), encoder.learn_transform(rest)])


def one_by_one(model, X, y):
    """What a model of River predicts for each row before it learns it."""
    found = []
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        found.append(model.predict_one(dict(enumerate(row))))
        model.learn_one(dict(enumerate(row)), target)
    return np.array(found[1:])


def test_peers_learn_the_same_rows(classes, capsys):
    from river import linear_model, tree

    peers = [
        "--peer",
        "river-tree",
        "--peer",
        "river-linear",
        "--algorithm",
        "bsgd",
        "--rows",
        "500",
    ]
    found = compared(capsys, *peers)
    assert list(found)[-3:] == ["linear SGD", "river-tree", "river-linear"]
    assert all(row["rows"] == 500 and row["microseconds_a_row"] > 0 for row in found.values())
    X, y = encoded(classes, 500), classes["y"][:500]
    for name, model in {
        "river-tree": tree.HoeffdingAdaptiveTreeClassifier(seed=0),
        "river-linear": linear_model.SoftmaxRegression(),
    }.items():
        assert found[name]["total"]["accuracy"] == pytest.approx(
            np.mean(one_by_one(model, X, y) == y[1:])
        )


def test_peers_learn_scaled_targets(stream, capsys):
    from river import linear_model

    found = compared(
        capsys,
        "--peer",
        "river-linear",
        "--algorithm",
        "knlms",
        "--rows",
        "700",
        "--ignore",
        "shop",
    )
    columns = {k: v for k, v in table().items() if k != "shop"}
    scaled, back = TargetScaler().learn_transform(columns["y"][:700])
    f = back(
        np.append(0.0, one_by_one(linear_model.LinearRegression(), encoded(columns, 700), scaled))
    )
    errors = (columns["y"][:700] - f)[1:]
    assert found["river-linear"]["total"]["mse"] == pytest.approx(np.mean(errors**2))


def test_compare_takes_all_but_none_twice(stream, capsys):
    found = list(compared(capsys, "--rows", "220"))
    regression = [name for name, tasks in ALGORITHMS.items() if "regression" in tasks]
    assert found == [*regression, "mean so far", "no change", "linear SGD"]


def test_rows_limit_what_is_read(classes, capsys):
    limited = compared(capsys, "--algorithm", "bsgd", "--rows", "250")
    write_csv("stream.csv", {k: v[:250] for k, v in classes.items()})
    cut = compared(capsys, "--algorithm", "bsgd")
    assert {k: v["total"] for k, v in limited.items()} == {k: v["total"] for k, v in cut.items()}


def test_a_linear_peer_meets_classes_as_they_come():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    X[:, 1] += 4 * (np.arange(600) % 3 == 0) * (np.arange(600) >= 200)
    y = np.where(X[:, 1] > 2.5, "late", np.where(X[:, 0] > 0, "right", "left"))
    y[:200][y[:200] == "late"] = "left"
    model, told = (SGDClassifier(loss="log_loss", random_state=0) for _ in range(2))
    grown, found = OpenClassifier(model, 2), []
    first = [str(label) for label in dict.fromkeys(y.tolist())]
    for i in range(600):
        row = X[i : i + 1]
        if i:
            found.append(grown.predict(row)[0])
        if 0 < i < 200:  # as one that was told both of them
            assert found[-1] == first[told.predict(row)[0]]
        if i < 200:
            told.partial_fit(row, [first.index(y[i])], classes=[0, 1])
        grown.partial_fit(row, [y[i]])
    recent = np.array(found[-200:]) == y[-200:]
    assert recent.mean() > 0.9 and recent[y[-200:] == "late"].mean() > 0.9


def test_a_peer_that_fails_is_said_to(classes, capsys, monkeypatch):
    class Fails:
        def partial_fit(self, X, y, classes=None):
            raise ValueError("too large")

        def predict(self, X):
            return [0]

    monkeypatch.setitem(PEERS, "bad", Peer({"classification": Fails}))
    found = compared(capsys, "--peer", "bad", "--algorithm", "bsgd", "--rows", "220")
    assert "rows 1 to 16: too large" in found["bad"]["failed"] and found["bsgd"]["rows"] == 220
    arguments = ["--peer", "bad", "--algorithm", "bsgd", "--rows", "220", "--plot", "p.png"]
    assert "failed in rows 1 to 16" in said(
        capsys, "compare", "stream.csv", "--target", "y", *arguments
    )
    assert Path("p.png").stat().st_size


def test_compare_stops(stream, capsys, monkeypatch):
    learned = CompareRun.learn_slice

    def stop(self, block):
        learned(self, block)
        self.interrupt.number = signal.SIGINT

    monkeypatch.setattr(CompareRun, "learn_slice", stop)
    capsys.readouterr()
    assert main(["compare", str(stream), "--target", "y", "--algorithm", "knlms"]) == 130
    assert "200 rows, each predicted" in capsys.readouterr().out


def test_compare_tells_of_the_rows_before_a_bad_one(stream, capsys, monkeypatch):
    monkeypatch.setattr(limits, "TEXT_BLOCK", 20000)
    lines = stream.read_text().splitlines(keepends=True)
    stream.write_text("".join(spoiled(1400, "1.0,abc,town,3.0")(lines)))
    capsys.readouterr()
    assert main(["compare", str(stream), "--target", "y", "--algorithm", "knlms"]) == 2
    out, err = capsys.readouterr()
    assert "linear SGD" in out and "row 1,400, column 'z': 'abc' is not a number" in err


@pytest.mark.parametrize(
    ("module", "extra", "arguments"),
    [
        ("river", "river", ["compare", "s.csv", "--target", "y", "--peers"]),
        ("matplotlib", "plot", ["compare", "s.csv", "--target", "y", "--plot", "p.png"]),
        ("matplotlib", "plot", ["inspect", "m", "--plot", "p.png"]),
    ],
)
def test_what_a_command_needs_besides_is_named(
    folder, capsys, monkeypatch, module, extra, arguments
):
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    err = said(capsys, *arguments, code=2)
    assert install_command(extra) in err and err.count("\n") == 1


# Data sets


def test_datasets_are_listed(capsys):
    lines = said(capsys, "datasets", "list").splitlines()
    assert lines[0].split() == ["name", "rows", "columns", "task", "target", "source"]
    assert {line.split()[0] for line in lines[1:]} == {
        *data_sets.GENERATED,
        data_sets.SHIPPED,
        *data_sets.STORED,
    }


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_fetch_writes_a_table(folder, capsys, suffix):
    X, y = electricity(".")
    said(capsys, "datasets", "fetch", "electricity", "--data-dir", ".", "--out", f"e{suffix}")
    rows = rows_of(f"e{suffix}")
    assert [*rows[0]][:2] == ["date", "day"] and [*rows[0]][-1] == "class"
    np.testing.assert_array_equal([list(row.values()) for row in rows], np.column_stack([X, y]))
    said(
        capsys,
        "datasets",
        "fetch",
        "electricity",
        "--data-dir",
        ".",
        "--out",
        f"f{suffix}",
        "--seed",
        1,
    )
    shuffled = [list(row.values()) for row in rows_of(f"f{suffix}")]
    order = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_array_equal(shuffled, np.column_stack([X, y])[order])


def test_every_stored_data_set_is_a_table(folder, monkeypatch):
    """Those that are not loaded as tables are made ones."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 3)), np.arange(6)
    np.savez("boston_housing.npz", X=X, y=y)
    np.savez("usps.npz", X_train=X[:4], y_train=y[:4], X_test=X[4:], y_test=y[4:])
    for name in ("boston", "usps"):
        found = data_sets.STORED[name].load(Path())
        assert (
            found.feature_names == ["x1", "x2", "x3"]
            and found.target_name == data_sets.STORED[name].target
        )
        np.testing.assert_array_equal(found.X, X)
        np.testing.assert_array_equal(found.y, y)


def test_export_tells_the_encoding(stream, capsys):
    said(capsys, "learn", stream, "--target", "y", "--algorithm", "sogsvr", "--model", "m")
    out = said(capsys, "export", "m", "m.onnx", "--encoded")
    model = parsimon.load("m")
    assert (
        "not part of it" in out
        and f"y = {model.scaler_.mean_:.9g} + {model.scaler_.scale_:.9g} f" in out
    )
    assert "\n2 " in out and "shop = town" in out
    said(capsys, "export", "m", "m.h", "--name", "price")
    assert "double price_predict(const price_row *row)" in Path("m.h").read_text()
    assert said(capsys, "export", "m", "m.libsvm") and Path("m.libsvm").read_text().startswith(
        "svm_type"
    )


# Errors


def spoiled(line, text):
    def spoil(lines):
        return [*lines[:line], text + "\n", *lines[line + 1 :]]

    return spoil


BAD = {
    "missing target": (None, ["--target", "Y"], "did you mean 'y'?"),
    "ragged": (
        spoiled(700, "1.0,2.0,town"),
        [],
        "row 700: it has 3 values where the header has 4 columns",
    ),
    "no number": (spoiled(1400, "1.0,abc,town,3.0"), [], "column 'z' is read as text"),
    "infinite": (spoiled(900, "inf,1.0,town,3.0"), [], "row 900, column 'x': inf is infinite"),
    "missing label": (
        spoiled(901, "1.0,1.0,town,"),
        [],
        "row 901, column 'y': the target is missing",
    ),
    "missing value": (
        spoiled(5, ",1.0,town,2.0"),
        ["--missing", "error"],
        "row 5, column 'x': the value is missing",
    ),
    "NaN": (
        spoiled(5, "nan,1.0,town,2.0"),
        ["--missing", "error"],
        "row 5, column 'x': the value is missing",
    ),
    "not UTF-8": (None, ["latin.csv"], "row 2, column 'shop': it is not UTF-8"),
    "unknown option": (None, ["--budgett", "3"], "No such option: --budgett"),
    "unknown algorithm": (None, ["--algorithm", "svm"], "unknown algorithm 'svm'; known are"),
    "unknown task": (None, ["--task", "ranking"], "unknown task 'ranking'"),
    "wrong task": (
        None,
        ["--algorithm", "knlms", "--task", "classification"],
        "knlms is not for classification",
    ),
    "budget": (None, ["--budget", "0"], "--budget"),
    "unwritable": (None, ["--model", "nowhere/m"], "nowhere/m cannot be written"),
    "a folder": (None, ["--plot", "."], "is a folder"),
    "no such file": (None, ["streem.csv"], "did you mean 'stream.csv'?"),
    "empty": (None, ["empty.csv"], "no rows"),
    "header only": (None, ["header.csv"], "no rows"),
    "an array": (None, ["a.json"], "one object per line"),
    "bad JSON": (None, ["bad.jsonl"], "row 2 is not a JSON object"),
    "cut off": (None, ["cut.csv.gz"], "cannot be read"),
    "cut Parquet": (None, ["cut.parquet"], "cannot be read"),
    "other target": (None, ["--model", "z.parsimon", "--resume"], "has --target z, not y"),
    "other kind": (None, ["--model", "plain.parsimon", "--resume"], "holds a KNLMSRegressor"),
    "damaged": (None, ["--model", "damaged.parsimon", "--resume"], "damaged"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_gets_a_line(stream, folder, capsys, name):
    spoil, arguments, expected = BAD[name]
    columns = table(300)
    write_csv("small.csv", columns)
    said(capsys, "learn", "small.csv", "--target", "z", "--model", "z.parsimon")
    published(KNLMSRegressor, gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0]).save("plain.parsimon")
    kept = Path("z.parsimon").read_bytes()
    Path("damaged.parsimon").write_bytes(kept[:-5] + b"spoil")
    Path("latin.csv").write_bytes("shop,y\nok,1\ncafé,2\n".encode("latin-1"))
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("x,y\n")
    Path("a.json").write_text("[{}]")
    Path("bad.jsonl").write_text('{"x": 1, "y": 2}\n{"x": 1, \n')
    Path("cut.csv.gz").write_bytes(gzip.compress(stream.read_bytes())[:-2000])
    pa.parquet.write_table(pa.table(columns), "whole.parquet")
    Path("cut.parquet").write_bytes(Path("whole.parquet").read_bytes()[:-100])
    if spoil:
        lines = stream.read_text().splitlines(keepends=True)
        stream.write_text("".join(spoil(lines)))
    positional = [a for a in arguments[:1] if not a.startswith("-")]
    line = [
        "learn",
        *(positional or [stream]),
        *([] if "--target" in arguments else ["--target", "y"]),
    ]
    before = {p: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    code = 0 if name == "no number" else 2  # text in the first block is text: a note says so
    capsys.readouterr()
    assert main([str(a) for a in [*line, *arguments[len(positional) :]]]) == code
    err = capsys.readouterr().err
    assert expected in err and len(err.splitlines()) <= 2 and "Traceback" not in err
    assert {p: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before


def test_a_value_that_does_not_fit_later_names_its_row_and_keeps_what_was_learned(
    stream, capsys, monkeypatch
):
    monkeypatch.setattr(limits, "TEXT_BLOCK", 20000)
    lines = stream.read_text().splitlines(keepends=True)
    stream.write_text("".join(spoiled(1400, "1.0,abc,town,3.0")(lines)))
    err = said(capsys, "learn", stream, "--target", "y", "--model", "m", code=2)
    assert (
        "row 1,400, column 'z': 'abc' is not a number" in err and "are learned and kept in m" in err
    )
    rows = parsimon.load("m").n_rows_
    assert 0 < rows < 1400 and f"{rows:,} rows" in err
    stream.write_text("".join(lines))
    whole = totals(said(capsys, "learn", stream, "--target", "y"))
    assert (
        totals(said(capsys, "learn", stream, "--target", "y", "--model", "m", "--resume")) == whole
    )


USES = {
    "predict without a column": (
        ["predict", "m", "short.csv"],
        "column 'shop': the rows have no such",
    ),
    "predict with a plain model": (
        ["predict", "plain.parsimon", "stream.csv"],
        "holds a KNLMSRegressor",
    ),
    "no probabilities": (
        ["predict", "m", "stream.csv", "--probabilities"],
        "gives no probabilities",
    ),
    "a column twice": (["predict", "m", "stream.csv", "--column", "x"], "has a column 'x' already"),
    "a suffix": (["predict", "m", "stream.csv", "--out", "p.xls"], "p.xls"),
    "merging tables": (["merge", "m", "m", "--out", "n"], "have no sum"),
    "an unknown experiment": (["reproduce", "nothing"], "unknown experiment 'nothing'"),
    "an unknown stream": (["datasets", "generate", "nothing"], "unknown data set 'nothing'"),
    "an unknown data set": (["datasets", "fetch", "nothing"], "unknown data set 'nothing'"),
    "no data set there": (
        ["datasets", "fetch", "electricity", "--data-dir", "."],
        "there is no electricity.npz in .",
    ),
    "not to be fetched": (
        ["datasets", "fetch", "kin40k"],
        "give a data_dir (--data-dir) with kin40k.npz",
    ),
    "an unknown peer": (
        ["compare", "stream.csv", "--target", "y", "--peer", "x"],
        "unknown peer 'x'; known are",
    ),
    "no picture": (
        ["compare", "stream.csv", "--target", "y", "--plot", "p.xyz"],
        "p.xyz: the suffix of a picture must be one of",
    ),
    "nothing to draw": (
        ["inspect", "new.parsimon", "--plot", "p.png"],
        "has no centres yet: there is nothing to draw",
    ),
    "warming up": (
        ["inspect", "warming.parsimon", "--plot", "p.png"],
        "has no centres yet: there is nothing to draw",
    ),
    "no centres": (
        ["inspect", "encoder.parsimon", "--plot", "p.png"],
        "holds a TableEncoder, which has no centres",
    ),
    "no model": (["inspect", "none"], "there is no file none"),
    "not a model": (["inspect", "stream.csv"], "stream.csv is not a model file: it looks like CSV"),
    "an unknown format": (["export", "m", "m.xyz"], "give --format"),
    "no such form": (["export", "c", "c.libsvm"], "mixture"),
    "nothing encoded": (["export", "plain.parsimon", "e.h", "--encoded"], "has no columns"),
    "nothing": ([], "Missing command"),
    "comparing nothing": (
        ["compare", "stream.csv", "--target", "y", "--algorithm", "bsgd"],
        "is not for regression",
    ),
}


@pytest.mark.parametrize("name", USES)
def test_misuse_gets_a_line(stream, capsys, name):
    arguments, expected = USES[name]
    said(capsys, "learn", stream, "--target", "y", "--algorithm", "knlms", "--model", "m")
    if name == "no such form":
        said(capsys, "learn", stream, "--target", "shop", "--model", "c")
    published(KNLMSRegressor, gamma=1.0).fit([[0.0], [1.0]], [0.0, 1.0]).save("plain.parsimon")
    published(KNLMSRegressor).save("new.parsimon")
    TableEncoder().save("encoder.parsimon")
    warming = TableModel("y")
    warming.learn({"x": [1.0, 2.0], "y": [1.0, 2.0]})
    warming.save("warming.parsimon")
    write_csv("short.csv", {k: v for k, v in table().items() if k != "shop"})
    err = said(capsys, *arguments, code=2)
    assert expected in err and len(err.splitlines()) <= 2


@pytest.mark.parametrize("module", ["typer", "rich", "pyarrow"])
def test_what_is_not_installed_is_named(module, stream):
    code = (
        f"import sys; sys.modules[{module!r}] = None; "
        "from parsimon.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "learn", str(stream), "--target", "y"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert module in done.stderr and install_command("cli") in done.stderr


ORIGINS = {
    "index": (None, 'pip install "parsimon[cli]"'),
    "clone": ({"url": "file:///some/clone", "dir_info": {}}, 'pip install ".[cli]" in /some/clone'),
    "editable": (
        {"url": "file:///a%20b", "dir_info": {"editable": True}},
        'pip install ".[cli]" in /a b',
    ),
    "archive": ({"url": "file:///p.whl", "archive_info": {}}, 'pip install "parsimon[cli]"'),
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_command_that_installs_an_extra(origin, tmp_path, monkeypatch):
    record, expected = ORIGINS[origin]
    folder = tmp_path / "parsimon-0.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: parsimon\nVersion: 0.1\n")
    if record is not None:
        (folder / "direct_url.json").write_text(json.dumps(record))
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("cli") == expected


WITHOUT_WORK = {
    "version": (["--version"], 0),
    "help": (["--help"], 0),
    "help of a command": (["learn", "--help"], 0),
    "no such option": (["learn", "data.csv", "--targt", "y"], 2),
    "no such command": (["lern"], 2),
    "no target": (["learn", "data.csv"], 2),
}


@pytest.mark.parametrize("name", WITHOUT_WORK)
def test_help_and_usage_errors_import_nothing_heavy(name):
    arguments, code = WITHOUT_WORK[name]
    script = (
        "import sys; from parsimon.cli import main; code = main(sys.argv[1:]); "
        "heavy = {'sklearn', 'scipy', 'pyarrow', 'pandas', 'numpy', 'rich'} & sys.modules.keys(); "
        "assert not heavy, heavy; sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == code and "AssertionError" not in done.stderr, done.stderr


def test_help_lists_what_there_is():
    assert tuple(ALGORITHMS) == choices.ALGORITHMS and tuple(PEERS) == choices.PEERS


@pytest.mark.skipif(os.name != "posix", reason="pipes are otherwise elsewhere")
def test_a_reader_that_goes_away(stream):
    """It is no error, and what was learned is kept."""
    command = [
        sys.executable,
        "-m",
        "parsimon.cli",
        "learn",
        str(stream),
        "--target",
        "y",
        "--json",
        "--every",
        "10",
    ]
    run = subprocess.Popen(
        [*command, "--model", "m"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert run.stdout.readline().startswith(b"{")
    run.stdout.close()
    assert run.stderr.read() == b"" and run.wait() == 128 + signal.SIGPIPE
    run.stderr.close()
    assert parsimon.load("m").n_rows_ > 0


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 12345.0, 1e7, 1e12])
def test_predictions_have_as_many_digits_as_matter(folder, capsys, scale):
    columns = table()
    columns["y"] = scale * (columns["y"] - 100.0) + 7 * scale
    write_csv("stream.csv", columns)
    said(
        capsys,
        "learn",
        "stream.csv",
        "--target",
        "y",
        "--algorithm",
        "knlms",
        "--model",
        "m",
        "--json",
    )
    model = parsimon.load("m")
    exact = model.predict({k: v for k, v in columns.items() if k != "y"})
    for options, off in (([], 5e-5 * model.scaler_.scale_), (["--all-digits"], 0.0)):
        rows = list(
            csv.DictReader(io.StringIO(said(capsys, "predict", "m", "stream.csv", *options)))
        )
        texts = [row["prediction"] for row in rows]
        assert np.abs(np.array(texts, dtype=float) - exact).max() <= max(
            off, 1e-15 * np.abs(exact).max()
        )
        if off:
            assert all(len(text.split("e")[0].strip("-0.")) <= 18 for text in texts)
            assert np.median([len(text) for text in texts]) < 12 or scale > 1e6


@pytest.mark.parametrize("every", [1, 10**6])
def test_curves_have_points_enough(folder, capsys, monkeypatch, every):
    """Whatever --every is."""
    drawn = {}
    for name in ("drawing", "streams"):
        keep = lambda figure, path: drawn.setdefault(str(path), figure) and Path(path)  # noqa: E731
        monkeypatch.setattr(f"parsimon.plots.{name}.save", keep)
    write_csv("stream.csv", table())
    said(
        capsys,
        "learn",
        "stream.csv",
        "--target",
        "y",
        "--algorithm",
        "knlms",
        "--plot",
        "l.png",
        "--every",
        every,
    )
    said(
        capsys, "compare", "stream.csv", "--target", "y", "--algorithm", "knlms", "--plot", "c.png"
    )
    for figure in drawn.values():
        for axis in figure.axes:
            assert all(100 <= len(line.get_xdata()) <= MOST_POINTS for line in axis.lines)
            assert all(line.get_xdata()[-1] == 1500 for line in axis.lines)
        legends = [
            text.get_text()
            for axis in figure.axes
            if axis.get_legend()
            for text in axis.get_legend().get_texts()
        ]
        assert any(
            "last 1,000 rows" in words
            for words in [*legends, *(axis.get_ylabel() for axis in figure.axes)]
        )


def test_nothing_imports_the_command_line():
    package = Path(parsimon.__file__).parent
    for path in package.rglob("*.py"):
        if package / "cli" not in path.parents:
            assert "parsimon.cli" not in path.read_text(), path


def test_a_reader_that_leaves_is_no_error(stream):
    shell = f"{' '.join(COMMAND)} datasets generate honeine --rows 100000 | head -2"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("x1,x2,y\n") and not done.stderr


def test_the_stream_that_comes_with_it(folder, capsys):
    assert "bikes " in said(capsys, "datasets", "list")
    rows = said(capsys, "datasets", "fetch", "bikes").splitlines()
    assert len(rows) == 8646
    assert (
        rows[0]
        == "time,holiday,workingday,weather,temperature,feels_like,humidity,windspeed,bikers"
    )
    said(capsys, "datasets", "fetch", "bikes", "--seed", "1", "--out", "shuffled.parquet")
    assert pa.parquet.read_table("shuffled.parquet").num_rows == 8645


def test_a_model_that_exists_is_not_lost(stream, folder, capsys):
    said(capsys, "learn", stream, "--target", "y", "--model", "m")
    kept = (folder / "m").read_bytes()
    again = ["learn", stream, "--target", "y", "--model", "m"]
    assert "m exists: --resume goes on from it, --overwrite learns anew" in said(
        capsys, *again, code=2
    )
    assert "give one of them" in said(capsys, *again, "--resume", "--overwrite", code=2)
    assert (folder / "m").read_bytes() == kept
    said(capsys, "learn", stream, "--target", "y", "--model", "m", "--overwrite")
    assert (folder / "m").read_bytes() == kept


def test_the_demo_learns_predicts_and_draws(tmp_path, monkeypatch, capsys):
    from parsimon.cli import demo

    monkeypatch.setattr("sys.argv", ["demo", "--output", str(tmp_path)])
    monkeypatch.setattr(demo, "LAST_DAY", 8200)  # a short stream
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert "$ parsimon predict" in out
    assert "linear SGD" in out
    end = out.rpartition("The pictures:")[2]
    assert all(line in end for lines in demo.CAPTIONS.values() for line in lines)
    for name in ("bikes.parsimon", "bikes.png", "model.png"):
        assert (tmp_path / name).stat().st_size > 1000


def test_no_file_is_for_two_things(stream, folder, capsys):
    kept = Path(stream).read_bytes()
    for arguments, told in (
        (["--model", stream, "--overwrite"], "--model and DATA are the same file"),
        (["--report", stream], "--report and DATA are the same file"),
        (["--model", "m.png", "--plot", "m.png"], "--plot and --model are the same file"),
        (["--ignore", "y"], "--ignore y is the target"),
    ):
        assert told in said(capsys, "learn", stream, "--target", "y", *arguments, code=2)
    assert Path(stream).read_bytes() == kept
    (folder / "notes.txt").write_text("of value")
    said(capsys, "learn", stream, "--target", "y", "--model", "notes.txt", "--overwrite", code=2)
    assert (folder / "notes.txt").read_text() == "of value"
    assert "is the target" in said(
        capsys, "compare", stream, "--target", "y", "--ignore", "y", code=2
    )


def test_what_users_mistype(stream, folder, capsys):
    assert "there is no column 'shopp': did you mean 'shop'?" in said(
        capsys, "learn", stream, "--target", "y", "--ignore", "shopp", code=2
    )
    assert "did you mean 'shop'?" in said(
        capsys, "compare", stream, "--target", "y", "--ignore", "shopp", code=2
    )
    assert "--delimiter must be one character" in said(
        capsys, "learn", stream, "--target", "y", "--delimiter", ",,", code=2
    )
    said(capsys, "learn", stream, "--target", "y", "--model", "m")
    head = Path(stream).read_text().splitlines()[0]
    Path("head.csv").write_text(head + "\n")
    assert "head.csv has no rows" in said(
        capsys, "predict", "m", "head.csv", "--out", "p.csv", code=2
    )
    assert not Path("p.csv").exists()
    assert "known are 'bikes'" in said(capsys, "datasets", "fetch", "bikez", code=2)
    assert said(capsys, "--version").startswith("parsimon ")
