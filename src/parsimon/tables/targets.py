"""The task that a target column means, and its values as numbers or labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.mixtures import Mixture
from parsimon.mixtures.experts import has_link
from parsimon.preprocessing import Column, TableError

__all__ = [
    "TASKS",
    "class_labels",
    "class_rows",
    "found_task",
    "holds_classes",
    "numeric_targets",
    "takes_raw_targets",
]

Array = NDArray[np.float64]
Labels = NDArray[Any]

TASKS = ("auto", "regression", "classification")
#: "auto" takes at most this many distinct whole numbers as classes.
FEW = 20
#: The most classes that a model can have.
MOST_CLASSES = 1000
#: With fewer rows "auto" takes whole numbers as quantities.
LEAST_ROWS = 10
#: With at least this many rows "auto" rejects text that is different in nearly every row.
ENOUGH = 20
#: The share of distinct texts above which "auto" does not take them as classes.
MOST_TEXTS = 0.9
#: The most characters of a label.
LONGEST_LABEL = 1000
#: Whole numbers up to this one are exact in double precision.
LARGEST_WHOLE = 2.0**53


def found_task(target: Column, name: str) -> tuple[str, str]:
    """Return the task that the targets of the warm-up mean, and the reason in words.

    >>> found_task(Column("number", np.array([1.5, 2.0]), []), "price")
    ('regression', 'price has numbers with fractions')
    """
    n, met = len(target.values), len(np.unique(target.values))
    where = f"{name} has {{}} in {n:,} row{'s' if n > 1 else ''}"
    if target.kind == "text":
        if n >= ENOUGH and met > MOST_TEXTS * n:
            raise TableError(
                f"it has {met:,} different texts in {n:,} rows, so it is neither numbers nor "
                "classes; set the task to classification if they are labels",
                name,
            )
        return "classification", where.format(
            f"{met:,} different texts" if met > 1 else "one text only"
        )
    if target.kind == "boolean":
        return "classification", f"{name} is true or false"
    if not _is_whole(target):
        kind = "numbers with fractions" if target.kind == "number" else f"{target.kind} values"
        return "regression", f"{name} has {kind}"
    few = met <= max(2 if n >= LEAST_ROWS else 0, min(FEW, n // 10))
    reason = where.format(
        f"{met:,} different whole numbers" if met > 1 else "one whole number only"
    )
    if n < LEAST_ROWS:
        reason += ", too few rows to tell"
    return "classification" if few else "regression", reason


def holds_classes(target: Column) -> bool:
    """Return whether all values of a column could be classes."""
    return target.kind in ("text", "boolean") or _is_whole(target)


def class_rows(target: Column) -> NDArray[np.bool_]:
    """Return whether the values of a column up to each row could be classes, (n,)."""
    if target.kind in ("text", "boolean"):
        return np.ones(len(target.values), dtype=bool)
    if target.kind != "number":
        return np.zeros(len(target.values), dtype=bool)
    fits = (target.values % 1 == 0) & (np.abs(target.values) <= LARGEST_WHOLE)
    # After more than FEW different numbers they are quantities.
    _, first = np.unique(target.values, return_index=True)
    if len(first) > FEW:
        fits[np.sort(first)[FEW] :] = False
    return np.logical_and.accumulate(fits)


def numeric_targets(target: Column, name: str, estimator: Any) -> Array:
    """Return the targets of regression, (n,). Targets that the loss cannot use are rejected."""
    if target.kind not in ("number", "boolean", "duration"):
        raise TableError(f"regression needs numbers, and it holds {target.kind} values", name)
    loss = getattr(estimator, "_target_loss", None)
    if loss is not None and (refused := loss.refused(target.values)) is not None:
        row, why = refused
        raise TableError(f"{target.values[row]:g} cannot be learned: it {why}", name, row)
    return target.values


def class_labels(target: Column, name: str, known: Iterable[Any] = ()) -> Labels:
    """Return the targets of classification, (n,). `known` are the classes so far."""
    if target.kind == "boolean":
        return target.values.astype(bool)
    if target.kind == "text":
        labels = _texts(target, name)
    elif target.kind == "number":
        labels = _whole_numbers(target, name)
    else:
        raise TableError(
            f"classes are text, booleans or whole numbers, and it holds {target.kind} values", name
        )
    if len(set(labels.tolist()) | set(known)) > MOST_CLASSES:
        raise TableError(f"there are more than {MOST_CLASSES} classes: is this regression?", name)
    return labels


def _texts(target: Column, name: str) -> Labels:
    long = [text for text in target.categories if len(text) > LONGEST_LABEL]
    if long:
        row = int((target.values == target.categories.index(long[0])).argmax())
        raise TableError(f"a label has {len(long[0])} characters", name, row)
    return np.array([*target.categories, ""])[target.values.astype(np.int64)]


def _whole_numbers(target: Column, name: str) -> Labels:
    wrong = (target.values != np.round(target.values)) | (np.abs(target.values) > LARGEST_WHOLE)
    if wrong.any():
        row = int(wrong.argmax())
        raise TableError(
            f"{target.values[row]:g} is no class: classes are text, booleans or whole numbers",
            name,
            row,
        )
    return target.values.astype(np.int64)


def _is_whole(target: Column) -> bool:
    """Return whether targets are whole numbers that can be classes."""
    whole_numbers = target.kind == "number" and not (target.values % 1).any()
    return whole_numbers and bool((np.abs(target.values) <= LARGEST_WHOLE).all())


def takes_raw_targets(estimator: Any) -> bool:
    """Return whether targets are not scaled for an estimator.

    Mixtures scale them. With an inverse link, predictions are not f itself.
    """
    return isinstance(estimator, Mixture) or has_link(estimator)
