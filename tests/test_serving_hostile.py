"""Requests that must be refused, and a store that cannot be written."""

import json
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from serving import example_rows, learned_from, refused_by_store, rows_of_log, send, served

from parsimon import TableModel
from parsimon.client import Client, ServerError
from parsimon.persistence.files import loads
from parsimon.serving import Limits, Service
from parsimon.serving.security import Access
from parsimon.serving.server import Settings

JSON = {"Content_Type": "application/json"}
LEARN = "/models/default/learn"


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A server with a model that has learned, and a check that it still answers."""
    limits = Limits(body_bytes=1 << 16, rows=100, columns=50, text=500, models=3)
    with served(tmp_path_factory.mktemp("store"), limits, target="y") as (client, service):
        for first in range(0, 300, 100):
            client.learn(example_rows(100, seed=first, start=first))
        yield client, service


def settled(service):
    """The place of the learner in the log, once it has learned what was acknowledged."""
    learner, place = service.models["default"].learner, -1
    while place != learner.place:
        place = learner.place
        time.sleep(0.1)
    return place


def status(client, body, path=LEARN, method="POST", **headers):
    code, _, text = send(client, method, path, body, **{**JSON, **headers})
    if code != 200:
        assert json.loads(text)["error"]
    return code


ROW = {"n": 1.0, "a": 1.0, "b": 1.0, "y": 1.0}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 50_000, 400),
        (b'{"a":' * 10_000, 400),
        (b"[]", 422),
        (b"null", 422),
        (b'{"rows": null}', 422),
        (b'{"rows": []}', 422),
        (b'{"rows": {}}', 422),
        (b'{"rows": [1]}', 422),
        (b'{"rows": [{}]}', 422),
        (b'{"rows": [{"a": NaN, "y": 1}]}', 400),
        (b'{"rows": [{"a": Infinity, "y": 1}]}', 400),
        (b'{"rows": [{"n": 1, "a": 1e999, "b": 1, "y": 1}]}', 422),
        (b'{"rows": [{"n": 1, "a": 1, "b": 1, "y": "\\ud800"}]}', 422),
        (b'{"rows": [{"n": 1, "a": 1, "b": 1, "\\ud800": 1, "y": 1}]}', 422),
        (b'{"rows": [{"a": ' + b"9" * 5000 + b', "y": 1}]}', 400),
        (b'{"rows": [{"n": 1, "a": ' + b"9" * 400 + b', "b": 1, "y": 1}]}', 422),
        (json.dumps({"rows": [ROW], "more": 1}).encode(), 422),
        (json.dumps({"rows": [ROW], "wait": "yes"}).encode(), 422),
        (json.dumps({"rows": [{**ROW, "a": {}}]}).encode(), 422),
        (json.dumps({"rows": [{**ROW, "a": True}]}).encode(), 422),
        (json.dumps({"rows": [{**ROW, "a": "x" * 501}]}).encode(), 422),
        (json.dumps({"rows": [{**ROW, "c" * 201: 1}]}).encode(), 422),
        (json.dumps({"rows": [{f"c{i}": 1 for i in range(51)}]}).encode(), 422),
        (json.dumps({"rows": [ROW] * 101}).encode(), 413),
        (b'{"rows": "' + b"x" * (1 << 16) + b'"}', 413),
    ],
)
def test_bad_bodies(warm, body, expected):
    client, service = warm
    before = settled(service)
    assert status(client, body) == expected
    assert status(client, body, "/models/default/predict") < 500
    assert settled(service) == before + (expected == 200)


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("PUT", "/models/..%2F..%2Fetc", b'{"target": "y"}', (404, 405, 422)),
        ("PUT", "/models/..", b'{"target": "y"}', (404, 405, 422)),
        ("PUT", "/models/%00", b'{"target": "y"}', (422,)),
        ("PUT", "/models/" + "a" * 65, b'{"target": "y"}', (422,)),
        ("PUT", "/models/a%20b", b'{"target": "y"}', (422,)),
        ("PUT", "/models/-a", b'{"target": "y"}', (422,)),
        ("PUT", "/models/new", b"{}", (422,)),
        ("PUT", "/models/new", b'{"target": 1}', (422,)),
        ("PUT", "/models/new", b'{"target": ""}', (422,)),
        ("PUT", "/models/new", b'{"target": "\\ud800"}', (422,)),
        ("PUT", "/models/new", b'{"target": "y", "budget": 0}', (422,)),
        ("PUT", "/models/new", b'{"target": "y", "budget": true}', (422,)),
        ("PUT", "/models/new", b'{"target": "y", "budget": 1e99}', (422,)),
        ("PUT", "/models/new", b'{"target": "y", "intervals": 1}', (422,)),
        ("PUT", "/models/new", b'{"target": "y", "ignore": ["y"]}', (422,)),
        ("PUT", "/models/new", b'{"target": "y", "algorithm": "os.system"}', (422,)),
        (
            "PUT",
            "/models/new",
            b'{"target": "y", "task": "regression", "algorithm": "bsgd"}',
            (422,),
        ),
        ("PUT", "/models/new", b'{"target": "y", "shadow_of": "nobody"}', (404,)),
        ("PUT", "/models/default", b'{"target": "y"}', (409,)),
        ("POST", "/models/nobody/learn", b'{"rows": [{"a": 1, "y": 1}]}', (404,)),
        ("PUT", "/models/default/snapshots/..%2Fx", b"{}", (404, 422)),
        ("PUT", "/models/default/snapshots/%2e%2e", b"{}", (404, 405, 422)),
        ("POST", "/models/default/snapshots/none/back", b"{}", (404,)),
        ("POST", "/models/default/pause", b'{"x": 1}', (422,)),
        ("POST", "/models/default/labels", b'{"labels": [{"id": 1, "label": 1}]}', (422,)),
        ("POST", "/models/default/labels", b'{"labels": [{"id": "1-1"}]}', (422,)),
        ("POST", "/models/default/labels", b'{"labels": {}}', (422,)),
        ("GET", "/models/default/history?since=x", b"", (422,)),
        ("GET", "/models/default/history?since=nan", b"", (200, 422)),
        ("PATCH", "/models/default", b"{}", (405,)),
        ("GET", "/nothing", b"", (404,)),
        ("GET", "//etc/passwd", b"", (404,)),
    ],
)
def test_bad_addresses_and_fields(warm, method, path, body, expected):
    assert status(warm[0], body, path, method) in expected


def test_only_json_is_taken(warm):
    client, _ = warm
    body = json.dumps({"rows": [ROW]}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert status(client, body, Content_Type=kind) == 415
        assert status(client, b"", "/models/default/pause", Content_Type=kind) == 415
    assert status(client, b"{}", "/models/default/file", "PUT") == 415
    octets = {"Content_Type": "application/octet-stream"}
    assert status(client, b"\x80\x04", "/models/default/file", "PUT", **octets) == 422


def test_names_and_pages_of_others_are_refused(warm):
    client, _ = warm
    for host in (
        "example.org",
        "127.0.0.1.example.org",
        "localhost.example.org:80",
        "",
        "10.0.0.1",
    ):
        assert status(client, b"", "/models", "GET", Host=host) == 421
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:8000", "LOCALHOST"):
        assert status(client, b"", "/models", "GET", Host=host) == 200
    for site in ("cross-site", "same-site"):
        assert status(client, b"", "/models", "GET", Sec_Fetch_Site=site) == 403
    assert status(client, b"", "/models", "OPTIONS") == 405


def test_keys(warm):
    client, _ = warm
    body = json.dumps({"rows": [ROW]}).encode()
    assert status(client, body, Idempotency_Key="k" * 201) == 422
    assert status(client, body, Idempotency_Key="") == 422


def test_the_number_of_models_is_bounded(warm):
    client, _ = warm
    codes = [status(client, b'{"target": "y"}', f"/models/more{i}", "PUT") for i in range(4)]
    assert codes == [200, 200, 409, 409]


def test_a_token_is_needed(tmp_path):
    token = "a-token-of-some-length"
    with served(tmp_path, access=Access(token=token), target="y") as (client, _):
        assert client.state()["rows"] == 0
        assert client.learn(example_rows(5))["rows"] == 5
        for wrong in ("", "Bearer", "Bearer ", f"Bearer {token}x", f"Bearer {token[:-1]}", token):
            assert status(client, b"", "/models", "GET", Authorization=wrong) == 401
        assert status(client, b"", "/models", "GET") == 401
        assert status(client, b"", "/metrics", "GET") == 401
        assert status(client, b"", "/healthz", "GET") == 200
    with pytest.raises(ValueError, match="at least 16"):
        Access(token="short")


def test_other_addresses_need_a_token_or_a_word(tmp_path):
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org"):
        with pytest.raises(ValueError, match="--token-file"):
            _ = Settings(tmp_path, host=host).access
        assert Settings(tmp_path, host=host, open=True).access.token is None
        assert Settings(tmp_path, host=host, token="x" * 20).access.token == "x" * 20
    assert Settings(tmp_path, host="::1").access.hosts == ("::1",)


def test_slow_and_broken_clients(tmp_path):
    with served(tmp_path, Limits(body_seconds=0.3), target="y") as (client, _):
        client.learn(example_rows(20))
        host, port = client.url.removeprefix("http://").split(":")
        head = f"POST {LEARN} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        slow = socket.create_connection((host, int(port)))
        slow.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        gone = [socket.create_connection((host, int(port))) for _ in range(20)]
        for each in gone:
            each.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            each.close()
        assert client.learn(example_rows(3, start=50))["rows"] == 3  # others are not kept waiting
        slow.settimeout(10)
        assert b" 408 " in slow.recv(1000)
        slow.close()
        # Smuggling: two lengths, a wrong length
        for lines in ("Content-Length: 5\r\nContent-Length: 6", "Content-Length: -1"):
            with socket.create_connection((host, int(port))) as raw:
                raw.settimeout(10)
                raw.sendall(f"{head}{lines}\r\n\r\nhello".encode())
                assert b" 400 " in raw.recv(1000)
        assert client.state()["rows"] >= 20


def test_many_slow_clients_keep_nobody_waiting(tmp_path):
    with served(tmp_path, target="y") as (client, _):
        client.learn(example_rows(20))
        host, port = client.url.removeprefix("http://").split(":")
        head = f"POST {LEARN} HTTP/1.1\r\nHost: localhost\r\nContent-Ty"
        idle = [socket.create_connection((host, int(port))) for _ in range(150)]
        try:
            for at, each in enumerate(idle):
                each.sendall(head[: at % len(head)].encode())  # and never the rest
            assert client.learn(example_rows(3, start=50))["rows"] == 3
            # A client that asks and does not read the answer
            idle[0].sendall(b"GET /models HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
            assert client.predict(example_rows(1))[0]["id"]
        finally:
            for each in idle:
                each.close()
        assert loads(client.download()).n_rows_ == 23


def test_bodies_without_a_length_are_bounded(tmp_path):
    with served(tmp_path, Limits(body_bytes=1000), target="y") as (client, _):
        host, port = client.url.removeprefix("http://").split(":")
        head = f"POST {LEARN} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        for sizes, expected in (((100, 100), b" 400 "), ((600, 600), b" 413 ")):
            with socket.create_connection((host, int(port))) as raw:
                raw.settimeout(10)
                raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
                for size in sizes:
                    raw.sendall(f"{size:x}\r\n{'x' * size}\r\n".encode())
                raw.sendall(b"0\r\n\r\n")
                assert expected in raw.recv(1000)


def test_guessing_a_token_does_not_help(tmp_path):
    token = "a-token-of-some-length"
    with served(tmp_path, access=Access(token=token), target="y") as (client, _):
        for at in range(len(token)):
            guess = token[:at] + "?" + token[at + 1 :]
            for method, path in (("GET", "/models"), ("POST", LEARN), ("PUT", "/models/new")):
                code = status(client, b"{}", path, method, Authorization=f"Bearer {guess}")
                assert code == 401
        assert client.state()["name"] == "default"


def full(service, pages=None):
    """Make the store full, or give it room again."""
    count = service.store.run(lambda c: c.execute("PRAGMA page_count").fetchone()[0])
    most = count if pages is None else pages
    service.store.run(lambda c: c.execute(f"PRAGMA max_page_count = {most}").fetchone())


def test_a_full_store_refuses_and_goes_on_when_there_is_room(tmp_path):
    rows = example_rows(300)
    with served(tmp_path, Limits(checkpoint_seconds=1e9), target="y") as (client, service):
        client.learn(rows[:250])
        full(service)
        wide = [{**row, "text": "x" * 5000} for row in rows[250:260]]
        assert "full" in refused_by_store(lambda: client.learn(wide))
        assert "full" in refused_by_store(lambda: client.predict(wide))
        assert client.predict(rows[:1], remember=False)  # reading goes on
        full(service, 2**30)
        client.learn(rows[250:])
        data = client.download()
    assert data == learned_from([rows], TableModel("y"))
    assert sum(len(entry) for entry in rows_of_log(tmp_path)) == 300


def test_a_disk_without_room(tmp_path):
    """The operating system refuses to write, as on a full disk."""
    resource = pytest.importorskip("resource")
    rows = example_rows(300)
    with served(tmp_path, Limits(checkpoint_seconds=1e9), target="y") as (client, _):
        client.learn(rows[:250])
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        largest = max(file.stat().st_size for file in tmp_path.iterdir())
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
            text = {"text": "x" * 9000}
            for _ in range(3):
                message = refused_by_store(lambda: client.learn([{**r, **text} for r in rows]))
                assert "nothing was stored" in message
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        client.learn(rows[250:])
        data = client.download()
    assert data == learned_from([rows], TableModel("y"))
    with served(tmp_path) as (client, _):
        assert client.download() == data


def test_a_store_that_is_read_only(tmp_path):
    rows = example_rows(300)
    with served(tmp_path, Limits(checkpoint_seconds=1e9), target="y") as (client, service):
        client.learn(rows[:250])
        service.store._connection.execute("PRAGMA query_only = ON")
        assert "readonly" in refused_by_store(lambda: client.learn(rows[250:]))
        assert refused_by_store(lambda: client.snapshot("one"))
        assert client.predict(rows[:1], remember=False)
        service.store._connection.execute("PRAGMA query_only = OFF")
        client.learn(rows[250:])
        data = client.download()
    assert data == learned_from([rows], TableModel("y"))


def test_a_snapshot_waits_for_room(tmp_path):
    rows = example_rows(300)
    with served(tmp_path, Limits(checkpoint_seconds=1e9), target="y") as (client, service):
        client.learn(rows[:250])
        full(service, service.store.run(lambda c: c.execute("PRAGMA page_count").fetchone()[0]) + 3)
        taken = threading.Thread(target=lambda: client.snapshot("one"))
        taken.start()
        time.sleep(0.8)
        assert client.state()["failure"]
        full(service, 2**30)
        taken.join(20)
        client.learn(rows[250:])
        client.back("one")
        data = client.download()
    assert data == learned_from([rows[:250]], TableModel("y"))


def test_two_servers_cannot_share_a_store(tmp_path):
    with served(tmp_path, target="y"), pytest.raises(BlockingIOError):
        Service(tmp_path)


def test_files_that_are_no_stores(tmp_path):
    (tmp_path / "store.sqlite").write_bytes(b"not a database, but long enough to look" * 100)
    with pytest.raises(OSError, match="cannot be opened"):
        Service(tmp_path)
    other = tmp_path / "newer"
    Service(other).close()
    connection = sqlite3.connect(other / "store.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(OSError, match="update parsimon"):
        Service(other)


def test_a_learner_that_is_behind_refuses(tmp_path):
    with served(tmp_path, Limits(backlog_rows=10), target="y") as (client, service):
        client.learn(example_rows(250))
        service.models["default"].logged_rows += 100
        with pytest.raises(ServerError, match="wait to be learned"):
            client.learn(example_rows(1))
        assert Client(client.url).state()["rows"] >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--host", "0.0.0.0"), "--token-file"),
        (("--model", "nowhere.parsimon"), "there is no file nowhere.parsimon"),
        (("--intervals", "2"), "between 0 and 1"),
        (("--token-file", "nowhere.txt"), "nowhere.txt"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, monkeypatch, capsys, options, message):
    pytest.importorskip("typer", reason="the extra cli is not installed")
    from parsimon.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--target", "y", *options]) == 2
    assert message in capsys.readouterr().err


def test_the_command_needs_its_extra():
    pytest.importorskip("typer", reason="the extra cli is not installed")
    code = (
        "import sys; sys.modules['starlette'] = None; from parsimon.cli import main; "
        "sys.exit(main(['serve', '--target', 'y']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "[serve]" in done.stderr
