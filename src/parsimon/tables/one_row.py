"""One row of a table at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from parsimon.preprocessing import TableError

__all__ = ["OneRow"]


class OneRow:
    """Methods for single rows, which are dicts with the values by column name."""

    learn: Callable[[Any], Any]
    predict: Callable[[Any], Any]
    predict_proba: Callable[[Any], Any]

    def learn_one(self, row: Mapping[str, Any]) -> Self:
        """Learn one row: a dict with the features and the target. None is a missing value."""
        self.learn(_block(row))
        return self

    def predict_one(self, row: Mapping[str, Any]) -> Any:
        """Predict the target of one row, a dict with the features."""
        found = self.predict(_block(row))[0]
        return found.item() if hasattr(found, "item") else found

    def predict_proba_one(self, row: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each of `classes_` for one row, a dict with the features."""
        P = self.predict_proba(_block(row))[0]
        labels: Any = getattr(self, "classes_")  # noqa: B009
        return dict(zip(labels.tolist(), P.tolist(), strict=True))


def _block(row: Mapping[str, Any]) -> dict[str, list[Any]]:
    if not isinstance(row, Mapping):
        raise TableError(f"a row must be a dict of values by column, got {type(row).__name__}")
    return {name: [value] for name, value in row.items()}
