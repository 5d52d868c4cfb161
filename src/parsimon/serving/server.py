"""The process of a server: options, its log, and its end."""

from __future__ import annotations

import gc
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from parsimon._files import naming
from parsimon.persistence import load
from parsimon.serving.connecting import StreamSettings, connected
from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.routes import make_app
from parsimon.serving.security import Access, is_loopback
from parsimon.serving.service import Service
from parsimon.tables import TableModel

__all__ = ["Settings", "run"]

#: Seconds after which a thread gives way to another. The default of Python is 5 ms, for which
#: requests would wait while the learner computes.
SWITCH = 0.0005
#: Seconds until connections are closed at the end.
GRACE = 10


@dataclass
class Settings:
    """How to run a server. Without a token, only this machine can ask.

    Parameters
    ----------
    store : Path
        The folder of the store.
    name : str, default="default"
        The name of the first model.
    model : Path or None, default=None
        A model file that the first model begins with, if the store does not have it yet.
    target : str or None, default=None
        The target of the first model, if it begins empty.
    options : dict, default={}
        Further parameters of `TableModel` for a model that begins empty.
    host, port : str and int, default="127.0.0.1" and 8000
        The address. Port 0 takes a free port.
    token : str or None, default=None
        The token that requests need.
    open : bool, default=False
        Whether another layer guards the server, so that other addresses need no token.
    hosts : tuple of str, default=()
        Names that the Host header may have, besides those of this machine.
    stream : StreamSettings or None, default=None
        Messages of a broker for the first model.
    limits : Limits
        What is accepted and kept.
    """

    store: Path
    name: str = "default"
    model: Path | None = None
    target: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    open: bool = False
    hosts: tuple[str, ...] = ()
    stream: StreamSettings | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def access(self) -> Access:
        """Who may ask. An address of other machines needs a token, or the word that it is open."""
        if not is_loopback(self.host) and self.token is None and not self.open:
            raise ValueError(
                f"{self.host} can be reached from other machines: give a token (--token-file), "
                "or say that another layer guards the server (--open)"
            )
        named = () if self.host in ("0.0.0.0", "::") else (self.host.lower(),)
        return Access((*(host.lower() for host in self.hosts), *named), self.token)


def run(settings: Settings) -> int:
    """Run a server until SIGTERM or Ctrl-C, and return the exit code."""
    access = settings.access
    note = _notes()
    service = Service(settings.store, settings.limits, note)
    try:
        begin(service, settings)
        lifespan = None
        if settings.stream is not None:
            lifespan = connected(service, settings.name, settings.stream).running
        sys.setswitchinterval(SWITCH)
        # What is there now stays. Without this, each full collection takes 0.1 s.
        gc.collect()
        gc.freeze()
        with _bound(settings.host, settings.port) as bound:
            config = uvicorn.Config(
                make_app(service, access, lifespan),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off" if lifespan is None else "on",
                ws="none",
                timeout_graceful_shutdown=GRACE,
                h11_max_incomplete_event_size=1 << 16,
            )
            port = bound.getsockname()[1]
            named = f"[{settings.host}]" if ":" in settings.host else settings.host
            note("started", url=f"http://{named}:{port}", models=list(service.models))
            uvicorn.Server(config).run(sockets=[bound])
    finally:
        service.close()
        note("stopped")
    return 0


def begin(service: Service, settings: Settings) -> None:
    """Add the first model, unless the store has it."""
    if settings.name in service.models:
        found = service.models[settings.name].learner.model.target
        if settings.target not in (None, found):
            raise ValueError(
                f"the store has a model {settings.name!r} of {found!r}, not of {settings.target!r}"
            )
        return
    if settings.model is not None:
        model = load(settings.model)
        if not isinstance(model, TableModel):
            raise ValueError(f"{settings.model} holds no model of a table")
        if settings.target not in (None, model.target):
            raise ValueError(f"{settings.model} predicts {model.target!r}")
    elif settings.target is not None:
        model = TableModel(settings.target, **settings.options)
    else:
        return
    try:
        service.create(settings.name, model)
    except Refused as error:
        raise ValueError(error.message) from None


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address. Errors name it."""
    with naming(f"{host}:{port}"):
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen()  # requests wait from now on, and are not refused
        except BaseException:
            bound.close()
            raise
    return bound


def _notes() -> Callable[..., None]:
    """Return a function that writes lines of JSON to standard error."""
    lock = threading.Lock()

    def note(message: str, **values: Any) -> None:
        line = json.dumps({"at": round(time.time(), 3), "message": message, **values}, default=str)
        with lock:
            print(line, file=sys.stderr, flush=True)

    return note
