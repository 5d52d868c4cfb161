"""The HTML page of `learn --report`."""

from __future__ import annotations

import base64
import html

__all__ = ["report_page"]

STYLE = (
    "body{font-family:sans-serif;max-width:50em;margin:2em auto}"
    "th{text-align:left;padding-right:2em}"
)


def report_page(title: str, pairs: list[tuple[str, str]], picture: bytes) -> str:
    """Return a page with a table of names and values, and a PNG picture."""
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in pairs
    )
    image = base64.b64encode(picture).decode()
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>"
        f"<h1>{html.escape(title)}</h1><table>{rows}</table>"
        '<img alt="scores, parts of the model, and its last predictions" style="max-width:100%" '
        f'src="data:image/png;base64,{image}"></html>\n'
    )
