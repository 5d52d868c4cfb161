"""The server: rows, labels, models, snapshots, shadows."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from serving import example_rows, learned_from, refusal, rows_of_log, send, served, without_target

from parsimon import TableModel
from parsimon.client import Client, ServerError
from parsimon.persistence.files import dumps, loads
from parsimon.serving import Limits


def published(client):
    """Wait until everything logged is published."""
    for _ in range(1000):
        state = client.state()
        if state["published"] == state["logged"]:
            return state
        time.sleep(0.01)
    raise AssertionError(state)


def test_learning_over_http_equals_learning(tmp_path):
    rows = example_rows(400)
    with served(tmp_path, target="y", intervals=0.9) as (client, _):
        for first in range(0, 400, 37):
            client.learn(rows[first : first + 37])
        data = client.download()
        published(client)
        found = client.predict(without_target(rows[:5]), intervals=True)
    model = TableModel("y", intervals=0.9)
    model.learn({name: [row[name] for row in rows] for name in rows[0]})
    assert data == dumps(model)
    expected, intervals = model.predict(
        {name: [row[name] for row in rows[:5]] for name in ("n", "a", "b")}, return_intervals=True
    )
    assert [each["prediction"] for each in found] == expected.tolist()
    assert [each["interval"] for each in found] == intervals.tolist()


def test_classes_with_probabilities(tmp_path):
    rows = [{"x": float(i % 7), "y": "low" if i % 7 < 3 else "high"} for i in range(300)]
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows)
        published(client)
        found = client.predict([{"x": 1.0}, {"x": 6.0}], probabilities=True)
        assert [each["prediction"] for each in found] == ["low", "high"]
        assert abs(sum(found[0]["probabilities"].values()) - 1.0) < 1e-9
        assert refusal(lambda: client.predict([{"x": 1.0}], intervals=True)).status == 422


def test_delayed_labels_in_random_order(tmp_path):
    """Equal to learning in the order in which the labels came."""
    rows, rng = example_rows(400), random.Random(0)
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:20])
        waiting, order = [], list(rows[:20])
        for first in range(20, 400, 20):
            block = rows[first : first + 20]
            found = client.predict(without_target(block))
            waiting += [(each["id"], row) for each, row in zip(found, block, strict=True)]
            rng.shuffle(waiting)
            now, waiting = waiting[:15], waiting[15:]
            client.label({each: row["y"] for each, row in now})
            order += [row for _, row in now]
        client.label({each: row["y"] for each, row in waiting})
        order += [row for _, row in waiting]
        data = client.download()
        assert client.state()["pending"] == 0
    assert data == learned_from([[row] for row in order], TableModel("y"))


def test_ids_survive_a_restart_and_are_used_once(tmp_path):
    rows = example_rows(60)
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:50])
        ids = [each["id"] for each in client.predict(without_target(rows[50:]))]
    with served(tmp_path) as (client, _):
        assert client.state()["pending"] == 10
        assert client.label({ids[0]: 1.5})["rows"] == 1
        again = client.label({ids[0]: 1.5})
        assert (again["rows"], again["before"]) == (0, 1)
        assert refusal(lambda: client.label({ids[0]: 2.5})).status == 409
        assert refusal(lambda: client.label({"1-99": 2.5})).status == 404
        for wrong in ("", "1", "1-0", "01-1", "2-1", "1-1 ", "1-" + "9" * 50, "../1-1"):
            assert refusal(lambda text=wrong: client.label({text: 1.0})).status == 404
        # All or nothing
        assert refusal(lambda: client.label({ids[1]: 1.0, "1-99": 1.0})).status == 404
        assert client.state()["pending"] == 9 and client.state()["rows"] <= 51


def test_expired_ids_get_410(tmp_path):
    rows = example_rows(30)
    limits = Limits(pending_seconds=0.3)
    with served(tmp_path, limits, target="y") as (client, _):
        client.learn(rows[:20])
        old = client.predict(without_target(rows[20:21]))[0]["id"]
        time.sleep(0.4)
        new = client.predict(without_target(rows[21:22]))[0]["id"]
        error = refusal(lambda: client.label({old: 1.0, new: 1.0}))
        assert error.status == 410 and error.details["ids"] == [old]
        assert client.label({new: 1.0})["rows"] == 1
        assert 'expired_ids_total{model="default"} 1.0' in metrics(client)


def test_only_the_last_ids_are_kept(tmp_path):
    rows = example_rows(30)
    with served(tmp_path, Limits(pending=5), target="y") as (client, _):
        client.learn(rows[:20])
        ids = [each["id"] for each in client.predict(without_target(rows[20:28]))]
        assert client.state()["pending"] == 5
        assert refusal(lambda: client.label({ids[2]: 1.0})).status == 410
        assert client.label({ids[3]: 1.0})["rows"] == 1
        assert 'dropped_ids_total{model="default"} 3.0' in metrics(client)


def metrics(client):
    return client.request("GET", "/metrics").decode()


def test_a_request_with_the_same_key_is_learned_once(tmp_path):
    rows = example_rows(40)
    with served(tmp_path, target="y") as (client, _):
        first = client.learn(rows, key="k1")
        again = client.learn(rows, key="k1")
        assert again["place"] == first["place"] and again["again"]
        assert refusal(lambda: client.learn(rows[:3], key="k1")).status == 422
    with served(tmp_path) as (client, _):
        assert client.learn(rows, key="k1")["place"] == first["place"]
        assert client.state()["rows"] == 40


def test_rows_that_cannot_be_learned_are_refused_and_change_nothing(tmp_path):
    rows = example_rows(250)
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:100])  # in the warm-up, only the learner can tell
        before = client.download()
        bad = [
            [{**rows[0], "a": "text"}],
            [{"a": 1.0, "y": 1.0}],
            [{**rows[0], "y": None}],
            [{name: rows[0][name] for name in ("n", "a", "b")}],
            [{**rows[0], "a": 1e300}],
            [rows[0], {**rows[0], "c": 1.0}],
            [{**rows[0], "a": [1.0]}],
        ]
        for each in bad:
            assert refusal(lambda r=each: client.learn(r)).status == 422
        assert client.download() == before
        client.learn(rows[100:], wait=True)
        published(client)
        before = client.download()
        logged = client.state()["logged"]
        for each in bad:
            assert refusal(lambda r=each: client.learn(r)).status == 422
        assert client.download() == before and client.state()["logged"] == logged


def test_refused_entries_are_refused_again_after_a_restart(tmp_path):
    rows = example_rows(30)
    limits = Limits(checkpoint_seconds=1e9)
    with served(tmp_path, limits, target="y") as (client, service):
        client.learn(rows[:10])
        bad = [{**rows[10], "a": "text"}]
        first = refusal(lambda: client.learn(bad, key="bad"))
        client.learn(rows[10:])
        data = client.download()
        # As after kill -9: there is no checkpoint.
        service.models["default"].learner._checkpoint = lambda *_, **__: True
    with served(tmp_path, limits) as (client, service):
        assert client.download() == data
        again = refusal(lambda: client.learn(bad, key="bad"))
        assert (again.status, again.details) == (first.status, first.details)


def test_snapshots_uploads_and_pauses(tmp_path):
    rows = example_rows(320)
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:250])
        client.snapshot("good")
        good = client.download()
        client.learn(rows[250:])
        later = client.download()
        assert later != good
        client.back("good")
        assert client.download() == good
        client.upload(later)
        assert client.download() == later
        client.pause()
        assert refusal(lambda: client.learn(rows[:1])).status == 409
        assert client.state()["paused"]
        client.resume()
        client.learn(rows[:1])
        assert refusal(lambda: client.back("other")).status == 404
        assert refusal(lambda: client.upload(good[:-5])).status == 422
        other = dumps(TableModel("z").learn_one({"x": 1.0, "z": 1.0}))
        assert refusal(lambda: client.upload(other)).status == 422
        data = client.download()
        assert [each["name"] for each in client.state()["snapshots"]] == ["good"]
    with served(tmp_path) as (client, _):
        assert client.download() == data
        client.back("good")
        assert client.download() == good
        client.request("DELETE", "/models/default/snapshots/good")
        assert client.state()["snapshots"] == []


def test_a_shadow_learns_the_same_rows(tmp_path):
    rows = example_rows(300)
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:100])
        shadow = Client(client.url, "small", retries=0)
        shadow.create("y", algorithm="knlms", budget=20, shadow_of="default")
        client.learn(rows[100:])
        live = client.download()
        for _ in range(500):
            if shadow.state()["rows"] == 200:
                break
            time.sleep(0.01)
        assert client.state()["shadows"]["small"]["rows"] == 200
        data = shadow.download()
        assert refusal(lambda: client.request("DELETE", "/models/default")).status == 409
    model = TableModel("y", algorithm="knlms", budget=20)
    assert data == learned_from([rows[100:]], model)
    assert live == learned_from(rows_of_log(tmp_path), TableModel("y"))
    with served(tmp_path) as (client, _):
        assert Client(client.url, "small").download() == data
        client.request("DELETE", "/models/small")
        assert [each["name"] for each in client.request("GET", "/models")["models"]] == ["default"]


def test_a_shadow_does_not_learn_what_the_live_model_refused(tmp_path):
    rows = example_rows(260)
    bad = [{"other": 1.0, "y": row["y"]} for row in rows[:3]]
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:50])  # within the warm-up, so that the learner decides
        shadow = Client(client.url, "small", retries=0)
        shadow.create("y", algorithm="knlms", budget=20, shadow_of="default")
        assert refusal(lambda: client.learn(bad)).status == 422
        shadow.learn(rows[:1])  # its own rows come in the order of the log
        client.learn(rows[50:])
        for _ in range(500):
            if shadow.state()["rows"] == 211:
                break
            time.sleep(0.01)
        found = client.state()["shadows"]["small"]
        assert (found["rows"], found["refused_rows"], found["failure"]) == (211, 3, None)
        assert client.state()["refused_rows"] == 3
        data = shadow.download()
    model = TableModel("y", algorithm="knlms", budget=20)
    assert data == learned_from([rows[:1], rows[50:]], model)


def test_the_log_is_bounded(tmp_path):
    rows = example_rows(300)
    limits = Limits(log_entries=20, checkpoint_seconds=0.0)
    with served(tmp_path, limits, target="y") as (client, _):
        for row in rows:
            client.learn([row])
        data = client.download()
    assert 20 <= len(rows_of_log(tmp_path)) <= 60
    with served(tmp_path, limits) as (client, _):
        assert client.download() == data == learned_from([rows], TableModel("y"))


def test_times_in_json(tmp_path):
    rows = [
        {
            "at": f"2026-03-{1 + i // 24:02d}T{i % 24:02d}:00",
            "day": "2026-03-01",
            "y": float(i % 24),
        }
        for i in range(240)
    ]
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:100])
        client.learn(rows[100:])
        state = published(client)
        assert state["columns"] == {"at": "timestamp", "day": "date"}
        assert refusal(lambda: client.predict([{"at": "noon", "day": "2026-03-01"}])).status == 422


def test_a_model_from_a_file(tmp_path):
    model = TableModel("y")
    rows = example_rows(250)
    model.learn({name: [row[name] for row in rows] for name in rows[0]})
    with served(tmp_path) as (client, _):
        made = client.request("POST", "/models/mine/file", dumps(model))
        assert made["rows"] == 250
        mine = Client(client.url, "mine", retries=0)
        mine.learn(rows[:10])
        data = mine.download()
    again = loads(dumps(model))
    again.learn({name: [row[name] for row in rows[:10]] for name in rows[0]})
    assert data == dumps(again)


def test_waiting_gives_the_predictions_before_learning(tmp_path):
    rows = example_rows(260)
    with served(tmp_path, target="y") as (client, _):
        first = client.learn(rows[:250], wait=True)["before_learning"]
        rest = client.predict_learn(rows[250:], wait=True)
    model = TableModel("y")
    expected = model.learn({name: [row[name] for row in rows] for name in rows[0]}).tolist()
    assert first + rest["before_learning"] == expected
    assert len(rest["predictions"]) == 10


def test_health_metrics_and_description(tmp_path):
    with served(tmp_path, target="y") as (client, _):
        client.learn(example_rows(30))
        assert client.request("GET", "/healthz") == {"status": "running"}
        assert client.request("GET", "/readyz") == {"status": "ready"}
        text = metrics(client)
        assert 'parsimon_learned_rows_total{model="default"} 30.0' in text
        for line in text.splitlines():
            assert line.startswith("#") or float(line.rpartition(" ")[2]) is not None
        description = client.request("GET", "/openapi.json")
        assert "/models/{name}/predict" in description["paths"]
        history = client.request("GET", "/models/default/history")
        assert len(history["rows"]) == 30 and history["points"]
        status, headers, _ = send(client, "GET", "/healthz")
        assert status == 200 and "default-src 'none'" in headers["content-security-policy"]


def test_the_page(tmp_path):
    with served(tmp_path, target="y") as (client, _):
        status, headers, text = send(client, "GET", "/")
        assert status == 200 and headers["content-type"].startswith("text/html")
        assert b"<script type=" in text and b"http" not in text.replace(b"http-equiv", b"")
        for file in ("/page.js", "/charts.js", "/page.css"):
            assert file.encode() in text or file == "/charts.js"
            status, _, text_of_file = send(client, "GET", file)
            assert status == 200 and b"innerHTML" not in text_of_file
        assert send(client, "GET", "/page/index.html")[0] == 404
        assert send(client, "GET", "/..%2fstore.sqlite")[0] == 404


def test_requests_at_the_same_time_are_predicted_as_alone(tmp_path):
    rows = example_rows(300)
    with served(tmp_path, target="y") as (client, _):
        client.learn(rows, wait=True)
        published(client)
        asked = without_target(rows[:40])
        asked[7] = {**asked[7], "a": "text"}  # its neighbours must not notice
        with ThreadPoolExecutor(40) as pool:
            each = list(pool.map(lambda row: outcome(lambda: client.predict([row])), asked))
        alone = [outcome(lambda r=row: client.predict([r], remember=False)) for row in asked]
        ids = [found[0]["id"] for found in each if isinstance(found, list)]
    assert len(set(ids)) == 39 and isinstance(each[7], ServerError)
    for together, single in zip(each, alone, strict=True):
        if isinstance(together, list):
            assert together[0]["prediction"] == single[0]["prediction"]
        else:
            assert (together.status, together.details) == (single.status, single.details)


def outcome(action):
    try:
        return action()
    except ServerError as error:
        return error


def test_predicting_does_not_wait_for_learning(tmp_path, monkeypatch):
    rows = example_rows(300)
    learn, begun, go_on = TableModel.learn, threading.Event(), threading.Event()

    def slow(model, block, **options):
        begun.set()
        assert go_on.wait(30)
        return learn(model, block, **options)

    with served(tmp_path, target="y") as (client, _):
        client.learn(rows[:250])
        published(client)
        monkeypatch.setattr(TableModel, "learn", slow)
        place = client.learn(rows[250:])["place"]  # acknowledged, and not learned yet
        assert begun.wait(30)
        found = client.predict(without_target(rows[:3]))
        state = client.state()
        assert len(found) == 3 and state["published"] < place == state["logged"]
        assert state["backlog_rows"] == 50
        go_on.set()
        assert published(client)["rows"] == 300
        data = client.download()
    assert data == learned_from([rows], TableModel("y"))


def test_an_error_that_nobody_expects_changes_nothing(tmp_path, monkeypatch):
    """The model may be half changed then. It is learned again from the last checkpoint."""
    rows = example_rows(330)
    learn = TableModel.learn

    def failing(model, block, **options):
        found = learn(model, block, **options)
        if 666.0 in block["a"]:
            raise RuntimeError("no luck")
        return found

    monkeypatch.setattr(TableModel, "learn", failing)
    with served(tmp_path, target="y") as (client, service):
        client.learn(rows[:250], wait=True)
        for first in range(250, 330, 10):
            client.learn(rows[first : first + 10])
            if first == 280:
                client.learn([{**rows[0], "a": 666.0}])
        data = client.download()
        assert client.request("GET", "/models/default/history")["errors"][0]["message"] == (
            "RuntimeError: no luck"
        )
        service.models["default"].learner._checkpoint = lambda *_, **__: True
    assert data == learned_from([rows], TableModel("y"))
    with served(tmp_path) as (client, _):
        assert client.download() == data
