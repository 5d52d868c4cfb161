"""Checks of the columns of a table, before anything is learned."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa

from parsimon.cli.errors import Failure
from parsimon.cli.reading import limits
from parsimon.cli.reading.column_types import is_text
from parsimon.preprocessing import feature_count, nearest

__all__ = ["require_columns", "require_features"]


def require_columns(names: Collection[str], columns: Collection[str]) -> None:
    """Fail if one of the names is not a column."""
    for name in names:
        if name not in columns:
            raise Failure(f"there is no column {name!r}: {nearest(name, columns)}")


def require_features(table: Any, ignored: Collection[str], max_categories: int) -> None:
    """Fail if the columns become more features than a model can have."""
    unused = set(ignored)
    types = zip(table.column_names, table.schema.types, strict=True)
    kinds = [_kind_of_feature(kind) for name, kind in types if name not in unused]
    n = sum(feature_count(kind, max_categories) for kind in kinds)
    if n > limits.FEATURES:
        raise Failure(
            f"the columns become {n:,} features, and {limits.FEATURES:,} is the most: "
            "leave some out with --ignore"
        )


def _kind_of_feature(kind: Any) -> str:
    if is_text(kind) or "string" in str(kind):
        return "text"
    return "timestamp" if pa.types.is_temporal(kind) else "number"
