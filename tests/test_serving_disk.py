"""A real file system that is full, and one that is read-only."""

import shutil
import subprocess

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from serving import (
    Process,
    example_rows,
    learned_from,
    refused_by_store,
    rows_of_log,
    without_target,
)

from parsimon import TableModel
from parsimon.client import Client, ServerError


@pytest.fixture
def disk(tmp_path):
    """A file system of 6 MB, and a function that mounts it again with other options."""
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command")
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(*options):
        return subprocess.run(["mount", *options, folder], capture_output=True, text=True)

    done = mount("-t", "tmpfs", "-o", "size=6m", "tmpfs")
    if done.returncode:
        pytest.skip(f"a file system cannot be mounted: {done.stderr.strip()}")
    yield folder, lambda options: mount("-o", f"remount,{options}")
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk(disk):
    folder, remount = disk
    rows = example_rows(400)
    server = Process(folder, "--target", "y", "--checkpoint-seconds", 3600)
    server.start()
    try:
        client = Client(server.url, retries=0)
        client.learn(rows[:250], wait=True)
        learned = client.learn(rows[250:300])["rows"]
        # Fill the disk with rows that wait for labels, and with another file.
        (folder / "other").write_bytes(b"x" * (5 << 20))
        wide = [{**row, "text": "x" * 9000} for row in without_target(rows[:20])]
        for _ in range(100):
            try:
                client.predict(wide)
            except ServerError as error:
                assert error.status == 503 and "full" in str(error)
                break
        else:
            raise AssertionError("the disk was never full")
        message = refused_by_store(
            lambda: client.learn([{**row, "text": "x" * 9000} for row in rows[:50]])
        )
        assert "full" in message and "nothing was stored" in message
        assert client.predict(without_target(rows[:1]), remember=False)  # reading goes on
        assert client.request("GET", "/healthz") == {"status": "running"}
        (folder / "other").unlink()
        assert remount("size=64m").returncode == 0
        learned += client.learn(rows[300:])["rows"]
        data = client.download()
        server.kill()
        server.start()
        assert client.download() == data
    finally:
        server.kill()
    assert learned == 150 and sum(map(len, rows_of_log(folder))) == 400
    assert data == learned_from([rows], TableModel("y"))


def test_a_server_does_not_start_on_a_disk_that_is_read_only(disk):
    folder, remount = disk
    assert remount("ro").returncode == 0
    command = Process(folder, "--target", "y").command
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "ead-only" in done.stderr
