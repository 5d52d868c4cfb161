"""One run of `compare`: give the rows to all models, show their scores, and draw them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from parsimon import plots
from parsimon.cli.compare_models import WARMUP, Encoding, Model, OwnModel, make_models
from parsimon.cli.compare_table import (
    drawn_metric,
    model_facts,
    score_notes,
    score_table,
    window,
)
from parsimon.cli.curve import Curve
from parsimon.cli.errors import Failure
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.intervals import not_for_classes
from parsimon.cli.pace import Pace
from parsimon.cli.progress import Progress
from parsimon.cli.reading import (
    Block,
    Source,
    in_good_parts,
    require_columns,
    require_features,
    table_failure,
    with_option,
)
from parsimon.cli.screen import Screen
from parsimon.cli.summary import task_note
from parsimon.cli.text import as_json, table
from parsimon.cli.words import plural
from parsimon.preprocessing import TableError, read_table
from parsimon.tables import TableModel

if TYPE_CHECKING:
    from parsimon.cli.compare import Options

__all__ = ["CompareRun"]

#: Rows that all models learn at a time: at first, and at most.
SLICE, LARGEST_SLICE = 256, 8192
#: Seconds that learning these rows should take.
SECONDS = 0.5


class CompareRun:
    """One run of the command.

    Attributes
    ----------
    rows : how many rows were learned.
    consumed : how many rows of the data were used, bad ones included.
    reader : a model that finds the task and checks the rows.
    curve : of each model, the error over the last rows and over all rows.
    """

    def __init__(
        self, options: Options, source: Source, screen: Screen, interrupt: Interrupt
    ) -> None:
        self.options, self.source, self.screen, self.interrupt = options, source, screen, interrupt
        self.models: dict[str, Model] = {}
        self.task = options.task
        self.rows = self.consumed = 0
        self.reader = TableModel(options.target, task=options.task, ignore=options.ignore)
        self.progress = Progress()
        self.curve: Curve[dict[str, tuple[float, float]]] = Curve()

    # Learning

    def learn_stream(self) -> None:
        """Learn the rows with all models, until the end of the data or a signal."""
        pace = Pace(SLICE, SLICE, LARGEST_SLICE, SECONDS)
        for i, block in enumerate(_first_rows(self.source, WARMUP, self.options.rows)):
            if i == 0:
                self.check_columns(block)
            block = self.good_rows(block)
            if block.table.num_rows and not self.models:
                block = self.begin(block)
            self.learn_block(block, pace)
            if self.interrupt():
                break
        if self.options.rows is None and not self.interrupt():
            self.consumed = self.source.rows
        self.source.print_notes()
        if not self.models:
            raise Failure(f"{self.source.path} has no rows")

    def check_columns(self, block: Block) -> None:
        """Check the columns of the first block."""
        options = self.options
        require_columns([options.target, *options.ignore], self.source.columns)
        if options.task != "classification":
            self.source.require_clear_target(options.target)
        ignored = [*options.ignore, options.target]
        require_features(block.table, ignored, self.reader.max_categories)

    def good_rows(self, block: Block) -> Block:
        """Return the rows of a block without bad ones, if these are skipped."""
        if self.options.bad_rows != "skip":
            return block
        kept: list[Block] = []

        def take(at: int, n: int) -> None:
            self.reader._read(block.table.slice(at, n))
            kept.append(block.slice(at, n))

        def refuse(at: int, error: TableError) -> None:
            row = block.number(at)
            self.source.refuse(row, table_failure(error, row))

        try:
            in_good_parts(take, 0, block.table.num_rows, refuse)
        except TableError as error:
            raise table_failure(error, block.first) from None
        return _concatenated(kept) if kept else block.slice(0, 0)

    def begin(self, block: Block) -> Block:
        """Find the task, make the models, and return the rows that can be used."""
        options, reader = self.options, self.reader
        try:
            reader.learn(block.table.slice(0, reader.warmup))
            self.task = reader.finish().task_
        except TableError as error:
            raise with_option(table_failure(error, block.first)) from None
        if options.intervals is not None and self.task == "classification":
            raise not_for_classes(f"the target {options.target!r} holds classes", quantities=True)
        if options.task == "auto":
            self.source.notes.append(task_note(reader))
        block = self.good_rows(block)  # now the task is known
        try:
            column = read_table(block.table, [options.target])[options.target]
            y = reader._targets(column, self.task)
        except TableError as error:
            raise with_option(table_failure(error, block.first)) from None
        classes = len(np.unique(y)) if self.task == "classification" else 0
        self.models = make_models(options, self.task, classes)
        self.encoding = Encoding(options.target, options.ignore, self.task)
        return block

    def learn_block(self, block: Block, pace: Pace) -> None:
        """Learn the rows of a block in slices."""
        at, n = 0, block.table.num_rows
        self.progress.begin(block)
        while at < n and not self.interrupt():
            # The first slice is the warm-up. It decides the columns for all models.
            rows = min(pace.rows if self.rows else WARMUP, n - at)
            if self.rows and self.options.plot is not None:
                rows = min(rows, self.curve.rows_to_next(self.rows))
            start = time.perf_counter()
            self.learn_slice(block.slice(at, rows))
            self.source.print_notes()
            pace.update(rows, time.perf_counter() - start)
            at += rows
            self.consumed = block.number(at - 1) + 1
            self.progress.learned(at)

    def learn_slice(self, block: Block) -> None:
        """Learn the rows of a block with all models."""
        try:
            for model in self.models.values():
                if isinstance(model, OwnModel):
                    model.learn(block.table)
                    self.show()
            rows = self.encoding.encode(block.table)
        except TableError as error:
            raise with_option(table_failure(error, block.first)) from None
        for model in self.models.values():
            if not isinstance(model, OwnModel):
                model.learn(rows, self.show)
        self.rows += block.table.num_rows
        self.add_point()

    def add_point(self, *, last: bool = False) -> None:
        """Add a point to each curve, if it is time."""
        if self.options.plot is None or (self.rows % self.curve.stride and not last):
            return
        key, found = drawn_metric(self.task), {}
        for name, model in self.models.items():
            total, rolling = model.scores()
            if total and model.failed is None:
                found[name] = (rolling[key], total[key])
        if found:
            self.curve.add(self.rows, found, last=last)

    def finish(self) -> None:
        """At the end of the data, learn the rows of an incomplete warm-up."""
        for model in self.models.values():
            model.finish()
        if self.models:
            self.add_point(last=True)
        self.screen.clear()

    # What is shown

    def show(self) -> None:
        """Draw the live table, if it is time."""
        if self.screen.live:
            header, rows = score_table(self.models, self.task)
            self.screen.draw_all(header, rows, self.progress.fraction, self.progress.left)

    def print_scores(self) -> None:
        """Print the scores, and draw them."""
        skipped = self.consumed - self.rows
        if self.options.as_lines:
            for name, model in self.models.items():
                print(as_json({"model": name, **model_facts(model, skipped)}))
        else:
            rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows, each"
            bad = f"; {plural(skipped, 'bad row')} skipped" if skipped else ""
            print(table(*score_table(self.models, self.task)))
            print(f"{rows} predicted and then learned{bad}")
            print("\n".join(score_notes(self.models, self.task)), flush=True)
        if self.options.plot is not None:
            with self.interrupt.reader(self.options.plot) as ready:
                if ready:
                    self.draw(self.options.plot)

    def draw(self, path: Path) -> None:
        """Draw the errors of all models."""
        classes = self.task == "classification"
        lines = {}
        for name in self.models:
            points = [(rows, *found[name]) for rows, found in self.curve.points if name in found]
            rows, last, total = np.array(points, dtype=np.float64).reshape(-1, 3).T
            lines[name] = (rows, 1.0 - last, 1.0 - total) if classes else (rows, last, total)
        reasons = [model.why_no_scores() for model in self.models.values()]
        plots.compared(
            path,
            lines,
            ylabel="share of wrong labels" if classes else "squared error / variance",
            title=f"{self.options.target} of {Path(self.options.data).name}",
            window=window(self.models),
            missing=f"no scores: {reasons[0] or 'no row was scored'}",
        )
        if not self.options.as_lines:
            print(f"drawn in {path}")


def _first_rows(source: Source, least: int, limit: int | None) -> Iterator[Block]:
    """Yield the first `limit` rows in blocks. The first block has `least` rows, if there are."""
    first: list[Block] = []
    rows, done = 0, 0.0
    for block in source.blocks():
        if limit is not None:
            n = min(block.table.num_rows, limit - rows)
            # The data or the limit may end first.
            end = max(block.span[1] if block.span else 0.0, (rows + n) / limit)
            block, done = block.slice(0, n)._replace(span=(done, end)), end
        rows += block.table.num_rows
        first.append(block)
        if rows >= least or rows == limit:
            yield _concatenated(first)
            first = []
        if rows == limit:
            return
    if first:
        yield _concatenated(first)


def _concatenated(blocks: list[Block]) -> Block:
    spans = [block.span for block in blocks if block.span is not None]
    span = (spans[0][0], spans[-1][1]) if spans else None
    numbers = np.concatenate([block.all_numbers() for block in blocks])
    rows = pa.concat_tables([block.table for block in blocks])
    return Block(rows, blocks[0].first, None, span, numbers)
