"""Accuracies and losses of classification over a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _schema
from parsimon.evaluation.window import Array, Labels, StreamMetrics, is_recent

__all__ = ["LEAST", "ClassificationMetrics", "true_class"]

#: The smallest probability in the logarithmic loss. So no single row costs more than 13.8.
LEAST = 1e-6


class ClassificationMetrics(StreamMetrics):
    """Accuracy, two kappas and the logarithmic loss, in total and over the last `window` rows.

    Both kappas are ``(a - a_0) / (1 - a_0)`` for the accuracy a. For `kappa` (Cohen's), a_0 is the
    accuracy of random guesses with the same label frequencies. For `kappa_no_change`, a_0 is the
    accuracy of repeating the last label. If `kappa_no_change` is negative, repeating the last label
    is better than the model. The logarithmic loss needs probabilities. The first row of the stream
    is not scored, because no model can know anything about it.

    Parameters
    ----------
    window : int, default=1000
        The number of rows of the rolling metrics.

    References
    ----------
    A. Bifet et al., *Pitfalls in benchmarking data stream classification and how to avoid them*,
    ECML 2013.

    Examples
    --------
    >>> metrics = ClassificationMetrics()
    >>> metrics.update(["a", "a", "b", "b", "a"], ["a", "a", "b", "b", "b"]).total()
    {'rows': 4, 'accuracy': 0.75, 'kappa': 0.5, 'kappa_no_change': 0.5, 'log_loss': nan}
    """

    _labels: list[Any]  # in the order of their first row
    _table: NDArray[np.int64]  # (C, C): counts of true by predicted labels
    _loss: float
    _losses: int
    _unchanged: int
    _last: int
    _attributes = _schema.Schema(
        {
            "n_rows_": _schema.whole(1),
            "_labels": _schema.listed(_schema.is_label),
            "_table": _schema.finite_array(None, None, least=0),
            "_loss": _schema.number(0),
            "_losses": _schema.whole(),
            "_unchanged": _schema.whole(),
            "_last": _schema.whole(),
            "_recent": lambda recent: is_recent(recent, 4),
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
            raise ValueError("its losses are not valid")

    def update(
        self,
        y: ArrayLike,
        predictions: ArrayLike,
        probabilities: Array | None = None,
        classes: Labels | None = None,
    ) -> ClassificationMetrics:
        """Add the labels (n,) of a block and the predictions for them.

        `probabilities` (n, C) of `classes` (C,) are optional.
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
        """The labels so far, true or predicted, in the order of their first row."""
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
    """Return the probability (n,) of the true label of each row; 0 for an unknown label."""
    column = {label: i for i, label in enumerate(classes.tolist())}
    places = np.array([column.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    padded = np.concatenate([probabilities, np.zeros((len(probabilities), 1))], axis=1)
    result: Array = padded[np.arange(len(places)), places]
    return result
