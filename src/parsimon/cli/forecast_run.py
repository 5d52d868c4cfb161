"""One run of `forecast`: read rows, learn them, forecast, and write what was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import parsimon
from parsimon.cli.errors import Failure
from parsimon.cli.forecast_view import ERROR_OF, draw_forecasts, print_forecasts
from parsimon.cli.interrupt import Interrupt
from parsimon.cli.reading import Source, require_columns, table_failure
from parsimon.cli.table_writer import output_format, table_writer
from parsimon.cli.words import plural
from parsimon.forecasting import Forecaster
from parsimon.forecasting.times import TimeError
from parsimon.preprocessing import Column, TableError, read_table

if TYPE_CHECKING:
    from parsimon.cli.forecast import Options

__all__ = ["ForecastRun"]

#: The number of last rows in a picture, in horizons, and the least number.
DRAWN, LEAST_DRAWN = 4, 100
#: The columns of the output beside the times.
COLUMNS = ("step", "forecast", "low", "high")


class ForecastRun:
    """One run of the command.

    Rows without a target at the end of the data are held back: they are the future, whose known
    columns can be used. Files are written at the end. A signal before that changes no file.

    Attributes
    ----------
    start : rows of the data that the model had learned before this run.
    n_learned : rows of the data that this run has learned.
    n_skipped : rows of the data that this run has skipped, because the model knows them.
    held : the rows that are held back.
    last : the last times and values, for the picture.
    """

    def __init__(self, options: Options, model: Forecaster) -> None:
        self.options, self.model = options, model
        reading = getattr(model, "reading_", None) or {}
        self.start = int(reading.get("rows", 0))
        self.n_learned, self.n_skipped = 0, 0 if options.new_rows else self.start
        self.time = reading.get("time", options.time)
        self.ignore = options.ignore or reading.get("ignore", [])
        self.kinds: dict[str, str] = dict(reading.get("kinds", {}))
        self.held: Any = None
        self.last: Any = model.last_values(self.n_drawn)
        self.zoned = bool(reading.get("zoned", False))
        kinds = {**model.column_kinds_, **self.kinds}
        self.source = Source(
            options.data,
            kinds={} if "empty" in kinds.values() else kinds,  # such a column has no kind yet
            unused=self.ignore,
            delimiter=options.delimiter,
            decimal=options.decimal or reading.get("decimal"),
            date_formats=options.date_format or reading.get("date_formats", []),
        )

    @property
    def n_held(self) -> int:
        """The number of rows that are held back."""
        return 0 if self.held is None else int(self.held.num_rows)

    @property
    def n_drawn(self) -> int:
        """The number of last rows in a picture."""
        return max(DRAWN * self.model.horizon, LEAST_DRAWN)

    def run(self) -> int:
        """Learn, forecast, write and print, and return the exit code."""
        with self.source:
            self.learn_all()
            if not self.model.n_rows_:
                raise Failure(
                    f"{self.source.path} has no row with a value of {self.options.target!r}"
                )
            found = self.forecast()
        with Interrupt() as interrupt:  # all files are written, or none
            self.write(found)
        if not interrupt():
            print_forecasts(self, found)
        return interrupt.exit_code

    # Learning

    def learn_all(self) -> None:
        """Learn the rows of the data that are new."""
        o = self.options
        named = [o.target, *([] if self.time is None else [self.time]), *self.model.known]
        for block in self.source.blocks(self.n_skipped):
            self.source.print_notes()
            require_columns([*named, *self.ignore], self.source.columns)
            with _places(self.first, self.time):
                self.take(block.table)

    @property
    def first(self) -> int:
        """The first row of the data that is neither learned nor skipped."""
        return self.n_skipped + self.n_learned

    def take(self, rows: Any) -> None:
        """Learn a block of rows, but for those at its end that have no target."""
        if self.held is not None:
            rows = pa.concat_tables([self.held, rows], promote_options="default")
        target = self.numbers(rows)
        there = np.flatnonzero(~np.isnan(target))
        n = int(there[-1]) + 1 if len(there) else 0
        if n:
            self.learn(rows.slice(0, n), target[:n])
        self.held = rows.slice(n) if n < len(target) else None
        self.n_learned += n

    def numbers(self, rows: Any) -> Any:
        """Return the targets of rows."""
        target = self.options.target
        column = read_table(rows, [target])[target]
        if column.kind not in ("number", "boolean", "empty"):
            raise Failure(f"--target {target} is {column.kind}: forecasts are numbers")
        if column.kind == "empty":
            return np.full(len(column.values), np.nan)
        self.kinds[target] = column.kind
        return column.values

    def learn(self, rows: Any, target: Any) -> None:
        """Learn rows with their targets."""
        unused = {self.options.target, self.time, *self.ignore}
        model, times = self.model, None
        used = model.column_kinds_ if model.n_rows_ else rows.column_names
        names = [name for name in rows.column_names if name in used and name not in unused]
        shown: Any = np.arange(model.n_rows_, model.n_rows_ + len(target))
        if self.time is not None:
            times = rows.column(self.time)
            column: Column = read_table(rows, [self.time])[self.time]
            if column.kind == "text":
                raise TableError(
                    "times must be timestamps, dates or numbers, got text: "
                    "--date-format reads other formats",
                    self.time,
                )
            self.kinds[self.time], shown = column.kind, column.values
            if column.kind != "number":
                shown = np.rint(1e6 * shown).astype("datetime64[us]")
            self.zoned = getattr(times.type, "tz", None) is not None
        model.learn(target, rows.select(names) if names else None, times)
        before = self.last if len(self.last[0]) else (shown[:0], target[:0])
        joined = (np.concatenate(pair) for pair in zip(before, (shown, target), strict=True))
        self.last = tuple(part[-self.n_drawn :] for part in joined)

    # Forecasting

    def forecast(self) -> dict[str, Any]:
        """Return the table of forecasts: step, time, forecast and interval."""
        model, future = self.model, self.future()
        with _places(self.first, self.time):
            values, bounds = model.forecast(intervals=True, **future)
        times = model.future_times()
        shown = times.astype(str) if times.dtype.kind == "M" else times + (0 if self.time else 1)
        mark = "+00:00" if self.zoned else ""
        found = {
            "step": np.arange(1, model.horizon + 1).tolist(),
            self.time_name: [f"{time}{mark}" for time in shown] if mark else shown.tolist(),
            "forecast": values.tolist(),
        }
        for side, end in zip(("low", "high"), bounds.T, strict=True):
            found[side] = [value if np.isfinite(value) else None for value in end.tolist()]
        return found

    @property
    def time_name(self) -> str:
        """The column of the times in the output, which has columns of its own."""
        if self.time is None:
            return "row"
        taken = self.time in COLUMNS or self.time.startswith(ERROR_OF)
        return "time" if taken else self.time

    def future(self) -> dict[str, Any]:
        """Return the known columns of the rows that are held back, with their times."""
        model, n = self.model, self.n_held
        if not model.known:
            return {}
        if not n or (self.time is None and n < model.horizon):
            raise Failure(
                f"--known needs {plural(model.horizon, 'row')} without {self.options.target} at "
                f"the end of the data, with the known columns of the future; there are {n:,}"
            )
        columns = self.held.select(list(model.known))
        if self.time is None:
            return {"X_future": columns.slice(0, model.horizon)}
        return {"X_future": columns, "times_future": self.held.column(self.time)}

    # Output

    def write(self, found: dict[str, Any]) -> None:
        """Write the table, the picture and the model."""
        o, model = self.options, self.model
        if o.out is not None:
            with table_writer(o.out, output_format(o.out) or "csv") as write:
                types = {"low": pa.float64(), "high": pa.float64()}  # also if all are empty
                write(pa.table({name: pa.array(c, types.get(name)) for name, c in found.items()}))
        if o.plot is not None:
            draw_forecasts(self, found, o.plot)
        if o.model is not None:
            model.reading_ = self.reading()
            parsimon.persistence.save(model, o.model)

    def reading(self) -> dict[str, Any]:
        """Return how the data were read, for a run that goes on from the model."""
        return {
            "target": self.options.target,
            "time": self.time,
            "ignore": list(self.ignore),
            "rows": self.start + self.n_learned,
            "kinds": self.kinds,
            "zoned": self.zoned,
            "decimal": self.source.decimal or ".",
            "date_formats": self.source.date_formats,
        }


@contextmanager
def _places(first: int, time: str | None) -> Iterator[None]:
    """Turn errors about rows into failures that name the row of the data and the column."""
    try:
        yield
    except TableError as error:
        if isinstance(error, TimeError):
            error.column = time
        raise table_failure(error, first) from None
