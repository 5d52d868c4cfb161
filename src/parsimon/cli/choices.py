"""Names that the help texts list.

They are kept apart, so that help imports nothing heavy; a test compares them with
`parsimon.tables.ALGORITHMS` and `parsimon.cli.compare.PEERS`.
"""

from __future__ import annotations

__all__ = ["ALGORITHMS", "PEERS"]

ALGORITHMS = (
    "default",
    "polk",
    "krls",
    "knlms",
    "klms",
    "norma",
    "spl",
    "sogsvr",
    "sogsvc",
    "bsgd",
)
PEERS = ("river-forest", "river-tree", "river-linear", "sklearn-pa", "sklearn-mlp")
