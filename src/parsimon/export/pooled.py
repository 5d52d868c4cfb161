"""The combiner of `MixtureClassifier`: a logarithmic pool and Bayes' mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from parsimon.export.combination import Statements
from parsimon.export.expansion import Array
from parsimon.mixtures.combiners import FLOOR, POOL_FLOOR

if TYPE_CHECKING:
    from parsimon.export.onnx.graph import Graph

__all__ = ["Pooled", "Weights"]


@dataclass(frozen=True)
class Weights:
    """The weights of experts in three sums: of logarithms, of probabilities, and the mean."""

    pool: Array  # (K,)
    mixture: Array  # (K,)
    mean: Array  # (K,)


@dataclass(frozen=True)
class Pooled:
    """share * pool + (1 - share) * mixture, of the probabilities p_k of K experts and two more.

    pool ~ prod_k p_k^(w_k), and mixture = sum_k v_k p_k. Experts with a scale a > 0 give scores f,
    and p_k = softmax(a f). The two more are the frequencies of the classes, and those after the
    last label. Experts that sleep count together as one more, the mean of all others.
    """

    scales: Array  # (K,)
    experts: Weights  # (K,)
    free: Weights  # (2,)
    asleep: tuple[float, float]  # weights in the pool and in the mixture
    frequencies: Array  # (C,), with floor
    after: Array  # (C, C), after the label at each place, with floor
    share: float

    def onnx(self, g: Graph, each: Sequence[str], lags: str) -> str:
        """Write nodes, and return the name of the result (n, C)."""
        from onnx import TensorProto

        def one(value: float) -> str:
            return g.array([[value]], "shares")

        C = len(self.frequencies)
        place = g("Gather", lags, g.constant(np.array([0]), "last"), axis=1)
        place = g("Squeeze", place, axes=[1])
        place = g("Cast", place, to_type=TensorProto.INT64)
        after = g("Gather", g.array(self.after, "after"), place, axis=0)
        logs, mixed, mean = ([g.array(start[np.newaxis], "start")] for start in self._start())
        sums = ((self.experts, each), (self.free, ["", after]))
        for weights, found in sums:
            for k, p in enumerate(found):
                if not p:
                    continue
                if weights is self.experts:
                    if self.scales[k] > 0.0:
                        p = g("Softmax", g("Mul", p, one(self.scales[k])), axis=1)
                    p = g("Add", g("Mul", p, one(1.0 - FLOOR)), one(FLOOR / C))
                logs.append(g("Mul", g("Log", p), one(weights.pool[k])))
                mixed.append(g("Mul", p, one(weights.mixture[k])))
                mean.append(g("Mul", p, one(weights.mean[k])))
        p = _total(g, mean)
        logs.append(g("Mul", g("Log", p), one(self.asleep[0])))
        mixed.append(g("Mul", p, one(self.asleep[1])))
        pooled = g("Softmax", _total(g, logs), axis=1)
        pooled = g("Mul", pooled, one(self.share * (1.0 - POOL_FLOOR)))
        mixture = g("Mul", _total(g, mixed), one(1.0 - self.share))
        return _total(g, [pooled, mixture, one(self.share * POOL_FLOOR / C)])

    def c(self, c: Statements) -> list[str]:
        """Return the statements that set `out[c]` from `each[k][c]`."""
        C, exp, log = c.n_outputs, c.library_function("exp"), c.library_function("log")
        scales = c.table("scales", self.scales)
        pool, mixture, mean = (
            c.table(what, np.append(own, free[1]))
            for what, own, free in (
                ("pool_shares", self.experts.pool, self.free.pool),
                ("mixture_shares", self.experts.mixture, self.free.mixture),
                ("mean_shares", self.experts.mean, self.free.mean),
            )
        )
        starts = [
            c.table(what, start)
            for what, start in zip(
                ("pool_start", "mixture_start", "mean_start"), self._start(), strict=True
            )
        ]
        after = c.table("after", self.after.ravel())
        uniform = FLOOR / len(self.frequencies)
        last = c.table(
            "combined_shares",
            np.array(
                [
                    *self.asleep,
                    self.share * (1.0 - POOL_FLOOR),
                    self.share * POOL_FLOOR / len(self.frequencies),
                    1.0 - self.share,
                ]
            ),
        )
        softmax = [
            "{real} largest = {v}[0], total = {zero};",
            "for (int c = 1; c < {C}; ++c)",
            "    if ({v}[c] > largest) largest = {v}[c];",
            "for (int c = 0; c < {C}; ++c) {{",
            "    {v}[c] = {exp}({v}[c] - largest);",
            "    total += {v}[c];",
            "}}",
            "for (int c = 0; c < {C}; ++c) {v}[c] /= total;",
        ]

        def softmax_of(v: str, indent: str) -> list[str]:
            return [
                indent + line.format(real=c.real, v=v, zero=c.number(0), C=C, exp=exp)
                for line in softmax
            ]

        return [
            f"{c.real} mixed[{C}], mean[{C}];",
            f"for (int c = 0; c < {C}; ++c) {{",
            f"    out[c] = {starts[0]}[c];",
            f"    mixed[c] = {starts[1]}[c];",
            f"    mean[c] = {starts[2]}[c];",
            "}",
            f"for (int k = 0; k < {c.n_experts}; ++k)",
            f"    if ({scales}[k] > {c.number(0)}) {{",
            f"        for (int c = 0; c < {C}; ++c) each[k][c] *= {scales}[k];",
            *softmax_of("each[k]", "        "),
            "    }",
            f"for (int k = 0; k <= {c.n_experts}; ++k)",
            f"    for (int c = 0; c < {C}; ++c) {{",
            f"        const {c.real} p = k < {c.n_experts}",
            f"            ? {c.number(1.0 - FLOOR)} * each[k][c] + {c.number(uniform)}",
            f"            : {after}[(int){c.lags}[0] * {C} + c];",
            f"        out[c] += {pool}[k] * {log}(p);",
            f"        mixed[c] += {mixture}[k] * p;",
            f"        mean[c] += {mean}[k] * p;",
            "    }",
            f"for (int c = 0; c < {C}; ++c) {{",
            f"    out[c] += {last}[0] * {log}(mean[c]);",
            f"    mixed[c] += {last}[1] * mean[c];",
            "}",
            *softmax_of("out", ""),
            f"for (int c = 0; c < {C}; ++c)",
            f"    out[c] = {last}[2] * out[c] + {last}[3] + {last}[4] * mixed[c];",
        ]

    def _start(self) -> tuple[Array, Array, Array]:
        """Return what the frequencies, which are constant, add to the three sums, (C,) each."""
        p, free = self.frequencies, self.free
        return free.pool[0] * np.log(p), free.mixture[0] * p, free.mean[0] * p


def _total(g: Graph, terms: list[str]) -> str:
    return reduce(lambda total, term: g("Add", term, total), terms)
