"""Learn nonlinear functions from data streams with kernels, in a fixed amount of memory.

>>> import numpy as np
>>> from parsimon import KNLMSRegressor
>>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
>>> model = KNLMSRegressor("gaussian", gamma=1.0, step_size=0.5)
>>> model = model.partial_fit(X, np.sin(X[:, 0]))
>>> model.n_centers_
6
>>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.05)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from parsimon._homes import MODULES, PUBLIC, home_of

if TYPE_CHECKING:
    from parsimon import (
        admission,
        algorithms,
        compression,
        datasets,
        diagnostics,
        kernels,
        losses,
        updates,
    )
    from parsimon.dictionary_learning import *  # noqa: F403
    from parsimon.estimators import *  # noqa: F403
    from parsimon.merging import Merged as Merged
    from parsimon.merging import merge as merge
    from parsimon.persistence import ModelFileError as ModelFileError
    from parsimon.persistence import load as load

__version__ = "0.1.0.dev0"

__all__ = [
    "admission",
    "algorithms",
    "compression",
    "datasets",
    "diagnostics",
    "kernels",
    "losses",
    "updates",
    *(name for names in PUBLIC.values() for name in names),
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import parsimon`` is quick."""
    if name in MODULES:
        value: Any = import_module(f"parsimon.{name}")
    elif name in __all__ and (home := home_of(name)) is not None:
        value = getattr(import_module(home), name)
    else:
        raise AttributeError(f"module 'parsimon' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted([*__all__, "__version__"])
