"""Names for the help texts.

This module imports nothing, so that help is quick. A test compares the names with
`parsimon.tables.ALGORITHMS` and `parsimon.cli.peers.PEERS`.
"""

from __future__ import annotations

__all__ = ["ALGORITHMS", "PEERS"]

ALGORITHMS = (
    "default",
    "polk",
    "krls",
    "krlst",
    "swkrls",
    "fbkrls",
    "exkrls",
    "knlms",
    "kap",
    "klms",
    "norma",
    "spl",
    "sogsvr",
    "sogsvc",
    "bsgd",
)
PEERS = ("river-forest", "river-tree", "river-linear", "sklearn-pa", "sklearn-mlp")
