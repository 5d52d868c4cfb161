"""Whatever fails in a write, the old file or the new one is whole, and nothing else is left."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import parsimon
from parsimon import KNLMSRegressor, _files, published
from parsimon.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
CALLS = ("open", "write", "fsync", "replace")


class Faulty:
    """The module os, in which a function fails when it is called the n-th time."""

    def __init__(self, name, n, fail):
        self.name, self.left, self.fail = name, n, fail
        self.failed = False

    def __getattr__(self, name):
        function = getattr(os, name)
        if name != self.name:
            return function

        def call(*arguments, **options):
            self.left -= 1
            if self.left == 0:
                self.failed = True
                return self.fail(function, *arguments, **options)
            return function(*arguments, **options)

        return call


def no_space(function, *arguments, **options):
    if function is os.write:  # a part of it fits
        descriptor, data = arguments
        os.write(descriptor, data[: len(data) // 2])
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(function, *arguments, **options):
    function(*arguments, **options)
    raise KeyboardInterrupt


def terminated(function, *arguments, **options):
    result = function(*arguments, **options)
    signal.raise_signal(signal.SIGTERM)
    return result


def faults(monkeypatch, name, fail):
    """Yield once for each call that is made, and let that one fail."""
    for n in range(1, 1000):
        faulty = Faulty(name, n, fail)
        with monkeypatch.context() as patch:
            patch.setattr(_files, "os", faulty)
            yield
        if not faulty.failed:
            assert n > 1, "nothing was tried"
            return


def write_rows(path, n):
    x, z = np.random.default_rng(0).normal(size=(2, n)).round(6)
    pa.csv.write_csv(pa.table({"x": x, "z": z, "y": (np.sin(2 * x) * z).round(6)}), path)


def learn(data, model, *options):
    return ["learn", data, "--target", "y", "--algorithm", "knlms", "--model", model, *options]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data, models of 250 rows and of a plain estimator."""
    monkeypatch.chdir(tmp_path)
    write_rows("s.csv", 400)
    write_rows("first.csv", 250)
    assert main(learn("first.csv", "m")) == 0
    X = np.linspace(0, 1, 20)[:, None]
    published(KNLMSRegressor, gamma=900.0).fit(X, np.sin(9 * X[:, 0])).save("plain")
    return tmp_path


#: Commands that write one file, and the file.
JOBS = {
    "csv": (["predict", "m", "s.csv", "--out", "o.csv"], "o.csv"),
    "jsonl": (["predict", "m", "s.csv", "--out", "o.jsonl"], "o.jsonl"),
    "parquet": (["predict", "m", "s.csv", "--out", "o.parquet"], "o.parquet"),
    "generate": (["datasets", "generate", "honeine", "--rows", "20000", "--out", "o.csv"], "o.csv"),
    "plot": (
        ["learn", "s.csv", "--target", "y", "--algorithm", "knlms", "--plot", "o.png"],
        "o.png",
    ),
    "report": (
        ["learn", "s.csv", "--target", "y", "--algorithm", "knlms", "--report", "o.html"],
        "o.html",
    ),
    "onnx": (["export", "m", "o.onnx"], "o.onnx"),
    "c": (["export", "m", "o.h"], "o.h"),
    "libsvm": (["export", "plain", "o.libsvm"], "o.libsvm"),
    "merge": (["merge", "plain", "plain", "--out", "o"], "o"),
}
#: Whether there is a file before. One of each kind of writer is enough where there is none.
PLACES = [(job, True) for job in JOBS] + [(job, False) for job in ("csv", "parquet", "c", "merge")]


def contents():
    return {path.name: path.read_bytes() for path in Path().iterdir()}


def check(before, after, file, new):
    """Only the one file may have changed, from the old one to the new one."""
    assert after.keys() - before.keys() <= {file} and before.keys() <= after.keys()
    assert all(after[name] == data for name, data in before.items() if name != file)
    assert after.get(file) in (before.get(file), new)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("job", "old"), PLACES)
def test_no_space_in_the_middle_of_a_command(folder, capsys, monkeypatch, job, call, old):
    command, file = JOBS[job]
    assert main(command) == 0
    new = Path(file).read_bytes()
    Path(file).unlink()
    if old:
        Path(file).write_text("what was there")
    before = contents()
    for _ in faults(monkeypatch, call, no_space):
        capsys.readouterr()
        code = main(command)
        err = capsys.readouterr().err
        check(before, contents(), file, new)
        if code == 0:
            assert Path(file).read_bytes() == new
            continue
        assert code == 2 and err == f"parsimon: error: {file}: {os.strerror(errno.ENOSPC)}\n"
        Path(file).unlink(missing_ok=True)
        if old:
            Path(file).write_bytes(before[file])


@pytest.mark.parametrize("call", CALLS)
def test_no_space_for_a_model(folder, monkeypatch, call):
    old, new = Path("m").read_bytes(), Path("plain").read_bytes()
    model, names = parsimon.load("plain"), sorted(contents())
    for _ in faults(monkeypatch, call, no_space):
        Path("m").write_bytes(old)
        try:
            model.save("m")
        except OSError as error:
            assert error.errno == errno.ENOSPC and error.filename == "m" and "'m'" in str(error)
            assert Path("m").read_bytes() in (old, new)
        else:
            assert Path("m").read_bytes() == new
        assert sorted(contents()) == names


@pytest.mark.parametrize("call", CALLS)
def test_no_space_for_a_checkpoint(folder, capsys, monkeypatch, call):
    """The error says how many rows were learned.

    The last checkpoint is whole and resumes exactly.
    """
    command = learn("s.csv", "c", "--checkpoint-every", "50", "--resume")
    assert main(command) == 0
    whole = Path("c").read_bytes()
    Path("c").unlink()
    names, told = contents().keys(), set()
    for _ in faults(monkeypatch, call, no_space):
        Path("c").unlink(missing_ok=True)
        capsys.readouterr()
        code = main(command)
        err = capsys.readouterr().err
        assert contents().keys() - {"c"} == names
        kept = parsimon.load("c").n_rows_ if Path("c").exists() else 0
        if code == 0:
            assert Path("c").read_bytes() == whole and kept == 400
            continue
        assert code == 2 and f"c: {os.strerror(errno.ENOSPC)}\n" in err
        if "rows were learned" in err:  # the lock comes before
            told.add(err.splitlines()[1])
            here = (
                f"c holds a whole model of {kept} rows: --resume goes on from it"
                if kept
                else "c holds no model"
            )
            assert err.splitlines()[1] in [
                f"{n} rows were learned; {here}" for n in (kept, kept + 50)
            ]
        with monkeypatch.context() as patch:
            patch.setattr(_files, "os", os)
            assert main(command) == 0
        assert Path("c").read_bytes() == whole
    assert len(told) >= 8


@pytest.mark.parametrize(
    ("fail", "expected"), [(interrupted, 130), (terminated, 143)], ids=["SIGINT", "SIGTERM"]
)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("job", ["csv", "parquet", "c"])
def test_signals_leave_no_temporary_file(folder, monkeypatch, job, call, fail, expected):
    command, file = JOBS[job]
    assert main(command) == 0
    new = Path(file).read_bytes()
    Path(file).write_text("what was there")
    before, codes = contents(), []
    for _ in faults(monkeypatch, call, fail):
        codes.append(main(command))
        check(before, contents(), file, new)
        assert codes[-1] == expected or Path(file).read_bytes() == new
        Path(file).write_bytes(before[file])
    assert set(codes) <= {expected, 0}
    if fail is interrupted or job not in ("csv", "parquet"):  # predict ends what it has all rows of
        assert codes == [expected] * (len(codes) - 1) + [0]


@pytest.mark.parametrize("call", CALLS)
def test_a_signal_while_a_checkpoint_is_written(folder, monkeypatch, call):
    command = learn("s.csv", "c", "--checkpoint-every", "100")
    for fail, expected in ((interrupted, 130), (terminated, 143)):
        for n in (2, 3):
            with monkeypatch.context() as patch:
                patch.setattr(_files, "os", Faulty(call, n, fail))
                assert main(command) == expected
            assert {path.name for path in Path().iterdir()} <= {
                "s.csv",
                "first.csv",
                "m",
                "plain",
                "c",
            }
            assert not Path("c").exists() or parsimon.load("c").n_rows_ % 100 == 0
            Path("c").unlink(missing_ok=True)


LIMITED = """
import json, resource, sys
from parsimon.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
print(json.dumps([main(command) for command in json.loads(sys.argv[1])]))
"""


def test_a_file_too_large(folder):
    """The operating system itself refuses to write more: as on a full disk, a part is written."""
    jobs = [JOBS[name] for name in ("csv", "jsonl", "parquet", "plot", "report", "c", "libsvm")]
    jobs += [
        (["merge", "plain", "plain", "--out", "m"], "m"),
        (learn("s.csv", "m", "--resume"), "m"),
    ]
    for _, file in jobs:
        if file != "m":
            Path(file).write_text("what was there")
    before = contents()
    assert len(before["m"]) > 500
    line = [sys.executable, "-c", LIMITED, json.dumps([command for command, _ in jobs])]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [2] * len(jobs)
    errors = [line for line in done.stderr.splitlines() if line.startswith("parsimon: error: ")]
    assert errors == [f"parsimon: error: {file}: {os.strerror(errno.EFBIG)}" for _, file in jobs]
    assert done.stderr.endswith(
        "400 rows were learned; m holds a whole model of 250 rows: --resume goes on from it\n"
    )
    assert contents() == before
