"""The last minutes of a model, in fixed memory: errors over time, last rows, last refusals."""

from __future__ import annotations

import math
import threading
import time
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
    """Points, rows and errors for the page. It begins anew when the server starts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._points: deque[dict[str, Any]] = deque(maxlen=POINTS)
        self._rows: deque[tuple[Any, Any, Any]] = deque(maxlen=ROWS)
        self._errors: deque[dict[str, Any]] = deque(maxlen=ERRORS)

    def point(self, published: Published) -> None:
        """Add a point about a published model, at most one per second."""
        with self._lock:
            if published.model is None or (
                self._points and published.at - self._points[-1]["at"] < APART
            ):
                return
        facts = published.facts
        names = ("rows", "centers", "bytes", "rolling", "coverage")
        point = {"at": published.at} | {name: facts[name] for name in names if name in facts}
        point["errors"] = self.errors_beside(facts["task"] == "classification")
        with self._lock:
            self._points.append(point)

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

    def error(self, place: int, message: str) -> None:
        """Add an entry that was refused."""
        with self._lock:
            self._errors.append({"at": time.time(), "place": place, "message": message})

    def shown(self, since: float = 0.0) -> dict[str, Any]:
        """Return everything for JSON, with the points after a time."""
        with self._lock:
            points = [point for point in self._points if point["at"] > since]
            rows, errors = list(self._rows), list(islice(reversed(self._errors), ERRORS))
        last = [{"target": y, "prediction": p, "interval": plain(band)} for y, p, band in rows]
        return {"points": plain(points), "rows": plain(last), "errors": errors}


def _error(pairs: Sequence[tuple[Any, Any]], classes: bool) -> float:
    if classes:
        return sum(bool(y != p) for y, p in pairs) / len(pairs)
    try:
        return math.sqrt(sum((y - p) ** 2 for y, p in pairs) / len(pairs))
    except (TypeError, OverflowError):
        return math.nan
