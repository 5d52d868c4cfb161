"""Several models over the union of their dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon._parts import extended_labels
from parsimon.merging.functions import union
from parsimon.merging.pooling import Part

__all__ = ["Together"]

Array = NDArray[np.float64]


class Together:
    """Several models, and the places of their centres and outputs in the union.

    `times` says how often the samples of each model count. If all models were continued from an
    earlier model, its samples are in all of them. So the earlier model counts negatively.
    """

    def __init__(self, models: list[Any], times: list[int]) -> None:
        self.times = times
        # Each model at one moment: another thread may go on learning.
        self.states = [model._learner.snapshot(factor=i == 0) for i, model in enumerate(models)]
        self.centres, self.rows = union([state["centers"] for state in self.states])
        sizes = [state["learned_weights"].shape[1] for state in self.states]
        self.n_outputs = sizes[0]
        self.columns = [np.arange(n) for n in sizes]
        self.labels: NDArray[Any] | None = None
        if hasattr(models[0], "_met"):
            # A label that another thread has just met may have no output yet.
            own = [model._met[:n] for model, n in zip(models, sizes, strict=True)]
            self.labels = _union_of_labels(own)
            self.n_outputs = len(self.labels)
            place = {label: i for i, label in enumerate(self.labels.tolist())}
            self.columns = [np.array([place[label] for label in each.tolist()]) for each in own]
        recipe = models[0]._recipe(models[0]._learns_with)
        self.averages = recipe.average_after is not None
        if min(times) < 0 and recipe.update.forgets:
            raise ValueError(
                "models that forget cannot be merged with `since`: they have forgotten part of "
                "what it had seen"
            )
        self.seen = int(self.total("seen"))
        # A model whose averages were restarted counts from there.
        most = max(state["averaged"] for state in self.states)
        self.averaged = max(int(self.total("averaged")), most)

    def total(self, name: str) -> Any:
        """Return the total of a number that each model keeps."""
        return self.total_of(lambda state: state[name])

    def parts(self, shares: Array) -> list[Part]:
        """Return what each model has learned besides its function f, with its share in the sum."""
        intercepts = self.intercepts(shares)["intercepts"]
        return [
            Part(
                state["sums"],
                state["learned_weights"],
                rows,
                columns,
                times,
                share,
                state["intercepts"] - intercepts[columns],
            )
            for state, rows, columns, times, share in zip(
                self.states, self.rows, self.columns, self.times, shares, strict=True
            )
        ]

    def first_factor(self) -> Array | None:
        """Return the inverse factor S of the first model, whose centres come first.

        S'S is the inverse of the Gram matrix of these centres. Return None if they are not most of
        the centres: then computing a new factor is faster.
        """
        if len(self.rows[0]) < 0.75 * len(self.centres):
            return None
        factor: Array | None = self.states[0].get("factor")
        return factor

    def weights(self, shares: Array) -> Array:
        """Return the weighted sum of the weights, (M, n_outputs); averages come after f."""
        C = self.n_outputs
        W = np.zeros((len(self.centres), 2 * C if self.averages else C))
        for state, rows, columns, share in zip(
            self.states, self.rows, self.columns, shares, strict=True
        ):
            np.add.at(W, np.ix_(rows, columns), share * state["learned_weights"])
            if self.averages:  # f itself while there is no average yet
                np.add.at(W, np.ix_(rows, C + columns), share * state["weights"])
        return W

    def intercepts(self, shares: Array) -> dict[str, Any]:
        """Return the intercepts of the weighted sum, and the sums for the unit of its targets."""
        names = {"intercepts": "intercepts", "averages": "intercept_averages"}
        found: dict[str, Any] = {name: np.zeros(self.n_outputs) for name in names}
        for state, columns, share in zip(self.states, self.columns, shares, strict=True):
            for name, key in names.items():
                found[name][columns] += share * state[key]
        found["count"] = max(int(self.total("count")), 0)
        settled = [state["settled"] for state in self.states]
        found["settled"] = settled[0] if len(settled) == 1 else found["count"]
        # The mean of all targets, and their squared distances from it
        total = self.total("total")
        if total <= 0.0:
            return {**found, "means": found["intercepts"].copy(), "total": 0.0, "squares": 0.0}
        means = self.total_of(lambda state: state["total"] * state["means"]) / total
        squares = self.total_of(
            lambda state: (
                state["squares"] + state["total"] * np.square(state["means"] - means).sum()
            )
        )
        return {**found, "means": means, "total": total, "squares": max(squares, 0.0)}

    def total_of(self, value: Callable[[dict[str, Any]], Any]) -> Any:
        """Return the total of a value over the models, as often as their samples count."""
        return sum(n * value(state) for n, state in zip(self.times, self.states, strict=True))

    def predicted(self, columns: Array) -> Array:
        """Return the columns that predictions use: f or its averages."""
        return columns[self.n_outputs :] if self.averaged else columns[: self.n_outputs]


def _union_of_labels(labels_of_models: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the labels of all models, in the order of the merged outputs."""
    labels = labels_of_models[0]
    for i, own in enumerate(labels_of_models[1:], start=1):
        present = set(labels.tolist())
        new = np.array([label not in present for label in own.tolist()], dtype=bool)
        labels = extended_labels(labels, own[new], f"models[{i}]")
    return labels
