"""Load on ``parsimon serve``, beside an echo endpoint of the same framework.

    python benchmarks/serve_load.py [--seconds 5] [--connections 50]

The server and the echo run one after another in processes of their own, under the same load from
this process. Printed are requests per second and latencies in milliseconds. Learning is compared
with `TableModel.learn` in blocks of 100 rows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from serving import Process, example_rows

from parsimon import TableModel
from parsimon.client import Client

ECHO = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def echo(request):
    return Response(await request.body(), media_type="application/json")
app = Starlette(routes=[Route("/models/{name}/predict", echo, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), log_config=None, access_log=False, lifespan="off")
"""


async def _one(port: int, request: bytes, until: float, latencies: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        latencies.append(time.perf_counter() - began)
    writer.close()


async def _load(port: int, path: str, body: bytes, connections: int, seconds: float) -> list[float]:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    latencies: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(_one(port, request, until, latencies) for _ in range(connections)))
    return latencies


def measure(name: str, port: int, path: str, body: object, connections: int, seconds: float):
    """Print a line about a load, and return requests per second."""
    data = json.dumps(body).encode()
    asyncio.run(_load(port, path, data, connections, 0.5))
    found = asyncio.run(_load(port, path, data, connections, seconds))
    p50, p99 = np.quantile(found, [0.5, 0.99]) * 1e3
    rate = len(found) / seconds
    print(f"{name:34} {rate:8.0f} {p50:8.2f} {p99:8.2f} {max(found) * 1e3:8.2f}")
    return rate


def _echo(port: int) -> subprocess.Popen:
    echo = subprocess.Popen([sys.executable, "-c", ECHO, str(port)])
    for _ in range(200):
        try:
            asyncio.run(asyncio.open_connection("127.0.0.1", port))
            return echo
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the echo did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--connections", type=int, default=50)
    given = parser.parse_args()
    rows = example_rows(2000)
    one = {"rows": [{name: rows[0][name] for name in ("n", "a", "b")}]}
    path = "/models/default/predict"
    print(f"{'':34} {'per s':>8} {'p50 ms':>8} {'p99 ms':>8} {'longest':>8}")
    with tempfile.TemporaryDirectory() as folder:
        server = Process(folder, "--target", "y")
        server.start()
        client = Client(server.url)
        for first in range(0, 2000, 100):
            client.learn(rows[first : first + 100])
        client.download()
        echo = _echo(server.port + 1 if server.port < 65535 else server.port - 1)
        try:
            for connections in (1, given.connections, 200):
                at = server.port + 1 if server.port < 65535 else server.port - 1
                base = measure(
                    f"echo, {connections} connections", at, path, one, connections, given.seconds
                )
                for name, body in (
                    ("predict", {**one, "remember": False}),
                    ("predict with ids", one),
                ):
                    rate = measure(
                        f"{name}, {connections}",
                        server.port,
                        path,
                        body,
                        connections,
                        given.seconds,
                    )
                    print(f"{'':34} {rate / base:8.2f} of echo")
        finally:
            echo.kill()
            echo.wait()
        began = time.perf_counter()
        for i in range(40):
            client.learn(example_rows(100, seed=i, start=100 * i))
        client.download()
        over_http = 4000 / (time.perf_counter() - began)
        server.kill()
    model = TableModel("y")
    block = {name: [row[name] for row in rows] for name in rows[0]}
    model.learn(block)
    began = time.perf_counter()
    for i in range(40):
        each = example_rows(100, seed=i, start=100 * i)
        model.learn({name: [row[name] for row in each] for name in each[0]})
    alone = 4000 / (time.perf_counter() - began)
    print(
        f"learning, rows per second: {over_http:.0f} over HTTP, {alone:.0f} alone, "
        f"{over_http / alone:.2f} of it"
    )


if __name__ == "__main__":
    main()
