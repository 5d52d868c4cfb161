"""`CandidateClassifier` as a combination: a weighted average of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from sklearn.exceptions import NotFittedError

from parsimon.export.combination import Combination, Expert, Statements
from parsimon.export.expansion import Array, expansion
from parsimon.mixtures import CandidateClassifier

if TYPE_CHECKING:
    from parsimon.export.onnx.graph import Graph

__all__ = ["Average", "candidate_classifier"]


@dataclass(frozen=True)
class Average:
    """sum_k w_k p_k."""

    weights: Array  # (K,)

    def onnx(self, g: Graph, each: Sequence[str], lags: str) -> str:
        """Write nodes, and return the name of the result (n, C)."""
        weighted = [
            g("Mul", p, g.array([[w]], "shares")) for p, w in zip(each, self.weights, strict=True)
        ]
        return reduce(lambda total, term: g("Add", total, term), weighted)

    def c(self, c: Statements) -> list[str]:
        """Return the statements that set `out[c]` from `each[k][c]`."""
        shares = c.table("shares", self.weights)
        return [
            f"for (int c = 0; c < {c.n_outputs}; ++c) {{",
            f"    out[c] = {c.number(0)};",
            f"    for (int k = 0; k < {c.n_experts}; ++k) out[c] += {shares}[k] * each[k][c];",
            "}",
        ]


def candidate_classifier(model: CandidateClassifier) -> Combination:
    """Return a fitted mixture of classifiers as a combination."""
    if not hasattr(model, "candidates_"):
        raise NotFittedError(f"this {type(model).__name__} has learned nothing yet")
    experts = tuple(Expert(expansion(candidate)) for candidate in model.candidates_)
    first = experts[0].expansion
    return Combination(
        type(model).__name__,
        experts,
        Average(model.shares_),
        first.n_features,
        first.n_outputs,
        classes=first.classes,
        feature_names=first.feature_names,
    )
