"""A short way to the most frequent request."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Shortcut"]


class Shortcut:
    """An application that answers requests to predict itself, without searching for their route.

    All other requests go to the application that has the routes.
    """

    PATH = re.compile(r"/models/([^/]+)/predict")

    def __init__(
        self,
        app: ASGIApp,
        predict: Callable[[Request], Awaitable[Response]],
        unexpected: Callable[[Request, Exception], Awaitable[Response]],
    ) -> None:
        self.app, self.predict, self.unexpected = app, predict, unexpected

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        found = None
        if scope["type"] == "http" and scope["method"] == "POST":
            found = self.PATH.fullmatch(scope["path"])
        if found is None:
            await self.app(scope, receive, send)
            return
        scope["path_params"] = {"name": found[1]}
        request = Request(scope, receive)
        try:
            response = await self.predict(request)
        except Exception as error:
            response = await self.unexpected(request, error)
        await response(scope, receive, send)
