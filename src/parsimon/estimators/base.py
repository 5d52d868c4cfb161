"""What every estimator that learns from a stream shares."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from parsimon import _core, _schema, _threads, kernels, merging
from parsimon._parts import numbers, whole
from parsimon._schema import Schema
from parsimon.persistence import Storable

if TYPE_CHECKING:
    from parsimon.algorithms import Recipe

Array = NDArray[np.float64]


#: Parameters of an estimator that its algorithm does not know.
NOT_THE_ALGORITHMS = (
    "kernel",
    "gamma",
    "bias",
    "class_weight",
    "n_passes",
    "shuffle",
    "random_state",
)


#: The most features of a stored model, and the most outputs of one without centres to show for
#: them.
MOST_FEATURES, MOST_OUTPUTS = 2**40, 10**6
#: What every model over a learner holds once it has learned.
FITTED = Schema(
    needed={
        "n_features_in_": _schema.whole(1, MOST_FEATURES),
        "kernel_": _schema.is_kernel,
        "_learns_with": _schema.one_of(dict),
        "_learned": _schema.one_of(tuple, dict),
    },
    allowed={
        "feature_names_in_": _schema.is_labels,
        "_sklearn_output_config": _schema.mapped(_schema.one_of(str), _schema.one_of(str)),
    },
)


class StreamEstimator(Storable, BaseEstimator):  # type: ignore[misc]
    """An estimator over one learner.

    A subclass names its algorithm and its parameters: `kernel`, `gamma`, `n_passes` and those of
    the algorithm, under the same names.
    """

    kernel: Any
    gamma: float | str
    n_passes: int
    budget: int | None
    _learns_with: dict[str, Any]
    _algorithm: Callable[..., Recipe]
    _learner: _core.Learner
    _attributes: ClassVar[Schema] = FITTED

    # What has been learned

    @property
    def centers_(self) -> Array:
        """The centres, oldest first, (m, d)."""
        return self._fitted().centers()

    @property
    def weights_(self) -> Array:
        """The weights of the centres, (m,) or (m, C)."""
        return self._fitted().weights()

    @property
    def n_centers_(self) -> int:
        """How many centres there are, m."""
        return self._fitted().n_centers

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were learned, every pass counted."""
        return self._fitted().n_samples_seen

    @property
    def nbytes_(self) -> int:
        """Bytes that the model holds, working memory included.

        A model that was loaded holds what the file had; the rest of its budget is reserved when it
        next learns.
        """
        return self._fitted().nbytes

    # As functions

    def norm(self) -> float:
        """Return ||f|| in the RKHS, the outputs' squares summed."""
        return merging.norm(self)

    def distance(self, other: Any) -> float:
        """Return ||f - g|| in the RKHS, the outputs' squares summed: with g an earlier copy, an
        honest sign of drift. |f(x) - g(x)| is at most that times sqrt(k(x, x)).
        """
        return merging.distance(self, other)

    def compress(
        self,
        budget: int | None = None,
        *,
        tolerance: float | None = None,
        n_jobs: int | None = None,
    ) -> merging.Merged:
        """Project out the centres without which f moves least, as long as it stays within
        `tolerance` (a norm) or there are more than `budget`, and return what that came to.

        Works for every estimator, whatever rule it learns with, and once: `set_budget` is for what
        comes after, where the estimator has a rule for it. What is kept besides f goes on as
        `merge` says. `n_jobs` threads compute it (-1: one for each core).
        """
        done = merging.compress(self, budget, tolerance, n_jobs)
        self._learner = done.model._learner
        return replace(done, model=self)

    # Making room

    def set_budget(self, budget: int) -> Self:
        """Hold at most `budget` centres from now on; those beyond it leave at once, by the
        estimator's own rule.

        So a model can learn with room to choose from, and then be brought down to what there is to
        be room for, at once or by and by: what is left of a large dictionary is better than what a
        small one came to hold. The parameter `budget` is set to it, for later `fit`s too; memory
        once taken stays taken. Not every model can take one: not those that began without a budget
        and keep no record of what a removal costs, nor those whose budget is not kept by removing
        centres.
        """
        learner = self._fitted()
        if "budget" not in self._learns_with:
            raise TypeError(f"{type(self).__name__} has no budget")
        self._require_unchanged(but="budget")
        before, after = (
            self._recipe({**self._learns_with, "budget": b})
            for b in (self._learns_with["budget"], budget)
        )
        if (
            after.compression.budget is None
            or replace(after, compression=before.compression) != before
        ):
            raise ValueError(
                f"{type(self).__name__} cannot be given budget={budget!r} after learning began: its budget is not kept by removing centres; call fit to start afresh"
            )
        learner.compress_by(after.compression.core(), after.reserve)
        self.budget = budget
        self._learns_with = {**self._learns_with, "budget": budget}
        return self

    # How it is done

    @abstractmethod
    def _first_targets(self, y: ArrayLike, n: int, *, all_at_once: bool) -> tuple[Array, int]:
        """Return the targets of a first block as the core takes them, (n, T), and how many outputs
        they ask for; `fit` sees all there are at once.
        """

    @abstractmethod
    def _more_targets(self, y: ArrayLike, n: int) -> tuple[Array, int]:
        """Return the targets of a later block, and how many outputs there are with it."""

    def _resolve_kernel(self, X: Array) -> kernels.Kernel:
        """Return the kernel that the parameters mean, given the first block."""
        return kernels.resolve(self.kernel, self.gamma, X)

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the algorithm, given those of the estimator."""
        return {k: v for k, v in params.items() if k not in NOT_THE_ALGORITHMS}

    def _recipe(self, params: dict[str, Any]) -> Recipe:
        return self._algorithm(self.kernel_, **self._options(params))

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle and copy keep: all that it takes to go on as if nothing had happened."""
        while True:
            learner = getattr(self, "_learner", None)
            learned = None if learner is None else self._state_of(learner)
            state: dict[str, Any] = dict(super().__getstate__())
            # No other thread put another model in its place
            if state.pop("_learner", None) is learner:
                break
        if learned is not None:
            state["_learned"] = learned
        return state

    @staticmethod
    def _state_of(learner: _core.Learner) -> tuple[Any, ...]:
        """Return the sizes of a learner and its state, which belong together while another thread
        adds outputs.
        """
        while True:
            n_outputs = learner.n_outputs
            state = learner.state()
            if learner.n_outputs == n_outputs:
                return learner.n_features, n_outputs, *state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        state = dict(state)
        learned = state.pop("_learned", None)
        super().__setstate__(state)
        if learned is not None:
            n_features, n_outputs, arrays, counts = learned
            held = arrays.get("dictionary.weights", np.empty(0))
            whole("n_features", n_features, at_least=1, at_most=MOST_FEATURES)
            whole("n_outputs", n_outputs, at_least=1, at_most=max(MOST_OUTPUTS, np.size(held)))
            learner = self._recipe(self._learns_with).build(n_features, n_outputs, at_once=False)
            learner.restore(arrays, counts)
            self._learner = learner

    def _require_sound(self) -> None:
        if not hasattr(self, "_learner"):
            return
        require_names(self)
        if self._learner.n_features != self.n_features_in_:
            raise ValueError(
                f"it is of {self.n_features_in_} features, and its centres of {self._learner.n_features}"
            )
        began = type(self)(**self._learns_with)
        if not kernels.agrees(self.kernel_, began.kernel, began.gamma, began._settled):
            raise ValueError(f"its kernel {self.kernel_!r} is not what its parameters say")
        self._learner.require_sound()

    def _settled(self, kernel: Any, gamma: float | str) -> kernels.Kernel:
        """Return the kernel that parameters mean, where no first block is needed."""
        self.kernel, self.gamma = kernel, gamma
        return self._resolve_kernel(np.zeros((1, 1)))

    def _widen(self, n_features: int) -> None:
        """Make room for further features, which were 0 in all that was seen so far: f stays as it
        was.
        """
        learner = self._fitted()
        arrays, counts = learner.state()
        wider = self._recipe(self._learns_with).build(n_features, learner.n_outputs)
        wider.restore(
            with_wider_points(self.kernel_, arrays, learner.n_features, n_features), counts
        )
        self._learner, self.n_features_in_ = wider, n_features

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        n_passes = whole("n_passes", self.n_passes, at_least=1)
        with self._unchanged_on_error():
            X, Y, n_outputs = self._begin(X, y, all_at_once=True)
            weights = self._weights(y, sample_weight, len(X))
            if weights is not None and not weights.any():
                raise ValueError("every sample_weight is zero: there is nothing to learn")
            if getattr(self, "shuffle", False):
                # Rows are named by the places they have in X
                self._learner.check(X, Y, weights, n_outputs)
            for order in self._orders(len(X), n_passes):
                rows = slice(None) if order is None else order
                self._learner.learn(
                    X[rows], Y[rows], None if weights is None else weights[rows], n_outputs
                )
        return self

    def _orders(self, n: int, n_passes: int) -> Iterator[NDArray[np.int64] | None]:
        """Yield the order of the rows in each pass of `fit`; None is the order they have."""
        rng = check_random_state(getattr(self, "random_state", None))
        for _ in range(n_passes):
            yield rng.permutation(n) if getattr(self, "shuffle", False) else None

    def _partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        with self._unchanged_on_error():
            X, Y, n_outputs = self._block(X, y)
            self._learner.learn(X, Y, self._weights(y, sample_weight, len(X)), n_outputs)
        return self

    def _before_and_learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Array:
        """Learn a block and return f (n, C) as it was before each row."""
        with self._unchanged_on_error():
            X, Y, n_outputs = self._block(X, y)
            return self._learner.predict_then_learn(
                X, Y, self._weights(y, sample_weight, len(X)), n_outputs
            )

    def _evaluate(self, X: ArrayLike, n_jobs: int | None = None) -> Array:
        """Return f (n, C)."""
        check_is_fitted(self)
        return self._learner.predict(self._validated(X, reset=False), _threads.count(n_jobs))

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there is a model."""
        return hasattr(self, "_learner")

    def _fitted(self) -> _core.Learner:
        check_is_fitted(self)
        return self._learner

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Put every attribute back if the block fails.

        (The learner itself checks a block before it learns from it.)

        What was learned before an interrupt stays, and with it the outputs that the block added.
        """
        learner = getattr(self, "_learner", None)
        n_outputs = None if learner is None else learner.n_outputs
        with unchanged_on_error(
            self,
            lambda: (
                learner is not None and self._learner is learner and learner.n_outputs != n_outputs
            ),
        ):
            yield

    def _begin(self, X: ArrayLike, y: ArrayLike, *, all_at_once: bool) -> tuple[Array, Array, int]:
        X = self._validated(X, reset=True)
        _core.require_finite(X, "X")  # before the kernel's width is measured on it
        Y, n_outputs = self._first_targets(y, len(X), all_at_once=all_at_once)
        self.kernel_ = self._resolve_kernel(X)
        self._learns_with = {
            k: dict(v) if isinstance(v, dict) else v for k, v in self.get_params(deep=False).items()
        }
        self._learner = self._recipe(self._learns_with).build(X.shape[1], n_outputs)
        return X, Y, n_outputs

    def _block(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array, int]:
        if not hasattr(self, "_learner"):
            return self._begin(X, y, all_at_once=False)
        self._require_unchanged()
        X = self._validated(X, reset=False)
        Y, n_outputs = self._more_targets(y, len(X))
        return X, Y, n_outputs

    def _weights(self, y: ArrayLike, sample_weight: ArrayLike | None, n: int) -> Array | None:
        """Return the weights of a block, (n,), or None where all are 1.

        The core says which of them can be used.
        """
        if sample_weight is None:
            return None
        weights = numbers(
            sample_weight, "sample_weight", lambda w: np.ascontiguousarray(w, dtype=np.float64)
        )
        if weights.shape != (n,):
            raise ValueError(f"sample_weight must have shape ({n},), got {weights.shape}")
        return weights

    def _require_unchanged(self, but: str | None = None) -> None:
        """Refuse parameters that are not those that learning began with."""
        require_unchanged(self, self._learns_with, but)

    def _validated(self, X: ArrayLike, *, reset: bool) -> Array:
        return points(self, X, reset=reset)


def points(model: BaseEstimator, X: ArrayLike, *, reset: bool) -> Array:
    """Return X as a model takes it, (n, d).

    NaN and infinity are the core's to find: it names row and column.
    """
    result: Array = numbers(
        X,
        "X",
        lambda X: validate_data(
            model, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False
        ),
    )
    return result


def require_names(model: Any) -> None:
    """Raise a ValueError unless a model that has names of features has one for each."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and (
        len(names) != model.n_features_in_ or not all(isinstance(n, str) for n in names)
    ):
        raise ValueError(f"its names are not those of {model.n_features_in_} features")


@contextmanager
def unchanged_on_error(model: Any, keeps: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Put every attribute of a model back if the block fails, and what was drawn from its random
    states, unless `keeps()`.
    """
    before = model.__dict__.copy()
    drawn = [
        (rng, rng.get_state()) for rng in before.values() if isinstance(rng, np.random.RandomState)
    ]
    try:
        yield
    except BaseException:
        if not keeps():
            model.__dict__.update(before)
            for name in model.__dict__.keys() - before.keys():
                del model.__dict__[name]
            for rng, state in drawn:
                rng.set_state(state)
        raise


def require_unchanged(
    model: BaseEstimator, learns_with: dict[str, Any], but: str | None = None
) -> None:
    """Refuse parameters of a model that are not those that learning began with."""
    for name, value in model.get_params(deep=False).items():
        used = learns_with[name]
        if name != but and value is not used and value != used:
            raise ValueError(
                f"{name} was {used!r} when learning began and is {value!r} now: call fit to start afresh with it"
            )


def with_wider_points(
    kernel: kernels.Kernel, arrays: dict[str, Array], n_features: int, wider: int
) -> dict[str, Array]:
    """Return the arrays of a state with zeros appended to every centre, which changes no distance
    and no inner product.
    """
    if _calls_python(kernel):
        raise TypeError(
            "the kernel is a Python function, and what that makes of further features cannot be known: let the first sample have all of them"
        )
    points = arrays["dictionary.points"].reshape(-1, n_features)
    return {
        **arrays,
        "dictionary.points": np.pad(points, ((0, 0), (0, wider - n_features))).ravel(),
    }


def _calls_python(kernel: kernels.Kernel) -> bool:
    return isinstance(kernel, kernels.Function) or any(
        _calls_python(part) for part in vars(kernel).values() if isinstance(part, kernels.Kernel)
    )


def one_row(x: ArrayLike, what: str, shape: str) -> Array:
    """Return one sample as a row of doubles, or raise an error that says what was wrong."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64:
        return np.ascontiguousarray(x)
    given = numbers(x, what, np.asarray)
    if given.dtype.kind == "O" and not all(
        isinstance(value, Real) for value in given.ravel().tolist()
    ):
        raise TypeError(f"{what} must hold numbers, got {x!r}")
    if given.ndim > 1 or (what == "x" and given.ndim == 0):
        raise ValueError(f"{what} must be one sample of shape {shape}, got shape {given.shape}")
    return numbers(
        given, what, lambda row: np.atleast_1d(np.ascontiguousarray(row, dtype=np.float64))
    )
