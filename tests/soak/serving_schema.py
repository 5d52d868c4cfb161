"""Requests that schemathesis makes from the OpenAPI description: no 5xx, and nothing that hangs.

    python tests/soak/serving_schema.py [--requests 10000] [--seed 0]

Requests go to a server in a process of its own, with a model that has learned. They are valid and
invalid ones, in turns over all addresses. Afterwards the server still learns.
"""

import argparse
import collections
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import schemathesis
from drawing import drawn
from hypothesis import given, seed
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from serving import Process, example_rows

from parsimon.client import Client

#: Seconds after which a request hangs.
LONGEST = 20.0


class Hostile:
    """A server, and what it answered."""

    def __init__(self, server, schema):
        self.server, self.schema = server, schema
        self.client = Client(server.url)
        self.answers, self.longest = collections.Counter(), 0.0

    def prepare(self):
        """Let there be a model that has learned and an empty one, whatever the requests did."""
        names = [each["name"] for each in self.client.request("GET", "/models")["models"]]
        for name in names:
            if name != "default":
                self.client.request("DELETE", f"/models/{name}")
        if "default" not in names:
            self.client.create("y")
        Client(self.server.url, "empty").create("y")
        self.client.resume()

    def try_one(self, case):
        """Send a request. Names are often those of what there is, so that it gets further."""
        rng = random.Random(repr(case.path_parameters) + repr(case.body)[:100])
        for name, known in (("name", ("default", "empty")), ("snapshot", ("good",))):
            if case.path_parameters and name in case.path_parameters and rng.random() < 0.7:
                case.path_parameters[name] = rng.choice(known)
        if isinstance(case.body, dict) and isinstance(case.body.get("rows"), list):
            for row in case.body["rows"]:
                if isinstance(row, dict) and rng.random() < 0.7:
                    row["y"] = rng.choice((1.5, 2, "text", True))
        began = time.perf_counter()
        answer = case.call(base_url=self.server.url, timeout=LONGEST)
        self.longest = max(self.longest, time.perf_counter() - began)
        self.answers[answer.status_code] += 1
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        stated = self.schema.raw_schema["paths"][case.path][case.method.lower()]["responses"]
        allowed = {int(status) for status in stated} | {404, 405}
        assert answer.status_code in allowed, (case.as_curl_command(), answer.status_code)

    def run(self, operation, mode, n, start):
        """Send n requests to one address."""

        @seed(start)
        @drawn(n)
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case):
            self.try_one(case)

        check()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        server = Process(folder, "--target", "y", "--intervals", "0.9")
        server.start()
        try:
            Client(server.url).learn(example_rows(300), wait=True)
            description = Client(server.url).request("GET", "/openapi.json")
            hostile = Hostile(server, schemathesis.openapi.from_dict(description))
            operations = [found.ok() for found in hostile.schema.get_all_operations()]
            round_number = 0
            while sum(hostile.answers.values()) < arguments.requests:
                for operation in operations:
                    hostile.prepare()
                    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                        try:
                            hostile.run(operation, mode, 25, arguments.seed + round_number)
                        except Unsatisfiable:  # for example, it takes nothing that can be wrong
                            continue
                round_number += 1
            hostile.prepare()
            fresh = Client(server.url, "fresh")
            fresh.create("y")
            assert fresh.learn(example_rows(300), wait=True)["rows"] == 300
            assert server.end() in (0, 143)
        finally:
            if server.process.poll() is None:
                server.kill()
    shown = ", ".join(f"{status}: {n}" for status, n in sorted(hostile.answers.items()))
    print(
        f"{sum(hostile.answers.values())} requests in {time.time() - began:.0f} s, the longest "
        f"{hostile.longest:.2f} s; answers {shown}"
    )


if __name__ == "__main__":
    main()
