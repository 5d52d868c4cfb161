"""``parsimon compare``: several algorithms and other models on one stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from parsimon import plots
from parsimon.cli.compare_run import CompareRun
from parsimon.cli.errors import Failure
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.intervals import not_for_classes, require_share
from parsimon.cli.paths import require_different, require_writable
from parsimon.cli.peers import PEERS
from parsimon.cli.reading import Source
from parsimon.cli.screen import Screen
from parsimon.cli.words import choose
from parsimon.tables import ALGORITHMS, TASKS

__all__ = ["Options", "compare"]


@dataclass
class Options:
    """The options of `compare`. No algorithms means all of them."""

    data: str
    target: str
    task: str = "auto"
    algorithms: list[str] = field(default_factory=list)
    peers: list[str] = field(default_factory=list)
    budget: int | None = None
    intervals: float | None = None
    rows: int | None = None
    plot: Path | None = None
    ignore: list[str] = field(default_factory=list)
    as_lines: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    date_format: list[str] = field(default_factory=list)
    bad_rows: str = "error"


def compare(options: Options) -> int:
    """Learn one stream with several models, and print the scores of each."""
    _check(options)
    interrupt = Interrupt()
    title = f"{options.target} of {options.data}"
    with (
        Source(
            options.data,
            unused=options.ignore,
            delimiter=options.delimiter,
            stopped=interrupt,
            decimal=options.decimal,
            date_formats=options.date_format,
            bad_rows=options.bad_rows,
        ) as source,
        interrupt,
        Screen(as_lines=options.as_lines, title=title) as screen,
    ):
        run = CompareRun(options, source, screen, interrupt)
        try:
            run.learn_stream()
        except Failure:
            if run.rows:  # show the scores of the rows before the error
                run.finish()
                run.print_scores()
            raise
        run.finish()
    run.print_scores()
    return interrupt.exit_code


def _check(options: Options) -> None:
    """Fail if an option has no meaning, or a file cannot be written."""
    for name in options.algorithms:
        choose(ALGORITHMS, name, "algorithm")
    choose(dict.fromkeys(TASKS), options.task, "task")
    require_share(options.intervals)
    if options.intervals is not None and options.task == "classification":
        raise not_for_classes("--task is classification")
    for name in options.peers:
        choose(PEERS, name, "peer").require()
    if options.target in options.ignore:
        raise Failure(f"--ignore {options.target} is the target")
    if options.plot is not None:
        require_different({"DATA": options.data, "--plot": options.plot})
        require_writable(options.plot)
        plots.require_drawable(options.plot)
