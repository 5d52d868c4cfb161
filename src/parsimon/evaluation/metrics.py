"""Metrics over a stream, in total and over its last rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from parsimon import _schema
from parsimon._parts import whole
from parsimon._schema import Schema
from parsimon.persistence import Storable
from parsimon.preprocessing.moments import MOMENTS, Moments, with_moments, with_plain_moments

__all__ = ["LEAST", "METRICS", "ClassificationMetrics", "RegressionMetrics", "true_class"]

Array = NDArray[np.float64]
Labels = NDArray[Any]


#: The least probability that the logarithmic loss sees: no single row costs more than 13.8.
LEAST = 1e-6


def _is_recent(value: Any, k: int) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim == 2
        and len(value) == k
    )


class _Metrics(Storable, BaseEstimator):  # type: ignore[misc]
    """Totals over a stream, and the same over its last `window` rows.

    The very first row is not scored: nothing could be known then.
    """

    n_rows_: int
    _recent: Array  # (k, up to window): what each of the last rows contributed

    def __init__(self, window: int = 1000) -> None:
        self.window = window

    def _begin(self) -> bool:
        """Make ready for a block; return whether it is the first."""
        whole("window", self.window, at_least=1)
        return not hasattr(self, "n_rows_")

    def _remember(self, rows: Array) -> None:
        self._recent = np.concatenate([self._recent, rows], axis=1)[:, -self.window :]

    @staticmethod
    def _sum(start: float, values: Array) -> float:
        """Return a sum in the order of the rows, so that it does not depend on how they were cut
        into blocks.
        """
        return float(np.add.accumulate(np.concatenate([[start], values]))[-1])

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return with_plain_moments(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        super().__setstate__(with_moments(state))

    def _require_sound(self) -> None:
        if hasattr(self, "n_rows_"):
            whole("window", self.window, at_least=1)
            if self._recent.shape[1] >= self.n_rows_:
                raise ValueError(f"it holds {self._recent.shape[1]} of {self.n_rows_ - 1} rows")


class RegressionMetrics(_Metrics):
    """Mean squared error, mean absolute error, R^2, and the squared error over the variance of the
    targets (`relative_mse` = 1 - R^2), in total and over the last `window` rows.

    >>> metrics = RegressionMetrics().update([1.0, 2.0, 4.0], [0.0, 2.0, 3.0])
    >>> metrics.total()
    {'rows': 2, 'mse': 0.5, 'mae': 0.5, 'r2': 0.5, 'relative_mse': 0.5}
    """

    _moments: Moments
    _squared: float
    _absolute: float
    _attributes = Schema(
        {
            "n_rows_": _schema.whole(1),
            "_squared": _schema.number(0, infinite=True),
            "_absolute": _schema.number(0, infinite=True),
            "_moments": MOMENTS,
            "_recent": lambda recent: _is_recent(recent, 3) and bool((recent[:2] >= 0).all()),
        },
        {},
    )

    def _require_sound(self) -> None:
        super()._require_sound()
        if hasattr(self, "n_rows_") and len(self._moments.count) != 1:
            raise ValueError("its running statistics are not those of one column")

    def update(self, y: ArrayLike, predictions: ArrayLike, *_: Any) -> RegressionMetrics:
        """Take the targets (n,) of a block and what was predicted for them."""
        y, f = np.asarray(y, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
        if not len(y):
            return self
        if self._begin():
            self.n_rows_, self._squared, self._absolute = 0, 0.0, 0.0
            self._moments, self._recent = Moments(1), np.empty((3, 0))
            y, f, self.n_rows_ = y[1:], f[1:], 1
        rows = np.array([(y - f) ** 2, np.abs(y - f), y])
        self._squared, self._absolute = (
            self._sum(self._squared, rows[0]),
            self._sum(self._absolute, rows[1]),
        )
        self._moments.learn(y[np.newaxis])
        self.n_rows_ += len(y)
        self._remember(rows)
        return self

    def total(self) -> dict[str, float]:
        """Return the metrics over all rows."""
        n = self.n_rows_ - 1 if hasattr(self, "n_rows_") else 0
        if n == 0:
            return _regression(0, 0.0, 0.0, 0.0)
        return _regression(
            n, self._squared / n, self._absolute / n, float(self._moments.now()[1][0, 0]) ** 2
        )

    def rolling(self) -> dict[str, float]:
        """Return the metrics over the last rows."""
        recent = getattr(self, "_recent", np.empty((3, 0)))
        if recent.shape[1] == 0:
            return _regression(0, 0.0, 0.0, 0.0)
        squared, absolute, y = recent
        return _regression(len(y), float(squared.mean()), float(absolute.mean()), float(y.var()))


def _regression(n: int, mse: float, mae: float, variance: float) -> dict[str, float]:
    relative = mse / variance if variance > 0 else np.nan
    mse, mae = (mse, mae) if n else (np.nan, np.nan)
    return {"rows": n, "mse": mse, "mae": mae, "r2": 1.0 - relative, "relative_mse": relative}


class ClassificationMetrics(_Metrics):
    """Accuracy, Cohen's kappa, kappa against repeating the last label, and the logarithmic loss
    where there are probabilities, in total and over the last `window` rows.

    ``kappa = (a - a_0) / (1 - a_0)`` for an accuracy a, where a_0 is the accuracy of guessing with
    the same frequencies; for `kappa_no_change` that of the classifier that repeats the last label
    (Bifet et al., *Pitfalls in benchmarking data stream classification and how to avoid them*, ECML
    2013): below 0, the stream is better predicted by doing nothing.

    >>> metrics = ClassificationMetrics().update(["a", "a", "b", "b", "a"], ["a", "a", "b", "b", "b"])
    >>> metrics.total()
    {'rows': 4, 'accuracy': 0.75, 'kappa': 0.5, 'kappa_no_change': 0.5, 'log_loss': nan}
    """

    _labels: list[Any]  # in the order they were met
    _table: NDArray[np.int64]  # (C, C): true by predicted
    _loss: float
    _losses: int
    _unchanged: int
    _last: int
    _attributes = Schema(
        {
            "n_rows_": _schema.whole(1),
            "_labels": _schema.listed(_schema.is_label),
            "_table": _schema.finite_array(None, None, least=0),
            "_loss": _schema.number(0),
            "_losses": _schema.whole(),
            "_unchanged": _schema.whole(),
            "_last": _schema.whole(),
            "_recent": lambda recent: _is_recent(recent, 4),
        },
        {},
    )

    def _require_sound(self) -> None:
        super()._require_sound()
        if not hasattr(self, "n_rows_"):
            return
        n, (true, predicted, losses, unchanged) = len(self._labels), self._recent
        places = np.concatenate([true, predicted, [self._last]])
        if (
            n == 0
            or len(set(self._labels)) != n
            or self._table.shape != (n, n)
            or self._table.dtype.kind != "i"
        ):
            raise ValueError("its table is not that of its labels")
        known = bool(((places >= 0) & (places < n)).all() and (places % 1 == 0).all())
        if not known or not np.isin(unchanged, (0, 1)).all():
            raise ValueError("its last rows are not those of its labels")
        if (losses < 0).any() or np.isinf(losses).any():
            raise ValueError("its losses are none")

    def update(
        self,
        y: ArrayLike,
        predictions: ArrayLike,
        probabilities: Array | None = None,
        classes: Labels | None = None,
    ) -> ClassificationMetrics:
        """Take the labels (n,) of a block, what was predicted for them, and the probabilities (n,
        C) of `classes` (C,), if there are any.
        """
        labels, found = np.asarray(y), np.asarray(predictions)
        if not len(labels):
            return self
        if self._begin():
            self.n_rows_, self._loss, self._losses, self._unchanged = 1, 0.0, 0, 0
            self._labels, self._table = labels[:1].tolist(), np.zeros((1, 1), dtype=np.int64)
            self._last, self._recent = 0, np.empty((4, 0))
            labels, found = labels[1:], found[1:]
            probabilities = None if probabilities is None else probabilities[1:]
        index = {label: i for i, label in enumerate(self._labels)}
        true = np.array(
            [index.setdefault(label, len(index)) for label in labels.tolist()], dtype=np.int64
        )
        predicted = np.array(
            [index.setdefault(label, len(index)) for label in found.tolist()], dtype=np.int64
        )
        self._labels = list(index)
        table = np.zeros((len(index), len(index)), dtype=np.int64)
        table[: len(self._table), : len(self._table)] = self._table
        np.add.at(table, (true, predicted), 1)
        self._table = table
        losses = np.full(len(true), np.nan)
        if probabilities is not None and classes is not None:
            losses = -np.log(np.clip(true_class(probabilities, classes, labels), LEAST, 1.0))
            self._loss, self._losses = self._sum(self._loss, losses), self._losses + len(losses)
        unchanged = true == np.concatenate([[self._last], true])[:-1]
        self._unchanged += int(unchanged.sum())
        self._last = int(true[-1]) if len(true) else self._last
        self.n_rows_ += len(true)
        self._remember(np.array([true, predicted, losses, unchanged], dtype=np.float64))
        return self

    @property
    def labels_(self) -> list[Any]:
        """The labels met so far, true or predicted, in the order they were met."""
        return list(getattr(self, "_labels", []))

    def total(self) -> dict[str, float]:
        """Return the metrics over all rows."""
        if not hasattr(self, "n_rows_"):
            return _classification(np.zeros((1, 1)), 0, np.nan)
        return _classification(
            self._table, self._unchanged, self._loss / self._losses if self._losses else np.nan
        )

    def rolling(self) -> dict[str, float]:
        """Return the metrics over the last rows."""
        if not hasattr(self, "n_rows_"):
            return self.total()
        true, predicted, losses, unchanged = self._recent
        table = np.zeros_like(self._table)
        np.add.at(table, (true.astype(np.int64), predicted.astype(np.int64)), 1)
        scored = losses[~np.isnan(losses)]
        return _classification(
            table, int(unchanged.sum()), float(scored.mean()) if len(scored) else np.nan
        )


def _classification(table: NDArray[Any], unchanged: int, loss: float) -> dict[str, float]:
    n = int(table.sum())
    if n == 0:
        return dict.fromkeys(
            ("rows", "accuracy", "kappa", "kappa_no_change", "log_loss"), np.nan
        ) | {"rows": 0}
    accuracy = float(np.trace(table)) / n
    chance = float((table.sum(axis=0) / n) @ (table.sum(axis=1) / n))
    kappas = [(accuracy - a) / (1.0 - a) if a < 1.0 else np.nan for a in (chance, unchanged / n)]
    return {
        "rows": n,
        "accuracy": accuracy,
        "kappa": kappas[0],
        "kappa_no_change": kappas[1],
        "log_loss": loss,
    }


def true_class(probabilities: Array, classes: Labels, labels: Labels) -> Array:
    """Return the probability (n,) that each row gave its own label; 0 for a label that it did not
    know.
    """
    column = {label: i for i, label in enumerate(classes.tolist())}
    places = np.array([column.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    padded = np.concatenate([probabilities, np.zeros((len(probabilities), 1))], axis=1)
    result: Array = padded[np.arange(len(places)), places]
    return result


#: The metrics of each task.
METRICS: dict[str, type[Any]] = {
    "regression": RegressionMetrics,
    "classification": ClassificationMetrics,
}
