"""What mixtures of numbers and of classes have in common."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from parsimon import _core, _threads, kernels
from parsimon._parts import whole
from parsimon.estimators.base import StreamEstimator
from parsimon.estimators.inputs import points, require_unchanged
from parsimon.estimators.shuffled import Shuffled
from parsimon.estimators.state import unchanged_on_error
from parsimon.estimators.variance import VarianceRegressor
from parsimon.mixtures.experts import MOST_LAGS, Expert, has_link, split
from parsimon.mixtures.generations import APART, Generations
from parsimon.mixtures.learning import WORTH_THREADS, LearningMixture
from parsimon.mixtures.recent import KEEP, PIECE, Recent
from parsimon.preprocessing import LARGEST, Moments

__all__ = ["Mixture"]

Array = NDArray[np.float64]

#: The relevance is computed on this many recent rows.
RELEVANT_ROWS = 200
#: Variances are compared with those of this many recent rows.
COMPARED_ROWS = 64
#: The largest input that is not scaled.
LARGEST_UNSCALED = 1e30
#: Inputs are clipped to this many standard deviations.
CLIP = 3.0


class Mixture(Shuffled, LearningMixture):
    """Experts over one stream of rows, each with its own view of a row.

    A subclass says how experts learn (`_task`) and how their predictions are combined.
    """

    experts: Sequence[Expert] | None
    budget: int
    standardize: bool
    _free: ClassVar[tuple[str, ...]]  # the experts that need no estimator

    # What a subclass says

    def _default_experts(self) -> list[Expert]:
        raise NotImplementedError

    def _task(self, expert: Expert) -> Any:
        """Return how an expert learns."""
        raise NotImplementedError

    def _combiner_bytes(self) -> int:
        """Return the memory of the combiner."""
        raise NotImplementedError

    def _gradient_weights(self) -> Array:
        """Return the weight of each output of each expert in f without lags, (E, C, 1)."""
        raise NotImplementedError

    def _earlier(self, n_lags: int) -> Array:
        """Return the targets before the next row as experts take them, (1, n_lags, k)."""
        return self._recent.lags(self._recent.n_rows, self._recent.n_rows + 1, n_lags)

    # The learned model

    @property
    def expert_names_(self) -> list[str]:
        """The names of the experts, in the order of `shares_`."""
        return [*(expert.name for expert in self._given()), *self._free]

    @property
    def experts_(self) -> list[Any]:
        """The estimator of each expert, or None if it sleeps."""
        return [
            None if slot.present is None else slot.present.model for slot in self._fitted()._slots
        ]

    @property
    def relevance_(self) -> Array | None:
        """The relevance of each feature, (d,), the largest being 1, or None if it is not known yet.

        The relevance of feature i is sqrt(mean (df/dx_i)^2) over recent rows, with features in
        units of their deviations. f is the combination of the experts without lags. For classes it
        has one output per class, from the experts that give scores.
        """
        recent = self._fitted()._recent
        if not any(slot.present for slot in self._slots) or recent.n_rows < 2:
            return None
        X, _ = recent.rows(max(0, recent.n_rows - RELEVANT_ROWS), recent.n_rows)
        each = self._gradient_weights()
        total = np.zeros((len(X), each.shape[1], X.shape[1]))
        for slot, weights in zip(self._slots, each, strict=True):
            if slot.present is not None and slot.models and weights.any():
                own = slot.present.gradient(X)
                total[:, : own.shape[1]] += weights[: own.shape[1]] * own
        found: Array = np.sqrt(np.square(total).sum(axis=1).mean(axis=0))
        return found / found.max() if found.max() > 0.0 else None

    @property
    def n_centers_(self) -> int:
        """Number of centres of all experts."""
        return sum(model.n_centers_ for slot in self._fitted()._slots for model in slot.models)

    @property
    def nbytes_(self) -> int:
        """Memory of the mixture in bytes: experts, recent rows, and room for challengers."""
        total, once = self._fitted()._recent.nbytes, 0
        for slot in self._slots:
            own = 0 if slot.present is None else slot.models[0].nbytes_
            total += slot.losses.nbytes + own * (1 + slot.expert.relevance)
            if slot.expert.is_measured and not slot.expert.relevance:
                once = max(once, own)
        return total + once + self._combiner_bytes()

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learned."""
        return self._fitted()._recent.n_rows

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model is fitted."""
        return hasattr(self, "_recent")

    # Learning

    @contextmanager
    def _block(self, X: ArrayLike) -> Iterator[tuple[Array, bool]]:
        """Check a block X, and give its rows and whether they are the first.

        If the targets are refused, nothing has changed.
        """
        begins = not hasattr(self, "_recent")
        with unchanged_on_error(self):
            if not begins:
                self._require_unchanged()
            yield self._validated(X, reset=begins), begins

    # Implementation

    def _fitted(self) -> Self:
        check_is_fitted(self)
        return self

    def _given(self) -> list[Expert]:
        """Return the experts, checked."""
        if self.experts is None:
            return self._default_experts()
        experts = list(self.experts)
        if not experts or not all(isinstance(expert, Expert) for expert in experts):
            raise TypeError(f"experts must be a list of Expert, got {self.experts!r}")
        if len({expert.name for expert in experts}) != len(experts):
            raise ValueError("two experts have the same name")
        for expert in experts:
            if not isinstance(expert.estimator, StreamEstimator):
                raise TypeError(
                    f"the estimator of expert {expert.name!r} must be one of parsimon, "
                    f"got {type(expert.estimator).__name__}"
                )
            given = expert.estimator.get_params(deep=False)
            if "budget" not in given:
                raise TypeError(f"the estimator of expert {expert.name!r} has no budget")
            if given.get("batch_size", 1) != 1:
                raise ValueError(f"expert {expert.name!r} must have batch_size=1")
            if has_link(expert.estimator):
                raise ValueError(f"expert {expert.name!r} has a loss with a link")
            if expert.relevance and not expert.is_measured:
                # Any point will do: only the kind of the kernel matters here.
                kernel = kernels.resolve(given["kernel"], given["gamma"], np.zeros((1, 1)))
                kernels.require_differentiable(kernel)
        return experts

    def _start(self, n_features: int, n_targets: int) -> None:
        budget = whole("budget", self.budget, at_least=1)
        experts = self._given()
        capacity = KEEP + PIECE + MOST_LAGS
        budgets = split(budget, experts)
        self._moments = Moments(n_features)
        self._recent = Recent(capacity, n_features, n_targets)
        self._build(experts, budgets, capacity)
        self._learns_with = dict(self.get_params(deep=False))

    def _build(self, experts: list[Expert], budgets: list[int], capacity: int) -> None:
        self._slots, delay = [], 0
        for expert, own in zip(experts, budgets, strict=True):
            self._slots.append(Generations(expert, own, capacity, delay))
            delay += 0 if expert.relevance or not expert.is_measured else APART
        self._tasks = [self._task(expert) for expert in experts]

    def _validated(self, X: ArrayLike, *, reset: bool) -> Array:
        found = points(self, X, reset=reset)
        _core.require_finite(found, "X")
        # Without scaling, kernels take the inputs as they are: their values must stay finite.
        largest = LARGEST if self.standardize else LARGEST_UNSCALED
        if found.size and np.abs(found).max() > largest:
            row, column = np.argwhere(np.abs(found) > largest)[0]
            raise ValueError(
                f"X is {found[row, column]:g} at row {row}, column {column}: too large"
            )
        return found

    def _scaled(self, X: Array, *, learn: bool) -> Array:
        """Return rows in units of running deviations, clipped.

        With `learn`, row i is learned first: its units are those of rows 1 to i.
        """
        if not self.standardize:
            return X
        means, deviations = self._moments.learn(X.T) if learn else self._moments.now()
        Z = np.empty_like(X)
        first = 1 if learn else 0
        _core.standardise_into(
            np.ascontiguousarray(X.T),
            means[:, first:],
            deviations[:, first:],
            CLIP,
            Z,
            list(range(X.shape[1])),
        )
        return Z

    def _now(self, Z: Array, n_outputs: int) -> Array:
        """Return the predictions (n, E, C) of E experts for scaled rows Z; NaN if one sleeps."""
        out = np.full((len(Z), len(self._slots), n_outputs), np.nan)
        earlier = self._earlier(max(slot.expert.lags for slot in self._slots))

        def work(e: int) -> None:
            slot, task = self._slots[e], self._tasks[e]
            if slot.present is None:
                return
            X = task.next_features(Z, earlier[:, : slot.expert.lags])
            if slot.present.scale is not None:
                X = X * slot.present.scale
            P = task.predict(slot.present.model, X)
            out[:, e, : P.shape[1]] = P
            out[:, e, P.shape[1] :] = 0.0

        self._each(work, len(Z) >= WORTH_THREADS)
        return out

    def _relative_variances(self, Z: Array, weights: Array) -> Array:
        """Return a mean of the experts' variances at rows Z, relative to the last rows, (n, C).

        Experts count by the size of their weights (E, C).
        """
        first = max(0, self._recent.n_rows - COMPARED_ROWS)
        last = self._recent.n_rows
        now = self._mean_variances(
            len(Z),
            weights,
            lambda slot, task: task.next_features(Z, self._earlier(slot.expert.lags)),
        )
        lately = self._mean_variances(
            last - first,
            weights,
            lambda slot, task: task.features(self._recent, first, last, slot.expert.lags),
        )
        found: Array = now / lately.mean(axis=0)
        return found

    def _mean_variances(self, n: int, weights: Array, features: Callable[..., Array]) -> Array:
        """Return a mean of the experts' variances at n rows, in units of the noise, (n, C).

        `features(slot, task)` returns what an expert sees of the rows. The variance of an
        observation is 1 for an expert that sleeps, or whose estimator does not know it.
        """
        out = np.ones((n, len(self._slots)))

        def work(e: int) -> None:
            slot, task = self._slots[e], self._tasks[e]
            if slot.present is None or not isinstance(slot.present.model, VarianceRegressor):
                return
            X = features(slot, task)
            out[:, e] = slot.present.model.relative_variances(
                X if slot.present.scale is None else X * slot.present.scale
            )

        self._each(work, n >= WORTH_THREADS)
        sizes = np.abs(weights)
        total = np.zeros((n, weights.shape[1]))
        for e, share in enumerate(sizes / np.maximum(sizes.sum(axis=0), 1e-300)):
            # One sum after another, in the same order for a row and a block. The last experts have
            # no estimator.
            total += (out[:, e, np.newaxis] if e < len(self._slots) else 1.0) * share
        return total

    def _each(self, work: Callable[[int], None], worth: bool) -> None:
        """Call `work` for each expert, in `n_jobs` threads. The most expensive come first."""
        threads = _threads.count(self.n_jobs) if worth else 1
        if threads == 1:
            for e in range(len(self._slots)):
                work(e)
            return
        with ThreadPoolExecutor(min(threads, len(self._slots))) as pool:
            list(pool.map(work, self._by_cost()))

    def _widen(self, n_features: int) -> None:
        """Add features that were 0 in all samples so far."""
        more = n_features - self.n_features_in_
        state = self._recent.state()
        state["X"] = np.pad(state["X"], ((0, 0), (0, more)))
        moments = {key: np.pad(value, (0, more)) for key, value in self._moments.state().items()}
        moments["count"][-more:] = float(self._recent.n_rows)
        slots = copy.deepcopy(self._slots)  # the old ones stay if the samples are refused
        for slot in slots:
            slot.widen(more)
        self._recent, self._moments = Recent.restored(state), Moments.restored(moments)
        self._slots, self.n_features_in_ = slots, n_features

    def _forget(self) -> None:
        for name in [*self._attributes.needed, "_tasks", "_interrupted"]:
            self.__dict__.pop(name, None)

    def _require_unchanged(self) -> None:
        self._require_whole()
        require_unchanged(self, self._learns_with, but="n_jobs")
