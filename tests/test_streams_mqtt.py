"""Streams of MQTT, with a real mosquitto."""

import json
import shutil
import subprocess

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("paho", reason="the extra mqtt is not installed")

import streams
from serving import Process, example_rows, learned_from, rows_of_log
from stream_crash import kill_mqtt
from streams import Mosquitto, mqtt_client, wait_for

from parsimon import TableModel
from parsimon.client import Client
from parsimon.serving import Limits

pytestmark = pytest.mark.skipif(Mosquitto.path is None, reason="mosquitto is not installed")


@pytest.fixture
def broker(tmp_path):
    found = Mosquitto(tmp_path).start()
    yield found
    found.stop()


def running(folder, broker, limits=None, topic="rows", **options):
    return streams.running(folder, f"mqtt://127.0.0.1:{broker.port}/{topic}", limits, **options)


def send(client, messages, qos=1):
    for message in messages:
        client.publish("rows", json.dumps(message), qos).wait_for_publish(20)


def logged(folder):
    return [row["n"] for entry in rows_of_log(folder) for row in entry]


def test_kills_lose_nothing(tmp_path, broker):
    report = kill_mqtt(tmp_path / "store", broker, kills=2, seed=0)
    assert report["again"] == 0 and report["rows"] == report["sent"] > 100 and report["bad"] > 0


@pytest.mark.parametrize("keys", [True, False])
def test_a_crash_between_log_and_acknowledgement(tmp_path, broker, keys):
    """Once with keys, and at least once without. Answers for keys are the same again."""
    folder = tmp_path / "store"
    messages = [
        {"rows": [row]} | ({"key": f"k{i}"} if keys else {})
        for i, row in enumerate(example_rows(5))
    ]
    with mqtt_client(broker.port, "answers") as (client, received):
        with running(folder, broker, acknowledges=False, publish="answers") as (stream, *_):
            wait_for(lambda: stream.source.connected)
            send(client, messages)
            wait_for(lambda: stream.counts["learned"] == 5 and len(received) == 5)
            name = stream.source.options.client
        with running(folder, broker, publish="answers") as (stream, *_):
            assert stream.source.options.client == name
            wait_for(lambda: sum(stream.counts[each] for each in ("known", "learned")) == 5)
            wait_for(lambda: len(received) == 10)
            assert stream.counts["known"] == (5 if keys else 0)
    assert logged(folder) == [0.0, 1.0, 2.0, 3.0, 4.0] * (1 if keys else 2)
    assert not keys or received[5:] == received[:5]
    with running(folder, broker) as (stream, *_):  # and now they are acknowledged
        wait_for(lambda: stream.source.connected)
        with mqtt_client(broker.port) as (client, _):
            send(client, [{"rows": example_rows(1, start=9), "key": "last"}])
        wait_for(lambda: stream.counts["learned"])
        assert stream.counts["known"] == 0


def test_the_broker_is_away_at_the_start_and_later(tmp_path):
    broker, folder = Mosquitto(tmp_path), tmp_path / "store"
    keyed = [{"rows": [row], "key": str(row["n"])} for row in example_rows(5)]
    with running(folder, broker) as (stream, _, notes):
        wait_for(lambda: stream.source.problem)
        assert f"no broker answers at 127.0.0.1:{broker.port}" in stream.state()["problem"]
        broker.start()
        wait_for(lambda: stream.state()["connected"])
        try:
            with mqtt_client(broker.port) as (client, _):
                send(client, keyed[:2])
            wait_for(lambda: stream.counts["learned"] == 2)
            broker.stop()
            wait_for(lambda: not stream.state()["connected"])
            assert "lost" in stream.state()["problem"]
            broker.start()
            wait_for(lambda: stream.state()["connected"])
            with mqtt_client(broker.port) as (client, _):
                send(client, keyed[2:])
            wait_for(lambda: stream.counts["learned"] == 5)
        finally:
            broker.stop()
    assert logged(folder) == [0.0, 1.0, 2.0, 3.0, 4.0]
    texts = [note["text"] for note in notes]
    assert texts.count("stream connected") == 2 and "stream not connected, trying again" in texts
    assert not any("lost the session" in text for text in texts)


def test_messages_that_came_while_the_server_was_away(tmp_path, broker):
    folder = tmp_path / "store"
    with running(folder, broker) as (stream, *_):
        wait_for(lambda: stream.source.connected)
    with mqtt_client(broker.port) as (client, _):
        send(client, example_rows(30))
    with running(folder, broker) as (stream, *_):
        wait_for(lambda: stream.counts["learned"] == 30)
    assert logged(folder) == [float(n) for n in range(30)]


def test_unacknowledged_messages_are_bounded(tmp_path, broker):
    folder, limits = tmp_path / "store", Limits(unacknowledged=8)
    with running(folder, broker, limits) as (stream, service, _):
        service.store.run(lambda c: c.execute("UPDATE models SET paused = 1"))
        wait_for(lambda: stream.source.connected)
        most = []
        with mqtt_client(broker.port) as (client, _):
            for row in example_rows(40):
                send(client, [row])
                most.append(stream.state()["unacknowledged"])
            wait_for(lambda: stream.state()["unacknowledged"] == 8)
            assert max(most) <= 8
            # The broker does not wait with messages of QoS 0, so more of them are dropped.
            send(client, example_rows(30, start=40), qos=0)
            wait_for(lambda: stream.state()["dropped"])
            assert stream.state()["unacknowledged"] <= 16
        service.store.run(lambda c: c.execute("UPDATE models SET paused = 0"))
        wait_for(lambda: set(range(40)) <= set(logged(folder)))


def test_messages_in_hand_when_the_connection_is_lost(tmp_path, broker):
    """They come again in the new connection, and are acknowledged there."""
    folder = tmp_path / "store"
    keyed = [{"rows": [row], "key": str(row["n"])} for row in example_rows(9)]
    with running(folder, broker) as (stream, service, _):
        service.store.run(lambda c: c.execute("UPDATE models SET paused = 1"))
        wait_for(lambda: stream.source.connected)
        with mqtt_client(broker.port) as (client, _):
            send(client, keyed)
        wait_for(lambda: stream.state()["unacknowledged"] == 9)
        broker.stop()
        wait_for(lambda: not stream.source.connected)
        broker.start()
        wait_for(lambda: stream.source.connected)
        service.store.run(lambda c: c.execute("UPDATE models SET paused = 0"))
        wait_for(lambda: stream.counts["known"] and len(logged(folder)) == 9)
    assert logged(folder) == [float(n) for n in range(9)]
    with running(folder, broker) as (stream, *_):
        wait_for(lambda: stream.source.connected)
        with mqtt_client(broker.port) as (client, _):
            send(client, [{"rows": example_rows(1, start=9), "key": "last"}])
        wait_for(lambda: stream.counts["learned"] == 1)
        assert stream.counts["known"] == 0


def test_the_broker_refuses(tmp_path):
    broker = Mosquitto(tmp_path, allow_anonymous="false").start()
    try:
        with running(tmp_path / "store", broker) as (stream, *_):
            wait_for(lambda: "refuses the connection" in (stream.source.problem or ""))
            assert "uthorized" in stream.source.problem
    finally:
        broker.stop()


def test_retained_messages_are_not_learned_again(tmp_path, broker):
    folder = tmp_path / "store"
    row, other = example_rows(2)
    with mqtt_client(broker.port) as (client, _):
        client.publish("rows", json.dumps(row), 1, retain=True).wait_for_publish(20)
        for n in range(2):
            with running(folder, broker) as (stream, *_):
                wait_for(lambda s=stream: s.source.connected)
                send(client, [{**other, "n": float(n)}])
                wait_for(lambda s=stream: s.counts["learned"])
    assert logged(folder) == [0.0, 1.0]


def test_topics_of_predictions(tmp_path, broker):
    for topic, publish, reason in (
        ("rows", "rows", "come back"),
        ("shop/#", "shop/answers", "come back"),
        ("rows", "answers/+", "without"),
        ("rows", "", "must have a name"),
        ("a/#/b", None, "no topic"),
        ("a+", None, "no topic"),
    ):
        with (
            pytest.raises(ValueError, match=reason),
            running(tmp_path / "store", broker, topic=topic, publish=publish),
        ):
            pass


@pytest.fixture
def server(tmp_path, broker):
    """``parsimon serve`` with a stream of the broker, in a process of its own."""
    found = Process(
        tmp_path / "store", "--target", "y", "--from", f"mqtt://127.0.0.1:{broker.port}/rows",
        "--publish", "answers", "--key", "n", "--client-name", "shop",
    )  # fmt: skip
    found.start()
    yield found
    found.kill()


def test_a_server_with_a_stream(tmp_path, broker, server):
    """The command, its state, its metrics, and its end by SIGTERM."""
    client = Client(server.url)

    def stream():
        return client.state()["streams"][0]

    wait_for(lambda: stream()["connected"])
    assert stream()["stream"].startswith("mqtt://127.0.0.1") and stream()["problem"] is None
    assert client.request("GET", "/readyz") == {"status": "ready", "streams_connected": [True]}
    rows = example_rows(20)
    with mqtt_client(broker.port, "answers") as (sender, received):
        send(sender, [*rows, *rows[:5]])
        sender.publish("rows", b"bad", 1)
        wait_for(lambda: len(received) == 25)
        wait_for(lambda: client.request("GET", "/models/default/bad-messages")["messages"])
    for outcome, n in (("published", 25), ("learned", 20), ("known", 5), ("bad", 1)):
        line = f'outcome="{outcome}"}} {float(n)}'
        wait_for(lambda line=line: line in client.request("GET", "/metrics").decode())
    assert "parsimon_stream_connected{" in client.request("GET", "/metrics").decode()
    assert server.end() in (0, 143)
    entries = rows_of_log(tmp_path / "store")
    assert [row for entry in entries for row in entry] == [
        {k: v for k, v in row.items() if k != "n"} for row in rows
    ]
    server.start()
    assert client.download() == learned_from(entries, TableModel("y"))


# A user, and TLS


def with_user(folder):
    """Return the options of a broker that knows one user, `me`, with the password `secret`."""
    passwords = folder / "passwords"
    tool = shutil.which("mosquitto_passwd")
    subprocess.run([tool, "-c", "-b", passwords, "me", "secret"], check=True)
    passwords.chmod(0o644)  # the broker may run as a user of its own
    return {"allow_anonymous": "false", "password_file": passwords}


def authority(folder):
    """Return an authority, and the key and certificate that it gave to 127.0.0.1."""

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)

    ca, ca_key, key, request, certificate, names = (
        folder / name for name in ("ca.pem", "ca.key", "key", "request", "certificate", "names")
    )
    names.write_text("subjectAltName=IP:127.0.0.1\n")
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-subj")
    openssl(*new, "/CN=authority", "-x509", "-days", 2, "-keyout", ca_key, "-out", ca)
    openssl(*new, "/CN=broker", "-keyout", key, "-out", request)
    signed = ("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial")
    openssl(*signed, "-days", 2, "-extfile", names, "-out", certificate)
    key.chmod(0o644)
    return ca, key, certificate


@pytest.mark.skipif(not shutil.which("mosquitto_passwd"), reason="mosquitto_passwd is missing")
def test_a_user_with_a_password(tmp_path):
    broker = Mosquitto(tmp_path, **with_user(tmp_path)).start()
    address = f"mqtt://me@127.0.0.1:{broker.port}/rows"
    try:
        for password in ("wrong", None):
            with streams.running(tmp_path / "store", address, password=password) as (stream, *_):
                problem = wait_for(lambda: stream.source.problem)
                assert "refuses the connection: Not authorized" in problem
        with streams.running(tmp_path / "store", address, password="secret") as (stream, *_):
            wait_for(lambda: stream.source.connected)
            with mqtt_client(broker.port, user=("me", "secret")) as (client, _):
                send(client, example_rows(3))
            wait_for(lambda: stream.counts["learned"] == 3)
    finally:
        broker.stop()


# paho-mqtt leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <ssl.SSLSocket")
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is missing")
def test_tls(tmp_path, monkeypatch):
    """The broker's certificate is checked: an unknown authority is refused, and said to be."""
    ca, key, certificate = authority(tmp_path)
    broker = Mosquitto(tmp_path, keyfile=key, certfile=certificate).start()
    address = f"mqtts://127.0.0.1:{broker.port}/rows"
    try:
        with streams.running(tmp_path / "store", address) as (stream, *_):
            problem = wait_for(lambda: stream.source.problem)
            assert "TLS with 127.0.0.1" in problem and "certificate" in problem
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        with streams.running(tmp_path / "store", address) as (stream, *_):
            wait_for(lambda: stream.source.connected)
            with mqtt_client(broker.port, tls=True) as (client, _):
                send(client, example_rows(3))
            wait_for(lambda: stream.counts["learned"] == 3)
    finally:
        broker.stop()
