"""One run of `learn`: read rows, learn them, and store the model."""

from __future__ import annotations

import re
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from parsimon.cli.encode_ahead import EncodeAhead
from parsimon.cli.errors import Failure
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.intervals import not_for_classes
from parsimon.cli.learn_view import LearnView
from parsimon.cli.model_files import column_kinds, load_table_model, reading_options, skipped_rows
from parsimon.cli.pace import Pace
from parsimon.cli.reading import (
    Block,
    Source,
    in_good_parts,
    require_columns,
    require_features,
    table_failure,
)
from parsimon.cli.summary import task_hint, task_note
from parsimon.cli.words import plural
from parsimon.preprocessing import TableError
from parsimon.tables import TableModel

if TYPE_CHECKING:
    from parsimon.cli.learn import Options

__all__ = ["LearnRun"]

#: Seconds between checkpoints, unless a number of rows is given.
CHECKPOINT = 30.0
#: Rows that are learned at a time: at first, and at most.
SLICE, LARGEST_SLICE = 256, 32768
#: Seconds that learning these rows should take.
SECONDS = 0.1


class Unsaved(Failure):
    """Raised if a model was learned and could not be written."""


class LearnRun:
    """One run of the command.

    Attributes
    ----------
    start : rows that the model had learned before this run.
    consumed : rows of the data that are done with, bad ones included.
    view : what is shown and drawn.
    """

    def __init__(self, options: Options, model: TableModel, interrupt: Interrupt) -> None:
        self.options, self.model, self.interrupt = options, model, interrupt
        self.start = model.n_rows_
        self.bad_before = skipped_rows(model)
        self.consumed = 0 if options.new_rows else self.start + self.bad_before
        self.consumed_before = self.consumed
        self.task_was_said = hasattr(model, "task_") or model.task != "auto"
        self.saved_at = time.monotonic()
        self.saved_rows = self.start
        self.view = LearnView(options, model, interrupt)
        self.source = Source(
            options.data,
            kinds=column_kinds(model),
            unused=options.ignore or model.ignore,
            delimiter=options.delimiter,
            follow=options.follow,
            stopped=interrupt,
            **reading_options(model, options.decimal, options.date_format),
            bad_rows=options.bad_rows,
            bad_before=self.consumed if self.bad_before else 0,
        )

    def run(self) -> int:
        """Learn, draw and print, and return the exit code."""
        with self.source, self.interrupt:
            self.say_skipped()
            self.learn_all()
            self.view.draw()
        self.view.print_summary()
        return self.interrupt.exit_code

    def say_skipped(self) -> None:
        """Say that rows of standard input are skipped: unlike a file, a pipe may have new ones."""
        if self.options.data == "-" and self.consumed:
            rows = "row is" if self.consumed == 1 else f"{self.consumed:,} rows are"
            print(
                f"parsimon: note: standard input: the first {rows} skipped, because the model has "
                "learned as many; use --new-rows if they are new",
                file=sys.stderr,
            )

    def learn_all(self) -> None:
        """Learn the rows, and store the model."""
        options, model = self.options, self.model
        with self.view.screen:
            try:
                self.learn_stream()
            except (Failure, OSError) as error:
                learned = model.n_rows_ > self.start
                if options.model is None or not learned or isinstance(error, Unsaved):
                    raise
                self.save()
                if isinstance(error, OSError):
                    raise
                rows = f"{plural(model.n_rows_, 'row')} {'is' if model.n_rows_ == 1 else 'are'}"
                raise Failure(f"{error}\n{rows} learned and kept in {options.model}") from None
            if not self.interrupt():
                self.finish()
            if not model.n_rows_ and not self.interrupt():
                bad = f" that can be used: {self.source.rows:,} are bad" if self.source.rows else ""
                raise Failure(f"{self.source.path} has no rows{bad}")
            self.save(always=True)
            self.view.report(last=True)

    # Learning

    def learn_stream(self) -> None:
        """Learn the rows until the end of the data or a signal.

        After a signal the source of a followed pipe ends. Rows that were read before are learned,
        because nobody can read them again.
        """
        pace = Pace(SLICE, 1, LARGEST_SLICE, SECONDS)
        drains = self.options.follow and not self.source.rows_remain
        encoding = EncodeAhead(self.model)
        for block in self.source.ahead(self.consumed, self.checkpoint, encoding):
            if not self.view.seconds:
                self.check_columns(block)
            self.view.progress.begin(block)
            at, rows = 0, block.table.num_rows
            while at < rows and (drains or not self.interrupt()):
                n = min(pace.rows, rows - at, self.rows_to_checkpoint())
                n = min(n, self.view.rows_to_report(LARGEST_SLICE))
                pace.update(n, self.learn_slice(block, at, n))
                at += n
                encoding.begin()
                encoding.end_if_refused(block, at)
                self.view.progress.learned(at)
                self.after_slice()
            if self.interrupt() and not drains:
                return
        self.consumed = self.source.rows
        self.store_reading()

    def check_columns(self, block: Block) -> None:
        """Check the columns of the first block."""
        options, model = self.options, self.model
        require_columns([options.target, *options.ignore], self.source.columns)
        if getattr(model, "task_", model.task) != "classification":
            self.source.require_clear_target(options.target)
        require_features(block.table, [*model.ignore, options.target], model.max_categories)
        self.store_reading()

    def learn_slice(self, block: Block, at: int, n: int) -> float:
        """Learn rows `at` to `at + n` of a block, and return the seconds that took."""
        start = time.perf_counter()
        try:
            in_good_parts(partial(self.take, block), at, n, partial(self.refuse, block))
        except TableError as error:
            raise self.failure(error, block.number(at)) from None
        seconds = time.perf_counter() - start
        self.view.seconds += seconds
        self.say_task()
        self.source.print_notes()
        return seconds

    def take(self, block: Block, at: int, n: int) -> None:
        """Learn rows that are all good, or raise a `TableError`."""
        rows, model = block.table.slice(at, n), self.model
        if model.intervals is None:
            self.view.keep(rows, model.learn_encoded(rows, block.encoded, at))
        else:
            both = model.learn_encoded(rows, block.encoded, at, return_intervals=True)
            self.view.keep(rows, *both)
        self.consumed = block.number(at + n - 1) + 1
        self.store_reading()

    def refuse(self, block: Block, at: int, error: TableError) -> None:
        """Skip a bad row, or raise its error."""
        row = block.number(at)
        self.source.refuse(row, self.failure(error, row))

    def failure(self, error: TableError, first: int) -> Failure:
        """Return the error of a row, and what to do if the algorithm is for the other task."""
        if self.model.intervals is not None and error.what.startswith("intervals are for numbers"):
            what = f"the target {self.model.target!r} holds classes"
            return not_for_classes(what, quantities=True)
        found, task = table_failure(error, first), getattr(self.model, "task_", self.model.task)
        chosen = self.options.task not in (None, "auto")
        if chosen or not re.search("class|regression", error.what):
            return found
        return Failure(f"{found}{task_hint(self.model.algorithm, task)}")

    def finish(self) -> None:
        """At the end of the data, learn the rows of an incomplete warm-up."""
        try:
            self.model.finish()
        except TableError as error:
            raise self.failure(error, 0) from None
        self.say_task()
        self.source.print_notes()

    def say_task(self) -> None:
        """Add a note on the task that was found, once."""
        if not self.task_was_said and hasattr(self.model, "task_"):
            self.task_was_said = True
            self.source.notes.append(task_note(self.model))

    def store_reading(self) -> None:
        """Store in the model how its data was read, if not with the defaults."""
        source, learned = self.source, self.model.n_rows_ - self.start
        reading = {
            "decimal": None if source.decimal == "." else source.decimal,
            "date_formats": source.date_formats,
            "skipped": self.bad_before + (self.consumed - self.consumed_before) - learned,
        }
        kept = {name: value for name, value in reading.items() if value}
        if kept:
            self.model.reading_ = kept
        elif hasattr(self.model, "reading_"):
            del self.model.reading_

    # Between slices

    def rows_to_checkpoint(self) -> int:
        """Return how many rows to learn before the next checkpoint."""
        step = self.options.checkpoint_every
        return LARGEST_SLICE if step is None else step - self.model.n_rows_ % step

    def after_slice(self) -> None:
        """Draw, report and store, if it is time."""
        self.view.update()
        step = self.options.checkpoint_every
        if step is not None and self.model.n_rows_ % step == 0:
            self.save()
        self.checkpoint()

    def checkpoint(self) -> None:
        """Store the model if it is time."""
        if self.options.checkpoint_every is None and time.monotonic() - self.saved_at > CHECKPOINT:
            self.save()

    def save(self, *, always: bool = False) -> None:
        """Store the model if it has changed, or `always`."""
        rows = self.model.n_rows_
        if self.options.model is not None and rows and (always or rows != self.saved_rows):
            try:
                self.model.save(self.options.model)
            except OSError as error:
                raise _unsaved(error, self.options.model, rows) from None
        self.saved_rows, self.saved_at = rows, time.monotonic()


def _unsaved(error: OSError, path: Path, rows: int) -> Unsaved:
    """Return the error for a model that could not be written, with what the file holds."""
    try:
        n = load_table_model(path).n_rows_
        kept = f"{path} holds a whole model of {plural(n, 'row')}: --resume goes on from it"
    except (OSError, ValueError, Failure):
        kept = f"{path} holds no model"
    learned = f"{plural(rows, 'row')} {'was' if rows == 1 else 'were'} learned"
    return Unsaved(f"{path}: {error.strerror or error}\n{learned}; {kept}")
