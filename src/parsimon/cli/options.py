"""The arguments and options of the commands, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parsimon.cli.choices import ALGORITHMS, PEERS

PICTURES = "The suffix chooses the format: .png, .pdf, .svg, .jpg, ..."
TABLES = "The suffix chooses CSV, JSON lines or Parquet. Default: standard output."

# Data and models

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, JSON lines, Parquet or Arrow IPC, plain or gzip or zstd; - is standard input.",
    ),
]
LearnedModel = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that learn has written.")
]
AnyModel = Annotated[Path, typer.Argument(help="A model file.")]

# Reading

Delimiter = Annotated[
    str | None,
    typer.Option(help="The separator of the values in a CSV. Default: found in the header."),
]
Decimal = Annotated[
    str | None,
    typer.Option(help="The decimal mark of a CSV, . or , (default: detected, or the model's)."),
]
DateFormat = Annotated[
    list[str] | None,
    typer.Option(
        help="A format of dates besides ISO 8601, such as %m/%d/%Y. May be given more than once."
    ),
]
BadRows = Annotated[
    str,
    typer.Option(help="error: stop at a row that cannot be used; skip: skip it and count it."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="A column that is not used. May be given more than once."),
]
Missing = Annotated[
    str | None,
    typer.Option(
        help="mean: replace a missing value by the mean, or by a category for text; "
        "error: reject it."
    ),
]

# What to learn

Target = Annotated[str, typer.Option(help="The column to predict.")]
Task = Annotated[
    str | None,
    typer.Option(help="regression, classification, or auto: decided by the target's values."),
]
CompareTask = Annotated[str, typer.Option(help="regression, classification or auto.")]
Algorithm = Annotated[str | None, typer.Option(help=f"One of {', '.join(ALGORITHMS)}.")]
Algorithms = Annotated[
    list[str] | None,
    typer.Option(help="An algorithm to compare. May be given more than once. Default: all."),
]
Budget = Annotated[
    int | None,
    typer.Option(min=1, help="The largest number of centres. Default: the algorithm's own."),
]
Intervals = Annotated[
    float | None,
    typer.Option(
        help="Prediction intervals for this share of the targets, such as 0.9. Larger shares give "
        "wider intervals. For numbers only."
    ),
]
Peer = Annotated[
    list[str] | None,
    typer.Option(
        help=f"A model of another library: {', '.join(PEERS)}. May be given more than once."
    ),
]
Peers = Annotated[
    bool,
    typer.Option("--peers", help="All of these. They take up to milliseconds per row."),
]
FirstRows = Annotated[int | None, typer.Option(min=1, help="Use only the first rows.")]

# Forecasting

SeriesTarget = Annotated[str, typer.Option(help="The column to forecast.")]
TimeColumn = Annotated[
    str | None,
    typer.Option("--time", help="The column of times. Default: rows are one step apart."),
]
Horizon = Annotated[
    int | None,
    typer.Option(min=1, max=1000, help="The number of steps to forecast. Default: 24."),
]
Seasons = Annotated[
    list[int] | None,
    typer.Option(
        min=1, help="The length of a season in rows. May be given more than once. Default: found."
    ),
]
KnownColumns = Annotated[
    list[str] | None,
    typer.Option(
        help="A column that is known for the future: with --time, the future rows are matched by "
        "their times. May be given more than once."
    ),
]
Coverage = Annotated[
    float | None,
    typer.Option(
        "--intervals", help="The share of values that intervals should contain. Default: 0.9."
    ),
]
ForecastPlot = Annotated[
    Path | None,
    typer.Option(help=f"Draw the last values, the forecasts and their errors. {PICTURES}"),
]

# Learning

ModelFile = Annotated[Path | None, typer.Option(help="Store the model in this file.")]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on from --model, if it exists; rows already learned are skipped."
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace --model if it exists, by a new model.")
]
NewRows = Annotated[
    bool,
    typer.Option(
        "--new-rows", help="With --resume: DATA has new rows only, so none of them is skipped."
    ),
]
CheckpointEvery = Annotated[
    int | None,
    typer.Option(min=1, help="Rows between writes of --model. Default: every 30 seconds."),
]
Follow = Annotated[
    bool,
    typer.Option("--follow", help="Learn rows as they arrive, and wait for more, until Ctrl-C."),
]
Every = Annotated[
    int, typer.Option(min=1, help="Rows between points of the plot and lines of --json.")
]

# Output

Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")]
TracePlot = Annotated[
    Path | None,
    typer.Option(
        help=f"Draw the error, the last predictions, and shares of experts or centres. {PICTURES}"
    ),
]
ModelPlot = Annotated[
    Path | None,
    typer.Option(
        help="Draw the relevance of columns and the shares of experts. For models that are not "
        f"mixtures: the weights, the spectrum and the places of the centres. {PICTURES}"
    ),
]
ComparePlot = Annotated[
    Path | None, typer.Option(help=f"Draw the errors of all models against the rows. {PICTURES}")
]
ReportFile = Annotated[
    Path | None, typer.Option(help="Write an HTML page with the summary and the plot.")
]
TableFile = Annotated[Path | None, typer.Option(help=TABLES)]
Column = Annotated[str, typer.Option(help="The name of the new column.")]
Probabilities = Annotated[
    bool, typer.Option("--probabilities", help="Add the probability of each class.")
]
WithIntervals = Annotated[
    bool,
    typer.Option(
        "--intervals",
        help="Add the ends of the prediction intervals, if the model was learned with --intervals.",
    ),
]
AllDigits = Annotated[
    bool,
    typer.Option(
        "--all-digits",
        help="Print numbers in full. Default: as many digits as matter; Parquet has all digits.",
    ),
]

NextRow = Annotated[
    bool,
    typer.Option(
        "--next",
        help="Use the last targets that the model learned: each row counts as the next one.",
    ),
]

# Serving

ServedTarget = Annotated[
    str | None, typer.Option("--target", help="The column to predict, for a model that is new.")
]
ServedModel = Annotated[
    Path | None, typer.Option("--model", help="A model file to begin with, if the store is new.")
]
StoreFolder = Annotated[Path, typer.Option(help="The folder that holds the log and the models.")]
ServedName = Annotated[str, typer.Option(help="The name of the first model.")]
ServedIntervals = Annotated[
    float | None,
    typer.Option(help="The share of targets that intervals of a new model shall cover."),
]
Host = Annotated[str, typer.Option(help="The address. Others than loopback need a token.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(help="A file with the token of requests. Default: $PARSIMON_TOKEN, or none."),
]
Open = Annotated[
    bool, typer.Option("--open", help="Another layer guards the server: it needs no token.")
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(help="A name in the Host header. May be given more than once. * is any."),
]
PendingMost = Annotated[
    int | None, typer.Option(min=1, help="How many ids wait for labels. Default: 100,000.")
]
PendingSeconds = Annotated[
    float | None, typer.Option(min=0.001, help="How long ids wait for labels. Default: a day.")
]
LogEntries = Annotated[
    int | None, typer.Option(min=1, help="Entries of the log that are kept. Default: 10,000.")
]
CheckpointSeconds = Annotated[
    float | None, typer.Option(min=0.01, help="Seconds between checkpoints. Default: 10.")
]

# Export, merge, experiments and data sets

ExportFile = Annotated[Path, typer.Argument(help="The file to write: .onnx, .h or .libsvm.")]
ExportFormat = Annotated[
    str | None, typer.Option(help="onnx, c or libsvm. Default: chosen by the suffix.")
]
FunctionName = Annotated[
    str, typer.Option(help="The beginning of the names of functions in a C header.")
]
Encoded = Annotated[
    bool,
    typer.Option(
        "--encoded",
        help="Leave the encoding out: the inputs are encoded features. The output of a regressor "
        "is the scaled target, except for the default model. Both are printed.",
    ),
]
MergedModels = Annotated[
    list[Path], typer.Argument(help="Files written by model.save, of estimators of one kind.")
]
MergedFile = Annotated[Path, typer.Option(help="The file to write.")]
MergeBudget = Annotated[int | None, typer.Option(min=1, help="The largest number of centres.")]
Tolerance = Annotated[
    float | None, typer.Option(min=0.0, help="The largest distance of the result from the sum.")
]
Experiments = Annotated[
    list[str] | None, typer.Argument(help="Names of experiments. Default: list them.")
]
ResultsFolder = Annotated[Path, typer.Option(help="The folder for tables and pictures.")]
DataFolder = Annotated[
    Path | None,
    typer.Option(help="The folder that holds the data as NumPy archives. Default: fetched."),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="A few runs only: a smoke test, not the figures of the paper."),
]
DatasetName = Annotated[str, typer.Argument(help="A name from the list.")]
RowCount = Annotated[int, typer.Option(min=1, help="How many rows.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed for the random numbers.")]
ShuffleSeed = Annotated[
    int | None,
    typer.Option(min=0, help="Seed for shuffling the rows. Default: they are not shuffled."),
]
