"""Nothing that was acknowledged is lost, however the server ends."""

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from crash import kill_often
from serving import Process, example_rows, learned_from, rows_of_log

from parsimon import TableModel
from parsimon.client import Client


def test_kill_at_random_moments_loses_nothing(tmp_path):
    report = kill_often(tmp_path, kills=5, seed=0)
    assert report["kills"] == 5 and report["acknowledged"] > 50


def test_graceful_end_keeps_everything(tmp_path):
    server = Process(tmp_path, "--target", "y", "--checkpoint-seconds", 60)
    server.start()
    client = Client(server.url)
    for i in range(5):
        client.learn(example_rows(60, seed=i, start=60 * i))
    before = client.download()
    assert server.end() in (0, 143)
    server.start()
    try:
        assert client.download() == before == learned_from(rows_of_log(tmp_path), TableModel("y"))
    finally:
        server.kill()
