"""The models that a forecaster combines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from parsimon import _schema
from parsimon.forecasting.features import DirectView, RecursiveView
from parsimon.forecasting.history import Array, History, Rows
from parsimon.forecasting.models import linear_model, one_step_model, residual_model
from parsimon.forecasting.structure import Structure

__all__ = ["DirectLinear", "DirectModel", "Recursive"]

#: Directions with less variance than this part of the largest are left out of a linear model.
LEAST_VARIANCE = 1e-13
#: The weight of the samples that span the inputs of a linear model.
SPAN_WEIGHT = 1e-6
#: A kernel model of residuals begins when the linear model has seen this many rows per input.
ROWS_PER_INPUT = 3
#: Rows that are learned in one call.
PART = 16


def in_parts(learn: Callable[..., Any], X: Array, T: Array) -> list[Any]:
    """Call a method with a few rows at a time, and return the results.

    The model is the same as after one call. Between calls, Python can handle a signal.
    """
    return [learn(X[i : i + PART], T[i : i + PART]) for i in range(0, len(X), PART)]


class ForecastModel:
    """What all models have in common. A model that has learned nothing repeats the last value."""

    horizon: int

    def repeated(self, history: History, origins: Rows) -> Array:
        """Return the last value before each origin for all steps, (n, H)."""
        return np.repeat(history.values(origins - 1)[:, np.newaxis], self.horizon, axis=1)

    def predicted(self, model: Any, X: Array) -> Array:
        """Return the predictions of an estimator for inputs X (n, d), (n, outputs)."""
        found: Array = getattr(model, "predict_checked", model.predict)(X)
        return found.reshape(len(X), -1)

    @property
    def models(self) -> dict[str, Any]:
        """The estimators by the names of their attributes."""
        return {name: vars(self)[name] for name in ("model", "residual") if name in vars(self)}

    @property
    def kernel_models(self) -> list[Any]:
        """The estimators whose centres the budget limits."""
        return list(self.models.values())

    def state(self) -> dict[str, Any]:
        """Return the state for files."""
        return {"models": self.models}

    def restore(self, state: dict[str, Any], n_known: int, n_other: int) -> None:
        """Take a state, or raise a ValueError, with so many features known in advance or not."""
        raise NotImplementedError

    def take(self, state: dict[str, Any], n_inputs: dict[str, int], n_outputs: int) -> None:
        """Take the estimators of a state, if they have these numbers of inputs and outputs."""
        if state["models"].keys() != n_inputs.keys():
            raise ValueError("a model is missing")
        for name, model in state["models"].items():
            expected = getattr(self, name, None)
            fits = expected is None or type(expected) is type(model)
            if fits and model.__sklearn_is_fitted__():
                fits = model.n_features_in_ == n_inputs[name]
                fits = fits and getattr(model, "n_outputs_", n_outputs) == n_outputs
            if not fits or not hasattr(model, "partial_fit"):
                raise ValueError("a model does not fit its inputs")
            setattr(self, name, model)


class Direct(ForecastModel):
    """What models of all steps at once have in common: inputs, and rows that can be learned."""

    def __init__(self, structure: Structure, horizon: int, n_times: int) -> None:
        self.view = DirectView.of(structure, horizon)
        self.horizon, self.n_times = horizon, n_times

    def inputs(self, history: History, origins: Rows, future: Array) -> Array:
        """Return the inputs at origins, (n, d)."""
        return self.view.inputs(history, origins, future, self.n_times)

    def n_inputs(self, view: DirectView, n_known: int, n_other: int) -> int:
        """Return the number of inputs of a view."""
        last = n_known - self.n_times if self.horizon > 1 else 0
        return len(view.lags) + n_known + last + n_other

    def samples(self, history: History, first: int, last: int) -> tuple[Rows, Array]:
        """Return the origins whose last target is among rows first..last-1, and the targets.

        Origins with more than half of the targets missing are left out. Other missing targets are
        those that were filled in. Targets are (n, H) in units of the model.
        """
        begin = max(first - self.horizon + 1, self.view.reach)
        origins = np.arange(begin, last - self.horizon + 1)
        Y, seen = history.targets(origins, self.horizon)
        use = seen.mean(axis=1) >= 0.5
        origins = origins[use]
        return origins, self.view.scaled(Y[use], history.values(origins - 1))


class DirectModel(Direct):
    """An estimator with one output per step, which sees lags and further columns."""

    def __init__(self, structure: Structure, horizon: int, n_times: int, estimator: Any) -> None:
        super().__init__(structure, horizon, n_times)
        self.model = clone(estimator)

    def restore(self, state: dict[str, Any], n_known: int, n_other: int) -> None:
        """Take a state, or raise a ValueError."""
        d = self.n_inputs(self.view, n_known, n_other)
        self.take(state, {"model": d}, self.horizon)

    def begin(self, history: History) -> None:
        """Choose nothing: the estimator measures its own kernel width."""

    def learn(self, history: History, first: int, last: int) -> None:
        """Learn rows first..last-1, when all rows before are learned."""
        origins, T = self.samples(history, first, last)
        if len(origins):
            X = self.inputs(history, origins, history.future(origins, self.horizon))
            in_parts(self.model.partial_fit, X, T)

    def forecast(
        self, history: History, origins: Rows, future: Array, low: Array, high: Array
    ) -> list[Array]:
        """Return the forecasts at origins, (n, H), in a list."""
        if not self.model.__sklearn_is_fitted__():
            return [self.repeated(history, origins)]
        last = history.values(origins - 1)
        F = self.predicted(self.model, self.inputs(history, origins, future))
        return [self.view.unscaled(F, last)]


class DirectLinear(Direct):
    """A linear model with one output per step, and a kernel model of its residuals.

    The linear model sees all lags and further columns, rotated to unit covariance. The kernel model
    sees few lags, because kernels need more rows for more inputs. It learns the errors that the
    linear model made before it learned each row.
    """

    def __init__(self, structure: Structure, horizon: int, n_times: int, budget: int) -> None:
        super().__init__(structure, horizon, n_times)
        self.narrow = DirectView.narrow(structure)
        self.budget = budget
        self.mean, self.rotation = np.empty(0), np.empty((0, 0))

    @property
    def kernel_models(self) -> list[Any]:
        """The model of residuals. The linear model has one centre per input and two more."""
        return [self.residual]

    def begin(self, history: History) -> None:
        """Choose units and kernel width from the rows so far."""
        origins = np.arange(self.view.reach, history.n_rows - self.horizon + 1)
        future = history.future(origins, self.horizon)
        X = self.inputs(history, origins, future)
        self.mean = X.mean(axis=0)
        variances, directions = np.linalg.eigh(np.cov(X.T).reshape(X.shape[1], -1))
        use = variances > LEAST_VARIANCE * variances[-1]
        use[-1] = True  # also if the series is constant
        units = np.sqrt(np.maximum(variances[use], LEAST_VARIANCE))
        self.rotation = np.ascontiguousarray(directions[:, use] / units)
        k = self.rotation.shape[1]
        self.model = linear_model(k + 2)
        # These samples span all inputs, so later ones are represented exactly. Their weight is
        # far below the ridge.
        span = np.vstack([np.zeros(k), np.eye(k)])
        targets = np.zeros((k + 1, self.horizon))
        self.model.partial_fit(span, targets, np.full(k + 1, SPAN_WEIGHT))
        narrow = self.narrow.inputs(history, origins, future, self.n_times)
        self.residual = residual_model(narrow, self.budget)

    def state(self) -> dict[str, Any]:
        """Return the state for files."""
        return {**super().state(), "mean": self.mean, "rotation": self.rotation}

    def restore(self, state: dict[str, Any], n_known: int, n_other: int) -> None:
        """Take a state, or raise a ValueError."""
        d = self.n_inputs(self.view, n_known, n_other)
        narrow = self.n_inputs(self.narrow, n_known, n_other)
        sound = _schema.finite_array(d)(state["mean"])
        if not sound or not _schema.finite_array(d, None)(state["rotation"]):
            raise ValueError("the units of its inputs are not sound")
        self.mean, self.rotation = state["mean"], state["rotation"]
        self.take(state, {"model": self.rotation.shape[1], "residual": narrow}, self.horizon)

    def rotated(self, X: Array) -> Array:
        """Return inputs with mean 0 and unit covariance over the first rows."""
        return np.ascontiguousarray((X - self.mean) @ self.rotation)

    def learn(self, history: History, first: int, last: int) -> None:
        """Learn rows first..last-1, when all rows before are learned."""
        origins, T = self.samples(history, first, last)
        if not len(origins):
            return
        future = history.future(origins, self.horizon)
        X = self.rotated(self.inputs(history, origins, future))
        before = np.concatenate(in_parts(self.model.predict_then_learn, X, T))
        if self.model.n_samples_seen_ > (1 + ROWS_PER_INPUT) * self.rotation.shape[1]:
            X = self.narrow.inputs(history, origins, future, self.n_times)
            in_parts(self.residual.partial_fit, X, T - before.reshape(T.shape))

    def forecast(
        self, history: History, origins: Rows, future: Array, low: Array, high: Array
    ) -> list[Array]:
        """Return the forecasts (n, H) of the linear model, and those with residuals."""
        if self.model.n_samples_seen_ <= self.rotation.shape[1] + 1:
            return [self.repeated(history, origins)] * 2
        last = history.values(origins - 1)
        F = self.predicted(self.model, self.rotated(self.inputs(history, origins, future)))
        both = F
        if self.residual.__sklearn_is_fitted__():
            X = self.narrow.inputs(history, origins, future, self.n_times)
            both = F + self.predicted(self.residual, X)
        return [self.view.unscaled(F, last), self.view.unscaled(both, last)]


class Recursive(ForecastModel):
    """A model of the next row, which is fed with its own forecasts for further rows."""

    def __init__(
        self,
        structure: Structure,
        horizon: int,
        lags: tuple[int, ...],
        budget: int,
        estimator: Any = None,
    ) -> None:
        self.view, self.horizon = RecursiveView.of(structure, lags), horizon
        self.budget, self.estimator = budget, estimator
        self.model: Any = None if estimator is None else clone(estimator)

    def restore(self, state: dict[str, Any], n_known: int, n_other: int) -> None:
        """Take a state, or raise a ValueError."""
        self.take(state, {"model": len(self.view.lags) + n_known + n_other}, 1)

    def begin(self, history: History) -> None:
        """Choose the kernel width from the rows so far."""
        if self.estimator is None:
            X = self.view.at(history, np.arange(self.view.reach, history.n_rows))
            self.model = one_step_model(X, self.budget)

    def learn(self, history: History, first: int, last: int) -> None:
        """Learn rows first..last-1, when all rows before are learned."""
        origins = np.arange(max(first, self.view.reach), last)
        origins = origins[history.seen[origins - history.first] > 0.0]
        if len(origins):
            y, before = history.values(origins), history.values(origins - 1)
            X = self.view.at(history, origins)
            in_parts(self.model.partial_fit, X, self.view.scaled(y, before))

    def forecast(
        self, history: History, origins: Rows, future: Array, low: Array, high: Array
    ) -> list[Array]:
        """Return the forecasts at origins, (n, H), in a list.

        They stay between low and high, (n,).
        """
        if not self.model.__sklearn_is_fitted__():
            return [self.repeated(history, origins)]
        reach, n = self.view.reach, len(origins)
        path = np.empty((n, reach + self.horizon))
        path[:, :reach] = history.values(origins[:, np.newaxis] + np.arange(-reach, 0))
        other = history.other[origins - 1 - history.first]
        for h in range(future.shape[1]):
            past = path[:, h : reach + h]
            F = self.predicted(self.model, self.view.inputs(past, future[:, h], other))[:, 0]
            path[:, reach + h] = np.clip(self.view.unscaled(F, past[:, -1]), low, high)
        return [path[:, reach : reach + future.shape[1]]]
