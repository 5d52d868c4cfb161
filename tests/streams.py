"""Brokers for tests: one in memory, mosquitto, and librdkafka's mock cluster."""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import deque

from parsimon import TableModel
from parsimon.serving import Service
from parsimon.serving.connecting import StreamSettings, connected
from parsimon.serving.sources import Address
from parsimon.serving.sources.base import Message, Options, Source


def wait_for(condition, seconds=60.0):
    """Wait until a function returns a true value, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen")


class Memory(Source):
    """A broker in memory. It delivers again what was not acknowledged, when it is begun again.

    With `numbered`, messages have offsets, as in Kafka.
    """

    def __init__(self, bodies=(), numbered=False, publish="answers", together=256):
        nothing = lambda *_, **__: None  # noqa: E731
        super().__init__(Options("test", publish, 1000, 1 << 20, nothing, dict, nothing))
        self.bodies = [b if isinstance(b, bytes) else json.dumps(b).encode() for b in bodies]
        self.numbered, self.together = numbered, together
        self.acknowledged, self.answers, self.taken = [], [], 0
        self.refuses = 0
        self.connected = True

    def __str__(self):
        return "memory"

    @property
    def waiting(self):
        return 0

    async def start(self):
        self.queue = deque(enumerate(self.bodies))

    async def take(self):
        while not self.queue:
            await asyncio.sleep(0.002)
        found = [self.queue.popleft() for _ in range(min(self.together, len(self.queue)))]
        self.taken += len(found)
        numbers = [(0, at) if self.numbered else (None, None) for at, _ in found]
        return [
            Message(body, len(body), {"topic": "memory", "n": at}, *each, handle=at)
            for (at, body), each in zip(found, numbers, strict=True)
        ]

    async def acknowledge(self, messages):
        self.acknowledged += [message.handle for message in messages]

    async def publish(self, answers):
        self.answers += [json.loads(answer.body) for answer in answers]
        return self.refuses

    async def close(self):
        pass


class InLoop:
    """A stream that runs in an event loop of its own thread."""

    def __init__(self, stream):
        self.stream = stream
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        self.context = self.stream.running()
        self._call(self.context.__aenter__())
        return self.stream

    def __exit__(self, *_):
        self._call(self.context.__aexit__(None, None, None))
        self._call(asyncio.sleep(0.02))  # what the store still tells the loop
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)


@contextlib.contextmanager
def running(folder, address, limits=None, acknowledges=True, **settings):
    """Give a stream that runs in this process, its service, and what it notes."""
    notes = []
    service = Service(folder, limits, lambda text, **values: notes.append({"text": text, **values}))
    try:
        if "default" not in service.models:
            service.create("default", TableModel("y"))
        found = StreamSettings(Address.parsed(address), **settings)
        stream = connected(service, "default", found)
        if not acknowledges:
            stream.source.acknowledge = _nothing
        with InLoop(stream):
            yield stream, service, notes
    finally:
        service.close()


async def _nothing(messages):
    pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Mosquitto:
    """A broker of MQTT. It keeps its sessions when it is stopped and begun again."""

    path = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")

    def __init__(self, folder, **options):
        self.port, self.folder = free_port(), folder
        settings = {
            "listener": f"{self.port} 127.0.0.1",
            "allow_anonymous": "true",
            "max_queued_messages": 0,
            "persistence": "true",
            "persistence_location": f"{folder}/",
            "autosave_interval": 1,
        }
        if os.getuid() == 0:  # else it would give up its rights, and could not write the folder
            settings["user"] = "root"
        lines = [f"{name} {value}" for name, value in (settings | options).items()]
        self.config = folder / "mosquitto.conf"
        self.config.write_text("\n".join(lines) + "\n")
        self.process = None

    def start(self):
        command = [self.path, "-c", str(self.config)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(self._answers)
        return self

    def _answers(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def mqtt_client(port, topic=None, name="test", user=None, tls=False):
    """Give a client of a broker, and what it received of a topic. `user` is a name and password."""
    from paho.mqtt import client as mqtt
    from paho.mqtt.enums import CallbackAPIVersion

    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=mqtt.MQTTv5)
    if user is not None:
        client.username_pw_set(*user)
    if tls:
        client.tls_set()
    received, ready = [], threading.Event()
    client.on_message = lambda c, u, message: received.append(json.loads(message.payload))
    client.on_subscribe = lambda *_: ready.set()
    client.on_connect = lambda c, *_: c.subscribe(topic, 1) if topic else ready.set()
    client.connect_async("127.0.0.1", port)
    client.loop_start()
    try:
        assert ready.wait(20)
        yield client, received
    finally:
        client.disconnect()
        client.loop_stop()


MOCK = """
import sys
from confluent_kafka import Producer
cluster = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
found = cluster.list_topics(sys.argv[1], timeout=20)
print(",".join(f"{b.host}:{b.port}" for b in found.brokers.values()), flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def mock_kafka(topic):
    """Give the address of a Kafka cluster in a process of its own. It has one topic."""
    process = subprocess.Popen(
        [sys.executable, "-c", MOCK, topic],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
