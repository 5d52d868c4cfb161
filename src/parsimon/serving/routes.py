"""The addresses of a server, in one table."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from parsimon.serving import bodies, inbox, metrics, openapi, page
from parsimon.serving.errors import Refused
from parsimon.serving.models import Answer, loaded
from parsimon.serving.rows import encoded
from parsimon.serving.security import Access, Guard
from parsimon.serving.service import Service
from parsimon.serving.shortcut import Shortcut

__all__ = ["ROUTES", "Address", "make_app"]


@dataclass(frozen=True)
class Address:
    """One method of one path. `schema` names what the body must be, in `openapi.SCHEMAS`."""

    method: str
    path: str
    name: str
    summary: str
    handler: Callable[[Service, Request], Awaitable[Any]]
    schema: str | None = None
    answers: tuple[int, ...] = (200,)


# Rows


async def _predict(service: Service, request: Request) -> Answer:
    body = await bodies.json_of(request, service.limits, "Predict")
    return await service.predict(_name(request), body)


async def _learn(service: Service, request: Request) -> Answer:
    body = await bodies.json_of(request, service.limits, "Learn")
    return await service.learn(_name(request), body, bodies.key_of(request))


async def _predict_learn(service: Service, request: Request) -> Answer:
    body = await bodies.json_of(request, service.limits, "PredictLearn")
    return await service.learn(_name(request), body, bodies.key_of(request), predict=True)


async def _label(service: Service, request: Request) -> Answer:
    body = await bodies.json_of(request, service.limits, "Labels")
    return await service.label(_name(request), body, bodies.key_of(request))


# Models


async def _models(service: Service, request: Request) -> Answer:
    states = [await asyncio.to_thread(service.state, each) for each in service.all()]
    return {"models": states, "requests": request.app.state.requests.summary()}


async def _create(service: Service, request: Request) -> Answer:
    body = await bodies.json_of(request, service.limits, "Model")
    shadow_of = body.pop("shadow_of", None)
    model = openapi.new_model(body)
    served = await asyncio.to_thread(service.create, _name(request), model, shadow_of)
    return await asyncio.to_thread(service.state, served)


async def _state(service: Service, request: Request) -> Answer:
    served = service.model(_name(request))
    found = await asyncio.to_thread(service.state, served)
    found["relevance"] = await asyncio.to_thread(lambda: served.learner.published.relevance)
    found["snapshots"] = await asyncio.to_thread(service.snapshots, served)
    return found


async def _delete(service: Service, request: Request) -> Answer:
    await asyncio.to_thread(service.delete, _name(request))
    return {"deleted": _name(request)}


async def _history(service: Service, request: Request) -> Answer:
    served = service.model(_name(request))
    try:
        since = float(request.query_params.get("since", "0"))
    except ValueError:
        raise Refused(422, "since must be a time in seconds") from None
    return await asyncio.to_thread(served.learner.history.shown, since)


async def _bad_messages(service: Service, request: Request) -> Answer:
    served = service.model(_name(request))
    read = partial(inbox.bad_messages, model=served.number)
    return {"messages": await asyncio.to_thread(service.read, read)}


async def _download(service: Service, request: Request) -> Response:
    served = service.model(_name(request))
    # The file of the last place at which everything asked for so far is learned
    place = await service.stored(
        lambda c: c.execute(
            "SELECT coalesce(max(place), 0) FROM log WHERE model = ?", (served.number,)
        ).fetchone()[0]
    )
    found = await asyncio.wrap_future(served.learner.file(place))
    headers = {"x-parsimon-place": str(found.place)}
    return Response(found.data, headers=headers, media_type="application/octet-stream")


async def _upload(service: Service, request: Request) -> Answer:
    data = await bodies.file_of(request, service.limits)
    return await service.upload(_name(request), data)


async def _create_from_file(service: Service, request: Request) -> Answer:
    data = await bodies.file_of(request, service.limits)
    model = await asyncio.to_thread(loaded, data)
    served = await asyncio.to_thread(service.create, _name(request), model)
    return await asyncio.to_thread(service.state, served)


async def _snapshot(service: Service, request: Request) -> Answer:
    await bodies.json_of(request, service.limits, "Nothing")
    return await service.snapshot(_name(request), request.path_params["snapshot"])


async def _back(service: Service, request: Request) -> Answer:
    await bodies.json_of(request, service.limits, "Nothing")
    return await service.snapshot(_name(request), request.path_params["snapshot"], "back")


async def _drop(service: Service, request: Request) -> Answer:
    return await service.snapshot(_name(request), request.path_params["snapshot"], "drop")


async def _pause(service: Service, request: Request) -> Answer:
    await bodies.json_of(request, service.limits, "Nothing")
    return await service.control(_name(request), "pause")


async def _resume(service: Service, request: Request) -> Answer:
    await bodies.json_of(request, service.limits, "Nothing")
    return await service.control(_name(request), "resume")


# The server


async def _healthz(service: Service, request: Request) -> Answer:
    return {"status": "running"}


async def _readyz(service: Service, request: Request) -> Answer:
    failed = [each.name for each in service.all() if each.learner.failure is not None]
    if failed:
        raise Refused(503, f"these models no longer learn: {', '.join(failed)}")
    await service.stored(lambda c: None)  # the store answers
    # No token is needed here, so it does not tell which streams.
    connected = [stream.state()["connected"] for stream in service.streams]
    return {"status": "ready", **({"streams_connected": connected} if connected else {})}


async def _metrics(service: Service, request: Request) -> Response:
    text = await asyncio.to_thread(metrics.exposition, service, request.app.state.requests)
    return Response(text, media_type="text/plain; version=0.0.4")


async def _openapi(service: Service, request: Request) -> Answer:
    return openapi.description(ROUTES)


_MODEL = "/models/{name}"
_SNAPSHOT = _MODEL + "/snapshots/{snapshot}"
_CHANGES = (200, 404, 409, 422, 503)

#: The addresses. The OpenAPI description and the application are made from this table.
ROUTES = (
    Address("POST", _MODEL + "/predict", "predict", "Predict rows. Each gets an id for its label.",
            _predict, "Predict", _CHANGES),
    Address("POST", _MODEL + "/learn", "learn", "Learn rows with targets.",
            _learn, "Learn", _CHANGES),
    Address("POST", _MODEL + "/labels", "label", "Learn predicted rows, by their ids and labels.",
            _label, "Labels", (200, 404, 409, 410, 422, 503)),
    Address("POST", _MODEL + "/predict-learn", "predict_learn", "Predict rows, then learn them.",
            _predict_learn, "PredictLearn", _CHANGES),
    Address("GET", "/models", "models", "All models.", _models),
    Address("PUT", _MODEL, "create", "Add a model that begins empty.", _create, "Model",
            (200, 409, 422, 503)),
    Address("GET", _MODEL, "state", "The state of a model.", _state, None, (200, 404)),
    Address("DELETE", _MODEL, "delete", "Delete a model.", _delete, None, (200, 404, 409, 503)),
    Address("GET", _MODEL + "/history", "history", "Errors over time, last rows, last refusals.",
            _history, None, (200, 404, 422)),
    Address("GET", _MODEL + "/bad-messages", "bad_messages",
            "Messages of streams that could not be used, the newest first.",
            _bad_messages, None, (200, 404)),
    Address("GET", _MODEL + "/file", "download", "The model file, after all rows so far.",
            _download, None, (200, 404, 503)),
    Address("PUT", _MODEL + "/file", "upload", "Replace a model by that of a file.",
            _upload, "File", _CHANGES),
    Address("POST", _MODEL + "/file", "create_from_file", "Add a model from a file.",
            _create_from_file, "File", (200, 409, 422, 503)),
    Address("PUT", _SNAPSHOT, "snapshot", "Keep the model as it is under a name.",
            _snapshot, "Nothing", _CHANGES),
    Address("POST", _SNAPSHOT + "/back", "back", "Go back to a snapshot.",
            _back, "Nothing", _CHANGES),
    Address("DELETE", _SNAPSHOT, "drop", "Remove a snapshot.", _drop, None, _CHANGES),
    Address("POST", _MODEL + "/pause", "pause", "Refuse rows from now on.",
            _pause, "Nothing", (200, 404, 503)),
    Address("POST", _MODEL + "/resume", "resume", "Accept rows again.",
            _resume, "Nothing", (200, 404, 503)),
    Address("GET", "/healthz", "healthz", "Whether the process runs.", _healthz),
    Address("GET", "/readyz", "readyz", "Whether all models learn and the store can be written.",
            _readyz, None, (200, 503)),
    Address("GET", "/metrics", "metrics", "Numbers for Prometheus.", _metrics),
    Address("GET", "/openapi.json", "openapi", "This description.", _openapi),
)  # fmt: skip


def make_app(service: Service, access: Access | None = None, lifespan: Any = None) -> ASGIApp:
    """Return the application of a service. `lifespan` is what runs beside it."""
    requests = metrics.Requests()
    app = Starlette(
        routes=[
            *(Route(a.path, _endpoint(a, service, requests), methods=[a.method]) for a in ROUTES),
            *page.routes(),
        ],
        exception_handlers={HTTPException: _http_error, Exception: _unexpected(service)},
        lifespan=lifespan,
    )
    app.state.requests = requests
    predict = next(address for address in ROUTES if address.handler is _predict)
    short = Shortcut(app, _endpoint(predict, service, requests), _unexpected(service))
    return Guard(short, access or Access())


def _name(request: Request) -> str:
    return str(request.path_params["name"])


def _endpoint(
    address: Address, service: Service, requests: metrics.Requests
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        began = time.perf_counter()
        response: Response
        try:
            answer = await address.handler(service, request)
            response = answer if isinstance(answer, Response) else _json(answer)
        except Refused as error:
            _note_refusal(service, request, address, error)
            response = _refusal(error)
        except ClientDisconnect:
            response = Response(status_code=400)
        requests.add(address.name, response.status_code, time.perf_counter() - began)
        return response

    return endpoint


def _note_refusal(service: Service, request: Request, address: Address, error: Refused) -> None:
    """Let the history of a model have a refused request about rows."""
    served = service.models.get(request.path_params.get("name", ""))
    if served is None or address.name not in ("predict", "learn", "predict_learn", "label"):
        return
    if error.status == 410:
        served.count("expired_ids")
    if "place" not in error.details:  # else the learner has noted it
        served.learner.history.error(None, error.message)


def _json(answer: Any, status: int = 200) -> Response:
    return Response(encoded(answer), status, media_type="application/json")


def _refusal(error: Refused) -> Response:
    response = _json({"error": error.message, **error.details}, error.status)
    if error.status == 503:
        response.headers["retry-after"] = "1"
    return response


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "there is nothing at this address", 405: "this address has no such method"}
    response = _json({"error": messages.get(error.status_code, error.detail)}, error.status_code)
    response.headers.update(error.headers or {})
    return response


def _unexpected(service: Service) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handler(request: Request, error: Exception) -> Response:
        service.note("internal error", path=request.url.path, error=repr(error))
        message = "internal error, which is a bug: the log of the server says more"
        return _json({"error": message}, 500)

    return handler
