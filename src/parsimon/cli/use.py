"""What is done with models and data besides learning: predict, evaluate, inspect, compare, export, merge, reproduce, datasets."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from sklearn.linear_model import SGDClassifier, SGDRegressor

import parsimon
from parsimon import datasets, diagnostics, export, merging
from parsimon._parts import lookup
from parsimon.cli.display import as_json, byte_size, lines, scores, table
from parsimon.cli.learn import Interrupt, column_kinds, load_table_model, require_writable
from parsimon.cli.reading import Block, Failure, Source, failure
from parsimon.evaluation import METRICS, predict_then_learn
from parsimon.experiments import EXPERIMENTS, WITH_DATA
from parsimon.preprocessing import TableEncoder, TableError, TargetScaler, read_table
from parsimon.tables import ALGORITHMS, MixtureClassifier, TableModel

__all__ = [
    "FORMATS",
    "compare",
    "evaluate",
    "export_model",
    "generate",
    "inspect",
    "list_datasets",
    "merge",
    "predict",
    "reproduce",
]

#: Formats of what is written, by suffix.
FORMATS = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}


# Predicting and evaluating


def predict(path: Path, data: str, out: Path | None, column: str, probabilities: bool, delimiter: str | None) -> int:
    """Write the rows of the data with a column for what is predicted."""
    model = load_table_model(path).finish()
    if not model.n_rows_:
        raise Failure(f"{path} has learned nothing yet")
    if probabilities and not (model.task_ == "classification" and hasattr(model.estimator_, "predict_proba")):
        raise Failure(f"{path} gives no probabilities: it is {model.task_} with {type(model.estimator_).__name__}")
    kind = "csv" if out is None else FORMATS.get(out.suffix.lower())
    if kind is None:
        raise Failure(f"{out}: what is written is CSV, JSON lines or Parquet: {', '.join(FORMATS)}")
    if out is not None:
        require_writable(out)
    with (
        Interrupt() as interrupt,
        Source(data, kinds=column_kinds(model), delimiter=delimiter, written=True, stopped=interrupt) as source,
    ):
        kind = source.format if out is None and source.format == "json" else kind
        with _writer(out, kind) as write:
            for block in source.blocks():
                rows = block.written if source.format in (kind, "parquet", "arrow") else block.table
                write(_with_predictions(model, block, rows, column, probabilities))
                if interrupt.number is not None:
                    raise SystemExit(128 + interrupt.number)  # what is half written goes
    return 0


def _with_predictions(model: TableModel, block: Block, rows: Any, column: str, probabilities: bool) -> Any:
    if column in rows.column_names:
        raise Failure(f"the data has a column {column!r} already: choose another name with --column")
    try:
        found = {column: model.predict(block.table)}
        if probabilities:
            P = model.predict_proba(block.table)
            found |= {f"{column}: {label}": P[:, i] for i, label in enumerate(model.classes_.tolist())}
    except TableError as error:
        raise failure(error, block.first) from None
    for name, values in found.items():
        rows = rows.append_column(name, pa.array(values.tolist()))
    return rows


@contextmanager
def _writer(out: Path | None, kind: str) -> Iterator[Any]:
    """Give a function that writes tables; a file takes its place when all of it is there."""
    if out is None:
        yield _Text(sys.stdout, kind)
        sys.stdout.flush()
        return
    made = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        if kind == "parquet":
            writer = _Parquet(made)
            yield writer
            writer.close()
        else:
            with made.open("w", newline="", encoding="utf-8") as file:
                yield _Text(file, kind)
        if not made.exists():
            raise Failure("there are no rows to write")
        os.replace(made, out)
    finally:
        made.unlink(missing_ok=True)


class _Text:
    """Writes tables as CSV or JSON lines."""

    def __init__(self, file: TextIO, kind: str) -> None:
        self._file, self._json, self._began = file, kind == "json", False

    def __call__(self, rows: Any) -> None:
        buffer = io.StringIO()  # a block goes out at once
        if self._json:
            for row in rows.to_pylist():
                buffer.write(json.dumps(row, default=str) + "\n")
        else:
            writer = csv.writer(buffer, lineterminator="\n")
            if not self._began:
                writer.writerow(rows.column_names)
            writer.writerows(zip(*(c.to_pylist() for c in rows.columns), strict=True))
        self._began = True
        self._file.write(buffer.getvalue())


class _Parquet:
    """Writes tables as Parquet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None

    def __call__(self, rows: Any) -> None:
        if self._writer is None:
            self._writer = pa.parquet.ParquetWriter(self._path, rows.schema)
        self._writer.write_table(rows)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def evaluate(path: Path, data: str, as_lines: bool, delimiter: str | None) -> int:
    """Score a model on data, from which it does not learn."""
    model = load_table_model(path).finish()
    if not model.n_rows_:
        raise Failure(f"{path} has learned nothing yet")
    metrics = METRICS[model.task_]()
    n = 0
    with Source(data, kinds=column_kinds(model), delimiter=delimiter) as source:
        for block in source.blocks():
            try:
                y = model._targets(model._read(block.table)[1], model.task_)
                found = [model.predict(block.table)]
                if hasattr(model.estimator_, "predict_proba"):
                    found += [model.predict_proba(block.table)]
            except TableError as error:
                raise failure(error, block.first) from None
            if not n:  # the metrics leave a first row out, for nothing is known then: here all is
                y, found = np.concatenate([y[:1], y]), [np.concatenate([f[:1], f]) for f in found]
            n += block.table.num_rows
            metrics.update(y, *found, *([model.classes_] if len(found) > 1 else []))
    if not n:
        raise Failure(f"{data} has no rows")
    total = {k: v for k, v in metrics.total().items() if k != "kappa_no_change"}  # for streams that are learned
    print(as_json(total) if as_lines else lines([("rows", f"{n:,}"), *scores(total)]))
    return 0


# Looking into models


def inspect(path: Path, as_lines: bool) -> int:
    """Print what is in a model file."""
    model = parsimon.load(path)
    facts = _table_facts(model) if isinstance(model, TableModel) else _estimator_facts(model)
    facts = {"file": str(path), "file_bytes": path.stat().st_size, "kind": type(model).__name__, **facts}
    if as_lines:
        print(as_json(facts))
        return 0
    shown = {k: v for k, v in facts.items() if k not in ("total", "rolling") and v is not None}
    print(lines([(name.replace("_", " "), _shown(name, value)) for name, value in shown.items()]))
    if "total" in facts:
        print(lines(scores(facts["total"], facts["rolling"])))
    return 0


def _table_facts(model: TableModel) -> dict[str, Any]:
    facts: dict[str, Any] = {"target": model.target, "rows": model.n_rows_, "parameters": _parameters(model)}
    if model.metrics_ is None:
        return {**facts, "columns": column_kinds(model), "state": f"warming up: it needs {model.warmup} rows"}
    classes = {"classes": model.classes_.tolist()} if model.task_ == "classification" else {}
    columns = {"columns": model.encoder_.columns_, "features": model.encoder_.n_features_}
    scored = {"total": model.metrics_.total(), "rolling": model.metrics_.rolling()}
    inner = {f"estimator_{k}" if k in facts else k: v for k, v in _estimator_facts(model.estimator_).items()}
    name = {"estimator": type(model.estimator_).__name__}
    return {**facts, "task": model.task_, **classes, **columns, **name, **inner, **scored}


def _estimator_facts(model: Any) -> dict[str, Any]:
    if isinstance(model, MixtureClassifier):
        parts = [_estimator_facts(m) for m in model.candidates_]
        shares = [round(float(s), 4) for s in model.shares_]
        return {"centres": model.n_centers_, "bytes": model.nbytes_, "shares": shares, "candidates": parts}
    facts: dict[str, Any] = {"parameters": _parameters(model)}
    for name, attribute in {"centres": "n_centers_", "bytes": "nbytes_", "samples": "n_samples_seen_"}.items():
        if hasattr(model, attribute):
            value = getattr(model, attribute)
            facts[name] = value.tolist() if hasattr(value, "tolist") else value  # one for each class, or a number
    if hasattr(model, "kernel_"):
        facts["kernel"] = repr(model.kernel_)
        if hasattr(model, "norm"):  # one expansion
            facts["norm"] = merging.norm(model)
            facts |= {"coherence": diagnostics.coherence(model)} if model.n_centers_ > 1 else {}
    return facts


def _parameters(model: Any) -> dict[str, Any]:
    given = model.get_params(deep=False).items()
    return {k: v for k, v in given if v is not None and not (isinstance(v, list | tuple) and not v)}


def _shown(name: str, value: Any) -> str:
    if name.endswith("bytes"):
        return byte_size(value)
    if isinstance(value, dict):
        return ", ".join(f"{k} {_shown('', v)}" for k, v in value.items())
    if isinstance(value, list):
        inner = [f"({_shown('', v)})" if isinstance(v, dict) else _shown("", v) for v in value[:20]]
        return ", ".join(inner) + (", ..." if len(value) > 20 else "")
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
        raise Failure(f"{out}: give --format {', '.join(kinds)}, or one of the suffixes {', '.join(suffixes)}")
    write = lookup(kinds, kind, "format")
    require_writable(out)
    model = parsimon.load(path)
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
    rows = []
    for i, feature in enumerate(encoder.feature_names_):
        if feature in known:
            mean, deviation = known[feature]
            rows.append([str(i), f"({feature} - {mean:.9g}) / {deviation:.9g}, within +-{encoder.clip:g}"])
        else:
            rows.append([str(i), feature])
    print(lines([(index, text) for index, text in rows]))
    if model.task_ == "regression":
        print(f"Its output f stands for {model.target} = {model.scaler_.mean_:.9g} + {model.scaler_.scale_:.9g} f.")


def merge(paths: list[Path], out: Path, budget: int | None, tolerance: float | None) -> int:
    """Add models up to one."""
    require_writable(out)
    models = [parsimon.load(path) for path in paths]
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
        print(table(["experiment", "data"], [[n, "real" if n in WITH_DATA else "generated"] for n in EXPERIMENTS]))
        return 0
    modules = {name: lookup(EXPERIMENTS, name, "experiment") for name in names}
    for name, module in modules.items():
        start = time.perf_counter()
        given = {"data_dir": data_dir} if name in WITH_DATA else {}
        folder = output / name
        report = importlib.import_module(module).run(folder, quick=quick, **given)
        report.write(folder)
        print(f"{report}\n\n{name}: {time.perf_counter() - start:.0f} s, written to {folder}\n", flush=True)
    return 0


#: Streams that can be generated: what makes X and y, and what they are.
GENERATED: dict[str, tuple[Any, str]] = {
    "honeine": (datasets.make_honeine_system, "a nonlinear system driven by noise (Honeine et al. 2007)"),
    "dodd": (datasets.make_dodd_series, "a nonlinear time series (Dodd et al.)"),
    "pothin": (datasets.make_pothin_system, "a nonlinear system driven by noise (Pothin & Richard 2006)"),
    "multidist": (datasets.make_multidist, "five classes, each a mixture of three normal distributions"),
}


def list_datasets() -> int:
    """Print what can be generated."""
    print(table(["name", "stream"], [[name, text] for name, (_, text) in GENERATED.items()]))
    return 0


def generate(name: str, rows: int, seed: int, out: Path | None) -> int:
    """Write a generated stream: columns x1, x2, ... and y."""
    make, _ = lookup(GENERATED, name, "data set")
    kind = "csv" if out is None else FORMATS.get(out.suffix.lower())
    if kind is None:
        raise Failure(f"{out}: what is written is CSV, JSON lines or Parquet: {', '.join(FORMATS)}")
    if out is not None:
        require_writable(out)
    X, y = make(rows, random_state=seed)
    columns = {**{f"x{i + 1}": x for i, x in enumerate(X.T)}, "y": y}
    with _writer(out, kind) as write:
        write(pa.table(columns))
    return 0


# Comparing


def compare(
    data: str, target: str, task: str, algorithms: list[str], budget: int | None, as_lines: bool, delimiter: str | None
) -> int:
    """Learn one stream with several algorithms, and print how each did."""
    names = algorithms or [n for n, tasks in ALGORITHMS.items() if task == "auto" or task in tasks]
    for name in names:
        lookup(ALGORITHMS, name, "algorithm")
    models: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    with Interrupt() as interrupt, Source(data, delimiter=delimiter, stopped=interrupt) as source:
        for block in _from(source, TableModel(target).warmup):
            if not models:
                task = _task(block, target, task)
                known = [name for name in names if task in ALGORITHMS[name]]
                if not known:
                    raise Failure(f"none of {', '.join(names)} is for {task}")
                models = {name: TableModel(target, task=task, algorithm=name, budget=budget) for name in known}
                models |= {name: _Baseline(target, task, name) for name in BASELINES[task]}
                seconds = dict.fromkeys(models, 0.0)
            for name, model in models.items():
                start = time.perf_counter()
                try:
                    model.learn(block.table)
                except TableError as error:
                    raise failure(error, block.first) from None
                seconds[name] += time.perf_counter() - start
            if interrupt():
                break
    if not models:
        raise Failure(f"{data} has no rows")
    _print_comparison(models, seconds, task, as_lines)
    return 0 if interrupt.number is None else 128 + interrupt.number


def _from(source: Source, least: int) -> Iterator[Block]:
    """Yield blocks of which the first has a number of rows, if there are so many."""
    first: list[Block] = []
    for block in source.blocks():
        first.append(block)
        if sum(b.table.num_rows for b in first) >= least:
            yield Block(pa.concat_tables([b.table for b in first]), first[0].first, None)
            first = []
            least = 0
    if first:
        yield Block(pa.concat_tables([b.table for b in first]), first[0].first, None)


def _task(block: Block, target: str, task: str) -> str:
    """Return the task that a stream is for, as `learn` finds it."""
    model = TableModel(target, task=task)
    try:
        model.learn(block.table.slice(0, model.warmup))
    except TableError as error:
        raise failure(error, block.first) from None
    return model.finish().task_


def _print_comparison(models: dict[str, Any], seconds: dict[str, float], task: str, as_lines: bool) -> None:
    keys = ["accuracy", "kappa", "log_loss"] if task == "classification" else ["relative_mse", "mae", "r2"]
    rows = []
    for name, model in models.items():
        if isinstance(model, TableModel):
            model.finish()
        total, rolling, n = model.metrics_.total(), model.metrics_.rolling(), model.n_rows_
        centres = getattr(model, "n_centers_", None)
        cost = 1e6 * seconds[name] / n
        if as_lines:
            facts = {"model": name, "rows": n, "centres": centres, "microseconds_a_row": cost}
            print(as_json({**facts, "total": total, "rolling": rolling}))
        figures = [f"{total[k]:.4f}" if total[k] == total[k] else "" for k in keys]
        rows.append([name, *figures, f"{rolling[keys[0]]:.4f}", "" if centres is None else str(centres), f"{cost:.1f}"])
    if not as_lines:
        heads = {"accuracy": "accuracy", "kappa": "kappa", "log_loss": "log loss", "relative_mse": "error / variance"}
        shown = [heads.get(k, {"mae": "absolute error", "r2": "R2"}.get(k, k)) for k in keys]
        print(table([task, *shown, f"{shown[0]}, last 1000", "centres", "us/row"], rows))


BASELINES = {
    "regression": ["mean so far", "no change", "linear SGD"],
    "classification": ["majority so far", "no change", "linear SGD"],
}


class _Baseline:
    """What a kernel should be better than, learned from the same blocks.

    The linear model is scikit-learn's, on the same encoded rows; classes that are not in the first block it never predicts.
    """

    def __init__(self, target: str, task: str, name: str) -> None:
        self.target, self.task, self.name = target, task, name
        self.metrics_: Any = METRICS[task]()
        self.n_rows_ = 0
        self._encoder, self._scaler = TableEncoder(ignore=[target]), TargetScaler()
        self._linear: Any = None
        self._reader: TableModel = TableModel(target, task=task)
        self._last: list[Any] = []
        self._sum = 0.0
        self._counts: dict[Any, int] = {}

    def learn(self, block: Any) -> None:
        y = self._reader._targets(read_table(block, [self.target])[self.target], self.task)
        found = {"linear SGD": self._sgd, "no change": self._no_change}.get(self.name, self._usual)(block, y)
        self.metrics_.update(y, found)
        self.n_rows_ += len(y)

    def _no_change(self, _: Any, y: Any) -> Any:
        before = np.concatenate([np.array(self._last or y[:1].tolist(), dtype=y.dtype), y[:-1]])
        self._last = y[-1:].tolist()
        return before

    def _usual(self, _: Any, y: Any) -> Any:
        if self.task == "regression":
            sums = np.add.accumulate(np.concatenate([[self._sum], y]))
            self._sum = sums[-1]
            return sums[:-1] / np.maximum(self.n_rows_ + np.arange(len(y)), 1)
        found, best = [], max(self._counts, key=self._counts.__getitem__, default=y[0].item())
        for label in y.tolist():
            found.append(best)
            self._counts[label] = self._counts.get(label, 0) + 1
            best = label if self._counts[label] > self._counts.get(best, 0) else best
        return np.array(found)

    def _sgd(self, block: Any, y: Any) -> Any:
        X = self._encoder.learn_transform(block)
        if self.task == "regression":
            self._linear = self._linear or SGDRegressor(random_state=0)
            scaled, back = self._scaler.learn_transform(y)
            return back(predict_then_learn(self._linear, X, scaled).values)
        if self._linear is None:
            self._linear, self._classes = SGDClassifier(loss="log_loss", random_state=0), np.unique(y)
        known = np.isin(y, self._classes)
        found = np.full(
            len(y), self._classes[0], dtype=np.result_type(y, self._classes) if y.dtype.kind == "U" else y.dtype
        )
        if len(self._classes) > 1 and known.any():
            found[known] = predict_then_learn(self._linear, X[known], y[known], self._classes).values
        return found
