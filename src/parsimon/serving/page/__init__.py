"""The page that shows a model: static files, which ask the server for everything else."""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

__all__ = ["routes"]

#: The files by path, with their types.
FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/charts.js": ("charts.js", "text/javascript"),
}


def routes() -> list[Route]:
    """Return the routes of the files. They are read once.

    >>> [route.path for route in routes()]
    ['/', '/page.css', '/page.js', '/charts.js']
    """
    return [_route(path, name, kind) for path, (name, kind) in FILES.items()]


def _route(path: str, name: str, kind: str) -> Route:
    data = files(__name__).joinpath(name).read_bytes()

    async def endpoint(request: Request) -> Response:
        return Response(data, media_type=kind)

    return Route(path, endpoint, methods=["GET"])
