"""The learned state of a model: its sizes, its copies, and what happens to it after an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from parsimon import _core

__all__ = ["LearnerPerClass", "OneDictionary", "OneLearner", "unchanged_on_error"]

Array = NDArray[np.float64]
Core = TypeVar("Core", _core.Learner, _core.Atoms, _core.Filter)
Centred = TypeVar("Centred", _core.Learner, _core.Atoms)
T = TypeVar("T")


class _Learned(Generic[Core]):
    """A model over one or several learners of the core.

    A subclass or another base has `_unpacked`, which returns a learner with a given state.
    """

    _unpacked: Callable[[Any], Core]

    def _of_each(self, what: Callable[[Core], T]) -> list[T]:
        """Return a value of each learner, all at one moment."""
        raise NotImplementedError

    def _packed(self, learner: Core) -> Any:
        """Return the state of a learner."""
        return learner.state()

    def _take(self, learned: Any) -> None:
        """Restore the learners from the state that `__getstate__` returned."""
        raise NotImplementedError

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state."""
        state = dict(state)
        learned = state.pop("_learned", None)
        super().__setstate__(state)  # type: ignore[misc]
        if learned is not None:
            self._take(learned)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learned; every pass counts."""
        return sum(self._of_each(lambda learner: learner.n_samples_seen))

    @property
    def nbytes_(self) -> int:
        """Memory of the model in bytes, including working memory.

        A loaded model has only the memory that its file needs. The rest of its budget is reserved
        when it next learns.
        """
        return sum(self._of_each(lambda learner: learner.nbytes))


class OneLearner(_Learned[Core]):
    """A model over one learner."""

    _learner: Core

    def _of_each(self, what: Callable[[Core], T]) -> list[T]:
        return [what(self._fitted())]

    def _fitted(self) -> Core:
        if not hasattr(self, "_learner"):
            check_is_fitted(self)
        return self._learner

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model is fitted."""
        return hasattr(self, "_learner")

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy, with which learning continues bit for bit."""
        while True:
            learner = getattr(self, "_learner", None)
            learned = None if learner is None else self._packed(learner)
            state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
            # Repeat if another thread replaced the model meanwhile
            if state.pop("_learner", None) is learner:
                break
        if learned is not None:
            state["_learned"] = learned
        return state

    def _take(self, learned: Any) -> None:
        self._learner = self._unpacked(learned)


class OneDictionary(OneLearner[Centred]):
    """A model over one learner with a dictionary."""

    @property
    def centers_(self) -> Array:
        """Centres, oldest first, (m, d)."""
        return self._fitted().centers()

    @property
    def n_centers_(self) -> int:
        """Number of centres m."""
        return self._fitted().n_centers


class LearnerPerClass(_Learned[Centred]):
    """A model over one learner per class.

    CONVENTION: `_learners` has the label of each class and its learner. Together they are one
    state. A lock is held while any of them learns, and while all of them are read.
    """

    classes_: NDArray[Any]
    _learners: dict[Any, Centred]
    _lock: RLock

    @property
    def n_centers_(self) -> NDArray[np.int64]:
        """Number of centres of each class, (C,)."""
        return np.array(self._of_each(lambda learner: learner.n_centers))

    def _of_each(self, what: Callable[[Centred], T]) -> list[T]:
        """Return a value of each learner, in the order of `classes_`."""
        check_is_fitted(self)
        with self._lock:
            return [what(self._learners[label]) for label in self.classes_.tolist()]

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """Hold the lock while the model learns. If learning fails, nothing changes."""
        with self.__dict__.setdefault("_lock", RLock()), unchanged_on_error(self):
            yield

    def _reading(self) -> AbstractContextManager[Any]:
        """Return the lock, if the model has begun to learn."""
        return getattr(self, "_lock", nullcontext())

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model is fitted."""
        return hasattr(self, "_learners")

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle and copy, with which learning continues bit for bit."""
        with self._reading():
            state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
            state.pop("_lock", None)
            learners = state.pop("_learners", None)
            if learners is not None:
                state["_learned"] = {label: self._packed(one) for label, one in learners.items()}
        return state

    def _take(self, learned: Any) -> None:
        self._lock = RLock()
        self._learners = {label: self._unpacked(one) for label, one in learned.items()}


@contextmanager
def unchanged_on_error(model: Any, keeps: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Restore every attribute of a model and its random states if the block fails.

    If `keeps()` is true, nothing is restored.
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
