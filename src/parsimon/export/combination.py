"""Several expansions over one row, and the formula that combines them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from parsimon.export.expansion import Array, Expansion, Label

if TYPE_CHECKING:
    from parsimon.export.onnx.graph import Graph

__all__ = ["Combination", "Combiner", "Expert", "Statements"]


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


class Combiner(Protocol):
    """The formula that makes one result of the outputs of all experts, in each format.

    An output of an expert is its prediction, or its probabilities if it is a classifier.
    """

    def onnx(self, g: Graph, each: Sequence[str]) -> str:
        """Write nodes, and return the name of the result (n, C).

        `each` has the name of the output (n, C) of each expert.
        """

    def c(self, c: Statements) -> list[str]:
        """Return the statements that set `out[c]` from `each[k][c]`."""


@dataclass(frozen=True)
class Expert:
    """An expansion over some inputs of a row. `takes` are their indices; None means all."""

    expansion: Expansion
    takes: tuple[int, ...] | None = None

    def taking(self, inputs: Sequence[int]) -> Expert:
        """Return it over rows of some of the inputs, in this order."""
        if self.takes is None:
            return replace(self, expansion=self.expansion.taking(inputs))
        place = {old: new for new, old in enumerate(inputs)}
        kept = [i for i, old in enumerate(self.takes) if old in place]
        return Expert(self.expansion.taking(kept), tuple(place[self.takes[i]] for i in kept))


@dataclass(frozen=True)
class Combination:
    """A fitted mixture as plain data: experts over one row, and a combiner.

    A row has `n_features` inputs. The last of them are `extras`, which are not features of the
    row itself, for example earlier targets. In a table they become further inputs with these names,
    in the units of the target. They are scaled like the target, and NaN means its mean. Without a
    table they are the last inputs of the row.

    With `classes`, experts give probabilities of these classes in this order, and so does the
    combiner. The prediction is the class of the largest one, the first of equals.
    """

    estimator: str
    experts: tuple[Expert, ...]
    combiner: Combiner
    n_features: int
    n_outputs: int
    classes: tuple[Label, ...] | None = None
    extras: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.classes is not None:
            for expert in self.experts:
                if expert.expansion.probabilities is None:
                    raise TypeError(
                        f"a {self.estimator} of classifiers without probabilities "
                        "cannot be exported: use a logistic loss"
                    )

    @property
    def n_centers(self) -> int:
        """The number of centres of all experts."""
        return sum(expert.expansion.n_centers for expert in self.experts)

    def taking(self, inputs: Sequence[int]) -> Combination:
        """Return it over some of the inputs, in this order. The others are 0 in every row."""
        names = self.feature_names and tuple(self.feature_names[i] for i in inputs)
        experts = tuple(expert.taking(inputs) for expert in self.experts)
        return replace(self, experts=experts, n_features=len(inputs), feature_names=names)
