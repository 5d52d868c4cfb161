"""What a model was like over time, in fixed memory: errors, last rows, last refusals.

A checkpoint has its history, so that it survives a restart.
"""

from __future__ import annotations

import json
import math
import threading
import time
import zlib
from collections import Counter, deque
from collections.abc import Sequence
from itertools import islice
from typing import Any

from parsimon.serving.published import Published, plain

__all__ = ["History"]

#: The number of points over time, of last rows, and of last errors.
POINTS, ROWS, ERRORS = 900, 300, 50
#: The least time between points, in seconds.
APART = 1.0


class History:
    """Points, rows and errors for the page.

    There are the last points, and older ones that are at least `gap` seconds apart. When there are
    too many older ones, every second is left out, and the gap doubles. So the points always reach
    back to the beginning.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._old: list[dict[str, Any]] = []
        self._points: deque[dict[str, Any]] = deque()
        self._gap = 2.0 * APART
        self._rows: deque[tuple[Any, Any, Any]] = deque(maxlen=ROWS)
        self._errors: deque[dict[str, Any]] = deque(maxlen=ERRORS)

    def is_due(self, published: Published) -> bool:
        """Return whether it is time for a point about a published model."""
        with self._lock:
            return published.model is not None and (
                not self._points or published.at - self._points[-1]["at"] >= APART
            )

    def point(self, published: Published, drift: dict[str, Any] | None = None) -> None:
        """Add a point about a published model."""
        facts = published.facts
        names = ("rows", "centers", "bytes", "rolling", "coverage")
        point = {"at": published.at} | {name: facts[name] for name in names if name in facts}
        point["errors"] = self.errors_beside(facts["task"] == "classification")
        if drift is not None:
            point["drift"] = drift
        with self._lock:
            self._points.append(point)
            if len(self._points) > POINTS // 2:
                self._keep(self._points.popleft())

    @property
    def drift(self) -> dict[str, Any] | None:
        """The last drift, or None if there is no snapshot."""
        with self._lock:
            return self._points[-1].get("drift") if self._points else None

    def rows(
        self, targets: Sequence[Any], predictions: Sequence[Any], intervals: Sequence[Any] | None
    ) -> None:
        """Add targets with what was predicted before they were learned."""
        last = slice(-ROWS, None)
        bands = [None] * len(targets) if intervals is None else intervals
        with self._lock:
            self._rows.extend(zip(targets[last], predictions[last], bands[last], strict=True))

    def errors_beside(self, classes: bool) -> dict[str, float]:
        """Return errors over the last rows: of the model, the mean (or mode), and the last value.

        They are roots of mean squared errors, or shares of wrong classes.
        """
        with self._lock:
            rows = list(self._rows)
        if len(rows) < 3:
            return {}
        targets, predictions = [row[0] for row in rows], [row[1] for row in rows]
        if classes:
            middle: Any = Counter(targets).most_common(1)[0][0]
        else:
            middle = sum(targets) / len(targets)
        pairs = {
            "model": zip(targets, predictions, strict=True),
            "mean": ((y, middle) for y in targets),
            "last": zip(targets[1:], targets, strict=False),
        }
        return {name: _error(list(each), classes) for name, each in pairs.items()}

    def error(self, place: int | None, message: str) -> None:
        """Add an entry that was refused, or a request that did not become one."""
        with self._lock:
            self._errors.append({"at": time.time(), "place": place, "message": message})

    def dumped(self) -> bytes:
        """Return everything as bytes, for the store."""
        with self._lock:
            points = [self._gap, self._old, list(self._points)]
            state = [*points, list(self._rows), list(self._errors)]
        return zlib.compress(json.dumps(plain(state)).encode(), 1)

    def restore(self, data: bytes | None) -> None:
        """Take what `dumped` has returned, or nothing."""
        empty: list[Any] = [2.0 * APART, [], [], [], []]
        state = empty if data is None else json.loads(zlib.decompress(data))
        with self._lock:
            self._gap, self._old, points, rows, errors = state
            self._points = deque(points)
            self._rows = deque([(y, p, band) for y, p, band in rows], ROWS)
            self._errors = deque(errors, ERRORS)

    def shown(self, since: float = 0.0) -> dict[str, Any]:
        """Return everything for JSON, with the points after a time."""
        with self._lock:
            points = [point for point in [*self._old, *self._points] if point["at"] > since]
            rows, errors = list(self._rows), list(islice(reversed(self._errors), ERRORS))
        last = [{"target": y, "prediction": p, "interval": plain(band)} for y, p, band in rows]
        return {"points": plain(points), "rows": plain(last), "errors": errors}

    def _keep(self, point: dict[str, Any]) -> None:
        """Take a point among the older ones, if it is not too close to the last of them."""
        if self._old and point["at"] - self._old[-1]["at"] < self._gap:
            return
        self._old.append(point)
        if len(self._old) > POINTS // 2:
            self._old = self._old[::2]
            self._gap *= 2.0


def _error(pairs: Sequence[tuple[Any, Any]], classes: bool) -> float:
    if classes:
        return sum(bool(y != p) for y, p in pairs) / len(pairs)
    try:
        return math.sqrt(sum((y - p) ** 2 for y, p in pairs) / len(pairs))
    except (TypeError, OverflowError):
        return math.nan
