"""The live view of a running command in a terminal."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from parsimon.cli.scores import INTERVAL_NAMES, score_lines
from parsimon.cli.text import as_json, byte_size, clock
from parsimon.evaluation import Report

__all__ = ["Screen"]

#: Seconds between two drawings.
REFRESH = 0.1


class Screen:
    """Shows progress: a live table in a terminal, lines of JSON, or nothing until the end."""

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
        """Whether it is time to draw again."""
        return self._live is not None and time.monotonic() - self._drawn > REFRESH

    def draw(self, report: Report, rate: float, fraction: float | None, left: float | None) -> None:
        """Draw the live table of one model. `left` is the time left, in seconds."""
        if self._live is None:
            return
        view = Table(title=self._title, show_header=False, title_justify="left")
        pairs = [("rows", f"{report.rows:,}"), ("rows/s", f"{rate:,.0f}")]
        pairs += score_lines(report.total, report.rolling)[:3] or [("", "warming up")]
        pairs += score_lines(report.total, report.rolling, INTERVAL_NAMES)
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
        """Draw a table of several models, and their progress."""
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
        """Remove the drawing, because the summary follows."""
        if self._live is not None:
            self._live.update("", refresh=True)

    def print_event(self, event: dict[str, Any]) -> None:
        """Print a line of JSON, if JSON was asked for."""
        if self.json:
            print(as_json(event), flush=True)
