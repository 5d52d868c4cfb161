"""``parsimon serve`` under steady load for an hour: memory and disk stay flat, and nothing is lost.

    python tests/soak/serving_hour.py [--minutes 60]

Four clients predict, label and learn, and another looks at what the page looks at. The bounds of
the log and of pending ids are small, so that they are reached early. Memory in the last quarter
must be that of the second quarter, up to a twentieth and 8 MB.
"""

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from serving import Process, example_rows

from parsimon.client import Client
from parsimon.persistence.files import loads

CLIENTS = 4
OPTIONS = ("--intervals", 0.9, "--pending", 2000, "--log-entries", 500, "--checkpoint-seconds", 5)


class Load:
    """Clients that send requests until they are stopped, and how long each request took."""

    def __init__(self, url):
        self.url, self.stopped = url, threading.Event()
        self.latencies = {"predict": [], "label": [], "learn": []}
        self.rows, self.failures = [0] * CLIENTS, []
        self.threads = [threading.Thread(target=self.client, args=(i,)) for i in range(CLIENTS)]
        self.threads.append(threading.Thread(target=self.watch))

    def timed(self, name, action):
        began = time.perf_counter()
        found = action()
        self.latencies[name].append(time.perf_counter() - began)
        return found

    def client(self, number):
        client, at = Client(self.url), number * 10**8
        try:
            while not self.stopped.wait(0.02):
                rows = example_rows(10, seed=at, start=at)
                asked = [{k: v for k, v in row.items() if k != "y"} for row in rows]
                found = self.timed("predict", lambda: client.predict(asked))  # noqa: B023
                labels = {f["id"]: r["y"] for f, r in zip(found[:7], rows, strict=False)}
                self.timed("label", lambda: client.label(labels))  # noqa: B023
                self.timed("learn", lambda: client.learn(rows[7:]))  # noqa: B023
                self.rows[number] += 10
                at += 10
        except Exception as error:
            self.failures.append(repr(error))

    def watch(self):
        client = Client(self.url)
        try:
            while not self.stopped.wait(1.0):
                for path in ("/models", "/models/default", "/models/default/history", "/metrics"):
                    client.request("GET", path)
        except Exception as error:
            self.failures.append(repr(error))


def memory(pid):
    """Return the resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory() as folder:
        server = Process(folder, "--target", "y", *OPTIONS)
        server.start()
        try:
            Client(server.url).learn(example_rows(2000), wait=True)
            load = Load(server.url)
            for thread in load.threads:
                thread.start()
            until, megabytes, disk = time.time() + 60 * minutes, [], []
            while time.time() < until and not load.failures:
                time.sleep(min(5.0, minutes))
                megabytes.append(memory(server.process.pid))
                disk.append(sum(f.stat().st_size for f in Path(folder).iterdir()) / 1e6)
            load.stopped.set()
            for thread in load.threads:
                thread.join()
            assert not load.failures, load.failures
            model = loads(Client(server.url).download())
            assert server.end() in (0, 143)
        finally:
            if server.process.poll() is None:
                server.kill()
    report(load, megabytes, disk, minutes)
    assert model.n_rows_ == 2000 + sum(load.rows), "rows were lost"
    quarter = len(megabytes) // 4
    early, late = np.mean(megabytes[quarter : 2 * quarter]), np.mean(megabytes[-quarter:])
    assert late <= 1.05 * early + 8.0, f"memory grew from {early:.0f} to {late:.0f} MB"


def report(load, megabytes, disk, minutes):
    """Print memory, disk and latencies."""
    print(f"{sum(load.rows)} rows in {minutes:g} minutes from {CLIENTS} clients, none lost")
    quarter = max(1, len(megabytes) // 4)
    for name, values in (("memory", megabytes), ("disk", disk)):
        each = [np.mean(values[i * quarter : (i + 1) * quarter]) for i in range(4)]
        shown = ", ".join(f"{value:.1f}" for value in each)
        print(f"{name} by quarter, MB: {shown}; most {max(values):.1f}")
    for name, values in load.latencies.items():
        p50, p99 = np.quantile(values, [0.5, 0.99]) * 1e3
        most = max(values) * 1e3
        print(
            f"{name:8} {len(values):8} calls, ms: p50 {p50:.1f}, p99 {p99:.1f}, longest {most:.0f}"
        )


if __name__ == "__main__":
    main()
