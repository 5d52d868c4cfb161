"""Streaming models of other libraries, with their default settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.linear_model import SGDClassifier, SGDRegressor

from parsimon._extras import install_command
from parsimon.cli.errors import Failure

__all__ = ["LINEAR", "PEERS", "Peer"]


@dataclass(frozen=True)
class Peer:
    """A model of another library: what makes it for each task, and whether it needs River."""

    make: dict[str, Callable[[], Any]]
    river: bool = False

    def require(self) -> None:
        """Fail if its library is not installed."""
        if self.river:
            _river()


def _river() -> Any:
    try:
        from river import forest, linear_model, tree
    except ImportError:
        raise Failure(
            f"this peer is a model of River, which is not installed: {install_command('river')}"
        ) from None
    return forest, tree, linear_model


def _mlp(task: str) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    return (MLPRegressor if task == "regression" else MLPClassifier)(batch_size=1, random_state=0)


LINEAR = Peer(
    {
        "regression": lambda: SGDRegressor(random_state=0),
        "classification": lambda: SGDClassifier(loss="log_loss", random_state=0),
    }
)
_PASSIVE = {"penalty": None, "learning_rate": "pa1", "eta0": 1.0, "random_state": 0}

#: Models of other libraries, by their names for --peer.
PEERS: dict[str, Peer] = {
    "river-forest": Peer(
        {
            "regression": lambda: _river()[0].ARFRegressor(seed=0),
            "classification": lambda: _river()[0].ARFClassifier(seed=0),
        },
        river=True,
    ),
    "river-tree": Peer(
        {
            "regression": lambda: _river()[1].HoeffdingAdaptiveTreeRegressor(seed=0),
            "classification": lambda: _river()[1].HoeffdingAdaptiveTreeClassifier(seed=0),
        },
        river=True,
    ),
    "river-linear": Peer(
        {
            "regression": lambda: _river()[2].LinearRegression(),
            "classification": lambda: _river()[2].SoftmaxRegression(),
        },
        river=True,
    ),
    "sklearn-pa": Peer(
        {
            "regression": lambda: SGDRegressor(loss="epsilon_insensitive", **_PASSIVE),
            "classification": lambda: SGDClassifier(loss="hinge", **_PASSIVE),
        }
    ),
    "sklearn-mlp": Peer(
        {"regression": lambda: _mlp("regression"), "classification": lambda: _mlp("classification")}
    ),
}
