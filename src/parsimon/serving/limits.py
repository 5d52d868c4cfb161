"""What a server accepts and keeps."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Bounds of requests, memory and disk. A request beyond a bound is refused.

    Parameters
    ----------
    body_bytes : int, default=16 MiB
        The largest JSON body.
    upload_bytes : int, default=256 MiB
        The largest model file.
    body_seconds : float, default=30.0
        The longest time that a client may take to send a body.
    rows : int, default=10_000
        The most rows of one call.
    columns : int, default=1000
        The most columns of a row.
    text : int, default=10_000
        The most characters of a text.
    models : int, default=16
        The most models of a store.
    snapshots : int, default=20
        The most snapshots of a model.
    pending : int, default=100_000
        The number of ids that a model keeps. Older ids are dropped, with or without a label.
    pending_seconds : float, default=86_400.0
        The time after which an id expires. A label that comes later is refused with 410.
    keys : int, default=100_000
        The number of idempotency keys that are kept, over all models.
    key_seconds : float, default=86_400.0
        The time after which an idempotency key is forgotten.
    backlog_rows : int, default=100_000
        The most rows in the log that are not learned yet. Beyond it, rows are refused with 503.
    log_entries : int, default=10_000
        The number of entries of the log that are kept after they are in a checkpoint.
    log_bytes : int, default=256 MiB
        The most bytes of these entries.
    checkpoint_seconds : float, default=10.0
        The time between checkpoints. Larger values write less, and make a restart after a crash
        slower, because more rows are learned again.
    unacknowledged : int, default=1000
        The most messages of a stream that the server takes before it acknowledges the first.
    message_bytes : int, default=1 MiB
        The largest message of a stream.
    bad_messages : int, default=1000
        The number of messages that are kept because they could not be used.
    publish_share : float, default=0.1
        The part of the learner's time that is spent on copies for readers. Larger values make
        predictions follow learning faster, and learning slower.

    >>> Limits(rows=100).rows
    100
    """

    body_bytes: int = 16 << 20
    upload_bytes: int = 256 << 20
    body_seconds: float = 30.0
    rows: int = 10_000
    columns: int = 1000
    text: int = 10_000
    models: int = 16
    snapshots: int = 20
    pending: int = 100_000
    pending_seconds: float = 86_400.0
    keys: int = 100_000
    key_seconds: float = 86_400.0
    backlog_rows: int = 100_000
    log_entries: int = 10_000
    log_bytes: int = 256 << 20
    checkpoint_seconds: float = 10.0
    unacknowledged: int = 1000
    message_bytes: int = 1 << 20
    bad_messages: int = 1000
    publish_share: float = 0.1
