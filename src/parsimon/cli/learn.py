"""``parsimon learn``: check the options, and make or load the model."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from parsimon import plots
from parsimon._files import only_writer
from parsimon.cli.errors import Failure
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.intervals import not_for_classes, require_share
from parsimon.cli.learn_run import LearnRun
from parsimon.cli.model_files import load_table_model
from parsimon.cli.paths import require_different, require_writable
from parsimon.cli.words import choose
from parsimon.tables import ALGORITHMS, TASKS, TableModel, make_estimator

__all__ = ["Options", "learn"]


@dataclass
class Options:
    """The options of `learn`. None is the resumed model's own value, or the default."""

    data: str
    target: str
    task: str | None = None
    algorithm: str | None = None
    budget: int | None = None
    intervals: float | None = None
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
    _check_files(options)
    if options.target in options.ignore:
        raise Failure(f"--ignore {options.target} is the target")
    require_share(options.intervals)
    if (options.resume or options.checkpoint_every) and options.model is None:
        raise Failure("--resume and --checkpoint-every need --model, the file to go on from")
    if options.new_rows and not options.resume:
        raise Failure("--new-rows is for --resume")
    if options.overwrite and options.resume:
        raise Failure("--overwrite begins anew, --resume goes on: give one of them")
    with nullcontext() if options.model is None else only_writer(options.model):
        return LearnRun(options, _find_model(options), Interrupt()).run()


def _check_files(options: Options) -> None:
    """Fail now, and not after hours, if a file cannot be written."""
    paths = {"--model": options.model, "--plot": options.plot, "--report": options.report}
    require_different({"DATA": options.data, **paths})
    for name, path in paths.items():
        if path is not None:
            require_writable(path, regular=name == "--model")
    for picture in (options.plot, None if options.report is None else "report.png"):
        if picture is not None:
            plots.require_drawable(picture)


def _find_model(options: Options) -> TableModel:
    """Return the model to learn: a new one, or the one of --model."""
    if options.model is None or not options.model.exists():
        return _new_model(options)
    if options.resume:
        return _resumed_model(options, options.model)
    if not options.overwrite:
        raise Failure(
            f"{options.model} exists: --resume goes on from it, "
            "--overwrite learns anew in its place"
        )
    load_table_model(options.model)  # only a model file may be replaced
    return _new_model(options)


def _new_model(options: Options) -> TableModel:
    task, algorithm = options.task or "auto", options.algorithm or "default"
    choose(dict.fromkeys(TASKS), task, "task")
    tasks = list(choose(ALGORITHMS, algorithm, "algorithm"))
    if task == "auto" and len(tasks) == 1:
        task = tasks[0]
    if task == "classification" and options.intervals is not None:
        asked = "--task" if options.task == task else f"--algorithm {algorithm}"
        raise not_for_classes(f"{asked} is {'' if asked == '--task' else 'for '}classification")
    # This raises an error now if the options do not fit the algorithm.
    make_estimator(algorithm, tasks[0] if task == "auto" else task, options.budget)
    return TableModel(
        options.target,
        task=task,
        algorithm=algorithm,
        budget=options.budget,
        missing=options.missing or "mean",
        ignore=options.ignore,
        intervals=options.intervals,
    )


def _resumed_model(options: Options, path: Path) -> TableModel:
    """Return the model of a file, if it was learned with the same options."""
    model = load_table_model(path)
    asked_and_own = {
        "target": (options.target, model.target),
        "task": (
            None if options.task == "auto" else options.task,
            getattr(model, "task_", model.task),
        ),
        "algorithm": (options.algorithm, model.algorithm),
        "budget": (options.budget, model.budget),
        "intervals": (options.intervals, model.intervals),
        "missing": (options.missing, model.missing),
        "ignore": (sorted(options.ignore) or None, sorted(model.ignore)),
    }
    for name, (asked, own) in asked_and_own.items():
        if asked is not None and asked != own and not (name == "task" and own == "auto"):
            other = "" if name == "target" else f"leave --{name} out, or "
            has = f"has --{name} {'of its own' if own is None else own}, not {asked}"
            if name == "intervals" and own is None:
                has = "was learned without --intervals"
            raise Failure(f"{path} {has}: {other}learn a new model")
    if options.task is not None and not hasattr(model, "task_"):
        model.task = options.task  # the warm-up has not decided it yet
    return model
