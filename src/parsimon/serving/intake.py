"""Messages that are logged in one transaction, each of them once.

A message that cannot be used is kept with the reason. An error that concerns the server, and not
the message, is raised, so that the transaction is undone and all messages are tried again.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from parsimon.serving import inbox, keys
from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.models import Answer
from parsimon.serving.service import Action
from parsimon.serving.sources.base import Message
from parsimon.serving.store import attempted

__all__ = ["Intake", "Result", "Work", "concerns_message"]

#: Statuses of refusals that concern a message, and not the server.
OF_MESSAGES = (400, 410, 413, 422)
#: The table of the keys of messages.
KEYS = "message_keys"


@dataclass
class Work:
    """A message, and what is to be done with it. `reason` says why it cannot be used."""

    message: Message
    key: str | None = None
    action: Action | None = None
    kind: str = "predicted"
    reason: str | None = None
    warm: bool = True


class Result(NamedTuple):
    """What became of a message. `known` says that it was in the store before."""

    answer: Answer | None = None
    reason: str | None = None
    known: bool = False


class Intake:
    """The messages of a source for a model, by its number in the store."""

    def __init__(self, number: int, source: str, limits: Limits) -> None:
        self.number, self.source = number, source
        # A message is delivered again long after a crash, so the time of a key does not matter.
        self.limits = dataclasses.replace(limits, key_seconds=float("inf"))

    def written(self, c: sqlite3.Connection, work: Work) -> Result:
        """Log a message. It runs in the transaction of all messages that were taken together."""
        message, number = work.message, self.number
        part, offset = message.part, message.offset
        if part is None or offset is None:
            return self._attempt(c, work)
        if offset < inbox.next_offset(c, number, self.source, part):
            return self._before(c, work)
        result = self._attempt(c, work)
        inbox.advance(c, number, self.source, part, offset + 1)
        return result

    def _attempt(self, c: sqlite3.Connection, work: Work) -> Result:
        """Log a message, or keep it with the reason why it cannot be used."""
        action, body = work.action, work.message.body
        if action is None or body is None:
            # It may be in the log all the same: the model can have changed since then.
            found, error = attempted(c, lambda c: self._known(c, work))
            return found or self._rejected(c, work, work.reason or "")
        once = partial(
            keys.once,
            model=self.number,
            key=work.key,
            request=body,
            limits=self.limits,
            action=action,
            table=KEYS,
        )
        found, error = attempted(c, once)
        if error is None:
            return Result(found[0], None, found[1])
        if not isinstance(error, Refused):
            return self._rejected(c, work, f"internal error, which is a bug: {error!r}")
        if concerns_message(error):
            return self._rejected(c, work, error.message)
        raise error  # it concerns the server, and all messages are tried again

    def _before(self, c: sqlite3.Connection, work: Work) -> Result:
        """Return what became of a message that the broker delivers again."""
        found, error = attempted(c, lambda c: self._known(c, work))
        if error is not None:
            reason = "another message had this offset: was the topic made anew?"
            return self._rejected(c, work, reason)
        return found or Result(known=True)

    def _known(self, c: sqlite3.Connection, work: Work) -> Result | None:
        """Return the first answer to a message, if the key of the message is known."""
        if work.key is None or work.message.body is None:
            return None
        body = work.message.body
        answer = keys.known(c, self.number, work.key, body, self.limits, KEYS)
        return None if answer is None else Result(answer, known=True)

    def _rejected(self, c: sqlite3.Connection, work: Work, reason: str) -> Result:
        self.reject(c, work.message, reason)
        return Result(None, reason)

    def reject(self, c: sqlite3.Connection, message: Message, reason: str) -> None:
        """Keep a message that cannot be used."""
        inbox.reject(c, self.number, message.origin, reason, message.body, self.limits)


def concerns_message(error: Refused) -> bool:
    """Return whether a refusal concerns a message, and not the server.

    >>> concerns_message(Refused(422, "a bad row")), concerns_message(Refused(409, "paused"))
    (True, False)
    """
    return error.status in OF_MESSAGES or "ids" in error.details
