"""Errors that become answers."""

from __future__ import annotations

__all__ = ["Refused", "StoreFailure"]


class Refused(Exception):
    """A request that is refused. `status` is the HTTP status, and the message says what to do.

    >>> Refused(404, "there is no model 'prize'").status
    404
    """

    def __init__(self, status: int, message: str, **details: object) -> None:
        self.status, self.message, self.details = status, message, details
        super().__init__(message)


class StoreFailure(Refused):
    """The store cannot be written, for example because the disk is full. Nothing was written."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            503, f"the store cannot be written: {reason}; nothing was stored, so try again later"
        )
