"""Ids of predictions: kept without waiting for the disk, and never given twice."""

import sqlite3
import threading
import time

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from serving import Process, example_rows, served, without_target

from parsimon.client import Client, ServerError
from parsimon.serving import Limits
from parsimon.serving.store import Store


def number(found):
    return int(found["id"].split("-")[1])


def test_ids_survive_kill_9(tmp_path):
    rows = example_rows(60)
    server = Process(tmp_path, "--target", "y")
    server.start()
    client = Client(server.url)
    client.learn(rows[:50])
    ids = [client.predict([row])[0]["id"] for row in without_target(rows[50:])]
    server.kill()
    server.start()
    try:
        assert client.state()["pending"] == 10
        assert client.label({each: 1.0 for each in ids})["rows"] == 10
    finally:
        server.kill()


def test_ids_are_not_given_again_after_a_power_cut(tmp_path):
    """The rows of the last ids can be lost then. Their numbers must not mean other rows."""
    rows = example_rows(60)
    server = Process(tmp_path, "--target", "y")
    server.start()
    client = Client(server.url)
    client.learn(rows[:50])
    given = [number(client.predict([row])[0]) for row in without_target(rows[50:])]
    server.kill()
    connection = sqlite3.connect(tmp_path / "store.sqlite")
    connection.execute("DELETE FROM pending WHERE number > 3")
    connection.commit()
    connection.close()
    server.start()
    try:
        with pytest.raises(ServerError) as caught:
            client.label({f"1-{given[-1]}": 1.0})
        assert caught.value.status == 410
        client.download()  # the rows are learned again
        assert number(client.predict(without_target(rows[:1]))[0]) > max(given)
        assert client.label({"1-2": 1.0})["rows"] == 1
    finally:
        server.kill()


def test_a_graceful_end_leaves_no_gap(tmp_path):
    rows = example_rows(60)
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows)
        assert number(client.predict(without_target(rows[:1]))[0]) == 1
    with served(tmp_path) as (client, _):
        assert number(client.predict(without_target(rows[:1]))[0]) == 2


def test_many_ids_are_distinct_and_old_rows_are_removed(tmp_path):
    rows, limits = example_rows(60), Limits(pending=100)
    with served(tmp_path, limits, target="y") as (client, service):
        client.learn(rows)
        found = [each for _ in range(30) for each in client.predict(without_target(rows[:20]))]
        assert [number(each) for each in found] == list(range(1, 601))
        assert client.state()["pending"] == 100
        assert (
            'dropped_ids_total{model="default"} 500.0' in client.request("GET", "/metrics").decode()
        )
        held = service.read(lambda c: c.execute("SELECT count(*) FROM pending").fetchone()[0])
        assert 100 <= held < 200


def test_a_deleted_model_keeps_no_rows(tmp_path):
    rows = example_rows(30)
    with served(tmp_path, target="y") as (client, service):
        client.learn(rows)
        client.predict(without_target(rows[:1]))
        held = service.models["default"]
        client.request("DELETE", "/models/default")
        service.models["default"] = held  # as for a request that began before
        with pytest.raises(ServerError) as caught:
            client.predict(without_target(rows[:1]))
        assert caught.value.status == 404
        del service.models["default"]
        assert service.read(lambda c: c.execute("SELECT count(*) FROM pending").fetchone()[0]) == 0


def test_quick_actions_wait_for_others_and_are_undone_alone(tmp_path):
    store = Store(tmp_path)
    begun, go_on = threading.Event(), threading.Event()

    def slow(c):
        begun.set()
        assert go_on.wait(30)

    def insert(c, name="a"):
        c.execute("INSERT INTO models (name, at) VALUES (?, 0)", (name,))

    def wrong(c):
        insert(c, "b")
        raise KeyError("wrong")

    try:
        waiting = store.submit(slow)
        assert begun.wait(30)
        assert not store.done_at_once(insert)  # somebody else writes
        quick = store.submit(insert, quick=True)
        go_on.set()
        assert waiting.result() is None and quick.result() is None
        for _ in range(1000):
            try:
                assert store.done_at_once(wrong) is False
            except KeyError:
                break
            time.sleep(0.01)
        assert store.run(lambda c: c.execute("SELECT count(*) FROM models").fetchone()[0]) == 1
    finally:
        store.close()
    assert not store.done_at_once(insert)
