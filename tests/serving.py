"""Servers for tests: in a thread, and in a process that can be killed."""

import contextlib
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import uvicorn

from parsimon import TableModel
from parsimon.client import Client, ServerError
from parsimon.persistence.files import dumps, loads
from parsimon.serving import Limits, Service
from parsimon.serving.routes import make_app
from parsimon.serving.rows import block_of, decoded


@contextlib.contextmanager
def served(folder, limits=None, access=None, **model):
    """Give a client of a server in this process, and its service."""
    service = Service(Path(folder), limits or Limits())
    if model and "default" not in service.models:
        service.create("default", TableModel(**model))
    # With the protocol, asyncio sends small answers at once (TCP_NODELAY).
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.bind(("127.0.0.1", 0))
    config = uvicorn.Config(make_app(service, access), log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.005)
        token = None if access is None else access.token
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        yield Client(url, token=token, retries=0), service
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
        service.close()


def send(client, method, path, body=b"", **headers):
    """Send a raw request, and return status, headers and answer."""
    host, port = client.url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class Process:
    """``parsimon serve`` in a process of its own."""

    def __init__(self, folder, *options):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.command = [sys.executable, "-m", "parsimon.cli", "serve", "--port", str(self.port)]
        self.command += ["--store", str(folder), *map(str, options)]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            self.command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
        )
        for line in self.process.stderr:  # lines of JSON
            if json.loads(line)["message"] == "started":
                break
        else:
            raise AssertionError("the server did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def end(self):
        """Stop the server in the usual way, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        self.process.stderr.close()
        return code


def rows_of_log(folder, model=1):
    """Return the rows of each entry of a log, in order."""
    connection = sqlite3.connect(Path(folder) / "store.sqlite")
    try:
        found = connection.execute(
            "SELECT body FROM log WHERE model = ? AND kind = 'learn' ORDER BY place", (model,)
        ).fetchall()
    finally:
        connection.close()
    return [decoded(bytes(body)) for (body,) in found]


def learned_from(rows, model):
    """Return the file of a model that learned rows one entry after another."""
    model = loads(dumps(model))
    for entry in rows:
        model.learn(block_of(entry, model.column_kinds_, model.target))
    return dumps(model)


def example_rows(n, seed=0, start=0):
    """Return n rows whose first column is their number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).tolist()
    return [
        {"n": float(start + i), "a": a, "b": b, "y": float(np.sin(a) + b * b)}
        for i, (a, b) in enumerate(X)
    ]


def without_target(rows):
    return [{name: value for name, value in row.items() if name != "y"} for row in rows]


def refusal(action):
    """Return the error of an action that a server refuses."""
    with pytest.raises(ServerError) as caught:
        action()
    return caught.value


def refused_by_store(action):
    """Return the message of an action that is refused because the store cannot be written."""
    error = refusal(action)
    assert error.status == 503
    return str(error)
