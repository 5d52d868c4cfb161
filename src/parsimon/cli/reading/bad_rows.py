"""Rows that cannot be used: stop at the first one, or skip and count them."""

from __future__ import annotations

from collections.abc import Callable

from parsimon.cli.errors import Failure
from parsimon.cli.words import choose
from parsimon.preprocessing import TableError

__all__ = ["POLICIES", "SHOWN", "BadRows", "in_good_parts", "with_option"]

#: What `--bad-rows` can be.
POLICIES = {"error": "stop at the first bad row", "skip": "skip bad rows and count them"}
#: How many bad rows are shown; further ones are only counted.
SHOWN = 5


class BadRows:
    """What to do with bad rows.

    Parameters
    ----------
    policy : a key of `POLICIES`.
    skipped_before : rows before this one are skipped under any policy: an earlier run skipped them.
    notes : the list that gets a note for each of the first bad rows.
    """

    def __init__(self, policy: str, skipped_before: int, notes: list[str]) -> None:
        choose(POLICIES, policy, "value of --bad-rows")
        self.skips = policy == "skip"
        self.resumed_at = 0  # bad rows before this one were shown by an earlier run
        self._skipped_before, self._notes, self._met = skipped_before, notes, 0

    def may_skip(self, row: int) -> bool:
        """Return whether a bad row at `row` is skipped."""
        return self.skips or row < self._skipped_before

    def refuse(self, row: int, error: Failure) -> None:
        """Skip a bad row, or raise its error."""
        if not self.may_skip(row):
            raise with_option(error)
        if row < self.resumed_at:
            return
        self._met += 1
        if self._met <= SHOWN:
            self._notes.append(f"a bad row is skipped: {error}")
        elif self._met == SHOWN + 1:
            self._notes.append("further bad rows are counted, but not shown")


def with_option(error: Failure) -> Failure:
    """Return the error of a bad row. If its target is missing, the option that skips it is named.

    >>> print(with_option(Failure("row 3, column 'y': the target is missing")))
    row 3, column 'y': the target is missing (--bad-rows skip skips such rows)
    """
    if not str(error).endswith("the target is missing"):
        return error
    return Failure(f"{error} (--bad-rows skip skips such rows)")


def in_good_parts(
    take: Callable[[int, int], None], at: int, n: int, refuse: Callable[[int, TableError], None]
) -> None:
    """Give the good rows among `at` to `at + n` to `take`, in order, and the others to `refuse`.

    `take(at, n)` raises a `TableError` if one of its rows is bad. It must then change nothing. The
    rows are halved until the bad ones are found. An error that names no row is raised.
    """
    parts = [(at, n)]
    while parts:
        at, n = parts.pop()
        if not n:
            continue
        try:
            take(at, n)
        except TableError as error:
            if error.row is None:
                raise
            if n == 1:
                refuse(at, error)
                continue
            parts += [(at + n // 2, n - n // 2), (at, n // 2)]
