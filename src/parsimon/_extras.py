"""How to install an optional dependency."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution

__all__ = ["install_command"]


def install_command(extra: str) -> str:
    """Return the command that installs parsimon with an extra.

    After ``pip install .`` the command names the folder that was installed. Otherwise it names the
    package index.

    >>> "[plot]" in install_command("plot")
    True
    """
    try:
        origin = json.loads(distribution("parsimon").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    if "dir_info" not in origin:
        return f'pip install "parsimon[{extra}]"'
    from urllib.parse import urlsplit
    from urllib.request import url2pathname  # costs 3 ms, and is rarely needed

    return f'pip install ".[{extra}]" in {url2pathname(urlsplit(origin["url"]).path)}'
