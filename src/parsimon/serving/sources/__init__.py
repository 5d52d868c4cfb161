"""Brokers whose messages become entries of the log.

A source gives messages, and acknowledges them when the stream says that they are in the store.

- `base`: what a source is, and its messages;
- `addresses`: the addresses of brokers;
- `mqtt`: MQTT 5, with paho-mqtt;
- `kafka`: Kafka, with confluent-kafka.
"""

from parsimon.serving.sources.addresses import Address
from parsimon.serving.sources.base import Message, Outgoing, Source

__all__ = ["Address", "Message", "Outgoing", "Source"]
