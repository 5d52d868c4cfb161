"""Several expansions over one row, and the formula that combines them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from parsimon.export.expansion import Array, Expansion, Label
from parsimon.export.lags import Lag, Units

if TYPE_CHECKING:
    from parsimon.export.onnx.graph import Graph

__all__ = ["Combination", "Combiner", "Expert", "Standardisation", "Statements"]


class Statements(Protocol):
    """What a combiner needs from the C header around it. Each method returns text of C.

    The statements may use `each[k][c]`, output c of expert k, and must set `out[c]`.
    """

    #: The number type, and the macros for the numbers of experts and of outputs.
    real: str
    n_experts: str
    n_outputs: str

    def number(self, value: float) -> str:
        """Return a number."""

    def table(self, what: str, values: Array) -> str:
        """Add a constant table (n,), and return its name."""

    def library_function(self, what: str) -> str:
        """Return the name of a function of the C library, such as "exp"."""

    @property
    def lags(self) -> str:
        """The array of the inputs of lags."""


class Combiner(Protocol):
    """The formula that makes one result of the outputs of all experts, in each format.

    An output of an expert is its prediction, or its probabilities if it is a classifier.
    """

    def onnx(self, g: Graph, each: Sequence[str], lags: str) -> str:
        """Write nodes, and return the name of the result (n, C).

        `each` has the name of the output (n, C) of each expert. `lags` is the name of the inputs of
        all lags, (n, l), or empty if there are none.
        """

    def c(self, c: Statements) -> list[str]:
        """Return the statements that set `out[c]` from `each[k][c]`."""


@dataclass(frozen=True)
class Expert:
    """An expansion over some inputs of a row. `takes` are their indices; None means all."""

    expansion: Expansion
    takes: tuple[int, ...] | None = None

    @property
    def takes_first(self) -> bool:
        """Whether it takes the first inputs of a row, or all."""
        return self.takes is None or self.takes == tuple(range(len(self.takes)))

    def taking(self, inputs: Sequence[int]) -> Expert:
        """Return it over rows of some of the inputs, in this order."""
        if self.takes is None:
            return replace(self, expansion=self.expansion.taking(inputs))
        place = {old: new for new, old in enumerate(inputs)}
        kept = [i for i, old in enumerate(self.takes) if old in place]
        kept.sort(key=lambda i: place[self.takes[i]])  # type: ignore[index]
        return Expert(self.expansion.taking(kept), tuple(place[self.takes[i]] for i in kept))


@dataclass(frozen=True)
class Standardisation:
    """Features in units of deviations: (x - mean) / deviation, clipped. 0 without deviation."""

    means: Array  # (d,)
    deviations: Array  # (d,)
    clip: float

    def taking(self, inputs: Sequence[int]) -> Standardisation:
        """Return it for some of the features, in this order."""
        return replace(
            self, means=self.means[list(inputs)], deviations=self.deviations[list(inputs)]
        )


@dataclass(frozen=True)
class Combination:
    """A fitted mixture as plain data: experts over one row, and a combiner.

    A row has `n_features` features, which may be standardised. The inputs of lags follow them. A
    lag is an earlier target, which is an input of its own with its own name. Experts take some of
    these `n_inputs` inputs.

    Without `classes`, `units` say how the result becomes a target in its own units. With `classes`,
    the combiner gives probabilities of these classes in this order. The prediction is the class of
    the largest one, the first of equals.
    """

    estimator: str
    experts: tuple[Expert, ...]
    combiner: Combiner
    n_features: int
    n_outputs: int
    classes: tuple[Label, ...] | None = None
    lags: tuple[Lag, ...] = ()
    feature_names: tuple[str, ...] | None = None
    standardisation: Standardisation | None = None
    units: Units | None = None

    def __post_init__(self) -> None:
        for expert in self.experts:
            if expert.expansion.classes is not None and expert.expansion.probabilities is None:
                raise TypeError(
                    f"a {self.estimator} of classifiers without probabilities "
                    "cannot be exported: use a logistic loss"
                )

    @property
    def n_inputs(self) -> int:
        """The number of features and of inputs of lags."""
        return self.n_features + sum(lag.n_inputs for lag in self.lags)

    @property
    def n_centers(self) -> int:
        """The number of centres of all experts."""
        return sum(expert.expansion.n_centers for expert in self.experts)

    def taking(self, features: Sequence[int]) -> Combination:
        """Return it over some of the features, in this order. The others are 0 in every row."""
        inputs = [*features, *range(self.n_features, self.n_inputs)]
        scaled = self.standardisation
        return replace(
            self,
            experts=tuple(expert.taking(inputs) for expert in self.experts),
            n_features=len(features),
            feature_names=self.feature_names and tuple(self.feature_names[i] for i in features),
            standardisation=scaled and scaled.taking(features),
        )
