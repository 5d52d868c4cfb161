"""``parsimon learn``: test, then learn, over a stream, with checkpoints from which it goes on
exactly.
"""

from __future__ import annotations

import base64
import errno
import html
import os
import re
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Self

import parsimon
from parsimon import plots
from parsimon._files import is_stream, only_writer, write_whole
from parsimon.cli.curve import Curve
from parsimon.cli.display import (
    Screen,
    byte_size,
    honest,
    lines,
    model_scores,
    why_no_scores,
)
from parsimon.cli.kinds import looks_like
from parsimon.cli.progress import Progress
from parsimon.cli.reading import (
    Block,
    Failure,
    Source,
    failure,
    in_good_parts,
    require_features,
    require_known,
)
from parsimon.cli.words import choose, plural
from parsimon.evaluation import Report
from parsimon.plots.drawing import render, save
from parsimon.plots.streams import trace_figure
from parsimon.preprocessing import TableError
from parsimon.tables import ALGORITHMS, TASKS, TableModel, make_estimator

__all__ = [
    "Interrupt",
    "Options",
    "Pace",
    "column_kinds",
    "learn",
    "load_model",
    "load_table_model",
    "reading_of",
    "require_writable",
    "summary",
    "task_hint",
    "task_note",
]

#: Seconds between looks at a FIFO that has no reader.
PAUSE = 0.1
#: Seconds between checkpoints, where no number of rows is given.
CHECKPOINT = 30.0
#: Rows that are learned at a time, at the beginning and at most; as many as take about this many
#: seconds.
SLICE, LARGEST_SLICE, SECONDS = 256, 16384, 0.1


class Pace:
    """How many rows to learn at a time: as many as take about so many seconds, within bounds."""

    def __init__(self, start: int, least: int, most: int, seconds: float) -> None:
        self.rows, self._least, self._most, self._seconds = start, least, most, seconds

    def took(self, rows: int, seconds: float) -> None:
        """Learn from a whole slice how long the next ones should be."""
        if rows != self.rows:
            return
        if seconds < self._seconds / 2:
            self.rows = min(2 * rows, self._most)
        elif seconds > 2 * self._seconds:
            self.rows = max(rows // 2, self._least)


class Interrupt:
    """Ctrl-C and SIGTERM, held back until a block is learned. A second one does not wait."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Whether one came."""
        return self.number is not None

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def reader(self, path: Path | None) -> Iterator[bool]:
        """Wait until a FIFO has a reader. Give False if a signal came first.

        Within the block the FIFO can be opened without waiting. Other files need no reader.
        """
        if path is None or not (path.exists() and stat.S_ISFIFO(path.stat().st_mode)):
            yield True
            return
        descriptor = self._open_for_writing(path)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _open_for_writing(self, path: Path) -> int | None:
        while True:
            try:
                return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:  # which says that it has no reader
                    raise
            if self():
                return None
            time.sleep(PAUSE)

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.number is not None:
            raise KeyboardInterrupt
        self.number = number


@dataclass
class Options:
    """What `learn` was asked for.

    None is whatever the model that is resumed has, or the default.
    """

    data: str
    target: str
    task: str | None = None
    algorithm: str | None = None
    budget: int | None = None
    model: Path | None = None
    resume: bool = False
    new_rows: bool = False
    overwrite: bool = False
    checkpoint_every: int | None = None
    plot: Path | None = None
    report: Path | None = None
    json: bool = False
    follow: bool = False
    every: int = 1000
    ignore: list[str] = field(default_factory=list)
    missing: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    date_format: list[str] = field(default_factory=list)
    bad_rows: str = "error"


def learn(options: Options) -> int:
    """Run the command, and return its exit code."""
    require_apart(
        {
            "DATA": options.data,
            "--model": options.model,
            "--plot": options.plot,
            "--report": options.report,
        }
    )
    for path in (options.model, options.plot, options.report):
        if path is not None:
            require_writable(path, regular=path is options.model)
    if options.target in options.ignore:
        raise Failure(f"--ignore {options.target} is the target")
    for picture in (options.plot, None if options.report is None else "report.png"):
        if picture is not None:
            plots.require_drawable(picture)  # what is missing shows now, not after hours
    if (options.resume or options.checkpoint_every) and options.model is None:
        raise Failure("--resume and --checkpoint-every need --model, the file to go on from")
    if options.new_rows and not options.resume:
        raise Failure("--new-rows is for --resume")
    if options.overwrite and options.resume:
        raise Failure("--overwrite begins anew, --resume goes on: give one of them")
    with nullcontext() if options.model is None else only_writer(options.model):
        return _Run(options, _model(options), Interrupt()).run()


def _model(options: Options) -> TableModel:
    """Return the model to learn: a new one, or that of a file."""
    if options.model is None or not options.model.exists():
        return _new(options)
    if options.resume:
        return _resumed(options)
    if not options.overwrite:
        raise Failure(
            f"{options.model} exists: --resume goes on from it, --overwrite learns anew in its place"
        )
    load_table_model(options.model)  # nothing else is replaced
    return _new(options)


def require_apart(paths: dict[str, str | Path | None]) -> None:
    """Refuse one file for two things."""
    met: dict[Path, str] = {}
    for what, path in paths.items():
        if path is None or str(path) == "-":
            continue
        place = Path(os.path.realpath(path))
        if place in met:
            raise Failure(f"{what} and {met[place]} are the same file, {path}")
        met[place] = what


def require_writable(path: Path, *, regular: bool = False) -> None:
    """Refuse a path that cannot be written; if `regular`, also a FIFO or a device."""
    if path.is_dir():
        raise Failure(f"{path} is a folder: it cannot be written as a file")
    try:
        stream = is_stream(path)
        if stream and regular:
            raise Failure(f"{path} is not a regular file, which a model needs: choose another name")
        if not stream:  # opening a FIFO would wait for a reader
            with tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))):
                pass
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror or error}") from None
    if path.exists() and not os.access(path, os.W_OK):
        raise Failure(f"{path} cannot be written: it is read-only")


def load_model(path: Path) -> Any:
    """Return the model of a file. A file of another kind is named."""
    try:
        return parsimon.load(path)
    except parsimon.ModelFileError:
        with open(path, "rb") as file:
            kind = looks_like(file.read(8192))
        if kind == "a model file":
            raise
        raise Failure(f"{path} is not a model file: it looks like {kind}") from None


def load_table_model(path: Path) -> TableModel:
    """Return the model of a file that `learn` has written."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise Failure(
            f"{path} holds a {type(model).__name__}, which knows no columns: it was not learned by `learn`"
        )
    return model


def column_kinds(model: TableModel) -> dict[str, str]:
    """Return the kinds of the columns that a model has met, the target included; none of a new one."""
    if hasattr(model, "encoder_"):
        return {**model.encoder_.columns_, model.target: model._target_kind}
    held = getattr(model, "_held", None) or {}
    return {name: column.kind for name, column in held.items() if column.kind != "empty"}


def reading_of(
    model: TableModel, decimal: str | None, date_formats: Sequence[str]
) -> dict[str, Any]:
    """Return how to read data for a model: as asked for, or else as its data were read before."""
    kept = getattr(model, "reading_", {})
    return {
        "decimal": decimal or kept.get("decimal"),
        "date_formats": date_formats or kept.get("date_formats", []),
    }


def task_note(model: TableModel) -> str:
    """Return what "auto" took the task for, why, and what to do if that is wrong."""
    other = {
        "classification": "; --task regression if they are quantities",
        "regression": "; --task classification if they are labels",
    }
    doubtful = "whole number" in model.task_reason_
    return f"task: {model.task_} ({model.task_reason_}){other[model.task_] if doubtful else ''}"


def task_hint(algorithm: str, task: str) -> str:
    """Return what to do if a target does not fit an algorithm that is for one task only."""
    if len(ALGORITHMS.get(algorithm, ())) != 1:
        return ""
    other = "regression" if task == "classification" else "classification"
    names = ", ".join(name for name, tasks in ALGORITHMS.items() if other in tasks)
    return f"; --algorithm {algorithm} is for {task} only, for {other} there are {names}"


def summary(model: TableModel) -> list[tuple[str, str]]:
    """Return what there is to say about a model: the same whatever way it took to be there."""
    skipped = getattr(model, "reading_", {}).get("skipped", 0)
    bad = f", besides {skipped:,} bad ones that were skipped" if skipped else ""
    if model.metrics_ is None:
        return [("rows", f"{model.n_rows_:,}, still warming up ({model.warmup} are needed){bad}")]
    classes = f", classes: {len(model.classes_)}" if model.task_ == "classification" else ""
    return [
        ("rows", f"{model.n_rows_:,}{bad}"),
        ("task", f"{model.task_} of {model.target!r}{classes}"),
        ("algorithm", f"{model.algorithm}: {type(model.estimator_).__name__}"),
        *model_scores(model.metrics_, model.warmup),
        ("centres", f"{model.n_centers_:,}"),
        ("memory", byte_size(model.nbytes_)),
    ]


def _new(options: Options) -> TableModel:
    task, algorithm = options.task or "auto", options.algorithm or "default"
    choose(dict.fromkeys(TASKS), task, "task")
    tasks = list(choose(ALGORITHMS, algorithm, "algorithm"))
    if task == "auto" and len(tasks) == 1:
        task = tasks[0]
    # What is wrong with it shows here
    make_estimator(algorithm, tasks[0] if task == "auto" else task, options.budget)
    return TableModel(
        options.target,
        task=task,
        algorithm=algorithm,
        budget=options.budget,
        missing=options.missing or "mean",
        ignore=options.ignore,
    )


def _resumed(options: Options) -> TableModel:
    assert options.model is not None
    model = load_table_model(options.model)
    found = {
        "target": (options.target, model.target),
        "task": (
            None if options.task == "auto" else options.task,
            getattr(model, "task_", model.task),
        ),
        "algorithm": (options.algorithm, model.algorithm),
        "budget": (options.budget, model.budget),
        "missing": (options.missing, model.missing),
        "ignore": (sorted(options.ignore) or None, sorted(model.ignore)),
    }
    for name, (asked, has) in found.items():
        if asked is not None and asked != has and not (name == "task" and has == "auto"):
            other = "" if name == "target" else f"leave --{name} out, or "
            shown = "of its own" if has is None else has
            raise Failure(
                f"{options.model} has --{name} {shown}, not {asked}: {other}learn a new model"
            )
    if options.task is not None and not hasattr(model, "task_"):
        model.task = options.task  # it is still open
    return model


class Unsaved(Failure):
    """A model that was learned and could not be written."""


def _unsaved(error: OSError, path: Path, rows: int) -> Unsaved:
    try:
        n = load_table_model(path).n_rows_
        kept = f"{path} holds a whole model of {plural(n, 'row')}: --resume goes on from it"
    except (OSError, ValueError, Failure):
        kept = f"{path} holds no model"
    learned = f"{plural(rows, 'row')} {'was' if rows == 1 else 'were'} learned"
    return Unsaved(f"{path}: {error.strerror or error}\n{learned}; {kept}")


class _Run:
    """One run of the command."""

    def __init__(self, options: Options, model: TableModel, interrupt: Interrupt) -> None:
        self.options, self.model, self.interrupt = options, model, interrupt
        self.start = model.n_rows_
        self.bad = getattr(model, "reading_", {}).get("skipped", 0)  # before this run
        # Rows of the data, bad ones included
        self.consumed = 0 if options.new_rows else self.start + self.bad
        self.before = self.consumed
        self.explained = hasattr(model, "task_") or model.task != "auto"
        self.began = self.saved_at = time.monotonic()
        self.saved = self.start
        self.told = self.start // options.every
        self.seconds = 0.0  # spent on learning
        self.progress = Progress()
        self.curve: Curve[Report] = Curve()
        self.drawn: dict[str, Path] = {}  # the plot and the report, once they are written
        self.source = Source(
            options.data,
            kinds=column_kinds(model),
            unused=options.ignore or model.ignore,
            delimiter=options.delimiter,
            follow=options.follow,
            stopped=interrupt,
            **reading_of(model, options.decimal, options.date_format),
            bad_rows=options.bad_rows,
            bad_before=self.consumed if self.bad else 0,
        )

    def run(self) -> int:
        """Learn, draw and print, and return the exit code."""
        with self.source, self.interrupt:
            self.learn_all()
            self.draw()
        self.end()
        return 0 if self.interrupt.number is None else 128 + self.interrupt.number

    def learn_all(self) -> None:
        """Learn the rows, and store the model."""
        options, model = self.options, self.model
        title = f"{options.target} of {options.data}"
        with Screen(as_lines=options.json, title=title) as self.screen:
            try:
                self.stream()
            except (Failure, OSError) as error:
                if (
                    options.model is None
                    or model.n_rows_ == self.start
                    or isinstance(error, Unsaved)
                ):
                    raise
                self.save()
                if isinstance(error, OSError):
                    raise
                rows = plural(model.n_rows_, "row")
                kept = "is" if model.n_rows_ == 1 else "are"
                raise Failure(
                    f"{error}\n{rows} {kept} learned and kept in {options.model}"
                ) from None
            if not self.interrupt():
                self.finish()
            if not model.n_rows_ and not self.interrupt():
                bad = f" that can be used: {self.source.rows:,} are bad" if self.source.rows else ""
                raise Failure(f"{options.data} has no rows{bad}")
            self.save(always=True)
            self.report(last=True)

    def stream(self) -> None:
        pace = Pace(SLICE, 1, LARGEST_SLICE, SECONDS)
        for block in self.source.ahead(self.consumed, self.checkpoint):
            if not self.seconds:
                self.require_plain_target()
                require_known(self.options.ignore, self.source.columns)
                require_features(
                    block.table,
                    [*self.model.ignore, self.options.target],
                    self.model.max_categories,
                )
                self.keep_reading()
            self.progress.begin(block)
            at = 0
            while at < block.table.num_rows and not self.interrupt():
                n = min(
                    pace.rows,
                    block.table.num_rows - at,
                    self.until_checkpoint(),
                    self.until_report(),
                )
                pace.took(n, self.slice(block, at, n))
                at += n
                self.progress.learned(at)
                self.after_slice()
            if self.interrupt():
                return
        self.consumed = self.source.rows
        self.keep_reading()

    def slice(self, block: Block, at: int, n: int) -> float:
        start = time.perf_counter()
        try:
            in_good_parts(partial(self.take, block), at, n, partial(self.refuse, block))
        except TableError as error:
            raise self.explained_failure(error, block.number(at)) from None
        seconds = time.perf_counter() - start
        self.seconds += seconds
        self.explain()
        self.source.tell()
        return seconds

    def take(self, block: Block, at: int, n: int) -> None:
        self.model.learn(block.table.slice(at, n))
        self.consumed = block.number(at + n - 1) + 1
        self.keep_reading()

    def refuse(self, block: Block, at: int, error: TableError) -> None:
        row = block.number(at)
        self.source.refuse(row, self.explained_failure(error, row))

    def finish(self) -> None:
        """Let learning begin with the rows that there are, at the end of the data."""
        try:
            self.model.finish()
        except TableError as error:
            raise self.explained_failure(error, 0) from None
        self.explain()
        self.source.tell()

    def explain(self) -> None:
        """Say which task was found, once."""
        if not self.explained and hasattr(self.model, "task_"):
            self.explained = True
            self.source.notes.append(task_note(self.model))

    def explained_failure(self, error: TableError, first: int) -> Failure:
        """Return the error, and what to do if the algorithm is not for such a target."""
        found, task = failure(error, first), getattr(self.model, "task_", self.model.task)
        chosen = self.options.task not in (None, "auto")
        if chosen or not re.search("class|regression", error.what):
            return found
        return Failure(f"{found}{task_hint(self.model.algorithm, task)}")

    def require_plain_target(self) -> None:
        if getattr(self.model, "task_", self.model.task) != "classification":
            self.source.require_plain(self.options.target)

    def keep_reading(self) -> None:
        """Keep in the model how its data were read, if not in the usual way."""
        source = self.source
        skipped = self.bad + (self.consumed - self.before) - (self.model.n_rows_ - self.start)
        usual = {
            "decimal": None if source.decimal == "." else source.decimal,
            "date_formats": source.date_formats,
        }
        kept = {name: value for name, value in {**usual, "skipped": skipped}.items() if value}
        if kept:
            self.model.reading_ = kept
        elif hasattr(self.model, "reading_"):
            del self.model.reading_

    def until_checkpoint(self) -> int:
        step = self.options.checkpoint_every
        return LARGEST_SLICE if step is None else step - self.model.n_rows_ % step

    @property
    def draws(self) -> bool:
        """Whether there will be a picture."""
        return self.options.plot is not None or self.options.report is not None

    def until_report(self) -> int:
        """Return how many rows there are to the next point of the plot or line of JSON, if there is
        one.
        """
        rows, every = self.model.n_rows_, self.options.every
        to_line = every - rows % every if self.options.json else LARGEST_SLICE
        return min(to_line, self.curve.until(rows)) if self.draws else to_line

    def after_slice(self) -> None:
        rows, step = self.model.n_rows_, self.options.checkpoint_every
        if self.draws and not rows % self.curve.stride and self.model.metrics_ is not None:
            self.curve.add(rows, self.now())
        if rows // self.options.every > self.told:
            self.told = rows // self.options.every
            self.report()
        elif self.screen.live:
            self.show(self.now())
        if step is not None and rows % step == 0:
            self.save()
        self.checkpoint()

    def checkpoint(self) -> None:
        """Store the model if it is time."""
        if self.options.checkpoint_every is None and time.monotonic() - self.saved_at > CHECKPOINT:
            self.save()

    def save(self, *, always: bool = False) -> None:
        rows = self.model.n_rows_
        if self.options.model is not None and rows and (always or rows != self.saved):
            try:
                self.model.save(self.options.model)
            except OSError as error:
                raise _unsaved(error, self.options.model, rows) from None
        self.saved, self.saved_at = rows, time.monotonic()

    # What is shown

    def now(self) -> Report:
        model, metrics = self.model, self.model.metrics_
        if metrics is None:
            return Report(model.n_rows_, self.seconds, None, None, {}, {})
        scored = honest(metrics, model.warmup)
        return Report(model.n_rows_, self.seconds, model.n_centers_, model.nbytes_, *scored)

    def report(self, *, last: bool = False) -> None:
        if not (self.options.json or last or self.screen.live):
            return
        report = self.now()
        if last and self.draws and report.total:
            self.curve.add(report.rows, report, last=True)
        if last or self.screen.live:
            self.show(report)
        if not last:
            self.screen.tell({"event": "progress", **self.facts(report)})

    def facts(self, report: Report) -> dict[str, Any]:
        return {
            "rows": report.rows,
            "skipped": getattr(self.model, "reading_", {}).get("skipped", 0),
            "rows_per_second": self.rate(),
            "centres": report.centers,
            "bytes": report.bytes,
            "total": report.total,
            "rolling": report.rolling,
        }

    def rate(self) -> float:
        elapsed = time.monotonic() - self.began
        return (self.model.n_rows_ - self.start) / elapsed if elapsed > 0 else 0.0

    def show(self, report: Report) -> None:
        self.screen.draw(report, self.rate(), self.progress.fraction, self.progress.left)

    def draw(self) -> None:
        options = self.options
        if not self.curve.points:
            if self.draws:
                print("parsimon: note: no row was scored, so nothing is drawn", file=sys.stderr)
            return
        reports = [report for _, report in self.curve.points]
        title = f"{options.target} of {Path(options.data).name}"
        reason = why_no_scores(self.model.metrics_, self.model.warmup)
        figure = trace_figure(reports, title, missing=f"no scores: {reason}")
        if options.plot is not None:
            self.write("plot", options.plot, partial(save, figure))
        if options.report is not None:
            page = _page(title, summary(self.model), render(figure, "png")).encode()
            self.write("report", options.report, lambda path: write_whole(path, page))

    def write(self, what: str, path: Path, write: Callable[[Path], object]) -> None:
        """Write the plot or the report, unless a signal comes while a FIFO has no reader."""
        with self.interrupt.reader(path) as ready:
            if ready:
                write(path)
                self.drawn[what] = path
            else:
                print(f"parsimon: note: {path} has no reader: it is not written", file=sys.stderr)

    def end(self) -> None:
        stopped = (
            None if self.interrupt.number is None else signal.Signals(self.interrupt.number).name
        )
        options = self.options
        kept = None if options.model is None else str(options.model)
        if options.json:
            event = {
                "event": "end",
                **self.facts(self.now()),
                "task": getattr(self.model, "task_", None),
            }
            self.screen.tell({**event, "target": options.target, "model": kept, "stopped": stopped})
            return
        pairs = summary(self.model)
        written = {"model": kept, **self.drawn}
        pairs += [(name, str(path)) for name, path in written.items() if path is not None]
        n, elapsed = self.model.n_rows_ - self.start, time.monotonic() - self.began
        speed = f"{plural(n, 'row')} in {elapsed:.1f} s, {self.rate():,.0f} rows/s"
        pairs.append(("this run", speed))
        print(lines(pairs))
        if stopped is not None:
            hint = "" if kept is None else ": go on with --resume"
            print(f"stopped by {stopped}{hint}", file=sys.stderr)


def _page(title: str, pairs: list[tuple[str, str]], picture: bytes) -> str:
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in pairs
    )
    image = base64.b64encode(picture).decode()
    style = "body{font-family:sans-serif;max-width:50em;margin:2em auto}th{text-align:left;padding-right:2em}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title><style>{style}</style>'
        f"<h1>{html.escape(title)}</h1><table>{rows}</table>"
        f'<img alt="error and centres against the rows" style="max-width:100%" src="data:image/png;base64,{image}"></html>\n'
    )
