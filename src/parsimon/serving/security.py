"""Who may ask: the Host header, a token, and headers that keep browsers strict.

A page of another site cannot reach a server on this machine: its name is not in the Host header
that is accepted (DNS rebinding), and its forms cannot send JSON (cross-site posts).
"""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parsimon.serving.errors import Refused
from parsimon.serving.rows import encoded

__all__ = ["Access", "Guard", "is_loopback"]

#: The least length of a token.
LEAST_TOKEN = 16
#: Paths that need no token: they tell nothing about models.
OPEN = ("/healthz", "/readyz", "/", "/page.js", "/charts.js", "/page.css", "/openapi.json")
HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
#: The headers of answers that no browser shows or keeps. Each header takes time in every answer.
FEW_HEADERS = [(b"x-content-type-options", b"nosniff")]


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Parameters
    ----------
    hosts : tuple of str, default=()
        Names that the Host header may have, besides those of this machine. "*" accepts all names,
        which is for a server behind a proxy that checks them.
    token : str or None, default=None
        The token that requests must have in the header ``Authorization: Bearer TOKEN``.
    """

    hosts: tuple[str, ...] = ()
    token: str | None = None

    def __post_init__(self) -> None:
        if self.token is not None and (
            len(self.token) < LEAST_TOKEN
            or not self.token.isascii()
            or not self.token.isprintable()
        ):
            raise ValueError(f"the token must have at least {LEAST_TOKEN} ASCII characters")

    def check(self, scope: Scope) -> None:
        """Raise `Refused` unless a request is allowed."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        host = _name_of(headers.get(b"host", b"").decode("latin-1"))
        if "*" not in self.hosts and host not in self.hosts and not is_loopback(host):
            raise Refused(421, "this name of the server is not accepted: give it with --allow-host")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise Refused(403, "requests from pages of other sites are not accepted")
        if self.token is not None and scope["path"] not in OPEN:
            given = headers.get(b"authorization", b"")
            expected = b"Bearer " + self.token.encode()
            if not hmac.compare_digest(given, expected):
                raise Refused(401, "a token is needed: Authorization: Bearer TOKEN")


class Guard:
    """An application that is asked only by those who may."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or hand it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        strict = FEW_HEADERS if scope["method"] == "POST" else HEADERS

        async def send_strict(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *strict]
            await send(message)

        try:
            self.access.check(scope)
        except Refused as error:
            await _refuse(send_strict, error)
            return
        await self.app(scope, receive, send_strict)


def is_loopback(host: str) -> bool:
    """Return whether a name or address means this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("example.org")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """Return a Host header without its port.

    >>> _name_of("[::1]:8000"), _name_of("LocalHost:80"), _name_of("localhost")
    ('[::1]', 'localhost', 'localhost')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


async def _refuse(send: Any, error: Refused) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": encoded({"error": error.message})})
