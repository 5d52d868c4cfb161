"""Which classes a file can name, and the checks of a state before it becomes a model."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from parsimon import _homes, _schema

__all__ = ["further_parts", "is_model", "restored", "state_of", "stored_class", "stored_names"]

#: Parameters that were added after the first files, with the values that change nothing.
LATER: dict[str, Any] = {
    "class_weight": None,
    "penalty": "values",
    "eviction": "refit",
    "fit_intercept": False,
    "target_scale": 1.0,
    "step": "explicit",
    "maintenance": "projection",
    "neighbors": 0,
    "shuffle": False,
    "random_state": None,
    "n_jobs": None,
    "intervals": None,
}
#: Attributes that a class builds from its state. A file must not set them.
BUILT = ("_learner", "_learners")


def stored_class(name: object) -> type[Any] | None:
    """Return the class that a file calls `name`, or None if there is none.

    The class is imported from the module that `parsimon._homes` names. So `persistence` does not
    import modules of models, which themselves import `persistence`.

    >>> stored_class("KNLMSRegressor").__name__, stored_class("merge"), stored_class("Unknown")
    ('KNLMSRegressor', None, None)
    """
    home = _homes.home_of(name) if isinstance(name, str) else None
    if home is None:
        return None
    found = getattr(import_module(home), str(name))
    return found if isinstance(found, type) and hasattr(found, "_attributes") else None


def stored_names() -> list[str]:
    """Return the names of all classes that can be stored."""
    return [name for name in _homes.names() if stored_class(name) is not None]


def further_parts() -> dict[str, type[Any]]:
    """Return the parts of parameters that higher modules define, by module and name."""
    return {
        f"{home}.{name}": getattr(import_module(f"parsimon.{home}"), name)
        for home, names in _homes.PARTS.items()
        for name in names
    }


def is_model(value: Any) -> bool:
    """Return whether a value is a model that can be stored. Subclasses cannot be stored."""
    return stored_class(type(value).__name__) is type(value)


def state_of(model: Any) -> dict[str, Any]:
    """Return the state of a model for a file. Attributes that could not be loaded are rejected."""
    state = {k: v for k, v in model.__getstate__().items() if k != "_sklearn_version"}
    known = {*type(model)._get_param_names(), *model._attributes.needed, *model._attributes.allowed}
    for name in state.keys() - known:
        value = state[name].item() if isinstance(state[name], np.generic) else state[name]
        if name.startswith("_") or not _schema.is_plain(value):
            raise TypeError(
                f"{name} cannot be stored in a file: it is no attribute of a {type(model).__name__}"
            )
    return state


def restored(cls: type[Any], state: Any) -> Any:
    """Return the model of a class with this state, or raise an error that says what is wrong."""
    cls = cls._stored_as(state) if hasattr(cls, "_stored_as") else cls
    names = set(cls._get_param_names())
    _require_parameters(cls, names, state)
    # A file holds data. It must not replace what the class defines or builds itself.
    for attribute in state:
        if attribute in BUILT or (attribute != "_learned" and hasattr(cls, attribute)):
            raise ValueError(f"it would replace {attribute}")
    for parameters in (state, state.get("_learns_with", {})):
        for name in names & parameters.keys():
            if not _schema.is_plain(parameters[name], cls._other_parameters):
                raise ValueError(f"its parameter {name} is not what it must be")
    cls._attributes.check({k: v for k, v in state.items() if k not in names})
    rng = state.get("random_state")
    if isinstance(rng, np.random.RandomState) and "_learns_with" in state:
        state["_learns_with"]["random_state"] = rng  # one object, as before it was stored
    model: Any = object.__new__(cls)
    model.__setstate__(state)
    model._require_sound()
    return model


def _require_parameters(cls: type[Any], names: set[str], state: Any) -> None:
    """Raise a ValueError unless all parameters are there. Parameters in `LATER` are filled in."""
    for parameters in (state, state["_learns_with"]) if "_learns_with" in state else (state,):
        if not isinstance(parameters, dict):
            raise ValueError("its parameters are not those of the model")
        for name in LATER.keys() & names:
            parameters.setdefault(name, LATER[name])
        if not names <= parameters.keys() or (
            parameters is not state and parameters.keys() != names
        ):
            raise ValueError("its parameters are not those of the model")
