"""What a source of messages is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Message", "Options", "Outgoing", "Source"]

#: The most messages that are logged in one transaction.
TOGETHER = 256


class Message(NamedTuple):
    """A message.

    `body` is None if the message is larger than is accepted, and `size` is its size. `origin` says
    where it comes from. If the broker numbers messages, `part` and `offset` are the numbers, and
    no other message of the source has them. `handle` is what the source needs to acknowledge it.
    """

    body: bytes | None
    size: int
    origin: dict[str, Any]
    part: int | None = None
    offset: int | None = None
    handle: Any = None


class Outgoing(NamedTuple):
    """A body to publish, and the message that it answers."""

    body: bytes
    message: Message


@dataclass
class Options:
    """What every source is made with.

    Parameters
    ----------
    client : str
        The name by which the broker knows this server, also after a restart.
    publish : str or None
        The topic of predictions.
    unacknowledged : int
        The most messages that are taken before the first is acknowledged.
    message_bytes : int
        The largest message that is read.
    note : function
        Called with a message and named values, for the log of the process.
    positions : function
        Returns the offset of the next message that is not in the store, by part.
    forget : function
        Called with a part whose messages are numbered anew.
    password : str or None, default=None
        The password of the broker.
    settings : dict, default={}
        Further settings of the client library, by name.
    """

    client: str
    publish: str | None
    unacknowledged: int
    message_bytes: int
    note: Callable[..., None]
    positions: Callable[[], dict[int, int]]
    forget: Callable[[int], None]
    password: str | None = None
    settings: dict[str, str] = field(default_factory=dict)


class Source(ABC):
    """A topic of a broker. All methods are called in the event loop.

    A source connects again by itself, with growing pauses. `connected` says whether it is
    connected, and `problem` why not.
    """

    connected: bool = False
    closing: bool = False
    problem: str | None = None
    #: Messages that were lost because nobody asked the broker to keep them.
    dropped: int = 0

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    @abstractmethod
    def waiting(self) -> int:
        """The number of messages that are received and not taken yet."""

    @abstractmethod
    async def start(self) -> None:
        """Begin to connect."""

    @abstractmethod
    async def take(self) -> list[Message]:
        """Return the next messages in order, at least one."""

    @abstractmethod
    async def acknowledge(self, messages: Sequence[Message]) -> None:
        """Tell the broker that messages are in the store."""

    @abstractmethod
    async def publish(self, answers: Sequence[Outgoing]) -> int:
        """Publish answers, wait until the broker has them, and return how many it refused."""

    @abstractmethod
    async def close(self) -> None:
        """Disconnect. The broker keeps what was not acknowledged."""

    def changed(self, problem: str | None) -> None:
        """Note whether the source is connected: without a problem it is."""
        note, connected = self.options.note, problem is None
        if connected and not self.connected:
            note("stream connected", stream=str(self))
        elif not connected and problem != self.problem and not self.closing:
            note("stream not connected, trying again", stream=str(self), reason=problem)
        self.connected, self.problem = connected, problem
