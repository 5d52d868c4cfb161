"""Facts about mixtures: their experts, and the relevance of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from parsimon.cli.text import table
from parsimon.mixtures import Mixture
from parsimon.plots.mixtures import MOST_COLUMNS
from parsimon.tables import TableModel

__all__ = [
    "expert_facts",
    "expert_table",
    "mixture_shares",
    "model_relevance",
    "relevance_table",
    "short_kernel",
]


def mixture_shares(model: Mixture) -> dict[str, float]:
    """Return the share of each expert by name. Of several outputs it is the largest share."""
    shares = np.reshape(model.shares_, (len(model.expert_names_), -1))
    largest = shares[np.arange(len(shares)), np.abs(shares).argmax(axis=1)]
    return dict(zip(model.expert_names_, largest.tolist(), strict=True))


def expert_facts(model: Mixture) -> list[dict[str, Any]]:
    """Return what is known about each expert, the largest share first."""
    found = []
    own = dict(zip(model.expert_names_, model.experts_, strict=False))  # some have no estimator
    for name, share in mixture_shares(model).items():
        estimator = own.get(name)
        kernel = getattr(estimator, "kernel_", None)
        found.append(
            {
                "name": name,
                "kernel": None if kernel is None else repr(kernel),
                "centres": None if estimator is None else estimator.n_centers_,
                "share": share,
                "asleep": name in own and estimator is None,
            }
        )
    return sorted(found, key=lambda facts: -facts["share"])


def expert_table(experts: Sequence[dict[str, Any]]) -> str:
    """Return the experts as a table."""
    rows = [
        [
            facts["name"],
            f"{facts['share']:.3f}",
            "" if facts["centres"] is None else f"{facts['centres']:,}",
            "yes" if facts["asleep"] else "no",
            short_kernel(facts["kernel"] or ""),
        ]
        for facts in experts
    ]
    return table(["expert", "share", "centres", "asleep", "kernel"], rows, left=(0, 4))


def short_kernel(text: str) -> str:
    """Return the text of a kernel with fewer digits, and a sum with a plus sign.

    >>> short_kernel("Sum(left=Gaussian(gamma=0.123456), right=Constant(value=1.0))")
    'Gaussian(gamma=0.123) + Constant(value=1)'
    """
    text = re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda found: f"{float(found[0]):.3g}", text)
    return re.sub(r"^Sum\(left=((?:(?!Sum).)*), right=((?:(?!Sum).)*)\)$", r"\1 + \2", text)


def model_relevance(model: Any) -> dict[str, float] | None:
    """Return the relevance of columns or features by name, the largest first. None: not known."""
    found = model.relevance_
    if found is None:
        return None
    if not isinstance(model, TableModel):
        names = getattr(model, "feature_names_in_", [f"feature {i}" for i in range(len(found))])
        found = dict(zip(map(str, names), found.tolist(), strict=True))
    return {name: found[name] for name in sorted(found, key=lambda name: -found[name])}


def relevance_table(relevance: dict[str, float] | None) -> str:
    """Return the most relevant columns as a table."""
    if relevance is None:
        return "the relevance of columns is not known yet"
    shown = [[name, f"{value:.3f}"] for name, value in list(relevance.items())[:MOST_COLUMNS]]
    more = len(relevance) - len(shown)
    text = table(["column", "relevance"], shown)
    return f"{text}\n... and {more:,} more" if more else text
