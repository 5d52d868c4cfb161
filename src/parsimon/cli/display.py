"""What is shown: a live table in a terminal, lines of JSON, or a plain summary."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from parsimon.evaluation import Report

__all__ = ["Screen", "as_json", "byte_size", "lines", "scores", "table"]

#: Metrics as people call them.
NAMES = {
    "accuracy": "accuracy",
    "kappa": "kappa",
    "kappa_no_change": "kappa to no change",
    "log_loss": "logarithmic loss",
    "mse": "squared error",
    "mae": "absolute error",
    "r2": "R2",
    "relative_mse": "error / variance",
}
#: Seconds between two drawings.
REFRESH = 0.1


def byte_size(n: int | None) -> str:
    """Return a number of bytes as people read it.

    >>> byte_size(1234567)
    '1.2 MB'
    """
    if n is None:
        return ""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} bytes"


def clock(seconds: float) -> str:
    """Return a time in hours, minutes and seconds.

    >>> clock(3725.6)
    '1:02:06'
    """
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def as_json(value: Any) -> str:
    """Return one line of JSON; NaN, which JSON has not, is null."""

    def plain(v: Any) -> Any:
        if isinstance(v, dict):
            return {str(k): plain(item) for k, item in v.items()}
        if isinstance(v, list | tuple):
            return [plain(item) for item in v]
        if hasattr(v, "tolist"):
            return plain(v.tolist())
        if isinstance(v, float):
            return v if math.isfinite(v) else None
        return v if v is None or isinstance(v, bool | int | str) else repr(v)

    return json.dumps(plain(value), allow_nan=False)


def lines(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and values in two columns.

    >>> print(lines([("rows", "12"), ("task", "regression")]))
    rows  12
    task  regression
    """
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in pairs)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return a plain table, with the columns `left` to the left and the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            c.ljust(w) if i in left else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )

    return "\n".join([line(header).rstrip(), *(line(row).rstrip() for row in rows)])


def honest(metrics: Any, warmup: int = 0) -> tuple[dict[str, float], dict[str, float]]:
    """Return the metrics over all rows and over the last rows; NaN where they say nothing.

    They say nothing of a model as long as there is one class, or if all rows are of its warm-up.
    The logarithmic loss may be of fewer rows than the others: `log_loss_rows` says of how many.
    """
    total, rolling = dict(metrics.total()), dict(metrics.rolling())
    if why_no_scores(metrics, warmup) is not None:
        for found in (total, rolling):
            found.update({name: math.nan for name in found if name != "rows"})
    elif not math.isnan(total.get("log_loss", math.nan)):
        total["log_loss_rows"] = metrics._losses
        rolling["log_loss_rows"] = int((~np.isnan(metrics._recent[2])).sum())
    return total, rolling


def why_no_scores(metrics: Any, warmup: int = 0) -> str | None:
    """Return why metrics say nothing about a model, or None if they do.

    `warmup` is the number of first rows that the model did not predict itself.
    """
    rows = metrics.total()["rows"] + 1
    if rows == 1:
        return "the first row is not scored"
    if rows <= warmup:
        return f"fewer than {warmup + 1:,} rows, and the first {warmup:,} are the warm-up"
    if "accuracy" in metrics.total() and len(metrics.labels_) < 2:
        return "there is only one class so far"
    return None


def scores(
    total: dict[str, float], rolling: dict[str, float] | None = None
) -> list[tuple[str, str]]:
    """Return metrics by name, over all rows and over the last ones, if these are fewer."""
    pairs = []
    for key, name in NAMES.items():
        if key not in total or math.isnan(total[key]):
            continue
        rows, last = total["rows"], None if rolling is None else rolling["rows"]
        every = "all rows"
        if key == "log_loss" and total.get("log_loss_rows", rows) < rows:
            rows = total["log_loss_rows"]
            last = None if rolling is None else rolling["log_loss_rows"]
            every = f"the {rows:,.0f} rows after the warm-up"
        text = f"{total[key]:.6g}"
        if rolling is not None and last is not None:
            text += f" over {every}"
            if last < rows:
                recent = "undefined" if math.isnan(rolling[key]) else f"{rolling[key]:.6g}"
                text += f", {recent} over the last {last:,.0f}"
        pairs.append((name, text))
    return pairs


def model_scores(metrics: Any, warmup: int) -> list[tuple[str, str]]:
    """Return the scores of a model by name, and how its first rows count; or why there are none."""
    reason = why_no_scores(metrics, warmup)
    if reason is not None:
        return [("scores", f"none: {reason}")]
    note = f"the first {warmup:,} rows count with the previous target as prediction"
    return [("scores", note), *scores(*honest(metrics, warmup))]


class Screen:
    """Shows how learning goes: a live table, lines of JSON, or nothing until the end."""

    def __init__(self, *, as_lines: bool, title: str) -> None:
        self._console = Console()
        self.json, self._title = as_lines, title
        self._live: Live | None = None
        self._drawn = -math.inf

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self.json:
            self._live = Live(console=self._console, auto_refresh=False).__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.__exit__(None, None, None)

    @property
    def live(self) -> bool:
        """Whether it is time to draw."""
        return self._live is not None and time.monotonic() - self._drawn > REFRESH

    def draw(self, report: Report, rate: float, fraction: float | None, left: float | None) -> None:
        """Draw the live table."""
        if self._live is None:
            return
        view = Table(title=self._title, show_header=False, title_justify="left")
        pairs = [("rows", f"{report.rows:,}"), ("rows/s", f"{rate:,.0f}")]
        pairs += scores(report.total, report.rolling)[:3] or [("", "warming up")]
        pairs += [("centres", "" if report.centers is None else f"{report.centers:,}")]
        pairs += [("memory of the model", byte_size(report.bytes))]
        if left is not None:
            pairs.append(("time left", clock(left)))
        for name, value in pairs:
            view.add_row(name, value)
        if fraction is not None:
            view.add_row("", ProgressBar(1.0, fraction, width=28))
        self._live.update(view, refresh=True)
        self._drawn = time.monotonic()

    def draw_all(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        fraction: float | None,
        left: float | None,
    ) -> None:
        """Draw a table of several models, and how far they are."""
        if self._live is None:
            return
        view = Table(title=self._title, title_justify="left")
        for i, name in enumerate(header):
            view.add_column(name, justify="left" if i == 0 else "right")
        for row in rows:
            view.add_row(*row)
        parts: list[Any] = (
            [view] if fraction is None else [view, ProgressBar(1.0, fraction, width=28)]
        )
        if left is not None:
            parts.append(f"  time left {clock(left)}")
        self._live.update(Group(*parts), refresh=True)
        self._drawn = time.monotonic()

    def clear(self) -> None:
        """Take what is drawn away: what follows says it all."""
        if self._live is not None:
            self._live.update("", refresh=True)

    def tell(self, event: dict[str, Any]) -> None:
        """Print a line of JSON, if that is what is wanted."""
        if self.json:
            print(as_json(event), flush=True)
