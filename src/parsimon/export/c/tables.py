"""Numbers, labels and constant tables as C."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from parsimon.export.expansion import Array, Label

__all__ = ["TYPES", "Tables", "c_integer", "c_string", "comment_text"]

#: For each type: the suffix of its functions and numbers in C, and its name in NumPy.
TYPES = {"double": ("", "float64"), "float": ("f", "float32")}


class Tables:
    """The constant tables of a header. Their names begin with `name`, their macros with `macro`."""

    def __init__(self, name: str, dtype: str) -> None:
        self.name = name
        self.macro = name.upper()
        self.real = dtype
        self.suffix, self.numpy_name = TYPES[dtype]
        self.texts: list[str] = []
        self.n_bytes = 0

    def number(self, value: float) -> str:
        """Return a number with the fewest digits that represent it exactly."""
        number = self._cast(np.float64(value), "kernel parameters")
        if number == 0 and value != 0:
            raise ValueError(
                f"the kernel's parameter {value!r} is too small for dtype={self.real!r}"
            )
        return str(number) + self.suffix

    def add(self, what: str, values: Array) -> None:
        """Add a table of numbers, (n,) or (m, n)."""
        numbers = self._cast(values, what)
        rows = [
            ", ".join(str(number) + self.suffix for number in row) for row in np.atleast_2d(numbers)
        ]
        size = f"[{len(values)}]"
        if values.ndim == 2:
            columns = "N_OUTPUTS" if what == "weights" else "N_FEATURES"
            size = f"[{self.macro}_N_CENTERS][{self.macro}_{columns}]"
            text = ",\n".join(_wrapped(row, "    {") + "}" for row in rows)
        else:
            text = _wrapped(rows[0], "    ")
        self.texts.append(f"static const {self.real} {self.name}_{what}{size} = {{\n{text}\n}};")
        self.n_bytes += numbers.nbytes

    def add_integers(self, what: str, values: Sequence[int]) -> None:
        """Add a table of small integers."""
        text = _wrapped(", ".join(map(str, values)), "    ")
        self.texts.append(f"static const int {self.name}_{what}[{len(values)}] = {{\n{text}\n}};")
        self.n_bytes += 4 * len(values)

    def add_strings(self, what: str, values: Sequence[str]) -> None:
        """Add a table of strings. One that C cannot hold is written so that no text equals it."""
        # C strings end at NUL, and no text in UTF-8 has the byte 255.
        texts = ['"\\377"' if "\0" in value else c_string(value) for value in values]
        text = ",\n".join("    " + text for text in texts or ['"\\377"'])
        size = max(len(values), 1)
        self.texts.append(f"static const char *const {self.name}_{what}[{size}] = {{\n{text}\n}};")

    def add_classes(self, labels: tuple[Label, ...]) -> None:
        """Add the table of labels: strings, integers or numbers."""
        kind, texts = (
            "const char *const",
            [c_string(label) for label in labels if isinstance(label, str)],
        )
        if isinstance(labels[0], float):
            kind, texts = "const double", [repr(label) for label in labels]
        elif isinstance(labels[0], int):
            kind, texts = "const long long", [c_integer(int(label)) for label in labels]
        text = ",\n".join("    " + text for text in texts)
        self.texts.append(
            f"static {kind} {self.name}_classes[{self.macro}_N_OUTPUTS] = {{\n{text}\n}};"
        )

    def _cast(self, values: Any, what: str) -> Any:
        with np.errstate(over="ignore", under="ignore"):
            numbers = values.astype(self.numpy_name)
        if not np.isfinite(numbers).all():
            raise ValueError(f"the model's {what} are too large for dtype={self.real!r}")
        return numbers


def comment_text(text: str) -> str:
    """Return text in quotes that cannot end a comment."""
    return re.sub(r"(\*)(?=/)|(/)(?=\*)|(\?)(?=\?)", r"\g<0> ", json.dumps(text))


def c_string(text: str) -> str:
    """Return a string literal in ASCII: UTF-8 in octal. Question marks are escaped (trigraphs)."""
    plain = {*range(32, 127)} - {*b'"\\?'}
    return (
        '"'
        + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode())
        + '"'
    )


def c_integer(value: int) -> str:
    """Return an integer literal."""
    # The least integer cannot be a literal: without its sign it is out of range.
    return f"{value}LL" if value > -(2**63) else f"({value + 1}LL - 1)"


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(
        text,
        100,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
