"""A model behind River's interface: samples are dicts, and features come and go."""

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

from parsimon import kernels
from parsimon._extras import install_command

try:
    from river import base
    from river.utils import dataframe
except ImportError as error:
    raise ImportError(f"parsimon.river needs River: {install_command('river')}") from error

__all__ = ["Array", "Sample", "Stream", "base", "dataframe", "in_order", "number", "numbers"]

Array = NDArray[np.float64]
Sample = Mapping[Hashable, Any]

#: Parameters that only concern `fit`.
ONLY_FIT = ("n_passes", "shuffle")


class NoFeature:
    """The name of the one column, always 0, of a model whose first sample had no features."""


class Stream(base.Estimator):
    """A model behind River's interface.

    CONVENTION: `_columns` numbers the features that were met, and `_estimator` has as many columns;
    before the first sample there are none of either.
    """

    _of: ClassVar[type[Any]]  # the scikit-learn class
    _signature: ClassVar[inspect.Signature]
    _weighted: ClassVar[bool]  # whether samples may have weights
    _columns: dict[Hashable, int]
    _estimator: Any

    def __init_subclass__(
        cls, *, of: type[Any] | None = None, seeded: bool = False, **kwargs: Any
    ) -> None:
        """Take the parameters from a scikit-learn class.

        `seeded`: it draws random numbers as it learns, and not for `fit` alone.
        """
        super().__init_subclass__(**kwargs)
        if of is None:
            return
        skipped = ONLY_FIT if seeded else (*ONLY_FIT, "random_state")
        parameters = [
            p for name, p in inspect.signature(of).parameters.items() if name not in skipped
        ]
        own = [p.replace(name="seed") if p.name == "random_state" else p for p in parameters]

        def __init__(self: Stream, *args: Any, **kwargs: Any) -> None:
            Stream.__init__(self, *args, **kwargs)

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
        # As in River, predictions are named after the targets last learned
        self._y_name: str | None = None

    @property
    def estimator(self) -> Any:
        """The scikit-learn estimator that learns, with its columns as in `features`; None before
        the first sample.
        """
        return self._estimator

    @property
    def features(self) -> list[Hashable]:
        """The names of the features that were met, in the order of the model's columns."""
        return [name for name in self._columns if name is not NoFeature]

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes held, those of the model included."""
        return super()._raw_memory_usage + (
            0 if self._estimator is None else int(self._estimator.nbytes_)
        )

    # Learning

    def _begin(self, n_features: int) -> Any:
        """Return an estimator that has learned nothing yet."""
        names = [name for name in self._signature.parameters if name != "self"]
        params = {"random_state" if name == "seed" else name: getattr(self, name) for name in names}
        # Settled here, so that a frame may come first and be learned as its rows
        if kernels.named(params["kernel"]):
            params["gamma"] = kernels.width(params["gamma"], np.zeros((1, n_features)))
        return self._of(**params)

    @contextmanager
    def _room_for(self, names: Iterable[Hashable]) -> Iterator[None]:
        """Begin the model, or give it columns for features it has not met, while it learns them;
        all is taken back if that fails.
        """
        estimator, columns = self._estimator, self._columns
        new = in_order(name for name in names if name not in columns)
        if estimator is None and not new:
            new = [NoFeature]
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
            options["sample_weight"] = self._weight(numbers(dataframe.into_series(w), "w"))
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
        """Return what the estimator says of the rows of a frame; None before the first sample, or
        if there are no rows.
        """
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
        """Return a sample as the model has it, (d,): 0 where a feature is missing, and without
        those it has not met.
        """
        try:
            return np.frombuffer(array("d", [*map(x.get, self._columns, repeat(0.0))]))
        except (AttributeError, TypeError, OverflowError):
            if not isinstance(x, Mapping):
                raise TypeError(f"x must be a dict of features, got {type(x).__name__}") from None
            for name in self._columns:
                number(x.get(name, 0.0), f"feature {name!r}")
            raise

    def _block(self, frame: Any) -> Array:
        """Return a frame as the model has it, (n, d)."""
        names = list(frame.columns)
        if len(set(names)) < len(names):
            raise ValueError(
                f"X has more than one column {next(n for n in names if names.count(n) > 1)!r}"
            )
        known = [i for i, name in enumerate(names) if name in self._columns]
        block = np.zeros((len(frame), len(self._columns)))
        if known:
            values = (frame if len(known) == len(names) else frame[:, known]).to_numpy()
            # Columns of several kinds, or of a kind that is no number
            if values.dtype.kind not in "biuf":
                values = np.stack(
                    [numbers(frame[:, i], f"feature {names[i]!r}") for i in known], axis=1
                )
            block[:, [self._columns[names[i]] for i in known]] = values
        return block

    def _name_what_is_not_finite(self, X: Array) -> None:
        """Raise an error that names the feature, where the core's would give a column."""
        found = np.argwhere(~np.isfinite(X))
        if len(found):
            row, column = found[0]
            where = f" at row {row}" if len(X) > 1 else ""
            raise ValueError(
                f"feature {list(self._columns)[column]!r} is {X[row, column]}{where}"
            ) from None


def number(value: Any, what: str) -> float:
    """Return a number as a double. Strings are none, though NumPy would read them."""
    try:
        return float(array("d", [value])[0])
    except TypeError:
        raise TypeError(f"{what} must be a number, got {value!r}") from None
    except OverflowError:
        raise ValueError(f"{what} is too large a number") from None


def numbers(series: Any, what: str) -> Array:
    """Return a series as doubles."""
    values: NDArray[Any] = series.to_numpy()
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([number(value, what) for value in series.to_list()])


def in_order(names: Iterable[Hashable]) -> list[Any]:
    """Return names in an order that does not depend on the one they came in."""
    unsorted: list[Any] = list(names)
    try:
        return sorted(unsorted)
    except TypeError:  # of several kinds
        return sorted(unsorted, key=repr)
