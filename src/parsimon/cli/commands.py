"""The commands, with their help.

A command imports its code when it runs. So help, the version and usage errors do not need
scikit-learn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import parsimon
from parsimon.cli import options as o
from parsimon.cli.choices import PEERS
from parsimon.cli.serve import serve

__all__ = ["app"]

ABOUT = "Learn nonlinear models from streams of rows, in a fixed amount of memory."

app = typer.Typer(
    name="parsimon", help=ABOUT, rich_markup_mode=None, pretty_exceptions_enable=False
)
datasets = typer.Typer(help="Example streams.", rich_markup_mode=None)
app.add_typer(datasets, name="datasets")
app.command()(serve)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"parsimon {parsimon.__version__}")
        raise typer.Exit


@app.callback(help=ABOUT)
def every_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> None:
    """Take the options that come before a command."""


@app.command()
def learn(
    data: o.Data,
    target: o.Target,
    task: o.Task = None,
    algorithm: o.Algorithm = None,
    budget: o.Budget = None,
    intervals: o.Intervals = None,
    model: o.ModelFile = None,
    resume: o.Resume = False,
    overwrite: o.Overwrite = False,
    new_rows: o.NewRows = False,
    checkpoint_every: o.CheckpointEvery = None,
    plot: o.TracePlot = None,
    report: o.ReportFile = None,
    json: o.Json = False,
    follow: o.Follow = False,
    every: o.Every = 1000,
    ignore: o.Ignore = None,
    missing: o.Missing = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    date_format: o.DateFormat = None,
    bad_rows: o.BadRows = "error",
) -> int:
    """Learn to predict a column from the others, row by row, and print the scores.

    Each row is predicted before it is learned, so the scores are those of unseen rows. Ctrl-C stops
    and keeps the model.

    \b
    Examples:
      parsimon learn stream.csv --target y
      parsimon learn stream.csv --target y --budget 100 --model y.parsimon --resume --plot y.png
      parsimon learn stream.csv --target y --intervals 0.9 --plot y.png
    """
    given = {k: v for k, v in locals().items() if k not in ("ignore", "date_format")}
    from parsimon.cli.learn import Options
    from parsimon.cli.learn import learn as run_learn

    return run_learn(Options(**given, ignore=ignore or [], date_format=date_format or []))


@app.command()
def predict(
    model: o.LearnedModel,
    data: o.Data,
    out: o.TableFile = None,
    column: o.Column = "prediction",
    probabilities: o.Probabilities = False,
    intervals: o.WithIntervals = False,
    delimiter: o.Delimiter = None,
    all_digits: o.AllDigits = False,
    decimal: o.Decimal = None,
    date_format: o.DateFormat = None,
    next_row: o.NextRow = False,
) -> int:
    """Copy rows, with a column of predictions.

    \b
    Example:
      parsimon predict y.parsimon stream.csv --out predicted.csv
    """
    from parsimon.cli.predict import predict as run_predict

    return run_predict(
        model,
        data,
        out,
        column,
        probabilities,
        intervals,
        delimiter,
        all_digits,
        decimal,
        date_format or [],
        next_row,
    )


@app.command()
def evaluate(
    model: o.LearnedModel,
    data: o.Data,
    json: o.Json = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    date_format: o.DateFormat = None,
    bad_rows: o.BadRows = "error",
) -> int:
    """Score a model on rows that it does not learn.

    \b
    Example:
      parsimon evaluate y.parsimon stream.csv
    """
    from parsimon.cli.evaluate import evaluate as run_evaluate

    return run_evaluate(model, data, json, delimiter, decimal, date_format or [], bad_rows)


@app.command()
def inspect(model: o.AnyModel, plot: o.ModelPlot = None, json: o.Json = False) -> int:
    """Show what is in a model file: parameters, columns, centres, memory, experts and relevance.

    \b
    Examples:
      parsimon inspect y.parsimon
      parsimon inspect y.parsimon --plot model.png
    """
    from parsimon.cli.inspect import inspect as run_inspect

    return run_inspect(model, json, plot)


@app.command()
def compare(
    data: o.Data,
    target: o.Target,
    task: o.CompareTask = "auto",
    algorithm: o.Algorithms = None,
    peer: o.Peer = None,
    peers: o.Peers = False,
    budget: o.Budget = None,
    intervals: o.Intervals = None,
    rows: o.FirstRows = None,
    plot: o.ComparePlot = None,
    ignore: o.Ignore = None,
    json: o.Json = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    date_format: o.DateFormat = None,
    bad_rows: o.BadRows = "error",
) -> int:
    """Learn one stream with several algorithms, and compare their scores.

    A linear model, the mean or most frequent label, and the last target are shown for comparison.
    Each model predicts a row before it learns it.

    \b
    Examples:
      parsimon compare stream.csv --target y --algorithm default --algorithm knlms
      parsimon compare stream.csv --target y --algorithm default --peers --rows 300 --plot c.png
    """
    from parsimon.cli.compare import Options
    from parsimon.cli.compare import compare as run_compare

    return run_compare(
        Options(
            data,
            target,
            task,
            algorithms=algorithm or [],
            peers=list(PEERS) if peers else list(dict.fromkeys(peer or [])),
            budget=budget,
            intervals=intervals,
            rows=rows,
            plot=plot,
            ignore=ignore or [],
            as_lines=json,
            delimiter=delimiter,
            decimal=decimal,
            date_format=date_format or [],
            bad_rows=bad_rows,
        )
    )


@app.command()
def forecast(
    data: o.Data,
    target: o.SeriesTarget,
    time: o.TimeColumn = None,
    horizon: o.Horizon = None,
    season: o.Seasons = None,
    known: o.KnownColumns = None,
    intervals: o.Coverage = None,
    out: o.TableFile = None,
    plot: o.ForecastPlot = None,
    model: o.ModelFile = None,
    resume: o.Resume = False,
    new_rows: o.NewRows = False,
    overwrite: o.Overwrite = False,
    json: o.Json = False,
    ignore: o.Ignore = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    date_format: o.DateFormat = None,
) -> int:
    """Learn a series in order of time, and forecast its next values with intervals.

    Rows must be in order of time. Other columns are used too. Rows at the end that have no value of
    the target are the future: their --known columns are used. Ctrl-C stops and changes no file.

    \b
    Examples:
      parsimon forecast stream.csv --target y --horizon 24
      parsimon forecast stream.csv --target y --model y.parsimon --resume
      parsimon forecast stream.csv --target y --ignore x1 --horizon 12 --plot y.png --out y.csv
    """
    from parsimon.cli.forecast import Options
    from parsimon.cli.forecast import forecast as run_forecast

    return run_forecast(
        Options(
            data,
            target,
            time,
            horizon,
            seasons=season or [],
            known=known or [],
            coverage=intervals,
            out=out,
            plot=plot,
            model=model,
            resume=resume,
            new_rows=new_rows,
            overwrite=overwrite,
            json=json,
            ignore=ignore or [],
            delimiter=delimiter,
            decimal=decimal,
            date_format=date_format or [],
        )
    )


@app.command()
def export(
    model: o.AnyModel,
    out: o.ExportFile,
    format: o.ExportFormat = None,
    name: o.FunctionName = "model",
    encoded: o.Encoded = False,
) -> int:
    """Write a model as ONNX, as a C header or for LIBSVM.

    ONNX and C contain the encoding: columns go in, and targets in their own units come out. A
    number that is NaN is missing, and so is an empty string in ONNX, or NULL in C. LIBSVM takes
    encoded features, and the encoding is printed.

    The default model also uses the last targets. They are further inputs: lag_1 is the target of
    the row before, lag_2 the one before that. NaN, or a label that is not known, means the target
    that was last when the model was exported.

    \b
    Example:
      parsimon export y.parsimon y.h
    """
    from parsimon.cli.export import export_model

    return export_model(model, out, format, name, encoded)


@app.command()
def merge(
    models: o.MergedModels,
    out: o.MergedFile,
    budget: o.MergeBudget = None,
    tolerance: o.Tolerance = None,
) -> int:
    """Merge estimators that were saved in Python with model.save, not those that learn wrote.

    The distance of the result from the sum is printed.

    \b
    Example:
      parsimon merge a.parsimon b.parsimon --out both.parsimon
    """
    from parsimon.cli.merge import merge as run_merge

    return run_merge(models, out, budget, tolerance)


@app.command()
def reproduce(
    names: o.Experiments = None,
    output: o.ResultsFolder = Path("results"),
    data_dir: o.DataFolder = None,
    quick: o.Quick = False,
) -> int:
    """Run experiments of the papers and on signals by name, or list them.

    \b
    Example:
      parsimon reproduce honeine-2007/bounds --quick
    """
    from parsimon.cli.reproduce import reproduce as run_reproduce

    return run_reproduce(names or [], output, data_dir, quick)


@datasets.command(name="list")
def list_datasets() -> int:
    """List the streams that can be generated, and the real data sets that can be fetched.

    \b
    Example:
      parsimon datasets list
    """
    from parsimon.cli.data_sets import list_datasets as run_list

    return run_list()


@datasets.command()
def generate(
    name: o.DatasetName, rows: o.RowCount = 10000, seed: o.Seed = 0, out: o.TableFile = None
) -> int:
    """Write a generated stream with columns x1, x2, ... and y.

    \b
    Example:
      parsimon datasets generate honeine --rows 2000 --out stream.csv
    """
    from parsimon.cli.data_sets import generate as run_generate

    return run_generate(name, rows, seed, out)


@datasets.command()
def fetch(
    name: o.DatasetName,
    data_dir: o.DataFolder = None,
    out: o.TableFile = None,
    seed: o.ShuffleSeed = None,
) -> int:
    """Write a real data set as a table. The target is the last column.

    \b
    Example:
      parsimon datasets fetch bikes --out bikes.csv
    """
    from parsimon.cli.data_sets import fetch as run_fetch

    return run_fetch(name, data_dir, seed, out)
