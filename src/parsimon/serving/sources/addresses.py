"""Addresses of topics, such as ``mqtt://broker:1883/shop/orders``."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["PORTS", "Address"]

#: The ports of schemes, if an address has none.
PORTS = {"mqtt": 1883, "mqtts": 8883, "kafka": 9092}
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")


class Address(NamedTuple):
    """A topic of a broker. Everything after the third slash is the topic, also ``#``.

    >>> address = Address.parsed("mqtt://shop@broker/sensors/#")
    >>> address.user, address.hosts, address.topic
    ('shop', (('broker', 1883),), 'sensors/#')
    >>> str(address)
    'mqtt://broker:1883/sensors/#'
    """

    scheme: str
    user: str | None
    hosts: tuple[tuple[str, int], ...]
    topic: str

    @classmethod
    def parsed(cls, text: str) -> Address:
        """Return the address of a text, or raise ValueError."""
        scheme, separator, rest = text.partition("://")
        place, slash, topic = rest.partition("/")
        if scheme not in PORTS or not separator:
            known = ", ".join(f"{each}://" for each in PORTS)
            raise ValueError(f"a stream begins with one of {known}")
        if not (slash and topic):
            raise ValueError(f"a stream needs a topic: {scheme}://host/topic")
        user, at, hosts = place.rpartition("@")
        if ":" in user:
            raise ValueError(
                "a password in an address can be seen by others: leave it out, and set the "
                "variable PARSIMON_BROKER_PASSWORD"
            )
        if user and scheme == "kafka":
            raise ValueError("users of Kafka are set in a file: --kafka-config")
        found = tuple(_host(each, PORTS[scheme]) for each in hosts.split(","))
        if len(found) > 1 and scheme != "kafka":
            raise ValueError("a stream of MQTT has one host")
        return cls(scheme, user if at else None, found, topic)

    @property
    def broker(self) -> str:
        """The hosts with their ports."""
        return ",".join(f"{host}:{port}" for host, port in self.hosts)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.broker}/{self.topic}"


def _host(text: str, port: int) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    if match is None or not 0 < int(match[2] or port) < 65536:
        raise ValueError(f"{text!r} is no host: use host or host:port")
    return match[1], int(match[2] or port)
