"""The error that ends a command."""

from __future__ import annotations

__all__ = ["Failure"]


class Failure(Exception):
    """An error that ends a command. Its message is a line or two for the user."""
