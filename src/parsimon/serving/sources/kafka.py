"""Messages of Kafka.

All partitions of the topic are read. The store knows which messages it has, by partition and
offset, and it is right where the group of the broker differs. Offsets are committed to the group,
so that tools see the lag, and so that answers of a run that crashed are published again.

The client library is used in one thread.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from parsimon.serving.sources.addresses import Address
from parsimon.serving.sources.base import TOGETHER, Message, Options, Outgoing, Source

__all__ = ["KafkaSource"]

T = TypeVar("T")

#: The names of topics.
NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
#: Seconds that one look for messages, and one question to the broker, may take.
LOOK, ASK = 0.2, 2.0
#: The most that the client library fetches in advance, in KiB.
FETCHED = 16_384
#: Seconds between looks for new partitions, and between attempts to reach the broker.
PARTITIONS, AGAIN = 30.0, 1.0


class KafkaSource(Source):
    """A topic of a Kafka cluster."""

    def __init__(self, address: Address, options: Options) -> None:
        super().__init__(options)
        for topic in (address.topic, options.publish):
            if topic is not None and NAME.fullmatch(topic) is None:
                raise ValueError(f"{topic!r} is no topic of Kafka: use letters, digits, . _ and -")
        if options.publish == address.topic:
            raise ValueError("predictions need another topic than the messages")
        self.address = address
        shared = {
            "bootstrap.servers": address.broker,
            "client.id": options.client,
            "reconnect.backoff.ms": 200,
            "reconnect.backoff.max.ms": 10_000,
            "logger": _quiet(),
            **options.settings,
        }
        own = {
            "group.id": options.client,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "earliest",
            "queued.min.messages": options.unacknowledged,
            "queued.max.messages.kbytes": FETCHED,
            "error_cb": self._on_error,
        }
        try:
            self._consumer = Consumer({**shared, **own})
            self._producer = None
            if options.publish is not None:
                # Time is no reason to give up an answer.
                self._producer = Producer({**shared, "message.timeout.ms": 0})
        except KafkaException as error:
            raise ValueError(f"Kafka refuses the settings: {error.args[0].str()}") from None
        self._parts: set[int] = set()
        self._asked = -float("inf")
        self._most = min(TOGETHER, options.unacknowledged)
        self._thread = ThreadPoolExecutor(1, "kafka")

    def __str__(self) -> str:
        return str(self.address)

    @property
    def waiting(self) -> int:
        """The number of messages that are received and not taken yet."""
        return 0  # they wait in the client library, which bounds them

    async def start(self) -> None:
        """Begin to connect. `take` does so."""

    async def take(self) -> list[Message]:
        """Return the next messages in order, at least one."""
        while True:
            found = await self._run(self._look)
            if found:
                return found

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        """Commit the offsets after messages to the group."""
        last = {message.part: message.offset for message in messages}
        offsets = [
            TopicPartition(self.address.topic, part, offset + 1)
            for part, offset in last.items()
            if part is not None and offset is not None
        ]

        def commit() -> None:
            try:
                self._consumer.commit(offsets=offsets, asynchronous=False)
            except KafkaException as error:  # the store knows them all the same
                self.options.note("not committed", stream=str(self), reason=error.args[0].str())

        await self._run(commit)

    async def publish(self, answers: Sequence[Outgoing]) -> int:
        """Publish answers, wait until the broker has them, and return how many it refused."""
        return await self._run(lambda: self._publish(answers))

    async def close(self) -> None:
        """Disconnect. What was not committed comes again."""
        self.closing = True
        await self._run(self._consumer.close)
        await asyncio.to_thread(self._thread.shutdown)

    # Called in the thread of the source

    def _look(self) -> list[Message]:
        now = time.monotonic()
        due = self._asked + (AGAIN if not self.connected or not self._parts else PARTITIONS)
        if now >= due:
            self._asked = now
            self._assign()
        if not self._parts:
            time.sleep(LOOK)
            return []
        found: list[Message] = []
        for each in self._consumer.consume(self._most, LOOK):
            error = each.error()
            if error is None:
                found.append(self._message(each))
            else:
                self._on_error(error)
        return found

    def _message(self, each: Any) -> Message:
        body: bytes = each.value() or b""
        part, offset = each.partition(), each.offset()
        origin = {"topic": each.topic(), "partition": part, "offset": offset}
        small = len(body) <= self.options.message_bytes
        return Message(body if small else None, len(body), origin, part, offset, each.key())

    def _assign(self) -> None:
        """Begin to read partitions that are not read yet."""
        topic = self.address.topic
        try:
            found = self._consumer.list_topics(topic, timeout=ASK).topics[topic]
            if found.error is not None:
                raise KafkaException(found.error)
            if not found.partitions:
                self.changed(f"{self.address.broker} has no topic {topic}")
                return
            new = sorted(set(found.partitions) - self._parts)
            if new:
                asked = [TopicPartition(topic, part) for part in new]
                committed = self._consumer.committed(asked, timeout=ASK)
                begin = [self._begin(each) for each in committed]
                self._consumer.incremental_assign(begin)
                self._parts.update(new)
        except KafkaException as error:
            self.changed(f"{self.address.broker}, topic {topic}: {error.args[0].str()}")
            return
        self.changed(None)

    def _begin(self, committed: TopicPartition) -> TopicPartition:
        """Return where to begin with a partition.

        If the store has messages of it, begin after them, or with those of the last that were not
        committed, whose answers may not be published.
        """
        topic, part, group = self.address.topic, committed.partition, committed.offset
        if committed.error is not None:
            raise KafkaException(committed.error)
        own = self.options.positions().get(part)
        low, high = self._consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=ASK)
        if own is not None and own > high:
            self.options.note(
                "the topic was made anew: it is read from its beginning",
                stream=str(self), partition=part, stored=own, broker=high,
            )  # fmt: skip
            self.options.forget(part)
            own, group = None, -1
        if own is not None:
            begin = min(own, max(own - self._most, group))
        else:
            begin = group if group >= 0 else OFFSET_BEGINNING
        return TopicPartition(topic, part, max(begin, low) if begin >= 0 else OFFSET_BEGINNING)

    def _publish(self, answers: Sequence[Outgoing]) -> int:
        topic = self.options.publish
        assert self._producer is not None and topic is not None
        refused: list[str] = []
        left = len(answers)

        def delivered(error: KafkaError | None, _: Any) -> None:
            nonlocal left
            left -= 1
            if error is not None:
                refused.append(error.str())

        for answer in answers:
            while True:
                try:
                    self._producer.produce(
                        topic,
                        answer.body,
                        answer.message.handle,
                        on_delivery=delivered,
                    )
                    break
                except BufferError:
                    if self.closing:
                        return len(refused)
                    self._producer.poll(LOOK)
        while left and not self.closing:
            self._producer.poll(LOOK)
        if refused:
            self.options.note("not published", stream=str(self), reason=refused[0])
        return len(refused)

    def _on_error(self, error: KafkaError) -> None:
        """Note an error. The client library goes on by itself."""
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            if self.connected:
                self.changed(f"no broker answers at {self.address.broker}")
        elif error.code() != KafkaError._TRANSPORT:  # one connection of several
            self.changed(f"{self.address.broker}: {error.str()}")

    # Implementation

    async def _run(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)


def _quiet() -> logging.Logger:
    """Return a logger that writes nothing: errors are noted by the source."""
    logger = logging.Logger("kafka")
    logger.addHandler(logging.NullHandler())
    return logger
