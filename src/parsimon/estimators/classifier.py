"""Base class of the classifiers that learn from a stream."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Self, TypeVar

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from parsimon import _parts, _schema
from parsimon._parts import Labels, extended_labels, lookup, real, require_unmasked
from parsimon.estimators.base import Array, StreamEstimator
from parsimon.estimators.inputs import one_row
from parsimon.estimators.learning import FITTED
from parsimon.losses import ClassificationLoss

T = TypeVar("T")

#: Types of labels that need no conversion.
PLAIN = frozenset({bool, int, float, str, np.bool_, np.int64, np.float64, np.str_})


class StreamClassifier(ClassifierMixin, StreamEstimator):  # type: ignore[misc]
    """A classifier over one learner, with one output per class and one dictionary for all classes.

    `classes_` holds the labels, sorted. Arrays with a column per class follow its order.

    The classes are those that `fit` finds, or those given to the first `partial_fit`. If `fit` is
    not used and no classes are given, new classes can appear at any time. A new class adds an
    output, and its label is sorted into `classes_`. The output of a new class does not learn from
    earlier samples.

    Labels are bools, integers, whole floats or strings. All labels of a model have the same type. A
    label that equals a known label is the same class (1.0 is 1).
    """

    classes_: Labels
    class_weight: Any
    _met: Labels  # in the order of the outputs
    _index: dict[Any, int]  # label: its output
    _closed: bool  # the classes were given, and new ones raise an error
    # Output: its target for a sample of that class, until a class is added
    _rows: dict[int, Array]
    _loss: ClassificationLoss
    _factors: dict[Any, float]  # label: factor on the weights of its samples, if it is not 1
    _attributes = FITTED.extended(
        {
            "_met": _schema.is_labels,
            "classes_": _schema.is_labels,
            "_index": _schema.one_of(dict),
            "_closed": _schema.one_of(bool),
            "_loss": _schema.one_of(ClassificationLoss),
        },
        {  # the first version of the file format has no factors, and rows that are ignored
            "_factors": _schema.mapped(_schema.is_label, _schema.number(0)),
            "_rows": _schema.one_of(dict),
        },
    )

    # Learning

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, d) and labels y (n,), `n_passes` times.

        Anything learned before is discarded. With `shuffle`, the rows are shuffled before each
        pass. `sample_weight` has shape (n,); None means 1 for each row.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue learning with a block X (n, d) and labels y (n,).

        `classes` is optional. If it is given in the first call, any other label raises an error.
        Otherwise new classes can appear at any time. The block is cut into batches of `batch_size`
        from its start, and the rows left over make a smaller step. A block with invalid values
        raises an error and changes nothing.
        """
        with self._unchanged_on_error():
            if classes is not None:
                self._give(classes)
            return self._partial_fit(X, y, sample_weight)

    def predict_then_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Labels:
        """Learn a block, and return the labels (n,) that were predicted before learning.

        The label of a row is predicted before its batch is learned: test-then-learn (prequential)
        evaluation. Only classes known before a row are predicted for it. If no class is known, as
        for the first sample of a stream, the true label of the row is returned.
        """
        labels = _parts.labels(y)
        before, rows = len(getattr(self, "_index", {})), self._first_rows(labels)
        known = before + np.searchsorted(rows, np.arange(len(labels)), side="left")
        F = self._before_and_learn(X, labels, sample_weight)
        F[np.arange(F.shape[1]) >= np.maximum(known, 1)[:, np.newaxis]] = -np.inf
        result: Labels = self._met[F.argmax(axis=1)]
        return result

    def learn_one(self, x: ArrayLike, y: Any, sample_weight: float = 1.0) -> Self:
        """Learn one sample: x (d,), y its label, and its weight.

        This equals `partial_fit` with one row, without its overhead. It does not check whether
        parameters were changed after learning began.
        """
        index = self._index.get(y) if type(y) in PLAIN and hasattr(self, "_learner") else None
        if index is None:
            y, index = known_label(self._index if hasattr(self, "_learner") else {}, y)
        if index is None:
            return self.partial_fit(
                one_row(x, "x", "(d,)")[np.newaxis], [y], sample_weight=[sample_weight]
            )
        target = self._rows.get(index)
        if target is None:
            known = np.array([len(self.classes_)])
            target = self._rows[index] = self._loss.targets(
                np.array([index]), known, len(self.classes_)
            )[0]
        if sample_weight != 1.0:
            sample_weight = real("sample_weight", sample_weight, at_least=0)
        if self._factors:
            sample_weight *= self._factors.get(y, 1.0)
        if type(x) is not ndarray or not self._learner.learn_one(x, target, sample_weight):
            self._learner.learn_one(one_row(x, "x", "(d,)"), target, sample_weight)
        return self

    # Predicting

    def decision_function(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Return f (n, C), with columns in the order of `classes_`.

        With two classes, return the difference f_1 - f_0, (n,). `n_jobs` threads share the rows
        (-1: one per core).
        """
        return self._as_decided(self._evaluate(X, n_jobs))

    def predict(self, X: ArrayLike, *, n_jobs: int | None = None) -> Labels:
        """Predict labels for X (n, d): the class with the largest f, (n,).

        `n_jobs` threads share the rows (-1: one per core).
        """
        F, labels = self._scores(X, n_jobs)
        result: Labels = labels[F.argmax(axis=1)]
        return result

    def predict_one(self, x: ArrayLike) -> Any:
        """Predict the label of one point x (d,)."""
        if not hasattr(self, "_learner"):
            check_is_fitted(self)
        F = self._learner.predict(one_row(x, "x", "(d,)")[np.newaxis])
        return self._met[F[0].argmax()]

    @property
    def weights_(self) -> Array:
        """Weights of the centres, (m, C)."""
        return self._sorted(self._fitted().weights())

    # Implementation

    @property
    def _output_labels(self) -> list[Any]:
        labels: list[Any] = self.classes_.tolist()
        return labels

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy."""
        state = super().__getstate__()
        # A class is known here before the learner has its output. If another thread is learning
        # it, leave it out.
        if "_learned" in state and (n_outputs := state["_learned"][1]) != len(state["_met"]):
            state.update(_known(state["_met"][:n_outputs]))
        state.pop("_rows", None)  # computed on demand
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        super().__setstate__(state)
        self._rows = {}
        if "_learned" in state and "_factors" not in state:  # a file of the first version
            self._factors = {}

    def _require_sound(self) -> None:
        super()._require_sound()
        if not hasattr(self, "_learner"):
            return
        known = _known(self._met)
        if len(self._met) != self._learner.n_outputs:
            raise ValueError(
                f"it has {len(self._met)} classes and {self._learner.n_outputs} outputs"
            )
        if self.classes_.tolist() != known["classes_"].tolist() or self._index != known["_index"]:
            raise ValueError("its classes do not agree with the labels that it has seen")
        if self._loss != self._class_loss(self._learns_with):
            raise ValueError(f"its loss {self._loss!r} does not agree with its parameters")

    def _sorted(self, values: Array) -> Array:
        """Return an array (n, C, ...) with axis 1 in the order of `classes_`."""
        return values[:, np.argsort(self._met[: values.shape[1]])]

    def _evaluate(self, X: ArrayLike, n_jobs: int | None = None) -> Array:
        return self._scores(X, n_jobs)[0]

    def _derivatives(self, X: ArrayLike, n_jobs: int | None) -> Array:
        return self._sorted(super()._derivatives(X, n_jobs))

    def _in_order(self, values: Array) -> Array:
        return self._sorted(values)

    def _as_decided(self, values: Array) -> Array:
        if values.shape[1] == 2:
            return values[:, 1] - values[:, 0]
        return values[:, 0] if values.shape[1] == 1 else values

    def _scores(self, X: ArrayLike, n_jobs: int | None) -> tuple[Array, Labels]:
        """Return f (n, C) and the labels of its columns, sorted.

        While another thread adds a class, neither result includes it.
        """
        F = super()._evaluate(X, n_jobs)
        met = self._met[: F.shape[1]]
        columns = np.argsort(met)
        return F[:, columns], met[columns]

    def _class_loss(self, params: dict[str, Any]) -> ClassificationLoss:
        """Return the loss, which defines the targets."""
        loss: ClassificationLoss = self._options(params)["loss"]
        return loss

    def _give(self, classes: ArrayLike) -> None:
        labels = np.unique(_parts.labels(classes, "classes"))
        if not hasattr(self, "_learner"):
            self._set_classes(labels)
            self._closed = True
        elif labels.tolist() != self.classes_.tolist():
            raise ValueError(
                f"classes is {labels.tolist()}, but the classes so far are {self.classes_.tolist()}"
            )

    def _set_classes(self, labels: Labels) -> None:
        self.__dict__.update(_known(labels))

    def _first_targets(self, y: ArrayLike, n: int, *, all_at_once: bool) -> tuple[Array, int]:
        labels = _labels(y, n)
        self._loss = self._class_loss(self.get_params(deep=False))
        self._factors = _class_factors(self.class_weight, labels if all_at_once else None)
        if all_at_once:
            self._set_classes(np.unique(labels))
            self._closed = False
        elif not getattr(self, "_closed", False):
            self._set_classes(labels[:0])
            self._closed = False
        return self._more_targets(labels, n)

    def _more_targets(self, y: ArrayLike, n: int) -> tuple[Array, int]:
        labels = _labels(y, n)
        before, rows = len(self.classes_), self._first_rows(labels)
        if len(rows):
            if self._closed:
                label = labels[rows].tolist()[0]
                raise ValueError(
                    f"y has the label {label!r} at row {rows[0]}, "
                    "which is not among the classes given"
                )
            self._set_classes(extended_labels(self._met, labels[rows]))
        index = np.array([self._index[label] for label in labels.tolist()])
        known = before + np.searchsorted(rows, np.arange(n), side="right")
        return self._loss.targets(index, known, len(self.classes_)), len(self.classes_)

    def _weights(self, y: ArrayLike, sample_weight: ArrayLike | None, n: int) -> Array | None:
        weights = super()._weights(y, sample_weight, n)
        if not self._factors:
            return weights
        factors = np.array([self._factors.get(label, 1.0) for label in _labels(y, n).tolist()])
        if weights is None:
            return factors
        with np.errstate(over="ignore"):  # invalid weights stay: the core names them in its error
            result: Array = np.multiply(
                factors, weights, out=weights.copy(), where=np.isfinite(weights) & (weights >= 0.0)
            )
            return result

    def _first_rows(self, labels: Labels) -> NDArray[np.int64]:
        return first_rows(labels, getattr(self, "_index", {}))


def first_rows(labels: Labels, known: Container[Any]) -> NDArray[np.int64]:
    """Return the rows in which a label appears for the first time, in increasing order."""
    if len(labels) == 1:
        return np.arange(labels.tolist()[0] not in known)
    found, first = np.unique(labels, return_index=True)
    return np.sort(
        [i for i, label in zip(first, found.tolist(), strict=True) if label not in known]
    ).astype(np.int64)


def _known(labels: Labels) -> dict[str, Any]:
    """Return the attributes that describe the classes, from labels in the order of the outputs."""
    index = {label: i for i, label in enumerate(labels.tolist())}
    return {"_met": labels, "classes_": np.sort(labels), "_index": index, "_rows": {}}


def _class_factors(class_weight: Any, labels: Labels | None) -> dict[Any, float]:
    """Return the factors that are not 1, by label.

    `labels` are all labels, or None if they are not known.
    """
    if class_weight is None:
        return {}
    if isinstance(class_weight, str):
        lookup({"balanced": None}, class_weight, "class_weight")
        if labels is None:
            raise ValueError(
                "class_weight='balanced' is computed from all labels, which only fit has: "
                "for a stream give a dict {label: weight}"
            )
        found, counts = np.unique(labels, return_counts=True)
        class_weight = dict(
            zip(found.tolist(), (len(labels) / (len(found) * counts)).tolist(), strict=True)
        )
    if not isinstance(class_weight, Mapping):
        raise TypeError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    factors = {
        label: real(f"class_weight[{label!r}]", weight, at_least=0)
        for label, weight in class_weight.items()
    }
    return {label: factor for label, factor in factors.items() if factor != 1.0}


def known_label(known: Mapping[Any, T], y: Any) -> tuple[Any, T | None]:
    """Return one label as a plain value, and the entry of `known` for it, or None."""
    if isinstance(y, ndarray):
        require_unmasked(y, "y")
        y = y.item() if y.ndim == 0 else y
    try:
        found = known.get(y)
    except TypeError:  # not hashable
        raise TypeError(f"y must be one label, got {y!r}") from None
    if found is None and np.ndim(y) != 0:
        raise TypeError(f"y must be one label, got {y!r}")
    return y, found


def _labels(y: ArrayLike, n: int) -> Labels:
    labels = _parts.labels(y)
    if len(labels) != n:
        check_consistent_length(np.empty(n), labels)
    return labels
