"""``parsimon forecast``: learn a series in order of time, and forecast its next values."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import parsimon
from parsimon import plots
from parsimon._files import only_writer
from parsimon.cli.errors import Failure
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.intervals import require_share
from parsimon.cli.model_facts import mean_weights
from parsimon.cli.model_files import load_model
from parsimon.cli.paths import require_different, require_writable
from parsimon.cli.reading import Source, require_columns, table_failure
from parsimon.cli.table_writer import output_format, table_writer
from parsimon.cli.text import as_json, lines, table
from parsimon.cli.words import plural
from parsimon.forecasting import Forecaster
from parsimon.forecasting.rows import TimeError
from parsimon.forecasting.structure import STARTS
from parsimon.plots.drawing import plain
from parsimon.preprocessing import Column, TableError, read_table

__all__ = ["Options", "forecast"]

#: The number of last rows in a picture, in horizons, and the least number.
DRAWN, LEAST_DRAWN = 4, 100


@dataclass
class Options:
    """The options of `forecast`."""

    data: str
    target: str
    time: str | None = None
    horizon: int = 24
    seasons: list[int] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    coverage: float = 0.9
    out: Path | None = None
    plot: Path | None = None
    model: Path | None = None
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
        _require_replaceable(options)
        return _forecast(options)


def _forecast(options: Options) -> int:
    format_name, interrupt = output_format(options.out), Interrupt()
    run = _Run(options)
    with (
        Source(
            options.data,
            unused=options.ignore,
            delimiter=options.delimiter,
            stopped=interrupt,
            decimal=options.decimal,
            date_formats=options.date_format,
        ) as source,
        interrupt,
    ):
        for block in source.blocks():
            source.print_notes()
            require_columns(run.named, source.columns)
            first = block.first - run.n_held
            try:
                run.take(block.table)
            except TableError as error:
                if isinstance(error, TimeError):
                    error.column = options.time
                raise table_failure(error, first) from None
            if interrupt():
                return interrupt.exit_code
    if not run.model.n_rows_:
        raise Failure(f"{options.data} has no row with a value of {options.target!r}")
    found = run.forecast()
    if options.out is not None:
        with table_writer(options.out, format_name or "csv") as write:
            types = {"low": pa.float64(), "high": pa.float64()}  # also if all of them are empty
            write(pa.table({name: pa.array(c, types.get(name)) for name, c in found.items()}))
    if options.plot is not None:
        run.draw(options.plot, found)
    if options.model is not None:
        parsimon.persistence.save(run.model, options.model)
    _print(options, run, found)
    return 0


def _check(options: Options) -> None:
    """Fail now if an option has no meaning, or a file cannot be written."""
    paths = {"--plot": options.plot, "--out": options.out, "--model": options.model}
    require_different({"DATA": options.data, **paths})
    for name, path in paths.items():
        if path is not None:
            require_writable(path, regular=name == "--model")
    if options.plot is not None:
        plots.require_drawable(options.plot)
    require_share(options.coverage)
    for what, column in (("target", options.target), ("time", options.time)):
        if column in options.ignore:
            raise Failure(f"--ignore {column} is the {what}")
    if options.time == options.target:
        raise Failure(f"--time and --target are the same column, {options.target!r}")


def _require_replaceable(options: Options) -> None:
    """Fail if --model exists, unless it is a forecaster and may be replaced."""
    if options.model is None or not options.model.exists():
        return
    if not options.overwrite:
        raise Failure(f"{options.model} exists: --overwrite learns anew in its place")
    held = load_model(options.model)
    if not isinstance(held, Forecaster):
        raise Failure(
            f"{options.model} holds a {type(held).__name__}, which `forecast` does not replace: "
            "choose another name"
        )


class _Run:
    """One run of `forecast`.

    Rows without a target at the end of the data are held back: they are the future, whose known
    columns can be used.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.model = Forecaster(
            horizon=options.horizon,
            seasons=options.seasons or None,
            known=options.known,
            coverage=options.coverage,
        )
        self.model._checked_parameters()
        self.held: Any = None
        self.last: list[tuple[float, float]] = []
        self.kind, self.zoned = "number", False

    @property
    def n_held(self) -> int:
        """The number of rows that are held back."""
        return 0 if self.held is None else int(self.held.num_rows)

    @property
    def named(self) -> list[str]:
        """The columns that options name."""
        o = self.options
        return [o.target, *([] if o.time is None else [o.time]), *o.known, *o.ignore]

    def take(self, rows: Any) -> None:
        """Learn a block of rows, but for those at its end that have no target."""
        if self.held is not None:
            rows = pa.concat_tables([self.held, rows], promote_options="default")
            self.held = None
        target = self._number(rows)
        there = np.flatnonzero(~np.isnan(target))
        n = int(there[-1]) + 1 if len(there) else 0
        if n < len(target):
            self.held = rows.slice(n)
        if n:
            self._learn(rows.slice(0, n), target[:n])

    def forecast(self) -> dict[str, Any]:
        """Return the table of forecasts: step, time, forecast and interval."""
        o, future = self.options, None
        if o.known:
            n = self.n_held
            if n < o.horizon:
                raise Failure(
                    f"--known needs {plural(o.horizon, 'row')} without {o.target} at the end of "
                    f"the data, with the known columns of the future; there are {n:,}"
                )
            future = self.held.select(o.known).slice(0, o.horizon)
        values, bounds = self.model.forecast(X_future=future, intervals=True)
        times = self.model.future_times()
        name = o.time or "row"
        shown = times.astype(str) if times.dtype.kind == "M" else times + (0 if o.time else 1)
        mark = "+00:00" if self.zoned else ""
        found = {
            "step": np.arange(1, o.horizon + 1).tolist(),
            name: [f"{time}{mark}" for time in shown] if mark else shown.tolist(),
            "forecast": values.tolist(),
        }
        for side, end in zip(("low", "high"), bounds.T, strict=True):
            found[side] = [value if np.isfinite(value) else None for value in end.tolist()]
        return found

    def notes(self, found: dict[str, Any]) -> list[str]:
        """Return what the user should know about the forecasts."""
        model, each = self.model, []
        if not model.expert_names_:
            start = next(s for s in STARTS if s >= 2 * self.options.horizon)
            few = f"fewer than {start:,}" if model.n_rows_ < start else "too few"
            season = max(model.seasons_, default=0)
            what = f"the value {plural(season, 'row')} before" if season else "the last value"
            each.append(f"{few} rows: {what} is the forecast")
        if None in found["low"]:
            each.append("some intervals are empty: too few forecasts have been scored")
        if self.zoned:
            each.append(f"the times of {self.options.time} have a zone: future times are in UTC")
        return each

    def draw(self, path: Path, found: dict[str, Any]) -> None:
        """Draw the last values and the forecasts."""
        o = self.options
        times, values = np.array(self.last).T
        ahead = self.model.future_times()
        past: Any = times
        if self.kind != "number":
            past = np.rint(1e6 * times).astype("datetime64[us]")
        bounds: Any = np.array([found["low"], found["high"]], dtype=np.float64).T
        plots.forecast(
            path,
            (past, values),
            (ahead, found["forecast"]),
            bounds=bounds if np.isfinite(bounds).any() else None,
            errors=self.model.errors_,
            name=o.target,
            title=plain(f"{o.target} of {o.data}", 80),
        )

    def _number(self, rows: Any) -> Any:
        column = read_table(rows, [self.options.target])[self.options.target]
        if column.kind not in ("number", "boolean", "empty"):
            raise Failure(f"--target {self.options.target} is {column.kind}: forecasts are numbers")
        return np.full(len(column.values), np.nan) if column.kind == "empty" else column.values

    def _learn(self, rows: Any, target: Any) -> None:
        o = self.options
        unused = {o.target, o.time, *o.ignore}
        names = [name for name in rows.column_names if name not in unused]
        first, times = self.model.n_rows_, None
        clock = np.arange(first, first + len(target), dtype=np.float64)
        if o.time is not None:
            times = rows.column(o.time)
            column: Column = read_table(rows, [o.time])[o.time]
            if column.kind == "text":
                raise TableError(
                    "times must be timestamps, dates or numbers, got text: "
                    "--date-format reads other formats",
                    o.time,
                )
            self.kind, clock = column.kind, column.values
            self.zoned = getattr(times.type, "tz", None) is not None
        self.model.learn(target, rows.select(names) if names else None, times)
        keep = max(DRAWN * o.horizon, LEAST_DRAWN)
        self.last = [*self.last, *zip(clock.tolist(), target.tolist(), strict=True)][-keep:]


def _print(options: Options, run: _Run, found: dict[str, Any]) -> None:
    """Print the forecasts as a table, or as lines of JSON."""
    for note in run.notes(found):
        print(f"parsimon: note: {note}", file=sys.stderr)
    columns = found | {f"error of {name}": e.tolist() for name, e in run.model.errors_.items()}
    each = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if options.json:
        for row in each:
            print(as_json(row))
        return
    model = run.model
    seasons = ", ".join(map(str, model.seasons_)) or "none found"
    pairs = [("rows", f"{model.n_rows_:,}"), ("seasons", seasons)]
    if len(model.weights_.T):
        shown = sorted(mean_weights(model).items(), key=lambda item: -item[1])[:4]
        pairs.append(("models", ", ".join(f"{name} {w:.2f}" for name, w in shown if w > 0.005)))
    written = {"forecasts": options.out, "plot": options.plot, "model": options.model}
    pairs += [(name, str(path)) for name, path in written.items() if path is not None]
    print(lines(pairs))
    print()
    header = list(columns)
    print(table(header, [[_shown(value) for value in row.values()] for row in each], left=(1,)))


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
