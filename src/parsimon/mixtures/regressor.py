"""A mixture of regressors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from parsimon._parts import numbers
from parsimon.estimators.inputs import one_row
from parsimon.estimators.regressor import StreamRegressor
from parsimon.estimators.shuffled import without_weights
from parsimon.mixtures.bounds import bounds, running_range
from parsimon.mixtures.combiners import RecentMean, StackPair, filled
from parsimon.mixtures.defaults import experts_for_numbers
from parsimon.mixtures.experts import MOST_LAGS, Expert
from parsimon.mixtures.regressor_state import StoredMixtureRegressor
from parsimon.mixtures.tasks import Numbers, checked_targets, scaled
from parsimon.preprocessing import LARGEST, Moments
from parsimon.preprocessing.moments import LARGEST_STORED

__all__ = ["MixtureRegressor"]

Array = NDArray[np.float64]

#: Bounds of predictions are at most this far from the mean of the targets, in the same units.
LARGEST_SCALED = 1e3
#: Larger targets are clipped for the weights of the experts, in units of their deviation.
LARGEST_SURPRISE = 5.0
#: The experts that need no estimator.
FREE = ("last value", "mean")


class _Prepared(NamedTuple):
    """What the combination of a piece needs of each row before it."""

    first: int  # the number of the first row in the stream
    means: Array  # of the targets before each row, (n, C)
    deviations: Array
    surprise: Array  # the targets in these units
    last: Array  # the target before each row, in units of the experts
    low: Array  # bounds of the predictions
    high: Array


class MixtureRegressor(RegressorMixin, StoredMixtureRegressor):  # type: ignore[misc]
    """Several regressors learned side by side, and combined by least squares.

    It needs no parameters and no scaled data. Each of E experts predicts each row t before it is
    learned. The vector p_t holds these predictions, and y_t is the target. After n rows the
    prediction of the mixture is p'w, with weights w that minimise

        sum_t c_t (y_t - p_t'w)^2 + 5 ||w - 1/E||^2.

    The factor c_t of a row decreases with every later row, over 1000 rows in the long run.
    The experts see different things: all features, features scaled by their relevance, or also the
    last three targets. Two more experts need no estimator: the last target and the running mean.
    The mixture is useful from the first rows on. An expert sleeps until it has seen enough rows to
    begin. While it sleeps, it counts as the mean of the others.

    The relevance of feature i is s_i = sqrt(mean (df/dx_i)^2) over recent rows, where f is the
    function of an expert. At fixed numbers of rows a new version of the expert, the challenger,
    learns the last 1000 rows at most, with features scaled by their relevance. It takes the place
    of the old version if its errors there are at most 2 % larger.

    Parameters
    ----------
    experts : list of Expert or None, default=None
        The experts. None means those of `parsimon.mixtures.defaults`.
    budget : int, default=2000
        Maximum number of centres of all experts and challengers together. Each expert gets a part
        in proportion to its `share`. An expert with relevance counts twice, because it can have a
        challenger. Smaller budgets leave few centres for each expert: with far fewer than 2000,
        one `KRLSRegressor` with the same budget can be more accurate.
    standardize : bool, default=True
        Whether features are standardised by their running means and deviations, and clipped to 3
        deviations. False is for features that have been scaled.
    bounded : bool, default=True
        Whether predictions stay within the range of the targets so far plus a tenth of it, and are
        never negative if no target was.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows. Rows that are sorted by their targets would be learned as a
        stream that changes. `partial_fit` learns rows in their order.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows in `fit`.
    n_jobs : int or None, default=None
        Number of threads for the experts (-1: one per core). It changes no bit.

    Attributes
    ----------
    experts_ : list
        The estimators, None for an expert that sleeps.
    expert_names_ : list of str
        The names of the experts, those without estimator last.
    shares_ : array (E,) or (E, C)
        The weight of each expert.
    relevance_ : array (d,) or None
        The relevance of each feature, the largest being 1.
    noise_ : float or array (C,)
        The mean squared error over recent rows. It is infinite before the second row.
    n_centers_ : int
        Number of centres of all experts.
    nbytes_ : int
        Memory in bytes: experts, challengers and recent rows.
    n_samples_seen_ : int
        Number of samples learned.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A block gives the same model as its rows one by one, bit for bit. `predict` takes every row as
    the next one after the last row learned, so lags are the last targets that were learned. There
    are no sample weights, and mixtures cannot be merged. Only one thread may use a mixture at a
    time.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, *Mechanism for feature learning in neural
    networks and backpropagation-free machine learning models*, Science 2024 (relevance).

    L. Breiman, *Stacked regressions*, Machine Learning 1996.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> y = 10 + np.sin(2 * X[:, 0]) * X[:, 1]
    >>> model = MixtureRegressor()
    >>> before = model.predict_then_learn(X, y)
    >>> bool(np.square(before - y)[500:].mean() < 0.1 * y.var())
    True
    >>> (model.relevance_ > 0.2).tolist()
    [True, True, False, False, False]
    """

    _free = FREE

    def __init__(
        self,
        experts: Sequence[Expert] | None = None,
        *,
        budget: int = 2000,
        standardize: bool = True,
        bounded: bool = True,
        shuffle: bool = True,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.experts = experts
        self.budget = budget
        self.standardize = standardize
        self.bounded = bounded
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Learning

    @without_weights
    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Continue learning with a block X (n, d), y (n,) or (n, C), in order.

        A block equals its rows, bit for bit. A block with invalid values raises an error and
        changes nothing.
        """
        self.predict_then_learn(X, y)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Learn a block, and return the prediction for each row before it was learned.

        The shape is (n,) or (n, C), as for `predict`. Nothing is known at the very first row: its
        own target is returned.
        """
        return self.predict_both_then_learn(X, y)[0]

    def predict_both_then_learn(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Learn a block, and return the predictions before, with and without the last targets.

        The second are those of `predict` with ``lagged=False``.
        """
        with self._block(X) as (rows, begins):
            given = checked_targets(y, len(rows))
            if begins:
                self._begin(rows.shape[1], given)
            Y = given.reshape(len(rows), -1)
            n_outputs = self._last.shape[1]
            if Y.shape[1] != n_outputs:
                raise ValueError(f"y must have {n_outputs} columns as before, got {given.shape}")
        out = np.empty((2, *Y.shape))

        def prepare(piece: slice) -> tuple[int, _Prepared]:
            return n_outputs, self._prepared(rows[piece], Y[piece])

        def combine(piece: slice, prepared: _Prepared, P: Array) -> None:
            out[:, piece] = self._combined(prepared, Y[piece], P)

        self._learn_rows(len(rows), prepare, combine)
        return self._shaped(out[0]), self._shaped(out[1])

    def learn_one(self, x: ArrayLike, y: ArrayLike) -> Self:
        """Learn one sample: x (d,), y a number or (C,). Equals `partial_fit` with one row."""
        row = one_row(x, "x", "(d,)")[np.newaxis]
        return self.partial_fit(row, numbers(y, "y", np.asarray)[np.newaxis])

    # Predicting

    def predict(self, X: ArrayLike, return_std: bool = False, *, lagged: bool = True) -> Any:
        """Predict for X (n, d): (n,), or (n, C) if y had columns.

        With `return_std`, also return the standard deviation of a new observation. Its square is
        `noise_` times a mean of the experts' variances at the row, relative to the last 64 rows.
        These variances grow away from the rows that were learned.

        Every row counts as the next one after the last row learned. For rows that do not follow it,
        use ``lagged=False``: then only experts that need no earlier targets are combined.
        """
        Z = self._fitted()._scaled(self._validated(X, reset=False), learn=False)
        P, (means, deviations) = self._of_experts(Z), self._target_moments.now()
        out, weights = np.empty((len(P), P.shape[2])), np.zeros(P.shape[1:])
        low, high = self._bounds(self._low, self._high)
        for c in range(P.shape[2]):
            lowest, highest = (
                scaled(bound[c], means[c], deviations[c], LARGEST_SCALED) for bound in (low, high)
            )
            stack, use = self._stacks[c], slice(None) if lagged else self._stacks[c].columns
            each = filled(np.clip(P[:, use, c], lowest, highest))
            # One sum after another, in the same order for a row and a block.
            combined = np.zeros(len(P))
            weights[use, c] = (stack.full if lagged else stack.plain).weights
            for e, weight in enumerate(weights[use, c]):
                combined += weight * each[:, e]
            out[:, c] = np.clip(means[c, 0] + deviations[c, 0] * combined, low[c], high[c])
        if not return_std:
            return self._shaped(out)
        std = np.sqrt(self._known_noise() * self._relative_variances(Z, weights))
        return self._shaped(out), self._shaped(std)

    @property
    def noise_(self) -> float | Array:
        """The mean squared error over recent rows, or (C,) if y had columns. Infinite at first."""
        noise = self._fitted()._known_noise()
        return float(noise[0]) if self._flat else noise

    def _known_noise(self) -> Array:
        noise = self._noise
        return noise.now if noise.count else np.full(len(noise.now), np.inf)

    def predict_one(self, x: ArrayLike) -> float | Array:
        """Predict for one point x (d,): a number, or (C,) if y had columns."""
        row = self.predict(one_row(x, "x", "(d,)")[np.newaxis])[0]
        return float(row) if self._flat else row

    @property
    def shares_(self) -> Array:
        """The weight of each expert, (E,), or (E, C) if y had columns."""
        weights = np.column_stack([stack.weights() for stack in self._fitted()._stacks])
        return weights[:, 0] if self._flat else weights

    # Implementation

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _default_experts(self) -> list[Expert]:
        return experts_for_numbers()

    def _checked(self, y: ArrayLike, n: int) -> Array:
        return checked_targets(y, n)

    def _combiner_bytes(self) -> int:
        return sum(state.nbytes for stack in self._stacks for state in stack.states)

    def _gradient_weights(self) -> Array:
        each = [stack.weights(lagged=False) for stack in self._stacks]
        weights: Array = np.column_stack(each)[: len(self._slots), :, np.newaxis]
        return weights

    def _given(self) -> list[Expert]:
        experts = super()._given()
        for expert in experts:
            if not isinstance(expert.estimator, StreamRegressor):
                raise TypeError(f"the estimator of expert {expert.name!r} is not for numbers")
        return experts

    def _task(self, expert: Expert) -> Numbers:
        return Numbers()

    def _begin(self, n_features: int, Y: Array) -> None:
        self._flat = Y.ndim == 1
        C = 1 if Y.ndim == 1 else Y.shape[1]
        self._start(n_features, C)
        self._target_moments = Moments(C)
        self._low, self._high = np.zeros((2, C))
        self._last, self._noise = np.empty((0, C)), RecentMean(C)
        self._stacks = [StackPair(self._uses_lags) for _ in range(C)]

    def _prepared(self, X: Array, Y: Array) -> _Prepared:
        """Add a piece to the recent rows, and return what its combination needs."""
        first = self._recent.n_rows
        Z = self._scaled(X, learn=True)
        previous = self._earlier(1)[0]
        means, deviations = (M.T for M in self._target_moments.learn(np.ascontiguousarray(Y.T)))
        T = scaled(Y, means[1:], deviations[1:])
        # In the units of the predictions, which do not know the row yet
        surprise = scaled(Y, means[:-1], deviations[:-1], LARGEST_SURPRISE)
        last = np.vstack([previous, T[:-1]])
        lows, highs = running_range(Y, self._low, self._high, first)
        self._low, self._high = lows[-1], highs[-1]
        low, high = self._bounds(lows[:-1], highs[:-1])
        self._recent.append(Z, T)
        self._last = np.vstack([Y[::-1], self._last])[:MOST_LAGS]
        return _Prepared(first, means[:-1], deviations[:-1], surprise, last, low, high)

    def _combined(self, prepared: _Prepared, Y: Array, P: Array) -> Array:
        """Return the predictions with and without lags, (2, n, C), and learn their errors.

        P (n, E, C) are the predictions of the experts.
        """
        first, means, deviations, surprise, last, low, high = prepared
        out = np.empty((2, *Y.shape))
        for c in range(Y.shape[1]):
            each = np.column_stack([P[:, :, c], last[:, c], np.zeros(len(Y))])
            lowest, highest = (
                scaled(bound[:, c], means[:, c], deviations[:, c], LARGEST_SCALED)[:, np.newaxis]
                for bound in (low, high)
            )
            each = filled(np.clip(each, lowest, highest))
            for i, combined in enumerate(self._stacks[c].run(each, surprise[:, c], first)):
                back = means[:, c] + deviations[:, c] * combined
                out[i, :, c] = np.clip(back, low[:, c], high[:, c])
        if first == 0:
            out[:, 0] = Y[0]
        self._noise.run(np.minimum(np.square(out[0] - Y)[first == 0 :], LARGEST_STORED))
        return out

    def _of_experts(self, Z: Array) -> Array:
        """Return the predictions of all experts, in units of the targets' deviation, (n, E, C)."""
        P = self._now(Z, self._last.shape[1])
        last = np.broadcast_to(self._earlier(1), (len(Z), 1, P.shape[2]))
        return np.concatenate([P, last, np.zeros_like(last)], axis=1)

    def _earlier(self, n_lags: int) -> Array:
        """Return the last targets, scaled by the present moments, (1, n_lags, C)."""
        means, deviations = (M.T for M in self._target_moments.now())
        T = np.zeros((1, n_lags, self._last.shape[1]))
        known = self._last[:n_lags]
        T[0, : len(known)] = scaled(known, means, deviations)
        return T

    def _bounds(self, low: Array, high: Array) -> tuple[Array, Array]:
        if not self.bounded:
            return np.full_like(low, -LARGEST), np.full_like(high, LARGEST)
        return bounds(low, high)

    def _shaped(self, values: Array) -> Array:
        return values[:, 0] if self._flat else values
