"""What `learn` says about a model: the summary, and the task that was found."""

from __future__ import annotations

from collections.abc import Mapping

from parsimon.cli.model_files import skipped_rows
from parsimon.cli.scores import model_score_lines
from parsimon.cli.text import byte_size
from parsimon.cli.words import plural
from parsimon.mixtures import Mixture
from parsimon.tables import ALGORITHMS, TableModel

__all__ = ["shares", "summary", "task_hint", "task_note"]

#: How many experts and columns the summary names.
MOST_NAMED = 3


def summary(model: TableModel) -> list[tuple[str, str]]:
    """Return names and values for the summary of a model.

    It is the same whether the model was learned in one run or in several.
    """
    skipped = skipped_rows(model)
    bad = f"; {plural(skipped, 'bad row')} skipped" if skipped else ""
    if model.metrics_ is None:
        return [("rows", f"{model.n_rows_:,}, still warming up ({model.warmup} are needed){bad}")]
    classes = f", classes: {len(model.classes_)}" if model.task_ == "classification" else ""
    return [
        ("rows", f"{model.n_rows_:,}{bad}"),
        ("task", f"{model.task_} of {model.target!r}{classes}"),
        ("algorithm", f"{model.algorithm}: {type(model.estimator_).__name__}"),
        *model_score_lines(model),
        *_mixture_lines(model),
        ("centres", f"{model.n_centers_:,}"),
        ("memory", byte_size(model.nbytes_)),
    ]


def shares(model: TableModel) -> dict[str, float]:
    """Return the shares of the experts by name. There are none if the model is not a mixture."""
    return model.shares_ if isinstance(getattr(model, "estimator_", None), Mixture) else {}


def _mixture_lines(model: TableModel) -> list[tuple[str, str]]:
    """Return the experts with the largest shares, and the most relevant columns."""
    found = {"largest shares": shares(model), "most relevant": model.relevance_ or {}}
    return [(name, _largest(values)) for name, values in found.items() if values]


def _largest(values: Mapping[str, float]) -> str:
    """Return the names with the largest absolute values.

    >>> _largest({"a": 0.125, "b": 0.0, "c": -0.5, "d": 2.0})
    'd 2.00, c -0.50, a 0.12'
    """
    ranked = sorted(values, key=lambda name: -abs(values[name]))[:MOST_NAMED]
    return ", ".join(f"{name} {values[name]:.2f}" for name in ranked)


def task_note(model: TableModel) -> str:
    """Return which task was found and why, and which option changes it if in doubt."""
    other = {
        "classification": "; --task regression if they are quantities",
        "regression": "; --task classification if they are labels",
    }
    doubtful = "whole number" in model.task_reason_
    return f"task: {model.task_} ({model.task_reason_}){other[model.task_] if doubtful else ''}"


def task_hint(algorithm: str, task: str) -> str:
    """Return which algorithms are for the other task, if this one is for one task only."""
    if len(ALGORITHMS.get(algorithm, ())) != 1:
        return ""
    other = "regression" if task == "classification" else "classification"
    names = ", ".join(name for name, tasks in ALGORITHMS.items() if other in tasks)
    return f"; --algorithm {algorithm} is for {task} only, for {other} there are {names}"
