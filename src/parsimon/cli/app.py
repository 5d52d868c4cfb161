"""The commands, their options and their help.

A command imports what it runs when it runs: help, the version and errors of usage need no
scikit-learn.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

import parsimon
from parsimon.cli import missing_dependency
from parsimon.cli.choices import ALGORITHMS, PEERS
from parsimon.cli.errors import Failure
from parsimon.cli.process import STDOUT, StandardOutput, drop_output, ended_by_signals

__all__ = ["app", "run"]

app = typer.Typer(
    name="parsimon",
    help="Learn nonlinear models from streams of rows, in a memory that is set beforehand.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
#: The base of typer's errors about the command line.
UsageError: Any = typer.BadParameter.__base__

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, JSON lines, Parquet or Arrow IPC, plain or gzip or zstd; - is standard input.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates the values of a CSV. Default: found in the header."),
]
Decimal = Annotated[
    str | None,
    typer.Option(help="The decimal mark of a CSV, . or , (default: found out, or the model's)."),
]
DateFormat = Annotated[
    list[str] | None,
    typer.Option(
        help="How dates are written, as in %m/%d/%Y, besides ISO 8601. May be given more than once."
    ),
]
BadRows = Annotated[
    str,
    typer.Option(
        help="error: stop at a row that cannot be used; skip: leave it out, and count it."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]
Kept = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that learn has written.")]


def _version(asked: bool) -> None:
    if asked:
        print(f"parsimon {parsimon.__version__}")
        raise typer.Exit


@app.callback()
def every_command(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")] = False,
) -> None:  # fmt: skip
    """Learn nonlinear models from streams of rows, in a memory that is set beforehand."""


def run(arguments: list[str]) -> int:
    """Run a command, and return the exit code. Errors are a line or two on stderr."""
    # What scikit-learn has to say of many classes is said in one line, when they are too many.
    # After a broken pipe typer replaces both standard files. They are restored at the end.
    output = StandardOutput(sys.stdout)
    with (
        warnings.catch_warnings(),
        redirect_stdout(output),
        redirect_stderr(sys.stderr),
        ended_by_signals(),
    ):
        warnings.filterwarnings("ignore", message="The number of unique classes")
        command = typer.main.get_command(app)
        code = _run(lambda: command.main(arguments, prog_name="parsimon", standalone_mode=False))
        return code or _run(output.flush)  # what is still held back may not fit


def _run(action: Callable[[], Any]) -> int:
    """Do something, and return the exit code."""
    try:
        return int(action() or 0)
    except UsageError as error:
        context = getattr(error, "ctx", None)
        name = "parsimon" if context is None else context.command_path
        return _refused(f"{error.format_message().rstrip('.')}; see {name} --help")
    except (KeyboardInterrupt, typer.Abort):
        return 128 + signal.SIGINT
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer makes this of a broken pipe
            return _failed(error.__context__)
        return int(error.code or 0)  # after a signal
    except OSError as error:
        return _failed(error)
    except (Failure, ValueError, ImportError) as error:
        missing = missing_dependency(error)
        # A TableError has the message without the place in a block, which means nothing here.
        return _refused(missing or getattr(error, "what", None) or str(error))


def _failed(error: OSError) -> int:
    if error.filename == STDOUT:
        drop_output()
        if isinstance(error, BrokenPipeError):  # whoever read has gone
            return 128 + getattr(signal, "SIGPIPE", 13)
    place = f"{error.filename}: " if error.filename else ""
    return _refused(f"{place}{error.strerror or error}")


def _refused(message: str) -> int:
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError):  # the exit code says it too
            print(f"parsimon: error: {message}", file=sys.stderr, flush=True)
    return 2


@app.command()
def learn(
    data: Data,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    task: Annotated[str | None, typer.Option(help="regression, classification, or auto: by the target's values.")] = None,
    algorithm: Annotated[str | None, typer.Option(help=f"One of {', '.join(ALGORITHMS)}.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="The most centres. Default: the algorithm's own.")] = None,
    model: Annotated[Path | None, typer.Option(help="Keep the model in this file.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from --model, if it exists; rows already learned are skipped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Learn anew in place of a --model that exists.")] = False,
    new_rows: Annotated[bool, typer.Option("--new-rows", help="With --resume: DATA has further rows only, so none is skipped.")] = False,
    checkpoint_every: Annotated[int | None, typer.Option(min=1, help="Write --model every so many rows. Default: every 30 seconds.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw error and centres against the rows. The suffix chooses the format: .png, .pdf, .svg, .jpg, ...")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page of HTML with the summary and the plot.")] = None,
    json: Json = False,
    follow: Annotated[bool, typer.Option("--follow", help="Take rows as they come, and wait for more, until Ctrl-C.")] = False,
    every: Annotated[int, typer.Option(min=1, help="Rows between points of the plot and lines of --json.")] = 1000,
    ignore: Annotated[list[str] | None, typer.Option(help="A column not to look at. May be given more than once.")] = None,
    missing: Annotated[str | None, typer.Option(help="mean: a missing value is the mean, or a category; error: it is refused.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    bad_rows: BadRows = "error",
) -> int:  # fmt: skip
    """Learn to predict a column from the others, row by row, and say how well that goes.

    Every row is predicted first and learned then, so the figures are those of rows never seen.
    Ctrl-C keeps what was learned.

    \b
    Examples:
      parsimon learn stream.csv --target y
      parsimon learn stream.csv --target y --budget 100 --model y.parsimon --resume --plot y.png
    """
    given = {k: v for k, v in locals().items() if k not in ("ignore", "date_format")}
    from parsimon.cli.learn import Options
    from parsimon.cli.learn import learn as run_learn

    return run_learn(Options(**given, ignore=ignore or [], date_format=date_format or []))


@app.command()
def predict(
    model: Kept,
    data: Data,
    out: Annotated[Path | None, typer.Option(help="Write CSV, JSON lines or Parquet, by suffix. Default: standard output.")] = None,
    column: Annotated[str, typer.Option(help="The name of the new column.")] = "prediction",
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Add the probability of each class.")] = False,
    delimiter: Delimiter = None,
    all_digits: Annotated[bool, typer.Option("--all-digits", help="Print numbers in full. Default: as many digits as matter; Parquet has all of them.")] = False,
    decimal: Decimal = None,
    date_format: DateFormat = None,
) -> int:  # fmt: skip
    """Copy rows, with a column for what the model predicts.

    \b
    Example:
      parsimon predict y.parsimon stream.csv --out predicted.csv
    """
    from parsimon.cli import use

    return use.predict(
        model, data, out, column, probabilities, delimiter, all_digits, decimal, date_format or []
    )


@app.command()
def evaluate(
    model: Kept,
    data: Data,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    bad_rows: BadRows = "error",
) -> int:
    """Say how well a model predicts rows, from which it does not learn.

    \b
    Example:
      parsimon evaluate y.parsimon stream.csv
    """
    from parsimon.cli import use

    return use.evaluate(model, data, json, delimiter, decimal, date_format or [], bad_rows)


@app.command()
def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    plot: Annotated[Path | None, typer.Option(help="Draw the weights, the spectrum and the places of the centres. The suffix chooses the format, as in learn.")] = None,
    json: Json = False,
) -> int:  # fmt: skip
    """Show what is in a model file: parameters, columns, centres, norm, coherence, memory, and what
    it was learned from.

    \b
    Examples:
      parsimon inspect y.parsimon
      parsimon inspect y.parsimon --plot model.png
    """
    from parsimon.cli import use

    return use.inspect(model, json, plot)


@app.command()
def compare(
    data: Data,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    task: Annotated[str, typer.Option(help="regression, classification or auto.")] = "auto",
    algorithm: Annotated[list[str] | None, typer.Option(help="One to take part; may be given more than once. Default: all.")] = None,
    peer: Annotated[list[str] | None, typer.Option(help=f"A model of others to take part: {', '.join(PEERS)}. May be given more than once.")] = None,
    peers: Annotated[bool, typer.Option("--peers", help="All of these. They take up to milliseconds a row.")] = False,
    budget: Annotated[int | None, typer.Option(min=1, help="The most centres, for all of them.")] = None,
    rows: Annotated[int | None, typer.Option(min=1, help="Take the first so many rows only.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the errors of all against the rows. The suffix chooses the format: .png, .pdf, .svg, .jpg, ...")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column not to look at. May be given more than once.")] = None,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    date_format: DateFormat = None,
    bad_rows: BadRows = "error",
) -> int:  # fmt: skip
    """Learn one stream with several algorithms, and show them beside a linear model, doing nothing,
    and the streaming models of others.

    Each row is predicted first and learned then, by all of them.

    \b
    Examples:
      parsimon compare stream.csv --target y --algorithm default --algorithm knlms
      parsimon compare stream.csv --target y --algorithm default --peers --rows 300 --plot c.png
    """
    chosen = list(PEERS) if peers else list(dict.fromkeys(peer or []))
    from parsimon.cli.compare import Options
    from parsimon.cli.compare import compare as run_compare

    return run_compare(
        Options(
            data,
            target,
            task,
            algorithm or [],
            chosen,
            budget,
            rows,
            plot,
            ignore or [],
            as_lines=json,
            delimiter=delimiter,
            decimal=decimal,
            date_format=date_format or [],
            bad_rows=bad_rows,
        )
    )


@app.command()
def export(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    out: Annotated[Path, typer.Argument(help="The file to write: .onnx, .h or .libsvm.")],
    format: Annotated[
        str | None, typer.Option(help="onnx, c or libsvm. Default: by the suffix.")
    ] = None,
    name: Annotated[
        str, typer.Option(help="What the functions of a C header begin with.")
    ] = "model",
) -> int:
    """Write a model as ONNX, as a C header or for LIBSVM.

    The encoding of columns is not part of it; it is printed.

    \b
    Example:
      parsimon export y.parsimon y.h
    """
    from parsimon.cli import use

    return use.export_model(model, out, format, name)


@app.command()
def merge(
    models: Annotated[list[Path], typer.Argument(help="Files of estimators of one kind.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    budget: Annotated[int | None, typer.Option(min=1, help="The most centres.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0.0, help="How far it may be from the sum.")
    ] = None,
) -> int:
    """Add up estimators that were learned in parts, and say how far the result is from the sum.

    \b
    Example:
      parsimon merge a.parsimon b.parsimon --out both.parsimon
    """
    from parsimon.cli import use

    return use.merge(models, out, budget, tolerance)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments. Default: list them.")
    ] = None,
    output: Annotated[Path, typer.Option(help="The folder for tables and pictures.")] = Path(
        "results"
    ),
    data_dir: Annotated[
        Path | None, typer.Option(help="The folder of real data sets. Default: fetched.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few runs: a smoke test, not the paper's figures.")
    ] = False,
) -> int:
    """Run the papers' experiments by name, or list them.

    \b
    Example:
      parsimon reproduce honeine-2007/bounds --quick
    """
    from parsimon.cli import use

    return use.reproduce(names or [], output, data_dir, quick)


datasets = typer.Typer(help="Streams to try things with.", rich_markup_mode=None)
app.add_typer(datasets, name="datasets")


@datasets.command(name="list")
def list_datasets() -> int:
    """List the streams that can be generated, and the real data sets that can be fetched.

    \b
    Example:
      parsimon datasets list
    """
    from parsimon.cli import use

    return use.list_datasets()


@datasets.command()
def generate(
    name: Annotated[str, typer.Argument(help="A name from the list.")],
    rows: Annotated[int, typer.Option(min=1, help="How many.")] = 10000,
    seed: Annotated[int, typer.Option(min=0, help="Where the random numbers begin.")] = 0,
    out: Annotated[Path | None, typer.Option(help="CSV, JSON lines or Parquet, by suffix. Default: standard output.")] = None,
) -> int:  # fmt: skip
    """Write a stream with columns x1, x2, ... and y.

    \b
    Example:
      parsimon datasets generate honeine --rows 2000 --out stream.csv
    """
    from parsimon.cli import use

    return use.generate(name, rows, seed, out)


@datasets.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name from the list.")],
    data_dir: Annotated[Path | None, typer.Option(help="The folder that holds it, as a NumPy archive. Default: fetched.")] = None,
    out: Annotated[Path | None, typer.Option(help="CSV, JSON lines or Parquet, by suffix. Default: standard output.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Shuffle the rows, by random numbers that begin here. Default: as they come.")] = None,
) -> int:  # fmt: skip
    """Write a real data set as a table, with the names of its columns; the target is the last of
    them.

    \b
    Example:
      parsimon datasets fetch bikes --out bikes.csv
    """
    from parsimon.cli import use

    return use.fetch(name, data_dir, seed, out)
