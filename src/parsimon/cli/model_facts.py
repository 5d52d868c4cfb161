"""Facts about a model, for JSON and as lines of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from parsimon import diagnostics, merging
from parsimon.cli.mixture_facts import (
    expert_facts,
    expert_table,
    model_relevance,
    relevance_table,
)
from parsimon.cli.model_files import column_kinds
from parsimon.cli.scores import guessed_rows, meaningful_scores
from parsimon.cli.text import byte_size
from parsimon.cli.words import plural
from parsimon.forecasting import Forecaster
from parsimon.mixtures import CandidateClassifier, Mixture
from parsimon.tables import TableModel

__all__ = ["fact_lines", "fact_tables", "mean_weights", "model_facts"]

#: The most elements of a list that are shown.
MOST_SHOWN = 20
#: Labels of facts whose names in JSON are not clear enough.
LABELS = {
    "file_bytes": "file size",
    "bytes": "memory",
    "reading": "data",
    "estimator_parameters": "its parameters",
}
#: Facts that are tables of their own.
TABLES: dict[str, Callable[[Any], str]] = {
    "experts": expert_table,
    "relevance": relevance_table,
}


# Facts


def model_facts(model: Any) -> dict[str, Any]:
    """Return what is known about a model, by name."""
    if isinstance(model, Forecaster):
        return _forecaster_facts(model)
    return _table_facts(model) if isinstance(model, TableModel) else _estimator_facts(model)


def mean_weights(model: Forecaster) -> dict[str, float]:
    """Return the weight of each expert of a forecaster, averaged over the steps."""
    return dict(zip(model.expert_names_, model.weights_.mean(axis=0).tolist(), strict=True))


def _forecaster_facts(model: Forecaster) -> dict[str, Any]:
    return {
        "rows": model.n_rows_,
        "parameters": _parameters(model),
        "seasons": model.seasons_ or None,
        "centres": model.n_centers_,
        "bytes": model.nbytes_,
        "weights": mean_weights(model),
    }


def _table_facts(model: TableModel) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "target": model.target,
        "rows": model.n_rows_,
        "parameters": _parameters(model),
    }
    if hasattr(model, "reading_"):
        facts["reading"] = model.reading_
    if model.metrics_ is None:
        state = f"warming up: it needs {model.warmup} rows"
        return {**facts, "columns": column_kinds(model), "state": state}
    classes = {"classes": model.classes_.tolist()} if model.task_ == "classification" else {}
    columns = {"columns": model.encoder_.columns_, "features": model.encoder_.n_features_}
    total, rolling = meaningful_scores(model.metrics_, guessed_rows(model))
    inner = {
        f"estimator_{name}" if name in facts else name: value
        for name, value in _estimator_facts(model.estimator_).items()
    }
    return {
        **facts,
        "task": model.task_,
        **classes,
        **columns,
        "estimator": type(model.estimator_).__name__,
        **inner,
        **({"relevance": model_relevance(model)} if "experts" in inner else {}),
        "total": total,
        "rolling": rolling,
    }


def _estimator_facts(model: Any) -> dict[str, Any]:
    if isinstance(model, CandidateClassifier) and hasattr(model, "candidates_"):
        return {
            "centres": model.n_centers_,
            "bytes": model.nbytes_,
            "shares": [round(float(share), 4) for share in model.shares_],
            "candidates": [_estimator_facts(candidate) for candidate in model.candidates_],
        }
    facts: dict[str, Any] = {"parameters": _parameters(model)}
    if isinstance(model, Mixture):
        facts["parameters"].pop("experts", None)  # they are shown one by one
    attributes = {"centres": "n_centers_", "bytes": "nbytes_", "samples": "n_samples_seen_"}
    for name, attribute in attributes.items():
        if hasattr(model, attribute):
            value = getattr(model, attribute)
            # A number, or one for each class
            facts[name] = value.tolist() if hasattr(value, "tolist") else value
    if hasattr(model, "kernel_"):
        facts["kernel"] = repr(model.kernel_)
        if hasattr(model, "norm"):  # the model is one function
            facts["norm"] = merging.norm(model)
            if model.n_centers_ > 1:
                facts["coherence"] = diagnostics.coherence(model.kernel_, model.centers_)
    if isinstance(model, Mixture) and model.__sklearn_is_fitted__():
        facts |= {"experts": expert_facts(model), "relevance": model_relevance(model)}
    return facts


def _parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that are set. Arrays are left out: they hold what was learned."""
    given = model.get_params(deep=False).items()
    return {
        name: value
        for name, value in given
        if value is not None
        and not isinstance(value, np.ndarray)
        and not (isinstance(value, list | tuple) and not value)
    }


# Lines of text


def fact_lines(facts: dict[str, Any], indent: str = "") -> list[tuple[str, str]]:
    """Return facts as labels and texts. Each candidate of a mixture has lines of its own."""
    pairs: list[tuple[str, str]] = []
    for name, value in facts.items():
        if name in ("total", "rolling", "shares", *TABLES) or value is None:
            continue
        if name == "candidates":
            for i, (share, inner) in enumerate(zip(facts["shares"], value, strict=True)):
                pairs.append((f"candidate {i + 1}", f"{share:.2%} of the vote"))
                pairs += fact_lines(inner, "  ")
            continue
        label = LABELS.get(name, name.replace("_", " "))
        pairs.append((indent + label, _fact_text(name, value, facts)))
    return pairs


def fact_tables(facts: dict[str, Any]) -> list[str]:
    """Return tables of the experts of a mixture, and of the relevance of columns."""
    return [made(facts[name]) for name, made in TABLES.items() if name in facts]


def _fact_text(name: str, value: Any, facts: dict[str, Any]) -> str:
    if name == "file_bytes":
        return byte_size(value)
    if name == "bytes":
        return _memory_text(value, facts)
    if name == "reading":
        return _reading_text(value)
    if name == "columns":
        return ", ".join(f"{column} ({kind})" for column, kind in value.items())
    return _value_text(value)


def _memory_text(size: int, facts: dict[str, Any]) -> str:
    """Return the memory of a model that was loaded: its budget is not reserved yet."""
    parameters = facts.get("estimator_parameters", facts.get("parameters", {}))
    has_budget = "candidates" in facts or "budget" in parameters
    whole_model = "kind" in facts  # for the candidates of a mixture it is not repeated
    more = "; grows to its budget when it next learns" if has_budget and whole_model else ""
    return f"{byte_size(size)} as stored{more}"


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
        more = ", ..." if len(value) > MOST_SHOWN else ""
        return ", ".join(_value_text(inner) for inner in value[:MOST_SHOWN]) + more
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
