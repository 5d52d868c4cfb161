"""``parsimon merge``: merge estimators that were learned separately."""

from __future__ import annotations

from pathlib import Path

import parsimon
from parsimon._files import only_writer
from parsimon.cli.errors import Failure
from parsimon.cli.model_files import load_model
from parsimon.cli.paths import require_different, require_writable
from parsimon.tables import TableModel

__all__ = ["merge"]


def merge(paths: list[Path], out: Path, budget: int | None, tolerance: float | None) -> int:
    """Add the models of several files, and write the sum."""
    for path in paths:
        require_different({"a model": path, "--out": out})
    require_writable(out, regular=True)
    with only_writer(out):
        return _merge(paths, out, budget, tolerance)


def _merge(paths: list[Path], out: Path, budget: int | None, tolerance: float | None) -> int:
    models = [load_model(path) for path in paths]
    for path, model in zip(paths, models, strict=True):
        if isinstance(model, TableModel):
            raise Failure(
                f"{path} was learned from a table: such models each scale their columns in their "
                "own way, so they have no sum. Files of plain estimators can be merged"
            )
    try:
        merged = parsimon.merge(models, budget=budget, tolerance=tolerance)
    except (TypeError, AttributeError) as error:
        raise Failure(str(error)) from None
    merged.model.save(out)
    print(
        f"{out}: {merged.n_centers:,} centres of {merged.n_before:,}, "
        f"at a distance of {merged.distance:.6g} from the sum"
    )
    return 0
