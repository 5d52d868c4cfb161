"""Load on ``parsimon serve``, beside an echo endpoint of the same framework.

    python benchmarks/serve_load.py [--seconds 3] [--rounds 5] [--connections 1 50 200]

The server and the echo run in processes of their own, under the same load from this process, in
turns. Printed are the median over the rounds of the requests per second and of their ratio to those
of the echo in the same round, latencies in milliseconds, and the time that the server computed per
request in microseconds. On a busy machine the last is the most reliable. Learning in calls of 100
rows is compared with `TableModel.learn`, also in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
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

PATH = "/models/default/predict"
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


def measure(port: int, path: str, body: object, connections: int, seconds: float) -> list[float]:
    """Return the latencies of the requests under a load."""
    return asyncio.run(_load(port, path, json.dumps(body).encode(), connections, seconds))


def cpu_seconds(pid: int) -> float:
    """Return the time that a process has computed, where the system tells it, else NaN."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compare(
    servers: dict[str, tuple[int, int]], bodies: dict[str, object], connections: int, given
) -> None:
    """Print a line about each endpoint. The first is the one that the others are compared with.

    `servers` has the port and the process of each.
    """
    computed = dict.fromkeys(bodies, 0.0)
    found: dict[str, list[list[float]]] = {name: [] for name in bodies}
    for name, body in bodies.items():
        measure(servers[name][0], PATH, body, connections, 0.3)
    for _ in range(given.rounds):
        for name, body in bodies.items():
            port, pid = servers[name]
            before = cpu_seconds(pid)
            found[name].append(measure(port, PATH, body, connections, given.seconds))
            computed[name] += cpu_seconds(pid) - before
    base = [len(each) for each in next(iter(found.values()))]
    for name, rounds in found.items():
        latencies = np.concatenate(rounds) * 1e3
        p50, p99 = np.quantile(latencies, [0.5, 0.99])
        rate = np.median([len(each) for each in rounds]) / given.seconds
        share = np.median([len(each) / n for each, n in zip(rounds, base, strict=True)])
        print(
            f"{name:18} {connections:6} {rate:8.0f} {share:8.2f} {p50:8.2f} {p99:8.2f} "
            f"{latencies.max():8.2f} {1e6 * computed[name] / len(latencies):8.0f}"
        )


def _echo() -> tuple[int, subprocess.Popen]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    echo = subprocess.Popen([sys.executable, "-c", ECHO, str(port)])
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return port, echo
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the echo did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 50, 200])
    given = parser.parse_args()
    rows = example_rows(2000)
    one = {"rows": [{name: rows[0][name] for name in ("n", "a", "b")}]}
    bodies = {"echo": one, "predict": {**one, "remember": False}, "predict with ids": one}
    with tempfile.TemporaryDirectory() as folder:
        server = Process(folder, "--target", "y")
        server.start()
        client = Client(server.url)
        for first in range(0, 2000, 100):
            client.learn(rows[first : first + 100])
        client.download()
        at, echo = _echo()
        try:
            print(
                f"{'':18} {'conns':>6} {'per s':>8} {'of echo':>8} {'p50 ms':>8} {'p99 ms':>8} "
                f"{'longest':>8} {'CPU us':>8}"
            )
            own = (server.port, server.process.pid)
            servers = {name: (at, echo.pid) if name == "echo" else own for name in bodies}
            for connections in given.connections:
                compare(servers, bodies, connections, given)
        finally:
            echo.kill()
            echo.wait()
        _compare_learning(client, rows, given.rounds)
        server.kill()


def _compare_learning(client: Client, rows: list, rounds: int) -> None:
    model = TableModel("y")
    model.learn(_block(rows))
    over_http, alone = [], []
    for i in range(rounds):
        blocks = [example_rows(100, seed=20 * i + j, start=100 * j) for j in range(20)]
        began = time.perf_counter()
        for block in blocks:
            client.learn(block)
        client.download()  # the answer comes after all rows were learned
        over_http.append(2000 / (time.perf_counter() - began))
        began = time.perf_counter()
        for block in blocks:
            model.learn(_block(block))
        alone.append(2000 / (time.perf_counter() - began))
    share = np.median(np.divide(over_http, alone))
    print(
        f"learning, rows per second: {np.median(over_http):.0f} over HTTP, "
        f"{np.median(alone):.0f} alone, {share:.2f} of it"
    )


def _block(rows: list) -> dict:
    return {name: [row[name] for row in rows] for name in rows[0]}


if __name__ == "__main__":
    main()
