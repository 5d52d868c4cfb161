"""Which entries of the log a learner takes together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from parsimon.serving.log import Entry
from parsimon.tables import TableModel

__all__ = ["groups", "has_batches"]

#: The most rows of a block.
MOST_ROWS = 1024


def groups(
    found: Sequence[Entry], *, alone: bool, refused: Callable[[Entry], str | None]
) -> Iterator[list[Entry]]:
    """Give entries in order: those of rows together up to `MOST_ROWS`, all others alone."""
    group: list[Entry] = []
    single = True
    for entry in found:
        before, single = single, alone or entry.kind != "learn" or refused(entry) is not None
        full = sum(each.rows for each in group) + entry.rows > MOST_ROWS
        if group and (before or single or full):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def has_batches(model: TableModel) -> bool:
    """Return whether a model depends on how rows are cut into blocks. Its entries stay apart."""
    options = dict(model.options or {})
    for estimator in (model.algorithm, getattr(model, "estimator_", None)):
        if estimator is not None and hasattr(estimator, "get_params"):
            options |= estimator.get_params(deep=False)
    return bool(options.get("batch_size", 1) != 1)
