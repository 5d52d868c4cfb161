"""Report of an experiment: a table, notes and pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from parsimon._files import write_whole

T = TypeVar("T")


@dataclass
class Report:
    """A table with its title, notes under it, and the pictures drawn.

    >>> print(Report("Title", ["a", "b"], [["1", "x"]], notes=["Said."]))
    Title
    <BLANKLINE>
    | a | b |
    |---|---|
    | 1 | x |
    <BLANKLINE>
    Said.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    pictures: Sequence[Path] = field(default_factory=tuple)

    def __str__(self) -> str:
        widths = [
            max(len(row[i]) for row in [self.header, *self.rows]) for i in range(len(self.header))
        ]
        lines = [
            "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
            for row in [self.header, *self.rows]
        ]
        lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
        return "\n".join(
            [self.title, "", *lines, *(line for note in self.notes for line in ("", note))]
        )

    def write(self, folder: Path) -> None:
        """Write the table to ``folder/table.md``, next to the pictures."""
        folder.mkdir(parents=True, exist_ok=True)
        pictures = "".join(f"\n![]({picture.name})\n" for picture in self.pictures)
        write_whole(folder / "table.md", f"# {self}\n{pictures}".encode())


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """Yield the items, with a progress bar if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from items
        return
    yield from track(items, description=what, transient=True, console=Console(stderr=True))
