"""Servers of streams that are killed again and again while messages come."""

import json
import random
import threading
import time

from serving import Process, example_rows, learned_from, rows_of_log
from streams import mqtt_client, wait_for

from parsimon import TableModel
from parsimon.client import Client


class Sent:
    """Messages of a sender: rows, labels for published ids, and bad ones."""

    def __init__(self, seed, keys, later=True):
        self.rng, self.keys, self.later, self.n = random.Random(seed), keys, later, 0
        self.rows, self.bad, self.lock = {}, 0, threading.Lock()

    def next(self):
        """Return the next message."""
        if self.rng.random() < 0.05:
            self.bad += 1
            return b"bad %d" % self.n
        rows = example_rows(self.rng.choice((1, 1, 1, 3)), seed=self.n, start=self.n)
        self.n += len(rows)
        with self.lock:
            self.rows.update({row["n"]: row for row in rows})
        if self.later and self.rng.random() < 0.25:
            rows = [{name: v for name, v in row.items() if name != "y"} for row in rows]
        message = {"rows": rows}
        if self.keys:
            message["key"] = f"message-{rows[0]['n']}"
        return json.dumps(message).encode()

    def label(self, answer, asked):
        """Return the labels for an answer, or None if the rows had targets."""
        ids = [each["id"] for each in answer["predictions"] if "id" in each]
        if not ids:
            return None
        rows = json.loads(asked)["rows"]
        labels = [
            {"id": i, "label": self.rows[r["n"]]["y"]} for i, r in zip(ids, rows, strict=True)
        ]
        return json.dumps({"labels": labels}).encode()


def kill_often(folder, kills, seed, options, send, answers, publish_label, sent, seconds=0.8):
    """Kill a server at random moments while `send` sends messages, and check what was learned.

    `answers` returns the published answers so far, with the messages that they answer.
    """
    rng = random.Random(seed)
    server = Process(folder, "--target", "y", "--checkpoint-seconds", 0.3, "--log-entries", 10**9,
                     *options)  # fmt: skip
    server.start()
    stop = threading.Event()
    errors = []

    def work():
        try:
            labelled = 0
            while not stop.is_set():
                send(sent.next())
                found = answers()
                for answer, asked in found[labelled:]:
                    label = sent.label(answer, asked)
                    if label is not None:
                        publish_label(label)
                labelled = len(found)
                time.sleep(rng.uniform(0.0, 0.01))
        except Exception as error:
            errors.append(error)

    sender = threading.Thread(target=work)
    try:
        wait_for(lambda: _connected(server))  # the session of MQTT begins with it
        sender.start()
        for _ in range(kills):
            time.sleep(rng.uniform(0.05, seconds))
            server.kill()
            server.start()
        time.sleep(0.3)
        stop.set()
        sender.join()
        assert not errors, errors
    except BaseException:
        server.kill()
        raise
    finally:
        stop.set()
    return server


def settled(server, folder, answers, sent, publish_label, exactly_once=True):
    """Wait until everything is learned, and check it against what was sent."""
    client = Client(server.url)
    labelled = set()

    def done():
        for answer, asked in answers():
            label = sent.label(answer, asked)
            if label is not None and label not in labelled:
                labelled.add(label)
                publish_label(label)
        learned = {row["n"] for entry in rows_of_log(folder) for row in entry}
        return learned == set(sent.rows)

    try:
        wait_for(done, 120)
        found = client.download()
        bad = client.request("GET", "/models/default/bad-messages")["messages"]
    finally:
        server.kill()
    entries = rows_of_log(folder)
    learned = [row for entry in entries for row in entry]
    assert all(row == sent.rows[row["n"]] for row in learned)
    numbers = [row["n"] for row in learned]
    if exactly_once:
        assert len(set(numbers)) == len(numbers), "a row was learned twice"
    reasons = {each["reason"] for each in bad}
    assert all("not JSON" in reason for reason in reasons), reasons
    assert found == learned_from(entries, TableModel("y")), "the model is another one"
    return {"rows": len(numbers), "again": len(numbers) - len(set(numbers)), "bad": len(bad)}


def kill_mqtt(folder, broker, kills, seed, keys=True):
    """Kill a server that takes messages of MQTT."""
    sent = Sent(seed, keys, later=keys)  # without keys, nobody knows which row an id is for
    bodies = {}

    def send(body):
        message = json.loads(body) if body.startswith(b"{") else None
        if message is not None:
            bodies[message["rows"][0]["n"]] = body
        client.publish("shop/rows", body, 1).wait_for_publish(30)

    def answers():
        with_keys = [a for a in list(received) if "key" in a]
        return [(a, bodies[float(a["key"].removeprefix("message-"))]) for a in with_keys]

    options = ("--from", f"mqtt://127.0.0.1:{broker.port}/shop/+", "--publish", "answers")
    with mqtt_client(broker.port, "answers") as (client, received):

        def publish_label(body):
            client.publish("shop/labels", body, 1)

        server = kill_often(folder, kills, seed, options, send, answers, publish_label, sent)
        report = settled(server, folder, answers, sent, publish_label, exactly_once=keys)
    return {"kills": kills, "sent": len(sent.rows), **report}


def kill_kafka(folder, address, kills, seed):
    """Kill a server that takes messages of Kafka. They have no keys."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

    sent, bodies, found = Sent(seed, keys=False), {}, []
    producer = Producer({"bootstrap.servers": address})
    consumer = Consumer({"bootstrap.servers": address, "group.id": "test"})

    def delivered(error, message):
        assert error is None
        bodies[message.partition(), message.offset()] = message.value()

    def send(body):
        producer.produce("rows", body, on_delivery=delivered)
        producer.poll(0)

    def answers():
        producer.flush(20)
        while True:
            message = consumer.poll(0.01)
            if message is None:
                break
            if message.error() is None:
                answer = json.loads(message.value())
                found.append((answer, bodies[answer["partition"], answer["offset"]]))
        return list(found)

    parts = producer.list_topics("answers", timeout=20).topics["answers"].partitions
    consumer.assign([TopicPartition("answers", part, OFFSET_BEGINNING) for part in parts])
    options = ("--from", f"kafka://{address}/rows", "--publish", "answers")
    try:
        server = kill_often(folder, kills, seed, options, send, answers, send, sent, seconds=1.6)
        report = settled(server, folder, answers, sent, send)
    finally:
        consumer.close()
    # Every answer to one message is the same, also if it was published again.
    first = {}
    for answer, _ in found:
        key = (answer["partition"], answer["offset"])
        assert first.setdefault(key, answer) == answer
    return {"kills": kills, "sent": len(sent.rows), "published": len(found), **report}


def _connected(server):
    return Client(server.url).request("GET", "/readyz")["streams_connected"][0]
