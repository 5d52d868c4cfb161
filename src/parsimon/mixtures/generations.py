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
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from parsimon import _schema, kernels
from parsimon.mixtures.experts import Expert
from parsimon.mixtures.recent import KEEP, Recent, places

__all__ = ["APART", "Generations", "Learning"]

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
#: The least relevance, relative to the largest.
LEAST_RELEVANCE = 1e-3
#: Widths are measured on this many rows.
MEASURED_ON = 200
#: After the first `KEEP` rows, gradients are taken at one row of this many.
EVERY = 4


class Learning(Protocol):
    """How an estimator learns rows for a task."""

    def features(self, recent: Recent, first: int, last: int, lags: int) -> Array:
        """Return the inputs of rows first..last-1: features, and `lags` earlier targets."""

    def predict_then_learn(self, model: Any, X: Array, T: Array) -> Array:
        """Learn rows X with targets T, and return the predictions before each, (n, C)."""

    def losses(self, model: Any, P: Array, T: Array) -> Array:
        """Return the losses (n,) of predictions P for targets T."""


@dataclass
class Generation:
    """An estimator, the scales of its inputs, and its squared gradients so far."""

    model: Any
    scale: Array | None = None
    squares: Array | float = 0.0
    count: float = 0.0

    def add_gradients(self, X: Array, keep: float = 1.0) -> None:
        """Add the squared gradients at scaled rows X, after multiplying the sum by `keep`."""
        squares: Array = np.square(self._gradient(X)).reshape(-1, X.shape[1]).sum(axis=0)
        self.squares = keep * self.squares + squares
        self.count = keep * self.count + len(X)

    def widen(self, more: int) -> None:
        """Add inputs that were 0 in all rows so far."""
        if self.model.__sklearn_is_fitted__():
            self.model._widen(self.model.n_features_in_ + more)
        if self.scale is not None:
            self.scale = np.append(self.scale, np.ones(more))
        if isinstance(self.squares, np.ndarray):
            self.squares = np.append(self.squares, np.zeros(more))

    def gradient(self, X: Array) -> Array:
        """Return the derivative of each output at rows X that are not scaled, (n, C, d)."""
        return self._gradient(X if self.scale is None else X * self.scale)

    def _gradient(self, X: Array) -> Array:
        """Return the derivative with respect to inputs that are not scaled, at scaled rows X."""
        found: Array = self.model.gradient_checked(X)
        return found if self.scale is None else found * self.scale

    @property
    def relevance(self) -> Array | None:
        """The root mean squared gradient of each input, or None before there are any."""
        if self.count == 0.0:
            return None
        root: Array = np.sqrt(self.squares / self.count)
        return root

    @property
    def next_scale(self) -> Array | None:
        """The scales of the inputs for the next generation."""
        relevance = self.relevance
        if relevance is None or not relevance.max() > 0.0:
            return None
        scale: Array = np.maximum(relevance / relevance.max(), LEAST_RELEVANCE)
        return scale


@dataclass
class Challenge:
    """A challenger, which learns the rows from `at` on and is judged from row `judged_from` on."""

    generation: Generation
    at: int
    judged_from: int
    round: int
    own_loss: float = 0.0
    other_loss: float = 0.0


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
        at = first
        while at < last:
            self._happen(task, recent, at)
            stop = min(last, self._next(at))
            if self.present is not None:
                X, T = self._seen(task, recent, at, stop, self.present.scale)
                P = task.predict_then_learn(self.present.model, X, T)
                out[at - first : stop - first, : P.shape[1]] = P
                out[at - first : stop - first, P.shape[1] :] = 0.0
                new = places(at, stop, len(self.losses))
                self.losses[new] = task.losses(self.present.model, P, T)
            at = stop
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
            found = min(found, (at // GRADIENTS + 1) * GRADIENTS)
        if self.challenge is not None:
            found = min(found, (at // STRIDE + 1) * STRIDE)
        return found

    def _happen(self, task: Learning, recent: Recent, at: int) -> None:
        """Do what is due after this number of rows."""
        if self.expert.relevance and self.present is not None and at % GRADIENTS == 0:
            X, _ = self._seen(task, recent, at - GRADIENTS, at, self.present.scale)
            memory = min(max(at / 4, 2.0 * GRADIENTS), 1000.0)
            self.present.add_gradients(_some(X, at), 1.0 - GRADIENTS / memory)
        if self.challenge is not None and at % STRIDE == 0:
            self._advance(task, recent, at)
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

    def _advance(self, task: Learning, recent: Recent, at: int) -> None:
        """Let the challenger learn recent rows. If it has caught up, judge it."""
        challenge = self.challenge
        assert challenge is not None
        generation, last = challenge.generation, min(challenge.at + RATE * STRIDE, at)
        X, T = self._seen(task, recent, challenge.at, last, generation.scale)
        P = task.predict_then_learn(generation.model, X, T)
        judged = max(challenge.judged_from - challenge.at, 0)
        if judged < len(X):
            rows = np.arange(challenge.at + judged, last)
            challenge.own_loss += float(task.losses(generation.model, P, T)[judged:].sum())
            challenge.other_loss += float(self.losses[rows % len(self.losses)].sum())
            if self.expert.relevance:
                generation.add_gradients(_some(X[judged:], at))
        challenge.at = last
        if last == at:
            self._judge(task, recent, at)

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
            "present": _packed(self.present),
            "losses": self.losses,
            "n_wins": self.n_wins,
            "challenge": None
            if challenge is None
            else {**vars(challenge), "generation": _packed(challenge.generation)},
        }

    def restore(
        self, state: Mapping[str, Any], n_features: int, check: Callable[[Any], bool]
    ) -> None:
        """Take a state from a file, or raise a ValueError. `check` accepts sound estimators."""
        losses, wins, challenge = state["losses"], state["n_wins"], state["challenge"]
        if not _schema.finite_array(len(self.losses))(losses) or not _schema.whole()(wins):
            raise ValueError("the losses of an expert are not sound")
        self.losses, self.n_wins = losses, wins
        self.present = _unpacked(state["present"], n_features, check)
        if challenge is not None:
            numbers = {k: v for k, v in challenge.items() if k != "generation"}
            whole = all(_schema.whole()(numbers[k]) for k in ("at", "judged_from", "round"))
            if not whole or not all(_schema.number(0)(value) for value in numbers.values()):
                raise ValueError("a challenger is not sound")
            generation = _unpacked(challenge["generation"], n_features, check)
            if generation is None or self.present is None:
                raise ValueError("a challenger has no estimator")
            self.challenge = Challenge(generation, **numbers)


def _some(X: Array, at: int) -> Array:
    return X if at < KEEP else X[::EVERY]


def _packed(generation: Generation | None) -> dict[str, Any] | None:
    return None if generation is None else dict(vars(generation))


def _unpacked(
    state: Mapping[str, Any] | None, n_features: int, check: Callable[[Any], bool]
) -> Generation | None:
    if state is None:
        return None
    generation = Generation(**state)
    sized = _schema.finite_array(n_features, least=0, most=1e100)
    squares = generation.squares
    if (
        not check(generation.model)
        or not (
            generation.scale is None
            or _schema.finite_array(n_features, least=0, most=1)(generation.scale)
        )
        or not (sized(squares) if isinstance(squares, np.ndarray) else squares == 0.0)
        or not _schema.number(0)(generation.count)
    ):
        raise ValueError("a generation of an expert is not sound")
    return generation
