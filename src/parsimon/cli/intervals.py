"""The option --intervals: its value, and what is said about it."""

from __future__ import annotations

from parsimon.cli.errors import Failure

__all__ = ["not_for_classes", "percent", "require_share"]


def require_share(share: float | None) -> None:
    """Fail if the value of --intervals is not a share, for example 90 instead of 0.9."""
    if share is None or 0 < share < 1:
        return
    hint = f"; did you mean {share / 100:g}?" if 1 < share < 100 else ""
    raise Failure(
        "--intervals must be above 0 and below 1, such as 0.9 for 90 % of the targets, "
        f"got {share:g}{hint}"
    )


def not_for_classes(what: str, *, quantities: bool = False) -> Failure:
    """Return the error for intervals of classes. `what` says where the classes come from.

    `quantities` adds the option for labels that are numbers.

    >>> str(not_for_classes("--task is classification"))
    '--intervals is for numbers, but --task is classification: leave --intervals out'
    """
    other = ", or use --task regression if the labels are quantities" if quantities else ""
    return Failure(f"--intervals is for numbers, but {what}: leave --intervals out{other}")


def percent(share: float) -> str:
    """Return a share as a percentage.

    >>> percent(0.9), percent(0.57), percent(0.975)
    ('90 %', '57 %', '97.5 %')
    """
    return f"{100 * share:.6g} %"
