"""What `learn` shows: the live table, lines of JSON, the plot and the summary."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon._files import write_whole
from parsimon.cli.curve import Curve
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.last_rows import Kept
from parsimon.cli.model_files import skipped_rows
from parsimon.cli.progress import Progress
from parsimon.cli.report_page import report_page
from parsimon.cli.scores import guessed_rows, model_scores, why_no_scores
from parsimon.cli.screen import Screen
from parsimon.cli.summary import shares, summary
from parsimon.cli.text import lines
from parsimon.cli.words import plural
from parsimon.evaluation import Report
from parsimon.plots.drawing import plain, render, save
from parsimon.plots.learning import ShareCurve, learning_figure
from parsimon.tables import TableModel

if TYPE_CHECKING:
    from parsimon.cli.learn import Options

__all__ = ["LearnView"]

#: The most characters of the title of a picture.
LONGEST_TITLE = 80


class LearnView:
    """What one run of `learn` shows.

    Attributes
    ----------
    seconds : time spent on learning.
    progress : the fraction of the data that is learned.
    screen : the live table, to be entered before rows are learned.
    drawn : the plot and the report, once they are written.
    """

    def __init__(self, options: Options, model: TableModel, interrupt: Interrupt) -> None:
        self.options, self.model, self.interrupt = options, model, interrupt
        self.start, self.began, self.seconds = model.n_rows_, time.monotonic(), 0.0
        self.reports = self.start // options.every
        self.progress = Progress()
        self.screen = Screen(as_lines=options.json, title=f"{options.target} of {options.data}")
        self.curve: Curve[tuple[Report, dict[str, float]]] = Curve()  # with the shares of experts
        self.kept = Kept()
        self.drawn: dict[str, Path] = {}

    @property
    def draws(self) -> bool:
        """Whether there will be a picture."""
        return self.options.plot is not None or self.options.report is not None

    def rows_to_report(self, most: int) -> int:
        """Return how many rows to learn before the next point of the plot or line of JSON.

        It is `most` if there is neither.
        """
        rows, every = self.model.n_rows_, self.options.every
        to_line = every - rows % every if self.options.json else most
        return min(to_line, self.curve.rows_to_next(rows)) if self.draws else to_line

    def update(self) -> None:
        """Draw and report, if it is time."""
        rows = self.model.n_rows_
        if self.draws and not rows % self.curve.stride and self.model.metrics_ is not None:
            self.curve.add(rows, (self.current(), shares(self.model)))
        if rows // self.options.every > self.reports:
            self.reports = rows // self.options.every
            self.report()
        elif self.screen.live:
            self.show(self.current())

    def current(self) -> Report:
        """Return the state of the stream."""
        model, metrics = self.model, self.model.metrics_
        if metrics is None:
            return Report(model.n_rows_, self.seconds, None, None, {}, {})
        scored = model_scores(model)
        return Report(model.n_rows_, self.seconds, model.n_centers_, model.nbytes_, *scored)

    def report(self, *, last: bool = False) -> None:
        """Draw the live table or print a line of JSON."""
        if not (self.options.json or last or self.screen.live):
            return
        report = self.current()
        if last and self.draws and report.total:
            self.curve.add(report.rows, (report, shares(self.model)), last=True)
        if last or self.screen.live:
            self.show(report)
        if not last:
            self.screen.print_event({"event": "progress", **self.facts(report)})

    def facts(self, report: Report) -> dict[str, Any]:
        """Return a report as JSON has it."""
        return {
            "rows": report.rows,
            "skipped": skipped_rows(self.model),
            "rows_per_second": self.rate(),
            "centres": report.centers,
            "bytes": report.bytes,
            "total": report.total,
            "rolling": report.rolling,
        }

    def rate(self) -> float:
        """Return the rows per second of this run."""
        elapsed = time.monotonic() - self.began
        return (self.model.n_rows_ - self.start) / elapsed if elapsed > 0 else 0.0

    def show(self, report: Report) -> None:
        """Draw the live table."""
        self.screen.draw(report, self.rate(), self.progress.fraction, self.progress.left)

    def draw(self) -> None:
        """Write the plot and the report."""
        options = self.options
        if not self.curve.points:
            if self.draws:
                print("parsimon: note: no row was scored, so nothing is drawn", file=sys.stderr)
            return
        title = f"{options.target} of {Path(options.data).name}"
        figure = self.figure(plain(title, LONGEST_TITLE))
        if options.plot is not None:
            self.write("plot", options.plot, partial(save, figure))
        if options.report is not None:
            page = report_page(title, summary(self.model), render(figure, "png")).encode()
            self.write("report", options.report, lambda path: write_whole(path, page))

    def figure(self, title: str) -> Any:
        """Return the picture of the stream."""
        reports = [report for _, (report, _) in self.curve.points]
        names = list(shares(self.model))
        curve = ShareCurve(
            [rows for rows, _ in self.curve.points],
            names,
            [np.array(list(found.values())) for _, (_, found) in self.curve.points],
        )
        reason = why_no_scores(self.model.metrics_, guessed_rows(self.model))
        return learning_figure(
            reports,
            self.kept.last_rows(self.model),
            curve if names else None,
            target=self.model.target,
            title=title,
            missing=f"no scores: {reason}",
        )

    def keep(self, rows: Any, predictions: Any, intervals: Any = None) -> None:
        """Keep rows that were learned just now for the picture, if there will be one."""
        if self.draws:
            self.kept.add(self.model, rows, predictions, intervals)

    def write(self, name: str, path: Path, write: Callable[[Path], object]) -> None:
        """Write the plot or the report, unless a signal comes while a FIFO has no reader."""
        with self.interrupt.reader(path) as ready:
            if ready:
                write(path)
                self.drawn[name] = path
            else:
                print(f"parsimon: note: {path} has no reader: it is not written", file=sys.stderr)

    def print_summary(self) -> None:
        """Print the summary, or the last line of JSON."""
        options, number = self.options, self.interrupt.number
        stopped = None if number is None else signal.Signals(number).name
        is_kept = options.model is not None and self.model.n_rows_ > 0
        kept = str(options.model) if is_kept else None
        if options.json:
            task = getattr(self.model, "task_", None)
            event = {"event": "end", **self.facts(self.current()), "task": task}
            end = {"target": options.target, "model": kept, "stopped": stopped}
            self.screen.print_event({**event, **end})
            return
        written = {"model": kept, **self.drawn}
        pairs = [(name, str(path)) for name, path in written.items() if path is not None]
        n, elapsed = self.model.n_rows_ - self.start, time.monotonic() - self.began
        speed = f"{plural(n, 'row')} in {elapsed:.1f} s, {self.rate():,.0f} rows/s"
        print(lines([*summary(self.model), *pairs, ("this run", speed)]))
        if stopped is not None:
            hint = "" if kept is None else ": go on with --resume"
            print(f"stopped by {stopped}{hint}", file=sys.stderr)
