"""Outputs: files, links, FIFOs, devices, standard output; and one writer of a model at a time."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import parsimon
from parsimon import KNLMSRegressor, _files, published
from parsimon.cli import main

fcntl = pytest.importorskip("fcntl", reason="needs POSIX")
COMMAND = [sys.executable, "-m", "parsimon.cli"]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}
LEARN = ["learn", "s.csv", "--target", "y", "--algorithm", "knlms"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data, a model of them, and a plain estimator."""
    monkeypatch.chdir(tmp_path)
    x, z = np.random.default_rng(0).normal(size=(2, 400)).round(6)
    pa.csv.write_csv(pa.table({"x": x, "z": z, "y": (np.sin(2 * x) * z).round(6)}), "s.csv")
    assert main([*LEARN, "--model", "m"]) == 0
    X = np.linspace(0, 1, 20)[:, None]
    published(KNLMSRegressor, gamma=900.0).fit(X, np.sin(9 * X[:, 0])).save("plain")
    return tmp_path


def refused(capsys, *arguments):
    """Run a command that fails, and return what it says."""
    capsys.readouterr()
    assert main([str(a) for a in arguments]) == 2
    return capsys.readouterr().err


def hidden():
    return [path.name for path in Path().rglob(".*")]


# FIFOs, devices and links


OUTPUTS = {
    "o.csv": ["predict", "m", "s.csv", "--out"],
    "o.jsonl": ["predict", "m", "s.csv", "--out"],
    "o.parquet": ["predict", "m", "s.csv", "--out"],
    "generated.csv": ["datasets", "generate", "honeine", "--rows", "9000", "--out"],
    "fetched.parquet": ["datasets", "fetch", "bikes", "--out"],
    "o.h": ["export", "m"],
    "o.onnx": ["export", "m"],
    "o.libsvm": ["export", "plain"],
    "inspected.png": ["inspect", "m", "--plot"],
    "learned.png": [*LEARN, "--plot"],
    "compared.png": ["compare", "s.csv", "--target", "y", "--algorithm", "knlms", "--plot"],
    "o.html": [*LEARN, "--report"],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_fifo_is_written_to_and_stays(folder, name):
    command = OUTPUTS[name]
    assert main([*command, name]) == 0
    expected = Path(name).read_bytes()
    Path(name).unlink()
    os.mkfifo(name)
    got = []
    reader = threading.Thread(target=lambda: got.append(Path(name).read_bytes()), daemon=True)
    reader.start()
    assert main([*command, name]) == 0
    reader.join(30)
    assert got == [expected]
    assert stat.S_ISFIFO(os.stat(name).st_mode) and not hidden()


def test_a_reader_of_a_fifo_that_leaves(folder, capsys):
    os.mkfifo("f.csv")

    def read_a_little():
        with open("f.csv", "rb", buffering=0) as file:
            file.read(1)

    reader = threading.Thread(target=read_a_little, daemon=True)
    reader.start()
    err = refused(capsys, "datasets", "generate", "honeine", "--rows", "30000", "--out", "f.csv")
    reader.join(30)
    assert err == f"parsimon: error: f.csv: {os.strerror(errno.EPIPE)}\n"


@pytest.mark.parametrize(
    "command",
    [
        [*LEARN, "--model", "f"],
        [*LEARN, "--model", "f", "--resume"],
        [*LEARN, "--model", "f", "--overwrite"],
        ["merge", "plain", "plain", "--out", "f"],
    ],
)
def test_a_model_is_kept_in_regular_files_only(folder, capsys, command):
    """Nothing waits for a reader of a FIFO, and nothing is learned in vain."""
    os.mkfifo("f")
    assert "f is not a regular file" in refused(capsys, *command)
    with pytest.raises(OSError, match="not a regular file") as error:
        parsimon.load("plain").save("f")
    assert error.value.filename == "f"
    assert stat.S_ISFIFO(os.stat("f").st_mode) and not hidden()


def device(name, number):
    """Make a device in this folder: one that is lost costs nothing."""
    if not sys.platform.startswith("linux"):
        pytest.skip("needs the device numbers of Linux")
    try:
        os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, number))
        os.close(os.open(name, os.O_WRONLY))
    except PermissionError:
        pytest.skip("only root can make devices")


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "o.h", "inspected.png", "o.html"])
def test_a_device_is_written_to_and_stays(folder, capsys, name):
    device(name, 3)  # null
    assert main([*OUTPUTS[name], name]) == 0
    assert stat.S_ISCHR(os.stat(name).st_mode)
    os.unlink(name)
    device(name, 7)  # full
    err = refused(capsys, *OUTPUTS[name], name)
    assert err == f"parsimon: error: {name}: {os.strerror(errno.ENOSPC)}\n"
    assert stat.S_ISCHR(os.stat(name).st_mode) and not hidden()


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "o.h", "inspected.png", "o.html"])
@pytest.mark.parametrize("dangling", [True, False])
def test_links_are_followed(folder, name, dangling):
    assert main([*OUTPUTS[name], name]) == 0
    Path("far").mkdir()
    target = Path("far") / name
    if not dangling:
        target.write_text("what was there")
    Path(name).rename("expected")
    Path(name).symlink_to(target)
    assert main([*OUTPUTS[name], name]) == 0
    assert Path(name).is_symlink() and not target.is_symlink()
    assert target.read_bytes() == Path("expected").read_bytes() and not hidden()


def test_links_to_models_are_followed(folder):
    whole = Path("m").read_bytes()
    Path("link").symlink_to("far")
    assert main([*LEARN, "--model", "link"]) == 0
    assert Path("link").is_symlink() and Path("far").read_bytes() == whole


def test_folders_and_loops_are_refused(folder, capsys):
    Path("d.csv").mkdir()
    Path("loop.csv").symlink_to("loop.csv")
    assert "d.csv is a folder" in refused(capsys, *OUTPUTS["o.csv"], "d.csv")
    assert "loop.csv cannot be written" in refused(capsys, *OUTPUTS["o.csv"], "loop.csv")
    for name, kind in {
        "d.csv": IsADirectoryError,
        "loop.csv": OSError,
        "no/m": FileNotFoundError,
    }.items():
        with pytest.raises(kind) as error:
            parsimon.load("plain").save(name)
        assert error.value.filename == name


def test_permissions_stay_and_hold_from_the_first_byte(folder):
    Path("secret").write_text("old")
    Path("secret").chmod(0o600)
    with _files.writing("secret") as file:
        file.write(b"new")
        (made,) = Path().glob(".secret.*")
        assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert (
        Path("secret").read_bytes() == b"new"
        and stat.S_IMODE(Path("secret").stat().st_mode) == 0o600
    )


def test_the_longest_names(folder):
    name = "é" * 120 + ".parsimon"  # 249 bytes
    assert main([*LEARN, "--model", name]) == 0
    assert Path(name).read_bytes() == Path("m").read_bytes() and not hidden()


# Standard output


def run(*arguments, **options):
    return subprocess.run(
        [*COMMAND, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        check=False,
        **options,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command",
    [["predict", "m", "s.csv"], ["inspect", "m"], ["--help"], ["datasets", "generate", "honeine"]],
)
def test_a_full_standard_output(folder, command):
    """Also if all of it is held back until the end."""
    with open("/dev/full", "w") as full:
        done = run(*command, stdout=full)
    expected = f"parsimon: error: standard output: {os.strerror(errno.ENOSPC)}\n"
    assert (done.returncode, done.stderr) == (2, expected)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_what_was_learned_is_kept_if_standard_output_is_full(folder):
    with open("/dev/full", "w") as full:
        done = run(*LEARN, "--model", "n", "--json", "--every", "100", stdout=full)
    assert done.returncode == 2 and "standard output" in done.stderr
    assert parsimon.load("n").n_rows_ == 100 and not hidden()


def test_no_standard_output_at_all(folder):
    shell = f"{' '.join(COMMAND)} inspect m >&-"
    done = subprocess.run(
        ["sh", "-c", shell], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False
    )
    expected = f"parsimon: error: standard output: {os.strerror(errno.EBADF)}\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_a_reader_of_standard_output_that_leaves(folder):
    arguments = [*COMMAND, "datasets", "generate", "honeine", "--rows", "30000"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


# One writer at a time


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_model_has_one_writer(folder, capsys, number):
    rows = Path("s.csv").read_text()
    arguments = [
        "learn",
        "-",
        "--target",
        "y",
        "--algorithm",
        "knlms",
        "--model",
        "n",
        "--checkpoint-every",
        "400",
    ]
    Path("link").symlink_to("n")
    with subprocess.Popen(
        [*COMMAND, *arguments, "--follow"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        process.stdin.write(rows)
        process.stdin.flush()
        wait_for(Path("n").exists)
        before = Path("n").read_bytes()
        for name in ("n", "link"):
            for command in (
                [*LEARN, "--model", name, "--resume"],
                [*LEARN, "--model", name, "--overwrite"],
                ["merge", "plain", "plain", "--out", name],
            ):
                assert f"error: {name}: another process is writing this file" in refused(
                    capsys, *command
                )
        assert Path("n").read_bytes() == before
        process.send_signal(number)
        process.wait(60)
    assert (hidden() == []) == (number == signal.SIGTERM)
    assert main([*LEARN, "--model", "n", "--resume"]) == 0
    assert hidden() == []


def test_the_lock_is_held_by_one_at_a_time(tmp_path):
    """Also while others create and remove the file of the lock."""
    inside, most, rounds = 0, 0, [0] * 4
    mutex = threading.Lock()

    def work(i):
        nonlocal inside, most
        while rounds[i] < 200:
            try:
                with _files.only_writer(tmp_path / "m"):
                    with mutex:
                        inside += 1
                        most = max(most, inside)
                    time.sleep(0)
                    with mutex:
                        inside -= 1
                    rounds[i] += 1
            except BlockingIOError as error:
                assert error.filename == str(tmp_path / "m")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (rounds, most) == ([200] * 4, 1) and not list(tmp_path.iterdir())


def test_a_lock_that_is_removed_while_it_is_taken(tmp_path, monkeypatch):
    """Whoever locks a file that has no name any more takes the one that has it."""
    lock, tried = _files._lock, []

    def removed_first(descriptor):
        tried.append(os.fstat(descriptor).st_ino)
        if len(tried) == 1:
            (tmp_path / ".m.lock").unlink()
        return lock(descriptor)

    monkeypatch.setattr(_files, "_lock", removed_first)
    with _files.only_writer(tmp_path / "m"):
        assert len(tried) == 2
        monkeypatch.undo()
        with pytest.raises(BlockingIOError), _files.only_writer(tmp_path / "m"):
            pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.EINVAL])
def test_file_systems_without_locks(folder, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    assert main([*LEARN, "--model", "n"]) == 0
    assert Path("n").read_bytes() == Path("m").read_bytes() and not hidden()


def test_leftovers_of_killed_writers_are_removed(folder):
    """Those of this file only, and none that someone may still be writing."""
    names = [
        ".m.1-0123abcd.tmp",
        ".m.2-0123abcd.tmp",
        ".m.3-0123abcd.tmp",
        ".mm.1-0123abcd.tmp",
        ".m.tmp",
    ]
    for name in names:
        Path(name).write_text("half a model")
        os.utime(name, (0, 0))
    os.utime(names[1])
    with open(names[2], "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert main([*LEARN, "--model", "m", "--overwrite"]) == 0
    assert sorted(hidden()) == sorted(names[1:])


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_standard_output_by_name_is_not_replaced(tmp_path):
    """Even if it is redirected to a file that holds something."""
    path = tmp_path / "out"
    path.write_text("before\n")
    inode = path.stat().st_ino
    code = "from parsimon._files import write_whole; write_whole('/dev/stdout', b'after\\n')"
    with path.open("a") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert path.read_text() == "before\nafter\n" and path.stat().st_ino == inode


@pytest.mark.parametrize("command", [OUTPUTS["o.csv"], ["datasets", "generate", "dodd", "--out"]])
def test_a_fifo_without_a_suffix_is_written_as_csv(folder, command):
    assert main([*command, "o.csv"]) == 0
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    assert main([*command, "pipe"]) == 0
    reader.join(30)
    assert got == [Path("o.csv").read_bytes()]


def test_a_folder_is_refused_as_a_folder(folder, capsys):
    os.mkdir("there")
    assert "there is a folder" in refused(capsys, *OUTPUTS["o.csv"], "there")
    assert "the suffix must be one of .csv" in refused(capsys, *OUTPUTS["o.csv"], "o.xls")


WAITING = {
    "an output": [*OUTPUTS["o.csv"], "fifo"],
    "a plot": [*LEARN, "--plot", "fifo"],
    "a report": [*LEARN, "--report", "fifo"],
    "data": ["learn", "fifo", "--target", "y"],
    "data to predict": ["predict", "m", "fifo"],
    "data to compare": ["compare", "fifo", "--target", "y"],
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize(
    ("name", "number"),
    [*((name, signal.SIGINT) for name in WAITING), ("a plot", signal.SIGTERM)],
)
def test_one_signal_ends_the_wait_for_a_fifo(folder, name, number):
    os.mkfifo("fifo")
    command = [sys.executable, "-m", "parsimon.cli", *WAITING[name]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            wait_until_it_waits(process)
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 128 + number and b"Traceback" not in err


def wait_until_it_waits(process):
    """Return when the process has used no time for a while."""
    used, quiet = -1.0, 0
    while quiet < 3:
        time.sleep(0.3)
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        before, used = used, float(fields[11]) + float(fields[12])
        quiet = quiet + 1 if used > 20 and used - before <= 2 else 0


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_standard_output_by_name_keeps_its_place(tmp_path):
    """Whoever shares the file goes on after what was written."""
    path = tmp_path / "out"
    code = "from parsimon._files import write_whole; write_whole('/dev/stdout', b'inside\\n')"
    with path.open("wb") as file:
        os.write(file.fileno(), b"before\n")
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
        os.write(file.fileno(), b"after\n")
    assert path.read_text() == "before\ninside\nafter\n"
