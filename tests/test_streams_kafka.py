"""Streams of Kafka, with the mock cluster of librdkafka in a process of its own."""

import json

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("confluent_kafka", reason="the extra kafka is not installed")

import confluent_kafka as kafka
import streams
from serving import example_rows, rows_of_log
from stream_crash import kill_kafka
from streams import free_port, mock_kafka, wait_for

from parsimon import TableModel
from parsimon.serving import Service, inbox


@pytest.fixture
def cluster():
    with mock_kafka("rows") as address:
        yield address


def running(folder, cluster, topic="rows", **options):
    return streams.running(folder, f"kafka://{cluster}/{topic}", **options)


def send(cluster, messages, part=None, topic="rows"):
    producer = kafka.Producer({"bootstrap.servers": cluster})
    options = {} if part is None else {"partition": part}
    for message in messages:
        producer.produce(topic, json.dumps(message), **options)
    assert producer.flush(20) == 0


def logged(folder):
    return sorted(row["n"] for entry in rows_of_log(folder) for row in entry)


def committed(cluster, group):
    consumer = kafka.Consumer({"bootstrap.servers": cluster, "group.id": group})
    try:
        parts = [kafka.TopicPartition("rows", part) for part in range(4)]
        return sum(max(0, each.offset) for each in consumer.committed(parts, timeout=20))
    finally:
        consumer.close()


def test_kills_lose_nothing(tmp_path, cluster):
    report = kill_kafka(tmp_path, cluster, kills=2, seed=0)
    assert report["rows"] == report["sent"] > 100 and report["again"] == 0 and report["bad"] > 0


def test_a_crash_between_log_and_commit(tmp_path, cluster):
    """Learned once, without keys in the messages. Predictions are published again."""
    send(cluster, example_rows(20))
    with running(tmp_path, cluster, acknowledges=False, publish="answers") as (stream, *_):
        wait_for(lambda: stream.counts["published"] == 20)
        group = stream.source.options.client
    assert committed(cluster, group) == 0
    send(cluster, example_rows(5, start=20))
    with running(tmp_path, cluster, publish="answers") as (stream, *_):
        wait_for(lambda: stream.counts["published"] == 25)
        assert stream.counts["known"] == 20 and stream.counts["learned"] == 5
        wait_for(lambda: committed(cluster, group) == 25)
    assert logged(tmp_path) == [float(n) for n in range(25)]


def test_the_store_is_right_where_the_group_differs(tmp_path, cluster):
    """Offsets that were committed, and are not in the store, are read again."""
    send(cluster, example_rows(6), part=2)
    consumer = kafka.Consumer({"bootstrap.servers": cluster, "group.id": "shop"})
    consumer.commit(offsets=[kafka.TopicPartition("rows", 2, 6)], asynchronous=False)
    consumer.close()
    with running(tmp_path / "new", cluster, client="shop") as (stream, *_):
        send(cluster, example_rows(1, start=6), part=2)
        wait_for(lambda: stream.counts["learned"] == 1)  # a new store begins where the group is
    service = Service(tmp_path / "old")
    service.create("default", TableModel("y"))
    service.store.run(lambda c: inbox.advance(c, 1, f"kafka://{cluster}/rows", 2, 3))
    service.close()
    with running(tmp_path / "old", cluster, client="shop") as (stream, *_):
        wait_for(lambda: stream.counts["learned"] == 4)
    assert logged(tmp_path / "old") == [3.0, 4.0, 5.0, 6.0]


def test_a_topic_that_was_made_anew(tmp_path, cluster):
    service = Service(tmp_path)
    service.create("default", TableModel("y"))
    service.store.run(lambda c: inbox.advance(c, 1, f"kafka://{cluster}/rows", 0, 500))
    service.close()
    send(cluster, example_rows(4), part=0)
    with running(tmp_path, cluster) as (stream, *_):
        wait_for(lambda: stream.counts["learned"] == 4)


def test_no_broker(tmp_path):
    with running(tmp_path, f"127.0.0.1:{free_port()}") as (stream, *_):
        wait_for(lambda: stream.source.problem)
        assert not stream.state()["connected"] and "127.0.0.1" in stream.state()["problem"]


def test_the_broker_goes_away(tmp_path):
    with mock_kafka("rows") as cluster:
        send(cluster, example_rows(3))
        context = running(tmp_path, cluster)
        stream, *_ = context.__enter__()
        wait_for(lambda: stream.counts["learned"] == 3)
        assert stream.state()["connected"]
    try:
        wait_for(lambda: not stream.state()["connected"])
        assert cluster in stream.state()["problem"]
    finally:
        context.__exit__(None, None, None)


def test_settings_that_kafka_refuses(tmp_path, cluster):
    with (
        pytest.raises(ValueError, match=r"Kafka refuses the settings: .*no\.such"),
        running(tmp_path, cluster, settings={"no.such": "1"}),
    ):
        pass
    with (
        pytest.raises(ValueError, match="another topic"),
        running(tmp_path, cluster, publish="rows"),
    ):
        pass
    with (
        pytest.raises(ValueError, match="is no topic"),
        running(tmp_path, cluster, publish="my answers"),
    ):
        pass


def test_a_topic_that_does_not_exist_yet(tmp_path, cluster):
    with running(tmp_path, cluster, topic="later") as (stream, *_):
        wait_for(lambda: stream.source.problem)
        assert "later" in stream.source.problem
        send(cluster, example_rows(3), topic="later")
        wait_for(lambda: stream.counts["learned"] == 3)
