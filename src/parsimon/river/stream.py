"""Base class of the River models: samples are dicts, and features can appear or be missing."""

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

from parsimon import _docs, kernels
from parsimon._extras import install_command
from parsimon.estimators.krls import USUAL_RIDGE

try:
    from river import base
    from river.conf.interval import Interval
    from river.utils import dataframe
except ImportError as error:
    raise ImportError(f"parsimon.river needs River: {install_command('river')}") from error

__all__ = [
    "Array",
    "Interval",
    "Sample",
    "Stream",
    "base",
    "dataframe",
    "in_order",
    "number",
    "numbers",
]

Array = NDArray[np.float64]
Sample = Mapping[Hashable, Any]

#: Defaults that differ from those of the scikit-learn classes, because streams change.
ON_STREAMS = {"average": False}
#: Parameters that only concern `fit`.
ONLY_FIT = ("n_passes", "shuffle")
#: The text of `gamma`, which has no first block to be computed from.
GAMMA = """\
gamma : float, "scale", "median" or "auto", default={default}
    Inverse width of a kernel that is given by name. The Gaussian kernel is
    exp(-gamma ||x - z||^2); `parsimon.kernels` has the others. Larger values make a narrower
    kernel, which can follow finer detail and needs more centres.

    With d features in the first sample, "scale" and "auto" are 1 / d, and "median" is
    1 / (4 d). This suits standardised features. If `kernel` is an object, set gamma there."""
#: The text of a `ridge` that has no first block to be estimated from.
RIDGE = f"""\
ridge : float >= 0 or "auto", default="auto"
    Factor of the penalty. Larger values shrink f more. "auto" is {USUAL_RIDGE}, because there is no
    first block from which the level of the noise could be estimated."""
#: The text of `seed`, which is the scikit-learn class's `random_state`.
SEED = """\
seed : int, RandomState or None, default=None
    Seed for the random numbers that are drawn while the model learns."""
#: The text of the attributes of all models.
ATTRIBUTES = """\
estimator : object or None
    The scikit-learn estimator that learns, with columns in the order of `features`. It has
    `centers_`, `weights_`, `n_centers_` and so on. None before the first sample.
features : list
    Names of the features seen, in the order of the columns."""


class NoFeature:
    """The name of the only column, always 0, of a model whose first sample had no features."""


class Stream(base.Estimator):
    """A scikit-learn estimator behind River's interface.

    CONVENTION: `_columns` numbers the features seen, and `_estimator` has as many columns. Before
    the first sample both are empty.
    """

    _of: ClassVar[type[Any]]  # the scikit-learn class
    _signature: ClassVar[inspect.Signature]
    _weighted: ClassVar[bool]  # whether samples can have weights
    _columns: dict[Hashable, int]
    _estimator: Any

    def __init_subclass__(
        cls, *, of: type[Any] | None = None, seeded: bool = False, **kwargs: Any
    ) -> None:
        """Take the parameters and their texts from a scikit-learn class.

        `seeded`: the estimator draws random numbers while it learns, not only in `fit`.
        """
        super().__init_subclass__(**kwargs)
        if of is None:
            return
        skipped = ONLY_FIT if seeded else (*ONLY_FIT, "random_state")
        parameters = [
            p for name, p in inspect.signature(of).parameters.items() if name not in skipped
        ]
        parameters = [p.replace(default=ON_STREAMS.get(p.name, p.default)) for p in parameters]
        own = [p.replace(name="seed") if p.name == "random_state" else p for p in parameters]

        def __init__(self: Stream, *args: Any, **kwargs: Any) -> None:
            Stream.__init__(self, *args, **kwargs)

        # River reads the parameters from the signature of __init__.
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        signature = inspect.Signature([itself, *own], return_annotation=None)
        __init__.__signature__ = signature  # type: ignore[attr-defined]
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = __init__  # type: ignore[method-assign]
        cls._of, cls._signature = of, signature
        cls._weighted = has_fit_parameter(of, "sample_weight")
        cls._document([p.name for p in own])

    @classmethod
    def _document(cls, parameters: list[str]) -> None:
        """Fill the sections of the docstring, from those of the scikit-learn class."""
        if cls.__doc__ is None or cls._of.__doc__ is None:  # python -OO
            return
        given = _docs.sections(cls._of.__doc__)
        defaults = {p.name: p.default for p in cls._signature.parameters.values()}
        known = {**_docs.entries(given["Parameters"]), "seed": SEED}
        known["gamma"] = GAMMA.format(default=f'"{defaults.get("gamma")}"')
        if defaults.get("ridge") == "auto":
            known["ridge"] = RIDGE
        for name in ON_STREAMS.keys() & known.keys():
            first, *rest = known[name].split("\n")
            first = first[: first.index("default=")] + f"default={ON_STREAMS[name]}"
            known[name] = "\n".join([first, *rest])
        parts = {
            "Parameters": "\n".join(known[name] for name in parameters),
            "Attributes": ATTRIBUTES,
            "References": given["References"],
        }
        text = "\n\n".join(f"{name}\n{'-' * len(name)}\n{part}" for name, part in parts.items())
        cls.__doc__ = _docs.filled(cls.__doc__, {"sections": text})

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
        # As in River, predictions have the name of the targets last learned
        self._y_name: str | None = None

    @property
    def estimator(self) -> Any:
        """The scikit-learn estimator that learns, with columns in the order of `features`.

        It is None before the first sample.
        """
        return self._estimator

    @property
    def features(self) -> list[Hashable]:
        """Names of the features seen, in the order of the model's columns."""
        return [name for name in self._columns if name is not NoFeature]

    @property
    def _raw_memory_usage(self) -> int:
        """Memory in bytes, including the memory of the C++ core."""
        return super()._raw_memory_usage + (
            0 if self._estimator is None else int(self._estimator.nbytes_)
        )

    # Learning

    def _begin(self, n_features: int) -> Any:
        """Return an estimator that has not learned anything."""
        names = [name for name in self._signature.parameters if name != "self"]
        params = {"random_state" if name == "seed" else name: getattr(self, name) for name in names}
        # gamma and ridge are set here, so that a frame that comes first equals a loop over its
        # rows. The kernel is a parameter, or that of all models of the class.
        name = kernels.named(params.get("kernel", getattr(self._of, "kernel", None)))
        if name:
            metric = kernels.KERNELS[name].metric
            params["gamma"] = kernels.width(params["gamma"], np.zeros((1, n_features)), metric)
        if params.get("ridge") == "auto":
            params["ridge"] = USUAL_RIDGE
        return self._of(**params)

    @contextmanager
    def _room_for(self, names: Iterable[Hashable]) -> Iterator[None]:
        """Start the model, or add columns for new features, before the model learns them.

        If learning fails, everything is restored.
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
        """Learn a sample; `target` are the further arguments of the estimator's `learn_one`."""
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
        """Learn a frame; `target` are the further arguments of the estimator's `partial_fit`."""
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
        """Return the weights, or raise an error if the model does not support weights."""
        if not self._weighted:
            raise TypeError(f"{type(self).__name__} does not support weights: w must be 1")
        return w

    # Predicting

    def _ask_one(self, x: Sample, ask: Callable[[Any, Array], Any]) -> Any:
        """Return the estimator's answer for a sample; None before the first sample is learned."""
        row = self._row(x)
        if self._estimator is None:
            return None
        try:
            return ask(self._estimator, row)
        except ValueError:
            self._name_what_is_not_finite(row[np.newaxis])
            raise

    def _ask_many(self, frame: Any, ask: Callable[[Any, Array], Any]) -> Any:
        """Return the estimator's answer for a frame.

        It is None before the first sample is learned, or if there are no rows.
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
        """Return a sample as a row (d,): 0 for missing features, without unknown features."""
        try:
            return np.frombuffer(array("d", [*map(x.get, self._columns, repeat(0.0))]))
        except (AttributeError, TypeError, OverflowError):
            if not isinstance(x, Mapping):
                raise TypeError(f"x must be a dict of features, got {type(x).__name__}") from None
            for name in self._columns:
                number(x.get(name, 0.0), f"feature {name!r}")
            raise

    def _block(self, frame: Any) -> Array:
        """Return a frame as an array (n, d)."""
        names = list(frame.columns)
        if len(set(names)) < len(names):
            raise ValueError(
                f"X has more than one column {next(n for n in names if names.count(n) > 1)!r}"
            )
        known = [i for i, name in enumerate(names) if name in self._columns]
        block = np.zeros((len(frame), len(self._columns)))
        if known:
            values = (frame if len(known) == len(names) else frame[:, known]).to_numpy()
            # Columns of different types, or that are not numbers
            if values.dtype.kind not in "biuf":
                values = np.stack(
                    [numbers(frame[:, i], f"feature {names[i]!r}") for i in known], axis=1
                )
            block[:, [self._columns[names[i]] for i in known]] = values
        return block

    def _name_what_is_not_finite(self, X: Array) -> None:
        """Raise an error that names the feature. The core's error has only a column number."""
        found = np.argwhere(~np.isfinite(X))
        if len(found):
            row, column = found[0]
            where = f" at row {row}" if len(X) > 1 else ""
            raise ValueError(
                f"feature {list(self._columns)[column]!r} is {X[row, column]}{where}"
            ) from None


def number(value: Any, what: str) -> float:
    """Return a number as a float. Strings raise an error, although NumPy would convert them."""
    try:
        return float(array("d", [value])[0])
    except TypeError:
        raise TypeError(f"{what} must be a number, got {value!r}") from None
    except OverflowError:
        raise ValueError(f"{what} is too large for a float") from None


def numbers(series: Any, what: str) -> Array:
    """Return a series as an array of float64."""
    values: NDArray[Any] = series.to_numpy()
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([number(value, what) for value in series.to_list()])


def in_order(names: Iterable[Hashable]) -> list[Any]:
    """Return names in an order that does not depend on the order given."""
    unsorted: list[Any] = list(names)
    try:
        return sorted(unsorted)
    except TypeError:  # of different types
        return sorted(unsorted, key=repr)
