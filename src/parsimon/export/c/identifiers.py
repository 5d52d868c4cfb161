"""Names of columns as names of C."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["KEYWORDS", "identifiers"]

#: The keywords of C99, which no name can be.
KEYWORDS = (
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|"
    "inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|"
    "union|unsigned|void|volatile|while"
)
#: Further keywords of C++ and later C, and common macros.
RESERVED = (
    "alignas|alignof|and|and_eq|asm|assert|bitand|bitor|bool|catch|char16_t|char32_t|class|compl|"
    "complex|concept|consteval|constexpr|constinit|const_cast|decltype|delete|dynamic_cast|"
    "explicit|export|false|friend|imaginary|linux|mutable|namespace|new|noexcept|not|not_eq|"
    "nullptr|operator|or|or_eq|private|protected|public|reinterpret_cast|requires|static_assert|"
    "static_cast|template|this|thread_local|throw|true|try|typeid|typename|typeof|unix|using|"
    "virtual|wchar_t|xor|xor_eq|errno|stdin|stdout|stderr|"
    "NULL|EOF|NAN|INFINITY|HUGE_VAL|I|EXIT_SUCCESS|EXIT_FAILURE"
)


def identifiers(names: Iterable[str]) -> list[str]:
    """Return a different name of C for each name.

    >>> identifiers(["size", "größe (m²)", "class", "2nd", "size!", "東京"])
    ['size', 'groe_m2', 'class_', 'column_2nd', 'size_2', 'column_6']
    """
    found: list[str] = []
    taken: set[str] = set()
    for position, name in enumerate(names, start=1):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        plain = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:60].rstrip("_") or str(position)
        if plain[0].isdigit():
            plain = f"column_{plain}"
        if re.fullmatch(f"{KEYWORDS}|{RESERVED}", plain):
            plain += "_"
        unique, count = plain, 1
        while unique in taken:
            count += 1
            unique = f"{plain.rstrip('_')}_{count}"
        taken.add(unique)
        found.append(unique)
    return found
