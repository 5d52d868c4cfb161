"""Streams by their addresses."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from parsimon.serving import inbox
from parsimon.serving.service import Service
from parsimon.serving.sources.addresses import Address
from parsimon.serving.sources.base import Options, Source
from parsimon.serving.streams import Stream

__all__ = ["StreamSettings", "connected", "read_settings"]


@dataclass
class StreamSettings:
    """Which messages a server takes.

    Parameters
    ----------
    address : Address
        The topic of the messages.
    publish : str or None, default=None
        The topic of predictions, at the same broker. None publishes nothing.
    client : str or None, default=None
        The name by which the broker knows this server: the client id of MQTT, the consumer group of
        Kafka. None means a name that the store keeps.
    key_column : str or None, default=None
        The column that holds the key, in messages that are one row.
    password : str or None, default=None
        The password of a user of MQTT.
    settings : dict, default={}
        Settings of the Kafka client, by name.
    """

    address: Address
    publish: str | None = None
    client: str | None = None
    key_column: str | None = None
    password: str | None = None
    settings: dict[str, str] = field(default_factory=dict)


def connected(service: Service, model: str, settings: StreamSettings) -> Stream:
    """Return a stream for a model. It begins when it runs."""
    if model not in service.models:
        raise ValueError("a stream needs a model: give its target (--target) or a file (--model)")
    number, name = service.models[model].number, str(settings.address)
    client = settings.client or service.store.run(partial(inbox.client_name, source=name))
    options = Options(
        client=client,
        publish=settings.publish,
        unacknowledged=service.limits.unacknowledged,
        message_bytes=service.limits.message_bytes,
        note=service.note,
        positions=lambda: service.read(partial(inbox.positions, model=number, source=name)),
        forget=lambda part: service.store.run(
            partial(inbox.forget, model=number, source=name, part=part)
        ),
        password=settings.password,
        settings=settings.settings,
    )
    stream = Stream(service, model, _source(settings.address, options), name, settings.key_column)
    service.streams.append(stream)
    return stream


def read_settings(path: Path) -> dict[str, str]:
    """Return the settings of a file with lines such as ``sasl.username=shop``."""
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{path}, line {number}: a setting is written as name=value")
        found[name.strip()] = value.strip()
    return found


def _source(address: Address, options: Options) -> Source:
    if address.scheme == "kafka":
        from parsimon.serving.sources.kafka import KafkaSource

        return KafkaSource(address, options)
    from parsimon.serving.sources.mqtt import MqttSource

    return MqttSource(address, options)
