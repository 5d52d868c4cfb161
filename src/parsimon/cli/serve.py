"""``parsimon serve``: a server of models that predict and learn."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from parsimon._extras import install_command
from parsimon.cli import options as o
from parsimon.cli import stream_options as stream
from parsimon.cli.errors import Failure

if TYPE_CHECKING:
    from parsimon.serving.connecting import StreamSettings

__all__ = ["serve"]

#: The variables of the environment that can hold the token, and the password of a broker.
TOKEN, PASSWORD = "PARSIMON_TOKEN", "PARSIMON_BROKER_PASSWORD"
#: The extra of each scheme, with the package and the module that it installs.
EXTRAS = {
    "mqtt": ("mqtt", "paho-mqtt", "paho"),
    "mqtts": ("mqtt", "paho-mqtt", "paho"),
    "kafka": ("kafka", "confluent-kafka", "confluent_kafka"),
}


def serve(
    target: o.ServedTarget = None,
    model: o.ServedModel = None,
    store: o.StoreFolder = Path("parsimon-store"),
    name: o.ServedName = "default",
    intervals: o.ServedIntervals = None,
    host: o.Host = "127.0.0.1",
    port: o.Port = 8000,
    token_file: o.TokenFile = None,
    open: o.Open = False,
    allow_host: o.AllowHost = None,
    from_: stream.StreamAddress = None,
    publish: stream.PublishTopic = None,
    key: stream.KeyColumn = None,
    client_name: stream.ClientName = None,
    kafka_config: stream.KafkaConfig = None,
    pending: o.PendingMost = None,
    pending_seconds: o.PendingSeconds = None,
    log_entries: o.LogEntries = None,
    checkpoint_seconds: o.CheckpointSeconds = None,
) -> int:
    """Answer and learn over HTTP. What is acknowledged is never lost.

    The server runs until Ctrl-C or SIGTERM. Started again with the same store, it goes on.

    \b
    Examples:
      parsimon serve --target price --intervals 0.9
      parsimon serve --target price --from mqtt://localhost/orders --publish prices
      parsimon serve --model y.parsimon --store y-store --port 8080
    """
    try:
        from parsimon.serving.server import Settings, run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise Failure(f"serve needs {error.name}: {install_command('serve')}") from None
    from parsimon.serving.limits import Limits

    if intervals is not None and not 0.0 < intervals < 1.0:
        raise Failure("--intervals is a share between 0 and 1, such as 0.9")
    limits = {
        "pending": pending,
        "pending_seconds": pending_seconds,
        "log_entries": log_entries,
        "checkpoint_seconds": checkpoint_seconds,
    }
    settings = Settings(
        store,
        name=name,
        model=model,
        target=target,
        options={} if intervals is None else {"intervals": intervals},
        host=host,
        port=port,
        token=_token(token_file),
        open=open,
        hosts=tuple(allow_host or ()),
        limits=Limits(**{k: v for k, v in limits.items() if v is not None}),  # type: ignore[arg-type]
    )
    stream_options = (publish, key, client_name, kafka_config)
    if from_ is not None:
        settings.stream = _stream(from_, *stream_options)
    elif any(each is not None for each in stream_options):
        raise Failure("--publish, --key, --client-name and --kafka-config need --from")
    return run(settings)


def _stream(
    address: str,
    publish: str | None,
    key: str | None,
    client: str | None,
    config: Path | None,
) -> StreamSettings:
    """Return the settings of a stream."""
    from parsimon.serving.connecting import StreamSettings, read_settings
    from parsimon.serving.sources import Address

    try:
        found = Address.parsed(address)
    except ValueError as error:
        raise Failure(f"--from: {error}") from None
    extra, package, module = EXTRAS[found.scheme]
    if find_spec(module) is None:
        raise Failure(f"--from {found.scheme}:// needs {package}: {install_command(extra)}")
    if config is not None and extra != "kafka":
        raise Failure("--kafka-config is for kafka://")
    return StreamSettings(
        found,
        publish=publish,
        client=client,
        key_column=key,
        password=os.environ.get(PASSWORD) or None,
        settings={} if config is None else read_settings(config),
    )


def _token(path: Path | None) -> str | None:
    """Return the token of a file or of the environment, or None."""
    if path is None:
        return os.environ.get(TOKEN) or None
    token = path.read_text().strip()
    if not token:
        raise Failure(f"{path} is empty")
    return token
