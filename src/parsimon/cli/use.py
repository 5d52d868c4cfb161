"""What is done with models and data besides learning: predict, evaluate, inspect, export, merge,
reproduce, datasets.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from sklearn.exceptions import NotFittedError

import parsimon
from parsimon import (
    KernelDictionaryClassifier,
    KernelDictionaryLearning,
    datasets,
    diagnostics,
    export,
    merging,
    plots,
)
from parsimon._files import Output, is_stream, only_writer, writing
from parsimon.cli.display import (
    NAMES,
    as_json,
    byte_size,
    honest,
    lines,
    model_scores,
    scores,
    table,
)
from parsimon.cli.learn import (
    Interrupt,
    column_kinds,
    load_model,
    load_table_model,
    reading_of,
    require_apart,
    require_writable,
)
from parsimon.cli.reading import Block, Dialect, Failure, Source, failure, in_good_parts
from parsimon.cli.words import choose, plural
from parsimon.evaluation import METRICS
from parsimon.experiments import EXPERIMENTS, WITH_DATA
from parsimon.preprocessing import TableError
from parsimon.tables import MixtureClassifier, TableModel

__all__ = [
    "FORMATS",
    "evaluate",
    "export_model",
    "fetch",
    "generate",
    "inspect",
    "list_datasets",
    "merge",
    "predict",
    "reproduce",
]

#: The most rows of panels in a picture of a model.
MOST_DRAWN = 10
#: Rows that are written at a time.
WRITTEN = 8192
#: How a CSV is written, if there is none to follow.
PLAIN = Dialect()
#: Formats of what is written, by suffix.
FORMATS = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}


# Predicting and evaluating


def predict(
    path: Path,
    data: str,
    out: Path | None,
    column: str,
    probabilities: bool,
    delimiter: str | None = None,
    all_digits: bool = False,
    decimal: str | None = None,
    date_formats: Sequence[str] = (),
) -> int:
    """Write the rows of the data with a column for what is predicted."""
    model = load_table_model(path).finish()
    if not model.n_rows_:
        raise Failure(f"{path} has learned nothing yet")
    if probabilities and not (
        model.task_ == "classification" and hasattr(model.estimator_, "predict_proba")
    ):
        raise Failure(
            f"{path} gives no probabilities: it is {model.task_} with {type(model.estimator_).__name__}"
        )
    require_apart({"MODEL": path, "DATA": data, "--out": out})
    kind, interrupt = _kind_of(out), Interrupt()
    with (
        Source(
            data,
            kinds=column_kinds(model),
            delimiter=delimiter,
            written=True,
            stopped=interrupt,
            **reading_of(model, decimal, date_formats),
        ) as source,
        interrupt,
        interrupt.reader(out),
    ):
        if interrupt.number is not None:
            raise SystemExit(128 + interrupt.number)  # there is no reader
        if kind is None:
            kind = "json" if source.format == "json" else "csv"
        short = kind != "parquet" and not all_digits
        with _writer(out, kind) as write:
            n = 0
            for block in source.blocks():
                source.tell()
                rows = block.written if source.format in (kind, "parquet", "arrow") else block.table
                found = _with_predictions(model, block, rows, column, probabilities, short)
                write(found, source.dialect)
                n += block.table.num_rows
                if interrupt.number is not None:
                    raise SystemExit(128 + interrupt.number)  # what is half written goes
            if not n:
                raise Failure(f"{data} has no rows")
    return 0


def _with_predictions(
    model: TableModel, block: Block, rows: Any, column: str, probabilities: bool, short: bool
) -> Any:
    if column in rows.column_names:
        raise Failure(
            f"the data has a column {column!r} already: choose another name with --column"
        )
    try:
        found = {column: model.predict(block.table)}
        if short and model.task_ == "regression":
            found[column] = _rounded(found[column], model.scaler_.scale_)
        if probabilities:
            P = model.predict_proba(block.table)
            P = np.round(P, 8) if short else P
            found |= {
                f"{column}: {label}": P[:, i] for i, label in enumerate(model.classes_.tolist())
            }
    except TableError as error:
        raise failure(error, block.first) from None
    for name, values in found.items():
        rows = rows.append_column(name, pa.array(values.tolist()))
    return rows


def _rounded(values: Any, scale: float) -> Any:
    """Round predictions of a target with a standard deviation `scale` to a unit of at most 1e-4 of
    it.

    >>> _rounded(np.array([1234.56789, 0.1]), 250.0).tolist()
    [1234.57, 0.1]
    """
    places = 4 - math.floor(math.log10(scale)) if scale > 0 else 17
    return values if places > 17 else np.round(values, max(places, 0))


@contextmanager
def _writer(out: Path | None, kind: str) -> Iterator[Any]:
    """Give a function that writes tables; a file takes its place when all of it is there."""
    if out is None:
        yield _Text(sys.stdout.write, kind)
        sys.stdout.flush()
        return
    with writing(out) as file:
        if kind == "parquet":
            writer = _Parquet(file)
            yield writer
            writer.close()
        else:
            yield _Text(lambda text: file.write(text.encode()), kind)


class _Text:
    """Writes tables as CSV or JSON lines."""

    def __init__(self, write: Callable[[str], object], kind: str) -> None:
        self._write, self._json, self._began = write, kind == "json", False

    def __call__(self, rows: Any, dialect: Dialect = PLAIN) -> None:
        buffer = io.StringIO()  # a block goes out at once
        if self._json:
            for row in rows.to_pylist():
                buffer.write(json.dumps(row, default=str) + "\n")
        else:
            writer = csv.writer(buffer, delimiter=dialect.delimiter, lineterminator="\n")
            if not self._began:
                writer.writerow(rows.column_names)
            columns = (_with_decimal(c.to_pylist(), dialect.decimal) for c in rows.columns)
            writer.writerows(zip(*columns, strict=True))
        self._began = True
        self._write(buffer.getvalue())


def _with_decimal(values: list[Any], decimal: str) -> list[Any]:
    """Return values as a CSV with this decimal mark has them.

    >>> _with_decimal([1.5, "a.b", 2], ",")
    ['1,5', 'a.b', 2]
    """
    if decimal == ".":
        return values
    return [str(v).replace(".", decimal) if isinstance(v, float) else v for v in values]


class _Parquet:
    """Writes tables as Parquet."""

    def __init__(self, file: Output) -> None:
        self._file = file
        self._writer: Any = None

    def __call__(self, rows: Any, dialect: Dialect = PLAIN) -> None:
        if self._writer is None:
            self._writer = pa.parquet.ParquetWriter(self._file, rows.schema)
        self._writer.write_table(rows)

    def close(self) -> None:
        if self._writer is None:
            raise Failure("there are no rows to write")
        self._writer.close()


def evaluate(
    path: Path,
    data: str,
    as_lines: bool,
    delimiter: str | None = None,
    decimal: str | None = None,
    date_formats: Sequence[str] = (),
    bad_rows: str = "error",
) -> int:
    """Score a model on data, from which it does not learn."""
    model = load_table_model(path).finish()
    if not model.n_rows_:
        raise Failure(f"{path} has learned nothing yet")
    scored = _Scored(model)
    reading = reading_of(model, decimal, date_formats)
    with Source(
        data, kinds=column_kinds(model), delimiter=delimiter, bad_rows=bad_rows, **reading
    ) as source:
        for block in source.blocks():

            def refuse(at: int, error: TableError, block: Block = block) -> None:
                source.refuse(block.number(at), failure(error, block.number(at)))

            try:
                in_good_parts(partial(scored.take, block.table), 0, block.table.num_rows, refuse)
            except TableError as error:
                raise failure(error, block.first) from None
            source.tell()
        source.tell()
    n, metrics, ordered = scored.rows, scored.metrics, scored.ordered
    skipped = source.rows - n
    if not n:
        raise Failure(f"{data} has no rows")
    total, name = metrics.total(), "kappa_no_change"
    if name in total:
        total[name] = ordered.total()[name]  # the first row has none before it
    if as_lines:
        print(as_json({**total, "skipped": skipped}))
        return 0
    told = "if the rows are in order of time"
    pairs = [
        (label, f"{text}, {told}" if label == NAMES[name] else text)
        for label, text in scores(total)
    ]
    bad = f", besides {skipped:,} bad ones that were skipped" if skipped else ""
    print(lines([("rows", f"{n:,}{bad}"), *pairs]))
    return 0


class _Scored:
    """How well a model predicts rows: `metrics` of all of them, `ordered` without the first, which
    has none before it.
    """

    def __init__(self, model: TableModel) -> None:
        self._model, self.rows = model, 0
        self.metrics, self.ordered = METRICS[model.task_](), METRICS[model.task_]()

    def take(self, table: Any, at: int, n: int) -> None:
        """Score some rows of a table."""
        model, rows = self._model, table.slice(at, n)
        y = model._targets(model._read(rows)[1], model.task_)
        found = [model.predict(rows)]
        if hasattr(model.estimator_, "predict_proba"):
            found += [model.predict_proba(rows)]
        self.ordered.update(y, found[0])
        # The metrics leave a first row out, for nothing is known then: here all is
        if not self.rows:
            y, found = np.concatenate([y[:1], y]), [np.concatenate([f[:1], f]) for f in found]
        self.rows += n
        self.metrics.update(y, *found, *([model.classes_] if len(found) > 1 else []))


# Looking into models


def inspect(path: Path, as_lines: bool, plot: Path | None) -> int:
    """Print what is in a model file, and draw it."""
    if plot is not None:
        require_writable(plot)
        plots.require_drawable(plot)
    model = load_model(path)
    if plot is not None:
        plots.expansions(
            plot, _expansions(model, path), title=f"{type(model).__name__} in {path.name}"
        )
    facts = _table_facts(model) if isinstance(model, TableModel) else _estimator_facts(model)
    facts = {
        "file": str(path),
        "file_bytes": path.stat().st_size,
        "kind": type(model).__name__,
        **facts,
    }
    if as_lines:
        print(as_json(facts))
        return 0
    pairs = _fact_lines(facts)
    if isinstance(model, TableModel) and model.metrics_ is not None:
        pairs += model_scores(model.metrics_, model.warmup)
    print(lines(pairs))
    return 0


def _expansions(model: Any, path: Path) -> dict[str, plots.Expansion]:
    """Return what can be drawn of a model, with labels; of many classes those with the most
    centres.
    """
    try:
        found = _parts(model)
    except NotFittedError:
        found = {}
    if found is None:
        raise Failure(
            f"{path} holds a {type(model).__name__}, which has no centres: there is nothing to draw"
        )
    ranked = sorted(found, key=lambda label: -len(found[label].centers))[:MOST_DRAWN]
    if len(found) > MOST_DRAWN:
        note = (
            f"there are {len(found)} dictionaries: drawn are the {MOST_DRAWN} with the most centres"
        )
        print(f"parsimon: note: {note}", file=sys.stderr)
    drawn = {label: part for label, part in found.items() if label in ranked and len(part.centers)}
    if not drawn:
        raise Failure(f"{path} has no centres yet: there is nothing to draw")
    return drawn


def _parts(model: Any) -> dict[str, plots.Expansion] | None:
    """Return the functions that a model is made of; None where it can have none."""
    if isinstance(model, TableModel):
        return _parts(model.estimator_) if model.metrics_ is not None else {}
    if isinstance(model, MixtureClassifier):
        each = (
            zip(model.shares_, model.candidates_, strict=True)
            if hasattr(model, "candidates_")
            else ()
        )
        found = [
            (f"candidate {i + 1}, heard {share:.0%}", _parts(part))
            for i, (share, part) in enumerate(each)
        ]
        return {label: part for label, inner in found for part in (inner or {}).values()}
    if isinstance(model, KernelDictionaryClassifier):
        learners = getattr(model, "_learners", {})
        return {
            f"class {label}": plots.Expansion(model.kernel_, atoms.centers(), atoms.coefficients())
            for label, atoms in learners.items()
        }
    if not hasattr(type(model), "centers_"):
        return None
    centres = model.centers_
    weights = model.components_ if isinstance(model, KernelDictionaryLearning) else model.weights_
    return {type(model).__name__: plots.Expansion(model.kernel_, centres, weights)}


def _table_facts(model: TableModel) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "target": model.target,
        "rows": model.n_rows_,
        "parameters": _parameters(model),
    }
    if hasattr(model, "reading_"):
        facts["reading"] = model.reading_
    if model.metrics_ is None:
        return {
            **facts,
            "columns": column_kinds(model),
            "state": f"warming up: it needs {model.warmup} rows",
        }
    classes = {"classes": model.classes_.tolist()} if model.task_ == "classification" else {}
    columns = {"columns": model.encoder_.columns_, "features": model.encoder_.n_features_}
    scored = dict(zip(("total", "rolling"), honest(model.metrics_, model.warmup), strict=True))
    inner = {
        f"estimator_{k}" if k in facts else k: v
        for k, v in _estimator_facts(model.estimator_).items()
    }
    name = {"estimator": type(model.estimator_).__name__}
    return {**facts, "task": model.task_, **classes, **columns, **name, **inner, **scored}


def _estimator_facts(model: Any) -> dict[str, Any]:
    if isinstance(model, MixtureClassifier) and hasattr(model, "candidates_"):
        parts = [_estimator_facts(m) for m in model.candidates_]
        shares = [round(float(s), 4) for s in model.shares_]
        return {
            "centres": model.n_centers_,
            "bytes": model.nbytes_,
            "shares": shares,
            "candidates": parts,
        }
    facts: dict[str, Any] = {"parameters": _parameters(model)}
    for name, attribute in {
        "centres": "n_centers_",
        "bytes": "nbytes_",
        "samples": "n_samples_seen_",
    }.items():
        if hasattr(model, attribute):
            value = getattr(model, attribute)
            # One for each class, or a number
            facts[name] = value.tolist() if hasattr(value, "tolist") else value
    if hasattr(model, "kernel_"):
        facts["kernel"] = repr(model.kernel_)
        if hasattr(model, "norm"):  # one expansion
            facts["norm"] = merging.norm(model)
            if model.n_centers_ > 1:
                facts["coherence"] = diagnostics.coherence(model.kernel_, model.centers_)
    return facts


def _parameters(model: Any) -> dict[str, Any]:
    given = model.get_params(deep=False).items()
    kept = {k: v for k, v in given if not isinstance(v, np.ndarray)}  # arrays are what was learned
    return {
        k: v
        for k, v in kept.items()
        if v is not None and not (isinstance(v, list | tuple) and not v)
    }


#: What facts are called, where the name that JSON has for them is not clear enough.
LABELS = {
    "file_bytes": "file size",
    "bytes": "memory",
    "reading": "data",
    "estimator_parameters": "its parameters",
}


def _fact_lines(facts: dict[str, Any], indent: str = "") -> list[tuple[str, str]]:
    """Return facts as lines; each candidate of a mixture has lines of its own."""
    pairs: list[tuple[str, str]] = []
    for name, value in facts.items():
        if name in ("total", "rolling", "shares") or value is None:
            continue
        if name == "candidates":
            for i, (share, inner) in enumerate(zip(facts["shares"], value, strict=True)):
                pairs.append((f"candidate {i + 1}", f"{share:.2%} of the vote"))
                pairs += _fact_lines(inner, "  ")
            continue
        label = LABELS.get(name, name.replace("_", " "))
        pairs.append((indent + label, _fact_text(name, value, facts)))
    return pairs


def _fact_text(name: str, value: Any, facts: dict[str, Any]) -> str:
    if name == "file_bytes":
        return byte_size(value)
    if name == "bytes":
        own = facts.get("estimator_parameters", facts.get("parameters", {}))
        grows = "kind" in facts and ("candidates" in facts or "budget" in own)  # said once
        more = "; grows to its budget when it next learns" if grows else ""
        return f"{byte_size(value)} as stored{more}"
    if name == "reading":
        return _reading_text(value)
    if name == "columns":
        return ", ".join(f"{column} ({kind})" for column, kind in value.items())
    return _value_text(value)


def _reading_text(reading: dict[str, Any]) -> str:
    """Return how the data was read.

    >>> _reading_text({"decimal": ",", "date_formats": ["%d.%m.%Y"], "skipped": 1})
    "decimal mark ',', dates as '%d.%m.%Y', 1 bad row skipped"
    """
    parts = []
    if "decimal" in reading:
        parts.append(f"decimal mark {reading['decimal']!r}")
    parts += [f"dates as {form!r}" for form in reading.get("date_formats", [])]
    if "skipped" in reading:
        parts.append(f"{plural(reading['skipped'], 'bad row')} skipped")
    return ", ".join(parts)


def _value_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_value_text(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        more = ", ..." if len(value) > 20 else ""
        return ", ".join(_value_text(inner) for inner in value[:20]) + more
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


# Models elsewhere


def export_model(path: Path, out: Path, kind: str | None, name: str) -> int:
    """Write a model in a format that others read."""
    kinds = {"onnx": export.to_onnx, "c": export.to_c, "libsvm": export.to_libsvm}
    suffixes = {".onnx": "onnx", ".h": "c", ".c": "c", ".libsvm": "libsvm", ".model": "libsvm"}
    kind = kind or suffixes.get(out.suffix.lower())
    if kind is None:
        raise Failure(
            f"{out}: give --format {', '.join(kinds)}, or one of the suffixes {', '.join(suffixes)}"
        )
    write = choose(kinds, kind, "format")
    require_apart({"MODEL": path, "OUT": out})
    require_writable(out)
    model = load_model(path)
    if isinstance(model, TableModel):
        model = model.finish()
        if not model.n_rows_:
            raise Failure(f"{path} has learned nothing yet")
        inner: Any = model.estimator_
        if isinstance(inner, MixtureClassifier):
            raise Failure(
                f"{path} is a mixture of {len(inner.candidates_)} classifiers, which has no such form: "
                "learn one with --algorithm polk"
            )
    else:
        inner = model
    try:
        write(inner, out, **({"name": name} if kind == "c" else {}))  # type: ignore[operator]
    except TypeError as error:
        raise Failure(str(error)) from None
    print(f"{out}: {type(inner).__name__}, {inner.n_centers_:,} centres")
    if isinstance(model, TableModel):
        _tell_encoding(model)
    return 0


def _tell_encoding(model: TableModel) -> None:
    """Say what the exported function is of: the encoding is not part of it."""
    encoder = model.encoder_
    print(
        f"Its inputs are the {encoder.n_features_} encoded features, not the columns. The encoding is not part of it:"
    )
    numbers = [name for name, kind in encoder.columns_.items() if kind != "text"]
    means, deviations = (values.ravel() for values in encoder._moments.now())
    known = dict(zip(numbers, zip(means, deviations, strict=True), strict=True))
    rows: list[tuple[str, str]] = []
    names, i = encoder.feature_names_, 0
    while i < len(names):
        column, _, slot = names[i].rpartition(": ")
        if slot.startswith("free ") and column in encoder.columns_:
            first = i
            while i < len(names) and names[i].startswith(f"{column}: free "):
                i += 1
            index = f"{first}" if i == first + 1 else f"{first}-{i - 1}"
            rows.append((index, f"{column}: not used, always 0"))
            continue
        if names[i] in known:
            mean, deviation = known[names[i]]
            text = f"({names[i]} - {mean:.9g}) / {deviation:.9g}, within +-{encoder.clip:g}"
            rows.append((str(i), text))
        else:
            rows.append((str(i), names[i]))
        i += 1
    print(lines(rows))
    if model.task_ == "regression":
        print(
            f"Its output f stands for {model.target} = {model.scaler_.mean_:.9g} + {model.scaler_.scale_:.9g} f."
        )


def merge(paths: list[Path], out: Path, budget: int | None, tolerance: float | None) -> int:
    """Add models up to one."""
    for path in paths:
        require_apart({"a model": path, "--out": out})
    require_writable(out, regular=True)
    with only_writer(out):
        return _merge(paths, out, budget, tolerance)


def _merge(paths: list[Path], out: Path, budget: int | None, tolerance: float | None) -> int:
    models = [load_model(path) for path in paths]
    for path, model in zip(paths, models, strict=True):
        if isinstance(model, TableModel):
            raise Failure(
                f"{path} was learned from a table: such models scale their columns each in its own way, so they have no sum. "
                "Files of plain estimators can be merged"
            )
    try:
        merged = parsimon.merge(models, budget=budget, tolerance=tolerance)
    except (TypeError, AttributeError) as error:
        raise Failure(str(error)) from None
    merged.model.save(out)
    print(
        f"{out}: {merged.n_centers:,} centres of {merged.n_before:,}, at a distance of {merged.distance:.6g} from the sum"
    )
    return 0


# Experiments and data


def reproduce(names: list[str], output: Path, data_dir: Path | None, quick: bool) -> int:
    """Run the papers' experiments, or list them."""
    if not names:
        print(
            table(
                ["experiment", "data"],
                [[n, "real" if n in WITH_DATA else "generated"] for n in EXPERIMENTS],
            )
        )
        return 0
    modules = {name: choose(EXPERIMENTS, name, "experiment") for name in names}
    for name, module in modules.items():
        start = time.perf_counter()
        given = {"data_dir": data_dir} if name in WITH_DATA else {}
        folder = output / name
        report = importlib.import_module(module).run(folder, quick=quick, **given)
        report.write(folder)
        print(
            f"{report}\n\n{name}: {time.perf_counter() - start:.0f} s, written to {folder}\n",
            flush=True,
        )
    return 0


#: Streams that can be generated: what makes X and y, the columns, the task, and what they are.
GENERATED: dict[str, tuple[Any, int, str, str]] = {
    "honeine": (datasets.make_honeine_system, 2, "regression", "a nonlinear system driven by noise (Honeine et al. 2007)"),
    "dodd": (datasets.make_dodd_series, 2, "regression", "a nonlinear time series (Dodd et al.)"),
    "pothin": (datasets.make_pothin_system, 2, "regression", "a nonlinear system driven by noise (Pothin & Richard 2006)"),
    "multidist": (datasets.make_multidist, 2, "classification", "five classes, each a mixture of three normal distributions"),
}  # fmt: skip


class Stored(NamedTuple):
    """A real data set: what returns its table given a folder, its size, its task, the name of its
    target, and where it comes from without a folder.
    """

    load: Callable[[Path | None], datasets.Table]
    rows: int
    columns: int
    task: str
    target: str
    source: str


def _of_pair(
    load: Callable[[Path | None], Any], target: str
) -> Callable[[Path | None], datasets.Table]:
    def table_of(folder: Path | None) -> datasets.Table:
        X, y = load(folder)
        return _named(X, y, target)

    return table_of


def _of_split(
    load: Callable[[Path | None], datasets.Split],
) -> Callable[[Path | None], datasets.Table]:
    """Training rows first, then test rows."""

    def table_of(folder: Path | None) -> datasets.Table:
        split = load(folder)
        return _named(np.concatenate(split[::2]), np.concatenate(split[1::2]), "class")

    return table_of


def _named(X: Any, y: Any, target: str) -> datasets.Table:
    return datasets.Table(X, y, [f"x{i + 1}" for i in range(X.shape[1])], target)


#: A stream that comes with parsimon: bicycles lent in each hour.
SHIPPED = "bikes"
#: Real data sets that are tables.
STORED: dict[str, Stored] = {
    "electricity": Stored(datasets.load_electricity, 45312, 8, "classification", "class", "OpenML; in order of time"),
    "cod_rna": Stored(datasets.load_cod_rna, 59535, 8, "classification", "class", "--data-dir; sorted by class: --seed"),
    "covtype": Stored(datasets.load_covtype, 581012, 54, "classification", "cover", "scikit-learn; in --data-dir 20,000"),
    "banana": Stored(_of_split(datasets.load_banana), 5300, 2, "classification", "class", "OpenML"),
    "usps": Stored(_of_split(datasets.load_usps), 9298, 256, "classification", "class", "OpenML"),
    "mnist": Stored(_of_split(datasets.load_mnist), 70000, 784, "classification", "class", "OpenML"),
    "bike_sharing": Stored(datasets.load_bike_sharing, 17379, 12, "regression", "cnt", "OpenML; in order of time"),
    "kin40k": Stored(datasets.load_kin40k, 40000, 8, "regression", "y", "--data-dir"),
    "ccpp": Stored(datasets.load_ccpp, 9568, 4, "regression", "PE", "--data-dir"),
    "comp_activ": Stored(_of_pair(datasets.load_comp_activ, "usr"), 8192, 12, "regression", "usr", "OpenML"),
    "boston": Stored(_of_pair(datasets.load_boston, "MEDV"), 506, 13, "regression", "MEDV", "OpenML"),
}  # fmt: skip


def list_datasets() -> int:
    """Print what can be generated and fetched."""
    made = [
        [name, "any", str(d), task, "y", f"generate: {text}"]
        for name, (_, d, task, text) in GENERATED.items()
    ]
    kept = [
        [name, f"{s.rows:,}", str(s.columns), s.task, s.target, f"fetch: {s.source}"]
        for name, s in STORED.items()
    ]
    here = [
        [
            SHIPPED,
            "8,645",
            "8",
            "regression",
            "bikers",
            "fetch: comes with parsimon (UCI, CC BY 4.0)",
        ]
    ]
    print(
        table(
            ["name", "rows", "columns", "task", "target", "source"],
            [*made, *here, *kept],
            left=(0, 3, 4, 5),
        )
    )
    return 0


def generate(name: str, rows: int, seed: int, out: Path | None) -> int:
    """Write a generated stream: columns x1, x2, ... and y."""
    make, *_ = choose(GENERATED, name, "data set")

    def made() -> datasets.Table:
        X, y = make(rows, random_state=seed)
        return _named(X, y, "y")

    return _write(made, out)


def fetch(name: str, data_dir: Path | None, seed: int | None, out: Path | None) -> int:
    """Write a real data set as a table: its columns by name, and the target last."""
    stored = choose({SHIPPED: None, **STORED}, name, "data set")
    if stored is None:
        return _copy(datasets.bikes_path(), seed, out)

    def made() -> datasets.Table:
        X, y, names, target = stored.load(data_dir)
        order = slice(None) if seed is None else np.random.default_rng(seed).permutation(len(y))
        return datasets.Table(X[order], y[order], names, target)

    return _write(made, out)


def _copy(path: Path, seed: int | None, out: Path | None) -> int:
    """Write a table that is there as a file."""
    kind = _kind_of(out) or "csv"
    found = pa.csv.read_csv(path)
    if seed is not None:
        found = found.take(np.random.default_rng(seed).permutation(len(found)))
    with _writer(out, kind) as write:
        write(found)
    return 0


def _kind_of(out: Path | None) -> str | None:
    """Return the format that the suffix chooses; None for standard output, a FIFO or a device.

    A path that cannot be written is refused.
    """
    if out is None:
        return None
    require_writable(out)
    kind = FORMATS.get(out.suffix.lower())
    if kind is None and not is_stream(out):
        raise Failure(
            f"{out}: the suffix must be one of {', '.join(FORMATS)}: CSV, JSON lines or Parquet"
        )
    return kind


def _write(make: Callable[[], datasets.Table], out: Path | None) -> int:
    kind = _kind_of(out) or "csv"
    made = make()
    whole = [(x == np.round(x)).all() and (np.abs(x) < 2.0**53).all() for x in made.X.T]
    columns = [x.astype(np.int64) if w else x for x, w in zip(made.X.T, whole, strict=True)]
    with _writer(out, kind) as write:
        for first in range(0, len(made.y), WRITTEN):
            rows = slice(first, first + WRITTEN)
            write(
                pa.table(
                    [*(c[rows] for c in columns), made.y[rows]],
                    [*made.feature_names, made.target_name],
                )
            )
    return 0
