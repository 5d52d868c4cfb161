"""An expert of a mixture over time: it begins, and better versions of it take its place.

A generation is an estimator with the width and the relevance that it began with. At fixed numbers
of rows a new generation begins, the challenger. It learns the recent rows, a few for each row of
the stream, until it has caught up. If its errors on the second half of those rows were at most 2 %
larger than those of the present generation, it takes its place.

Everything happens at fixed numbers of rows, so blocks equal loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from parsimon import _schema, kernels
from parsimon.mixtures.experts import Expert
from parsimon.mixtures.generation import Generation, Learning, packed, unpacked
from parsimon.mixtures.recent import KEEP, Recent, places

__all__ = ["APART", "Generations"]

Array = NDArray[np.float64]

#: The numbers of rows at which generations begin: without a width to measure, with one, and with
#: relevance. Then relevant experts begin anew every `PERIOD` rows, which follows drift.
AT_ONCE, MEASURED = (0,), (16, 200)
RELEVANT, PERIOD = (16, 200, 400, 800, 1600, 3200, 6400), 8000
#: Experts without relevance measure their widths again one after another, this many rows apart. So
#: only one of them has a challenger at a time.
APART = 80
#: Every `GRADIENTS` rows the gradients of the last rows are added to the relevance.
GRADIENTS = 64
#: Every `STRIDE` rows a challenger learns `RATE` times as many recent rows.
STRIDE, RATE = 8, 8
#: A challenger has learned fewer rows than the present generation, so it may be a little worse.
TOLERATED = 1.02
#: Relevance sharpens over several generations, which follow each other at once. There are
#: `ROUNDS_ANYWAY`, and up to `ROUNDS` if each is better by the factor `CLEARLY`. After the first
#: `KEEP` rows there are at most `ROUNDS_LATER`, and only if they are better.
ROUNDS, ROUNDS_ANYWAY, ROUNDS_LATER, CLEARLY = 8, 3, 2, 0.98
#: Widths are measured on this many rows.
MEASURED_ON = 200
#: After the first `KEEP` rows, gradients are taken at one row of this many.
EVERY = 4


@dataclass
class Challenge:
    """A challenger, which learns the rows from `at` on and is judged from row `judged_from` on."""

    generation: Generation
    at: int
    judged_from: int
    round: int
    own_loss: float = 0.0
    other_loss: float = 0.0

    def caught_up(self, at: int) -> int:
        """Return the number of rows, after `at`, at which the challenger has learned all rows."""
        step = (at // STRIDE + 1) * STRIDE
        behind = step - STRIDE - self.at
        return step + max(0, -(-behind // ((RATE - 1) * STRIDE)) - 1) * STRIDE


class Generations:
    """The present generation of an expert, and its challenger if there is one."""

    def __init__(self, expert: Expert, budget: int, capacity: int, delay: int = 0) -> None:
        self.expert, self.budget, self.delay = expert, budget, delay
        self.present: Generation | None = None
        self.challenge: Challenge | None = None
        self.losses = np.zeros(capacity)  # of the present generation, by row
        self.n_wins = 0
        self._measured = expert.is_measured
        self._starts = self._all_starts()

    def run(self, task: Learning, recent: Recent, first: int, last: int, n_outputs: int) -> Array:
        """Learn rows first..last-1, and return the predictions before each, (n, C).

        They are NaN while the expert sleeps.
        """
        out = np.full((last - first, n_outputs), np.nan)
        before, at = first - 1, first
        while at < last:
            self._happen(task, recent, before, at)
            stop = min(last, self._next(at))
            if self.present is not None:
                X, T = self._seen(task, recent, at, stop, self.present.scale)
                P = self.present.learn(task, X, T, self._gradients(at, stop))
                out[at - first : stop - first, : P.shape[1]] = P
                out[at - first : stop - first, P.shape[1] :] = 0.0
                new = places(at, stop, len(self.losses))
                self.losses[new] = task.losses(self.present.model, P, T)
            before, at = at, stop
        self._advance(task, recent, before, last - 1)
        return out

    @property
    def models(self) -> list[Any]:
        """The estimators that have learned: the present one, then the challenger."""
        found = [] if self.present is None else [self.present.model]
        found += [] if self.challenge is None else [self.challenge.generation.model]
        return [model for model in found if model.__sklearn_is_fitted__()]

    def widen(self, more: int) -> None:
        """Add inputs that were 0 in all rows so far. Their relevance is not known."""
        generations = [self.present, None if self.challenge is None else self.challenge.generation]
        for generation in generations:
            if generation is not None:
                generation.widen(more)

    # Implementation

    def _all_starts(self) -> tuple[int, ...]:
        if self.expert.relevance:
            return RELEVANT
        if not self._measured:
            return AT_ONCE
        return MEASURED[0], MEASURED[1] + self.delay

    def _begins(self, at: int) -> bool:
        """Return whether a generation begins after this number of rows."""
        later = self.expert.relevance and at > self._starts[-1] and at % PERIOD == 0
        return at in self._starts or later

    def _next(self, at: int) -> int:
        """Return the next number of rows at which something happens."""
        later = [start for start in self._starts if start > at]
        found = min(later, default=2**62)
        if self.expert.relevance:
            found = min(found, (at // PERIOD + 1) * PERIOD)
            if at % GRADIENTS:
                found = min(found, (at // GRADIENTS + 1) * GRADIENTS)
        if self.challenge is not None:
            found = min(found, self.challenge.caught_up(at))
        return found

    def _gradients(self, at: int, stop: int) -> list[tuple[tuple[int, int, int], float]]:
        """Return the parts of rows at..stop-1 whose gradients are added while they are learned.

        Those of the rows before `stop` are added later, by `_happen`.
        """
        if not self.expert.relevance or at % GRADIENTS:
            return []
        ends = range(at + GRADIENTS, stop, GRADIENTS)
        return [((end - GRADIENTS - at, end - at, _every(end)), _kept(end)) for end in ends]

    def _happen(self, task: Learning, recent: Recent, before: int, at: int) -> None:
        """Do what is due after more than `before` and up to `at` rows."""
        if self.expert.relevance and self.present is not None and at % GRADIENTS == 0:
            X, _ = self._seen(task, recent, at - GRADIENTS, at, self.present.scale)
            self.present.add_gradients(X[:: _every(at)], _kept(at))
        self._advance(task, recent, before, at)
        if self._begins(at) and self.challenge is None:
            self._begin(task, recent, at, 1)

    def _begin(self, task: Learning, recent: Recent, at: int, round: int) -> None:
        scale = None
        if self.expert.relevance and self.present is not None:
            scale = self.present.next_scale
        generation = Generation(self._made(task, recent, at, scale), scale)
        if self.present is not None:
            first = max(0, at - KEEP)
            self.challenge = Challenge(generation, first, (first + at) // 2, round)
            return
        if at:
            X, T = self._seen(task, recent, 0, at, scale)
            task.predict_then_learn(generation.model, X, T)
        self.present = generation

    def _advance(self, task: Learning, recent: Recent, before: int, at: int) -> None:
        """Let the challenger take the steps that are due after more than `before` rows.

        The last one is due after at most `at` rows. If the challenger has caught up, judge it.
        """
        challenge = self.challenge
        steps = range((before // STRIDE + 1) * STRIDE, at + 1, STRIDE)
        if challenge is None or not steps:
            return
        generation, first = challenge.generation, challenge.at
        reach = first + RATE * STRIDE * np.arange(1, len(steps) + 1)
        ends = np.minimum(reach, steps).tolist()
        starts = [max(start, challenge.judged_from) for start in (first, *ends[:-1])]
        judged = [
            (start - first, end - first, _every(step))
            for start, end, step in zip(starts, ends, steps, strict=True)
            if start < end
        ]
        X, T = self._seen(task, recent, first, ends[-1], generation.scale)
        P = generation.learn(task, X, T, [(part, 1.0) for part in judged if self.expert.relevance])
        losses = task.losses(generation.model, P, T)
        others = self.losses[np.arange(first, ends[-1]) % len(self.losses)]
        for start, end, _ in judged:
            challenge.own_loss += float(losses[start:end].sum())
            challenge.other_loss += float(others[start:end].sum())
        challenge.at = ends[-1]
        if challenge.at == steps[-1]:
            self._judge(task, recent, challenge.at)

    def _judge(self, task: Learning, recent: Recent, at: int) -> None:
        challenge = self.challenge
        assert challenge is not None
        self.challenge = None
        if not challenge.own_loss <= TOLERATED * challenge.other_loss:
            return
        self.present = challenge.generation
        self.n_wins += 1
        better = challenge.own_loss < CLEARLY * challenge.other_loss
        if at < KEEP:
            another = challenge.round < (ROUNDS if better else ROUNDS_ANYWAY)
        else:
            another = challenge.round < ROUNDS_LATER and better
        if self.expert.relevance and another:
            self._begin(task, recent, at, challenge.round + 1)

    def _made(self, task: Learning, recent: Recent, at: int, scale: Array | None) -> Any:
        """Return an estimator that has learned nothing, with a width measured on recent rows."""
        model = clone(self.expert.estimator).set_params(budget=self.budget)
        if not self._measured:
            return model
        first = max(0, at - KEEP)
        some = np.unique(np.linspace(0, at - first - 1, min(at - first, MEASURED_ON)).astype(int))
        X = self._seen(task, recent, first, at, scale)[0][some]
        name = kernels.named(model.kernel)
        assert name is not None
        cls = kernels.KERNELS[name]
        gamma = self.expert.width * kernels.width("median", X, cls.metric)
        if not self.expert.bias:
            return model.set_params(gamma=gamma)
        kernel = cls(gamma=gamma) + kernels.Constant(self.expert.bias)  # type: ignore[call-arg]
        return model.set_params(kernel=kernel, gamma="scale")

    def _seen(
        self, task: Learning, recent: Recent, first: int, last: int, scale: Array | None
    ) -> tuple[Array, Array]:
        """Return what the expert sees of rows, and their targets."""
        X = task.features(recent, first, last, self.expert.lags)
        T = recent.targets(first, last)
        return (X if scale is None else X * scale), T

    # State

    def state(self) -> dict[str, Any]:
        """Return the state as plain values, arrays and models."""
        challenge = self.challenge
        return {
            "present": packed(self.present),
            "losses": self.losses,
            "n_wins": self.n_wins,
            "challenge": None
            if challenge is None
            else {**vars(challenge), "generation": packed(challenge.generation)},
        }

    def restore(
        self, state: Mapping[str, Any], n_features: int, check: Callable[[Any], bool]
    ) -> None:
        """Take a state from a file, or raise a ValueError. `check` accepts sound estimators."""
        losses, wins, challenge = state["losses"], state["n_wins"], state["challenge"]
        if not _schema.finite_array(len(self.losses))(losses) or not _schema.whole()(wins):
            raise ValueError("the losses of an expert are not sound")
        self.losses, self.n_wins = losses, wins
        self.present = unpacked(state["present"], n_features, check)
        if challenge is not None:
            numbers = {k: v for k, v in challenge.items() if k != "generation"}
            whole = all(_schema.whole()(numbers[k]) for k in ("at", "judged_from", "round"))
            if not whole or not all(_schema.number(0)(value) for value in numbers.values()):
                raise ValueError("a challenger is not sound")
            generation = unpacked(challenge["generation"], n_features, check)
            if generation is None or self.present is None:
                raise ValueError("a challenger has no estimator")
            self.challenge = Challenge(generation, **numbers)


def _every(at: int) -> int:
    """Return a step: gradients are taken at one row of so many."""
    return 1 if at < KEEP else EVERY


def _kept(at: int) -> float:
    """Return the factor of earlier squared gradients."""
    memory = min(max(at / 4, 2.0 * GRADIENTS), 1000.0)
    return 1.0 - GRADIENTS / memory
