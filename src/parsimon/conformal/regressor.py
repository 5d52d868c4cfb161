"""A regressor with prediction intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from parsimon import _schema
from parsimon._parts import numbers
from parsimon.conformal.intervals import Intervals
from parsimon.conformal.wrapped import Wrapped
from parsimon.estimators.inputs import one_row, points
from parsimon.estimators.regressor import StreamRegressor, regression_targets
from parsimon.estimators.shuffled import without_weights
from parsimon.estimators.state import unchanged_on_error
from parsimon.estimators.variance import VarianceRegressor
from parsimon.evaluation import predict_then_learn
from parsimon.evaluation.steps import is_classifier_like

__all__ = ["ConformalRegressor"]

Array = NDArray[np.float64]


class ConformalRegressor(RegressorMixin, Wrapped):  # type: ignore[misc]
    """A regressor with intervals that cover a given share of the targets.

    Every row is predicted before it is learned. With f(x) the prediction, s(x) a scale that says
    how large errors are likely to be at x, and q a width, the interval is

        [f(x) - q s(x), f(x) + q s(x)].

    q is a quantile of the scores |y - f(x)| / s(x) of the last `window` rows. The level of the
    quantile follows what was covered (adaptive conformal inference), so coverage stays near its
    target when the stream changes. Memory is fixed.

    Parameters
    ----------
    model : regressor
        The model, which is cloned. Estimators of parsimon learn whole blocks. Other models with
        `partial_fit` and `predict` learn row by row. They cannot be stored in files.
    coverage : float in (0, 1), default=0.9
        The share of targets to cover. Larger values give wider intervals.
    spread : "learned", "model" or "constant", default="learned"
        The scale s(x). "model": the standard deviation of `KRLSRegressor` and `KRLSTRegressor`, and
        1 for other models. "learned": the same times a factor that is learned from the features and
        the prediction, by a small mixture of 130 centres. This takes about 4 us per row, which is
        much for a fast model such as KNLMS. "constant": 1, so all intervals are equally wide.
    window : int, default=500
        The number of scores that are kept. Larger windows give steadier widths, and follow changes
        more slowly.
    rate : float in [0, 1), default=0.005
        The step of the level. Larger rates follow changes faster, and make widths less steady.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows. `partial_fit` learns rows in their order.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows in `fit`.

    Attributes
    ----------
    model_ : regressor
        The model that learns.
    coverage_ : float or array (C,)
        The share of the last `window` targets that were covered.
    n_centers_ : int
        Number of centres of the model.
    nbytes_ : int
        Memory in bytes: model, scores and spread.
    n_samples_seen_ : int
        Number of samples learned.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A block gives the same intervals and the same model as its rows one by one, bit for bit (for
    models for which this holds). Before the first score, intervals are infinite.

    There are no sample weights. If targets arrive late, keep the intervals of `predict_interval`,
    and give them to `partial_fit` with the targets.

    References
    ----------
    I. Gibbs, E. Candes, *Adaptive conformal inference under distribution shift*, NeurIPS 2021.

    J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani, L. Wasserman, *Distribution-free predictive
    inference for regression*, Journal of the American Statistical Association 2018 (scores relative
    to a scale).

    Examples
    --------
    >>> from parsimon import KRLSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(2000, 1))
    >>> y = np.sin(2 * X[:, 0]) + np.where(X[:, 0] > 0, 0.5, 0.1) * rng.normal(size=2000)
    >>> model = ConformalRegressor(KRLSRegressor()).partial_fit(X, y)
    >>> quiet, noisy = np.diff(model.predict_interval([[-1.0], [1.0]]), axis=1)[:, 0]
    >>> bool(noisy > 2 * quiet), bool(abs(model.coverage_ - 0.9) < 0.02)
    (True, True)
    """

    _attributes = Wrapped._attributes.extended(
        {"_flat": _schema.one_of(bool), "_intervals": _schema.one_of(dict)}
    )
    _flat: bool
    _intervals: Intervals

    def __init__(
        self,
        model: Any,
        coverage: float = 0.9,
        *,
        spread: str = "learned",
        window: int = 500,
        rate: float = 0.005,
        shuffle: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.model = model
        self.coverage = coverage
        self.spread = spread
        self.window = window
        self.rate = rate
        self.shuffle = shuffle
        self.random_state = random_state

    # Learning

    @without_weights
    def partial_fit(self, X: ArrayLike, y: ArrayLike, intervals: ArrayLike | None = None) -> Self:
        """Continue learning with a block X (n, d), y (n,) or (n, C), in order.

        `intervals` are those that `predict_interval` gave for these rows earlier, if targets arrive
        late. Then the widths follow what these intervals covered.
        """
        self._learn(X, y, intervals)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Learn a block, and return the prediction for each row before it was learned."""
        return self._shaped(self._learn(X, y)[0])

    def predict_interval_then_learn(
        self, X: ArrayLike, y: ArrayLike, *, return_predictions: bool = False
    ) -> Array | tuple[Array, Array]:
        """Learn a block, and return the interval for each row before it was learned.

        The shape is (n, 2), or (n, C, 2) if y has columns: lower and upper end. With
        `return_predictions`, return the predictions and the intervals.
        """
        P, found = self._learn(X, y)
        intervals = self._shaped(found)
        return (self._shaped(P), intervals) if return_predictions else intervals

    def learn_one(self, x: ArrayLike, y: ArrayLike) -> Self:
        """Learn one sample: x (d,), y a number or (C,). Equals `partial_fit` with one row."""
        row = one_row(x, "x", "(d,)")[np.newaxis]
        return self.partial_fit(row, numbers(y, "y", np.asarray)[np.newaxis])

    # Predicting

    def predict(self, X: ArrayLike) -> Array:
        """Predict for X (n, d): (n,), or (n, C) if y had columns."""
        found: Array = self._fitted().model_.predict(points(self, X, reset=False))
        return found

    def predict_interval(self, X: ArrayLike) -> Array:
        """Return an interval for each row of X (n, d): (n, 2), or (n, C, 2) if y had columns."""
        self._fitted()
        rows = points(self, X, reset=False)
        P, S = self._predicted(rows)
        return self._shaped(self._intervals.now(rows, P, S))

    def predict_one(self, x: ArrayLike) -> float | Array:
        """Predict for one point x (d,): a number, or (C,) if y had columns."""
        row = self.predict(one_row(x, "x", "(d,)")[np.newaxis])[0]
        return float(row) if self._fitted()._flat else row

    def predict_interval_one(self, x: ArrayLike) -> Array:
        """Return the interval for one point x (d,): (2,), or (C, 2) if y had columns."""
        found: Array = self.predict_interval(one_row(x, "x", "(d,)")[np.newaxis])[0]
        return found

    @property
    def coverage_(self) -> float | Array:
        """The share of the last `window` targets that were covered."""
        found = self._fitted()._intervals.coverage
        if not len(found):
            return float("nan")
        return float(found[0]) if self._flat else found

    @property
    def nbytes_(self) -> int:
        """Memory in bytes."""
        size: int = self._fitted().model_.nbytes_
        return size + self._intervals.nbytes

    # Implementation

    def _learn(
        self, X: ArrayLike, y: ArrayLike, issued: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Learn a block, and return predictions (n, C) and intervals (n, C, 2) before."""
        begins = not hasattr(self, "model_")
        with unchanged_on_error(self):
            if not begins:
                self._require_unchanged()
            rows = points(self, X, reset=begins)
            Y = self._checked(y, len(rows))
            if begins:
                if is_classifier_like(self.model):
                    raise TypeError(
                        f"{type(self.model).__name__} predicts classes: use ConformalClassifier"
                    )
                self._begin()
                self._flat = Y.ndim == 1
                self._intervals = self._made()
            targets = Y.reshape(len(rows), -1)
            given = None if issued is None else self._given(issued, targets.shape)
            P, S = self._before(rows, Y)
            # What a mixture or another model says of the very first row is the target itself.
            first = int(begins and not isinstance(self.model_, StreamRegressor))
            ends = np.full((*targets.shape, 2), (-np.inf, np.inf))
            some = (None if each is None else each[first:] for each in (S, given))
            ends[first:] = self._intervals.run(rows[first:], P[first:], targets[first:], *some)
        return P, ends

    def _checked(self, y: ArrayLike, n: int) -> Array:
        return regression_targets(y, n)

    def _made(self) -> Intervals:
        return Intervals(self.coverage, spread=self.spread, window=self.window, rate=self.rate)

    def _given(self, issued: ArrayLike, shape: tuple[int, ...]) -> Array:
        found = numbers(issued, "intervals", lambda v: np.asarray(v, dtype=np.float64))
        expected = (shape[0], 2) if self._flat else (*shape, 2)
        if found.shape != expected:
            raise ValueError(f"intervals must have shape {expected}, got {found.shape}")
        if not (found[..., 0] <= found[..., 1]).all():
            raise ValueError("the lower end of an interval must not be above its upper end")
        return found.reshape(*shape, 2)

    def _before(self, X: Array, Y: Array) -> tuple[Array, Array | None]:
        """Let the model learn, and return predictions and deviations (n, C) before each row."""
        n = len(Y)
        if self._asks_std:
            P, S = self.model_.predict_then_learn(X, Y, return_std=True)
            return P.reshape(n, -1), S.reshape(n, -1)
        P = np.asarray(predict_then_learn(self.model_, X, Y).values, dtype=np.float64)
        return P.reshape(n, -1), None

    def _predicted(self, X: Array) -> tuple[Array, Array | None]:
        if self._asks_std:
            P, S = self.model_.predict(X, return_std=True)
            return P.reshape(len(P), -1), S.reshape(len(P), -1)
        P = self.model_.predict(X)
        return P.reshape(len(P), -1), None

    @property
    def _asks_std(self) -> bool:
        return self.spread != "constant" and isinstance(self.model_, VarianceRegressor)

    def _shaped(self, values: Array) -> Array:
        return values[:, 0] if self._flat else values

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # State

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, copy and files."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "_intervals" in state:
            state["_intervals"] = self._intervals.state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        stored = state.pop("_intervals", None)
        super().__setstate__(state)
        if stored is not None:
            began = type(self)(**self._learns_with)
            self._intervals = began._made()
            n_outputs = len(stored["scores"])
            self._intervals.restore(stored, self.n_features_in_, n_outputs)

    def _require_sound(self) -> None:
        super()._require_sound()
        if hasattr(self, "model_") and self._flat and len(self._intervals.calibrators) > 1:
            raise ValueError("it does not have one output")
