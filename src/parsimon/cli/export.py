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
from parsimon.tables import MixtureClassifier, TableModel

__all__ = ["export_model"]

#: What writes each format.
WRITERS: dict[str, Any] = {"onnx": export.to_onnx, "c": export.to_c, "libsvm": export.to_libsvm}
#: Formats by suffix.
SUFFIXES = {".onnx": "onnx", ".h": "c", ".c": "c", ".libsvm": "libsvm", ".model": "libsvm"}


def export_model(path: Path, out: Path, format_name: str | None, name: str) -> int:
    """Write a model in another format. `name` begins the functions of a C header."""
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
    estimator = _estimator(model, path)
    try:
        write(estimator, out, **({"name": name} if format_name == "c" else {}))
    except TypeError as error:
        raise Failure(str(error)) from None
    print(f"{out}: {type(estimator).__name__}, {estimator.n_centers_:,} centres")
    if isinstance(model, TableModel):
        _print_encoding(model)
    return 0


def _estimator(model: Any, path: Path) -> Any:
    """Return the estimator to write."""
    if not isinstance(model, TableModel):
        return model
    model.finish()
    if not model.n_rows_:
        raise Failure(f"{path} has learned nothing yet")
    if isinstance(model.estimator_, MixtureClassifier):
        raise Failure(
            f"{path} is a mixture of {len(model.estimator_.candidates_)} classifiers, which "
            "cannot be exported: learn one with --algorithm polk"
        )
    return model.estimator_


def _print_encoding(model: TableModel) -> None:
    """Print the inputs and outputs of the exported function, which does not encode columns."""
    print(
        f"Its inputs are the {model.encoder_.n_features_} encoded features, not the columns. "
        "The encoding is not part of it:"
    )
    print(lines(_feature_lines(model.encoder_)))
    if model.task_ == "regression":
        mean, scale = model.scaler_.mean_, model.scaler_.scale_
        print(f"Its output f stands for {model.target} = {mean:.9g} + {scale:.9g} f.")


def _feature_lines(encoder: Any) -> list[tuple[str, str]]:
    """Return the index and the meaning of each feature. Unused ones share a line."""
    numbers = [name for name, kind in encoder.columns_.items() if kind != "text"]
    means, deviations = (values.ravel() for values in encoder._moments.now())
    moments = dict(zip(numbers, zip(means, deviations, strict=True), strict=True))
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
        if text in moments:
            mean, deviation = moments[text]
            text = f"({text} - {mean:.9g}) / {deviation:.9g}, within +-{encoder.clip:g}"
        pairs.append((str(i), text))
        i += 1
    return pairs
