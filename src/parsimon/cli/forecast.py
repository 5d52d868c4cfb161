"""``parsimon forecast``: check the options, and make or load the model."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsimon import plots
from parsimon._files import only_writer
from parsimon.cli.errors import Failure
from parsimon.cli.forecast_run import ForecastRun
from parsimon.cli.intervals import require_share
from parsimon.cli.model_files import load_model
from parsimon.cli.paths import require_different, require_writable
from parsimon.cli.table_writer import output_format
from parsimon.forecasting import Forecaster

__all__ = ["Options", "forecast"]

#: The horizon and the coverage of a new model.
HORIZON, COVERAGE = 24, 0.9


@dataclass
class Options:
    """The options of `forecast`."""

    data: str
    target: str
    time: str | None = None
    horizon: int | None = None
    seasons: list[int] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    coverage: float | None = None
    out: Path | None = None
    plot: Path | None = None
    model: Path | None = None
    resume: bool = False
    new_rows: bool = False
    overwrite: bool = False
    json: bool = False
    ignore: list[str] = field(default_factory=list)
    delimiter: str | None = None
    decimal: str | None = None
    date_format: list[str] = field(default_factory=list)


def forecast(options: Options) -> int:
    """Learn the rows of the data, and print the forecasts."""
    _check(options)
    with nullcontext() if options.model is None else only_writer(options.model):
        return ForecastRun(options, _find_model(options)).run()


def _check(options: Options) -> None:
    """Fail now if an option has no meaning, or a file cannot be written."""
    paths = {"--plot": options.plot, "--out": options.out, "--model": options.model}
    require_different({"DATA": options.data, **paths})
    for name, path in paths.items():
        if path is not None:
            require_writable(path, regular=name == "--model")
    output_format(options.out)
    if options.plot is not None:
        plots.require_drawable(options.plot)
    require_share(options.coverage)
    for what, column in (("target", options.target), ("time", options.time)):
        if column in options.ignore:
            raise Failure(f"--ignore {column} is the {what}")
    if options.time == options.target:
        raise Failure(f"--time and --target are the same column, {options.target!r}")
    if options.resume and options.model is None:
        raise Failure("--resume needs --model, the file to go on from")
    if options.new_rows and not options.resume:
        raise Failure("--new-rows is for --resume")
    if options.overwrite and options.resume:
        raise Failure("--overwrite begins anew, --resume goes on: give one of them")


def _find_model(options: Options) -> Forecaster:
    """Return the model to learn: a new one, or the one of --model."""
    if options.model is None or not options.model.exists():
        return _new_model(options)
    if not options.resume and not options.overwrite:
        raise Failure(
            f"{options.model} exists: --resume goes on from it, "
            "--overwrite learns anew in its place"
        )
    held = load_model(options.model)
    if not isinstance(held, Forecaster):
        verb = "does not go on from" if options.resume else "does not replace"
        raise Failure(
            f"{options.model} holds a {type(held).__name__}, which `forecast` {verb}: "
            "choose another name"
        )
    return _resumed_model(options, options.model, held) if options.resume else _new_model(options)


def _new_model(options: Options) -> Forecaster:
    model = Forecaster(
        horizon=HORIZON if options.horizon is None else options.horizon,
        seasons=options.seasons or None,
        known=options.known,
        coverage=COVERAGE if options.coverage is None else options.coverage,
    )
    model._checked_parameters()
    return model


def _resumed_model(options: Options, path: Path, model: Forecaster) -> Forecaster:
    """Return the model of a file, if it was learned with the same options."""
    reading = getattr(model, "reading_", None)
    if reading is None:
        raise Failure(
            f"{path} does not say which columns and rows it has learned: "
            "it was not learned by `forecast`"
        )
    seasons: Any = model.seasons or []  # a list: the model was learned by `forecast`
    asked_and_own: dict[str, tuple[Any, Any]] = {
        "target": (options.target, reading["target"]),
        "time": (options.time, reading["time"]),
        "horizon": (options.horizon, model.horizon),
        "season": (sorted(options.seasons) or None, sorted(seasons)),
        "known": (sorted(options.known) or None, sorted(model.known)),
        "intervals": (options.coverage, model.coverage),
        "ignore": (sorted(options.ignore) or None, sorted(reading["ignore"])),
    }
    for name, (asked, own) in asked_and_own.items():
        if asked is not None and asked != own:
            other = "" if name == "target" else f"leave --{name} out, or "
            has = f"has --{name} {own}, not {asked}" if own else f"was learned without --{name}"
            raise Failure(f"{path} {has}: {other}learn a new model")
    return model
