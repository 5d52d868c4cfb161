"""``parsimon export``: write a model as ONNX, as a C header or for LIBSVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parsimon import export
from parsimon.cli.errors import Failure
from parsimon.cli.model_files import load_model
from parsimon.cli.paths import require_different, require_writable
from parsimon.cli.text import lines
from parsimon.cli.words import choose
from parsimon.export.combination import Combination
from parsimon.export.model_functions import model_function
from parsimon.export.table import UNITS
from parsimon.mixtures import Mixture
from parsimon.tables import TableModel

__all__ = ["export_model"]

#: What writes each format.
WRITERS: dict[str, Any] = {"onnx": export.to_onnx, "c": export.to_c, "libsvm": export.to_libsvm}
#: Formats by suffix.
SUFFIXES = {".onnx": "onnx", ".h": "c", ".c": "c", ".libsvm": "libsvm", ".model": "libsvm"}


def export_model(
    path: Path, out: Path, format_name: str | None, name: str, encoded: bool = False
) -> int:
    """Write a model in another format. `name` begins the functions of a C header.

    With `encoded`, and always for LIBSVM, the inputs are encoded features and not columns.
    """
    format_name = format_name or SUFFIXES.get(out.suffix.lower())
    if format_name is None:
        raise Failure(
            f"{out}: give --format {', '.join(WRITERS)}, "
            f"or one of the suffixes {', '.join(SUFFIXES)}"
        )
    write = choose(WRITERS, format_name, "format")
    require_different({"MODEL": path, "OUT": out})
    require_writable(out)
    model = load_model(path)
    written = model
    if isinstance(model, TableModel):
        if not model.finish().n_rows_:
            raise Failure(f"{path} has learned nothing yet")
        if encoded or format_name == "libsvm":
            written = model.estimator_
    elif encoded:
        raise Failure(
            f"{path} holds a {type(model).__name__}, which has no columns: leave out --encoded"
        )
    try:
        write(written, out, **({"name": name} if format_name == "c" else {}))
    except TypeError as error:
        raise Failure(str(error)) from None
    print(f"{out}: {type(written).__name__}, {model.n_centers_:,} centres")
    if written is not model:
        _print_encoding(model, format_name)
    elif isinstance(model, TableModel):
        _print_columns(model, format_name)
    return 0


def _print_columns(model: TableModel, format_name: str) -> None:
    """Print the inputs and the output of an exported table."""
    print("Its inputs are the columns:")
    print(lines([(name, UNITS[kind]) for name, kind in model.encoder_.columns_.items()]))
    missing = {"onnx": "the empty string", "c": "NULL"}[format_name]
    print(f"A missing number is NaN, a missing text is {missing}.")
    _print_lags(model, format_name)
    result = "a class" if model.task_ == "classification" else "in its own units"
    print(f"Its output is {model.target}, {result}.")


def _print_lags(model: TableModel, format_name: str) -> None:
    """Print what the inputs for earlier targets are."""
    function = model_function(model.estimator_)
    if not isinstance(function, Combination) or not function.lags:
        return
    *others, last = [lag.name for lag in function.lags]
    names = f"{', '.join(others)} and {last} are" if others else f"{last} is"
    numbers = model.task_ == "regression"
    what, missing = ("targets", "NaN") if numbers else ("labels", "An unknown label")
    missing += {"onnx": "", "c": ", or NULL for all lags,"}[format_name]
    print(
        f"{names} the {what} of the rows before, lag_1 the latest. {missing} means "
        "the one that was last when the model was exported."
    )


def _print_encoding(model: TableModel, format_name: str) -> None:
    """Print the inputs and outputs of the exported function, which does not encode columns."""
    print(
        f"Its inputs are the {model.encoder_.n_features_} encoded features, not the columns. "
        "The encoding is not part of it:"
    )
    print(lines(_feature_lines(model.encoder_)))
    _print_lags(model, format_name)
    if model.task_ == "regression" and isinstance(model.estimator_, Mixture):
        print(f"Its output is {model.target}, in its own units.")
    elif model.task_ == "regression":
        mean, scale = model.scaler_.mean_, model.scaler_.scale_
        print(f"Its output f stands for {model.target} = {mean:.9g} + {scale:.9g} f.")


def _feature_lines(encoder: Any) -> list[tuple[str, str]]:
    """Return the index and the meaning of each feature. Unused ones share a line."""
    numbers = {column.name: column for column in encoder.encoded_columns_ if column.kind != "text"}
    pairs: list[tuple[str, str]] = []
    names, i = encoder.feature_names_, 0
    while i < len(names):
        column, _, slot = names[i].rpartition(": ")
        if slot.startswith("free ") and column in encoder.columns_:
            first = i
            while i < len(names) and names[i].startswith(f"{column}: free "):
                i += 1
            index = f"{first}" if i == first + 1 else f"{first}-{i - 1}"
            pairs.append((index, f"{column}: not used, always 0"))
            continue
        text = names[i]
        if text in numbers:
            mean, deviation = numbers[text].mean, numbers[text].deviation
            text = f"({text} - {mean:.9g}) / {deviation:.9g}, within +-{encoder.clip:g}"
        pairs.append((str(i), text))
        i += 1
    return pairs
