"""Options of ``parsimon serve`` about messages of a broker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StreamAddress = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="URL",
        help="Take messages of a broker: mqtt://host/topic, mqtts://... or kafka://host/topic.",
    ),
]
PublishTopic = Annotated[
    str | None, typer.Option("--publish", help="The topic of predictions, at the same broker.")
]
KeyColumn = Annotated[
    str | None,
    typer.Option("--key", help="The column that holds the key, in messages that are one row."),
]
ClientName = Annotated[
    str | None,
    typer.Option(help="Client id of MQTT or group of Kafka. Default: a name of the store."),
]
KafkaConfig = Annotated[
    Path | None,
    typer.Option(help="A file with settings of the Kafka client, such as sasl.username=shop."),
]
