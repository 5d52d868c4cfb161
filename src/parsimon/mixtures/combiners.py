"""How the predictions of experts become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsimon import _core, _schema

__all__ = ["LabelHistory", "Pool", "PoolPair", "PoolParts", "RecentMean", "Stack", "StackPair"]

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: The parts of probabilities that are uniform, as in ``core/combining.hpp``.
FLOOR, POOL_FLOOR = 1e-3, 1e-4


def filled(P: Array) -> Array:
    """Return predictions (n, E) of E experts, with NaN replaced by the mean of the others."""
    asleep = np.isnan(P)
    if not asleep.any():
        return P
    awake = np.where(asleep, 0.0, P)
    mean = awake.sum(axis=1) / np.maximum((~asleep).sum(axis=1), 1)
    result: Array = np.where(asleep, mean[:, np.newaxis], P)
    return result


@dataclass
class Stack:
    """Stacking for numbers, by recursive least squares over the predictions of E experts.

    p_t are the predictions for row t, and y_t its target. The weights w minimise

        sum_t c_t (y_t - p_t'w)^2 + ridge ||w - 1/E||^2,

    where c_t decreases with every later row. It decreases faster for the first rows, because
    experts improve most there: over 50 rows at first, and over `memory` rows later.

    >>> stack = Stack(2)
    >>> P = np.random.default_rng(0).normal(size=(500, 2))
    >>> combined = stack.run(P, P[:, 1], 0)
    >>> stack.weights.round(2)
    array([0.01, 0.99])
    """

    n_experts: int
    memory: float = 1000.0
    ridge: float = 5.0
    state: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not self.state.size:
            self.state = np.zeros((self.n_experts + 1, self.n_experts))

    def run(self, predictions: Array, targets: Array, seen: int) -> Array:
        """Combine predictions (n, E) row by row, and learn each target. Return (n,).

        `seen` rows came before.
        """
        out, self.state = _core.stack(
            np.ascontiguousarray(predictions),
            np.ascontiguousarray(targets),
            seen,
            self.state,
            self.memory,
            self.ridge,
        )
        return out

    @property
    def weights(self) -> Array:
        """The weight of each expert, (E,)."""
        return _core.stack_weights(self.state, self.ridge)


class RecentMean:
    """A running mean of each column, in which later rows count more.

    At first, row t has a weight proportional to t^2, because the first errors of models are large.
    In the long run, the mean is over about 1000 rows.

    >>> mean = RecentMean(1)
    >>> before = mean.run(np.array([[4.0], [1.0], [1.0]]))
    >>> before.ravel(), mean.now.round(2)
    (array([0.  , 4.  , 1.75]), array([1.3]))
    """

    MEMORY = 1000.0

    def __init__(self, n_columns: int, state: Array | None = None) -> None:
        self.state = np.zeros(n_columns + 1) if state is None else state

    def run(self, values: Array) -> Array:
        """Learn rows (n, k), and return the means before each."""
        before, self.state = _core.recent_mean(
            np.ascontiguousarray(values), self.state, self.MEMORY
        )
        return before

    @property
    def now(self) -> Array:
        """The means, (k,). They are 0 before the first row."""
        return self.state[:-1]

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.state[-1])


class PoolParts(NamedTuple):
    """What a pool has learned.

    A part `FLOOR` of each expert's probability is uniform, and a part `POOL_FLOOR` of the pool's.
    """

    weights: Array  # (E,), of the logarithmic pool
    scales: Array  # (E,), of experts that give scores
    mixture: Array  # (E,), the weights of Bayes' mixture
    share: float  # of the pool; the rest is that of the mixture


@dataclass
class Pool:
    """Probabilities of classes from E experts: a logarithmic pool and Bayes' mixture.

    p_e are the probabilities of expert e. The pool is proportional to prod_e p_e^(w_e). Its weights
    w_e decrease the logarithmic loss by online Newton steps, with a ridge towards 1/E. The mixture
    is proportional to sum_e exp(-L_e) p_e, with L_e the logarithmic loss of expert e over about
    `memory` rows. The result is a mean of both, weighted by their own losses.

    `scored` says which experts give scores instead of probabilities. Their probabilities are a
    softmax of the scores, with a scale that is learned.
    """

    scored: Array
    forgetting: float = 0.9995
    ridge: float = 5.0
    memory: float = 500.0
    state: Array = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not self.state.size:
            self.state = _core.pool_begin(self.scored)

    def run(self, outputs: Array, labels: Numbers, known: int) -> Array:
        """Combine the outputs (n, E, C) of E experts row by row, and learn the labels.

        C is the number of classes. Return the probabilities (n, C). `labels` (n,) are numbers of
        classes. `known` is the number of classes known before the first row.
        """
        out, self.state = _core.pool(
            np.ascontiguousarray(outputs),
            labels,
            known,
            self.scored,
            self.state,
            self.forgetting,
            self.ridge,
            self.memory,
        )
        return out

    def combine(self, outputs: Array) -> Array:
        """Return the probabilities (n, C) for outputs (n, E, C)."""
        return _core.pool_now(
            np.ascontiguousarray(outputs), outputs.shape[2], self.scored, self.state
        )

    @property
    def weights(self) -> Array:
        """The weight of each expert, (E,)."""
        return _core.pool_shares(self.scored, self.state)

    @property
    def parts(self) -> PoolParts:
        """What has been learned, for other programs that combine."""
        weights, scales, _, losses, rivals = self.state[:5]
        mixture = np.exp(losses.min() - losses)
        share = 1.0 / (1.0 + np.exp(min(rivals[0] - rivals[1], 700.0)))
        return PoolParts(weights, scales, mixture / mixture.sum(), float(share))


class StackPair:
    """A stack of all experts, and one of the experts that need no earlier targets.

    The second is for rows that do not follow the last row learned. `lagged` (E,) says which experts
    need earlier targets.
    """

    def __init__(self, lagged: Sequence[bool], states: Sequence[Array] = ()) -> None:
        self.columns = np.flatnonzero(~np.asarray(lagged))
        sizes = (len(lagged), len(self.columns))
        given = states or [np.empty(0), np.empty(0)]
        self.full, self.plain = (Stack(n, state=own) for n, own in zip(sizes, given, strict=True))

    def run(self, predictions: Array, targets: Array, seen: int) -> tuple[Array, Array]:
        """Learn rows with both, and return what each said before, the stack of all first."""
        plain = self.plain.run(predictions[:, self.columns], targets, seen)
        return self.full.run(predictions, targets, seen), plain

    def weights(self, lagged: bool = True) -> Array:
        """Return the weight of each expert, (E,). Without `lagged`, some are 0."""
        if lagged:
            return self.full.weights
        weights = np.zeros(self.full.n_experts)
        weights[self.columns] = self.plain.weights
        return weights

    @property
    def states(self) -> list[Array]:
        """The state of each stack."""
        return [self.full.state, self.plain.state]

    @property
    def is_sound(self) -> bool:
        """Whether the states have the right shapes."""
        return all(s.state.shape == (s.n_experts + 1, s.n_experts) for s in (self.full, self.plain))


class PoolPair:
    """A pool of all experts, and one of the experts that need no earlier labels, as `StackPair`."""

    def __init__(self, scored: Array, lagged: Sequence[bool], states: Sequence[Array] = ()) -> None:
        self.columns = np.flatnonzero(~np.asarray(lagged))
        given = states or [np.empty(0), np.empty(0)]
        each = zip((scored, scored[self.columns]), given, strict=True)
        self.full, self.plain = (Pool(own, state=state) for own, state in each)

    def run(self, outputs: Array, labels: Numbers, known: int) -> Array:
        """Learn rows with both, and return what the pool of all experts said before."""
        self.plain.run(outputs[:, self.columns], labels, known)
        return self.full.run(outputs, labels, known)

    def combine(self, outputs: Array, lagged: bool = True) -> Array:
        """Return the probabilities (n, C) for outputs (n, E, C)."""
        if lagged:
            return self.full.combine(outputs)
        return self.plain.combine(outputs[:, self.columns])

    @property
    def states(self) -> list[Array]:
        """The state of each pool."""
        return [self.full.state, self.plain.state]

    @property
    def is_sound(self) -> bool:
        """Whether the states have the right shapes."""
        return all(
            pool.state.shape == (len(pool.scored) + 5, len(pool.scored))
            for pool in (self.full, self.plain)
        )


@dataclass
class LabelHistory:
    """Two experts that see only earlier labels: frequencies, and frequencies after the last label.

    Both forget: over 2000 rows, and over 500 rows with the same last label.
    """

    previous: int = -1
    table: Array = field(default_factory=lambda: np.zeros((1, 0)))

    def run(self, labels: Numbers, known: int, n_classes: int) -> Array:
        """Return the probabilities before each row, (n, 2, C), and learn the rows."""
        more = n_classes - self.table.shape[1]
        if more:
            self.table = np.pad(self.table, ((0, more), (0, more)))
        out, self.table, self.previous = _core.label_history(
            labels, known, self.previous, self.table
        )
        return out

    def now(self, previous: int | None = None) -> Array:
        """Return the probabilities for the next row, (2, C), after the last or another label."""
        after = self.previous if previous is None else previous
        return _core.label_history_now(self.table.shape[1], after, self.table)

    def state(self) -> dict[str, Any]:
        """Return the state."""
        return {"previous": self.previous, "table": self.table}

    @classmethod
    def restored(cls, state: dict[str, Any], n_classes: int) -> LabelHistory:
        """Return the history with this state, or raise a ValueError."""
        history = cls(**state)
        sound = _schema.finite_array(n_classes + 1, n_classes, least=0, most=1e6)(history.table)
        if not sound or not _schema.whole(0, n_classes - 1)(history.previous):
            raise ValueError("the history of its labels is not sound")
        return history
