"""Messages of MQTT 5.

The session of the client is kept by the broker, for `SESSION_SECONDS` without a connection. After
a reconnection the broker delivers again what was not acknowledged. A message is acknowledged in the
connection in which it came: in another one its number can belong to another message.

The thread of paho-mqtt receives messages. Everything else runs in the event loop.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from parsimon.serving.sources.addresses import Address
from parsimon.serving.sources.base import TOGETHER, Message, Options, Outgoing, Source

__all__ = ["MqttSource"]

#: How long the broker keeps the session of a server that is away: 30 days.
SESSION_SECONDS = 30 * 86_400
#: Seconds between signs of life.
KEEP_ALIVE = 30
#: The least and the longest pause before a new attempt to connect, in seconds.
PAUSES = (1, 30)
#: Do not send messages that were retained before this client subscribed.
NOT_RETAINED = 2


class _Handle(NamedTuple):
    """Which packet a message was, in which connection."""

    mid: int
    qos: int
    connection: int
    correlation: bytes | None


class MqttSource(Source):
    """A topic of an MQTT broker. It may have wildcards.

    CONVENTION: `_connection` counts connections. Messages of connections before `_fresh` that wait
    will be delivered again by the broker. The thread of paho-mqtt changes these, and `_lock` guards
    them, so that nothing is acknowledged in a wrong connection.
    """

    def __init__(self, address: Address, options: Options) -> None:
        super().__init__(options)
        _check_topics(address.topic, options.publish)
        self.address = address
        self._lock = threading.Lock()
        self._connection = self._fresh = 0
        self._open = False
        self._waiting: deque[Message] = deque()
        self._sent: dict[int, asyncio.Future[bool]] = {}
        self._client = self._made()

    def __str__(self) -> str:
        return str(self.address)

    @property
    def waiting(self) -> int:
        """The number of messages that are received and not taken yet."""
        return len(self._waiting)

    async def start(self) -> None:
        """Begin to connect."""
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = SESSION_SECONDS
        properties.ReceiveMaximum = min(self.options.unacknowledged, 65_535)
        host, port = self.address.hosts[0]
        self._client.connect_async(
            host.strip("[]"), port, KEEP_ALIVE, clean_start=False, properties=properties
        )
        self._client.loop_start()

    async def take(self) -> list[Message]:
        """Return the next messages in order, at least one."""
        while True:
            while not (self.connected and self._waiting):
                self._news.clear()
                await self._news.wait()
            found: list[Message] = []
            while self._waiting and len(found) < TOGETHER:
                message = self._waiting.popleft()
                if message.handle.qos == 0 or message.handle.connection >= self._fresh:
                    found.append(message)
            if found:
                return found

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        """Tell the broker that messages are in the store."""
        for message in messages:
            handle: _Handle = message.handle
            with self._lock:
                if handle.qos and self._open and handle.connection == self._connection:
                    self._client.ack(handle.mid, handle.qos)

    async def publish(self, answers: Sequence[Outgoing]) -> int:
        """Publish answers, wait until the broker has them, and return how many it refused."""
        futures: list[asyncio.Future[bool]] = []
        topic = self.options.publish
        assert topic is not None
        for answer in answers:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            if answer.message.handle.correlation is not None:
                properties.CorrelationData = answer.message.handle.correlation
            future: asyncio.Future[bool] = self._loop.create_future()
            # Without a connection paho-mqtt keeps it, and sends it later.
            info = self._client.publish(topic, answer.body, 1, False, properties)
            self._sent[info.mid] = future
            futures.append(future)
        return sum([not await future for future in futures])

    async def close(self) -> None:
        """Disconnect. The broker keeps what was not acknowledged."""
        self.closing = True
        self._client.disconnect()
        await asyncio.to_thread(self._client.loop_stop)

    # Implementation

    def _made(self) -> mqtt.Client:
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2,
            client_id=self.options.client,
            protocol=mqtt.MQTTv5,
            manual_ack=True,
        )
        if self.address.user is not None:
            client.username_pw_set(self.address.user, self.options.password)
        if self.address.scheme == "mqtts":
            client.tls_set()
        client.reconnect_delay_set(*PAUSES)
        client.on_connect = self._on_connect
        client.on_connect_fail = self._on_connect_fail
        client.on_disconnect = self._on_disconnect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        return client

    def _tell(self, function: Any, *values: Any) -> None:
        """Call a function in the event loop, unless the loop has ended."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *values)

    def _changed(self, problem: str | None) -> None:
        self.changed(problem)
        self._news.set()

    # Called in the thread of paho-mqtt

    def _on_connect(self, client: Any, _: Any, flags: Any, reason: Any, __: Any) -> None:
        if reason.is_failure:
            self._tell(self._changed, f"the broker refuses the connection: {reason}")
            return
        with self._lock:
            self._connection += 1
            self._open = True
            if flags.session_present:
                self._fresh = self._connection
        if not flags.session_present:
            self._tell(self._begun, self._connection)
        options = SubscribeOptions(qos=1, noLocal=True, retainHandling=NOT_RETAINED)
        client.subscribe(self.address.topic, options=options)

    def _begun(self, connection: int) -> None:
        text = "a new session of the stream"
        if connection > 1:
            text = "the broker has lost the session: messages since then may be missing"
        self.options.note(text, stream=str(self), client=self.options.client)

    def _on_subscribe(self, client: Any, _: Any, mid: int, reasons: Any, __: Any) -> None:
        refused = [str(reason) for reason in reasons if reason.is_failure]
        self._tell(
            self._changed, f"the broker refuses the topic: {refused[0]}" if refused else None
        )

    def _on_connect_fail(self, client: Any, _: Any) -> None:
        # paho-mqtt calls this while it handles the error, which it does not pass on
        error = sys.exception()
        if isinstance(error, ssl.SSLError):
            reason = getattr(error, "verify_message", None) or error.reason or str(error)
            problem = f"TLS with {self.address.broker} failed: {reason}"
        else:
            problem = f"no broker answers at {self.address.broker}"
        self._tell(self._changed, problem)

    def _on_disconnect(self, client: Any, _: Any, flags: Any, reason: Any, __: Any) -> None:
        with self._lock:
            was_open, self._open = self._open, False
        if was_open:
            self._tell(self._changed, f"the connection was lost: {reason}")

    def _on_message(self, client: Any, _: Any, message: Any) -> None:
        if message.qos == 0 and len(self._waiting) >= self.options.unacknowledged:
            self.dropped += 1  # the broker does not wait for messages of QoS 0
            return
        size = len(message.payload)
        handle = _Handle(
            message.mid,
            message.qos,
            self._connection,
            getattr(message.properties, "CorrelationData", None),
        )
        body = bytes(message.payload) if size <= self.options.message_bytes else None
        self._waiting.append(Message(body, size, {"topic": message.topic}, handle=handle))
        self._tell(self._news.set)

    def _on_publish(self, client: Any, _: Any, mid: int, reason: Any, __: Any) -> None:
        self._tell(self._confirmed, mid, not reason.is_failure)

    def _confirmed(self, mid: int, accepted: bool) -> None:
        future = self._sent.pop(mid, None)
        if future is not None and not future.done():
            future.set_result(accepted)


def _check_topics(topic: str, publish: str | None) -> None:
    levels = topic.split("/")
    if any(
        "\0" in level
        or ("+" in level and level != "+")
        or ("#" in level and (level != "#" or at != len(levels) - 1))
        for at, level in enumerate(levels)
    ):
        raise ValueError(
            f"{topic!r} is no topic of MQTT: + stands for one level, and # for all at the end"
        )
    if publish is None:
        return
    if not publish or any(c in publish for c in "+#\0"):
        raise ValueError("the topic of predictions must have a name without + and #")
    if mqtt.topic_matches_sub(topic, publish):
        raise ValueError(f"predictions for {publish} would come back as messages of {topic}")
