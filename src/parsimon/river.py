"""The models of parsimon for [River](https://riverml.xyz): every estimator that learns, under its own name, for samples that are dicts.

>>> from parsimon.river import KRLSRegressor
>>> model = KRLSRegressor(gamma=1.0, tolerance=1e-3)
>>> for t in range(200):
...     model.learn_one({"x": t % 20 / 10, "nothing": 0.0}, (t % 20 / 10) ** 2)
>>> round(model.predict_one({"x": 1.5}), 2)  # a feature that is missing counts as 0
2.25

Features go by name, in any order, and come and go: one that a sample lacks counts as 0, and one that the model has not met is ignored when predicting and gets a column of its own when
learned. To the model it was 0 so far, which leaves the function as it was.

Parameters are those of the scikit-learn class of the same name, but for those that only concern `fit`. On a stream there is no first block to measure a width on: a `gamma` of "scale" or
"median" is 1 / d, with d the number of features in the first sample, however many come later. That suits standardised features: put `preprocessing.StandardScaler` before the model. As there is
no intercept, `preprocessing.TargetStandardScaler` around a regressor helps where y lies far from zero.

`learn_many` learns a frame (pandas, polars or any that River takes) just as `learn_one` would learn its rows, bit for bit, but for a `batch_size` above 1, whose batches are cut from the frame. What is
refused (a value that is no number, NaN, infinity, ...) changes nothing.
"""

from __future__ import annotations

import inspect
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

import parsimon
from parsimon import kernels, losses
from parsimon._extras import install_command

try:
    from river import base
    from river.utils import dataframe
except ImportError as error:
    raise ImportError(f"parsimon.river needs River: {install_command('river')}") from error

__all__ = [
    "SOGSVC",
    "SOGSVR",
    "BSGDClassifier",
    "KLMSRegressor",
    "KNLMSRegressor",
    "KRLSRegressor",
    "KernelDictionaryClassifier",
    "KernelDictionaryLearning",
    "NORMARegressor",
    "POLKClassifier",
    "POLKRegressor",
    "SPLRegressor",
]

Array = NDArray[np.float64]
Sample = Mapping[Hashable, Any]

#: Parameters that only concern `fit`.
ONLY_FIT = ("n_passes", "shuffle")


class _Nothing:
    """The name of the one column, always 0, of a model whose first sample had no features."""


class _Stream(base.Estimator):
    """A model behind River's interface.

    CONVENTION: `_columns` numbers the features that were met, and `_estimator` has as many columns; before the first sample there are none of either.
    """

    _of: ClassVar[type[Any]]  # the scikit-learn class
    _signature: ClassVar[inspect.Signature]
    _weighted: ClassVar[bool]  # whether samples may have weights
    _columns: dict[Hashable, int]
    _estimator: Any

    def __init_subclass__(cls, *, of: type[Any] | None = None, seeded: bool = False, **kwargs: Any) -> None:
        """Take the parameters from a scikit-learn class. `seeded`: it draws random numbers as it learns, and not for `fit` alone."""
        super().__init_subclass__(**kwargs)
        if of is None:
            return
        skipped = ONLY_FIT if seeded else (*ONLY_FIT, "random_state")
        parameters = [p for name, p in inspect.signature(of).parameters.items() if name not in skipped]
        own = [p.replace(name="seed") if p.name == "random_state" else p for p in parameters]

        def __init__(self: _Stream, *args: Any, **kwargs: Any) -> None:
            _Stream.__init__(self, *args, **kwargs)

        # River asks the signature of __init__ for the parameters.
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        signature = inspect.Signature([itself, *own], return_annotation=None)
        __init__.__signature__ = signature  # type: ignore[attr-defined]
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = __init__  # type: ignore[method-assign]
        cls._of, cls._signature = of, signature
        cls._weighted = has_fit_parameter(of, "sample_weight")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            given = self._signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        given.apply_defaults()
        del given.arguments["self"]
        for name, value in given.arguments.items():
            setattr(self, name, value)
        self._columns, self._estimator = {}, None
        self._y_name: str | None = None  # as in River, predictions are named after the targets last learned

    @property
    def estimator(self) -> Any:
        """The scikit-learn estimator that learns, with its columns as in `features`; None before the first sample."""
        return self._estimator

    @property
    def features(self) -> list[Hashable]:
        """The names of the features that were met, in the order of the model's columns."""
        return [name for name in self._columns if name is not _Nothing]

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes held, those of the model included."""
        return super()._raw_memory_usage + (0 if self._estimator is None else int(self._estimator.nbytes_))

    # Learning

    def _begin(self, n_features: int) -> Any:
        """Return an estimator that has learned nothing yet."""
        names = [name for name in self._signature.parameters if name != "self"]
        params = {"random_state" if name == "seed" else name: getattr(self, name) for name in names}
        if kernels.named(params["kernel"]):  # settled here, so that a frame may come first and be learned as its rows
            params["gamma"] = kernels.width(params["gamma"], np.zeros((1, n_features)))
        return self._of(**params)

    @contextmanager
    def _room_for(self, names: Iterable[Hashable]) -> Iterator[None]:
        """Begin the model, or give it columns for features it has not met, while it learns them; all is taken back if that fails."""
        estimator, columns = self._estimator, self._columns
        new = _in_order(name for name in names if name not in columns)
        if estimator is None and not new:
            new = [_Nothing]
        held = None if estimator is None else vars(estimator).copy()
        self._columns = columns | {name: i for i, name in enumerate(new, start=len(columns))}
        try:
            if estimator is None:
                self._estimator = self._begin(len(self._columns))
            else:
                estimator._widen(len(self._columns))
            yield
        except BaseException:
            self._estimator, self._columns = estimator, columns
            if held is not None:
                estimator.__dict__ = held
            raise

    def _learn_one(self, x: Sample, *target: Any) -> None:
        """Learn a sample; `target` is what the estimator's `learn_one` takes beside it."""
        row = self._row(x)
        if self._estimator is None or not x.keys() <= self._columns.keys():
            with self._room_for(x):
                return self._learn_one(x, *target)
        try:
            self._estimator.learn_one(row, *target)
        except ValueError:
            self._name_what_is_not_finite(row[np.newaxis])
            raise

    def _learn_many(self, X: Any, *target: Any, w: Any = 1.0) -> None:
        """Learn a frame; `target` is what the estimator's `partial_fit` takes beside it."""
        frame = dataframe.into_frame(X)
        if len(frame) == 0:
            return None
        if self._estimator is None or not set(frame.columns) <= self._columns.keys():
            with self._room_for(frame.columns):
                return self._learn_many(X, *target, w=w)
        block, options = self._block(frame), {}
        if np.ndim(w) > 0:
            options["sample_weight"] = self._weight(_numbers(dataframe.into_series(w), "w"))
        elif w != 1.0:
            options["sample_weight"] = self._weight(np.full(len(block), float(w)))
        try:
            self._estimator.partial_fit(block, *target, **options)
        except ValueError:
            self._name_what_is_not_finite(block)
            raise

    def _weight(self, w: Any) -> Any:
        """Return weights as they are, if the model takes any."""
        if not self._weighted:
            raise TypeError(f"{type(self).__name__} takes no weights: w must be 1")
        return w

    # Predicting

    def _ask_one(self, x: Sample, ask: Callable[[Any, Array], Any]) -> Any:
        """Return what the estimator says of a sample; None before the first."""
        row = self._row(x)
        if self._estimator is None:
            return None
        try:
            return ask(self._estimator, row)
        except ValueError:
            self._name_what_is_not_finite(row[np.newaxis])
            raise

    def _ask_many(self, frame: Any, ask: Callable[[Any, Array], Any]) -> Any:
        """Return what the estimator says of the rows of a frame; None before the first sample, or if there are no rows."""
        block = self._block(frame)
        if self._estimator is None or len(block) == 0:
            return None
        try:
            return ask(self._estimator, block)
        except ValueError:
            self._name_what_is_not_finite(block)
            raise

    # Names to columns

    def _row(self, x: Sample) -> Array:
        """Return a sample as the model has it, (d,): 0 where a feature is missing, and without those it has not met."""
        try:
            return np.frombuffer(array("d", [*map(x.get, self._columns, repeat(0.0))]))
        except (AttributeError, TypeError, OverflowError):
            if not isinstance(x, Mapping):
                raise TypeError(f"x must be a dict of features, got {type(x).__name__}") from None
            for name in self._columns:
                _number(x.get(name, 0.0), f"feature {name!r}")
            raise

    def _block(self, frame: Any) -> Array:
        """Return a frame as the model has it, (n, d)."""
        names = list(frame.columns)
        if len(set(names)) < len(names):
            raise ValueError(f"X has more than one column {next(n for n in names if names.count(n) > 1)!r}")
        known = [i for i, name in enumerate(names) if name in self._columns]
        block = np.zeros((len(frame), len(self._columns)))
        if known:
            values = (frame if len(known) == len(names) else frame[:, known]).to_numpy()
            if values.dtype.kind not in "biuf":  # columns of several kinds, or of a kind that is no number
                values = np.stack([_numbers(frame[:, i], f"feature {names[i]!r}") for i in known], axis=1)
            block[:, [self._columns[names[i]] for i in known]] = values
        return block

    def _name_what_is_not_finite(self, X: Array) -> None:
        """Raise an error that names the feature, where the core's would give a column."""
        found = np.argwhere(~np.isfinite(X))
        if len(found):
            row, column = found[0]
            where = f" at row {row}" if len(X) > 1 else ""
            raise ValueError(f"feature {list(self._columns)[column]!r} is {X[row, column]}{where}") from None


class _Regressor(_Stream, base.MiniBatchRegressor):
    """A regressor of one target."""

    def learn_one(self, x: Sample, y: float, w: float = 1.0) -> None:
        """Learn a sample: its features, its target and its weight."""
        if type(y) is not float:
            y = _number(y, "y")
        if w == 1.0:
            self._learn_one(x, y)
        else:
            self._learn_one(x, y, self._weight(w))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn a frame of samples as `learn_one` would learn its rows; `w` is one weight for all, or a series of them."""
        series = dataframe.into_series(y)
        self._learn_many(X, _numbers(series, "y"), w=w)
        self._y_name = series.name

    def predict_one(self, x: Sample) -> float:
        """Predict for a sample; 0 before anything was learned."""
        value = self._ask_one(x, self._of.predict_one)
        return 0.0 if value is None else float(value)

    def predict_many(self, X: Any) -> Any:
        """Predict for a frame of samples: a series."""
        frame = dataframe.into_frame(X)
        values = self._ask_many(frame, self._of.predict)
        return dataframe.to_native_series(
            np.zeros(len(frame)) if values is None else values, name=self._y_name, like=frame
        )


class _Classifier(_Stream, base.MiniBatchClassifier):
    """A classifier; classes are met as they come."""

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Sample, y: base.typing.ClfTarget, w: float = 1.0) -> None:
        """Learn a sample: its features, its label and its weight."""
        if type(y) not in _PLAIN_LABELS:
            y = _label(y)
        if w == 1.0:
            self._learn_one(x, y)
        else:
            self._learn_one(x, y, self._weight(w))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn a frame of samples as `learn_one` would learn its rows; `w` is one weight for all, or a series of them."""
        series = dataframe.into_series(y)
        labels = [_label(label) for label in series.to_list()]
        if len({isinstance(label, str) for label in labels}) > 1:
            raise TypeError("y holds both strings and other labels")
        self._learn_many(X, labels, w=w)
        self._y_name = series.name

    def predict_one(self, x: Sample, **kwargs: Any) -> base.typing.ClfTarget | None:
        """Predict the label of a sample; None before anything was learned."""
        label = self._ask_one(x, self._of.predict_one)
        return None if label is None else label.item()

    def predict_many(self, X: Any) -> Any:
        """Predict the labels of a frame of samples: a series."""
        frame = dataframe.into_frame(X)
        labels = self._ask_many(frame, self._of.predict)
        return dataframe.to_native_series(
            [None] * len(frame) if labels is None else labels.tolist(), name=self._y_name, like=frame
        )

    def predict_proba_one(self, x: Sample, **kwargs: Any) -> dict[base.typing.ClfTarget, float]:
        """Return the probability of each label met. Losses that give none (all but the logistic ones) raise NotImplementedError."""
        self._require_probabilities()
        return self._ask_one(x, _probabilities) or {}

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities of the labels for a frame of samples: a frame with a column for each label. Losses that give none raise NotImplementedError."""
        self._require_probabilities()
        frame = dataframe.into_frame(X)
        values = self._ask_many(frame, lambda estimator, block: estimator.predict_proba(block))
        if values is None:
            return dataframe.to_native_frame(np.zeros((len(frame), 0)), columns=[], like=frame)
        columns = dict(zip(self._estimator.classes_.tolist(), values.T, strict=True))
        return dataframe.to_native_frame(columns, like=frame)

    def _require_probabilities(self) -> None:
        loss = getattr(self, "loss", None)
        if loss is None or not losses.resolve(loss, losses.CLASSIFICATION).has_probabilities:
            given = "" if loss is None else f" with loss={loss!r}"
            raise NotImplementedError(f"{type(self).__name__} gives no probabilities{given}")


#: Labels that need no second look.
_PLAIN_LABELS = frozenset({str, bool, int})


def _probabilities(estimator: Any, row: Array) -> dict[Any, float]:
    """Return the probabilities for one row, without what `predict_proba` spends on checks."""
    F = estimator._learner.predict(row[np.newaxis])
    return dict(zip(estimator._met.tolist(), estimator._loss.probabilities(F)[0].tolist(), strict=False))


def _label(y: Any) -> Any:
    """Return a label as a plain Python object."""
    plain = y.item() if isinstance(y, np.generic) else y
    if not isinstance(plain, str | int | float):
        raise TypeError(f"y must be one label (a string, a whole number or a bool), got {y!r}")
    return plain


def _number(value: Any, what: str) -> float:
    """Return a number as a double. Strings are none, though NumPy would read them."""
    try:
        return float(array("d", [value])[0])
    except TypeError:
        raise TypeError(f"{what} must be a number, got {value!r}") from None
    except OverflowError:
        raise ValueError(f"{what} is too large a number") from None


def _numbers(series: Any, what: str) -> Array:
    """Return a series as doubles."""
    values: NDArray[Any] = series.to_numpy()
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([_number(value, what) for value in series.to_list()])


def _in_order(names: Iterable[Hashable]) -> list[Any]:
    """Return names in an order that does not depend on the one they came in."""
    unsorted: list[Any] = list(names)
    try:
        return sorted(unsorted)
    except TypeError:  # of several kinds
        return sorted(unsorted, key=repr)


class KNLMSRegressor(_Regressor, of=parsimon.KNLMSRegressor):
    """Kernel normalised LMS with the coherence criterion: the filter to try first.

    Parameters are those of `parsimon.KNLMSRegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KNLMSRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(KNLMSRegressor(step_size=0.5))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.36
    """


class KRLSRegressor(_Regressor, of=parsimon.KRLSRegressor):
    """Kernel recursive least squares: O(m^2) a sample, and the fewest samples to learn from.

    Parameters are those of `parsimon.KRLSRegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KRLSRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(KRLSRegressor(forgetting=0.99))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.46
    """


class KLMSRegressor(_Regressor, of=parsimon.KLMSRegressor):
    """Kernel LMS, quantised where asked: the simplest of the kernel filters.

    Parameters are those of `parsimon.KLMSRegressor`, without `n_passes`. Without a `budget` or `quantization` every sample is kept.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KLMSRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(KLMSRegressor(quantization=0.5))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.42
    """


class NORMARegressor(_Regressor, of=parsimon.NORMARegressor):
    """NORMA: regularised gradient descent in function space that forgets its oldest terms.

    Parameters are those of `parsimon.NORMARegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import NORMARegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(NORMARegressor(budget=100))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.48
    """


class SPLRegressor(_Regressor, of=parsimon.SPLRegressor):
    """Online gradient descent whose function is projected onto few centres.

    Parameters are those of `parsimon.SPLRegressor`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SPLRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(SPLRegressor(budget=100))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.33
    """


class SOGSVR(_Regressor, of=parsimon.SOGSVR):
    """Sparse online greedy support vector regression.

    Parameters are those of `parsimon.SOGSVR`, without `n_passes`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SOGSVR
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(SOGSVR())
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.6
    """


class POLKRegressor(_Regressor, of=parsimon.POLKRegressor):
    """Kernel regression for any convex loss, with a dictionary only as large as the accuracy asks for.

    Parameters are those of `parsimon.POLKRegressor`, without `n_passes`. With a `batch_size` above 1 a sample of `learn_one` is a small step of its own; `learn_many` cuts a frame into batches.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import POLKRegressor
    >>> model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(POLKRegressor(loss="huber", budget=100))
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> round(error.get(), 2)
    0.33
    """


class POLKClassifier(_Classifier, of=parsimon.POLKClassifier):
    """Kernel SVM or kernel logistic regression, any number of classes, with a dictionary only as large as the accuracy asks for.

    Parameters are those of `parsimon.POLKClassifier`, without `n_passes`, `shuffle` and `random_state`. Only the losses "logistic" and "ovr_logistic" give probabilities.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import POLKClassifier
    >>> model = preprocessing.StandardScaler() | POLKClassifier(loss="logistic", budget=100)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.ROCAUC())
    >>> round(float(score.get()), 2)
    0.95
    """


class BSGDClassifier(_Classifier, of=parsimon.BSGDClassifier):
    """The multi-class kernel SVM by stochastic gradient descent on a budget.

    Parameters are those of `parsimon.BSGDClassifier`, without `n_passes`, `shuffle` and `random_state`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import BSGDClassifier
    >>> model = preprocessing.StandardScaler() | BSGDClassifier(budget=100)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.89
    """


class SOGSVC(_Classifier, of=parsimon.SOGSVC):
    """Sparse online greedy support vector classification.

    Parameters are those of `parsimon.SOGSVC`, without `n_passes`, `shuffle` and `random_state`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import SOGSVC
    >>> model = preprocessing.StandardScaler() | SOGSVC()
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.89
    """


class KernelDictionaryClassifier(_Classifier, of=parsimon.KernelDictionaryClassifier, seeded=True):
    """A kernel dictionary for each class; the one that reconstructs a sample best gives its label.

    Parameters are those of `parsimon.KernelDictionaryClassifier`, without `n_passes` and `shuffle`; `seed` is its `random_state`.

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from parsimon.river import KernelDictionaryClassifier
    >>> model = preprocessing.StandardScaler() | KernelDictionaryClassifier(10, budget=20, step_size=0.1, seed=0)
    >>> score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> round(score.get(), 2)
    0.87
    """


class KernelDictionaryLearning(_Stream, base.MiniBatchTransformer, of=parsimon.KernelDictionaryLearning, seeded=True):
    """Online kernel dictionary learning: samples become sparse codes over atoms in the feature space of a kernel.

    Parameters are those of `parsimon.KernelDictionaryLearning`, without `n_passes` and `shuffle`; `seed` is its `random_state`. `score_one` tells how much of an anomaly a sample is.

    >>> from math import cos, sin
    >>> from parsimon.river import KernelDictionaryLearning
    >>> model = KernelDictionaryLearning(10, gamma=1.0, budget=20, step_size=0.1, seed=0)
    >>> for t in range(2000):
    ...     model.learn_one({"x": cos(t), "y": sin(t)})
    >>> code = model.transform_one({"x": 1.0, "y": 0.0})
    >>> len(code), any(code.values())
    (10, True)
    >>> model.score_one({"x": 0.0, "y": 0.0}) > 5 * model.score_one({"x": 1.0, "y": 0.0})  # the middle of the ring
    True
    """

    n_components: int

    def learn_one(self, x: Sample) -> None:
        """Learn a sample."""
        self._learn_one(x)

    def learn_many(self, X: Any) -> None:
        """Learn a frame of samples as `learn_one` would learn its rows."""
        self._learn_many(X)

    def transform_one(self, x: Sample) -> dict[Hashable, Any]:
        """Return the code of a sample, a number for each atom; all are 0 before anything was learned."""
        names = self._components()
        code = self._ask_one(x, lambda estimator, row: estimator._learner.codes(row[np.newaxis])[0].tolist())
        return dict.fromkeys(names, 0.0) if code is None else dict(zip(names, code, strict=True))

    def transform_many(self, X: Any) -> Any:
        """Return the codes of a frame of samples: a frame with a column for each atom."""
        frame, names = dataframe.into_frame(X), self._components()
        codes = self._ask_many(frame, self._of.transform)
        return dataframe.to_native_frame(
            np.zeros((len(frame), len(names))) if codes is None else codes, columns=names, like=frame
        )

    def score_one(self, x: Sample) -> float:
        """Return the squared error of a sample's reconstruction: the higher, the more of an anomaly. 0 before anything was learned."""
        return self._ask_one(x, lambda estimator, row: float(estimator._learner.errors(row[np.newaxis])[0])) or 0.0

    def _components(self) -> list[str]:
        """Return the names of the atoms, as scikit-learn has them."""
        return [f"{self._of.__name__.lower()}{i}" for i in range(self.n_components)]
