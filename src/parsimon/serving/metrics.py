"""Numbers of a server in the text format of Prometheus."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Iterable
from functools import partial
from itertools import accumulate

from parsimon.serving import pending
from parsimon.serving.models import Models

__all__ = ["Requests", "exposition"]

#: The upper ends of the buckets of latencies, in seconds.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

Sample = tuple[dict[str, str], float]


class Requests:
    """Numbers of requests and their latencies, by route.

    >>> requests = Requests()
    >>> requests.add("predict", 200, 0.002)
    >>> requests.counts
    {('predict', 200): 1}
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: dict[tuple[str, int], int] = {}
        self.seconds: dict[str, list[float]] = {}

    def add(self, route: str, status: int, seconds: float) -> None:
        """Add a request."""
        with self._lock:
            self.counts[route, status] = self.counts.get((route, status), 0) + 1
            own = self.seconds.setdefault(route, [0.0] * (len(BUCKETS) + 2))
            own[bisect_left(BUCKETS, seconds)] += 1
            own[-1] += seconds

    def summary(self) -> dict[str, dict[str, float]]:
        """Return the number of requests of each route, their median latency and its 99 % quantile.

        Latencies are upper ends of buckets, in seconds.

        >>> requests = Requests()
        >>> requests.add("predict", 200, 0.002)
        >>> requests.summary()
        {'predict': {'count': 1.0, 'p50': 0.0025, 'p99': 0.0025}}
        """
        with self._lock:
            seconds = {route: list(own) for route, own in self.seconds.items()}
        found: dict[str, dict[str, float]] = {}
        for route, own in seconds.items():
            total = list(accumulate(own[:-1]))
            ends = (*BUCKETS, BUCKETS[-1])
            p50, p99 = (ends[bisect_left(total, share * total[-1])] for share in (0.5, 0.99))
            found[route] = {"count": total[-1], "p50": p50, "p99": p99}
        return found

    def lines(self) -> list[str]:
        """Return the lines of the text format."""
        with self._lock:
            counts = dict(self.counts)
            seconds = {route: list(own) for route, own in self.seconds.items()}
        lines = _family(
            "requests_total",
            "counter",
            "Requests by route and status.",
            [({"route": r, "status": str(s)}, n) for (r, s), n in counts.items()],
        )
        name = "parsimon_request_seconds"
        lines += [f"# HELP {name} Time to answer.", f"# TYPE {name} histogram"]
        for route, own in seconds.items():
            total = 0.0
            for end, n in zip((*map(str, BUCKETS), "+Inf"), own, strict=False):
                total += n
                lines.append(_line(name + "_bucket", {"route": route, "le": end}, total))
            lines.append(_line(name + "_sum", {"route": route}, own[-1]))
            lines.append(_line(name + "_count", {"route": route}, total))
        return lines


def exposition(models: Models, requests: Requests) -> str:
    """Return all numbers as text."""
    now = time.time()
    families: dict[str, tuple[str, str, list[Sample]]] = {}

    def add(name: str, kind: str, help: str, labels: dict[str, str], value: float | None) -> None:
        if value is not None:
            families.setdefault(name, (kind, help, []))[2].append((labels, value))

    add("up_seconds", "gauge", "Time since the start.", {}, now - models.began)
    failures = models.store.failures
    add("store_failures_total", "counter", "Writes that the store refused.", {}, failures)
    for served in models.all():
        learner, published, own = served.learner, served.learner.published, {"model": served.name}
        waiting = models.read(
            partial(
                pending.count,
                model=served.number,
                last=served.numbers.last,
                limits=models.limits,
            )
        )
        learned, counts = learner.learned_rows, served.counts
        lag = now - published.at if learner.place > published.place else 0.0
        for name, kind, help, value in (
            ("learned_rows_total", "counter", "Rows learned since the start.", learned),
            ("refused_rows_total", "counter", "Rows refused by the learner.", learner.refused_rows),
            ("predicted_rows_total", "counter", "Predictions.", counts.get("predicted_rows", 0)),
            ("dropped_ids_total", "counter", "Ids dropped early.", counts.get("dropped_ids", 0)),
            ("expired_ids_total", "counter", "Labels too late.", counts.get("expired_ids", 0)),
            ("backlog_rows", "gauge", "Rows in the log that wait.", served.backlog),
            ("pending_ids", "gauge", "Rows that wait for labels.", waiting),
            ("pending_ids_most", "gauge", "The bound of pending ids.", models.limits.pending),
            ("published_lag_seconds", "gauge", "Age of the published model, if behind.", lag),
            ("rows", "gauge", "Rows of the published model.", published.n_rows),
            ("checkpoints_total", "counter", "Checkpoints.", learner.checkpoints),
            ("learner_failed", "gauge", "1 if the learner stopped.", learner.failure is not None),
            ("centers", "gauge", "Centres.", published.facts.get("centers")),
            ("model_bytes", "gauge", "Memory of the model.", published.facts.get("bytes")),
        ):
            add(name, kind, help, own, value)
        classes = published.facts.get("task") == "classification"
        for family, help, values in (
            ("rolling", "Rolling metrics.", published.facts.get("rolling", {})),
            ("intervals", "Rolling metrics of intervals.", published.facts.get("coverage", {})),
            (
                "error",
                "Errors over the last rows: of the model, the mean (or mode) and the last value.",
                learner.history.errors_beside(classes),
            ),
        ):
            for name, value in values.items():
                add(family, "gauge", help, {**own, "metric": name}, value)
    for stream in models.streams:
        state = stream.state()
        own = {"stream": state["stream"], "model": stream.model}
        for name, kind, help, value in (
            ("stream_connected", "gauge", "1 if the broker answers.", state["connected"]),
            ("stream_waits", "gauge", "1 if it waits.", state["waits_for"] is not None),
            ("stream_unacknowledged", "gauge", "Messages received.", state["unacknowledged"]),
            ("stream_dropped_total", "counter", "Lost messages of QoS 0.", state["dropped"]),
        ):
            add(name, kind, help, own, value)
        help = "Messages by what became of them, and answers."
        for name, value in stream.counts.items():
            add("stream_messages_total", "counter", help, {**own, "outcome": name}, value)
    lines: list[str] = []
    for name, (kind, help, samples) in families.items():
        lines += _family(name, kind, help, samples)
    return "\n".join([*lines, *requests.lines(), ""])


def _family(name: str, kind: str, help: str, samples: Iterable[Sample]) -> list[str]:
    full = f"parsimon_{name}"
    return [
        f"# HELP {full} {help}",
        f"# TYPE {full} {kind}",
        *(_line(full, labels, value) for labels, value in samples),
    ]


def _line(name: str, labels: dict[str, str], value: float) -> str:
    escaped = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{escaped}}} {float(value)!r}" if labels else f"{name} {float(value)!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
